package month

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/adyen"
	"creditonce/recon/checkout"
	"creditonce/recon/dlocal"
	"creditonce/recon/mapped"
	"creditonce/recon/paypal"
	"creditonce/recon/stripe"
)

// chainForm is how the firm's config describes the export of the crypto processor.
var chainForm = mapped.Config{
	Columns:  mapped.Columns{Payment: "parent_id", Movement: "id", Code: "order_id", Batch: "payout_id"},
	Time:     mapped.Time{Columns: []string{"created_at"}, Layout: "YYYY-MM-DDThh:mm:ssZ"},
	Settled:  mapped.Time{Columns: []string{"completed_at"}, Layout: "YYYY-MM-DDThh:mm:ssZ"},
	Currency: mapped.Currency{Column: "currency"},
	Gross:    mapped.Amount{Column: "amount"},
	Fees:     []mapped.Fee{{Column: "fee", Sign: "signed"}},
	Net:      mapped.Amount{Column: "received"},
	Type: mapped.Type{Columns: []string{"type"}, Words: map[string]string{
		"deposit": "payment", "refund": "refund", "service fee": "fee", "withdrawal": "payout",
	}},
	Filters: []mapped.Filter{{Column: "status", Keep: []string{"completed"}, Ignore: []string{"expired"}}},
}

// readerOf makes the reader of a file, as the config of the firm would.
func readerOf(t *testing.T, f File, m *Month) recon.Reader {
	t.Helper()
	o := recon.ReadOptions{Provider: f.Provider, Name: f.Name, Rounding: m.Rules.Rounding}
	switch f.Format {
	case "stripe":
		return stripe.NewReader(o)
	case "adyen":
		return adyen.NewReader(o)
	case "paypal":
		return paypal.NewReader(o)
	case "checkout":
		return checkout.NewReader(o)
	case "dlocal":
		return dlocal.NewReader(o)
	case "mapped":
		o.Exponents = map[string]int{"ETH": 18}
		r, err := mapped.NewReader(o, chainForm)
		if err != nil {
			t.Fatal(err)
		}
		return r
	default:
		t.Fatalf("no reader of %s", f.Format)
		return nil
	}
}

// read reads all files.
func read(t *testing.T, m *Month) []recon.Line {
	t.Helper()
	var out []recon.Line
	for _, f := range m.Files() {
		_, err := readerOf(t, f, m).Read(context.Background(), bytes.NewReader(f.Data), func(l recon.Line) error {
			out = append(out, l)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return out
}

// facts writes down what a line says about money and time, whatever the exponents.
func facts(l recon.Line) string {
	value := func(a credit.Amount) string {
		if a.IsZero() {
			return "0"
		}
		return Exact(a).String() + a.Currency()
	}
	movement, code := l.Movement, l.Code
	if l.Payment == "" || l.Type == recon.LineFee {
		movement, code = "", "" // rows of the account: nothing ties them to a payment
		l.Payment = ""
	}
	if l.Type == recon.LinePayment && l.Provider.Kind == "paypal" {
		movement = l.Payment // a capture is its own movement
	}
	return strings.Join([]string{
		l.Provider.Label, string(l.Type), l.Payment, movement, code, l.Batch, value(l.Gross), value(l.Fee), value(l.Net), fmt.Sprint(moment(&l).Unix()),
	}, " ")
}

// What a provider's file says is what its lines say: each type, payment, movement, code, batch, amount and moment.
func TestReaders_GiveTheLinesOfTheMonth(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		var want, got []string
		for _, l := range m.Lines {
			if l.Type != recon.LineRounding {
				want = append(want, facts(l))
			}
		}
		for _, l := range read(t, m) {
			if l.Type != recon.LineRounding {
				got = append(got, facts(l))
			}
		}
		t.Logf("%d lines written, %d read", len(want), len(got))
		slices.Sort(want)
		slices.Sort(got)
		c := &complaints{}
		for len(want) > 0 || len(got) > 0 {
			switch {
			case len(got) == 0 || len(want) > 0 && want[0] < got[0]:
				c.say("not read", "%s", want[0])
				want = want[1:]
			case len(want) == 0 || got[0] < want[0]:
				c.say("read and not written", "%s", got[0])
				got = got[1:]
			default:
				want, got = want[1:], got[1:]
			}
		}
		c.report(t)
	})
}

// The whole way: the providers' files, their readers, the comparison.
func TestTruth_ThroughTheFiles(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		judge(m, m.Rules, compare(t, m.Rules, read(t, m), m.Rows, m.Deals)).report(t)
	})
}
