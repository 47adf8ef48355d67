package storage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"creditonce/internal/app"
	"creditonce/internal/proof/arena"
	"creditonce/internal/stage"
	"creditonce/webhook/fakepsp"
)

// strideVariable is what -stride is where no flag says it.
const strideVariable = "CREDITONCE_STORAGE_STRIDE"

var (
	strideFlag = flag.Int("stride", 0, "only each n-th call fails; 0: what $"+strideVariable+" says, else 25")
	offsetFlag = flag.Int("offset", 0, "the first call that fails, from 1; 0 draws one")
)

// series is one kind of call with one kind of fault.
type series struct {
	call, fault string // as strace names them
	kills       bool
}

func allSeries() []series {
	return []series{
		{"fdatasync", "error=EIO", false}, {"fdatasync", "signal=KILL", true},
		{"pwrite64", "error=EIO", false}, {"pwrite64", "error=ENOSPC", false}, {"pwrite64", "signal=KILL", true},
		{"ftruncate", "error=ENOSPC", false}, {"ftruncate", "signal=KILL", true},
		{"fsync", "error=EIO", false}, {"fsync", "signal=KILL", true},
	}
}

func (s series) String() string { return s.call + "/" + s.fault }

// bench is what all series share.
type bench struct {
	arena.Programs
	strace string
	dir    string
	stride int
	ports  *stage.Ports
	launch *stage.Launcher
}

func newBench(t *testing.T) *bench {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("the optional tool strace is not installed; this proof needs it: apt-get install strace")
	}
	if out, err := exec.Command(strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("the optional tool strace may not trace here: %v: %s", err, out)
	}
	b := &bench{strace: strace, stride: 25, ports: stage.NewPorts(uint64(time.Now().UnixNano())), launch: stage.NewLauncher()}
	if text := os.Getenv(strideVariable); text != "" {
		if b.stride, err = strconv.Atoi(text); err != nil || b.stride < 1 {
			t.Fatalf("%s=%q is no stride", strideVariable, text)
		}
	}
	if *strideFlag > 0 {
		b.stride = *strideFlag
	}
	if b.dir, err = os.MkdirTemp("", "co-storage-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.launch.Close()
		if !t.Failed() {
			_ = os.RemoveAll(b.dir)
			return
		}
		t.Logf("kept in %s", b.dir)
	})
	if b.Programs, err = arena.Build(filepath.Join("..", "..", ".."), b.dir); err != nil {
		t.Fatal(err)
	}
	return b
}

// first is the first call of a series that fails.
func (b *bench) first() int {
	if *offsetFlag > 0 {
		return *offsetFlag
	}
	return 1 + int(time.Now().UnixNano()/1000)%b.stride
}

// run is a world in which the n-th call fails.
type run struct {
	*testing.T
	*arena.World
	b *bench
	s series
	n int
	// anywhere lets calls on other files than the store's fail too: then the program may go on, as when its witness cannot
	// be written and it claims nothing.
	anywhere bool
	// lives says that the program must outlive the error, and take payments in and credit them afterwards.
	lives bool
}

func (b *bench) world(t *testing.T, name string) *arena.World {
	t.Helper()
	w, err := arena.Open(t.Context(), arena.Options{
		Programs: b.Programs, Dir: filepath.Join(b.dir, strings.NewReplacer("/", "-", "=", "-").Replace(name)), Ports: b.ports, Launch: b.launch, Seed: 1,
		Timing: arena.Brisk(),
	})
	if w != nil {
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A commit that fails, or that the program does not survive, loses nothing that was acknowledged and doubles nothing,
// whichever call of it fails.
func TestStorage_NoFailingCallLosesOrDoubles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, s := range allSeries() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			w := b.world(t, s.String())
			if err := errors.Join(w.Start(t.Context(), arena.Life{Tagged: true}), w.Register(t.Context())); err != nil {
				t.Fatal(err)
			}
			if err := w.Stop(); err != nil {
				t.Fatal(err)
			}
			runs, n := 0, b.first()
			for ; ; n += b.stride {
				r := run{T: t, World: w, b: b, s: s, n: n, anywhere: s.call == "fsync", lives: s.call == "fsync" && !s.kills}
				if !r.life() {
					break
				}
				if runs++; runs%12 == 0 { // an open row keeps its login busy until the quarantine is over
					r.settle()
				}
				if t.Failed() {
					return
				}
			}
			run{T: t, World: w, b: b, s: s, n: n}.settle()
			t.Logf("%d runs; none met call %d", runs, n)
		})
	}
}

// A store that could not be made whole is no store: the next start makes it, or takes it up, and everything works.
func TestStorage_NoFailingCallLeavesHalfAStore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, s := range allSeries() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			n := 1
			for ; !t.Failed(); n++ {
				w := b.world(t, fmt.Sprintf("birth-%s-%d", s, n))
				r := run{T: t, World: w, b: b, s: s, n: n, anywhere: true}
				met := r.birth()
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				if !met {
					break
				}
			}
			t.Logf("%d runs; none met call %d", n-1, n)
		})
	}
}

// birth starts the program with the fault where there is no store, and then without one, and lets one payment through. It
// returns false when the first start met no fault until it served.
func (r run) birth() bool {
	r.Helper()
	trace := r.Path("strace.txt")
	err := r.Start(r.Context(), arena.Life{Tagged: true, Wrap: r.command(trace)})
	var early *stage.StartError
	if err != nil && !errors.As(err, &early) {
		r.Fatalf("call %d: %v", r.n, err)
	}
	met, _ := r.met(trace)
	r.end(met)
	if err := r.Start(r.Context(), arena.Life{}); err != nil {
		r.Errorf("after call %d failed: %v", r.n, err)
		return false
	}
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	if err := errors.Join(r.Register(ctx), r.One(ctx)); err != nil {
		r.Errorf("after call %d failed: %v", r.n, err)
	}
	if err := r.Stop(); err != nil {
		r.Error(err)
	}
	world, err := r.Gather(r.Context(), "store")
	if err != nil {
		r.Fatalf("after call %d failed: %v", r.n, err)
	}
	for _, wrong := range r.Judge(world) {
		r.Errorf("after call %d failed: %s", r.n, wrong)
	}
	return met
}

// life starts the program with the fault, lets one payment through, and judges what is left. It returns false when the
// program met no fault: then it has ended in order.
func (r run) life() bool {
	r.Helper()
	trace := r.Path("strace.txt")
	_ = os.Remove(trace)
	err := r.Start(r.Context(), arena.Life{Tagged: true, Wrap: r.command(trace)})
	var early *stage.StartError
	if err != nil && !errors.As(err, &early) {
		r.Fatalf("call %d: %v", r.n, err)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
		go func() {
			select {
			case <-r.Serve.Exited():
				cancel()
			case <-ctx.Done():
			}
		}()
		err := r.One(ctx)
		cancel()
		if err != nil && r.Serve.Running() {
			// the payment got stuck: with a fault that the program survived it must not
			r.Errorf("call %d: the program goes on and does not credit: %v", r.n, err)
		}
	}
	met, at := r.met(trace)
	r.end(met)
	r.judge(met, at)
	return met
}

// command is strace with its options: it follows threads, looks at the store's file only unless any file will do, and lets
// the n-th call fail.
func (r run) command(trace string) []string {
	out := []string{r.b.strace, "-f", "-q", "-ttt", "-o", trace}
	if !r.s.kills { // faster, but strace 6.1 sends no signals then
		out = append(out, "--seccomp-bpf")
	}
	if !r.anywhere {
		out = append(out, "-P", app.StorePath(r.Path("store")))
	}
	return append(out, "-e", "trace="+r.s.call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", r.s.call, r.s.fault, r.n))
}

// met tells whether the fault has happened, and when.
func (r run) met(trace string) (bool, time.Time) {
	r.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		r.Fatalf("call %d: %v", r.n, err)
	}
	for line := range strings.Lines(string(text)) {
		killed := r.s.kills && strings.Contains(line, "+++ killed by SIGKILL +++")
		if !killed && !strings.Contains(line, "(INJECTED)") {
			continue
		}
		fields := strings.Fields(line)
		seconds, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			r.Fatalf("call %d: strace wrote %q", r.n, line)
		}
		return true, time.UnixMicro(int64(seconds * 1e6))
	}
	return false, time.Time{}
}

// end sees that a program that met its fault has ended as it must, and ends one that has not.
func (r run) end(met bool) {
	r.Helper()
	if !met {
		if !r.Serve.Running() {
			r.Errorf("call %d: the program met no fault and ended with code %d:\n%s", r.n, r.Serve.Code(), r.Serve.Last())
			return
		}
		r.quit(syscall.SIGTERM)
		return
	}
	limit := 15 * time.Second
	if r.anywhere && !r.s.kills {
		limit = 300 * time.Millisecond
	}
	if _, err := r.Serve.Wait(r.Context(), limit); err != nil {
		if r.anywhere && !r.s.kills {
			r.quit(syscall.SIGTERM)
			return
		}
		r.Errorf("call %d failed, and the program goes on: %v", r.n, err)
		r.quit(syscall.SIGKILL)
		return
	}
	if r.lives {
		r.Errorf("call %d failed, which is not the store's, and the program ended with code %d:\n%s", r.n, r.Serve.Code(), r.Serve.Last())
		return
	}
	if code := r.Serve.Code(); r.s.kills != (code == -1) || code == 0 {
		r.Errorf("call %d failed, and the program ended with code %d:\n%s", r.n, code, r.Serve.Last())
	}
}

// quit sends a signal to the program itself: strace, its parent, keeps such signals for later.
func (r run) quit(s syscall.Signal) {
	r.Helper()
	pid := r.Serve.Process().Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		r.Fatal(err)
	}
	for child := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(n, s) // one that has ended is no fault
		}
	}
	if _, err := r.Serve.Wait(r.Context(), 15*time.Second); err != nil {
		r.Fatalf("call %d: %v", r.n, err)
	}
}

// judge compares the journals while nothing runs: nothing acknowledged is lost, nothing is doubled, and no delivery that was
// begun after the error was acknowledged.
func (r run) judge(met bool, at time.Time) {
	r.Helper()
	world, err := r.Gather(r.Context(), "store")
	if err != nil {
		r.Errorf("call %d: %v", r.n, err)
		return
	}
	world.Quiescent = false
	for _, wrong := range r.Judge(world) {
		r.Errorf("call %d: %s", r.n, wrong)
	}
	if !met || r.lives {
		return
	}
	records, err := fakepsp.ReadJournal(r.Path("provider.jsonl"))
	if err != nil {
		r.Fatal(err)
	}
	begun := map[string]time.Time{}
	for _, rec := range records {
		if rec.Attempt == nil {
			continue
		}
		key := fmt.Sprint(rec.Attempt.Event, rec.Attempt.Delivery, rec.Attempt.Number)
		if rec.Attempt.Started {
			begun[key] = rec.At
		} else if rec.Attempt.Acknowledged && begun[key].After(at.Add(time.Millisecond)) {
			r.Errorf("call %d: a delivery of %s was begun after the error and acknowledged", r.n, rec.Attempt.Event)
		}
	}
}

// settle starts the program without a fault and waits until everything is at rest.
func (r run) settle() {
	r.Helper()
	if err := r.Start(r.Context(), arena.Life{}); err != nil {
		r.Fatalf("after call %d: %v", r.n, err)
	}
	if open := r.Rest(r.Context(), 30*time.Second); open != "" {
		r.Note("not everything has come to rest: %s", open)
	}
	if err := r.Stop(); err != nil {
		r.Fatalf("after call %d: %v", r.n, err)
	}
	world, err := r.Gather(r.Context(), "store")
	if err != nil {
		r.Fatalf("after call %d: %v", r.n, err)
	}
	for _, wrong := range r.Judge(world) {
		r.Errorf("at rest after call %d: %s", r.n, wrong)
	}
}
