package credit

import (
	"context"
	"fmt"
	"time"
)

// IntakeBook is what the reception needs of the store.
type IntakeBook interface {
	// Accept decides on the event with TakeIn inside one write transaction and writes the answer. It returns
	// only after the commit returned nil; on any error the event is not acknowledged. ErrBusy: try again later.
	Accept(ctx context.Context, e Event, rules IntakeRules) (Receipt, error)
}

// Reception takes verified events in. Safe for concurrent use.
type Reception struct {
	Book      IntakeBook
	Clock     Clock
	Observer  Observer
	Process   Process
	HeldGrace time.Duration
	DayLimits map[string]Amount
	Servers   []string            // see [IntakeRules]
	Wake      func(server string) // called after a commit that made a row of the server pending; must not block
}

// Receive stores the event and what it changes in one transaction. Only after it returned nil may the provider
// get its 2xx.
func (r *Reception) Receive(ctx context.Context, e Event) (Receipt, error) {
	r.Observer.Step(ctx, Step{Name: StepVerified})
	e = plainEvent(e)
	receipt, err := r.Book.Accept(ctx, e, IntakeRules{
		Now: r.Clock.Now(), Schedule: r.Process.Schedule(r.Clock), HeldGrace: r.HeldGrace, DayLimits: r.DayLimits,
		Servers: r.Servers,
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("accept event %s of %s: %w", e.MessageKey, e.Provider, err)
	}
	r.Observer.Step(ctx, Step{Name: StepEventCommitted})
	e.ID, e.Body = receipt.Event, nil
	r.Observer.Note(ctx, Note{What: noteEvent(receipt), Event: &e})
	Announce(ctx, r.Observer, receipt.Rows, receipt.Opened, receipt.Closed)
	WakePending(receipt.Rows, r.Wake)
	return receipt, nil
}

func noteEvent(r Receipt) string {
	if r.Repeat {
		return "event repeated"
	}
	return "event stored"
}

// Announce tells the observer what a commit changed.
func Announce(ctx context.Context, o Observer, rows []RowChange, opened, closed []Task) {
	for i := range rows {
		for j := range rows[i].Entries {
			o.Note(ctx, Note{What: "row moved", Row: &rows[i].After, Entry: &rows[i].Entries[j]})
		}
	}
	for i := range opened {
		o.Note(ctx, Note{What: "task opened", Task: &opened[i]})
	}
	for i := range closed {
		o.Note(ctx, Note{What: "task closed", Task: &closed[i]})
	}
}

// WakePending calls wake once for each server that got a pending row.
func WakePending(rows []RowChange, wake func(server string)) {
	if wake == nil {
		return
	}
	for _, r := range rows {
		if r.After.State == Pending {
			wake(r.After.Server)
		}
	}
}
