package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

func (d *asked) MayBackUp(_ context.Context, a desk.Actor) error {
	d.note(a)
	return d.err
}

// Root and the service's own user may always, everybody else as the desk says; the path is a whole one.
func TestBackup_IsForTheServicesUserRootAndWhomTheDeskNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uid  uint32
		desk error
		path string
		want string
	}{
		"root":                 {0, credit.Refuse("role", "no"), "/b/1", ""},
		"the service's user":   {uint32(os.Getuid()), credit.Refuse("role", "no"), "/b/1", ""},
		"a person who may":     {1007, nil, "/b/1", ""},
		"a person who may not": {1007, credit.Refuse("role", "no"), "/b/1", "role"},
		"no whole path":        {0, nil, "b/1", "invalid"},
		"a winding path":       {0, nil, "/b/../etc/1", "invalid"},
	} {
		asks := 0
		s, err := New(Config{
			Desk: &asked{err: c.desk}, Service: func() Service { return Service{} }, Now: time.Now, Observer: &heard{}, Peer: uid(c.uid), UserName: named("anna"),
			Backup: func(_ context.Context, path string) (Backup, error) { asks++; return Backup{Path: path}, nil },
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
		b, err := NewClient(path).Backup(t.Context(), c.path)
		var p *Problem
		switch {
		case c.want == "" && (err != nil || b.Path != c.path || asks != 1):
			t.Errorf("%s: %+v, %v", name, b, err)
		case c.want != "" && (!errors.As(err, &p) || p.Code != c.want || p.Status < http.StatusBadRequest || asks != 0):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if err := errors.Join(s.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	}
}
