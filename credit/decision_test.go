package credit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChanges_OfADecisionWithoutAMoveAreItsTasksAlone(t *testing.T) {
	t.Parallel()
	dec := Decision{Open: []Task{{Kind: TaskLateAnswer}}, Close: []TaskClose{{Reason: "r"}}}
	ch, err := dec.Changes(joinedRow(Unknown))
	if err != nil || len(ch.Rows) != 0 || len(ch.Open) != 1 || len(ch.Close) != 1 {
		t.Errorf("%+v, %v", ch, err)
	}
}

func TestChanges_OfTwoMovesAreOneRowChangeWithBothEntries(t *testing.T) {
	t.Parallel()
	row := joinedRow(Claimed)
	mark := Mark{Process: "p", Boot: time.Hour}
	first := lost(noon, "a", "token", "r", &CallEvidence{Outcome: OutcomeNotSent}, false, mark, noon)
	then := resent(noon, "a", "p", noon)
	ch, err := Decision{Move: &first, Then: &then}.Changes(row)
	if err != nil || len(ch.Rows) != 1 {
		t.Fatalf("%+v, %v", ch, err)
	}
	rc := ch.Rows[0]
	if rc.Before.State != Claimed || rc.After.State != Pending || len(rc.Entries) != 2 || rc.Entries[1].Previous != rc.Entries[0].Digest() {
		t.Errorf("%s to %s in %d entries", rc.Before.State, rc.After.State, len(rc.Entries))
	}
	bad := claimed(noon, "a", "t", mark, nil)
	if ch, err := (Decision{Move: &first, Then: &bad}).Changes(row); !errors.Is(err, ErrConflict) || len(ch.Rows) != 0 {
		t.Errorf("a second move that may not be: %+v, %v", ch, err)
	}
}

func TestChanges_ARowThatMovesOnClosesTheTasksOfTheStateItLeaves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from State
		made Transition
		want string
	}{
		"joined":      {Held, joined(noon, "a", 1, depositOf(joinedRow(Held)), vector, nil, noon), "held"},
		"claimed":     {Pending, claimed(noon, "a", "t", Mark{}, nil), "stuck"},
		"found":       {Unknown, done(noon, ByResolver, "a", "found", Unknown, "", dealOf(joinedRow(Unknown)), Evidence{}, noon, time.Hour), "no_answer conflict handed_over unsent"},
		"done":        {Claimed, done(noon, ByWorker, "a", "done", Claimed, "token", dealOf(joinedRow(Claimed)), Evidence{}, noon, time.Hour), "unsent"},
		"held":        {Pending, stopped(noon, ByWorker, "a", "r", nil, HoldLookAlike), "stuck unsent"},
		"lost":        {Claimed, lost(noon, "a", "token", "r", &CallEvidence{}, false, Mark{Process: "p"}, noon), ""},
		"looked":      {Unknown, looked(noon, "a", absentLook("p", 1), nil, false, noon), ""},
		"postponed":   {Pending, postponed(noon, "a", "r", noon, noon), ""},
		"rescheduled": {Unknown, rescheduled(noon, "a", Unknown, noon), ""},
	} {
		row := readyRow(tc.from, name)
		ch, err := Decision{Move: &tc.made}.Changes(row)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, c := range ch.Close {
			got = append(got, string(c.Key.Kind))
			if c.Key.Entity != RowEntity(row.ID) || c.By == "" || c.Reason == "" || c.At.IsZero() {
				t.Errorf("%s: closes %+v", name, c)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s closes %v, want %q", name, got, tc.want)
		}
	}
}

func TestTiming_DefaultsAreTheDesignsAndPass(t *testing.T) {
	t.Parallel()
	tm := DefaultTiming()
	if err := tm.Check(20*time.Second, false); err != nil {
		t.Error(err)
	}
	if tm.Quarantine != 10*time.Minute || tm.SecondLook != time.Minute || tm.Lease != 2*time.Minute || tm.SendWithin != 2*time.Second ||
		tm.FreshFor != 10*time.Second || tm.Watch != 48*time.Hour || tm.TaskAfter != 15*time.Minute || tm.HeldGrace != 10*time.Minute {
		t.Errorf("defaults %+v", tm)
	}
}

func TestTiming_CheckRefusesWhatTheProtocolIsNotSafeWith(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Timing)
		demoOK bool
	}{
		"quarantine under its floor":          {func(t *Timing) { t.Quarantine = MinQuarantine - 1 }, true},
		"quarantine of zero":                  {func(t *Timing) { t.Quarantine = 0 }, false},
		"lease shorter than a call":           {func(t *Timing) { t.Lease = 21 * time.Second }, false},
		"no looks":                            {func(t *Timing) { t.Looks = nil }, false},
		"a look at once":                      {func(t *Timing) { t.Looks = []time.Duration{0, time.Second} }, false},
		"looks out of order":                  {func(t *Timing) { t.Looks = []time.Duration{2 * time.Second, time.Second} }, false},
		"two looks at once":                   {func(t *Timing) { t.Looks = []time.Duration{time.Second, time.Second} }, false},
		"negative second look":                {func(t *Timing) { t.SecondLook = -time.Second }, false},
		"no retry":                            {func(t *Timing) { t.Retry = 0 }, false},
		"no fresh time":                       {func(t *Timing) { t.FreshFor = 0 }, false},
		"no watch":                            {func(t *Timing) { t.Watch = 0 }, false},
		"no task":                             {func(t *Timing) { t.TaskAfter = 0 }, false},
		"no grace":                            {func(t *Timing) { t.HeldGrace = 0 }, false},
		"no send deadline":                    {func(t *Timing) { t.SendWithin = 0 }, false},
		"no later looks":                      {func(t *Timing) { t.LookEvery = 0 }, false},
		"no looks beside a task":              {func(t *Timing) { t.LookWithTask = 0 }, false},
		"a task before a call was not sent":   {func(t *Timing) { t.UnsentRetries = 0 }, false},
		"quarantine shorter than a long call": {func(t *Timing) { t.Quarantine, t.Lease = 3*time.Minute, 10*time.Minute; t.SendWithin = 5 * time.Minute }, true},
	} {
		for _, demo := range []bool{false, true} {
			tm := DefaultTiming()
			tc.change(&tm)
			err := tm.Check(20*time.Second, demo)
			if want := demo && tc.demoOK; (err == nil) != want || (err != nil && !errors.Is(err, ErrInvalid)) {
				t.Errorf("%s, demo %v: %v", name, demo, err)
			}
		}
	}
}

func TestBackoff_DoublesToAMinuteAndNeverFallsUnderItsFirstWait(t *testing.T) {
	t.Parallel()
	var got []string
	for n := range 9 {
		got = append(got, fmt.Sprint(backoff(2*time.Second, n)))
	}
	if want := []string{"2s", "4s", "8s", "16s", "32s", "1m0s", "1m0s", "1m0s", "1m0s"}; !slices.Equal(got, want) {
		t.Errorf("waits %v, want %v", got, want)
	}
	if d := backoff(2*time.Minute, 50); d != 2*time.Minute {
		t.Errorf("long first wait becomes %v", d)
	}
	if d := backoff(time.Nanosecond, 1<<30); d != time.Minute {
		t.Errorf("after very many tries %v", d)
	}
}

func TestHolds_AreSortedSetsOfTheirOwn(t *testing.T) {
	t.Parallel()
	shared := []Hold{HoldLimit, HoldAmount}
	with := withHolds(shared, HoldCode, HoldAmount)
	if !slices.Equal(with, []Hold{HoldAmount, HoldCode, HoldLimit}) || !slices.Equal(shared, []Hold{HoldLimit, HoldAmount}) {
		t.Errorf("%v from %v", with, shared)
	}
	if without := withoutHolds(with, HoldCode, HoldAmount, HoldLimit); without != nil {
		t.Errorf("nothing left is %v", without)
	}
}

func TestEarliestTrace_IsTheEarliestOfPaymentDepositAndFirstClaim(t *testing.T) {
	t.Parallel()
	at := func(h int) time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	for _, tc := range []struct{ paid, deposit, claim, want time.Time }{
		{at(1), at(2), at(3), at(1)}, {at(3), at(1), at(2), at(1)}, {at(2), at(3), at(1), at(1)},
		{at(2), time.Time{}, time.Time{}, at(2)}, {time.Time{}, at(2), at(3), at(2)}, {time.Time{}, time.Time{}, time.Time{}, time.Time{}},
	} {
		c := Credit{PaidAt: tc.paid, DepositAt: tc.deposit, FirstClaimAt: tc.claim}
		if got := c.EarliestTrace(); !got.Equal(tc.want) {
			t.Errorf("%v, %v, %v: %v, want %v", tc.paid, tc.deposit, tc.claim, got, tc.want)
		}
	}
}

func TestErrors_CarryTheirCodes(t *testing.T) {
	t.Parallel()
	dup := fmt.Errorf("put: %w", &DuplicateError{Rule: "credit by unit", Holder: 4})
	if !errors.Is(dup, ErrDuplicate) || !strings.Contains(dup.Error(), "credit by unit") {
		t.Errorf("%v", dup)
	}
	refused := fmt.Errorf("open: %w", Refuse("bad_amount", "at least %d", 1))
	if !errors.Is(refused, ErrRefused) || !strings.Contains(refused.Error(), "bad_amount: at least 1") {
		t.Errorf("%v", refused)
	}
}
