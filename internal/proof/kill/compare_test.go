package kill

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// evidence is what the processes have left: each list was written by another one.
type evidence struct {
	deposits []*deposit
	deals    []fakemt5.JournalEntry
	provider []fakepsp.Record
	store    app.Inspection
}

// gather reads the files that nobody writes any more.
func (w *world) gather(ctx context.Context) (evidence, error) {
	e := evidence{deposits: w.deposits}
	c, err := config.Load(w.path("config.yaml"), config.Env{Getenv: os.Getenv, Now: time.Now()})
	if err != nil {
		return e, err
	}
	if e.store, err = app.Verify(ctx, c, nil); err != nil {
		return e, err
	}
	entries, err := fakemt5.ReadJournal(w.path("mt5.jsonl"))
	if err != nil {
		return e, err
	}
	for _, d := range entries {
		if d.Source == fakemt5.SourceAPI && d.Action == 2 {
			e.deals = append(e.deals, d)
		}
	}
	e.provider, err = fakepsp.ReadJournal(w.path("provider.jsonl"))
	return e, err
}

// compare says what does not fit together. It believes neither the store nor the comments of deals about which deposit a
// deal belongs to: the amounts say it.
func compare(e evidence) []string {
	return slices.Concat(compareDeals(e), compareRows(e), compareProvider(e), e.store.Findings)
}

func compareDeals(e evidence) (wrong []string) {
	owner := map[int64]*deposit{}
	for _, d := range e.deposits {
		owner[d.minor] = d
	}
	count := map[*deposit]int{}
	for _, deal := range e.deals {
		d := owner[deal.Minor]
		switch {
		case d == nil:
			wrong = append(wrong, fmt.Sprintf("deal %d of %s %s on login %d: no deposit is of that amount", deal.Ticket, deal.Amount, deal.Currency, deal.Login))
		case deal.Login != d.login || deal.Currency != d.currency:
			wrong = append(wrong, fmt.Sprintf("deal %d of deposit %s is on login %d in %s, not on %d in %s", deal.Ticket, d.code, deal.Login, deal.Currency, d.login, d.currency))
		default:
			if count[d]++; count[d] > d.most() {
				wrong = append(wrong, fmt.Sprintf("deposit %s (%s) was credited %d times", d.code, d.way, count[d]))
			}
		}
	}
	return wrong
}

// compareRows holds each row against MT5's journal and against the tasks: nothing may be stuck without a person knowing.
func compareRows(e evidence) (wrong []string) {
	tasks, blocked := map[string]bool{}, map[uint64]bool{}
	for _, t := range e.store.OpenTasks {
		tasks[t.Entity] = true
	}
	for _, r := range e.store.Rows {
		if r.State == "unknown" && tasks[fmt.Sprintf("credit/%d", r.ID)] {
			blocked[r.Login] = true
		}
	}
	for _, r := range e.store.Rows {
		var deals []fakemt5.JournalEntry
		for _, d := range e.deals {
			if r.Reference != "" && d.Comment == r.Reference {
				deals = append(deals, d)
			}
		}
		task := tasks[fmt.Sprintf("credit/%d", r.ID)]
		switch {
		case r.State == "done" && (len(deals) != 1 || deals[0].Ticket != r.Ticket || deals[0].Login != r.Login || deals[0].Amount != r.Amount):
			wrong = append(wrong, fmt.Sprintf("row %d is done with ticket %d, and MT5 has %d deals of its reference", r.ID, r.Ticket, len(deals)))
		case r.State == "done", r.State == "cancelled" && len(deals) == 0:
		case len(deals) > 0:
			wrong = append(wrong, fmt.Sprintf("row %d rests as %s, and MT5 has its deal %d", r.ID, r.State, deals[0].Ticket))
		case !task && (r.State != "pending" || !blocked[r.Login]):
			wrong = append(wrong, fmt.Sprintf("row %d rests as %s (%s), and no person is asked", r.ID, r.State, strings.Join(r.Holds, ", ")))
		}
	}
	return wrong
}

// compareProvider checks that nothing acknowledged is lost: each payment whose success got a 2xx has exactly one row.
func compareProvider(e evidence) (wrong []string) {
	events, acknowledged, paid := map[string]fakepsp.Event{}, map[string]bool{}, map[string]bool{}
	for _, r := range e.provider {
		switch {
		case r.Event != nil:
			events[r.Event.ID] = *r.Event
		case r.Attempt != nil && r.Attempt.Acknowledged:
			acknowledged[r.Attempt.Event] = true
			if name := events[r.Attempt.Event].Name; name == "payment_intent.succeeded" || name == "checkout.session.completed" {
				paid[events[r.Attempt.Event].Payment] = true
			}
		}
	}
	if e.store.Events < len(acknowledged) {
		wrong = append(wrong, fmt.Sprintf("%d events were acknowledged, the store has %d", len(acknowledged), e.store.Events))
	}
	rows := map[string]int{}
	for _, r := range e.store.Rows {
		rows[r.Payment]++
	}
	for _, d := range e.deposits {
		for _, p := range d.payments {
			if !paid[p] || rows[p] != 1 {
				wrong = append(wrong, fmt.Sprintf("payment %s of deposit %s: acknowledged %t, %d rows", p, d.code, paid[p], rows[p]))
			}
		}
	}
	return wrong
}
