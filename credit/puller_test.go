package credit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Change implements PullBook.
func (b *memBook) Change(_ context.Context, change func(Settings) (StoreChange, error)) (Result, error) {
	end, err := b.begin("change")
	if err != nil {
		return Result{}, err
	}
	defer end()
	c, err := change(b.settings)
	if err != nil {
		return Result{}, err
	}
	b.settings = c.Settings
	opened, closed, err := b.write(Changes{Open: c.Open, Close: c.Close})
	return Result{Opened: opened, Closed: closed}, err
}

// testList is a provider's list with its own clock.
type testList struct {
	w      *world
	kept   time.Duration
	skew   time.Duration // the provider's clock minus ours
	lag    time.Duration // an event is listed when it is so old
	err    error         // after half of the window
	local  bool          // it reckons by our clock how long events are listed, as the reader of Stripe's list does
	events []Event
	asked  []string // windows, as minutes from the start of the test
	start  time.Time
}

func (l *testList) Kept() time.Duration { return l.kept }

func (l *testList) Pull(_ context.Context, from, to time.Time, take func(Event) error) (time.Time, error) {
	l.w.book.mu.Lock() // scripts change between two passes
	events, now := slices.Clone(l.events), l.w.clock.Now().Add(l.skew)
	err := l.err
	l.asked = append(l.asked, fmt.Sprintf("%.0f..%.0f", from.Sub(l.start).Minutes(), to.Sub(l.start).Minutes()))
	l.w.book.mu.Unlock()
	oldest := now.Add(-l.kept)
	if l.local {
		oldest = l.w.clock.Now().Add(-l.kept)
	}
	for i := len(events) - 1; i >= 0; i-- { // newest first
		at := events[i].Facts.OccurredAt
		if at.Before(from) || at.After(to) || at.Before(oldest) || now.Sub(at) < l.lag {
			continue
		}
		if err != nil && i < len(events)/2 {
			return to, err
		}
		if takeErr := take(events[i]); takeErr != nil {
			return to, takeErr
		}
	}
	if err == nil && from.Before(oldest) {
		err = fmt.Errorf("older than %s: %w", l.kept, ErrExpired)
	}
	if now.Before(to) {
		to = now
	}
	return to, err
}

// pulled runs a puller of the world's reception in the world, beside its loops.
func pulled(w *world, scenario func(l *testList)) {
	w.t.Helper()
	pulledWith(w, func(*testList) {}, scenario)
}

func pulledWith(w *world, prepare, scenario func(l *testList)) {
	w.t.Helper()
	l := &testList{w: w, kept: 30 * 24 * time.Hour, start: w.clock.Now()}
	w.edit(func(b *memBook) { b.settings.CreatedAt = w.clock.Now().Add(-24 * time.Hour) })
	prepare(l)
	ctx, cancel := context.WithCancel(context.Background())
	p := &Puller{
		Provider: "stripe-eu", List: l, Book: w.book, Receive: w.reception.Receive, Clock: w.clock, Observer: w.see, Every: 5 * time.Minute,
	}
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	w.start()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("the puller ended with: %v", err)
		}
	}()
	w.pass(time.Second)
	scenario(l)
}

// lost makes a deposit and a payment of it that no webhook tells of.
func (l *testList) lost(n int) { l.lostAt(n, l.w.clock.Now()) }

func (l *testList) lostAt(n int, at time.Time) {
	l.w.deposit(codeOf(n), 50000, testLogin+uint64(n))
	l.w.edit(func(*memBook) { l.events = append(l.events, paidEvent(n, at, codeOf(n), usd(50000))) })
}

func (l *testList) fail(err error) { l.w.edit(func(*memBook) { l.err = err }) }

func (w *world) progress() Pulled {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	return w.book.settings.PullOf("stripe-eu")
}

func (w *world) wantMissed(n uint64) {
	w.t.Helper()
	if got := w.progress().Missed; got != n {
		w.t.Errorf("%d events were missed, want %d", got, n)
	}
}

func TestPull_CreditsAPaymentWhoseWebhookNeverCame(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			l.lost(1)
			w.pass(6 * time.Minute)
			w.wantState(1, Done)
			w.wantMissed(1)
			w.wantCalls(1, 1)
			w.pass(2 * time.Hour) // the same event comes again and again
			w.wantMissed(1)
			w.wantCalls(1, 1)
			w.wantTasks("")
		})
	})
}

func TestPull_EventThatItsWebhookBroughtChangesNothingAndIsNotMissed(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			id := w.paid(testLogin, 1)
			e := paidEvent(1, w.row(id).PaidAt, codeOf(1), usd(50000))
			w.edit(func(*memBook) { l.events = append(l.events, e) })
			w.pass(time.Hour)
			w.wantMissed(0)
			w.wantCalls(1, 1)
			if n := len(w.book.events); n != 1 {
				t.Errorf("%d events are stored", n)
			}
		})
	})
}

func TestPull_WindowsOverlapAndTheYoungestAreLeftToTheirWebhooks(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			w.pass(10 * time.Minute)
			want := []string{"-1440..-1", "-61..4", "-56..9"}
			if !slices.Equal(l.asked, want) {
				t.Errorf("asked %v, want %v", l.asked, want)
			}
			l.lost(1)
			w.pass(time.Second)
			w.wantMissed(0)
		})
	})
}

func TestPull_EventListedLateIsFoundWithinTheOverlap(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			w.edit(func(*memBook) { l.lag = 50 * time.Minute })
			l.lost(1)
			w.pass(49 * time.Minute)
			w.wantMissed(0)
			w.pass(10 * time.Minute)
			w.wantMissed(1)
			w.wantState(1, Done)
		})
	})
}

func TestPull_FailsRepeatedly_OpensOneTaskThatACompletePullCloses(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			before := w.progress().To
			l.lost(1)
			l.lost(2)
			l.fail(errors.New("no answer"))
			w.pass(6 * time.Minute) // once
			w.wantTasks("")
			if p := w.progress(); p.FailingSince.IsZero() || !p.To.Equal(before) {
				t.Errorf("progress %+v after a pull that failed", p)
			}
			w.wantMissed(1) // what came before the fault stays
			w.pass(5 * time.Minute)
			w.wantTasks("")
			w.pass(20 * time.Minute)
			w.wantTasks("pull")
			l.fail(nil)
			w.pass(5 * time.Minute)
			w.wantTasks("")
			w.wantMissed(2)
			if p := w.progress(); !p.FailingSince.IsZero() || p.Problem != "" || !p.To.After(before) {
				t.Errorf("progress %+v after a complete pull", p)
			}
		})
	})
}

func TestPull_RefusalThatOnlyAPersonCanEnd_OpensItsTaskAtOnceAndSaysWhatToDo(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			l.fail(&PullRefusal{Err: errors.New("the key is revoked"), Next: "make another key"})
			l.lost(1)
			l.lost(2)
			w.pass(6 * time.Minute)
			w.wantTasks("pull")
			if task := w.book.tasks[0]; task.Next != "make another key" || task.Entity != "provider/stripe-eu" {
				t.Errorf("task %+v", task)
			}
		})
	})
}

func TestPull_ServiceWasOffForLongerThanTheListGoesBack_OneTaskAndGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.edit(func(b *memBook) {
			b.settings.Pulls = []Pulled{{Provider: "stripe-eu", To: w.clock.Now().Add(-40 * 24 * time.Hour)}}
		})
		pulled(w, func(l *testList) {
			w.wantTasks("pull_gap")
			if p := w.progress(); w.clock.Now().Sub(p.To) > 2*time.Minute {
				t.Errorf("progress %+v", p)
			}
			w.pass(time.Hour)
			w.wantTasks("pull_gap")
		})
	})
}

func TestPull_FastClockHere_MissesNothingWhenItIsSetRight(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			w.edit(func(*memBook) { l.skew = -24 * time.Hour })
			w.clock.step(24 * time.Hour)
			w.pass(10 * time.Minute)
			w.clock.step(-24 * time.Hour)
			w.edit(func(*memBook) { l.skew = 0 })
			l.lost(1)
			w.pass(10 * time.Minute)
			w.wantMissed(1)
			w.wantState(1, Done)
		})
	})
}

func TestPull_SlowClockHere_GoesOnWhenItIsSetRight(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			w.clock.step(-24 * time.Hour)
			w.edit(func(*memBook) { l.skew = 24 * time.Hour })
			w.pass(10 * time.Minute)
			w.clock.step(24 * time.Hour)
			w.edit(func(*memBook) { l.skew = 0 })
			l.lost(1)
			w.pass(10 * time.Minute)
			w.wantMissed(1)
			w.wantTasks("")
		})
	})
}

// While the clock here is slow by more than the overlap, the window would end before it begins: what the provider lists by its own clock is asked for.
func TestPull_SlowClockHere_StillFindsWhatNoWebhookBrought(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			w.clock.step(-24 * time.Hour)
			w.edit(func(*memBook) { l.skew = 24 * time.Hour })
			l.lostAt(1, w.clock.Now().Add(l.skew))
			w.pass(10 * time.Minute)
			w.wantMissed(1)
			w.clock.step(24 * time.Hour)
			w.edit(func(*memBook) { l.skew = 0 })
			l.lost(2)
			w.pass(10 * time.Minute)
			w.wantMissed(2)
			w.wantTasks("")
		})
	})
}

// A clock that is fast by longer than the list goes back makes a window of nothing. That is no complete list, somebody is told, and what was lost
// meanwhile is found once the clock is right.
func TestPull_ClockHereIsFasterThanTheListGoesBack_IsNoProgress(t *testing.T) {
	const fast = 45 * 24 * time.Hour
	for name, first := range map[string]bool{"at the first pull": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				prepare := func(l *testList) {
					if !first {
						w.edit(func(b *memBook) { b.settings.Pulls = []Pulled{{Provider: "stripe-eu", To: w.clock.Now()}} })
					}
					l.kept, l.local = 30*24*time.Hour, true
					w.edit(func(b *memBook) { b.settings.CreatedAt = w.clock.Now().Add(-24 * time.Hour) })
					w.clock.step(fast)
					l.skew = -fast
				}
				pulledWith(w, prepare, func(l *testList) {
					l.lostAt(1, w.clock.Now().Add(l.skew))
					w.pass(3 * time.Hour)
					w.wantTasks("pull")
					w.wantMissed(0)
					w.clock.step(-fast)
					w.edit(func(*memBook) { l.skew = 0 })
					w.pass(10 * time.Minute)
					w.wantMissed(1)
					w.wantTasks("")
				})
			})
		})
	}
}

func TestPull_StoreIsFull_TriesAgainWithoutBlamingTheProvider(t *testing.T) {
	inWorld(t, func(w *world) {
		pulled(w, func(l *testList) {
			l.lost(1)
			full := true
			w.edit(func(b *memBook) {
				b.fault = func(verb string) error {
					if full && verb == "accept" {
						return ErrBusy
					}
					return nil
				}
			})
			w.pass(30 * time.Minute)
			w.wantTasks("")
			if p := w.progress(); !p.FailingSince.IsZero() {
				t.Errorf("progress %+v", p)
			}
			w.edit(func(*memBook) { full = false })
			w.pass(6 * time.Minute)
			w.wantState(1, Done)
		})
	})
}

// restoredAt marks the world's store as restored from a backup of before.
func restoredAt(w *world, since time.Time) {
	w.edit(func(b *memBook) {
		b.settings.CutoverAt = w.clock.Now().Add(-300 * 24 * time.Hour)
		b.settings.Pins = []Pin{{Name: "provider/stripe-eu", Value: "stripe acct_1"}, {Name: "provider/wallet", Value: "standard w"}}
		c := BeginRestore(b.settings, Restore{Kind: FromBackup, At: w.clock.Now(), Since: since, By: "test"}, "instance", nil)
		b.settings = c.Settings
	})
}

func (w *world) openGaps() string {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	var out []string
	for _, g := range w.book.settings.OpenGaps() {
		out = append(out, g.Provider)
	}
	return fmt.Sprint(out)
}

func TestGapPull_CompletesTheGapOfItsProviderAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		restoredAt(w, w.clock.Now().Add(-time.Hour))
		pulled(w, func(l *testList) {
			if got := w.openGaps(); got != "[wallet]" {
				t.Errorf("open gaps %s", got)
			}
			if len(l.asked) != 2 || l.asked[0] != "-2940..0" { // an hour and 48
				t.Errorf("asked %v", l.asked)
			}
			w.wantMissed(0)
		})
	})
}

func TestGapPull_BringsLostEventsAsDoubtAndNotAsMissed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.deposit(codeOf(1), 50000, testLogin)
		e := paidEvent(1, w.clock.Now(), codeOf(1), usd(50000))
		w.pass(time.Minute)
		restoredAt(w, w.clock.Now().Add(-time.Hour))
		pulled(w, func(l *testList) {
			w.edit(func(b *memBook) {
				l.events = []Event{e}
				b.settings.Restore.Gaps[0] = Gap{Provider: "stripe-eu", From: w.clock.Now().Add(-49 * time.Hour)}
			})
			w.pass(6 * time.Minute)
			row := w.wantState(1, Unknown)
			if !row.Restored {
				t.Error("the row does not know that it is of before the restore")
			}
			w.wantMissed(0)
		})
	})
}

func TestGapPull_Fails_LeavesTheGapOpenAndTellsSomebody(t *testing.T) {
	inWorld(t, func(w *world) {
		restoredAt(w, w.clock.Now().Add(-time.Hour))
		pulled(w, func(l *testList) {
			w.edit(func(b *memBook) {
				b.settings.Restore.Gaps[0] = Gap{Provider: "stripe-eu", From: w.clock.Now().Add(-49 * time.Hour)}
				l.err = errors.New("no answer")
				l.events = []Event{paidEvent(1, w.clock.Now(), "", usd(1)), paidEvent(2, w.clock.Now(), "", usd(1))}
			})
			w.pass(20 * time.Minute)
			if got := w.openTasks(); got != "held, pull" && got != "pull, held" { // both come due in one moment
				t.Errorf("open tasks %q", got)
			}
			if got := w.openGaps(); got != "[stripe-eu wallet]" {
				t.Errorf("open gaps %s", got)
			}
			l.fail(nil)
			w.pass(5 * time.Minute)
			if got := w.openGaps(); got != "[wallet]" {
				t.Errorf("open gaps %s", got)
			}
		})
	})
}

func TestGapPull_OlderThanTheListGoesBack_StaysOpenForAPersonAndIsReadOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		restoredAt(w, w.clock.Now().Add(-60*24*time.Hour))
		pulled(w, func(l *testList) {
			w.pass(time.Hour)
			w.wantTasks("pull_gap")
			if got := w.openGaps(); got != "[stripe-eu wallet]" {
				t.Errorf("open gaps %s", got)
			}
			if task := w.book.tasks[0]; task.Kind != TaskPullGap || task.Next == "" {
				t.Errorf("task %+v", task)
			}
			if len(l.asked) != 14 { // the gap once, the window each time
				t.Errorf("asked %v", l.asked)
			}
		})
	})
}

func TestGapPull_ProvidersClockIsBehind_WaitsUntilItHasPassedTheRestore(t *testing.T) {
	inWorld(t, func(w *world) {
		restoredAt(w, w.clock.Now().Add(-time.Hour))
		pulledWith(w, func(l *testList) { l.skew = -2 * time.Minute }, func(*testList) {
			if got := w.openGaps(); got != "[stripe-eu wallet]" {
				t.Errorf("open gaps %s", got)
			}
			w.pass(5 * time.Minute)
			if got := w.openGaps(); got != "[wallet]" {
				t.Errorf("open gaps %s", got)
			}
		})
	})
}
