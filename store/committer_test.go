package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

// world opens a store in the test's directory with the suite's small firm around it.
func world(t testing.TB, change func(*store.Options)) (*storetest.World, *store.DB) {
	t.Helper()
	var db *store.DB
	w := storetest.NewWorld(t, func(s storetest.Setup) storetest.Backend {
		o := options(s)
		if change != nil {
			change(&o)
		}
		db = open(t, filepath.Join(t.TempDir(), "store.db"), o)
		return db
	}, storetest.Setup{})
	return w, db
}

// One operation of a batch fails after its first, second, ... put, by an error or a panic: its caller gets that
// error, nothing of it is written, and all others are written once.
func TestOneOpFailingAfterEachPut_LeavesOthers(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		puts := 0
		for failsAt(t, puts, panics) {
			puts++
		}
		if puts < 5 {
			t.Errorf("an event with its row was %d puts: the hook does not see them all", puts)
		}
	}
}

// failsAt fails one of six operations at one put and checks what is left. It returns false when no operation
// makes that many puts.
func failsAt(t *testing.T, put int, panics bool) (failed bool) {
	const others = 5
	broken := errors.New("broken put")
	synctest.Test(t, func(t *testing.T) {
		w, db := world(t, nil)
		failed = runBesideFailure(w, db, others, put, panics, broken)
		want, reruns := others+1, uint64(0)
		if failed {
			want, reruns = others, 1
		}
		n, err := db.Counts(t.Context())
		w.Must(err)
		if n.Events != want || n.Rows[credit.Held] != want {
			t.Errorf("put %d, panic %v, failed %v: %+v, want %d events and rows", put, panics, failed, n, want)
		}
		if s := db.Stats(); s.Reruns != reruns {
			t.Errorf("put %d: %d reruns, want %d", put, s.Reruns, reruns)
		}
		w.End()
	})
	return failed
}

// runBesideFailure accepts some events in one batch, of which the middle one fails at a put.
func runBesideFailure(w *storetest.World, db *store.DB, others, put int, panics bool, broken error) (failed bool) {
	release := make(chan struct{})
	db.Hold(release)
	events := make([]credit.Event, others+1)
	for i := range events {
		events[i] = w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500))
	}
	op := -1 // counts the batch's operations by their first put
	db.FailPuts(func(i int) error {
		if i == 0 {
			op++
		}
		if op != others/2 || i != put {
			return nil
		}
		op = 100 // only once: the others run again
		if panics {
			panic(broken)
		}
		return broken
	})
	var failures atomic.Int32
	var wg sync.WaitGroup
	for _, e := range events {
		wg.Go(func() {
			_, err := db.Accept(w.T.Context(), e, credit.IntakeRules{Now: w.Clock.Now(), HeldGrace: time.Minute})
			if err != nil {
				failures.Add(1)
				if !errors.Is(err, broken) {
					w.T.Errorf("accept: %v", err)
				}
			}
		})
	}
	synctest.Wait()
	close(release)
	wg.Wait()
	db.FailPuts(nil)
	if failures.Load() > 1 {
		w.T.Errorf("%d operations failed, want at most one", failures.Load())
	}
	return failures.Load() == 1
}

// A full queue refuses at once, and what waited before is done.
func TestFullQueue_IsBusyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const queue = 8
		w, db := world(t, func(o *store.Options) { o.Queue = queue })
		release := make(chan struct{})
		db.Hold(release)
		var wg sync.WaitGroup
		var busy atomic.Int32
		for i := range queue + 3 {
			wg.Go(func() {
				_, err := db.Accept(t.Context(), w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500)), credit.IntakeRules{Now: w.Clock.Now()})
				switch {
				case errors.Is(err, credit.ErrBusy):
					busy.Add(1)
				case err != nil:
					t.Errorf("accept: %v", err)
				}
			})
		}
		synctest.Wait()
		if busy.Load() != 3 {
			t.Errorf("%d were refused, want 3", busy.Load())
		}
		close(release)
		wg.Wait()
		n, err := db.Counts(t.Context())
		w.Must(err)
		if n.Events != queue {
			t.Errorf("%d events, want %d", n.Events, queue)
		}
		w.End()
	})
}

// What is queued when its caller goes away, or when Close is called, is done all the same.
func TestQueuedOperations_AreDoneThroughCancelAndClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, db := world(t, nil)
		release := make(chan struct{})
		db.Hold(release)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if _, err := db.Accept(ctx, w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500)), credit.IntakeRules{Now: w.Clock.Now()}); err != nil {
					t.Errorf("accept: %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := db.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close while an operation hangs: %v", err)
		}
		if _, err := db.PutAccount(t.Context(), credit.Account{Server: "s", Login: 1}, "k", w.Clock.Now()); !errors.Is(err, credit.ErrBusy) {
			t.Errorf("put while closing: %v", err)
		}
		close(release)
		wg.Wait()
		w.Must(db.Close(t.Context()))
		again := open(t, db.Path(), store.Options{Strict: true})
		n, err := again.Counts(t.Context())
		w.Must(err)
		if n.Events != 5 {
			t.Errorf("%d events after closing, want 5", n.Events)
		}
		w.Must(again.Close(t.Context()))
	})
}

// Many callers share a commit, and a batch of nothing but repeats needs none.
func TestCommits_AreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 120
		w, db := world(t, func(o *store.Options) { o.Batch = 50 })
		e := make([]credit.Event, callers)
		for i := range e {
			e[i] = w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500))
		}
		for round := range 2 {
			release := make(chan struct{})
			db.Hold(release)
			before := db.Stats()
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					r, err := db.Accept(t.Context(), e[i], credit.IntakeRules{Now: w.Clock.Now()})
					if err != nil || r.Repeat != (round == 1) {
						t.Errorf("round %d: %+v, %v", round, r, err)
					}
				})
			}
			synctest.Wait()
			close(release)
			wg.Wait()
			after := db.Stats()
			if got := after.Batches - before.Batches; got != 3 || after.Operations-before.Operations != callers {
				t.Errorf("round %d: %d batches of %d operations, want 3 of %d", round, got, after.Operations-before.Operations, callers)
			}
			if got, want := after.Commits-before.Commits, uint64(3*(1-round)); got != want {
				t.Errorf("round %d: %d commits, want %d", round, got, want)
			}
		}
		w.End()
	})
}

// Three hours of a loop over the real store pass in no time: the committer has no timer and no poll.
func TestStoreWorks_InABubbleOfFakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, db := world(t, nil)
		begun := time.Now()
		ticks := time.NewTicker(time.Minute)
		defer ticks.Stop()
		for i := range 180 {
			<-ticks.C
			w.Accept(w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500)))
		}
		if passed := time.Since(begun); passed != 3*time.Hour {
			t.Errorf("%v passed, want exactly the three hours of the ticks", passed)
		}
		n, err := db.Counts(t.Context())
		w.Must(err)
		if n.Events != 180 {
			t.Errorf("%d events", n.Events)
		}
		w.End()
	})
}

// A function that ends its goroutine, as FailNow does in a test, stops the store; nobody waits for ever.
func TestGoexitInADecision_StopsTheStore(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	row := w.Pay(1001, 500)
	_, err := db.Advance(t.Context(), row.ID, func(credit.Dossier) (credit.Decision, error) {
		runtime.Goexit()
		return credit.Decision{}, nil
	})
	if !errors.Is(err, credit.ErrStopped) {
		t.Errorf("the caller got %v", err)
	}
	if _, err := db.Counts(t.Context()); !errors.Is(err, credit.ErrStopped) {
		t.Errorf("the next caller got %v", err)
	}
	w.Must(db.Close(t.Context()))
	again := open(t, db.Path(), store.Options{})
	defer again.Close(t.Context())
	if got, err := again.Credit(t.Context(), row.ID); err != nil || got.Head != row.Head {
		t.Errorf("after the stop: %+v, %v", got, err)
	}
}
