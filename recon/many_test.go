package recon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// taskBook is the part of a RunBook that tasks need, in memory.
type taskBook struct {
	RunBook
	items   []Item
	carried []Item
	gone    int
	opened  []credit.Task
	closed  []credit.TaskClose
	begin   error // of BeginRun
}

func (b *taskBook) BeginRun(context.Context) (RunID, error) { return 7, b.begin }

func (b *taskBook) Findings(_ context.Context, _ RunID, after, limit int) (items []Item, next int, err error) {
	end := min(after+limit, len(b.items))
	if next = end; end == len(b.items) {
		next = 0
	}
	return b.items[after:end], next, nil
}

func (b *taskBook) Carry(_ context.Context, _ Run, items []Item) (Carriage, error) {
	b.carried = append(b.carried, items...)
	return Carriage{}, nil
}

func (b *taskBook) Discrepancies(context.Context, Key, int) ([]Discrepancy, error) { return nil, nil }

func (b *taskBook) CarryGone(context.Context, Run, map[Key]string) (Carriage, error) {
	b.gone++
	return Carriage{}, nil
}

func (b *taskBook) RunTask(_ context.Context, t credit.Task, closed *credit.TaskClose) error {
	if closed != nil {
		b.closed = append(b.closed, *closed)
		return nil
	}
	b.opened = append(b.opened, t)
	return nil
}

// found makes so many items of each class, one class after the other.
func found(classes map[Class]int) (items []Item) {
	for _, c := range Classes() {
		for n := range classes[c] {
			items = append(items, Item{Key: Key{c, fmt.Sprintf("payment/psp/acct/p%d", n)}})
		}
	}
	return items
}

func carriedBy(t *testing.T, classes map[Class]int, state RunState) *taskBook {
	t.Helper()
	b := &taskBook{items: found(classes)}
	r := &Runner{Book: b}
	run := Run{ID: 7, First: "2026-05-04", Last: "2026-05-04", State: state, Outcome: Outcome{Classes: classes}}
	if err := errors.Join(carryErr(r.carry(t.Context(), run, standing{})), r.manyTask(t.Context(), run)); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestK_TooManyDifferences_GetFiveHundredTasksAndOneThatSaysSo(t *testing.T) {
	t.Parallel()
	b := carriedBy(t, map[Class]int{SettledWithoutCredit: 264_000, DoneWithoutDeal: 560, WrongAmount: 40, Waiting: 70, MatchedWithin: 3}, RunComplete)
	got := map[Class]int{}
	for _, i := range b.carried {
		got[i.Key.Class]++
	}
	if want := (map[Class]int{WrongAmount: 40, DoneWithoutDeal: 460}); !maps.Equal(got, want) {
		t.Errorf("tasks of %v, want %v: the rarer classes first", got, want)
	}
	if b.gone != 0 || len(b.closed) != 0 {
		t.Errorf("closed tasks of what was only left out: %d, %+v", b.gone, b.closed)
	}
	if len(b.opened) != 1 || b.opened[0].Kind != credit.TaskReconMany || !strings.Contains(b.opened[0].Summary, "run 7 of the day 2026-05-04 has 264,600 differences, tasks were opened for 500 of them") {
		t.Fatalf("%+v", b.opened)
	}
	if f := b.opened[0].Records[0].Fields; len(f) != 3 || f[0] != (credit.Field{Name: "wrong_amount", Value: "40"}) || f[2] != (credit.Field{Name: "settled_without_credit", Value: "264,000"}) {
		t.Errorf("%+v", f)
	}
}

func TestFewDifferences_AllGetTasks_AndTheTaskAboutTooManyCloses(t *testing.T) {
	t.Parallel()
	b := carriedBy(t, map[Class]int{SettledWithoutCredit: MostCarried - 1, WrongAmount: 1, Waiting: 70}, RunComplete)
	if len(b.carried) != MostCarried || b.gone != 1 || len(b.opened) != 0 {
		t.Errorf("%d carried, %d times gone, opened %+v", len(b.carried), b.gone, b.opened)
	}
	if len(b.closed) != 1 || b.closed[0].Key.Kind != credit.TaskReconMany || !strings.Contains(b.closed[0].Reason, "has 500 differences") {
		t.Errorf("closed %+v", b.closed)
	}
	if b := carriedBy(t, map[Class]int{Late: 2}, RunIncomplete); len(b.closed) != 0 || len(b.carried) != 2 || b.gone != 1 {
		t.Errorf("an incomplete run: closed %+v, %d carried, %d times gone", b.closed, len(b.carried), b.gone)
	}
}

func TestRunThatFails_OpensATaskWithItsReason(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC)
	full := fmt.Errorf("there is less room than payments keep for themselves: %w", credit.ErrBusy)
	for name, c := range map[string]struct {
		err   error
		tasks int
	}{"too little room": {full, 1}, "a store that has stopped": {credit.ErrStopped, 0}} {
		b := &taskBook{begin: c.err}
		r := &Runner{Book: b, Zone: time.UTC, Now: func() time.Time { return now }}
		_, err := r.Run(t.Context(), "2026-05-04", "2026-05-05", BySchedule, nil)
		if !errors.Is(err, c.err) || len(b.opened) != c.tasks {
			t.Errorf("%s: %v, tasks %+v", name, err, b.opened)
		}
		if c.tasks == 1 && (b.opened[0].Kind != credit.TaskReconIncomplete || !strings.Contains(b.opened[0].Records[0].Fields[0].Value, "less room than payments keep")) {
			t.Errorf("%s: %+v", name, b.opened)
		}
	}
	b := &taskBook{}
	r := &Runner{Book: b, Zone: time.UTC, Now: func() time.Time { return now }}
	if _, err := r.Run(t.Context(), "2026-05-06", "2026-05-06", BySchedule, nil); !errors.Is(err, credit.ErrRefused) || len(b.opened) != 0 {
		t.Errorf("a day that is not over: %v, tasks %+v", err, b.opened)
	}
}

// carryErr leaves the number out.
func carryErr(_ int, err error) error { return err }
