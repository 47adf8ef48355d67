package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/store"
)

// post is a sentinel over a store of its own.
type post struct {
	*sentinel
	t   *testing.T
	db  *store.DB
	see *observer
	log *bytes.Buffer
}

func newPost(t *testing.T) *post {
	t.Helper()
	at := noon
	db, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{
		UnsafeNoSync: true,
		New:          credit.Settings{StoreID: "store-1", Environment: "live", Mode: credit.ModeLive, CreatedAt: at, ModeAt: at},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	p := &post{t: t, db: db, log: &bytes.Buffer{}}
	p.see = &observer{log: zerolog.Nop()}
	a := &App{store: db, clock: stopped{&atomic.Int64{}}, log: zerolog.New(p.log), observer: p.see, process: credit.Process{ID: "p1"}, timing: credit.DefaultTiming()}
	p.sentinel = a.newSentinel()
	return p
}

// event stores a payment whose deposit is not there: a held row.
func (p *post) event(n int) {
	p.t.Helper()
	body := []byte(fmt.Sprint("event ", n))
	sum := sha256.Sum256(body)
	_, err := p.db.Accept(context.Background(), credit.Event{
		Provider: "psp", Kind: "psp", Account: "acct_1", MessageKey: fmt.Sprint("evt_", n), Digest: hex.EncodeToString(sum[:]), Body: body,
		Facts: credit.Facts{Effect: credit.EffectPaid, Payment: fmt.Sprint("pi_", n), Live: true, Parts: []credit.Part{{Amount: mustMinor(500)}}, OccurredAt: p.clock.Now()},
	}, credit.IntakeRules{Now: p.clock.Now(), HeldGrace: time.Minute})
	if err != nil {
		p.t.Fatal(err)
	}
}

func mustMinor(n int64) credit.Amount {
	a, err := credit.Minor(n, "USD", 2)
	if err != nil {
		panic(err)
	}
	return a
}

// plant opens a task that stands for a state which the row is not in.
func (p *post) plant(row credit.ID) {
	p.t.Helper()
	_, err := p.db.ChangeStore(context.Background(), func(s credit.Settings) (credit.StoreChange, error) {
		return credit.StoreChange{Settings: s, Open: []credit.Task{{Kind: credit.TaskFailed, Entity: credit.RowEntity(row), OpenedAt: p.clock.Now()}}}, nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// looked makes a look and tells mode, number of open invariant tasks and log lines.
func (p *post) looked() (mode credit.Mode, tasks, lines int) {
	p.t.Helper()
	if err := p.look(context.Background()); err != nil {
		p.t.Fatal(err)
	}
	s, err := p.db.Settings(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	open, err := p.db.Tasks(context.Background(), store.TaskQuery{OpenOnly: true})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range open {
		if t.Kind == credit.TaskInvariant {
			tasks++
		}
	}
	return s.Mode, tasks, strings.Count(p.log.String(), "\n")
}

func (p *post) want(mode credit.Mode, tasks, lines int) {
	p.t.Helper()
	if m, n, l := p.looked(); m != mode || n != tasks || l != lines {
		p.t.Fatalf("mode %s, %d tasks, %d lines; want %s, %d, %d\n%s", m, n, l, mode, tasks, lines, p.log)
	}
}

func (p *post) setMode(m credit.Mode) {
	p.t.Helper()
	_, err := p.db.Settle(context.Background(), func(s credit.Settings) (credit.Settings, error) {
		s.Mode = m
		return s, nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestSentinel_TellsOfABreachOnce(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.event(1)
	p.want(credit.ModeLive, 0, 0)
	p.plant(1)
	p.want(credit.ModeHold, 1, 1)
	p.want(credit.ModeHold, 1, 1) // the second look adds nothing
	p.setMode(credit.ModeLive)    // two people released it in spite of that
	p.want(credit.ModeLive, 1, 1)
	p.event(2)
	p.plant(2)
	p.want(credit.ModeHold, 1, 2) // a new one holds again; the open task stands for it
}

func TestSentinel_JudgesWhatMovedAndGoesSlowlyThroughAllRows(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for n := range sentinelRound + 20 {
		p.event(n)
	}
	p.want(credit.ModeLive, 0, 0) // its round is at row 500
	p.plant(10)                   // behind it, and nobody says that the row moved
	p.want(credit.ModeLive, 0, 0)
	p.see.Note(context.Background(), credit.Note{What: "row moved", Row: &credit.Credit{ID: 10}})
	p.want(credit.ModeHold, 1, 1)
	p.setMode(credit.ModeLive)
	p.plant(11)
	for range 2 {
		if _, _, lines := p.looked(); lines == 2 {
			return
		}
	}
	t.Errorf("its round did not come to row 11: %d", p.round)
}

func TestSentinel_HoldsOnADecisionThatIsImpossible(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.see.Note(context.Background(), credit.Note{What: "row could not be worked", Err: errors.New("MT5 cannot be reached")})
	p.want(credit.ModeLive, 0, 0)
	err := fmt.Errorf("credit 7: %w", &store.DamageError{Bucket: "credits", Key: []byte{7}, Reason: "the checksum does not match"})
	for range 3 {
		p.see.Note(context.Background(), credit.Note{What: "row could not be worked", Err: err})
	}
	select {
	case <-p.heard.wake:
	default:
		t.Error("the sentinel is not woken")
	}
	p.want(credit.ModeHold, 1, 1)
}

func TestSentinel_KeepsWhatItFoundUntilTheStoreTakesIt(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.event(1)
	p.plant(1)
	busy := &busyBook{sentinelBook: p.db, busy: true}
	p.book = busy
	p.want(credit.ModeLive, 0, 1) // the line says that the look did not end
	busy.busy = false
	p.want(credit.ModeHold, 1, 2)
}

// busyBook takes no changes while it is busy.
type busyBook struct {
	sentinelBook
	busy bool
}

func (b *busyBook) ChangeStore(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) ([]credit.Task, error) {
	if b.busy {
		return nil, credit.ErrBusy
	}
	return b.sentinelBook.ChangeStore(ctx, change)
}
