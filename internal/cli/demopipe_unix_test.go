//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// commandVariable makes this test binary stand in for creditonce.
const commandVariable = "CREDITONCE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, ThisProcess())
	stop()
	os.Exit(code)
}

// As in `demo 2>&1 | head -3`: the reader goes while the demo still tells.
func TestDemo_WhoseReaderHasGoneLeavesNoFolderAndNoProcess(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "demo")
	cmd.Env = append(os.Environ(), commandVariable+"=1", "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close() // the command has its own
	lines := bufio.NewScanner(reader)
	for lines.Scan() && !strings.Contains(lines.Text(), "started in") {
	}
	// The folder is there now, and in it what the children hold open; the demo stays until it is told to end.
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Fatalf("the demo works in %v, %v", left, err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("the demo ended with %v, %v; want the end of a process that writes to nobody", err, ctx.Err())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline") // none where the system has no such folder
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if line, err := os.ReadFile(p); err == nil && bytes.Contains(line, []byte(dir)) { // one that ends meanwhile is no rest
			t.Errorf("%s still runs: %q", p, line)
		}
	}
}
