package recon_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/adyen"
	"creditonce/recon/checkout"
	"creditonce/recon/dlocal"
	"creditonce/recon/paypal"
)

// sample is what a file made by others must read as: everything that it states about itself, and how much of that its rows agree with. The
// files are cut down to a few rows by whoever made them, so some state sums of rows that are not there: that must be noticed.
type sample struct {
	reader     func(recon.ReadOptions) recon.Reader
	refused    string   // what the message must say; the file is no settlement
	lines      int      // rows that became lines
	agree      []string // stated totals that the rows sum up to: "name: amount"
	differ     []string // stated totals that they do not: "name: stated, summed"
	incomplete bool     // rows may be missing, and the statement says so
	unknown    int      // rows that nobody can place
}

func newAdyen(o recon.ReadOptions) recon.Reader  { return adyen.NewReader(o) }
func newPayPal(o recon.ReadOptions) recon.Reader { return paypal.NewReader(o) }
func newDLocal(o recon.ReadOptions) recon.Reader { return dlocal.NewReader(o) }

func newCheckout(o recon.ReadOptions) recon.Reader { return checkout.NewReader(o) }

var samples = map[string]sample{
	"adyen-payments_accounting_report_nyce.csv": {reader: newAdyen, refused: "settlement details report"},
	"adyen-settlement_detail_report_donation.csv": {
		reader: newAdyen, lines: 2, agree: []string{"payout of batch 2: 0.76 USD"},
	},
	"adyen-settlement_detail_report_refund.csv": {
		reader: newAdyen, lines: 3, differ: []string{"payout of batch 3: 4.03 USD, -2.80 USD"},
	},
	"adyen-settlement_detail_report_chargeback.csv": {
		reader: newAdyen, lines: 3, differ: []string{"payout of batch 3: 4.03 USD, -4.80 USD"},
	},
	"adyen-settlement_detail_report_emptynetcredit.csv":     {reader: newAdyen, lines: 1}, // a debt: no payout belongs to it
	"adyen-settlement_detail_report_deposit_correction.csv": {reader: newAdyen, lines: 2},
	// One states the payout, the other has its rows: see the pair.
	"checkout-settlement-breakdown.csv": {reader: newCheckout, lines: 9},
	"checkout-payouts.csv":              {reader: newCheckout, lines: 1},
	// Its totals are a payout line, and the rest of its net a line of its own.
	"dlocal-settlement.csv": {
		reader: newDLocal, lines: 1 + 6 + 1,
		agree: []string{"gross of transfer 642926: 259.70 USD", "fees of transfer 642926: -80.22 USD", "payout of transfer 642926: 179.49 USD"},
	},
	"paypal-stl.csv": {
		reader: newPayPal, lines: 5,
		agree: []string{
			"section 1, GBP gross credits: 8.34 GBP", "section 1, GBP gross debits: 1.34 GBP",
			"section 1, GBP fee debits: 0.87 GBP", "section 1, GBP fee credits: 0.47 GBP",
			"section 1, AUD gross credits: 57.35 AUD", "section 1, AUD gross debits: 0.00 AUD", "section 1, AUD fee debits: 3.00 AUD",
			"report, GBP gross credits: 8.34 GBP", "report, GBP gross debits: 1.34 GBP",
			"report, GBP fee debits: 0.87 GBP", "report, GBP fee credits: 0.47 GBP",
			"report, AUD gross credits: 57.35 AUD", "report, AUD gross debits: 0.00 AUD", "report, AUD fee debits: 3.00 AUD",
		},
		differ: []string{"section 1, AUD fee credits: 6.00 AUD, 0.00 AUD", "report, AUD fee credits: 6.00 AUD, 0.00 AUD"},
	},
	"paypal-stl_brl_refund.csv":          {reader: newPayPal, lines: 3, incomplete: true},
	"paypal-stl_chargeback_with_fee.csv": {reader: newPayPal, lines: 2, incomplete: true},
}

// The pair of Checkout.com is one list: its payout and its lines differ by a cent, which is booked as a rounding rest and is nothing else.
func TestSamplePair_BooksItsRestToTheCent(t *testing.T) {
	t.Parallel()
	p := recon.Provider{Label: "cko", Kind: "standard", Account: "ent_testcheckoutfixture"}
	var lines []recon.Line
	for _, path := range sampleFiles(t) {
		if !strings.HasPrefix(filepath.Base(path), "checkout-") {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = checkout.NewReader(recon.ReadOptions{Provider: p, Name: path, Location: time.UTC}).
			Read(t.Context(), file, func(l recon.Line) error { lines = append(lines, l); return nil })
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	cents := func(n int64) credit.Amount {
		a, err := credit.Minor(n, "USD", 2)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	rules := recon.Rules{
		From: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), Read: time.Date(2026, 8, 2, 0, 0, 0, 0, time.UTC),
		Rounding: map[string]credit.Amount{"USD": cents(2)},
	}
	out, err := recon.Compare(t.Context(), t.TempDir(), rules, listed(lines), listed[recon.Row](nil), listed[recon.Deal](nil), func(recon.Item) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 9+1 || out.Classes[recon.PayoutDifference] != 0 || len(out.Rests) != 1 || out.Rests[0].Payouts != 1 || !out.Rests[0].Amount.Equal(cents(1)) {
		t.Errorf("%d lines, %v, rests %+v", len(lines), out.Classes, out.Rests)
	}
}

func listed[T any](of []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range of {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// sampleFiles lists the files, or says why there are none.
func sampleFiles(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("CREDITONCE_SAMPLES")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("CREDITONCE_SAMPLES is not set: it names the directory with settlement files made by others")
		}
		t.Skip("CREDITONCE_SAMPLES is not set: it names the directory with settlement files made by others")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("CREDITONCE_SAMPLES=%s has no *.csv (%v)", dir, err)
	}
	return files
}

func TestSampleFilesReadAsTheyStateThemselves(t *testing.T) {
	t.Parallel()
	for _, path := range sampleFiles(t) {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := samples[name]
			if !known {
				t.Fatalf("nothing is known of this file: say in samples what it states")
			}
			readSample(t, path, want)
		})
	}
}

func readSample(t *testing.T, path string, want sample) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	reader := want.reader(recon.ReadOptions{Name: filepath.Base(path), Location: time.UTC})
	var lines []recon.Line
	s, err := reader.Read(context.Background(), file, func(l recon.Line) error {
		lines = append(lines, l)
		return nil
	})
	if want.refused != "" {
		var refused *recon.FileError
		if !errors.As(err, &refused) || !strings.Contains(refused.Text, want.refused) || len(lines) > 0 {
			t.Fatalf("%v and %d lines; want it refused before its first line, with %q", err, len(lines), want.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != want.lines || s.Rows != want.lines {
		t.Errorf("%d lines, %d counted; want %d", len(lines), s.Rows, want.lines)
	}
	checkTotals(t, s, want)
	checkSigns(t, lines, want.unknown)
	if (s.Incomplete != "") != want.incomplete {
		t.Errorf("incomplete: %q; want %v", s.Incomplete, want.incomplete)
	}
}

func checkTotals(t *testing.T, s recon.Statement, want sample) {
	t.Helper()
	var agree, differ []string
	for _, total := range s.Totals {
		if total.Agrees() {
			agree = append(agree, total.Name+": "+total.Stated.String())
			continue
		}
		differ = append(differ, total.Name+": "+total.Stated.String()+", "+total.Summed.String())
		if !slices.ContainsFunc(s.Problems, func(p recon.Problem) bool {
			return strings.Contains(p.Text, total.Name) && strings.Contains(p.Text, total.Stated.String())
		}) {
			t.Errorf("no problem names %s", total.Name)
		}
	}
	slices.Sort(agree)
	slices.Sort(differ)
	if w := slices.Sorted(slices.Values(want.agree)); !slices.Equal(agree, w) {
		t.Errorf("totals that agree:\n%s\nwant\n%s", strings.Join(agree, "\n"), strings.Join(w, "\n"))
	}
	if w := slices.Sorted(slices.Values(want.differ)); !slices.Equal(differ, w) {
		t.Errorf("totals that do not agree:\n%s\nwant\n%s", strings.Join(differ, "\n"), strings.Join(w, "\n"))
	}
}

// checkSigns holds what is true of every line of every provider.
func checkSigns(t *testing.T, lines []recon.Line, unknown int) {
	t.Helper()
	for _, l := range lines {
		switch l.Type {
		case recon.LinePayment:
			if l.Gross.Sign() < 0 || l.Payment == "" {
				t.Errorf("line %d: a payment of %s, id %q", l.Row, l.Gross, l.Payment)
			}
		case recon.LineRefund, recon.LineChargeback:
			if l.Gross.Sign() > 0 || l.Payment == "" || l.Movement == "" {
				t.Errorf("line %d: %s of %s, payment %q, movement %q", l.Row, l.Type, l.Gross, l.Payment, l.Movement)
			}
		case recon.LineUnknown:
			unknown--
		default: // of the other types neither sign nor id is certain
		}
		if l.Row < 2 || l.At.IsZero() || l.At.Location() != time.UTC || !l.Net.IsSet() {
			t.Errorf("line %d: at %v, net %s", l.Row, l.At, l.Net)
		}
		if l.Gross.IsSet() && l.Gross.Currency() == l.Net.Currency() {
			sum, err := l.Gross.Add(l.Fee)
			if err != nil || !sum.Equal(l.Net) {
				t.Errorf("line %d: gross %s with fee %s is not net %s", l.Row, l.Gross, l.Fee, l.Net)
			}
		}
		checkNothingPersonal(t, l)
	}
	if unknown != 0 {
		t.Errorf("%d unknown lines too few", unknown)
	}
}

func checkNothingPersonal(t *testing.T, l recon.Line) {
	t.Helper()
	for _, text := range []string{l.Word, l.Payment, l.Movement, l.Code, l.Batch} {
		if strings.Contains(text, "@") || strings.Contains(text, "REDACTED") {
			t.Errorf("line %d keeps what is about a person", l.Row)
		}
	}
}
