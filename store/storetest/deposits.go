package storetest

import (
	"errors"
	"fmt"
	"time"

	"creditonce/credit"
	"creditonce/store"
)

// depositTakesEarliestWaitingPart: by the provider's time, not by arrival; the others join held.
func depositTakesEarliestWaitingPart(w *World) {
	w.Register(1001, "client-1")
	at := w.Clock.Now()
	ids := map[string]credit.ID{}
	for _, p := range []struct {
		part   string
		before time.Duration
	}{{"late", time.Minute}, {"early", time.Hour}, {"middle", 2 * time.Minute}} {
		f := Paid("pay-1", p.part, Code(1), 500)
		f.OccurredAt = at.Add(-p.before)
		ids[p.part] = w.Accept(w.Event(f)).Rows[0].After.ID
	}
	r := w.Deposit(Code(1), 1001, 500)
	if len(r.Rows) != 3 {
		w.T.Fatalf("%d rows joined, want all three", len(r.Rows))
	}
	w.InState(ids["early"], credit.Pending)
	for _, part := range []string{"middle", "late"} {
		if row := w.InState(ids[part], credit.Held); !row.HasHold(credit.HoldSecondPart) {
			w.T.Errorf("part %s holds %v", part, row.Holds)
		}
	}
	v, err := w.B.Deposit(w.T.Context(), Code(1))
	w.Must(err)
	if v.Row == nil || v.Row.ID != ids["early"] {
		w.T.Errorf("the deposit shows the row %+v", v.Row)
	}
}

// secondPartIsHeld: a deposit is taken once, also by two parts of one event.
func secondPartIsHeld(w *World) {
	w.Register(1001, "client-1")
	w.Deposit(Code(1), 1001, 500)
	f := Paid("pay-1", "a", Code(1), 500)
	f.Parts = append(f.Parts, credit.Part{ID: "b", Amount: Money(500)})
	r := w.Accept(w.Event(f))
	if len(r.Rows) != 2 {
		w.T.Fatalf("two parts gave %d rows", len(r.Rows))
	}
	w.InState(r.Rows[0].After.ID, credit.Pending)
	third := w.Accept(w.Event(Paid("pay-2", "", Code(1), 500))).Rows[0].After
	for _, id := range []credit.ID{r.Rows[1].After.ID, third.ID} {
		if row := w.InState(id, credit.Held); !row.HasHold(credit.HoldSecondPart) {
			w.T.Errorf("credit %d holds %v", id, row.Holds)
		}
	}
	v, err := w.B.Deposit(w.T.Context(), Code(1))
	w.Must(err)
	if v.Deposit.Credit != r.Rows[0].After.ID || v.Tasks != 0 {
		w.T.Errorf("the deposit is taken by %d, %d tasks", v.Deposit.Credit, v.Tasks)
	}
}

// depositWithKnownRefund: a waiting row whose payment was refunded joins, and stays held.
func depositWithKnownRefund(w *World) {
	w.Register(1001, "client-1")
	row := w.Accept(w.Event(Paid("pay-1", "", Code(1), 500))).Rows[0].After
	w.Accept(w.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: "pay-1", Movement: "re_1", Moved: Money(500)}))
	w.Deposit(Code(1), 1001, 500)
	if got := w.InState(row.ID, credit.Held); !got.HasHold(credit.HoldReversal) || !got.Joined() {
		w.T.Errorf("the row holds %v, joined %v", got.Holds, got.Joined())
	}
	v, err := w.B.Deposit(w.T.Context(), Code(1))
	w.Must(err)
	if v.Tasks != 1 || v.State(w.Clock.Now()) != credit.DepositReview {
		w.T.Errorf("the deposit shows %d tasks, %s", v.Tasks, v.State(w.Clock.Now()))
	}
}

// idempotencyReplaysFirstAnswer: byte for byte, however the deposit fares since; another input is a mismatch;
// route, owner and key are all of the scope.
func idempotencyReplaysFirstAnswer(w *World) {
	w.Register(1001, "client-1")
	wish := w.Wish(Code(1), 1001, "client-1", 500)
	first, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.Must(err)
	w.Accept(w.Event(Paid("pay-1", "", Code(1), 500)))
	wish.Deposit.Code = Code(2) // drawn anew by the caller; the stored answer names the first
	again, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.Must(err)
	if !again.Answer.Replay || string(again.Answer.Body) != string(first.Answer.Body) || again.Answer.Status != first.Answer.Status || len(again.Rows) != 0 {
		w.T.Errorf("the replay gave %+v", again)
	}
	if _, err := w.B.Deposit(w.T.Context(), Code(2)); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("the replay made a deposit (%v)", err)
	}
	wish.InputHash = []byte("another input")
	_, err = w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.wantErr(err, credit.ErrMismatch)
	for i, change := range []func(*credit.IdempotencyKey){
		func(k *credit.IdempotencyKey) { k.Route += "x" },
		func(k *credit.IdempotencyKey) { k.Owner += "x" },
		func(k *credit.IdempotencyKey) { k.Key += "x" },
		func(k *credit.IdempotencyKey) { k.Route, k.Owner = k.Route+"c", k.Owner[1:] },
	} {
		other := w.Wish(Code(10+i), 1001, "client-1", 500)
		other.Key = wish.Key
		change(&other.Key)
		r, err := w.B.MakeDeposit(w.T.Context(), other, w.rules())
		if err != nil || r.Answer.Replay {
			w.T.Errorf("key %+v gave %+v, %v", other.Key, r.Answer, err)
		}
	}
}

// twinRequestsGetOneDeposit: 200 at once under one key, each with a code of its own.
func twinRequestsGetOneDeposit(w *World) {
	w.Register(1001, "client-1")
	const twins = 200
	got := make([]store.DepositReceipt, twins)
	together(twins, func(i int) {
		wish := w.Wish(Code(1), 1001, "client-1", 500)
		wish.Deposit.Code = Code(i)
		r, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
		if err != nil {
			w.T.Errorf("make deposit: %v", err)
		}
		got[i] = r
	})
	firsts, deposits := 0, 0
	for i, r := range got {
		if !r.Answer.Replay {
			firsts++
		}
		if string(r.Answer.Body) != string(got[0].Answer.Body) {
			w.T.Errorf("twins got %q and %q", r.Answer.Body, got[0].Answer.Body)
		}
		if _, err := w.B.Deposit(w.T.Context(), Code(i)); err == nil {
			deposits++
		}
	}
	if firsts != 1 || deposits != 1 {
		w.T.Errorf("%d first answers and %d deposits, want one of each", firsts, deposits)
	}
}

// dryRunWritesNothing: all checks, an answer, and the key stays free.
func dryRunWritesNothing(w *World) {
	w.Register(1001, "client-1")
	wish := w.Wish(Code(1), 1001, "client-1", 500)
	wish.DryRun = true
	r, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.Must(err)
	if r.Answer.Status != 201 || len(r.Rows) != 0 {
		w.T.Errorf("the dry run gave %+v", r)
	}
	if _, err := w.B.Deposit(w.T.Context(), Code(1)); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("the dry run left a deposit (%v)", err)
	}
	wish.DryRun = false
	if r, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules()); err != nil || r.Answer.Replay {
		w.T.Errorf("the run after the dry run gave %+v, %v", r.Answer, err)
	}
	wish.Key.Key = ""
	_, err = w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.wantErr(err, credit.ErrInvalid)
}

// refusedDepositLeavesTheKeyFree: only answers that made something are kept. A failing Render is a refusal too.
func refusedDepositLeavesTheKeyFree(w *World) {
	wish := w.Wish(Code(1), 1001, "client-1", 500)
	_, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	var refused *credit.RefusedError
	if !errors.As(err, &refused) || refused.Code != "unknown_account" {
		w.T.Fatalf("an unregistered login gave %v", err)
	}
	w.Register(1001, "client-1")
	broken := errors.New("cannot render")
	failing := wish
	failing.Render = func(credit.DepositView) (credit.Answer, error) { return credit.Answer{}, broken }
	_, err = w.B.MakeDeposit(w.T.Context(), failing, w.rules())
	w.wantErr(err, broken)
	r, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.Must(err)
	if r.Answer.Replay {
		w.T.Error("a refused request was answered with a replay")
	}
	taken := w.Wish(Code(1), 1001, "client-1", 500)
	taken.Key.Key = "another"
	_, err = w.B.MakeDeposit(w.T.Context(), taken, w.rules())
	if !errors.As(err, &refused) || refused.Code != "code_taken" {
		w.T.Errorf("a taken code gave %v", err)
	}
}

// purgedAnswersAreGone: those before the moment, oldest first, no more than asked for.
func purgedAnswersAreGone(w *World) {
	w.Register(1001, "client-1")
	const old = 7
	for i := range old {
		w.Deposit(Code(i), 1001, 500)
	}
	w.Clock.Move(time.Hour)
	cut := w.Clock.Now()
	fresh := w.Wish(Code(100), 1001, "client-1", 500)
	_, err := w.B.MakeDeposit(w.T.Context(), fresh, w.rules())
	w.Must(err)
	for _, step := range []struct{ limit, want int }{{0, 0}, {3, 3}, {100, old - 3}, {100, 0}} {
		n, err := w.B.PurgeAnswers(w.T.Context(), cut, step.limit)
		w.Must(err)
		if n != step.want {
			w.T.Errorf("a purge of at most %d removed %d, want %d", step.limit, n, step.want)
		}
	}
	if r, err := w.B.MakeDeposit(w.T.Context(), fresh, w.rules()); err != nil || !r.Answer.Replay {
		w.T.Errorf("the fresh answer is gone: %+v, %v", r.Answer, err)
	}
	again := w.Wish(Code(0), 1001, "client-1", 500)
	again.Deposit.Code = Code(200)
	if r, err := w.B.MakeDeposit(w.T.Context(), again, w.rules()); err != nil || r.Answer.Replay {
		w.T.Errorf("a purged key gave %+v, %v", r.Answer, err)
	}
}

// foreignAccountChangeHoldsPending: in the change's own transaction; a row under way gets a task instead.
func foreignAccountChangeHoldsPending(w *World) {
	w.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeUnknown, Detail: "time-out"}
	}
	open := w.Pay(1001, 500)
	w.Work(2)
	w.InState(open.ID, credit.Unknown)
	waiting, other := w.Pay(1001, 700), w.Pay(1002, 500)
	r := w.Register(1001, "client-2")
	if r.Created || r.Account.Client != "client-2" || len(r.Rows) != 1 || len(r.Opened) != 2 {
		w.T.Fatalf("the change gave %+v", r)
	}
	if row := w.InState(waiting.ID, credit.Held); !row.HasHold(credit.HoldOwnership) {
		w.T.Errorf("the pending row holds %v", row.Holds)
	}
	w.InState(open.ID, credit.Unknown)
	w.InState(other.ID, credit.Pending)
	kinds := map[string]bool{}
	for _, t := range w.OpenTasks() {
		kinds[fmt.Sprintf("%s %s", t.Kind, t.Entity)] = true
	}
	if !kinds["ownership "+credit.RowEntity(open.ID)] || !kinds["held "+credit.RowEntity(waiting.ID)] {
		w.T.Errorf("open tasks: %v", kinds)
	}
}

// sameAccountChangesNothing: the same again keeps the first times.
func sameAccountChangesNothing(w *World) {
	first := w.Register(1001, "client-1")
	if !first.Created || first.Account.CreatedAt.IsZero() {
		w.T.Errorf("the registration gave %+v", first)
	}
	w.Clock.Move(time.Hour)
	again := w.Register(1001, "client-1")
	if again.Created || !again.Account.UpdatedAt.Equal(first.Account.UpdatedAt) {
		w.T.Errorf("the same again gave %+v", again)
	}
	changed := w.Register(1001, "client-2")
	if !changed.Account.CreatedAt.Equal(first.Account.CreatedAt) || changed.Account.UpdatedAt.Equal(first.Account.UpdatedAt) {
		w.T.Errorf("a change gave %+v", changed)
	}
	stored, err := w.B.Account(w.T.Context(), Server, 1001)
	w.Must(err)
	if stored != changed.Account {
		w.T.Errorf("stored is %+v, the receipt said %+v", stored, changed.Account)
	}
}
