package admin

import (
	"context"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// folder makes a short folder that only this user may write to.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// abandoned leaves a socket file that nobody answers on, as a killed process does.
func abandoned(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListen_MakesASocketForOwnerAndGroupOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "admin.sock")
	own, err := user.LookupGroupId(strconv.Itoa(os.Getgid()))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"", own.Name, own.Gid} {
		l, err := Listen(t.Context(), path, group)
		if err != nil {
			t.Fatalf("group %q: %v", group, err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o660 || info.Mode().Type() != os.ModeSocket {
			t.Errorf("group %q: mode %v, %v", group, info.Mode(), err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("the socket stays after its end: %v", err)
		}
	}
}

func TestListen_ReplacesWhatAnEndedProcessLeft(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "admin.sock")
	abandoned(t, path)
	l, err := Listen(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListen_RefusesWithWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, dir string) (path, group string)
		says    string
	}{
		{"somebody answers", func(t *testing.T, dir string) (string, string) {
			path := filepath.Join(dir, "a.sock")
			l, err := Listen(t.Context(), path, "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return path, ""
		}, "another service answers"},
		{"a file stands there", func(t *testing.T, dir string) (string, string) {
			path := filepath.Join(dir, "a.sock")
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			return path, ""
		}, "no socket; move it away"},
		{"others may write to the folder", func(t *testing.T, dir string) (string, string) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "a.sock"), ""
		}, "chmod go-w"},
		{"the group may write to the folder", func(t *testing.T, dir string) (string, string) {
			if err := os.Chmod(dir, 0o770); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "a.sock"), ""
		}, "chmod go-w"},
		{"no folder", func(_ *testing.T, dir string) (string, string) {
			return filepath.Join(dir, "none", "a.sock"), ""
		}, "make it, or set admin.socket"},
		{"long path", func(_ *testing.T, dir string) (string, string) {
			return filepath.Join(dir, strings.Repeat("x", 100)), ""
		}, "shorter one"},
		{"unknown group", func(_ *testing.T, dir string) (string, string) {
			return filepath.Join(dir, "a.sock"), "no-such-group"
		}, "admin.group"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, group := tt.prepare(t, folder(t))
			l, err := Listen(t.Context(), path, group)
			if err == nil {
				_ = l.Close()
				t.Fatal("it listens")
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "operators' socket") {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func TestPeerOf_IsTheProcessThatConnected(t *testing.T) {
	t.Parallel()
	if !peersKnown {
		t.Skip("this system does not tell")
	}
	path := filepath.Join(folder(t), "a.sock")
	l, err := Listen(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	out, err := new(net.Dialer).DialContext(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	peer, err := PeerOf(in.(*net.UnixConn))
	if err != nil || int(peer.UID) != os.Getuid() || (peer.PID != 0 && int(peer.PID) != os.Getpid()) {
		t.Fatalf("%+v %v, want uid %d pid %d", peer, err, os.Getuid(), os.Getpid())
	}
}
