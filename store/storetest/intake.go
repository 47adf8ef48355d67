package storetest

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"time"

	"creditonce/credit"
)

// acceptOnceUnderRace: the same event from many sides at once is stored once and makes one row.
func acceptOnceUnderRace(w *World) {
	w.Register(1001, "client-1")
	w.Deposit(Code(1), 1001, 500)
	e := w.Event(Paid("pay-1", "", Code(1), 500))
	const callers = 100
	receipts := make([]credit.Receipt, callers)
	together(callers, func(i int) {
		r, err := w.B.Accept(w.T.Context(), e, w.rules().IntakeRules)
		if err != nil {
			w.T.Errorf("accept: %v", err)
		}
		receipts[i] = r
	})
	first := 0
	for _, r := range receipts {
		if r.Event != 1 {
			w.T.Errorf("event %d, want the one first event", r.Event)
		}
		if !r.Repeat {
			first++
		}
	}
	n, err := w.B.Counts(w.T.Context())
	w.Must(err)
	if first != 1 || n.Events != 1 || n.Rows[credit.Pending] != 1 {
		w.T.Errorf("%d first receipts, %+v; want one of each", first, n)
	}
}

// together runs fn for every number at once and waits for all.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

// replayedEventIsQuiet: the same facts in other bytes, or the same bytes, are acknowledged and leave nothing.
func replayedEventIsQuiet(w *World) {
	e := w.Event(Paid("pay-1", "", Code(1), 500))
	first := w.Accept(e)
	again := w.Accept(WithBody(e, []byte(`{"retry":1}`)))
	if !again.Repeat || again.Event != first.Event || len(again.Rows)+len(again.Opened) != 0 {
		w.T.Errorf("the repeat gave %+v", again)
	}
	mapped := e // the very bytes again, read otherwise by a newer program
	mapped.Facts.Status = "settled"
	if r := w.Accept(mapped); !r.Repeat || r.Event != first.Event {
		w.T.Errorf("the same bytes with other facts gave %+v", r)
	}
	n, err := w.B.Counts(w.T.Context())
	w.Must(err)
	if n.Events != 1 || n.OpenTasks != 0 {
		w.T.Errorf("after a repeat: %+v", n)
	}
}

// sameKeyOtherFactsIsLoud: both are kept, one task says so, and the same variant again is quiet.
func sameKeyOtherFactsIsLoud(w *World) {
	e := w.Event(Paid("pay-1", "", "", 500))
	w.Accept(e)
	other := WithBody(e, []byte("other"))
	other.Facts.Parts = []credit.Part{{Amount: Money(900)}}
	loud := w.Accept(other)
	if loud.Repeat || loud.Event != 2 || len(loud.Rows) != 0 || len(loud.Opened) != 1 || loud.Opened[0].Kind != credit.TaskEventDiffers {
		w.T.Fatalf("other facts gave %+v", loud)
	}
	if again := w.Accept(other); !again.Repeat || again.Event != 1 {
		w.T.Errorf("the same variant again gave %+v", again)
	}
	third := WithBody(e, []byte("third"))
	third.Facts.Parts = []credit.Part{{Amount: Money(901)}}
	if r := w.Accept(third); r.Repeat || len(r.Opened) != 0 {
		w.T.Errorf("a third variant gave %+v; want it stored under the open task", r)
	}
	if row := w.InState(1, credit.Held); !row.Paid.Equal(Money(500)) {
		w.T.Errorf("the row says %s", row.Paid)
	}
}

// secondEventJoins: another event of the payment makes no second row, and may bring the deposit code.
func secondEventJoins(w *World) {
	w.Register(1001, "client-1")
	w.Deposit(Code(1), 1001, 500)
	first := w.Accept(w.Event(Paid("pay-1", "", "", 500)))
	w.InState(first.Rows[0].After.ID, credit.Held)
	second := w.Accept(w.Event(Paid("pay-1", "", Code(1), 500)))
	if len(second.Rows) != 1 || second.Rows[0].Before == nil {
		w.T.Fatalf("the second event gave %+v", second.Rows)
	}
	row := w.InState(first.Rows[0].After.ID, credit.Pending)
	if row.Deposit != Code(1) || row.Login != 1001 {
		w.T.Errorf("the row joined %q, login %d", row.Deposit, row.Login)
	}
	e, err := w.B.Event(w.T.Context(), second.Event)
	w.Must(err)
	if len(e.Rows) != 1 || e.Rows[0] != row.ID {
		w.T.Errorf("the second event names the rows %v", e.Rows)
	}
	v, err := w.B.Deposit(w.T.Context(), Code(1))
	w.Must(err)
	if v.Row == nil || v.Row.ID != row.ID || v.Deposit.Credit != row.ID {
		w.T.Errorf("the deposit shows %+v", v)
	}
}

// bodiesAreKept: byte for byte, whatever is in them.
func bodiesAreKept(w *World) {
	bodies := [][]byte{
		{}, {0}, []byte("{}"), bytes.Repeat([]byte("compressible "), 20_000), {0xff, 0xfe, 0x00, 0x80},
	}
	for i, body := range bodies {
		e := WithBody(w.Event(credit.Facts{Type: "ping", Effect: credit.EffectNone}), body)
		r := w.Accept(e)
		got, err := w.B.EventBody(w.T.Context(), r.Event)
		w.Must(err)
		if !bytes.Equal(got, body) {
			w.T.Errorf("body %d: %d bytes came back as %d others", i, len(body), len(got))
		}
		stored, err := w.B.Event(w.T.Context(), r.Event)
		w.Must(err)
		if stored.Body != nil || stored.Digest != e.Digest || stored.Headers["Signature"] != e.Headers["Signature"] {
			w.T.Errorf("event %d was stored as %+v", i, stored)
		}
	}
}

// wrongDigestIsRefused: evidence that would not match itself is never stored.
func wrongDigestIsRefused(w *World) {
	e := w.Event(Paid("pay-1", "", "", 500))
	e.Body = append([]byte("x"), e.Body...)
	_, err := w.B.Accept(w.T.Context(), e, w.rules().IntakeRules)
	w.wantErr(err, credit.ErrInvalid)
	w.wantEmpty()
}

// badTextIsRefused: text that an engine could not give back as it was is refused, not changed. Long keys too.
func badTextIsRefused(w *World) {
	for _, payment := range []string{"pay-\xff", strings.Repeat("p", 10_000)} {
		_, err := w.B.Accept(w.T.Context(), w.Event(Paid(payment, "", "", 500)), w.rules().IntakeRules)
		w.wantErr(err, credit.ErrInvalid)
	}
	w.wantEmpty()
	w.Accept(w.Event(Paid(`pay-\ufffd`, "", "", 500))) // the six characters themselves are plain text
	w.Accept(w.Event(Paid("pay-\ufffd", "", "", 500))) // and so is the character
}

func (w *World) wantErr(err, want error) {
	w.T.Helper()
	if !errors.Is(err, want) {
		w.T.Errorf("got the error %v, want %v", err, want)
	}
}

// wantEmpty ends the test unless nothing at all is stored.
func (w *World) wantEmpty() {
	w.T.Helper()
	n, err := w.B.Counts(w.T.Context())
	w.Must(err)
	rows := 0
	for _, k := range n.Rows {
		rows += k
	}
	if n.Events != 0 || rows != 0 || n.OpenTasks != 0 {
		w.T.Fatalf("something was stored: %+v", n)
	}
}

// refundStopsPendingRow: in the refund's own transaction; a row born later is born held.
func refundStopsPendingRow(w *World) {
	row := w.Pay(1001, 500)
	refund := credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: row.Unit.Payment, Movement: "re_1", Moved: Money(500)}
	r := w.Accept(w.Event(refund))
	held := w.InState(row.ID, credit.Held)
	if !held.HasHold(credit.HoldReversal) || len(r.Opened) != 2 {
		w.T.Errorf("holds %v, tasks %+v", held.Holds, r.Opened)
	}
	d, err := w.B.Dossier(w.T.Context(), row.ID)
	w.Must(err)
	if !d.Reversed || len(d.OpenTasks) != 1 {
		w.T.Errorf("the dossier says reversed %v with the tasks %+v", d.Reversed, d.OpenTasks)
	}
	refund.Payment, refund.Effect = "pay-later", credit.EffectDispute
	w.Accept(w.Event(refund))
	late := w.Accept(w.Event(Paid("pay-later", "", "", 500)))
	if got := late.Rows[0].After; !got.HasHold(credit.HoldReversal) {
		w.T.Errorf("a row born after its dispute holds %v", got.Holds)
	}
	other := w.Accept(w.Event(Paid("pay-late", "r", "", 500)))
	if got := other.Rows[0].After; got.HasHold(credit.HoldReversal) {
		w.T.Errorf("another payment's row holds %v", got.Holds)
	}
}

// dayLimitCounts: what became pending in the UTC day counts, be it done by now; held rows and other days do not.
func dayLimitCounts(w *World) {
	w.Rules.DayLimits = map[string]credit.Amount{Currency: Money(1000)}
	first := w.Pay(1001, 600)
	w.Work(2)
	w.InState(first.ID, credit.Done)
	w.Deposit(Code(71), 1001, 500)
	over := w.Accept(w.Event(Paid("pay-71", "", Code(71), 500))).Rows[0].After
	if over.State != credit.Held || !over.HasHold(credit.HoldLimit) {
		w.T.Errorf("over the limit: %s %v", over.State, over.Holds)
	}
	w.Deposit(Code(72), 1001, 400)
	if exact := w.Accept(w.Event(Paid("pay-72", "", Code(72), 400))).Rows[0].After; exact.State != credit.Pending {
		w.T.Errorf("up to the limit: %s %v", exact.State, exact.Holds)
	}
	w.Pay(1002, 1000) // another login has its own day
	w.Clock.Move(24 * time.Hour)
	w.Deposit(Code(73), 1001, 1000)
	if next := w.Accept(w.Event(Paid("pay-73", "", Code(73), 1000))).Rows[0].After; next.State != credit.Pending {
		w.T.Errorf("on the next day: %s %v", next.State, next.Holds)
	}
}
