package demo

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// actionBalance is the action of a balance deal (mt5-webapi.md §5).
const actionBalance = 2

// apiDeals are the balance deals that a client of the wire has made: those of serve.
func apiDeals(entries []fakemt5.JournalEntry) []fakemt5.JournalEntry {
	var out []fakemt5.JournalEntry
	for _, e := range entries {
		if e.Source == fakemt5.SourceAPI && e.Action == actionBalance {
			out = append(out, e)
		}
	}
	return out
}

// evidence is everything that a verdict rests on: the promises of the scenario, and three accounts of what happened,
// each written by another process.
type evidence struct {
	deposits []*deposit
	tasks    []string // kinds of open tasks that the scenario promises for each deposit
	once     []string // and those that it promises once
	calls    int      // that each credited row needed at least

	deals    []fakemt5.JournalEntry // MT5's own journal: balance deals of this show
	provider []fakepsp.Record       // the provider's own journal
	store    app.Inspection
	// reused: the store holds more than this show.
	reused bool
}

// verdict is what the comparison found. The three numbers are counts of deals or records, never of money.
type verdict struct {
	doubled, missing, wrong int
	problems                []string
}

func (v *verdict) isWrong(format string, args ...any) {
	v.wrong++
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// compare judges the evidence. It is pure.
func compare(e evidence) verdict {
	var v verdict
	v.compareDeals(e)
	for _, d := range e.deposits {
		v.compareRows(e, d)
	}
	v.compareTasks(e)
	v.compareProvider(e)
	for _, f := range e.store.Findings {
		v.isWrong("the store does not agree with itself: %s", f)
	}
	for _, broken := range e.store.Violations {
		v.isWrong("invariant %s is broken: %s", broken.Invariant, broken.Text)
	}
	return v
}

// compareDeals attributes each deal of MT5's journal to a deposit by currency and amount alone, which no two deposits
// share: neither the store nor the comment is believed here.
func (v *verdict) compareDeals(e evidence) {
	owner := map[string]*deposit{}
	for _, d := range e.deposits {
		owner[d.credited.String()+" "+d.credited.currency] = d
	}
	others := otherReferences(e)
	count := map[*deposit]int{}
	comments := map[string]int{}
	for _, deal := range e.deals {
		comments[deal.Comment]++
		d := owner[deal.Amount+" "+deal.Currency]
		switch {
		case others[deal.Comment] && comments[deal.Comment] > 1:
			v.doubled++
			v.problems = append(v.problems, fmt.Sprintf("MT5 has a second deal %d with %s", deal.Ticket, deal.Comment))
		case others[deal.Comment]:
		case d == nil:
			v.isWrong("deal %d of %s %s on login %d: nobody paid that", deal.Ticket, deal.Amount, deal.Currency, deal.Login)
		case deal.Login != d.login:
			v.isWrong("deal %d of deposit %s is on login %d, not on %d", deal.Ticket, d.code, deal.Login, d.login)
		default:
			count[d]++
		}
	}
	for _, d := range e.deposits {
		v.countDeals(d, count[d])
	}
}

// otherReferences are the references of rows that do not belong to this show's deposits: payments that a person has
// made by hand meanwhile, or an earlier show in the same folder.
func otherReferences(e evidence) map[string]bool {
	mine := codesOf(e)
	others := map[string]bool{}
	for _, r := range e.store.Rows {
		if !mine[r.Code] && r.Reference != "" {
			others[r.Reference] = true
		}
	}
	return others
}

func (v *verdict) countDeals(d *deposit, have int) {
	if have > 1 {
		v.doubled += have - 1
		v.problems = append(v.problems, fmt.Sprintf("deposit %s was credited %d times", d.code, have))
	}
	switch {
	case have < d.wantDeals:
		v.missing += d.wantDeals - have
		v.problems = append(v.problems, fmt.Sprintf("deposit %s has no deal at MT5", d.code))
	case have > 0 && d.wantDeals == 0:
		v.isWrong("deposit %s was credited and must not be", d.code)
	}
}

// compareRows holds the store's rows of one deposit against the promise and against MT5's journal.
func (v *verdict) compareRows(e evidence, d *deposit) {
	var states []string
	for _, r := range e.store.Rows {
		if r.Code != d.code {
			continue
		}
		states = append(states, r.State)
		if r.State == "done" {
			v.compareDone(e, d, r)
		}
	}
	slices.Sort(states)
	if !slices.Equal(states, d.wantStates) {
		v.isWrong("deposit %s has rows in state %s, not %s", d.code, orNone(states), orNone(d.wantStates))
	}
}

func orNone(states []string) string {
	if len(states) == 0 {
		return "none"
	}
	return strings.Join(states, " and ")
}

// compareDone checks that a row that says done names the very deal that MT5 has.
func (v *verdict) compareDone(e evidence, d *deposit, r app.InspectedRow) {
	at := slices.IndexFunc(e.deals, func(deal fakemt5.JournalEntry) bool { return deal.Ticket == r.Ticket })
	switch {
	case at < 0:
		v.isWrong("row %d is done with ticket %d, which MT5 does not have", r.ID, r.Ticket)
	case e.deals[at].Comment != r.Reference || e.deals[at].Login != r.Login || e.deals[at].Amount != r.Amount:
		v.isWrong("row %d and its deal %d differ in reference, login or amount", r.ID, r.Ticket)
	case r.Login != d.login || r.Amount != d.credited.String() || r.Currency != d.credited.currency:
		v.isWrong("row %d credits %s %s to login %d, the deposit says %s %s to %d",
			r.ID, r.Amount, r.Currency, r.Login, d.credited, d.credited.currency, d.login)
	case r.Attempt < max(e.calls, 1):
		v.isWrong("row %d is done after %d calls: this scenario makes at least %d necessary", r.ID, r.Attempt, max(e.calls, 1))
	}
}

// compareTasks holds the open tasks against the promise, kind by kind.
func (v *verdict) compareTasks(e evidence) {
	if e.reused {
		return // tasks of earlier shows are open too
	}
	want, have := map[string]int{}, map[string]int{}
	for _, kind := range e.tasks {
		want[kind] += len(e.deposits)
	}
	for _, kind := range e.once {
		want[kind]++
	}
	byHand := rowsByHand(e)
	for _, t := range e.store.OpenTasks {
		if byHand[t.Entity] {
			continue // what a visitor's own payment comes to was never promised
		}
		have[t.Kind]++
		if want[t.Kind] == 0 {
			v.isWrong("unexpected task %s: %s", t.Kind, t.Summary)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		if have[kind] != want[kind] {
			v.isWrong("%d open tasks of kind %s, not %d", have[kind], kind, want[kind])
		}
	}
}

// rowsByHand are the rows that do not belong to this show's deposits, as tasks name them.
func rowsByHand(e evidence) map[string]bool {
	mine := codesOf(e)
	rows := map[string]bool{}
	for _, r := range e.store.Rows {
		if !mine[r.Code] {
			rows[fmt.Sprintf("credit/%d", r.ID)] = true
		}
	}
	return rows
}

// codesOf are the codes of this show's deposits.
func codesOf(e evidence) map[string]bool {
	mine := map[string]bool{}
	for _, d := range e.deposits {
		mine[d.code] = true
	}
	return mine
}

// compareProvider checks that nothing acknowledged is lost: every event that got a 2xx is in the store, and every
// payment whose success was acknowledged has exactly one row.
func (v *verdict) compareProvider(e evidence) {
	acknowledged := map[string]bool{}
	events := map[string]fakepsp.Event{}
	for _, r := range e.provider {
		switch {
		case r.Event != nil:
			events[r.Event.ID] = *r.Event
		case r.Attempt != nil && r.Attempt.Acknowledged:
			acknowledged[r.Attempt.Event] = true
		}
	}
	if e.store.Events < len(acknowledged) {
		v.isWrong("%d events were acknowledged, the store has %d", len(acknowledged), e.store.Events)
	}
	rows := map[string]int{}
	for _, r := range e.store.Rows {
		rows[r.Payment]++
	}
	judged := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(acknowledged)) {
		ev := events[id]
		if !saysPaid(ev.Name) || judged[ev.Payment] {
			continue
		}
		judged[ev.Payment] = true
		if rows[ev.Payment] != 1 {
			v.isWrong("payment %s was acknowledged and has %d rows", ev.Payment, rows[ev.Payment])
		}
	}
}

func saysPaid(name string) bool {
	return name == "payment_intent.succeeded" || name == "checkout.session.completed"
}

// judge gathers the evidence from the files that the processes left, and compares.
func (s *show) judge(ctx context.Context) (Result, error) {
	c, err := config.Load(s.stage.config(), config.Env{Getenv: os.Getenv, Now: s.o.Now()})
	if err != nil {
		return Result{}, fmt.Errorf("read the demo's configuration: %w", err)
	}
	if s.scene.after != nil {
		if err := s.scene.after(ctx, s, c); err != nil {
			return Result{}, err
		}
	}
	e := evidence{deposits: s.deposits, tasks: s.scene.tasks, once: s.scene.once, calls: s.scene.calls, reused: s.stage.reused}
	if e.store, err = app.Verify(ctx, c, nil); err != nil {
		return Result{}, fmt.Errorf("inspect the store: %w", err)
	}
	entries, err := fakemt5.ReadJournal(s.stage.mt5Journal())
	if err != nil {
		return Result{}, err
	}
	e.deals = apiDeals(entries[min(s.dealsAt, len(entries)):])
	if e.provider, err = fakepsp.ReadJournal(s.stage.pspJournal()); err != nil {
		return Result{}, err
	}
	v := compare(e)
	s.board.setDoubled(v.doubled)
	return s.result(e, v), nil
}
