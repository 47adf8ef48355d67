package kill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/internal/app"
	"creditonce/internal/proof/arena"
	"creditonce/internal/proof/faultproxy"
	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
)

// harness is what the rounds of one run share.
type harness struct {
	*testing.T
	arena.Programs
	dir    string
	ports  *stage.Ports
	launch *stage.Launcher

	maker, checker arena.Person // see arena.FindPeople
	alone          error        // why this machine has no accounts for them; nil: it has

	mu       sync.Mutex
	seen     tally
	deposits int
	deals    int
}

func newHarness(t *testing.T, seed uint64) *harness {
	t.Helper()
	h := &harness{T: t, Programs: build(t), ports: stage.NewPorts(seed ^ uint64(os.Getpid())), launch: stage.NewLauncher(), seen: tally{}}
	t.Cleanup(h.launch.Close)
	var err error
	if h.dir, err = openFolder("co-kill-"); err != nil {
		t.Fatal(err)
	}
	h.maker, h.checker, h.alone = arena.FindPeople()
	t.Cleanup(func() { _ = os.Remove(h.dir) }) // only when nothing was kept in it
	return h
}

func (h *harness) open(ctx context.Context, dir string, seed uint64) (*arena.World, error) {
	return arena.Open(ctx, arena.Options{Programs: h.Programs, Dir: dir, Ports: h.ports, Launch: h.launch, Seed: seed, Timing: timing})
}

// play runs one round and returns what it found. The folder is kept when it found anything.
func (h *harness) play(ctx context.Context, r round) (wrong []string) {
	dir := filepath.Join(h.dir, fmt.Sprintf("round%03d", r.number))
	w, err := h.open(ctx, dir, r.seed)
	defer func() {
		if len(wrong) == 0 {
			_ = os.RemoveAll(dir)
		}
	}()
	if err == nil {
		if r.has(fillDisk) {
			unmount, cannot := smallDisk(w.Path("store"))
			if cannot == nil {
				defer func() {
					if len(wrong) > 0 { // what is to be looked at must outlive the small file system
						_ = os.CopyFS(w.Path("store-kept"), os.DirFS(w.Path("store")))
					}
					if err := unmount(); err != nil {
						wrong = append(wrong, err.Error())
					}
				}()
			} else {
				r = r.without(fillDisk, starve)
				h.count("no file system of its own: " + cannot.Error())
			}
		}
		if h.alone != nil {
			r = r.without(importAt, killAnywhere).without(runAt, killAnywhere).without(approveAt, killAnywhere)
			h.count("no people of their own: " + h.alone.Error())
		}
		err = h.live(ctx, w, r)
	}
	if w != nil {
		if closing := w.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return []string{err.Error()}
	}
	facts, err := w.Gather(ctx, "store")
	if err != nil {
		return []string{err.Error()}
	}
	h.mu.Lock()
	h.deposits, h.deals = h.deposits+w.Deposits(), h.deals+len(facts.Deals)
	h.mu.Unlock()
	return w.Judge(facts)
}

// without replaces a fault that this machine does not allow.
func (r round) without(not, instead fault) round {
	r.cycles = slices.Clone(r.cycles)
	for i := range r.cycles {
		if r.cycles[i].fault == not {
			r.cycles[i].fault = instead
		}
	}
	return r
}

func (h *harness) count(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[what]++
}

// live lets a world go through the cycles of its round, and come to rest.
func (h *harness) live(ctx context.Context, w *arena.World, r round) error {
	if err := errors.Join(w.Start(ctx, arena.Life{}), w.Register(ctx)); err != nil {
		return err
	}
	if h.alone == nil {
		if err := w.Employ(ctx, h.maker, h.checker); err != nil {
			return err
		}
	}
	if err := w.Stop(); err != nil {
		return err
	}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	loaded := make(chan error, 1)
	go func() { loaded <- w.Load(loading, r.seed) }()
	seen := tally{}
	for _, c := range r.cycles {
		if err := (life{w, seen, h.maker, h.checker}).run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	h.mu.Lock()
	for name, n := range seen {
		h.seen[name] += n
	}
	h.mu.Unlock()
	return settle(ctx, w, r.has(olderFile) || r.has(restored), func() error { stop(); return <-loaded })
}

func (h *harness) report(seed uint64, r round, wrong []string) {
	h.Helper()
	for _, c := range r.cycles {
		h.Logf("round %d: %s", r.number, c)
	}
	h.Errorf("seed %d, round %d, kept in %s:\n  %s", seed, r.number, filepath.Join(h.dir, fmt.Sprintf("round%03d", r.number)), strings.Join(wrong, "\n  "))
}

// What the provider was told is stored must be stored, no payment may have two deals, and nothing may be stuck without a
// person knowing, however the program dies and whatever stands between it and MT5.
func TestKill_NothingIsLostDoubledOrStuckHoweverTheProgramDies(t *testing.T) {
	t.Parallel()
	s, n := seed(), cycles(t)
	t.Logf("again: go test ./internal/proof/kill -run TestKill_Nothing -seed=%d -cycles=%d -v", s, n)
	h, begin := newHarness(t, s), time.Now()
	slots := make(chan struct{}, max(*sideFlag, 1))
	var wg sync.WaitGroup
	for _, r := range plan(s, n) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if wrong := h.play(t.Context(), r); len(wrong) > 0 {
				h.report(s, r, wrong)
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	t.Logf("%d cycles in %.1f s, %.2f s each: %d deposits, %d deals", n, took.Seconds(), took.Seconds()/float64(n), h.deposits, h.deals)
	for _, name := range slices.Sorted(maps.Keys(h.seen)) {
		t.Logf("  sometimes: %-30s %d", name, h.seen[name])
	}
	h.checkSometimes(n)
}

// checkSometimes fails a run that was long enough for every fault to have happened and in which one did not.
func (h *harness) checkSometimes(n int) {
	h.Helper()
	var must []string
	if n >= block {
		must = append(must, string(killAnywhere), string(pauseIt), string(pauseAt), string(starve), string(migrateAt), string(olderFile), string(restored), string(secondInstance))
	}
	if n >= block && h.alone == nil {
		must = append(must, string(backupAt), string(importAt), string(runAt), string(approveAt))
	}
	if n >= 5*block {
		for _, f := range peoples() {
			if h.alone == nil || f == restored || f == migrateAt {
				must = append(must, boundariesOf(f)...)
			}
		}
		must = append(must, boundaries()...)
		for _, k := range faultproxy.Kinds() {
			must = append(must, "line "+string(k))
		}
		for _, r := range mt5Faults {
			must = append(must, "MT5 "+string(r.Kind))
		}
	}
	for _, name := range must {
		if h.seen[name] == 0 {
			h.Errorf("%s never happened in %d cycles: the harness is asleep there", name, n)
		}
	}
}

// A harness that could not see a doubled credit would prove nothing.
func TestKill_CallThatMT5ExecutesTwiceIsReported(t *testing.T) {
	t.Parallel()
	w := teethWorld(t, "twice")
	_, err := w.MT5.Fault(t.Context(), fakemt5.Rule{Where: balanceCall, Kind: fakemt5.DuplicateExec, Count: 1})
	err = errors.Join(err, w.Start(t.Context(), arena.Life{}), w.Register(t.Context()), w.One(t.Context()), w.Stop(), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	mustSee(t, w, "I-M1", "was credited 2 times")
}

// Nor would one that could not see that an acknowledged event is lost.
func TestKill_AcknowledgedEventsThatTheStoreHasLostAreReported(t *testing.T) {
	t.Parallel()
	w := teethWorld(t, "lost")
	older := w.Path("older.db")
	err := errors.Join(w.Start(t.Context(), arena.Life{}), w.Register(t.Context()), w.One(t.Context()), w.Stop(), copyFile(older, app.StorePath(w.Path("store"))))
	err = errors.Join(err, w.Start(t.Context(), arena.Life{}), w.One(t.Context()), w.Stop(), copyFile(app.StorePath(w.Path("store")), older), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	mustSee(t, w, "I-D1", "I-M3", "has 0 rows")
}

// teethWorld is a world in which something is done to the journals that must be seen.
func teethWorld(t *testing.T, name string) *arena.World {
	t.Helper()
	s := seed()
	h := newHarness(t, s)
	w, err := h.open(t.Context(), filepath.Join(h.dir, name), s)
	t.Cleanup(func() {
		if w != nil {
			_ = w.Close() // a second time, but after a failure
		}
		_ = os.RemoveAll(filepath.Join(h.dir, name))
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mustSee sees that the comparison finds what was done, under each of these words.
func mustSee(t *testing.T, w *arena.World, words ...string) {
	t.Helper()
	facts, err := w.Gather(t.Context(), "store")
	if err != nil {
		t.Fatal(err)
	}
	wrong := w.Judge(facts)
	for _, says := range words {
		if !slices.ContainsFunc(wrong, func(s string) bool { return strings.Contains(s, says) }) {
			t.Errorf("%q was not seen; found only %q", says, wrong)
		}
	}
}
