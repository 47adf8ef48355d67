package desk_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// payment is one client's payment in a firm that goes live beside its flow of before.
type payment struct {
	id      string
	login   uint64
	minor   int64
	paidAt  time.Time
	code    string
	credits int // deals that the flow before made for it
}

// happening is something at a moment.
type happening struct {
	at time.Time
	do func()
}

func TestGoLive_BesideAFlowThatCreditsByHandNothingIsPaidTwice(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{"with a cut-over time": true, "at the commit": false} {
		for range 3 {
			seed := rand.Uint64()
			t.Run(name+"/"+strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				t.Logf("seed %d", seed)
				goLiveBesideTheOldFlow(t, rand.New(rand.NewPCG(seed, 1)), named)
			})
		}
	}
}

// goLiveBesideTheOldFlow lets two weeks of payments come in while the flow before credits each of them by hand, goes
// live, and looks at every payment's deals after two more days. Webhooks are late, out of order and repeated; some
// deposits are made after their payment; some people try what they must not.
func goLiveBesideTheOldFlow(t *testing.T, r *rand.Rand, named bool) {
	f := newFirmIn(t, credit.ModeObserve).staff()
	begin := f.Clock.Now()
	change := begin.Add(14 * 24 * time.Hour)
	var all []*payment
	var todo []happening
	for i := range 260 {
		p := &payment{
			id: "pay-" + strconv.Itoa(i), login: login + uint64(r.IntN(40)), minor: int64(10000 + 7*i), code: storetest.Code(5000 + i),
			paidAt: begin.Add(time.Duration(r.Int64N(int64(16 * 24 * time.Hour)))),
		}
		if r.IntN(4) == 0 { // many close to the change
			p.paidAt = change.Add(time.Duration(r.Int64N(int64(2*time.Hour))) - time.Hour)
		}
		all = append(all, p)
		todo = append(todo, f.story(r, p)...)
	}
	cutover := change // the flow before credits what was paid before it
	todo = append(todo, f.goingLive(change, named, &cutover)...)
	for _, p := range all {
		todo = append(todo, happening{p.paidAt.Add(30 * time.Minute), func() { f.oldFlow(p, cutover) }})
	}
	f.play(todo)
	for range 40 {
		f.Clock.Move(time.Minute)
		f.Work(4)
	}
	f.everyPaymentHasOneDeal(all, cutover)
}

// story is what happens around one payment: its deposit, its webhooks.
func (f *firm) story(r *rand.Rand, p *payment) []happening {
	deposit := p.paidAt.Add(-time.Minute)
	if r.IntN(10) == 0 {
		deposit = p.paidAt.Add(time.Duration(r.Int64N(int64(time.Hour))))
	}
	facts := storetest.Paid(p.id, "", p.code, p.minor)
	facts.OccurredAt = p.paidAt
	e := f.Event(facts)
	out := []happening{{deposit, func() {
		f.Register(p.login, "client-1")
		f.Deposit(p.code, p.login, p.minor)
	}}}
	for range 1 + r.IntN(3) {
		delay := time.Duration(r.Int64N(int64(10 * time.Second)))
		if r.IntN(8) == 0 {
			delay = time.Duration(r.Int64N(int64(40 * time.Hour)))
		}
		out = append(out, happening{p.paidAt.Add(delay), func() {
			receipt := f.Accept(e)
			if r.IntN(10) == 0 {
				f.one("oscar", desk.Act{Kind: desk.Replay, Subject: "event/" + strconv.FormatUint(uint64(receipt.Event), 10)})
			}
			f.Work(3)
		}})
	}
	return out
}

// goingLive is the change: agreed on beforehand with a time, or done at the moment.
func (f *firm) goingLive(change time.Time, named bool, cutover *time.Time) []happening {
	act := desk.Act{Kind: desk.GoLive, Subject: "mode"}
	lead := time.Duration(0)
	if named {
		act.Params = map[string]string{"cutover": change.Format(time.RFC3339Nano)}
		lead = time.Hour
	}
	var p desk.Proposal
	return []happening{
		{change.Add(-lead - 10*time.Minute), func() { p = f.propose("mia", act) }},
		{change.Add(-lead), func() {
			_, err := f.confirm("carl", p)
			f.Must(err)
			s, err := f.db.Settings(f.t.Context())
			f.Must(err)
			if s.Mode != credit.ModeLive || s.CutoverAt.Before(f.Clock.Now().Truncate(time.Microsecond)) {
				f.t.Fatalf("settings %+v", s)
			}
			*cutover = s.CutoverAt
		}},
	}
}

// oldFlow credits by hand what was paid before the cut-over, as status tells it, with a comment of its own.
func (f *firm) oldFlow(p *payment, cutover time.Time) {
	if p.paidAt.Before(cutover) {
		f.MT5.ByHand(p.login, storetest.Money(p.minor), "wire "+p.id)
		p.credits++
	}
}

// play lets everything happen in the order of time.
func (f *firm) play(todo []happening) {
	slices.SortStableFunc(todo, func(a, b happening) int { return a.at.Compare(b.at) })
	for _, h := range todo {
		if d := h.at.Sub(f.Clock.Now()); d > 0 {
			f.Clock.Move(d)
		}
		h.do()
	}
}

func (f *firm) everyPaymentHasOneDeal(all []*payment, cutover time.Time) {
	f.t.Helper()
	adopted := 0
	for _, p := range all {
		deals := 0
		for _, d := range f.MT5.Deals(p.login) {
			if d.Amount.Equal(storetest.Money(p.minor)) {
				deals++
			}
		}
		if deals != 1 {
			f.t.Errorf("payment %s, paid %s, cut-over %s: %d deals", p.id, p.paidAt, cutover, deals)
		}
		hits, err := f.svc.Find(f.t.Context(), by("vera"), p.id)
		f.Must(err)
		row := f.Row(hits[0].Credit)
		switch {
		case p.credits == 0 && row.State != credit.Done:
			f.t.Errorf("payment %s, paid %s after the cut-over %s, is %s %v", p.id, p.paidAt, cutover, row.State, row.Holds)
		case p.credits == 1 && (row.State != credit.Held || !row.HasHold(credit.HoldPreCutover)):
			f.t.Errorf("payment %s, paid %s before the cut-over %s, is %s %v", p.id, p.paidAt, cutover, row.State, row.Holds)
		case p.credits == 1 && adopted < 3: // what the flow before paid can be adopted, and not be released
			adopted++
			_, err := f.svc.Submit(f.t.Context(), by("mia"), on(desk.Release, row.ID), "r")
			f.refused(err, "not_releasable")
			deals, _, err := f.svc.Candidates(f.t.Context(), by("mia"), row.ID)
			f.Must(err)
			f.two("mia", "carl", on(desk.Adopt, row.ID, "ticket", strconv.FormatUint(deals[0].Ticket, 10), "comment", deals[0].Comment))
			f.InState(row.ID, credit.Done)
		}
	}
	for _, task := range f.OpenTasks() {
		f.t.Errorf("open task %s: %s", task.Kind, task.Summary)
	}
}

func TestGoLive_OnlyFromObserveAndNotIntoThePast(t *testing.T) {
	t.Parallel()
	f := newFirmIn(t, credit.ModeObserve).staff()
	live := func(at time.Time) desk.Act {
		a := desk.Act{Kind: desk.GoLive, Subject: "mode"}
		if !at.IsZero() {
			a.Params = map[string]string{"cutover": at.Format(time.RFC3339)}
		}
		return a
	}
	_, err := f.svc.Submit(t.Context(), by("mia"), live(f.Clock.Now().Add(-time.Minute)), "r")
	f.refused(err, "cutover")
	p := f.propose("mia", live(f.Clock.Now().Add(10*time.Minute)))
	f.Clock.Move(11 * time.Minute)
	_, err = f.confirm("carl", p)
	f.refused(err, "cutover")
	f.one("oscar", desk.Act{Kind: desk.HoldMode, Subject: "mode"})
	_, err = f.svc.Submit(t.Context(), by("mia"), live(time.Time{}), "r")
	f.refused(err, "mode")
	f.two("mia", "carl", desk.Act{Kind: desk.ReleaseMode, Subject: "mode"})
	s, err := f.db.Settings(t.Context())
	if err != nil || s.Mode != credit.ModeObserve { // a store that never went live is released to observe
		t.Errorf("settings %+v, %v", s, err)
	}
	f.two("mia", "carl", live(time.Time{}))
	f.one("carl", desk.Act{Kind: desk.HoldMode, Subject: "mode"})
	f.two("mia", "carl", desk.Act{Kind: desk.ReleaseMode, Subject: "mode"})
	if s, err = f.db.Settings(t.Context()); err != nil || s.Mode != credit.ModeLive || s.ModeBy != "mia, confirmed by carl" {
		t.Errorf("settings %+v, %v", s, err)
	}
	_, err = f.svc.Submit(t.Context(), by("mia"), live(time.Time{}), "r")
	f.refused(err, "mode")
}
