package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"strconv"
)

// Peer is the process at the other end of a connection, as the kernel knew it when it connected.
type Peer struct {
	UID uint32
	PID int32 // 0 where the system does not say
}

// UserName gives the name of a unix user by the system's own list.
func UserName(uid uint32) (string, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return "", fmt.Errorf("name of unix user %d: %w", uid, err)
	}
	return u.Username, nil
}

// HasUser tells whether the system's own list, which UserName reads too, has an account of this name.
func HasUser(name string) (bool, error) {
	_, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for unix user %q: %w", name, err)
	}
	return true, nil
}

// caller is who sends requests on one connection.
type caller struct {
	peer Peer
	name string
	err  error // why nobody can be named
}

type callerKey struct{}

// connected asks the kernel who has connected, once a connection: a process cannot change it later.
func (s *Server) connected(ctx context.Context, conn net.Conn) context.Context {
	var who caller
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		who.err = fmt.Errorf("the connection is no unix socket")
		return context.WithValue(ctx, callerKey{}, who)
	}
	if who.peer, who.err = s.cfg.Peer(unixConn); who.err == nil {
		who.name, who.err = s.cfg.UserName(who.peer.UID)
	}
	return context.WithValue(ctx, callerKey{}, who)
}

// callerOf is who sent the request. Without an answer of the kernel it is nobody.
func callerOf(r *http.Request) caller {
	who, ok := r.Context().Value(callerKey{}).(caller)
	if !ok {
		who.err = fmt.Errorf("the request did not come over the operators' socket")
	}
	return who
}
