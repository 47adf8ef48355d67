package storetest

import (
	"fmt"
	"slices"
	"time"

	"creditonce/credit"
)

// twenty makes deposits of two clients on three logins, an hour apart, some of them paid, one twice, some closed.
func twenty(w *World) {
	owner := map[uint64]string{1001: "client-1", 1002: "client-1", 2001: "client-2"}
	for login, client := range owner {
		w.Register(login, client)
	}
	for i := range 20 {
		login := []uint64{1001, 2001, 1002, 2001}[i%4]
		code, minor := Code(i), int64(100*(i+1))
		_, err := w.B.MakeDeposit(w.T.Context(), w.Wish(code, login, owner[login], minor), w.rules())
		w.Must(err)
		switch i % 5 {
		case 0:
			w.Accept(w.Event(Paid("pay-"+code, "", code, minor)))
		case 1:
			w.Accept(w.Event(Paid("less-"+code, "", code, minor-1)))
			w.Accept(w.Event(Paid("more-"+code, "", code, minor)))
		case 2:
			_, err := w.B.CloseDeposit(w.T.Context(), code, "portal", w.Clock.Now())
			w.Must(err)
		}
		w.Clock.Move(time.Hour)
	}
	w.Accept(w.Event(Paid("pay-without", "", "", 500)))
}

// walkDeposits reads every page; between is called after each.
func walkDeposits(w *World, q credit.DepositQuery, between func()) (codes []string) {
	for {
		p, err := w.B.Deposits(w.T.Context(), q)
		w.Must(err)
		for _, v := range p.Items {
			codes = append(codes, v.Deposit.Code)
		}
		if len(p.Items) > q.Limit {
			w.T.Errorf("a page of %d, the limit is %d", len(p.Items), q.Limit)
		}
		if p.Next == nil {
			return codes
		}
		q.After = p.Next
		between()
	}
}

func walkCredits(w *World, q credit.CreditQuery, between func()) (ids []credit.ID) {
	for {
		p, err := w.B.Credits(w.T.Context(), q)
		w.Must(err)
		for _, c := range p.Items {
			ids = append(ids, c.ID)
		}
		if len(p.Items) > q.Limit {
			w.T.Errorf("a page of %d, the limit is %d", len(p.Items), q.Limit)
		}
		if p.Next == nil {
			return ids
		}
		q.After = p.Next
		between()
	}
}

func walkAccounts(w *World, q credit.AccountQuery, between func()) (logins []string) {
	for {
		p, err := w.B.Accounts(w.T.Context(), q)
		w.Must(err)
		for _, a := range p.Items {
			logins = append(logins, fmt.Sprintf("%s/%d", a.Server, a.Login))
		}
		if len(p.Items) > q.Limit {
			w.T.Errorf("a page of %d, the limit is %d", len(p.Items), q.Limit)
		}
		if p.Next == nil {
			return logins
		}
		q.After = p.Next
		between()
	}
}

func quiet() {}

// listsAnswerTheirFilters: whatever index a list walks, it shows what the filter wants, in order, for every limit.
func listsAnswerTheirFilters(w *World) {
	begun := w.Clock.Now()
	twenty(w)
	now := w.Clock.Now()
	spans := []credit.TimeRange{{}, {From: begun.Add(5 * time.Hour)}, {To: begun.Add(9 * time.Hour)}, {From: begun.Add(3 * time.Hour), To: begun.Add(4 * time.Hour)}}
	amounts := []credit.AmountRange{{}, {Currency: Currency}, {Currency: "XXX"}, {Currency: Currency, Min: Money(500), Max: Money(900)}}
	type place struct {
		client, server string
		login          uint64
	}
	places := []place{{}, {client: "client-1"}, {client: "nobody"}, {server: Server}, {server: Server, login: 2001}, {"client-1", Server, 1002}, {"client-2", Server, 1002}}
	all := credit.DepositQuery{Now: now, Limit: 100}
	deposits, err := w.B.Deposits(w.T.Context(), all)
	w.Must(err)
	rows, err := w.B.Credits(w.T.Context(), credit.CreditQuery{Limit: 100})
	w.Must(err)
	if len(deposits.Items) != 20 || len(rows.Items) != 13 {
		w.T.Fatalf("%d deposits and %d credits", len(deposits.Items), len(rows.Items))
	}
	turn := 0 // limits, and spans beside amounts, take turns: every pair of a place and a state meets each of them
	for _, at := range places {
		for i := range 2 * len(spans) {
			span, amount := spans[i%len(spans)], amounts[(i+i/len(spans))%len(amounts)]
			for _, state := range append(credit.DepositStates(), "") {
				q := credit.DepositQuery{State: state, Now: now, Client: at.client, Server: at.server, Login: at.login, Created: span, Credited: amount}
				var want []string
				for _, v := range deposits.Items {
					if q.Wants(v) {
						want = append(want, v.Deposit.Code)
					}
				}
				turn++
				q.Limit = []int{1, 3, 100}[turn%3]
				if got := walkDeposits(w, q, quiet); !slices.Equal(got, want) {
					w.T.Fatalf("%+v: %v, want %v", q, got, want)
				}
			}
			for _, state := range append(credit.States(), credit.New) {
				turn++
				q := credit.CreditQuery{State: state, Client: at.client, Server: at.server, Login: at.login, Created: span, Amount: amount, Limit: []int{1, 3, 100}[turn%3]}
				wantCredits(w, q, rows.Items)
			}
		}
	}
}

// wantCredits compares a walk with what the filter takes from all rows.
func wantCredits(w *World, q credit.CreditQuery, all []credit.Credit) {
	w.T.Helper()
	var want []credit.ID
	for _, c := range all {
		if q.Wants(c) {
			want = append(want, c.ID)
		}
	}
	got := walkCredits(w, q, quiet)
	if q.Client != "" || q.Login != 0 { // ordered by deposit
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		w.T.Fatalf("%+v: %v, want %v", q, got, want)
	}
}

// listsStayWholeWhileOthersArrive: in a walk each record comes at most once, and none that was there is lost.
func listsStayWholeWhileOthersArrive(w *World) {
	twenty(w)
	n, rest := 0, 0
	more := func() { // what sorts behind the reader's place is new to it too: the stream must end for the walk to
		if rest--; rest < 0 {
			return
		}
		n++
		code := Code(100 + n)
		w.Deposit(code, 1001, 500)
		w.Accept(w.Event(Paid("pay-"+code, "", code, 500)))
		w.Accept(w.Event(Paid("again-"+code, "", Code(0), 500))) // a further row of the oldest deposit
		w.Register(uint64(1000+n), "client-1")
		w.Register(uint64(5000+n), "client-1")
	}
	for _, limit := range []int{1, 4} {
		for _, client := range []string{"", "client-1"} {
			rest = 3
			q := credit.DepositQuery{Client: client, Now: w.Clock.Now(), Limit: limit}
			wantWhole(w, walkDeposits(w, withLimit(q), quiet), walkDeposits(w, q, more))
			rest = 3
			r := credit.CreditQuery{Client: client, Limit: limit}
			big := r
			big.Limit = 1000
			wantWhole(w, walkCredits(w, big, quiet), walkCredits(w, r, more))
			rest = 3
			a := credit.AccountQuery{Client: client, Limit: limit}
			wide := a
			wide.Limit = 1000
			wantWhole(w, walkAccounts(w, wide, quiet), walkAccounts(w, a, more))
		}
	}
	if n == 0 {
		w.T.Error("nothing arrived between the pages")
	}
}

func withLimit(q credit.DepositQuery) credit.DepositQuery {
	q.Limit = 1000
	return q
}

func wantWhole[T comparable](w *World, start, walked []T) {
	w.T.Helper()
	seen := map[T]bool{}
	for _, x := range walked {
		if seen[x] {
			w.T.Errorf("%v comes twice", x)
		}
		seen[x] = true
	}
	for _, x := range start {
		if !seen[x] {
			w.T.Errorf("%v was there at the start and is lost", x)
		}
	}
}

// foreignPlaceIsInvalid: a place that no list gave is refused, whatever it is.
func foreignPlaceIsInvalid(w *World) {
	twenty(w)
	for _, after := range [][]byte{{}, {1}, make([]byte, 9), make([]byte, 5000)} {
		_, err := w.B.Deposits(w.T.Context(), credit.DepositQuery{After: after})
		w.wantErr(err, credit.ErrInvalid)
		_, err = w.B.Credits(w.T.Context(), credit.CreditQuery{After: after})
		w.wantErr(err, credit.ErrInvalid)
		_, err = w.B.Credits(w.T.Context(), credit.CreditQuery{Client: "client-1", After: after})
		w.wantErr(err, credit.ErrInvalid)
		_, err = w.B.Accounts(w.T.Context(), credit.AccountQuery{Server: Server, After: after})
		w.wantErr(err, credit.ErrInvalid)
	}
	huge := slices.Repeat([]byte{0xff}, 8)
	for _, span := range []credit.TimeRange{{}, {To: w.Clock.Now()}} {
		p, err := w.B.Deposits(w.T.Context(), credit.DepositQuery{After: huge, Created: span, Now: w.Clock.Now(), Limit: 3})
		if w.Must(err); len(p.Items) != 3 {
			w.T.Errorf("from beyond the newest: %d deposits", len(p.Items))
		}
	}
}

// closedDepositHoldsItsPayment: closing is kept, once, and what is paid later waits; what was paid before does not.
func closedDepositHoldsItsPayment(w *World) {
	ctx := w.T.Context()
	w.Register(1001, "client-1")
	w.Deposit(Code(1), 1001, 500)
	w.Deposit(Code(2), 1001, 500)
	before := w.Clock.Now().Truncate(time.Microsecond)
	closed := before.Add(time.Minute)
	for _, at := range []time.Time{closed, closed.Add(time.Hour)} {
		for _, code := range []string{Code(1), Code(2)} {
			v, err := w.B.CloseDeposit(ctx, code, "portal", at)
			if w.Must(err); !v.Deposit.ClosedAt.Equal(closed) || v.Deposit.ClosedBy != "portal" || v.State(at) != credit.DepositClosed {
				w.T.Errorf("closed at %s: %+v", at, v.Deposit)
			}
		}
	}
	late := Paid("late", "", Code(1), 500)
	late.OccurredAt = closed.Add(time.Second)
	early := Paid("early", "", Code(2), 500)
	early.OccurredAt = before
	if row := w.Accept(w.Event(late)).Rows[0].After; row.State != credit.Held || !row.HasHold(credit.HoldClosed) {
		w.T.Errorf("paid after closing: %s %v", row.State, row.Holds)
	}
	if row := w.Accept(w.Event(early)).Rows[0].After; row.State != credit.Pending {
		w.T.Errorf("paid before closing: %s %v", row.State, row.Holds)
	}
	_, err := w.B.CloseDeposit(ctx, Code(2), "portal", closed)
	w.wantErr(err, credit.ErrRefused)
	_, err = w.B.CloseDeposit(ctx, Code(3), "portal", closed)
	w.wantErr(err, credit.ErrNotFound)
}

// depositStoryIsWhole: the row that took the deposit with its history, and what joined later.
func depositStoryIsWhole(w *World) {
	w.Register(1001, "client-1")
	w.Deposit(Code(1), 1001, 500)
	s, err := w.B.DepositStory(w.T.Context(), Code(1))
	if w.Must(err); s.Row != nil || len(s.History)+len(s.Further) != 0 {
		w.T.Errorf("before payment: %+v", s)
	}
	first := w.Accept(w.Event(Paid("a", "", Code(1), 500))).Rows[0].After
	second := w.Accept(w.Event(Paid("b", "", Code(1), 500))).Rows[0].After
	if s, err = w.B.DepositStory(w.T.Context(), Code(1)); err != nil || s.Row == nil || s.Row.ID != first.ID || len(s.History) != first.Entries ||
		len(s.Further) != 1 || s.Further[0].ID != second.ID {
		w.T.Errorf("after two payments: %+v, %v", s, err)
	}
	_, err = w.B.DepositStory(w.T.Context(), Code(2))
	w.wantErr(err, credit.ErrNotFound)
}
