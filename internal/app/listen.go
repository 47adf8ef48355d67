package app

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server takes no other kind of logger for what goes wrong below a request
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"creditonce/credit"
	"creditonce/internal/api"
	"creditonce/internal/config"
	"creditonce/webhook"
)

// maxConnections bounds the open connections of one listener; further ones wait in the kernel's queue.
const maxConnections = 2048

// listener is one HTTP server with its address and certificate.
type listener struct {
	name   string
	listen string
	tls    *tls.Config
	server *http.Server
	silent silent
	socket net.Listener
}

func newListener(name, listen string, pair *config.TLSPair, server *http.Server, o *observer) (*listener, error) {
	l := &listener{name: name, listen: listen, server: server}
	server.ErrorLog = log.New(o.log.With().Str("listener", name).Logger(), "", 0)
	l.silent.watch(server)
	if pair == nil {
		return l, nil
	}
	cert, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s: read certificate %s and key %s: %w", name, pair.CertFile, pair.KeyFile, err)
	}
	l.tls = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return l, nil
}

// open takes the port.
func (l *listener) open(ctx context.Context) error {
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", l.listen)
	if err != nil {
		return fmt.Errorf("%s: listen on %s: %w; see which program holds the port, or change %s.listen", l.name, l.listen, err, l.name)
	}
	l.socket = netutil.LimitListener(socket, maxConnections)
	if l.tls != nil {
		l.socket = tls.NewListener(l.socket, l.tls)
	}
	return nil
}

// serve answers until the server is shut down.
func (l *listener) serve() error {
	if err := l.server.Serve(l.socket); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// shutdown stops taking requests and waits for those under way, for at most a third of the time that ctx leaves: what
// follows, the end of a call to MT5 above all, needs the rest. Requests that are slower are cut; providers deliver
// again, and the portal repeats under its idempotency key.
func (l *listener) shutdown(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok {
		short, cancel := context.WithTimeout(ctx, time.Until(end)/3)
		defer cancel()
		ctx = short
	}
	l.silent.close()
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		l.server.ErrorLog.Print("slow requests were cut to stop in time")
		return l.server.Close()
	}
	return err
}

func (l *listener) addr() net.Addr {
	if l.socket == nil {
		return nil
	}
	return l.socket.Addr()
}

// wirePublic builds the webhook listener.
func (a *App) wirePublic() error {
	points, err := endpoints(a.cfg)
	if err != nil {
		return err
	}
	rules, err := intakeRules(a.cfg)
	if err != nil {
		return err
	}
	reception := &credit.Reception{
		Book: a.store, Clock: a.clock, Observer: a.observer, Process: a.process, HeldGrace: rules.HeldGrace, DayLimits: rules.DayLimits,
		Servers: rules.Servers, Wake: a.wake,
	}
	hook, err := webhook.New(webhook.Config{
		Endpoints: points, Intake: reception, Observer: a.observer, Now: a.clock.Now, Reference: random,
		MaxBody: a.cfg.Webhooks.MaxBody, MaxInFlight: a.cfg.Webhooks.MaxInFlight, TrustedProxies: a.cfg.Webhooks.TrustedProxies,
	})
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	if err := a.wirePulls(points, reception); err != nil {
		return err
	}
	a.public, err = newListener("webhooks", a.cfg.Webhooks.Listen, a.cfg.Webhooks.TLS, webhook.Server(hook.Handler()), a.observer)
	return err
}

// wirePortal builds the portal's API.
func (a *App) wirePortal() error {
	rules, err := depositRules(a.cfg)
	if err != nil {
		return err
	}
	currencies := map[string]map[string]int{}
	for label, s := range a.cfg.MT5.Servers {
		currencies[label] = s.Currencies
	}
	book := &deposits{store: a.store, rules: rules, clock: a.clock, process: a.process, observer: a.observer, wake: a.wake}
	portal, err := api.New(api.Config{
		Deposits: book, DayLimit: book.dayLimit, Rate: api.Rate(a.cfg.API.Rate),
		Accounts: &accounts{store: a.store, identities: rules.Identities, currencies: currencies, clock: a.clock, observer: a.observer},
		Keys:     keys(a.cfg.API.Keys), PaidExponent: a.paidExponent, DepositLife: a.cfg.Credit.DepositExpiry,
		Now: a.clock.Now, Rand: rand.Reader, Observer: a.observer,
	})
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	a.api = portal
	a.portal, err = newListener("api", a.cfg.API.Listen, a.cfg.API.TLS, api.Server(portal), a.observer)
	return err
}

// paidExponent asks the provider's own table how many decimal places it writes a currency with.
func (a *App) paidExponent(provider, currency string) (int, bool) {
	p, ok := a.cfg.Providers[provider]
	if !ok {
		return 0, false
	}
	return exponent(p, currency)
}

func keys(from []config.APIKey) []api.Key {
	var out []api.Key
	for _, k := range from {
		out = append(out, api.Key{Name: k.Name, SHA256: k.SHA256, Scopes: k.Scopes})
	}
	return out
}
