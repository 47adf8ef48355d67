//go:build unix

package demo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"creditonce/internal/stage"
)

// fakeArgs start a fake MT5 server without a file of its own, as a child that runs until it is told to stop.
func fakeArgs(t *testing.T) []string {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"fakemt5", "--password-file", password}
}

func startTestChild(t *testing.T, args []string) (c *stage.Child, ready <-chan struct{}) {
	t.Helper()
	o, _ := testOptions(t, 1)
	launch := stage.NewLauncher()
	t.Cleanup(launch.Close)
	said := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(launch, stage.Spec{Name: args[0], Executable: o.Executable, Args: args, Stdout: func(string) { once.Do(func() { close(said) }) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c, said
}

func TestChild_StopsInOrderWhenAsked(t *testing.T) {
	t.Parallel()
	c, ready := startTestChild(t, fakeArgs(t))
	if err := c.Ready(t.Context(), startTime, ready); err != nil {
		t.Fatal(err)
	}
	if code, err := c.Stop(startTime); code != 0 || err != nil || c.Running() {
		t.Errorf("code %d, %v, running %t", code, err, c.Running())
	}
	if code, err := c.Stop(startTime); code != 0 || err != nil {
		t.Errorf("the second stop gave %d, %v", code, err)
	}
}

func TestChild_KilledIsReaped(t *testing.T) {
	t.Parallel()
	c, ready := startTestChild(t, fakeArgs(t))
	if err := c.Ready(t.Context(), startTime, ready); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	if c.Running() || c.Code() != -1 {
		t.Errorf("running %t, code %d", c.Running(), c.Code())
	}
	if runtime.GOOS == "linux" && alive(c.Process().Pid) {
		t.Error("the process is still in the table")
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestChild_ThatEndsBeforeItIsReadySaysWhy(t *testing.T) {
	t.Parallel()
	c, ready := startTestChild(t, []string{"fakemt5", "--listen", "nowhere"})
	var failed *stage.StartError
	if err := c.Ready(t.Context(), startTime, ready); !errors.As(err, &failed) || failed.Code != 2 || !strings.Contains(err.Error(), "--password-file") {
		t.Errorf("got %v", err)
	}
	if stage.PortTaken(failed) {
		t.Error("that is no port taken")
	}
}

func TestChild_PortTakenIsRecognised(t *testing.T) {
	t.Parallel()
	first := fakeArgs(t)
	ports, err := choosePorts(stage.NewPorts(uint64(time.Now().UnixNano())))
	if err != nil {
		t.Fatal(err)
	}
	args := append(first, "--listen", ports.mt5())
	c, ready := startTestChild(t, args)
	if err := c.Ready(t.Context(), startTime, ready); err != nil {
		t.Fatal(err)
	}
	second, never := startTestChild(t, args)
	if err := second.Ready(t.Context(), startTime, never); !stage.PortTaken(err) {
		t.Errorf("got %v", err)
	}
	if err := ports.taken(); err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("got %v", err)
	}
}

// A demo that dies, however, takes its children with it: nothing of it goes on in the background.
func TestChildren_DieWithTheDemo(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "demo")
	cmd := exec.Command(self, "demo", "--dir", dir)
	cmd.Env = append(os.Environ(), ChildVariable+"=1") // this binary, as creditonce
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ports ports
	err = until(t.Context(), "start the demo", 2*startTime, func(context.Context) (bool, error) {
		text, err := os.ReadFile(filepath.Join(dir, markerName))
		if err != nil {
			return false, err
		}
		s, err := reopen(dir, text, Options{Executable: self})
		if err != nil {
			return false, err
		}
		ports = s.ports
		return !stage.Free(ports.Webhooks) && !stage.Free(ports.PSPControl) && !stage.Free(ports.MT5), nil
	})
	kill, wait := cmd.Process.Kill(), cmd.Wait()
	if err != nil || kill != nil || wait == nil {
		t.Fatalf("%v, kill %v, wait %v", err, kill, wait)
	}
	err = until(t.Context(), "free the ports", startTime, func(context.Context) (bool, error) { return ports.taken() == nil, nil })
	if err != nil {
		t.Error(err)
	}
}
