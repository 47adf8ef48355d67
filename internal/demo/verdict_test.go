package demo

import (
	"fmt"
	"strings"
	"testing"

	"creditonce/internal/app"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// goodEvidence is two credited deposits on which everybody agrees.
func goodEvidence() evidence {
	var e evidence
	for i := range 2 {
		d := &deposit{
			index: i, code: fmt.Sprintf("code-%d", i), client: "client-01", login: 50001 + uint64(i),
			paid: money{5000 + int64(i), "USD", 2}, credited: money{5000 + int64(i), "USD", 2},
		}
		d.expect(1, "credited", "done")
		e.deposits = append(e.deposits, d)
		ticket, reference := uint64(900+i), fmt.Sprintf("dep:%d", i)
		e.deals = append(e.deals, deal(ticket, d.login, d.credited.String(), reference))
		payment := fmt.Sprintf("pi_%d", i)
		e.store.Rows = append(e.store.Rows, app.InspectedRow{
			ID: uint64(i + 1), State: "done", Code: d.code, Deposit: d.code, Payment: payment, Login: d.login,
			Amount: d.credited.String(), Currency: "USD", Reference: reference, Ticket: ticket, Attempt: 1,
		})
		id := fmt.Sprintf("evt_%d", i)
		e.provider = append(e.provider,
			fakepsp.Record{Event: &fakepsp.Event{ID: id, Name: "payment_intent.succeeded", Payment: payment}},
			fakepsp.Record{Attempt: &fakepsp.Attempt{Event: id, Status: 200, Acknowledged: true}},
		)
		e.store.Events++
	}
	return e
}

func deal(ticket, login uint64, amount, comment string) fakemt5.JournalEntry {
	return fakemt5.JournalEntry{
		Ticket: ticket, Login: login, Action: actionBalance, Amount: amount, Currency: "USD", Comment: comment, Source: fakemt5.SourceAPI,
	}
}

func TestVerdict_SeesWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plant                   func(*evidence)
		doubled, missing, wrong int
		says                    string
	}{
		"nothing": {func(*evidence) {}, 0, 0, 0, ""},
		"second deal with the same reference": {func(e *evidence) {
			e.deals = append(e.deals, deal(910, 50001, "50.00", "dep:0"))
		}, 1, 0, 0, "credited 2 times"},
		"second deal with another reference": {func(e *evidence) {
			e.deals = append(e.deals, deal(910, 50001, "50.00", "dep:other"))
		}, 1, 0, 0, "credited 2 times"},
		"three deals of one payment": {func(e *evidence) {
			e.deals = append(e.deals, deal(910, 50001, "50.00", "dep:0"), deal(911, 50001, "50.00", "dep:0"))
		}, 2, 0, 0, "credited 3 times"},
		"deal that is not there": {func(e *evidence) { e.deals = e.deals[1:] }, 0, 1, 1, "has no deal"},
		"deal on another login":  {func(e *evidence) { e.deals[0].Login = 50009 }, 0, 1, 2, "is on login 50009"},
		"deal of another amount": {func(e *evidence) { e.deals[0].Amount = "500.00" }, 0, 1, 2, "nobody paid that"},
		"deal that the scenario forbids": {func(e *evidence) {
			e.deposits[0].expect(0, "review", "held")
			e.store.Rows[0].State = "held"
		}, 0, 0, 1, "must not be"},
		"row in another state": {func(e *evidence) { e.store.Rows[0].State = "unknown" }, 0, 0, 1, "state unknown, not done"},
		"no row":               {func(e *evidence) { e.store.Rows = e.store.Rows[1:] }, 0, 0, 2, "state none, not done"},
		"two rows of one payment": {func(e *evidence) {
			twin := e.store.Rows[0]
			twin.ID, twin.State = 9, "held"
			e.store.Rows = append(e.store.Rows, twin)
		}, 0, 0, 2, "has 2 rows"},
		"row with a ticket that MT5 does not have": {func(e *evidence) { e.store.Rows[0].Ticket = 1 }, 0, 0, 1, "which MT5 does not have"},
		"row with another deal's ticket":           {func(e *evidence) { e.store.Rows[0].Ticket = 901 }, 0, 0, 1, "differ in reference"},
		"comment cut at MT5":                       {func(e *evidence) { e.deals[0].Comment = "dep:" }, 0, 0, 1, "differ in reference"},
		"row needed fewer calls than promised":     {func(e *evidence) { e.calls = 2 }, 0, 0, 2, "done after 1 calls"},
		"unexpected task": {func(e *evidence) {
			e.store.OpenTasks = []app.InspectedTask{{Kind: "conflict", Summary: "two deals"}}
		}, 0, 0, 1, "unexpected task conflict"},
		"missing task":            {func(e *evidence) { e.tasks = []string{"refund"} }, 0, 0, 1, "0 open tasks of kind refund, not 2"},
		"finding of the store":    {func(e *evidence) { e.store.Findings = []string{"index broken"} }, 0, 0, 1, "index broken"},
		"acknowledged event lost": {func(e *evidence) { e.store.Events = 1 }, 0, 0, 1, "2 events were acknowledged, the store has 1"},
		"payment lost with its row": {func(e *evidence) {
			e.deposits, e.deals, e.store.Rows = e.deposits[:1], e.deals[:1], e.store.Rows[:1]
		}, 0, 0, 1, "payment pi_1 was acknowledged and has 0 rows"},
		"deal of a payment by hand": {func(e *evidence) {
			e.deals = append(e.deals, deal(910, 50001, "7.77", "dep:hand"))
			e.store.Rows = append(e.store.Rows, app.InspectedRow{State: "done", Code: "by-hand", Payment: "pi_h", Reference: "dep:hand"})
		}, 0, 0, 0, ""},
		"task for a payment by hand": {func(e *evidence) {
			e.store.Rows = append(e.store.Rows, app.InspectedRow{ID: 77, State: "held", Code: "by-hand", Payment: "pi_h"})
			e.store.OpenTasks = []app.InspectedTask{{Kind: "held", Entity: "credit/77", Summary: "no deposit record"}}
		}, 0, 0, 0, ""},
		"payment by hand credited twice": {func(e *evidence) {
			e.deals = append(e.deals, deal(910, 50001, "7.77", "dep:hand"), deal(911, 50001, "7.77", "dep:hand"))
			e.store.Rows = append(e.store.Rows, app.InspectedRow{State: "done", Code: "by-hand", Payment: "pi_h", Reference: "dep:hand"})
		}, 1, 0, 0, "second deal 911"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := goodEvidence()
			test.plant(&e)
			v := compare(e)
			if v.doubled != test.doubled || v.missing != test.missing || v.wrong != test.wrong {
				t.Errorf("doubled %d missing %d wrong %d, want %d %d %d: %q", v.doubled, v.missing, v.wrong, test.doubled, test.missing, test.wrong, v.problems)
			}
			said := strings.Join(v.problems, "\n")
			if !strings.Contains(said, test.says) || (test.says == "") != (said == "") {
				t.Errorf("says %q, want %q", said, test.says)
			}
		})
	}
}

func TestAPIDeals_AreBalanceDealsOfOurClientOnly(t *testing.T) {
	t.Parallel()
	seeded, trade, ours := deal(1, 1, "1.00", ""), deal(2, 1, "1.00", ""), deal(3, 1, "1.00", "")
	seeded.Source, trade.Action = fakemt5.SourceSeed, 0
	if got := apiDeals([]fakemt5.JournalEntry{seeded, trade, ours}); len(got) != 1 || got[0].Ticket != 3 {
		t.Errorf("got %+v", got)
	}
}
