package report

import (
	"iter"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"creditonce/credit"
	"creditonce/recon"
)

func usd(minor int64) credit.Amount { return amount(minor, "USD", 2) }

func amount(minor int64, currency string, exponent int) credit.Amount {
	a, err := credit.Minor(minor, currency, exponent)
	if err != nil {
		panic(err)
	}
	return a
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at.UTC()
}

func each(items ...recon.Item) iter.Seq2[recon.Item, error] {
	return func(yield func(recon.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

var stripe = recon.Provider{Label: "stripe", Kind: "stripe", Account: "acct_1"}

func line(payment string, minor int64, at time.Time) recon.Line {
	return recon.Line{
		Provider: stripe, Digest: strings.Repeat("3fa9", 16), Row: 17, Type: recon.LinePayment, Word: "charge", Payment: payment, Movement: "txn_" + payment,
		Code: "K7Q2M4X9P1T6R8W3Z5Y0A2", Batch: "po_1", Gross: usd(minor), Fee: usd(-minor / 34), Net: usd(minor - minor/34), At: at, SettledAt: at.Add(48 * time.Hour),
	}
}

func row(id credit.ID, payment string, minor int64, state credit.State, at time.Time) recon.Row {
	return recon.Row{
		ID: id, Kind: credit.KindDeposit, Unit: credit.Unit{ProviderKind: "stripe", Account: "acct_1", Payment: payment}, State: state, Provider: "stripe",
		Paid: usd(minor), PaidAt: at, Code: "K7Q2M4X9P1T6R8W3Z5Y0A2", Server: "main", Identity: "ExampleBroker-Live", Login: 500123, Amount: usd(minor),
		Reference: "dep:8QK800AFQN6Y47J371", Ticket: 9007199254740993, UpdatedAt: at.Add(time.Minute),
	}
}

func deal(ticket uint64, minor int64, comment string, at time.Time) recon.Deal {
	return recon.Deal{
		Deal:   credit.Deal{Ticket: ticket, Login: 500123, Action: credit.ActionBalance, Amount: usd(minor), Comment: comment, Dealer: 1001, ServerTime: at.Add(2 * time.Hour).Unix()},
		Server: "main", Identity: "ExampleBroker-Live", At: at,
	}
}

// example is a report on the day on which Berlin's clocks go back, with items of many classes.
func example() Data {
	at := moment("2026-10-25T10:15:00Z")
	reference := "dep:8QK800AFQN6Y47J371"
	items := []recon.Item{
		{
			Key: recon.Key{Class: recon.DuplicateReference, Entity: "credit/17"}, Side: recon.SideMT5, Provider: "stripe", Off: usd(25000), At: at,
			Lines: []recon.Line{line("pi_17", 25000, at)}, Rows: []recon.Row{row(17, "pi_17", 25000, credit.Done, at)},
			Deals: []recon.Deal{deal(9007199254740993, 25000, reference, at.Add(9*time.Second)), deal(9007199254740994, 25000, reference, at.Add(40*time.Second))},
			Why:   "Two deals, 9007199254740993 and 9007199254740994, carry the reference dep:8QK800AFQN6Y47J371: 500.00 USD for a payment of 250.00 USD.",
		},
		{
			Key: recon.Key{Class: recon.WrongAmount, Entity: "credit/21"}, Side: recon.SideMT5, Provider: "stripe", Off: usd(-9000), At: at.Add(time.Hour),
			Lines: []recon.Line{line("pi_21", 100000, at)}, Rows: []recon.Row{row(21, "pi_21", 100000, credit.Done, at)},
			Deals: []recon.Deal{deal(4712, 91000, reference, at.Add(8*time.Second))},
			Why:   "The row says 1,000.00 USD, the deal 910.00 USD.",
		},
		{
			Key: recon.Key{Class: recon.SettledWithoutCredit, Entity: "payment/stripe/acct_1/pi_30"}, Side: recon.SideProvider, Provider: "stripe", Off: usd(7500),
			At: moment("2026-10-25T22:30:00Z"), Lines: []recon.Line{line("pi_30", 7500, moment("2026-10-25T22:30:00Z"))},
			Why: "Settled with 75.00 USD; no credit row has this payment.",
		},
		{
			Key: recon.Key{Class: recon.DealWithoutReference, Entity: "deal/ExampleBroker-Live/4790"}, Side: recon.SideMT5, Off: usd(5000), At: moment("2026-10-21T08:00:00Z"),
			Deals: []recon.Deal{deal(4790, 5000, "welcome bonus", moment("2026-10-21T08:00:00Z"))}, Why: "A balance deal of 50.00 USD by dealer 1001 that no row has.",
		},
		{
			Key: recon.Key{Class: recon.Late, Entity: "credit/9"}, Side: recon.SideProvider, Provider: "paypal", Off: amount(-1000, "EUR", 2), At: moment("2026-10-12T09:00:00Z"),
			Rows: []recon.Row{row(9, "7XH12345", 1000, credit.Done, moment("2026-10-12T09:00:00Z"))}, Why: "Paid 13 days ago, the provider's usual delay is 3 days.",
		},
		{
			Key: recon.Key{Class: recon.Waiting, Entity: "credit/40"}, Side: recon.SideProvider, Provider: "stripe", Off: usd(-12000), At: moment("2026-10-25T23:30:00Z"),
			Rows: []recon.Row{row(40, "pi_40", 12000, credit.Done, moment("2026-10-25T23:30:00Z"))}, Why: "Not settled yet; the provider usually takes 2 days.",
		},
		{
			Key: recon.Key{Class: recon.MatchedWithin, Entity: "credit/41"}, Side: recon.SideProvider, Provider: "paypal", Off: amount(1, "EUR", 2), At: at,
			Rows: []recon.Row{row(41, "7XH999", 1234, credit.Done, at)}, Why: "Settled 12.35 EUR, the row says 12.34 EUR; the tolerance is 0.02 EUR.",
		},
	}
	return Data{Run: exampleRun(), Environment: "live", Items: each(items...), Tasks: func(k recon.Key) (Task, bool) {
		if k.Class != recon.DuplicateReference {
			return Task{}, false
		}
		return Task{ID: 12, State: "open", Opened: moment("2026-10-25T10:20:00Z")}, true
	}}
}

func exampleRun() recon.Run {
	eur := func(minor int64) credit.Amount { return amount(minor, "EUR", 2) }
	move := func(a func(int64) credit.Amount, opening, credited, refunded, chargedBack int64) recon.Movement {
		return recon.Movement{
			Opening: a(opening), Credited: a(credited), Refunded: a(refunded), ChargedBack: a(chargedBack), Withdrawn: a(0), Closing: a(opening + credited - refunded - chargedBack),
		}
	}
	return recon.Run{
		ID: 318, First: "2026-10-25", Last: "2026-10-25", Zone: "Europe/Berlin", From: moment("2026-10-24T22:00:00Z"), Until: moment("2026-10-25T23:00:00Z"),
		State: recon.RunComplete, Findings: 7, Digest: strings.Repeat("0badc0de", 8), Started: moment("2026-10-26T03:00:00Z"), Finished: moment("2026-10-26T03:00:42Z"),
		Version: "1.4.0", By: "schedule",
		Sources: []recon.Source{
			{List: recon.ListSettlements, Name: "paypal", Entity: "paypal", Digest: strings.Repeat("77aa", 16), Rows: 212, Complete: true, Reaches: moment("2026-10-25T23:00:00Z"), Notes: []string{"statement STL-20261025 was issued again; the newer one counts"}},
			{List: recon.ListSettlements, Name: "stripe", Entity: "stripe", Digest: strings.Repeat("3fa9", 16), Rows: 1188, Complete: true, From: moment("2026-09-01T00:00:00Z"), Reaches: moment("2026-10-25T04:30:00Z")},
			{List: recon.ListRows, Name: "store", Digest: strings.Repeat("c0ff", 16), Rows: 1260, Complete: true},
			{List: recon.ListDeals, Name: "main", Entity: "ExampleBroker-Live", Digest: strings.Repeat("d00d", 16), Rows: 1263, Complete: true, From: moment("2026-10-22T22:00:00Z")},
		},
		Earlier: []recon.Earlier{{
			Run: 301, First: "2026-10-24", Last: "2026-10-24", SignedBy: "anna",
			Changes: []recon.Change{
				{
					Provider: "paypal", Currency: "EUR", List: recon.ListSettlements, Before: moment("2026-10-24T22:00:00Z"), Then: eur(100000), Now: eur(120000),
					Because: []string{"STL-20261023.csv (statement 88) came late: that report counted as if it had it"},
				},
				{
					Provider: "stripe", Currency: "USD", List: recon.ListSettlements, Before: moment("2026-10-24T04:30:00Z"), Then: usd(4400000), Now: usd(4410000),
					Because: []string{"api (statement 91) came since"}, Expected: true,
				},
			},
			Carried: []recon.CarriedOver{
				{Provider: "paypal", Currency: "EUR", List: recon.ListSettlements, Closing: eur(100000), Changed: eur(20000), Came: eur(0), Moved: eur(0), Opening: eur(120000)},
				{Provider: "stripe", Currency: "USD", List: recon.ListRows, Closing: usd(4512000), Changed: usd(0), Came: usd(0), Moved: usd(-12000), Opening: usd(4500000)},
			},
		}},
		Outcome: recon.Outcome{
			Rests:   []recon.Rest{{Provider: "paypal", Payouts: 3, Amount: eur(2)}},
			Unasked: []recon.Unasked{{Provider: "stripe", From: moment("2026-09-01T00:00:00Z"), Days: 2, All: 31}},
			Lines:   1400, Rows: 1260, Deals: 1263,
			Classes: map[recon.Class]int{
				recon.Matched: 1240, recon.MatchedWithin: 1, recon.Waiting: 1, recon.Late: 1, recon.DuplicateReference: 1, recon.WrongAmount: 1,
				recon.SettledWithoutCredit: 1, recon.DealWithoutReference: 1,
			},
			Rolls: []recon.Roll{
				{Side: recon.SideMT5, Currency: "USD", Ours: move(usd, 0, 0, 0, 0), Theirs: move(usd, 0, 5000, 0, 0), Listed: usd(5000)},
				{Side: recon.SideMT5, Provider: "paypal", Currency: "EUR", Ours: move(eur, 120000, 823400, 0, 0), Theirs: move(eur, 120000, 823400, 0, 0), Listed: eur(0)},
				{Side: recon.SideMT5, Provider: "stripe", Currency: "USD", Ours: move(usd, 4500000, 38211250, 0, 0), Theirs: move(usd, 4500000, 38227250, 0, 0), Listed: usd(16000)},
				{Side: recon.SideProvider, Provider: "paypal", Currency: "EUR", Ours: move(eur, 120000, 823400, 0, 0), Theirs: move(eur, 120000, 822401, 0, 0), Listed: eur(-999)},
				{Side: recon.SideProvider, Provider: "stripe", Currency: "USD", Ours: move(usd, 4500000, 38211250, 120000, 250000), Theirs: move(usd, 4500000, 38206750, 120000, 250000), Listed: usd(-4500)},
			},
			Counts: []recon.ClassCount{
				{Class: recon.DealWithoutReference, Items: 1},
				{Provider: "paypal", Class: recon.Late, Items: 1}, {Provider: "paypal", Class: recon.MatchedWithin, Items: 1}, {Provider: "paypal", Class: recon.Matched, Items: 210},
				{Provider: "stripe", Class: recon.DuplicateReference, Items: 1}, {Provider: "stripe", Class: recon.WrongAmount, Items: 1},
				{Provider: "stripe", Class: recon.SettledWithoutCredit, Items: 1}, {Provider: "stripe", Class: recon.Waiting, Items: 1}, {Provider: "stripe", Class: recon.Matched, Items: 1030},
			},
			Costs: []recon.Cost{{Provider: "paypal", Amount: eur(-28800)}, {Provider: "stripe", Amount: usd(-1123760)}},
		},
	}
}

// cleanExample is the same run without anything to look at, signed off.
func cleanExample() Data {
	d := example()
	d.Items = nil
	d.Run.Outcome.Classes = map[recon.Class]int{recon.Matched: 1240}
	d.Run.Outcome.Counts = []recon.ClassCount{{Provider: "stripe", Class: recon.Matched, Items: 1240}}
	d.Run.Outcome.Rolls, d.Run.Outcome.Unasked, d.Run.Outcome.Rests, d.Run.Earlier = nil, nil, nil, nil
	d.Run.Sources[1].Reaches = d.Run.Until
	d.Run.SignOff = &recon.SignOff{By: "anna", At: moment("2026-10-26T08:12:00Z"), Note: "compared with the bank"}
	return d
}

func rendered(t *testing.T, render func(w *strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// formats are all renderers by name.
var formats = map[string]func(*strings.Builder, Data) error{
	"html": func(w *strings.Builder, d Data) error { return HTML(w, d) },
	"csv":  func(w *strings.Builder, d Data) error { return CSV(w, d) },
	"rolls.csv": func(w *strings.Builder, d Data) error {
		return CSVRolls(w, d)
	},
	"xlsx": func(w *strings.Builder, d Data) error { return XLSX(w, d) },
	"json": func(w *strings.Builder, d Data) error { return JSON(w, d) },
	"txt":  func(w *strings.Builder, d Data) error { return Text(w, d, 120) },
}
