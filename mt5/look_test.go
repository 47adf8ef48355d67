package mt5

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func TestLook_EmptyAccountInEveryFormOfNone(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"array", "null", "absent", "1", "13", "404 13"} {
		for _, total := range []string{"zero", "null", "absent", "1", "13", "404 13"} {
			r := newRig(t, onWire(func(w *fakemt5.Wire) { w.EmptyPage, w.EmptyTotal = page, total }))
			s := r.look(r.query(emptyLogin))
			if len(s.Deals) != 0 || s.Rows != 0 || s.Newest != nil || s.Control != "empty history, balance check 0/0" {
				t.Errorf("page %s total %s: %+v", page, total, s)
			}
			// An old deal outside the window is still no row, but the history is not empty.
			s = r.look(r.query(testLogin))
			if s.Rows != 0 || !strings.HasPrefix(s.Control, "last row of the whole history") {
				t.Errorf("page %s total %s: %+v", page, total, s)
			}
		}
	}
}

func TestLook_OtherCodesForNoneAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"3", "8", "2", "404 -", "500 13", "200 -"} {
		r := newRig(t, onWire(func(w *fakemt5.Wire) { w.EmptyPage = form }))
		if s := r.session.Look(t.Context(), r.query(emptyLogin)); s.Complete || s.Reason == "" || s.LoginMissing {
			t.Errorf("%s: %+v", form, s)
		}
	}
}

func TestLook_MoneyWithoutHistoryIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, onWorld(func(w *fakemt5.World) { w.Accounts[1].Balance, w.Accounts[1].NoHistory = 5, true }))
	s := r.session.Look(t.Context(), r.query(emptyLogin))
	if s.Complete || !strings.Contains(s.Reason, "the account has money and no deal is shown") {
		t.Errorf("sighting %+v", s)
	}
}

func TestLook_FindsBalanceDealsAmongThousandsOfTradingDeals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	msc := serverMsc(r.clock.Now())
	r.seed(testLogin, 1500, 40*time.Minute)
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "500.00", Comment: string(reference), TimeMsc: msc - 1_200_000})
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 6, Amount: "-7.25", Comment: "bonus out", TimeMsc: msc - 600_000})
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 12, Amount: "3.00", Comment: "interest", TimeMsc: msc - 500_000})
	r.seed(testLogin, 1500, time.Minute)
	q := r.query(testLogin)
	s := r.look(q)
	if s.Rows != 3003 || s.Offset != 2*time.Hour || s.Newest == nil || !slices.Equal(comments(s), []string{string(reference), "bonus out"}) {
		t.Fatalf("rows %d, newest %v, deals %+v", s.Rows, s.Newest, s.Deals)
	}
	newest := r.fake.Journal()[len(r.fake.Journal())-1]
	if s.Newest.Ticket != newest.Ticket || s.Newest.ServerTime != newest.ServerMsc/1000 {
		t.Errorf("newest %+v, want %d at %d", s.Newest, newest.Ticket, newest.ServerMsc/1000)
	}
	if !s.From.Equal(q.Earliest.Add(-48*time.Hour)) || !s.Until.Equal(r.clock.Now().Add(24*time.Hour)) {
		t.Errorf("window %s to %s", s.From, s.Until)
	}
	if d := s.Deals[1]; d.Amount.String() != "-7.25 EUR" || d.Action != 6 || d.Login != testLogin || d.ServerTime != msc/1000-600 {
		t.Errorf("deal %+v", d)
	}
	q.Control = s.Newest
	if again := r.look(q); again.Control != fmt.Sprintf("narrow query for deal %d", newest.Ticket) {
		t.Errorf("control %q", again.Control)
	}
}

func TestLook_PageSizesAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 98, 99, 100, 101, 198, 199, 200, 298} {
		r := newRig(t)
		r.seed(emptyLogin, n, 30*time.Minute)
		r.add(fakemt5.ManualDeal{Login: emptyLogin, Action: 2, Amount: "1.00", Comment: "last"})
		if s := r.look(r.query(emptyLogin)); s.Rows != n+1 || !slices.Equal(comments(s), []string{"last"}) {
			t.Errorf("%d trading deals: rows %d, deals %v", n, s.Rows, comments(s))
		}
	}
}

func TestLook_FaultsGiveNoAnswerAndNeverAWrongOne(t *testing.T) {
	t.Parallel()
	type rule = fakemt5.Rule
	for name, c := range map[string]struct {
		rule     fakemt5.Rule
		complete bool // once the fault has spent itself within the look
	}{
		"page cut":                {rule{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: 3}, false},
		"page cut once":           {rule{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: 3, Count: 1}, true},
		"second page cut":         {rule{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: 3, Skip: 1, Count: 1}, true},
		"page of another":         {rule{Where: "deal/get_page", Kind: fakemt5.PageOfOther, Other: jpyLogin}, false},
		"second page of another":  {rule{Where: "deal/get_page", Kind: fakemt5.WrongLogin, Other: jpyLogin, Skip: 1, Count: 1}, false},
		"second page is empty":    {rule{Where: "deal/get_page", Kind: fakemt5.PageOfOther, Other: jpyLogin, Skip: 1, Count: 1}, true},
		"rows of another":         {rule{Where: "deal/get_page", Kind: fakemt5.WrongLogin, Other: jpyLogin}, false},
		"user of another":         {rule{Where: "user/get", Kind: fakemt5.WrongLogin, Other: jpyLogin}, false},
		"page repeated":           {rule{Where: "deal/get_page", Kind: fakemt5.PageRepeat}, false},
		"second page repeated":    {rule{Where: "deal/get_page", Kind: fakemt5.PageRepeat, Skip: 1, Count: 1}, true},
		"total too small":         {rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -1}, false},
		"total says none":         {rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -1000}, false},
		"total too large":         {rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: 1}, false},
		"total wrong once":        {rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -2, Count: 1}, true},
		"total grows":             {rule{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: 1, Grow: true}, false},
		"deals come between":      {rule{Where: "deal/*", Kind: fakemt5.DealsBetween, Rows: 70, Count: 4}, true},
		"deals keep coming":       {rule{Where: "deal/*", Kind: fakemt5.DealsBetween, Rows: 1}, false},
		"page garbled":            {rule{Where: "deal/get_page", Kind: fakemt5.GarbledBody}, false},
		"page cut on the wire":    {rule{Where: "deal/get_page", Kind: fakemt5.CutBody}, false},
		"page empty body":         {rule{Where: "deal/get_page", Kind: fakemt5.EmptyBody}, false},
		"page says none":          {rule{Where: "deal/get_page", Kind: fakemt5.RefuseCode, Code: 13}, false},
		"pages answer to another": {rule{Where: "deal/*", Kind: fakemt5.Desync}, false},
		"ticket changed":          {rule{Where: "deal/get_page", Kind: fakemt5.WrongTicket}, false},
		"session lost once":       {rule{Where: "deal/get_page", Kind: fakemt5.SessionLost, Skip: 1, Count: 1}, true},
		"session lost again":      {rule{Where: "deal/get_page", Kind: fakemt5.SessionLost, Skip: 1}, false},
		"dropped once":            {rule{Where: "deal/get_page", Kind: fakemt5.ApplyThenDrop, Skip: 1, Count: 1}, true},
		"dropped always":          {rule{Where: "deal/get_page", Kind: fakemt5.DropBefore}, false},
		"500":                     {rule{Where: "deal/get_page", Kind: fakemt5.HTTPStatus, Status: 500}, false},
		"swallowed":               {rule{Where: "deal/get_page", Kind: fakemt5.NeverExecute}, false},
		"control page says none":  {rule{Where: "deal/get_page", Kind: fakemt5.RefuseCode, Code: 13, Skip: 3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ready()
			if c.rule.Kind == fakemt5.NeverExecute {
				r.session.cfg.ReadTimeout = 150 * time.Millisecond
			}
			r.seed(testLogin, 120, 40*time.Minute)
			r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "500.00", Comment: string(reference), TimeMsc: serverMsc(r.clock.Now())})
			r.seed(testLogin, 50, 0)
			r.add(fakemt5.ManualDeal{Login: jpyLogin, Action: 2, Amount: "5", Comment: "of the other"})
			r.fault(c.rule)
			s := r.session.Look(t.Context(), r.query(testLogin))
			if s.Complete != c.complete {
				t.Fatalf("complete %v, want %v: %+v", s.Complete, c.complete, s)
			}
			if s.Complete && !slices.Equal(comments(s), []string{string(reference)}) {
				t.Errorf("deals %+v", s.Deals)
			}
			if !s.Complete && (s.Reason == "" || s.Deals != nil || strings.Contains(s.Reason, "?")) {
				t.Errorf("sighting %+v", s)
			}
		})
	}
}

func TestH12_KnownDealThatIsNotShownIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ticket := r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "known"})
	q := r.query(testLogin)
	q.Control = &credit.Anchor{Ticket: ticket, ServerTime: serverMsc(r.clock.Now()) / 1000}
	r.look(q)
	if err := r.control.DeleteDeal(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	if s := r.session.Look(t.Context(), q); s.Complete || !strings.Contains(s.Reason, "which MT5 showed before, is not shown") {
		t.Errorf("sighting %+v", s)
	}
}

// The server says three times that the window is empty, and then shows a deal of it to the positive control: the
// list is read on. When it goes on saying so, there is no answer.
func TestLook_ADealOfTheWindowThatOnlyTheControlShowsIsReadOrThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	for times, complete := range map[int]bool{3: true, 0: false} {
		for _, known := range []bool{true, false} {
			r := newRig(t)
			old := r.look(credit.LookQuery{Login: testLogin}).Newest
			ticket := r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "ours"})
			q := r.query(testLogin)
			if known {
				q.Control = old // lies before the window
			}
			// The window's two counts and its page say "none"; the control's own queries pass.
			r.fault(fakemt5.Rule{Where: "deal/get_total", Kind: fakemt5.RefuseCode, Code: 13, Count: min(times, 2)})
			r.fault(fakemt5.Rule{Where: "deal/get_page", Kind: fakemt5.RefuseCode, Code: 13, Count: min(times, 1)})
			s := r.session.Look(t.Context(), q)
			if s.Complete != complete || complete && (len(s.Deals) != 1 || s.Deals[0].Ticket != ticket) {
				t.Errorf("%d times, known %v: %+v", times, known, s)
			}
		}
	}
}

func TestH5_LookSeesDealsAtTheEdgesOfTheWindowInEveryZone(t *testing.T) {
	t.Parallel()
	for _, minutes := range []int{-720, -60, 0, 120, 345, 840} {
		offset := time.Duration(minutes) * time.Minute
		r := newRig(t, onWorld(func(w *fakemt5.World) { w.Zone.OffsetMinutes = minutes }))
		q := r.query(testLogin)
		for comment, at := range map[string]time.Time{
			"too early": q.Earliest.Add(-48*time.Hour - time.Second), "first": q.Earliest.Add(-48 * time.Hour),
			"now": r.clock.Now(), "last": r.clock.Now().Add(24 * time.Hour), "too late": r.clock.Now().Add(24*time.Hour + time.Second),
		} {
			r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: comment, TimeMsc: at.Add(offset).UnixMilli()})
		}
		s := r.look(q)
		got := comments(s)
		slices.Sort(got)
		if !slices.Equal(got, []string{"first", "last", "now"}) || s.Offset != offset {
			t.Errorf("%d minutes: %v, offset %s", minutes, got, s.Offset)
		}
	}
}

func TestH5_DaylightSavingChangesBetweenMeasureAndLook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	if err := r.control.SetZone(t.Context(), fakemt5.Zone{OffsetMinutes: 180}); err != nil {
		t.Fatal(err)
	}
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "after the change"})
	if s := r.look(r.query(testLogin)); !slices.Equal(comments(s), []string{"after the change"}) {
		t.Errorf("deals %+v", s.Deals)
	}
}

func TestLook_AJumpOfOurWallClockDoesNotMoveTheWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "now"})
	q := r.query(testLogin)
	jumped := jumpedClock{r.clock, -72 * time.Hour}
	r.session.cfg.Clock = jumped
	if s := r.look(q); !slices.Equal(comments(s), []string{"now"}) {
		t.Errorf("deals %+v", s.Deals)
	}
}

// jumpedClock is a clock whose wall time was set wrong while the machine runs.
type jumpedClock struct {
	testClock
	by time.Duration
}

func (c jumpedClock) Now() time.Time { return c.testClock.Now().Add(c.by) }

func TestLook_ADealThatShowsLateIsAbsentFirstAndThenFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.fault(fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.VisibleAfter, Delay: fakemt5.Duration(time.Minute), Count: 1})
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeApplied {
		t.Fatalf("%+v", got)
	}
	if s := r.look(r.query(testLogin)); len(s.Deals) != 0 {
		t.Errorf("deals %+v before they show", s.Deals)
	}
	r.clock.Advance(time.Minute)
	if s := r.look(r.query(testLogin)); !slices.Equal(comments(s), []string{string(reference)}) {
		t.Errorf("deals %+v after they show", s.Deals)
	}
}

func TestH3_LookFindsADealThatIsExecutedAfterTheCallerGaveUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.impatientOnce(time.Minute)
	r.fault(fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.HoldThenExecute, Delay: fakemt5.Duration(time.Minute), Count: 1})
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeUnknown || got.Answered {
		t.Fatalf("%+v", got)
	}
	if s := r.look(r.query(testLogin)); len(s.Deals) != 0 {
		t.Errorf("deals %+v", s.Deals)
	}
	r.clock.Advance(time.Minute)
	if s := r.look(r.query(testLogin)); !slices.Equal(comments(s), []string{string(reference)}) || len(r.executed()) != 1 {
		t.Errorf("deals %+v", s.Deals)
	}
}

func TestLook_AmountsOfOddPlacesDoNotMakeItImpossible(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "odd"})
	r.fault(fakemt5.Rule{Where: "deal/get_page", Kind: fakemt5.AmountAltered, Delta: 1})
	if s := r.look(r.query(testLogin)); s.Deals[0].Amount.String() != "1.01 EUR" {
		t.Errorf("deals %+v", s.Deals)
	}
}

func TestLook_StepIsCalledForEveryPage(t *testing.T) {
	t.Parallel()
	steps := 0
	r := newRig(t, onClient(func(c *Config) {
		c.Step = func(_ context.Context, name string) {
			if name != credit.StepLookPage {
				t.Errorf("step %s", name)
			}
			steps++
		}
	}))
	r.seed(testLogin, 150, time.Minute)
	r.look(r.query(testLogin))
	if want := len(r.seen.of("deal/get_page")); steps != want || steps < 3 {
		t.Errorf("%d steps for %d pages", steps, want)
	}
}

func TestRelook_ReadsOnlyWhatCameAfter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.seed(testLogin, 450, time.Minute)
	q := r.query(testLogin)
	first := r.look(q)
	pages := len(r.seen.of("deal/get_page"))
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "500.00", Comment: string(reference)})
	q.Control = first.Newest
	again := r.session.Relook(t.Context(), q, first)
	if !again.Complete || again.Rows != 451 || !slices.Equal(comments(again), []string{string(reference)}) {
		t.Fatalf("sighting %+v", again)
	}
	if n := len(r.seen.of("deal/get_page")) - pages; n > 4 {
		t.Errorf("%d pages for one new row", n)
	}
	if len(first.Deals) != 0 || first.Rows != 450 {
		t.Errorf("the earlier sighting changed: %+v", first)
	}
	// Twice from the same sighting gives the same.
	if third := r.session.Relook(t.Context(), q, first); third.Rows != 451 || len(third.Deals) != 1 {
		t.Errorf("sighting %+v", third)
	}
}

func TestRelook_LooksFromTheBeginningWhereTheEarlierOneDoesNotCarry(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rig, *credit.LookQuery, *credit.Sighting){
		"no cursor":     func(_ *rig, _ *credit.LookQuery, s *credit.Sighting) { s.Cursor = nil },
		"not complete":  func(_ *rig, _ *credit.LookQuery, s *credit.Sighting) { s.Complete = false },
		"other session": func(r *rig, _ *credit.LookQuery, _ *credit.Sighting) { r.session = r.server.Session(1) },
		"reconnected":   func(r *rig, _ *credit.LookQuery, _ *credit.Sighting) { r.session.Drop("test") },
		"earlier start": func(_ *rig, q *credit.LookQuery, _ *credit.Sighting) { q.Earliest = q.Earliest.Add(-time.Hour) },
		"first row gone": func(r *rig, _ *credit.LookQuery, _ *credit.Sighting) {
			if err := r.control.DeleteDeal(r.t.Context(), r.firstSeeded()); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.seed(emptyLogin, 250, time.Minute)
			q := r.query(emptyLogin)
			before := r.look(q)
			change(r, &q, &before)
			r.add(fakemt5.ManualDeal{Login: emptyLogin, Action: 2, Amount: "5.00", Comment: "new"})
			pages := len(r.seen.of("deal/get_page"))
			s := r.session.Relook(t.Context(), q, before)
			if !s.Complete || !slices.Equal(comments(s), []string{"new"}) {
				t.Fatalf("sighting %+v", s)
			}
			if n := len(r.seen.of("deal/get_page")) - pages; n < 4 {
				t.Errorf("%d pages: it did not look from the beginning", n)
			}
			r.session.Drop("end of the test")
		})
	}
}

// firstSeeded is the oldest deal of emptyLogin.
func (r *rig) firstSeeded() uint64 {
	deals, err := r.control.Deals(r.t.Context(), emptyLogin)
	if err != nil || len(deals) == 0 {
		r.t.Fatalf("deals of %d: %v", emptyLogin, err)
	}
	return deals[0].Ticket
}

func TestLook_TheWindowEndsADayAfterTheServersNowAlsoWhenItsClockWasReadAWhileAgo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	for range 16 {
		r.clock.Advance(15 * time.Second)
		r.ready()
	}
	if n := len(r.seen.of("time/server")); n != 1 {
		t.Fatalf("the clock was read %d times in 4 min, want once", n)
	}
	r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00", Comment: "last", TimeMsc: serverMsc(r.clock.Now().Add(24 * time.Hour))})
	if s := r.look(r.query(testLogin)); !slices.Equal(comments(s), []string{"last"}) {
		t.Errorf("deals %+v", s.Deals)
	}
}
