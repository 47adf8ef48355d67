package credit

import (
	"testing"
	"time"
)

// strangerWith puts a done row with the ticket into the book, as a person who adopted that deal leaves one.
func strangerWith(b *memBook, ticket uint64) {
	r := joinedRow(Done)
	r.ID, r.Unit.Payment, r.Reference, r.Login, r.Ticket = 99, "pi_adopted", "", 9999, ticket
	b.rows[99] = r
}

func TestH19_TicketOnAnotherRowAfterTheCallIsUnknownAnsweredAndThenAConflict(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			r := w.mt5.apply(c)
			w.edit(func(b *memBook) { strangerWith(b, r.Ticket) })
			return r
		}
		w.start()
		w.pass(time.Second)
		if row := w.wantState(id, Unknown); !row.Answered {
			t.Error("the success that MT5 answered is forgotten")
		}
		w.pass(time.Hour)
		w.wantState(id, Unknown)
		w.wantTasks("conflict")
		w.wantCalls(1, 1)
		w.edit(func(b *memBook) { delete(b.rows, 99) }) // it has no history
	})
}

func TestTicketOnAnotherRow_TakenBetweenLookAndCommitIsJudgedAfresh(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		row := w.row(id)
		d := w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
		w.book.fault = func(verb string) error {
			if verb == "advance" {
				strangerWith(w.book, d.Ticket)
			}
			return nil
		}
		w.start()
		w.pass(5 * time.Second)
		if row := w.wantState(id, Held); holdsOf(row) != "conflict" {
			t.Errorf("held for %q", holdsOf(row))
		}
		w.wantCalls(0, 1)
		w.edit(func(b *memBook) { b.fault = nil; delete(b.rows, 99) })
	})
}
