package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/stripe"
	"creditonce/recon"
	"creditonce/recon/stripe"
	"creditonce/webhook/fakepsp"
)

// day is the UTC day that the tests pull.
var day = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)

// provider is the simulated one, and the client that asks it.
type provider struct {
	t      *testing.T
	fake   *fakepsp.Server
	client *psp.Client
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	const account, key = "acct_own", "rk_test_pull"
	now := func() time.Time { return day.Add(15 * time.Hour) }
	fake, err := fakepsp.Start(t.Context(), fakepsp.Config{
		URL: "https://127.0.0.1:1/webhooks/none", Secrets: []string{"whsec_test"}, Journal: filepath.Join(t.TempDir(), "provider.jsonl"),
		Control: "127.0.0.1:0", Seed: 1, Now: now, API: fakepsp.APIConfig{Listen: "127.0.0.1:0", Keys: []string{key}, Account: account},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	client, err := psp.New(psp.Config{
		URL: "http://" + fake.APIAddr(), Key: func() []byte { return []byte(key) }, Account: account, Now: now,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Spread: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &provider{t, fake, client}
}

func (p *provider) pay(amount int64, currency string) fakepsp.Payment {
	p.t.Helper()
	made, err := p.fake.Pay(fakepsp.PaymentRequest{Code: "dep-alpha-0000000000000001", Amount: amount, Currency: currency, Delivery: fakepsp.Delivery{Lost: true}})
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

func (p *provider) settle(r fakepsp.SettleRequest) []fakepsp.Payout {
	p.t.Helper()
	payouts, err := p.fake.Settle(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return payouts
}

func pull(t *testing.T, api stripe.API, manual bool) (recon.Statement, []recon.Line, error) {
	t.Helper()
	var lines []recon.Line
	st, err := stripe.NewPuller(api, options(), manual).Pull(t.Context(), day, day.AddDate(0, 0, 1), func(l recon.Line) error {
		lines = append(lines, l)
		return nil
	})
	return st, lines, err
}

func TestPull_PayoutsOfTheDayWithAllThatTheyPaid(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	one := p.pay(10_000, "eur")
	for range 120 { // more than a page
		p.pay(1_000, "usd")
	}
	refund, err := p.fake.Refund(fakepsp.RefundRequest{Payment: one.ID, Amount: 4_000, Delivery: fakepsp.Delivery{Lost: true}})
	if err != nil {
		t.Fatal(err)
	}
	payouts := p.settle(fakepsp.SettleRequest{})
	p.pay(77, "usd") // in no payout yet
	p.settle(fakepsp.SettleRequest{Arrival: day.AddDate(0, 0, 1)})
	st, lines, err := pull(t, p.client, false)
	if err != nil || len(st.Problems) != 0 || st.Rows != len(lines) || len(lines) != 2+1+120+1 {
		t.Fatalf("%d lines, %+v, %v", len(lines), st, err)
	}
	if len(st.Totals) != 2 || !st.Totals[0].Agrees() || !st.Totals[1].Agrees() || !st.From.Equal(day) || !st.Until.Equal(day.AddDate(0, 0, 1)) || st.Name != "api" {
		t.Errorf("statement %+v", st)
	}
	byMovement := map[string]recon.Line{}
	for i, l := range lines {
		if l.Row != i+1 || !l.SettledAt.Equal(day) || l.Moment().Before(st.From) || !l.Moment().Before(st.Until) {
			t.Errorf("line %d: row %d, settled %s", i, l.Row, l.SettledAt)
		}
		byMovement[l.Movement] = l
	}
	eur := func(s string) credit.Amount { return amount(t, s, "EUR", 2) }
	charge, back, out := byMovement["txn_"+one.Charge], byMovement["txn_"+refund.ID], byMovement["txn_"+payouts[0].ID]
	if charge.Type != recon.LinePayment || charge.Payment != one.ID || charge.Code != one.Code || !charge.Gross.Equal(eur("100")) || !charge.Fee.Equal(eur("-3.20")) ||
		!charge.Net.Equal(eur("96.80")) || charge.Batch != payouts[0].ID || charge.Word != "charge" || !charge.At.Equal(one.Created) {
		t.Errorf("payment %+v", charge)
	}
	if back.Type != recon.LineRefund || back.Payment != one.ID || !back.Gross.Equal(eur("-40")) || back.Batch != payouts[0].ID {
		t.Errorf("refund %+v", back)
	}
	if out.Type != recon.LinePayout || out.Payment != "" || out.Batch != payouts[0].ID || !out.Net.Equal(eur("-56.80")) || out.Gross.IsSet() {
		t.Errorf("payout %+v", out)
	}
}

func TestPull_TwiceIsTheSameAndAnotherDayIsAnotherStatement(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.pay(10_000, "eur")
	p.settle(fakepsp.SettleRequest{})
	first, lines, err := pull(t, p.client, false)
	if err != nil {
		t.Fatal(err)
	}
	second, again, err := pull(t, p.client, false)
	if err != nil || !reflect.DeepEqual(first, second) || !reflect.DeepEqual(lines, again) || len(first.Digest) != 64 {
		t.Errorf("%v: first %+v %+v, second %+v %+v", err, first, lines, second, again)
	}
	digests := map[string]bool{}
	for i := range 3 { // days without a payout
		st, err := stripe.NewPuller(p.client, options(), false).Pull(t.Context(), day.AddDate(0, 0, i+1), day.AddDate(0, 0, i+2), func(recon.Line) error {
			t.Error("a line")
			return nil
		})
		if err != nil || digests[st.Digest] {
			t.Errorf("day %d: %v, digest again", i, err)
		}
		digests[st.Digest] = true
	}
}

func TestPull_HasTheNaturalKeysOfTheReport(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.pay(10_000, "eur")
	p.settle(fakepsp.SettleRequest{})
	_, pulled, err := pull(t, p.client, false)
	if err != nil {
		t.Fatal(err)
	}
	text, payout := header, p.fake.Payouts()[0]
	for _, l := range pulled {
		gross, effective := l.Gross, payout.Arrival.Format(time.DateTime)
		if !gross.IsSet() {
			gross = l.Net
		}
		text += fmt.Sprintf("%s,%s,%s,eur,%s,%s,%s,%s,x,,%s,%s,%s,,,%s\n", l.Movement, l.At.Format(time.DateTime), effective, gross.Decimal(), l.Fee.Neg().Decimal(),
			l.Net.Decimal(), l.Word, l.Payment, l.Batch, effective, l.Code)
	}
	_, read, err := read(t, text, options())
	if err != nil || len(read) != len(pulled) {
		t.Fatalf("%d lines of the report, %v", len(read), err)
	}
	for i, l := range pulled {
		if read[i].NaturalKey() != l.NaturalKey() || l.NaturalKey() == "" || recon.OtherFacts(read[i], l) != "" || !read[i].SettledAt.Equal(l.SettledAt) || !read[i].At.Equal(l.At) {
			t.Errorf("line %d: report %+v, pull %+v", i, read[i], l)
		}
	}
}

func TestPull_WhatAPersonMustLookAt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settle  fakepsp.SettleRequest
		faults  fakepsp.APIFaults
		lines   int
		batched bool
		agrees  bool
		says    string
	}{
		"in transit":         {fakepsp.SettleRequest{Status: "in_transit"}, fakepsp.APIFaults{}, 3, true, true, "not there yet"},
		"failed":             {fakepsp.SettleRequest{Status: "failed"}, fakepsp.APIFaults{}, 3, true, true, "did not reach the bank"},
		"by hand":            {fakepsp.SettleRequest{Currency: "eur", Amount: 900}, fakepsp.APIFaults{}, 1, false, true, "by hand"},
		"one is not in it":   {fakepsp.SettleRequest{}, fakepsp.APIFaults{Withheld: 1}, 2, true, false, "missing or doubled"},
		"nothing is in it":   {fakepsp.SettleRequest{}, fakepsp.APIFaults{Withheld: 9}, 1, true, false, "missing or doubled"},
		"nothing is strange": {fakepsp.SettleRequest{}, fakepsp.APIFaults{}, 3, true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.pay(10_000, "eur")
			p.pay(10_001, "eur")
			po := p.settle(c.settle)[0]
			if _, err := fakepsp.NewControl(p.fake.ControlAddr()).SetAPI(t.Context(), c.faults); err != nil {
				t.Fatal(err)
			}
			st, lines, err := pull(t, p.client, false)
			if err != nil || len(lines) != c.lines {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			if (c.says == "") != (len(st.Problems) == 0) || c.says != "" && !strings.Contains(st.Problems[0].Text, c.says) {
				t.Errorf("problems %+v", st.Problems)
			}
			if c.batched != (len(st.Totals) == 1) || c.batched && st.Totals[0].Agrees() != c.agrees {
				t.Errorf("totals %+v", st.Totals)
			}
			payouts := 0
			for _, l := range lines {
				if l.Type == recon.LinePayout {
					payouts++
					if (l.Batch == po.ID) != c.batched || l.Net.Units().Int64() != -po.Amount {
						t.Errorf("payout line %+v", l)
					}
				}
			}
			if payouts != 1 {
				t.Errorf("%d payout lines", payouts)
			}
		})
	}
}

func TestPull_IncompleteIsAnErrorAndSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults fakepsp.APIFaults
		says   string
	}{
		"not listed yet": {fakepsp.APIFaults{Unlisted: true}, "has not listed all"}, "cut": {fakepsp.APIFaults{Cut: 100}, "answer"},
		"down": {fakepsp.APIFaults{Fail: 100}, "does not work"}, "limited": {fakepsp.APIFaults{Limit: 100}, "too many requests"},
		"key revoked": {fakepsp.APIFaults{Revoked: true}, "not valid"}, "twice": {fakepsp.APIFaults{Twice: true}, "listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			for range 120 {
				p.pay(1_000, "eur")
			}
			p.settle(fakepsp.SettleRequest{})
			if _, err := fakepsp.NewControl(p.fake.ControlAddr()).SetAPI(t.Context(), c.faults); err != nil {
				t.Fatal(err)
			}
			st, _, err := pull(t, p.client, false)
			if err == nil || !strings.Contains(err.Error(), c.says) || st.Digest != "" || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%v and %+v", err, st)
			}
		})
	}
}

func TestPull_OfAnAccountWithPayoutsByHand_IsByDayOfCreation(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.pay(10_000, "eur")
	p.settle(fakepsp.SettleRequest{Currency: "eur", Amount: 900})
	st, lines, err := pull(t, p.client, true)
	if err != nil || len(lines) != 2 || len(st.Totals) != 0 || len(st.Problems) != 0 {
		t.Fatalf("%d lines, %+v, %v", len(lines), st, err)
	}
	for _, l := range lines {
		if l.Batch != "" || l.Movement == "" || l.SettledAt.IsZero() {
			t.Errorf("line %+v", l)
		}
	}
}

// listed is an API whose lists are what the test says.
type listed struct {
	payouts      []psp.Payout
	transactions []psp.Transaction
}

func (l listed) Payouts(_ context.Context, _, _ time.Time, page func([]byte), take func(psp.Payout) error) error {
	page([]byte("payouts"))
	for _, p := range l.payouts {
		if err := take(p); err != nil {
			return err
		}
	}
	return nil
}

func (l listed) PayoutTransactions(_ context.Context, _ string, page func([]byte), take func(psp.Transaction) error) error {
	page([]byte("transactions"))
	for _, m := range l.transactions {
		if err := take(m); err != nil {
			return err
		}
	}
	return nil
}

func (l listed) Transactions(ctx context.Context, _, _ time.Time, page func([]byte), take func(psp.Transaction) error) error {
	return l.PayoutTransactions(ctx, "", page, take)
}

func TestPull_GrossIsWhatTheClientPaid(t *testing.T) {
	t.Parallel()
	source := psp.Source{ID: "ch_1", Object: "charge", Charge: "ch_1", Intent: "pi_1", Amount: 12_000, Captured: 12_000, Currency: "JPY"}
	refund := psp.Source{ID: "re_1", Object: "refund", Charge: "ch_1", Amount: 12_000, Currency: "JPY"}
	part := source
	part.Captured = 5_000
	for _, c := range []struct {
		category string
		amount   int64
		source   psp.Source
		gross    string
		payment  string
		problems int
	}{
		{"charge", 7_400, source, "12000 JPY", "pi_1", 0},
		{"refund", -7_400, refund, "-12000 JPY", "ch_1", 0},
		{"charge", 7_400, part, "12000 JPY", "pi_1", 1},
		{"partial_capture_reversal", -4_300, part, "-7000 JPY", "pi_1", 0},
		{"charge", 7_400, psp.Source{ID: "ch_1", Object: "charge", Charge: "ch_1", Amount: 7_400, Captured: 7_400, Currency: "USD"}, "74.00 USD", "ch_1", 0},
	} {
		m := psp.Transaction{ID: "txn_1", Category: c.category, Currency: "USD", Amount: c.amount, Net: c.amount, Created: day, Available: day, Source: c.source}
		st, lines, err := pull(t, listed{transactions: []psp.Transaction{m}}, true)
		if err != nil || len(lines) != 1 || lines[0].Gross.String() != c.gross || lines[0].Payment != c.payment || lines[0].Net.Units().Int64() != c.amount || len(st.Problems) != c.problems {
			t.Errorf("%s: %+v, problems %v, %v; want gross %s", c.category, lines, st.Problems, err, c.gross)
		}
	}
}

func TestPull_WhatCannotBeTiedOrDoubtsTheUnitIsNotTaken(t *testing.T) {
	t.Parallel()
	po := psp.Payout{ID: "po_1", Amount: 100, Currency: "USD", Arrival: day, Automatic: true, Status: psp.PayoutPaid, List: psp.ListCompleted, Transaction: "txn_9"}
	good := psp.Transaction{ID: "txn_1", Category: "fee", Currency: "USD", Amount: 100, Net: 100, Created: day, Available: day}
	change := func(f func(*psp.Payout, *psp.Transaction)) listed {
		p, m := po, good
		f(&p, &m)
		return listed{[]psp.Payout{p}, []psp.Transaction{m}}
	}
	if _, _, err := pull(t, change(func(*psp.Payout, *psp.Transaction) {}), false); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(*psp.Payout, *psp.Transaction){
		"source not shown":   func(_ *psp.Payout, m *psp.Transaction) { m.Category, m.Source.ID = "charge", "ch_1" },
		"another currency":   func(_ *psp.Payout, m *psp.Transaction) { m.Currency = "EUR" },
		"own amount differs": func(_ *psp.Payout, m *psp.Transaction) { m.Category, m.Source.ID = "payout", "po_1" },
		"cents of ISK": func(p *psp.Payout, m *psp.Transaction) {
			p.Currency, m.Currency, m.Category, m.Source.Charge, m.Amount = "ISK", "ISK", "charge", "ch_1", 150
		},
		"list state unknown":   func(p *psp.Payout, _ *psp.Transaction) { p.List = "perhaps" },
		"payout state unknown": func(p *psp.Payout, _ *psp.Transaction) { p.Status = "lost" },
	} {
		if _, lines, err := pull(t, change(f), false); err == nil {
			t.Errorf("%s: taken as %+v", name, lines)
		}
	}
	st, lines, err := pull(t, change(func(_ *psp.Payout, m *psp.Transaction) { m.Category = "climate_order" }), false)
	if err != nil || lines[0].Type != recon.LineUnknown || len(st.Problems) != 1 {
		t.Errorf("an unknown category: %+v, %+v, %v", lines, st.Problems, err)
	}
	st, _, err = pull(t, change(func(_ *psp.Payout, m *psp.Transaction) {
		m.Fees = []psp.Fee{{Type: "stripe_fee", Currency: "USD", Amount: 1}}
	}), false)
	if err != nil || len(st.Problems) != 1 {
		t.Errorf("a fee that is not its parts: %+v, %v", st.Problems, err)
	}
	st, lines, err = pull(t, listed{payouts: []psp.Payout{{ID: "po_2", Amount: -500, Currency: "USD", Arrival: day, Automatic: true, Status: "paid", List: psp.ListCompleted}}}, false)
	if err != nil || len(lines) != 1 || lines[0].Batch != "" || lines[0].Net.String() != "5.00 USD" || lines[0].Movement != "po_2" || len(st.Problems) != 1 || len(st.Totals) != 0 {
		t.Errorf("a payout that took money: %+v, %+v, %v", lines, st, err)
	}
}

func TestPull_EmitFails_IsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	full := errors.New("the store is full")
	p := newProvider(t)
	p.pay(1_000, "eur")
	p.settle(fakepsp.SettleRequest{})
	if _, err := stripe.NewPuller(p.client, options(), false).Pull(t.Context(), day, day.AddDate(0, 0, 1), func(recon.Line) error { return full }); !errors.Is(err, full) || err.Error() != full.Error() {
		t.Errorf("got %v", err)
	}
}

func TestPull_TimesAreWholeSecondsAndHalfOpen(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]time.Time{{day, day}, {day.Add(time.Second), day}, {day.Add(1), day.Add(time.Hour)}, {day, day.Add(time.Hour + 1)}} {
		_, err := stripe.NewPuller(listed{}, options(), false).Pull(t.Context(), c[0], c[1], func(recon.Line) error { return nil })
		if !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%v: %v", c, err)
		}
	}
	// The same day in another zone is the same pull.
	zone := time.FixedZone("", 2*3600)
	a, err := stripe.NewPuller(listed{}, options(), false).Pull(t.Context(), day, day.Add(time.Hour), func(recon.Line) error { return nil })
	b, err2 := stripe.NewPuller(listed{}, options(), false).Pull(t.Context(), day.In(zone), day.Add(time.Hour).In(zone), func(recon.Line) error { return nil })
	if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v (%v), %+v (%v)", a, err, b, err2)
	}
}
