package credit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// guardAt is what process "p", started at 1 h, knows so long after its start.
func guardAt(since time.Duration) Guard {
	return Guard{
		Process: Process{ID: "p", Started: time.Hour}, Timing: DefaultTiming(),
		Now: Mark{Process: "p", Boot: time.Hour + since, At: noon.Add(since)}, Schedule: noon.Add(since),
	}
}

var (
	onePerson = People{Actor: "anna", Reason: "because", At: noon}
	twoPeople = People{Actor: "anna, confirmed by ben", Proposal: 3, Reason: "because", At: noon}
)

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	var r *RefusedError
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("got %v, want the code %q", err, code)
	}
}

func markAt(process string, boot time.Duration) *Mark { return &Mark{Process: process, Boot: boot} }

func TestCloseWithoutDeal_Table(t *testing.T) {
	t.Parallel()
	late := 30 * time.Minute
	now := time.Hour + late
	for name, c := range map[string]struct {
		state  State
		change func(*Credit)
		since  time.Duration
		live   bool
		want   string
	}{
		"held, proven":                       {state: Held, change: proven(now - time.Minute), since: late},
		"failed, proven":                     {state: Failed, change: proven(now - time.Minute), since: late},
		"unknown, proven":                    {state: Unknown, change: proven(now - time.Minute), since: late},
		"pending":                            {state: Pending, change: proven(now), since: late, want: "state"},
		"claimed":                            {state: Claimed, change: proven(now), since: late, want: "state"},
		"done":                               {state: Done, change: proven(now), since: late, want: "state"},
		"cancelled":                          {state: Cancelled, change: proven(now), since: late, want: "state"},
		"a live call":                        {state: Unknown, change: proven(now), since: late, live: true, want: "live_call"},
		"in the process's quarantine":        {state: Held, change: proven(now), since: 10*time.Minute - 1, want: "quarantine"},
		"at its end":                         {state: Held, change: proven(time.Hour + 10*time.Minute), since: 10 * time.Minute},
		"in the quarantine of a lost call":   {state: Unknown, change: func(c *Credit) { proven(now)(c); c.UnknownSince = *markAt("p", now-9*time.Minute) }, since: late, want: "quarantine"},
		"in the quarantine of a refused one": {state: Failed, change: func(c *Credit) { proven(now)(c); c.Ended = *markAt("p", now-9*time.Minute) }, since: late, want: "quarantine"},
		"a refusal that another process saw": {state: Failed, change: func(c *Credit) { proven(now)(c); c.Ended = *markAt("q", now) }, since: late},
		"never looked":                       {state: Held, since: late, want: "not_absent"},
		"one look":                           {state: Held, change: func(c *Credit) { c.FirstAbsent = markAt("p", now) }, since: late, want: "not_absent"},
		"proven to another process":          {state: Held, change: func(c *Credit) { c.FirstAbsent, c.AbsentAt = markAt("q", now), markAt("q", now) }, since: late, want: "not_absent"},
		"proven too long ago":                {state: Held, change: proven(now - 15*time.Minute - 1), since: late, want: "not_absent"},
		"denied twice":                       {state: Held, change: denied("p", now-time.Minute, now), since: late},
		"denied twice, too close":            {state: Held, change: denied("p", now-time.Minute+1, now), since: late, want: "not_absent"},
		"denied twice, and not any more":     {state: Held, change: denied("p", now-time.Hour, now-time.Minute-1), since: late, want: "not_absent"},
		"denied to another process":          {state: Held, change: denied("q", now-time.Hour, now), since: late, want: "not_absent"},
		"no login":                           {state: Held, change: func(c *Credit) { c.Login, c.Deposit = 0, "" }, since: late},
		"no login, in the quarantine":        {state: Held, change: func(c *Credit) { c.Login, c.Deposit = 0, "" }, want: "quarantine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := joinedRow(c.state)
			row.UnknownSince = Mark{}
			if c.change != nil {
				c.change(&row)
			}
			g := guardAt(c.since)
			g.Live = c.live
			dec, err := CloseWithoutDeal(Dossier{Row: row}, twoPeople, g)
			wantCode(t, err, c.want)
			if err == nil {
				if after, _, err := Apply(row, *dec.Move); err != nil || after.State != Cancelled || len(after.Holds) > 0 || after.AbsentAt != nil {
					t.Errorf("closed: %+v, %v", after, err)
				}
			}
		})
	}
}

func proven(at time.Duration) func(*Credit) {
	return func(c *Credit) { c.FirstAbsent, c.AbsentAt = markAt("p", at-time.Minute), markAt("p", at) }
}

func denied(process string, first, last time.Duration) func(*Credit) {
	return func(c *Credit) { c.FirstDenied, c.DeniedAt = markAt(process, first), markAt(process, last) }
}

func TestAdopt_Table(t *testing.T) {
	t.Parallel()
	row := joinedRow(Held)
	other := NewReference("live", testIdentity, KindDeposit, Unit{ProviderKind: "stripe", Account: "acct_1", Payment: "pi_2"})
	for name, c := range map[string]struct {
		state   State
		deal    func(*Deal)
		row     func(*Credit)
		holder  ID
		comment string
		want    string
	}{
		"held":                       {state: Held},
		"unknown":                    {state: Unknown, row: func(c *Credit) { c.UnknownSince = Mark{} }},
		"failed":                     {state: Failed, want: "state"},
		"pending":                    {state: Pending, want: "state"},
		"done":                       {state: Done, want: "state"},
		"no ticket":                  {state: Held, deal: func(d *Deal) { d.Ticket = 0 }, want: "wrong_deal"},
		"another login":              {state: Held, deal: func(d *Deal) { d.Login++ }, want: "wrong_deal"},
		"another action":             {state: Held, deal: func(d *Deal) { d.Action = 6 }, want: "wrong_deal"},
		"another amount":             {state: Held, deal: func(d *Deal) { d.Amount = usd(1) }, want: "wrong_deal"},
		"another sign":               {state: Held, deal: func(d *Deal) { d.Amount = d.Amount.Neg() }, want: "wrong_deal"},
		"another comment":            {state: Held, deal: func(d *Deal) { d.Comment = "wire" }, want: "comment_differs"},
		"another comment, said so":   {state: Held, deal: func(d *Deal) { d.Comment = "wire" }, comment: "wire"},
		"an odd comment, said so":    {state: Held, deal: func(d *Deal) { d.Comment = "wire\xff" }, comment: "wire\uFFFD"},
		"another payment's mark":     {state: Held, deal: func(d *Deal) { d.Comment = string(other) }, comment: string(other), want: "other_reference"},
		"on another row":             {state: Held, holder: 99, want: "deal_taken"},
		"on this row":                {state: Held, holder: row.ID},
		"recorded as another":        {state: Held, row: func(c *Credit) { c.NotDeals = []uint64{7, 1001} }, want: "not_this_deal"},
		"without a deposit":          {state: Held, row: func(c *Credit) { c.Login = 0 }, want: "no_login"},
		"in the call's quarantine":   {state: Unknown, want: "quarantine"},
		"re-issued: it is watched":   {state: Held, row: func(c *Credit) { c.Reissues = 1 }},
		"over the amount in dollars": {state: Held, deal: func(d *Deal) { d.Amount = amount("500", "USD", 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := joinedRow(c.state)
			if c.state == Unknown {
				row.UnknownSince = *markAt("p", time.Hour+25*time.Minute)
			}
			deal := dealOf(row)
			if c.deal != nil {
				c.deal(&deal)
			}
			if c.row != nil {
				c.row(&row)
			}
			dec, err := Adopt(Dossier{Row: row}, twoPeople, guardAt(30*time.Minute), deal, c.holder, c.comment)
			wantCode(t, err, c.want)
			if err != nil {
				return
			}
			after, entry, err := Apply(row, *dec.Move)
			if err != nil || after.State != Done || after.Ticket != deal.Ticket || (row.Reissues > 0) != !after.WatchUntil.IsZero() {
				t.Errorf("adopted: %+v, %v", after, err)
			}
			if entry.By != ByTwoPeople || entry.Evidence.Proposal != 3 || dec.Anchor.Ticket != deal.Ticket {
				t.Errorf("entry %+v", entry)
			}
		})
	}
}

func TestH10_LooksOfPeopleGoThroughTheSameGate(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Held, Failed, Unknown} {
		row := joinedRow(state)
		row.UnknownSince = Mark{}
		look := func(since time.Duration, change func(*LookEvidence)) {
			t.Helper()
			ev := absentLook("p", time.Hour+since)
			if change != nil {
				change(ev)
			}
			dec, err := Examined(Dossier{Row: row}, onePerson, guardAt(since), ev)
			if err != nil {
				t.Fatalf("%s: %v", state, err)
			}
			if row, _, err = Apply(row, *dec.Move); err != nil || row.State != state {
				t.Fatalf("%s: %q, %v", state, row.State, err)
			}
		}
		look(time.Minute, nil)
		if row.FirstAbsent != nil {
			t.Errorf("%s: a look in the quarantine counts", state)
		}
		look(10*time.Minute, nil)
		if row.FirstAbsent == nil || row.AbsentAt != nil {
			t.Errorf("%s: after one look: %+v, %+v", state, row.FirstAbsent, row.AbsentAt)
		}
		look(11*time.Minute-1, nil)
		if row.AbsentAt != nil {
			t.Errorf("%s: the second look came too early and proves", state)
		}
		look(11*time.Minute, nil)
		if row.AbsentAt == nil {
			t.Errorf("%s: two looks do not prove", state)
		}
		look(12*time.Minute, func(e *LookEvidence) { e.Complete, e.Verdict = false, VerdictNoAnswer })
		if row.AbsentAt == nil {
			t.Errorf("%s: no answer undid what was proven", state)
		}
		look(13*time.Minute, func(e *LookEvidence) { e.Verdict = VerdictConflict })
		if row.AbsentAt != nil || row.FirstAbsent != nil {
			t.Errorf("%s: a conflict leaves the proof", state)
		}
		look(14*time.Minute, func(e *LookEvidence) { e.Complete, e.Denied, e.Verdict = false, true, VerdictNoAnswer })
		look(15*time.Minute, func(e *LookEvidence) { e.Complete, e.Denied, e.Verdict = false, true, VerdictNoAnswer })
		if row.FirstDenied == nil || row.DeniedAt == nil || row.DeniedAt.Boot-row.FirstDenied.Boot != time.Minute {
			t.Errorf("%s: denied %+v, %+v", state, row.FirstDenied, row.DeniedAt)
		}
		look(16*time.Minute, nil)
		if row.FirstDenied != nil || row.DeniedAt != nil {
			t.Errorf("%s: a complete look leaves the denial", state)
		}
	}
}

func TestExamined_AbsenceIsForgottenWhenTheRowMovesOn(t *testing.T) {
	t.Parallel()
	row := joinedRow(Failed)
	proven(2 * time.Hour)(&row)
	dec, err := RetryFailed(Dossier{Row: row}, onePerson, guardAt(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Apply(row, *dec.Move)
	if err != nil || after.AbsentAt != nil || after.FirstAbsent != nil || after.State != Unknown {
		t.Errorf("after the retry: %+v, %v", after, err)
	}
}

func TestRetryFailed_CountsTheQuarantineFromTheRefusedCall(t *testing.T) {
	t.Parallel()
	row := joinedRow(Failed)
	row.Ended = *markAt("p", 90*time.Minute)
	dec, err := RetryFailed(Dossier{Row: row}, onePerson, guardAt(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Apply(row, *dec.Move)
	if err != nil || after.UnknownSince != row.Ended || after.NextAt != noon.Add(time.Hour) || after.Grants != 0 {
		t.Errorf("%+v, %v", after, err)
	}
}

func TestJudge_PassesOverWhatPeopleExcluded(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	ours := dealOf(row)
	alike, damaged := ours, ours
	alike.Ticket, alike.Comment = 2000, "by hand"
	damaged.Ticket, damaged.Comment, damaged.Amount = 2001, string(row.Reference)[:16], usd(1)
	s := Sighting{Complete: true, Deals: []Deal{alike, damaged}}
	if m := Judge(row, s, nil); m.Verdict != VerdictConflict {
		t.Errorf("without exclusions: %+v", m)
	}
	row.NotDeals = []uint64{2000}
	if m := Judge(row, s, nil); m.Verdict != VerdictConflict || m.LookAlike {
		t.Errorf("with one excluded: %+v", m)
	}
	row.NotDeals = []uint64{2000, 2001}
	if m := Judge(row, s, nil); m.Verdict != VerdictAbsent {
		t.Errorf("with both excluded: %+v", m)
	}
	row.NotDeals = append(row.NotDeals, ours.Ticket) // whoever wrote that: our own reference is never passed over
	s.Deals = append(s.Deals, ours)
	if m := Judge(row, s, nil); m.Verdict != VerdictFound {
		t.Errorf("our own deal: %+v", m)
	}
}

func TestNotThisDeal_KeepsTheSetSortedAndBringsTheLookForward(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	row.NotDeals = []uint64{5000}
	proven(2 * time.Hour)(&row)
	deal := dealOf(row)
	deal.Ticket, deal.Comment = 2000, "by hand"
	dec, err := NotThisDeal(Dossier{Row: row}, twoPeople, guardAt(time.Hour), deal, 0)
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Apply(row, *dec.Move)
	if err != nil || !slices.Equal(after.NotDeals, []uint64{2000, 5000}) || !after.NextAt.Equal(noon.Add(time.Hour)) || after.AbsentAt != nil {
		t.Errorf("%+v, %v", after, err)
	}
	if !slices.Equal(row.NotDeals, []uint64{5000}) || len(dec.Close) != 1 || dec.Close[0].Key.Kind != TaskConflict {
		t.Errorf("input %v, close %+v", row.NotDeals, dec.Close)
	}
}

// A restored MT5 server gives tickets again: what another row has under the ticket may be another deal. People tell.
func TestDamagedReferenceOnATicketOfAnotherRow_IsAConflictThatTwoPeopleEnd(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	deal := dealOf(row)
	deal.Comment = strings.ToLower(deal.Comment)
	seen, held := Sighting{Complete: true, Deals: []Deal{deal}}, map[uint64]ID{deal.Ticket: 99}
	if m := Judge(row, seen, held); m.Verdict != VerdictConflict {
		t.Fatalf("%+v", m)
	}
	dec, err := NotThisDeal(Dossier{Row: row}, twoPeople, guardAt(time.Hour), deal, 99)
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := Apply(row, *dec.Move)
	if err != nil {
		t.Fatal(err)
	}
	if m := Judge(after, seen, held); m.Verdict != VerdictAbsent {
		t.Errorf("passed over: %+v", m)
	}
}

func TestNotThisDeal_ADamagedCopyOfOurReferenceOverTheRowsAmountIsThisPayment(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	for name, c := range map[string]struct {
		comment string
		amount  Amount
		code    string
	}{
		"cut":               {string(row.Reference)[:15], row.DealAmount(), "own_reference"},
		"with more":         {string(row.Reference) + "X", row.DealAmount(), "own_reference"},
		"another amount":    {string(row.Reference) + "X", row.DealAmount().Neg(), ""},
		"a text of its own": {"by hand", row.DealAmount(), ""},
	} {
		deal := dealOf(row)
		deal.Ticket, deal.Comment, deal.Amount = 2000, c.comment, c.amount
		_, err := NotThisDeal(Dossier{Row: row}, twoPeople, guardAt(time.Hour), deal, 0)
		if wantCode(t, err, c.code); t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestReplay_OfAnEventFromBeforeTheCutoverMakesNoRowThatPays(t *testing.T) {
	t.Parallel()
	e := paidEvent(1, noon, codeOf(1), usd(50000)) // the provider dates it after the cut-over, we had it before
	e.ID, e.ReceivedAt = 4, noon.Add(-2*time.Hour)
	found := IntakeFound{Settings: Settings{Environment: "live", Mode: ModeLive, CutoverAt: noon.Add(-time.Hour)}, NextRow: 9, NextEvent: 5}
	out, err := Replay(e, onePerson, found, IntakeRules{Now: noon})
	if err != nil || len(out.Rows) != 1 || !out.Rows[0].After.HasHold(HoldPreCutover) || out.Event != nil {
		t.Errorf("%+v, %v", out.Rows, err)
	}
	if out.Rows[0].Entries[0].Actor != "anna" || out.Rows[0].Entries[0].Evidence.Event != 4 {
		t.Errorf("entry %+v", out.Rows[0].Entries[0])
	}
	e.Facts.Live = false
	if out, err = Replay(e, onePerson, found, IntakeRules{Now: noon}); err != nil || len(out.Rows) != 0 || len(out.Open) != 1 {
		t.Errorf("a test event on a live store: %+v, %v", out, err)
	}
	e.Variant = e.Digest
	_, err = Replay(e, onePerson, found, IntakeRules{Now: noon})
	wantCode(t, err, "variant")
}
