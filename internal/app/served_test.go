package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/config"
)

// Whoever may not open the store probes beside a service that answers, and else reads as whom to run the probe.
func TestProbe_OfAnAccountThatMayNotOpenTheStore(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "served") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &config.Config{}
	c.Admin.Socket = filepath.Join(dir, "a.sock")
	denied := fmt.Errorf("open the store: %w", fs.ErrPermission)
	running, err := isServed(t.Context(), c, denied)
	var account *AccountError
	if running || !errors.As(err, &account) || !strings.Contains(err.Error(), "run the probe as the service's user") {
		t.Errorf("without a service: %v, %v", running, err)
	}
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "unix", c.Admin.Socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	if running, err := isServed(t.Context(), c, denied); err != nil || !running {
		t.Errorf("with one that answers: %v, %v", running, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
