package stripe

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"creditonce/internal/psp/ask"
	"creditonce/webhook/fakepsp"
)

// settle pays out all that is not paid out yet.
func (w *world) settle(r fakepsp.SettleRequest) []fakepsp.Payout {
	w.t.Helper()
	payouts, err := w.fake.Settle(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return payouts
}

// moved is every transaction of a payout, or made in the last week, with the pages that told of them.
func (w *world) moved(payout string, take func(Transaction) error) (got []Transaction, pages int, err error) {
	w.t.Helper()
	page := func(body []byte) {
		if pages++; len(body) == 0 {
			w.t.Error("a page is empty")
		}
	}
	each := func(t Transaction) error {
		got = append(got, t)
		if take == nil {
			return nil
		}
		return take(t)
	}
	if payout == "" {
		err = w.client.Transactions(w.t.Context(), start.Add(-7*24*time.Hour), w.clock().Add(time.Second), page, each)
	} else {
		err = w.client.PayoutTransactions(w.t.Context(), payout, page, each)
	}
	return got, pages, err
}

func TestPayoutTransactions_EachOnceAtEveryPageBoundary(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 98, 99, 100, 101, 250} { // and the payout's own
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pay(n)
			po := w.settle(fakepsp.SettleRequest{})[0]
			got, pages, err := w.moved(po.ID, nil)
			if err != nil || len(got) != n+1 || pages != (n+1+99)/100 {
				t.Fatalf("%d transactions on %d pages (%v), want %d", len(got), pages, err, n+1)
			}
			seen, net := map[string]bool{}, int64(0)
			for _, m := range got {
				if seen[m.ID] {
					t.Errorf("%s twice", m.ID)
				}
				seen[m.ID] = true
				net += m.Net
			}
			if net != 0 {
				t.Errorf("payout and transactions sum up to %d", net)
			}
		})
	}
}

func TestTransactions_SayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(1)
	p := w.fake.Payments()[0]
	refund, err := w.fake.Refund(fakepsp.RefundRequest{Payment: p.ID, Amount: 700, Delivery: fakepsp.Delivery{Lost: true}})
	if err != nil {
		t.Fatal(err)
	}
	dispute, err := w.fake.Dispute(fakepsp.DisputeRequest{Payment: p.ID, Amount: 900, Delivery: fakepsp.Delivery{Lost: true}})
	if err != nil {
		t.Fatal(err)
	}
	po := w.settle(fakepsp.SettleRequest{})[0]
	got, _, err := w.moved("", nil)
	if err != nil || len(got) != 4 {
		t.Fatalf("%d transactions, %v", len(got), err)
	}
	want := map[string]Transaction{
		"charge": {Amount: 5000, Fee: 175, Net: 4825, Source: Source{ID: p.Charge, Object: "charge", Intent: p.ID, Charge: p.Charge, Amount: 5000, Captured: 5000}},
		"refund": {Amount: -700, Net: -700, Source: Source{ID: refund.ID, Object: "refund", Intent: p.ID, Charge: p.Charge, Amount: 700}},
		"dispute": {
			Amount: -900, Fee: 1500, Net: -2400, Source: Source{ID: dispute.ID, Object: "dispute", Intent: p.ID, Charge: p.Charge, Amount: 900},
		},
		"payout": {Amount: -1725, Net: -1725, Source: Source{ID: po.ID, Object: "payout"}},
	}
	for _, m := range got {
		x := want[m.Category]
		if m.Amount != x.Amount || m.Fee != x.Fee || m.Net != x.Net || m.Currency != "USD" {
			t.Errorf("%s: %d less %d is %d %s", m.Category, m.Amount, m.Fee, m.Net, m.Currency)
		}
		s := m.Source
		if s.ID != x.Source.ID || s.Object != x.Source.Object || s.Intent != x.Source.Intent || s.Charge != x.Source.Charge || s.Amount != x.Source.Amount || s.Captured != x.Source.Captured {
			t.Errorf("%s is about %+v, want %+v", m.Category, s, x.Source)
		}
		if m.Created.Location() != time.UTC || m.Available.IsZero() || (m.Fee != 0 && (len(m.Fees) != 1 || m.Fees[0].Amount != m.Fee)) {
			t.Errorf("%s: created %s, available %s, fees %v", m.Category, m.Created, m.Available, m.Fees)
		}
		if m.Category == "charge" && s.Metadata[fakepsp.MetadataKey] != "code" {
			t.Errorf("the code is lost: %v", s.Metadata)
		}
	}
}

func TestPayouts_OfTheWindowWithTheirStateAndKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, status := range []string{"paid", "in_transit", "failed"} {
		w.pay(1)
		w.settle(fakepsp.SettleRequest{Arrival: start.AddDate(0, 0, i), Status: status})
		w.pass(time.Minute)
	}
	w.settle(fakepsp.SettleRequest{Currency: "usd", Amount: 5, Arrival: start.AddDate(0, 0, 1)})
	day := start.Truncate(24 * time.Hour)
	var got []Payout
	err := w.client.Payouts(t.Context(), day.AddDate(0, 0, 1), day.AddDate(0, 0, 3), nil, func(p Payout) error {
		got = append(got, p)
		return nil
	})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d payouts, %v", len(got), err)
	}
	if got[0].Automatic || got[0].List != ListNone || got[1].Status != PayoutFailed || got[2].Status != PayoutInTransit || !got[2].Arrival.Equal(day.AddDate(0, 0, 1)) {
		t.Errorf("payouts %+v", got)
	}
	if made := w.fake.Payouts()[1]; got[2].ID != made.ID || got[2].Amount != made.Amount || got[2].Transaction != "txn_"+made.ID || got[2].List != ListCompleted {
		t.Errorf("got %+v, made %+v", got[2], made)
	}
}

func TestTransactions_ArrivingWhilePagingNeitherShiftNorHideOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(150)
	until := w.clock()
	first, seen := true, map[string]bool{}
	err := w.client.Transactions(t.Context(), start, until, nil, func(m Transaction) error {
		if seen[m.ID] = true; first {
			first = false
			w.pay(70)
		}
		return nil
	})
	if err != nil || len(seen) != 150 {
		t.Errorf("%d transactions, %v", len(seen), err)
	}
}

func TestLists_FaultsThatStayEndThemAndShowNoSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults fakepsp.APIFaults
		reason ask.Reason
	}{
		"twice": {fakepsp.APIFaults{Twice: true}, ask.Odd}, "429 for ever": {fakepsp.APIFaults{Limit: 100}, ask.Limited},
		"500 for ever": {fakepsp.APIFaults{Fail: 100}, ask.Unavailable}, "cut for ever": {fakepsp.APIFaults{Cut: 100}, ask.Unavailable},
		"revoked": {fakepsp.APIFaults{Revoked: true}, ask.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pay(150)
			po := w.settle(fakepsp.SettleRequest{})[0]
			w.faults(c.faults)
			_, _, err := w.moved(po.ID, nil)
			f := wantFault(t, err, c.reason)
			for _, secret := range []string{apiKey[:12], "payout=", "127.0.0.1", "expand"} {
				if strings.Contains(f.Error(), secret) {
					t.Errorf("the error shows %q: %s", secret, f)
				}
			}
		})
	}
}

func TestLists_FaultsThatPassAreRepeated(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fakepsp.APIFaults{"429": {Limit: 2}, "500": {Fail: 2}, "half an answer": {Cut: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pay(5)
			po := w.settle(fakepsp.SettleRequest{})[0]
			w.faults(f)
			if got, pages, err := w.moved(po.ID, nil); err != nil || len(got) != 6 || pages != 1 {
				t.Errorf("%d transactions on %d pages, %v", len(got), pages, err)
			}
		})
	}
}

func TestLists_AnotherKeyOrEnvironmentIsNeverTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Account = "acct_another" })
	_, _, err := w.moved("", nil)
	_ = wantFault(t, err, ask.Foreign)
	w = newWorld(t, func(c *Config) { c.Live = true })
	w.pay(1)
	w.settle(fakepsp.SettleRequest{})
	_ = wantFault(t, w.client.Payouts(t.Context(), start.AddDate(0, 0, -1), start.AddDate(0, 0, 1), nil, func(Payout) error { return nil }), ask.Foreign)
}

func TestLists_TakeFails_EndsWithItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(3)
	full := errors.New("the store is full")
	if got, _, err := w.moved("", func(Transaction) error { return full }); !errors.Is(err, full) || len(got) != 1 {
		t.Errorf("%d transactions, %v", len(got), err)
	}
}

func TestEvents_WithoutTypes_AreNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Types = nil })
	_, _, err := w.list(nil)
	_ = wantFault(t, err, ask.Refused)
}

const goodTransaction = `{"id":"txn_1","object":"balance_transaction","amount":1000,"available_on":1796040000,"created":1796036400,"currency":"usd",` +
	`"description":null,"exchange_rate":null,"fee":59,"fee_details":[{"amount":59,"application":null,"currency":"usd","description":"x","type":"stripe_fee"}],` +
	`"net":941,"reporting_category":"charge","source":{"id":"ch_1","object":"charge","amount":1000,"amount_captured":1000,"currency":"usd",` +
	`"metadata":{"a":"b"},"payment_intent":"pi_1"},"status":"available","type":"charge"}`

const goodPayout = `{"id":"po_1","object":"payout","amount":941,"arrival_date":1796040000,"automatic":true,"balance_transaction":"txn_9","created":1796030000,` +
	`"currency":"usd","livemode":false,"reconciliation_status":"completed","status":"paid"}`

func TestAnswers_OfListsThatAreNotAsDocumentedAreNeverComplete(t *testing.T) {
	t.Parallel()
	from, until := time.Unix(1796036400, 0), time.Unix(1796040001, 0)
	transactions := map[string][2]string{ // what is replaced in the good one
		"huge amount":             {`"amount":1000,"available_on"`, `"amount":9223372036854775808,"available_on"`},
		"float amount":            {`"amount":1000,"available_on"`, `"amount":1000.0,"available_on"`},
		"text amount":             {`"amount":1000,"available_on"`, `"amount":"1000","available_on"`},
		"exponent":                {`"amount":1000,"available_on"`, `"amount":1e3,"available_on"`},
		"negative zero":           {`"fee":59`, `"fee":-0`},
		"net is not amount - fee": {`"net":941`, `"net":942`},
		"net by overflow":         {`"amount":1000,"available_on"`, `"amount":-9223372036854775808,"available_on"`},
		"null currency":           {`"currency":"usd","description":null`, `"currency":null,"description":null`},
		"long currency":           {`"currency":"usd","description":null`, `"currency":"usdc","description":null`},
		"no created":              {`"created":1796036400,`, ``},
		"created too early":       {`"created":1796036400`, `"created":1796036399`},
		"created at the end":      {`"created":1796036400`, `"created":1796040001`},
		"available a text":        {`"available_on":1796040000`, `"available_on":"tomorrow"`},
		"no category":             {`"reporting_category":"charge",`, ``},
		"category of blanks":      {`"reporting_category":"charge"`, `"reporting_category":"a charge"`},
		"fees an object":          {`"fee_details":[{`, `"fee_details":[[{`},
		"fee without amount":      {`[{"amount":59,`, `[{`},
		"rate a text":             {`"exchange_rate":null`, `"exchange_rate":"1.1"`},
		"rate negative":           {`"exchange_rate":null`, `"exchange_rate":-1.1`},
		"source a number":         {`"source":{`, `"source":7,"else":{`},
		"source a path":           {`"source":{"id":"ch_1"`, `"source":{"id":"ch_1/../x"`},
		"source twice":            {`"source":{`, `"source":null,"source":{`},
		"intent a path":           {`"payment_intent":"pi_1"`, `"payment_intent":"pi_1?x"`},
		"intent an object":        {`"payment_intent":"pi_1"`, `"payment_intent":{}`},
		"captured missing":        {`"amount_captured":1000,`, ``},
		"metadata of numbers":     {`{"a":"b"}`, `{"a":1}`},
		"metadata a list":         {`{"a":"b"}`, `[]`},
		"id of another kind":      {`"id":"txn_1"`, `"id":"evt_1"`},
		"id a path":               {`"id":"txn_1"`, `"id":"txn_1/x"`},
	}
	for name, change := range transactions {
		t.Run("transaction "+name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(goodTransaction, change[0], change[1], 1)
			if bad == goodTransaction {
				t.Fatal("nothing was replaced")
			}
			client, _ := at(t, list(false, bad))
			_ = wantFault(t, client.Transactions(t.Context(), from, until, nil, func(Transaction) error { return nil }), ask.Odd)
		})
	}
	payouts := map[string][2]string{
		"huge amount": {`"amount":941`, `"amount":99999999999999999999`}, "automatic a text": {`"automatic":true`, `"automatic":"true"`},
		"no list state": {`"reconciliation_status":"completed",`, ``}, "livemode missing": {`"livemode":false,`, ``}, "status null": {`"status":"paid"`, `"status":null`},
		"outside the window": {`"arrival_date":1796040000`, `"arrival_date":1796040001`}, "transaction a path": {`"txn_9"`, `"../txn_9"`},
	}
	for name, change := range payouts {
		t.Run("payout "+name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(goodPayout, change[0], change[1], 1)
			if bad == goodPayout {
				t.Fatal("nothing was replaced")
			}
			client, _ := at(t, list(false, bad))
			_ = wantFault(t, client.Payouts(t.Context(), from, until, nil, func(Payout) error { return nil }), ask.Odd)
		})
	}
	for name, answers := range map[string][]string{
		"an empty page and more": {list(true)}, "the same page for ever": {list(true, goodTransaction)}, "no JSON": {"<html>"}, "no list": {goodTransaction},
		"has_more a text": {`{"object":"list","data":[],"has_more":"false"}`}, "data null": {`{"object":"list","data":null,"has_more":false}`},
		"an element a text": {`{"object":"list","data":["txn_1"],"has_more":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := at(t, answers...)
			_ = wantFault(t, client.Transactions(t.Context(), from, until, nil, func(Transaction) error { return nil }), ask.Odd)
		})
	}
}

func TestAnswers_GoodOnesAreRead(t *testing.T) {
	t.Parallel()
	from, until := time.Unix(1796036400, 0), time.Unix(1796040001, 0)
	unshown := strings.Replace(goodTransaction, `"source":{"id":"ch_1"`, `"exchange_rate_note":null,"source":"ch_1","was":{"id":"ch_1"`, 1)
	rated := strings.NewReplacer(`"id":"txn_1"`, `"id":"txn_2"`, `"exchange_rate":null`, `"exchange_rate":6.1e-05`).Replace(goodTransaction)
	client, seen := at(t, list(false, unshown, rated))
	var got []Transaction
	err := client.Transactions(t.Context(), from, until, nil, func(m Transaction) error {
		got = append(got, m)
		return nil
	})
	if err != nil || len(got) != 2 || got[0].Source.ID != "ch_1" || got[0].Source.Object != "" || got[1].Rate != "6.1e-05" || got[1].Source.Intent != "pi_1" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := url.Values{"created[gte]": {"1796036400"}, "created[lt]": {"1796040001"}, "expand[]": {"data.source"}, "limit": {"100"}}
	if q := (*seen)[0].URL.Query(); q.Encode() != want.Encode() {
		t.Errorf("asked %v", q)
	}
	if err := client.PayoutTransactions(t.Context(), "po_1&limit=1", nil, func(Transaction) error { return nil }); err == nil || len(*seen) != 1 {
		t.Errorf("an id that is no id was asked for (%v)", err)
	}
}

func FuzzReadLists(f *testing.F) {
	for _, seed := range []string{list(false, goodTransaction), list(true, goodPayout), list(false), `{"object":"list"}`, "", "[", `{"data":[{}]}`} {
		f.Add([]byte(seed))
	}
	c := &Client{}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, l := range []listing{{what: "payout", id: payoutForm}, {what: "balance transaction", id: transactionForm}} {
			entries, _, err := l.read(body)
			if err != nil {
				if len(entries) > 0 {
					t.Fatal("entries beside an error")
				}
				continue
			}
			for _, e := range entries {
				if p, err := c.readPayout(e); err == nil && p.Created.Location() != time.UTC {
					t.Fatalf("%+v", p)
				}
				if m, err := readTransaction(e); err == nil && (m.Amount-m.Fee != m.Net || len(m.Currency) != 3) {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}
