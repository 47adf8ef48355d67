package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/admin"
)

// operators is the unix socket on which people act. It is nil-safe where the system has no such socket.
type operators struct {
	path, group string
	server      *admin.Server
	socket      net.Listener
}

// wireAdmin builds the operators' socket over the desk.
func (a *App) wireAdmin() error {
	server, err := admin.New(admin.Config{Desk: a.desk, Service: a.aboutService, Stops: a.stops.shown, Backup: a.BackUp, Recon: a.recon, Now: a.clock.Now, Observer: a.observer})
	if err != nil {
		return err
	}
	a.operators = &operators{path: a.cfg.Admin.Socket, group: a.cfg.Admin.Group, server: server}
	return nil
}

// openAdmin makes the socket. The demo goes on without one: its folder's path may be too long for a socket, and its
// visitors are no operators. Without peer credentials nobody could be told apart, so there is no socket at all.
func (a *App) openAdmin(ctx context.Context) error {
	socket, err := admin.Listen(ctx, a.operators.path, a.operators.group)
	var unsupported *admin.UnsupportedError
	switch {
	case err == nil:
		a.operators.socket = socket
		return nil
	case a.cfg.Demo, errors.As(err, &unsupported):
		a.log.Warn().Err(err).Msg("no operators' socket")
		return nil
	default:
		return err
	}
}

// serve answers until the socket is shut down.
func (o *operators) serve() error {
	if o.socket == nil {
		return nil
	}
	return o.server.Serve(o.socket)
}

// shutdown lets an act under way finish, for at most a sixth of the time that ctx leaves: what follows needs the rest.
func (o *operators) shutdown(ctx context.Context) error {
	if o.socket == nil {
		return nil
	}
	if end, ok := ctx.Deadline(); ok {
		short, cancel := context.WithTimeout(ctx, time.Until(end)/6)
		defer cancel()
		ctx = short
	}
	return o.server.Shutdown(ctx)
}

// place is where the socket listens; empty when there is none.
func (o *operators) place() string {
	if o.socket == nil {
		return ""
	}
	return o.path
}

// aboutService is what status tells about the process itself.
func (a *App) aboutService() admin.Service {
	path := StorePath(a.cfg.DataDir)
	out := admin.Service{Version: Version(), StartedAt: a.process.At, Store: path, FreeBytes: -1, Sessions: a.observer.board.sessions()}
	out.Alarms, out.AlarmChannels = a.undelivered()
	if info, err := os.Stat(path); err == nil {
		out.StoreBytes = info.Size()
	}
	if free, err := freeBytes(a.cfg.DataDir); err == nil {
		out.FreeBytes = int64(min(free, 1<<62))
	}
	return out
}

// board knows which MT5 sessions are open. It is safe for concurrent use.
type board struct {
	mu   sync.Mutex
	seen []admin.Session

	faults map[string]error // of lanes whose session could not be asked at their last round, by server and index
}

// expect lists a session before it was ever open.
func (b *board) expect(server string, index int) {
	b.set(admin.Session{Server: server, Index: index, Reason: "not connected since the start"})
}

// connected and dropped tell of the lanes' sessions; those that the desk opens for one question are no state.
func (b *board) connected(server string, index int, address string) {
	if index >= 0 {
		b.set(admin.Session{Server: server, Index: index, Open: true, Ready: true, Address: address, Since: systemClock{}.Now()})
	}
}

func (b *board) dropped(server string, index int, reason string) {
	if index >= 0 {
		b.set(admin.Session{Server: server, Index: index, Since: systemClock{}.Now(), Reason: reason})
	}
}

// asked tells whether a lane's session can be asked: an open one cannot as long as the server's clock is not known, for example.
func (b *board) asked(n credit.SessionNote) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.faults == nil {
		b.faults = map[string]error{}
	}
	b.faults[fmt.Sprintf("%s/%d", n.Server, n.Shard)] = n.Err
}

func (b *board) set(s admin.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.seen, func(o admin.Session) bool { return o.Server == s.Server && o.Index == s.Index })
	if i < 0 {
		b.seen = append(b.seen, s)
		return
	}
	b.seen[i] = s
}

func (b *board) sessions() []admin.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := append([]admin.Session{}, b.seen...)
	for i := range out {
		if err := b.faults[fmt.Sprintf("%s/%d", out[i].Server, out[i].Index)]; err != nil {
			out[i].Ready = false
			out[i].Reason = err.Error() // says more than why the last connection ended
		}
	}
	return out
}

// Administered logs an answered request of the operators' socket: what decides something always, what only looks for
// debugging.
func (o *observer) Administered(_ context.Context, r admin.Report) {
	level := zerolog.InfoLevel
	switch {
	case r.Status >= http.StatusInternalServerError:
		level = zerolog.ErrorLevel
	case r.Method == http.MethodGet:
		level = zerolog.DebugLevel
	}
	o.log.WithLevel(level).Str("route", r.Route).Str("user", r.User).Uint32("uid", r.UID).Int("status", r.Status).Str("code", r.Code).
		Dur("took_ms", r.Took).AnErr("error", r.Err).Msg("operator request")
}
