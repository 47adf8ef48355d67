package mt5

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

// A look that read all there is fails when the positive control does.
func TestH12_WithoutAProofThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	type rule = fakemt5.Rule
	for name, c := range map[string]struct {
		login  uint64
		rule   rule
		reason string
	}{
		"audit refused":          {emptyLogin, rule{Where: "user/check_balance", Kind: fakemt5.RefuseCode, Code: 8}, "8 MT_RET_ERR_PERMISSIONS"},
		"audit not found":        {emptyLogin, rule{Where: "user/check_balance", Kind: fakemt5.RefuseCode, Code: 13}, "13 MT_RET_ERR_NOTFOUND"},
		"audit empty":            {emptyLogin, rule{Where: "user/check_balance", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done"}`}, "no content"},
		"audit half":             {emptyLogin, rule{Where: "user/check_balance", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0","answer":{"Balance":{"User":"0.00","History":"0.00"}}}`}, errGarbled.Error()},
		"history without rows":   {emptyLogin, rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: 1, Skip: 2}, "the last of 1 deals is not shown"},
		"last row not shown":     {testLogin, rule{Where: "deal/get_page", Kind: fakemt5.RefuseCode, Code: 13, Skip: 1}, "the last of 1 deals is not shown"},
		"last row of another":    {testLogin, rule{Where: "deal/get_page", Kind: fakemt5.WrongLogin, Other: jpyLogin, Skip: 1}, errForeign.Error()},
		"rows without history":   {testLogin, rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -1, Skip: 2}, "the history has 0 deals by count and 1 by page"},
		"history's total is odd": {testLogin, rule{Where: "deal/get_total", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0","answer":{"Total":"x"}}`, Skip: 2}, errGarbled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.fault(c.rule)
			s := r.session.Look(t.Context(), r.query(c.login))
			if s.Complete || !strings.HasPrefix(s.Reason, "positive control: ") || !strings.Contains(s.Reason, c.reason) {
				t.Errorf("complete %v, reason %q, want %q", s.Complete, s.Reason, c.reason)
			}
		})
	}
}

func TestControl_WindowWithMoreThanTheWholeHistoryIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00"})
	r.fault(fakemt5.Rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -2, Skip: 2})
	s := r.session.Look(t.Context(), r.query(testLogin))
	if s.Complete || !strings.Contains(s.Reason, "the whole history has 0 deals, the window has 1") {
		t.Errorf("%+v", s)
	}
}

func TestControl_FindsTheKnownDealInACrowdedSecond(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.seed(testLogin, 350, 0)
	ticket := r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00"})
	q := r.query(testLogin)
	q.Control = &credit.Anchor{Ticket: ticket, ServerTime: serverMsc(r.clock.Now()) / 1000}
	if s := r.look(q); s.Rows != 351 {
		t.Errorf("rows %d", s.Rows)
	}
}

// Whatever one fault does, at whatever moment, while deals come in: a complete answer is a right one.
func TestLook_RandomFaultsNeverGiveAWrongAnswer(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var complete atomic.Int32
	t.Cleanup(func() {
		if n := complete.Load(); n < 10 || n == 120 {
			t.Errorf("%d of 120 answers were complete: the faults are asleep, or nothing passes", n)
		}
	})
	for i := range 40 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			r := newRig(t)
			r.ready()
			r.seed(testLogin, 1+rng.IntN(260), 30*time.Minute)
			r.add(fakemt5.ManualDeal{Login: jpyLogin, Action: 2, Amount: "7", Comment: "of the other"})
			want := []string{string(reference)}
			r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "500.00", Comment: string(reference), TimeMsc: serverMsc(r.clock.Now().Add(-time.Duration(rng.IntN(1800)) * time.Second))})
			r.seed(testLogin, 1+rng.IntN(120), 0)
			rule := randomRule(rng)
			r.fault(rule)
			if rng.IntN(2) == 0 {
				r.fault(fakemt5.Rule{Where: "deal/*", Kind: fakemt5.DealsBetween, Rows: 1 + rng.IntN(150), Count: rng.IntN(4) + 1, Skip: rng.IntN(4)})
			}
			var before credit.Sighting
			for range 3 {
				s := r.session.Relook(t.Context(), r.query(testLogin), before)
				if s.Complete && !slices.Equal(comments(s), want) {
					t.Errorf("fault %+v: %d rows, control %q, deals %+v", rule, s.Rows, s.Control, s.Deals)
				}
				if s.Complete {
					complete.Add(1)
				}
				if !s.Complete && s.Reason == "" {
					t.Error("no reason")
				}
				before = s
				comment := fmt.Sprintf("hand %d", rng.IntN(1000))
				r.add(fakemt5.ManualDeal{Login: testLogin, Action: 3, Amount: "1.00", Comment: comment})
				want = append(want, comment)
			}
		})
	}
}

func randomRule(rng *rand.Rand) fakemt5.Rule {
	kinds := []fakemt5.Rule{
		{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: rng.IntN(90) + 1}, {Where: "deal/get_page", Kind: fakemt5.PageRepeat},
		{Where: "deal/get_page", Kind: fakemt5.PageOfOther, Other: jpyLogin}, {Where: "deal/*", Kind: fakemt5.WrongLogin, Other: jpyLogin},
		{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: int64(rng.IntN(300) - 150), Grow: rng.IntN(2) == 0},
		{Where: "deal/*", Kind: fakemt5.CutBody}, {Where: "deal/*", Kind: fakemt5.EmptyBody}, {Where: "deal/*", Kind: fakemt5.GarbledBody},
		{Where: "deal/*", Kind: fakemt5.RefuseCode, Code: []int{1, 3, 7, 8, 13}[rng.IntN(5)]}, {Where: "*", Kind: fakemt5.SessionLost},
		{Where: "deal/*", Kind: fakemt5.Desync}, {Where: "*", Kind: fakemt5.Desync}, {Where: "deal/*", Kind: fakemt5.DropBefore},
		{Where: "deal/*", Kind: fakemt5.HTTPStatus, Status: []int{400, 401, 403, 404, 500}[rng.IntN(5)]},
	}
	rule := kinds[rng.IntN(len(kinds))]
	rule.Count, rule.Skip = rng.IntN(6), rng.IntN(6)
	if rule.Kind == fakemt5.TotalChanges && rule.Delta == 0 {
		rule.Delta = 1
	}
	return rule
}

// Count and page agree on one row; the known deal is the second one.
func TestControl_KnownDealOfTheWindowThatWasNotListedIsReadOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "first"})
	ticket := r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "2.00", Comment: "second"})
	r.fault(fakemt5.Rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -1, Count: 2})
	r.fault(fakemt5.Rule{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: 1, Count: 1})
	q := r.query(testLogin)
	q.Control = &credit.Anchor{Ticket: ticket, ServerTime: serverMsc(r.clock.Now()) / 1000}
	if s := r.look(q); !slices.Equal(comments(s), []string{"first", "second"}) {
		t.Errorf("deals %+v", s.Deals)
	}
}
