package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// Nobody is let through by the socket itself, root neither: who may is decided where the backup is made, and that learns who asks.
func TestBackup_IsMadeForWhoAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uid     uint32
		refusal error
		code    string
	}{
		"root":                 {0, nil, ""},
		"root is refused":      {0, credit.Refuse("nobody", "no"), "nobody"},
		"a person who may not": {1007, credit.Refuse("role", "no"), "role"},
	} {
		var by desk.Actor
		s, err := New(Config{
			Desk: &asked{}, Service: func() Service { return Service{} }, Now: time.Now, Observer: &heard{}, Peer: uid(c.uid), UserName: named("anna"),
			Backup: func(_ context.Context, who desk.Actor, path string) (Backup, error) {
				by = who
				return Backup{Path: path}, c.refusal
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		path := folder(t) + "/a.sock"
		var l net.Listener
		if l, err = Listen(t.Context(), path, ""); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		b, err := NewClient(path).Backup(t.Context(), "b.db")
		var p *Problem
		switch {
		case by.UID != c.uid || by.User != "anna":
			t.Errorf("%s: asked as %+v", name, by)
		case c.code == "" && (err != nil || b.Path != "b.db"):
			t.Errorf("%s: %+v, %v", name, b, err)
		case c.code != "" && (!errors.As(err, &p) || p.Code != c.code || p.Status != http.StatusForbidden):
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if err := errors.Join(s.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	}
}
