package store_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

// A filter that fits nothing looks at a bounded number of rows for one page, and still comes to the end.
func TestPageThatFindsNothing_EndsWithinItsBudgetAndGoesOn(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) { o.Strict, o.UnsafeNoSync = false, true })
	const n = 4500
	var wg sync.WaitGroup
	for part := range 50 {
		wg.Go(func() {
			for i := range n / 50 {
				w.Register(uint64(part*1000+i+1), "client-1")
			}
		})
	}
	wg.Wait()
	q := credit.AccountQuery{Updated: credit.TimeRange{From: w.Clock.Now().Add(time.Hour)}}
	pages := 0
	for more := true; more; pages++ {
		p, err := db.Accounts(t.Context(), q)
		if w.Must(err); len(p.Items) != 0 {
			t.Fatalf("page %d shows %v", pages, p.Items)
		}
		q.After, more = p.Next, p.Next != nil
	}
	if pages != 3 {
		t.Errorf("%d pages for %d rows, want 3", pages, n)
	}
	w.Must(db.Close(t.Context()))
}

// The span of a list bounds what it walks, and clocks that were set back within a day hide nothing.
func TestSpanOfAList_SurvivesAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	w.Register(1001, "client-1")
	begun := w.Clock.Now()
	for i := range 60 { // two hours on, one back, half a day at a time
		w.Deposit(string(bytes.Repeat([]byte{byte('A' + i%26)}, 22))+string(rune('0'+i/26)), 1001, 500)
		w.Clock.Move([]time.Duration{20 * time.Hour, -15 * time.Hour, 9 * time.Hour}[i%3])
	}
	all, err := db.Deposits(t.Context(), credit.DepositQuery{Limit: 200, Now: w.Clock.Now()})
	w.Must(err)
	for from := range 20 {
		for _, length := range []time.Duration{time.Hour, 30 * time.Hour, 300 * time.Hour} {
			span := credit.TimeRange{From: begun.Add(time.Duration(from) * 13 * time.Hour)}
			span.To = span.From.Add(length)
			q := credit.DepositQuery{Limit: 200, Created: span, Now: w.Clock.Now()}
			want := 0
			for _, v := range all.Items {
				if q.Wants(v) {
					want++
				}
			}
			got, err := db.Deposits(t.Context(), q)
			if w.Must(err); len(got.Items) != want {
				t.Fatalf("%v: %d deposits, want %d", span, len(got.Items), want)
			}
		}
	}
	w.Must(db.Close(t.Context()))
}

// Verify knows the indexes of the lists: a missing entry, one too many and one that leads elsewhere are findings.
func TestDamagedListIndex_IsFoundByVerify(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{"deposit by client", "deposit by login", "account by client", "credit further by deposit"} {
		t.Run(bucket, func(t *testing.T) {
			t.Parallel()
			w, db := world(t, nil)
			w.Register(1001, "client-1")
			w.Deposit("0123456789012345678901", 1001, 500)
			for _, payment := range []string{"a", "b"} {
				w.Accept(w.Event(storetest.Paid(payment, "", "0123456789012345678901", 500)))
			}
			if r, err := db.Verify(t.Context(), nil); err != nil || !r.Clean() {
				t.Fatalf("before: %v %v", r, err)
			}
			var k, v []byte
			w.Must(db.Raw(func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte(bucket))
				k, v = b.Cursor().First()
				k, v = bytes.Clone(k), bytes.Clone(v)
				return b.Delete(k)
			}))
			if r, err := db.Verify(t.Context(), nil); err != nil || r.Clean() {
				t.Errorf("without its entry: %v %v", r, err)
			}
			w.Must(db.Raw(func(tx *bolt.Tx) error {
				if err := tx.Bucket([]byte(bucket)).Put(k, v); err != nil {
					return err
				}
				return tx.Bucket([]byte(bucket)).Put(append([]byte{3, 'x', 'y', 'z'}, k[len(k)-8:]...), v)
			}))
			if r, err := db.Verify(t.Context(), nil); err != nil || len(r.Findings) != 1 {
				t.Errorf("with one too many: %v %v", r, err)
			}
			w.Must(db.Close(t.Context()))
		})
	}
}

// The deposits and credits of a client or a login are found without walking past those of all others.
func TestListOfOneClient_DoesNotWalkTheOthers(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) { o.Strict, o.UnsafeNoSync = false, true })
	w.Register(2001, "client-2")
	w.Register(1001, "client-1")
	const code, others = "0123456789012345678901", 2500
	wish := w.Wish(code, 2001, "client-2", 500)
	rules := w.Rules
	rules.Now = w.Clock.Now()
	_, err := db.MakeDeposit(t.Context(), wish, rules)
	w.Must(err)
	w.Accept(w.Event(storetest.Paid("pay", "", code, 500)))
	var wg sync.WaitGroup
	for part := range 50 {
		wg.Go(func() {
			for i := range others / 50 {
				w.Deposit(storetest.Code(part*1000+i), 1001, 500)
			}
		})
	}
	wg.Wait()
	for name, q := range map[string]credit.DepositQuery{"client": {Client: "client-2"}, "login": {Server: storetest.Server, Login: 2001}} {
		q.Now = w.Clock.Now()
		p, err := db.Deposits(t.Context(), q)
		if w.Must(err); len(p.Items) != 1 || p.Next != nil {
			t.Errorf("%s: %d deposits, more %v", name, len(p.Items), p.Next != nil)
		}
		rows, err := db.Credits(t.Context(), credit.CreditQuery{Client: q.Client, Server: q.Server, Login: q.Login})
		if w.Must(err); len(rows.Items) != 1 || rows.Next != nil {
			t.Errorf("%s: %d credits, more %v", name, len(rows.Items), rows.Next != nil)
		}
	}
	w.Must(db.Close(t.Context()))
}
