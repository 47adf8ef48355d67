package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
)

// dossierShowsTheSurroundings: everything that a decision about the row rests on, and nothing of other rows.
func dossierShowsTheSurroundings(w *World) {
	w.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeUnknown, Detail: "time-out"}
	}
	open := w.Pay(1001, 500)
	w.Work(2)
	row := w.Pay(1001, 700)
	d, err := w.B.Dossier(w.T.Context(), row.ID)
	w.Must(err)
	if len(d.Busy) != 1 || d.Busy[0] != open.ID || d.Reversed || d.LowSpace || d.Anchor != nil || len(d.OpenTasks) != 0 {
		w.T.Errorf("dossier: %+v", d)
	}
	if d.Deposit == nil || d.Deposit.Code != row.Deposit || d.Account == nil || d.Account.Client != "client-1" || d.Settings.StoreID != "store-1" {
		w.T.Errorf("dossier: deposit %+v, account %+v, settings %+v", d.Deposit, d.Account, d.Settings)
	}
	if d, err = w.B.Dossier(w.T.Context(), open.ID); err != nil || len(d.Busy) != 0 {
		w.T.Errorf("a row is busy with itself: %v, %v", d.Busy, err)
	}
	waiting := w.Accept(w.Event(Paid("pay-w", "", Code(50), 500))).Rows[0].After
	d, err = w.B.Dossier(w.T.Context(), waiting.ID)
	w.Must(err)
	if d.Deposit != nil || d.Account != nil || len(d.Busy) != 0 {
		w.T.Errorf("a row without a deposit: %+v", d)
	}
}

// dossierShowsWhatStopsTheLogin: open tasks that say so, on every row of that login and on no other, as long as they are open.
func dossierShowsWhatStopsTheLogin(w *World) {
	first, same, other := w.Pay(1001, 500), w.Pay(1001, 700), w.Pay(1002, 500)
	write := func(d credit.Decision) {
		_, err := w.B.Advance(w.T.Context(), first.ID, func(credit.Dossier) (credit.Decision, error) { return d, nil })
		w.Must(err)
	}
	stops := func(row credit.Credit, want int) {
		d, err := w.B.Dossier(w.T.Context(), row.ID)
		w.Must(err)
		if len(d.Stops) != want {
			w.T.Errorf("credit %d on login %d is stopped by %+v, want %d tasks", row.ID, row.Login, d.Stops, want)
		}
	}
	about := credit.RowEntity(first.ID)
	write(credit.Decision{Open: []credit.Task{
		{Kind: credit.TaskSecondDeal, Entity: about, Summary: "two deals", OpenedAt: w.Clock.Now(), Identity: first.Identity, Login: first.Login},
		{Kind: credit.TaskOwnership, Entity: about, Summary: "another client", OpenedAt: w.Clock.Now()},
	}})
	stops(first, 1)
	stops(same, 1)
	stops(other, 0)
	write(credit.Decision{Close: []credit.TaskClose{{
		Key: credit.TaskKey{Kind: credit.TaskSecondDeal, Entity: about}, By: "anna", Reason: "taken back", At: w.Clock.Now(),
	}}})
	stops(first, 0)
	stops(same, 0)
}

// changeStoreIsOneTransaction: the settings and the task that follows, or neither; a refusal writes nothing.
func changeStoreIsOneTransaction(w *World) {
	before, err := w.B.Settings(w.T.Context())
	w.Must(err)
	refused := errors.New("no")
	if _, err := w.B.ChangeStore(w.T.Context(), func(s credit.Settings) (credit.StoreChange, error) {
		s.Mode = credit.ModeHold
		return credit.StoreChange{Settings: s, Open: []credit.Task{{Kind: credit.TaskInvariant, Entity: credit.StoreEntity, OpenedAt: w.Clock.Now()}}}, refused
	}); !errors.Is(err, refused) {
		w.T.Errorf("refused: %v", err)
	}
	if after, err := w.B.Settings(w.T.Context()); err != nil || !reflect.DeepEqual(before, after) {
		w.T.Errorf("a refusal changed %+v to %+v, %v", before, after, err)
	}
	hold := func(s credit.Settings) (credit.StoreChange, error) {
		c, _, err := credit.HoldForBreaches(s, []credit.Breach{{Key: "I-M4 1", Name: "I-M4", Text: "twice"}}, w.Clock.Now())
		return c, err
	}
	opened, err := w.B.ChangeStore(w.T.Context(), hold)
	w.Must(err)
	if len(opened) != 1 || opened[0].ID == 0 || opened[0].Kind != credit.TaskInvariant {
		w.T.Errorf("opened %+v", opened)
	}
	if opened, err = w.B.ChangeStore(w.T.Context(), hold); !errors.Is(err, credit.ErrConflict) || len(opened) > 0 {
		w.T.Errorf("again: %+v, %v", opened, err)
	}
	if s, err := w.B.Settings(w.T.Context()); err != nil || s.Mode != credit.ModeHold || len(s.Breaches) != 1 {
		w.T.Errorf("settings %+v, %v", s, err)
	}
}

// excerptsHoldWhatBelongsTogether: a row comes with its whole history, its event, its deposit, its tasks and the rows that
// share its deposit; an event with the rows of its payment; nothing comes twice, and what does not exist is left out.
func excerptsHoldWhatBelongsTogether(w *World) {
	row := w.Pay(1001, 500)
	w.Pay(1002, 500)
	w.Accept(w.Event(Paid("pay-second", "", row.Deposit, 500)))
	x, err := w.B.Excerpt(w.T.Context(), store.ExcerptQuery{Rows: []credit.ID{99, 3, row.ID}})
	w.Must(err)
	if len(x.Rows) != 2 || x.Rows[0].ID != row.ID || x.Rows[1].ID != 3 || len(x.Deposits) != 1 || len(x.Events) != 2 || len(x.Tasks) != 1 || x.Settings.StoreID != "store-1" {
		w.T.Errorf("rows %v, deposits %v, events %v, tasks %v", x.Rows, x.Deposits, x.Events, x.Tasks)
	}
	for i, h := range x.Histories {
		if len(h) != x.Rows[i].Entries || h[len(h)-1].To != x.Rows[i].State {
			w.T.Errorf("credit %d has %d entries, the excerpt %d", x.Rows[i].ID, x.Rows[i].Entries, len(h))
		}
	}
	x, err = w.B.Excerpt(w.T.Context(), store.ExcerptQuery{Events: 1, EventsAfter: 1})
	w.Must(err)
	if len(x.Events) != 1 || x.Events[0].ID != 2 || len(x.Rows) != 1 || x.Rows[0].Login != 1002 {
		w.T.Errorf("events %v, rows %v", x.Events, x.Rows)
	}
}

// snapshotsAreWhole: a reader sees all of a transaction or nothing, however many write meanwhile.
func snapshotsAreWhole(w *World) {
	const rows = 40
	var ended atomic.Bool
	together(4, func(i int) {
		if i == 0 {
			for n := range rows {
				w.Pay(uint64(4000+n%5), 500)
			}
			ended.Store(true)
			return
		}
		for !ended.Load() {
			n, err := w.B.Counts(w.T.Context())
			if err != nil || n.Events != n.Rows[credit.Pending] {
				w.T.Errorf("%d events with %d rows, %v", n.Events, n.Rows[credit.Pending], err)
				return
			}
			id := credit.ID(n.Rows[credit.Pending])
			if id == 0 {
				continue
			}
			d, err := w.B.Dossier(w.T.Context(), id)
			if err != nil || d.Deposit == nil || d.Deposit.Credit != id || d.Account == nil {
				w.T.Errorf("dossier of credit %d: %+v, %v", id, d.Deposit, err)
				return
			}
		}
	})
}

// anchorOnlyMovesForward: the newest known deal of a login, never an older one.
func anchorOnlyMovesForward(w *World) {
	row := w.Pay(1001, 500)
	other := w.Pay(1002, 500)
	for _, step := range []struct{ ticket, want uint64 }{{7, 7}, {5, 7}, {9, 9}} {
		_, err := w.B.Advance(w.T.Context(), row.ID, func(credit.Dossier) (credit.Decision, error) {
			return credit.Decision{Anchor: &credit.Anchor{Ticket: step.ticket, ServerTime: int64(step.ticket)}}, nil
		})
		w.Must(err)
		d, err := w.B.Dossier(w.T.Context(), row.ID)
		w.Must(err)
		if d.Anchor == nil || d.Anchor.Ticket != step.want || d.Anchor.ServerTime != int64(step.want) {
			w.T.Errorf("after deal %d the anchor is %+v", step.ticket, d.Anchor)
		}
	}
	if d, err := w.B.Dossier(w.T.Context(), other.ID); err != nil || d.Anchor != nil {
		w.T.Errorf("another login's anchor: %+v, %v", d.Anchor, err)
	}
}

// historyIsChained: entries are only ever added, each chained to the one before.
func historyIsChained(w *World) {
	row := w.Pay(1001, 500)
	before, err := w.B.History(w.T.Context(), row.ID)
	w.Must(err)
	w.Work(2)
	done := w.InState(row.ID, credit.Done)
	after, err := w.B.History(w.T.Context(), row.ID)
	w.Must(err)
	if len(before) != 1 || len(after) != 3 || !reflect.DeepEqual(before[0], after[0]) {
		w.T.Errorf("%d entries became %d, the first %v", len(before), len(after), reflect.DeepEqual(before[0], after[0]))
	}
	w.Must(credit.CheckChain(done, after))
	if credit.CheckChain(done, before) == nil {
		w.T.Error("a shorter history passes for the row's")
	}
	for _, e := range after {
		if e.Credit != row.ID {
			w.T.Errorf("entry %d belongs to credit %d", e.Seq, e.Credit)
		}
	}
}

// timesAreMicroseconds: whatever precision and zone came in, stored times are UTC and cut to microseconds.
func timesAreMicroseconds(w *World) {
	zone := time.FixedZone("far", 5*60*60)
	f := Paid("pay-1", "", "", 500)
	f.OccurredAt = time.Date(2026, 5, 4, 9, 0, 0, 999999999, zone)
	e := w.Event(f)
	e.ReceivedAt = e.ReceivedAt.In(zone)
	r := w.Accept(e)
	w.Pay(1001, 500)
	w.Work(2)
	stored, err := w.B.Event(w.T.Context(), r.Event)
	w.Must(err)
	if !stored.Facts.OccurredAt.Equal(f.OccurredAt.Truncate(time.Microsecond)) {
		w.T.Errorf("the provider's time %s came back as %s", f.OccurredAt, stored.Facts.OccurredAt)
	}
	settings, err := w.B.Settings(w.T.Context())
	w.Must(err)
	rows, err := w.B.Rows(w.T.Context(), credit.RowQuery{Limit: 10})
	w.Must(err)
	account, err := w.B.Account(w.T.Context(), Server, 1001)
	w.Must(err)
	entries, err := w.B.History(w.T.Context(), rows[1].ID)
	w.Must(err)
	tasks, err := w.B.Tasks(w.T.Context(), store.TaskQuery{})
	w.Must(err)
	d, err := w.B.Dossier(w.T.Context(), rows[1].ID)
	w.Must(err)
	for _, v := range []any{stored, settings, rows, account, entries, tasks, d.Deposit} {
		checkTimes(w, v)
	}
}

// checkTimes walks a value as JSON and looks at everything that is a time.
func checkTimes(w *World, v any) {
	w.T.Helper()
	b, err := json.Marshal(v)
	w.Must(err)
	for _, text := range strings.Split(string(b), `"`) {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && (at.Nanosecond()%1000 != 0 || !strings.HasSuffix(text, "Z")) {
			w.T.Errorf("%T holds the time %s", v, text)
		}
	}
}

// keysAreUnambiguous: no content of one part of a key can pass for another part.
func keysAreUnambiguous(w *World) {
	parts := []string{"", "a", "b", "ab", "a/b", "a\x00b", "\x00", "\x00a", "a\x00", "\x01a", "\x02ab", "a|b", "1", "é", "\U0001F4B0", strings.Repeat("x", 200)}
	n := 0
	for _, payment := range parts[1:] {
		for _, part := range parts {
			r := w.Accept(w.Event(Paid(payment, part, "", int64(500+n))))
			if len(r.Rows) != 1 || r.Rows[0].Before != nil {
				w.T.Fatalf("payment %q part %q met another row: %+v", payment, part, r.Rows)
			}
			n++
		}
	}
	for i, provider := range parts {
		for j, message := range parts {
			e := w.Event(credit.Facts{Type: "ping", Effect: credit.EffectNone})
			e.Provider, e.MessageKey = provider, message
			if r := w.Accept(WithBody(e, []byte(fmt.Sprint(i, j)))); r.Repeat {
				w.T.Fatalf("message %q of %q met another event", message, provider)
			}
		}
	}
	for _, entity := range parts {
		row := credit.ID(1)
		_, err := w.B.Advance(w.T.Context(), row, func(credit.Dossier) (credit.Decision, error) {
			return credit.Decision{Open: []credit.Task{{Kind: credit.TaskStuck, Entity: "x" + entity}, {Kind: credit.TaskKind("stuck" + entity), Entity: "x"}}}, nil
		})
		w.Must(err)
	}
	if got, want := len(w.OpenTasks()), 2*len(parts)-1; got != want {
		w.T.Errorf("%d tasks are open, want %d", got, want)
	}
}

// cancelledContext: what is not begun is not done; a cancelled caller changes nothing.
func cancelledContext(w *World) {
	ctx, cancel := context.WithCancel(w.T.Context())
	cancel()
	_, acceptErr := w.B.Accept(ctx, w.Event(Paid("pay-1", "", "", 500)), w.rules().IntakeRules)
	_, depositErr := w.B.MakeDeposit(ctx, w.Wish(Code(1), 1001, "client-1", 500), w.rules())
	_, accountErr := w.B.PutAccount(ctx, credit.Account{Server: Server, Login: 1001}, "key", w.Clock.Now())
	_, advanceErr := w.B.Advance(ctx, 1, func(credit.Dossier) (credit.Decision, error) { return credit.Decision{}, nil })
	_, readErr := w.B.Counts(ctx)
	_, verifyErr := w.B.Verify(ctx, nil)
	for i, err := range []error{acceptErr, depositErr, accountErr, advanceErr, readErr, verifyErr} {
		if !errors.Is(err, context.Canceled) {
			w.T.Errorf("verb %d: %v", i, err)
		}
	}
	w.wantEmpty()
}

// settleIsOneTransaction: concurrent changes do not lose each other; an error changes nothing.
func settleIsOneTransaction(w *World) {
	together(50, func(i int) {
		_, err := w.B.Settle(w.T.Context(), func(s credit.Settings) (credit.Settings, error) {
			s.Pins = append(s.Pins, credit.Pin{Name: fmt.Sprintf("provider/%d", i), Value: "x"})
			return s, nil
		})
		if err != nil {
			w.T.Errorf("settle: %v", err)
		}
	})
	mine := errors.New("no")
	_, err := w.B.Settle(w.T.Context(), func(s credit.Settings) (credit.Settings, error) {
		s.Mode = credit.ModeHold
		return s, mine
	})
	w.wantErr(err, mine)
	s, err := w.B.Settings(w.T.Context())
	w.Must(err)
	if len(s.Pins) != 50 || s.Mode != credit.ModeLive {
		w.T.Errorf("%d pins, mode %s", len(s.Pins), s.Mode)
	}
}

// missingIsNotFound: and never an empty record.
func missingIsNotFound(w *World) {
	ctx := w.T.Context()
	_, e1 := w.B.Event(ctx, 9)
	_, e2 := w.B.EventBody(ctx, 9)
	_, e3 := w.B.Credit(ctx, 9)
	_, e4 := w.B.History(ctx, 9)
	_, e5 := w.B.Dossier(ctx, 9)
	_, e6 := w.B.Deposit(ctx, Code(9))
	_, e7 := w.B.Account(ctx, Server, 9)
	_, e8 := w.B.Advance(ctx, 9, func(credit.Dossier) (credit.Decision, error) { return credit.Decision{}, nil })
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8} {
		if !errors.Is(err, credit.ErrNotFound) {
			w.T.Errorf("verb %d: %v", i+1, err)
		}
	}
}

// resultsAreCopies: what a caller does with an answer reaches no other answer.
func resultsAreCopies(w *World) {
	row := w.Accept(w.Event(Paid("pay-1", "", "", 500))).Rows[0].After
	a := w.Row(row.ID)
	a.Holds[0] = "spoilt"
	if b := w.Row(row.ID); b.Holds[0] == "spoilt" {
		w.T.Error("two answers share memory")
	}
	body, err := w.B.EventBody(w.T.Context(), 1)
	w.Must(err)
	clear(body)
	again, err := w.B.EventBody(w.T.Context(), 1)
	w.Must(err)
	if len(again) == 0 || again[0] == 0 {
		w.T.Error("two bodies share memory")
	}
}

// closedStoreIsBusy: after Close every verb says so, and Close again is fine.
func closedStoreIsBusy(_ *testing.T, open func(Setup) *World) {
	w := open(Setup{Room: func() uint64 { return 1 << 40 }, StopClaimsBelow: 1, RefuseIntakeBelow: 1})
	e := w.Event(Paid("pay-1", "", "", 500))
	w.Must(w.B.Close(w.T.Context()))
	_, err := w.B.Accept(w.T.Context(), e, w.rules().IntakeRules)
	w.wantErr(err, credit.ErrBusy)
	_, err = w.B.Counts(w.T.Context())
	w.wantErr(err, credit.ErrBusy)
	_, err = w.B.Dossier(w.T.Context(), 1)
	w.wantErr(err, credit.ErrBusy)
	w.Must(w.B.Close(w.T.Context()))
}
