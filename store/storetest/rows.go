package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"creditonce/credit"
)

// guardHoldsUnderRace: of many that claim one row, one gets it; the others meet a conflict and write nothing.
func guardHoldsUnderRace(w *World) {
	row := w.Pay(1001, 500)
	const claimants = 50
	decisions := make([]credit.Decide, claimants)
	for i := range decisions {
		decisions[i] = w.Decisions("process-" + string(rune('A'+i)))[row.ID]
	}
	var won, lost atomic.Int32
	together(claimants, func(i int) {
		switch _, err := w.B.Advance(w.T.Context(), row.ID, decisions[i]); {
		case err == nil:
			won.Add(1)
		case errors.Is(err, credit.ErrConflict):
			lost.Add(1)
		default:
			w.T.Errorf("claim: %v", err)
		}
	})
	if won.Load() != 1 || lost.Load() != claimants-1 {
		w.T.Errorf("%d claims won and %d met a conflict", won.Load(), lost.Load())
	}
	if got := w.InState(row.ID, credit.Claimed); got.Attempt != 1 || got.Entries != 2 {
		w.T.Errorf("attempt %d, %d entries; want 1 and 2", got.Attempt, got.Entries)
	}
}

// oneOpenRowPerLogin: two rows of one login are never claimed together, since each claim sees the other inside
// its transaction.
func oneOpenRowPerLogin(w *World) {
	a, b := w.Pay(1001, 500), w.Pay(1001, 700)
	decisions := w.Decisions("process-1")
	ids := []credit.ID{a.ID, b.ID}
	together(2, func(i int) {
		if _, err := w.B.Advance(w.T.Context(), ids[i], decisions[ids[i]]); err != nil {
			w.T.Errorf("claim of credit %d: %v", ids[i], err)
		}
	})
	states := []credit.State{w.Row(a.ID).State, w.Row(b.ID).State}
	slices.Sort(states)
	if !slices.Equal(states, []credit.State{credit.Claimed, credit.Pending}) {
		w.T.Errorf("the rows are %v; want one claimed and one pending", states)
	}
}

// busySeesThroughLabels: a login is one at the MT5 server, whatever the config calls that server.
func busySeesThroughLabels(w *World) {
	open := w.Pay(1001, 500)
	_, err := w.B.Advance(w.T.Context(), open.ID, w.Decisions("process-1")[open.ID])
	w.Must(err)
	w.InState(open.ID, credit.Claimed)
	const label = "renamed"
	w.Rules.Identities = map[string]string{label: Identity}
	_, err = w.B.PutAccount(w.T.Context(), credit.Account{
		Server: label, Identity: Identity, Login: 1001, Client: "client-1", Currency: Currency, Digits: 2,
	}, "accounts-key", w.Clock.Now())
	w.Must(err)
	wish := w.Wish(Code(60), 1001, "client-1", 700)
	wish.Deposit.Server = label
	_, err = w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	w.Must(err)
	row := w.Accept(w.Event(Paid("pay-60", "", Code(60), 700))).Rows[0].After
	d, err := w.B.Dossier(w.T.Context(), row.ID)
	w.Must(err)
	if len(d.Busy) != 1 || d.Busy[0] != open.ID {
		w.T.Errorf("busy: %v, want credit %d", d.Busy, open.ID)
	}
}

// dealIsUnique: a ticket that is on one row of an MT5 server is refused on every other.
func dealIsUnique(w *World) {
	first := w.Pay(1001, 500)
	w.Work(2)
	done := w.InState(first.ID, credit.Done)
	second := w.Pay(1002, 900)
	w.MT5.Ticket = func() uint64 { return done.Ticket }
	w.Work(2)
	got := w.InState(second.ID, credit.Unknown)
	if got.Ticket != 0 {
		w.T.Errorf("the second row has the ticket %d too", got.Ticket)
	}
	w.Clock.Move(time.Hour)
	resolve := w.Decisions("process-1")[second.ID]
	_, err := w.B.Advance(w.T.Context(), second.ID, resolve)
	var duplicate *credit.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Rule != "credit by deal" || duplicate.Holder != uint64(first.ID) {
		w.T.Errorf("the second row with the same deal gave %v", err)
	}
	holders, err := w.B.Holders(w.T.Context(), Identity, []uint64{done.Ticket, 77})
	w.Must(err)
	if len(holders) != 1 || holders[done.Ticket] != first.ID {
		w.T.Errorf("holders: %v", holders)
	}
	if other, err := w.B.Holders(w.T.Context(), "Other-Live", []uint64{done.Ticket}); err != nil || len(other) != 0 {
		w.T.Errorf("another server's holders: %v, %v", other, err)
	}
}

// referenceIsUnique: every joined row has a reference of its own, and it is the unit's.
func referenceIsUnique(w *World) {
	seen := map[credit.Reference]credit.ID{}
	for i := range 20 {
		row := w.Pay(1001+uint64(i%3), 500)
		if prior, ok := seen[row.Reference]; ok || !row.Reference.Valid() {
			w.T.Errorf("credits %d and %d: reference %q", prior, row.ID, row.Reference)
		}
		if want := credit.NewReference("test", Identity, row.Kind, row.Unit); row.Reference != want {
			w.T.Errorf("credit %d has %s, its unit gives %s", row.ID, row.Reference, want)
		}
		seen[row.Reference] = row.ID
	}
	waiting := w.Accept(w.Event(Paid("pay-1", "", "", 500))).Rows[0].After
	other := w.Accept(w.Event(Paid("pay-2", "", "", 500))).Rows[0].After
	if waiting.Reference != "" || other.Reference != "" {
		w.T.Error("a row without a deposit has a reference")
	}
}

func (w *World) due(state credit.State, upTo time.Time) []credit.ID {
	w.T.Helper()
	rows, err := w.B.Due(w.T.Context(), credit.DueQuery{State: state, Server: Server, UpTo: upTo, Limit: 1000})
	w.Must(err)
	ids := []credit.ID{}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// dueFollowsState: a row is due in the state that it is in, and in no other.
func dueFollowsState(w *World) {
	w.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeUnknown, Detail: "time-out"}
	}
	row := w.Pay(1001, 500)
	far := w.Clock.Now().Add(1000 * time.Hour)
	check := func(want credit.State) {
		w.T.Helper()
		for _, s := range credit.States() {
			got := w.due(s, far)
			if (s == want) != (len(got) == 1) {
				w.T.Errorf("due as %s: %v, want the row only as %s", s, got, want)
			}
		}
	}
	check(credit.Pending)
	if got := w.due(credit.Pending, w.Clock.Now().Add(-time.Minute)); len(got) != 0 {
		w.T.Errorf("due before its time: %v", got)
	}
	if rows, err := w.B.Due(w.T.Context(), credit.DueQuery{State: credit.Pending, Server: "mai", UpTo: far}); err != nil || len(rows) != 0 {
		w.T.Errorf("due on another server: %v, %v", rows, err)
	}
	_, err := w.B.Advance(w.T.Context(), row.ID, w.Decisions("process-1")[row.ID])
	w.Must(err)
	check("none: a claimed row has no next turn")
	keeper := &credit.Keeper{
		Book: w.B, Clock: w.Clock, Observer: silent{}, Process: credit.Process{ID: "process-2"}, Timing: credit.DefaultTiming(),
	}
	w.Must(keeper.Start(w.T.Context()))
	w.InState(row.ID, credit.Unknown)
	check(credit.Unknown)
	waiting := w.Accept(w.Event(Paid("pay-x", "", "", 500))).Rows[0].After
	rows, err := w.B.Due(w.T.Context(), credit.DueQuery{State: credit.Held, UpTo: far})
	w.Must(err)
	if len(rows) != 1 || rows[0].ID != waiting.ID {
		w.T.Errorf("held rows without a server: %v", rows)
	}
}

// dueOrderIsTimeThenID: earliest first, equal times by id, no more than the limit.
func dueOrderIsTimeThenID(w *World) {
	var want []credit.ID
	for range 3 {
		for range 3 { // three at the same time
			want = append(want, w.Pay(uint64(2000+len(want)), 500).ID)
		}
		w.Clock.Move(time.Microsecond)
	}
	w.Clock.Move(-time.Hour)
	early := w.Pay(1001, 500)
	want = append([]credit.ID{early.ID}, want...)
	w.Clock.Move(2 * time.Hour)
	if got := w.due(credit.Pending, w.Clock.Now()); !slices.Equal(got, want) {
		w.T.Errorf("due in the order %v, want %v", got, want)
	}
	rows, err := w.B.Due(w.T.Context(), credit.DueQuery{State: credit.Pending, Server: Server, UpTo: w.Clock.Now(), Limit: 4})
	w.Must(err)
	if len(rows) != 4 || rows[0].ID != early.ID || rows[0].Login != 1001 || !rows[0].NextAt.Equal(w.Row(early.ID).NextAt) {
		w.T.Errorf("the first four: %+v", rows)
	}
}

// dueShardsByLogin: every row falls to exactly one shard, and a login always to the same.
func dueShardsByLogin(w *World) {
	for i := range 20 {
		w.Pay(uint64(3000+i%7), 500)
	}
	seen := map[credit.ID]int{}
	for shard := range 3 {
		rows, err := w.B.Due(w.T.Context(), credit.DueQuery{
			State: credit.Pending, Server: Server, UpTo: w.Clock.Now(), Shard: shard, Shards: 3, Limit: 1000,
		})
		w.Must(err)
		for _, r := range rows {
			seen[r.ID]++
			if r.Login%3 != uint64(shard) {
				w.T.Errorf("login %d came to shard %d", r.Login, shard)
			}
		}
	}
	for id, n := range seen {
		if n != 1 {
			w.T.Errorf("credit %d came to %d shards", id, n)
		}
	}
	if len(seen) != 20 {
		w.T.Errorf("%d of 20 rows fell to a shard", len(seen))
	}
}

// decideMayRunTwice: what is written is what the last run returned, once.
func decideMayRunTwice(w *World) {
	row := w.Pay(1001, 500)
	claim := w.Decisions("process-1")[row.ID]
	runs := 0
	res, err := w.B.Advance(w.T.Context(), row.ID, func(d credit.Dossier) (credit.Decision, error) {
		runs++
		if _, err := claim(d); err != nil { // a run that is thrown away
			return credit.Decision{}, err
		}
		return claim(d)
	})
	w.Must(err)
	entries, err := w.B.History(w.T.Context(), row.ID)
	w.Must(err)
	if runs < 1 || len(res.Entries) != 1 || len(entries) != 2 || res.Row.Attempt != 1 {
		w.T.Errorf("%d runs, %d new entries, %d in all, attempt %d", runs, len(res.Entries), len(entries), res.Row.Attempt)
	}
}

// decideErrorWritesNothing: the error comes back as it is, and the row stands as it stood.
func decideErrorWritesNothing(w *World) {
	row := w.Pay(1001, 500)
	mine := errors.New("not today")
	_, err := w.B.Advance(w.T.Context(), row.ID, func(credit.Dossier) (credit.Decision, error) {
		return credit.Decision{Open: []credit.Task{{Kind: credit.TaskStuck, Entity: credit.RowEntity(row.ID)}}}, mine
	})
	if err != mine { //nolint:errorlint // the promise is the very error
		w.T.Errorf("got %v, want the very error", err)
	}
	if got := w.Row(row.ID); got.Head != row.Head || len(w.OpenTasks()) != 0 {
		w.T.Errorf("after an error: head %s, tasks %v", got.Head, w.OpenTasks())
	}
}

// hourComesWithItsDecision: what was counted is in the settings that the next decision sees, or nothing was.
func hourComesWithItsDecision(w *World) {
	first, second := w.Pay(1001, 500), w.Pay(1002, 500)
	mine := errors.New("not today")
	_, err := w.B.Advance(w.T.Context(), first.ID, func(credit.Dossier) (credit.Decision, error) {
		return credit.Decision{Hour: &credit.Hour{Since: w.Clock.Now(), Reissues: 9}}, mine
	})
	if s, _ := w.B.Settings(w.T.Context()); !errors.Is(err, mine) || s.Hour != nil {
		w.T.Errorf("after %v the hour is %+v", err, s.Hour)
	}
	since := w.Clock.Now().UTC().Truncate(time.Microsecond)
	together(20, func(int) {
		_, err := w.B.Advance(w.T.Context(), second.ID, func(d credit.Dossier) (credit.Decision, error) {
			h := credit.Hour{Since: since, Reissued: map[string]credit.Amount{"USD": d.Row.Amount}}
			if before := d.Settings.Hour; before != nil {
				h.Reissues = before.Reissues
			}
			h.Reissues++
			return credit.Decision{Hour: &h}, nil
		})
		w.Must(err)
	})
	s, err := w.B.Settings(w.T.Context())
	w.Must(err)
	if h := s.Hour; h == nil || h.Reissues != 20 || !h.Since.Equal(since) || !h.Reissued["USD"].Equal(second.Amount) || s.StoreID != "store-1" {
		w.T.Errorf("after 20 decisions at once the hour is %+v in %+v", h, s)
	}
}

// decidePanicIsAnError: it reaches its caller and nobody else, without a stack, and the engine goes on.
func decidePanicIsAnError(w *World) {
	a, b := w.Pay(1001, 500), w.Pay(1002, 500)
	claim := w.Decisions("process-1")[b.ID]
	together(20, func(i int) {
		if i == 0 {
			if _, err := w.B.Advance(w.T.Context(), b.ID, claim); err != nil {
				w.T.Errorf("beside a panic: %v", err)
			}
			return
		}
		_, err := w.B.Advance(w.T.Context(), a.ID, func(credit.Dossier) (credit.Decision, error) { panic("secret-free") })
		if err == nil || strings.Contains(err.Error(), ".go:") {
			w.T.Errorf("a panic gave %v", err)
		}
	})
	w.InState(a.ID, credit.Pending)
	w.InState(b.ID, credit.Claimed)
}
