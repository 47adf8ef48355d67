package checkout_test

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/checkout"
	"creditonce/recon/readertest"
)

const breakdownHeader = "Client Entity ID,Client Entity Name,Processing Channel ID,Processing Channel Name,Type,Payment ID,Reference,Processed On,Available On," +
	"Holding Currency,Payout ID,Gross In Holding Currency,Deduction In Holding Currency,Net In Holding Currency,Processing Fee In Holding Currency," +
	"Scheme Fee In Holding Currency,Interchange In Holding Currency,Tax In Holding Currency,Reserve In Holding Currency,Processing Currency," +
	"Gross In Processing Currency,FX Rate Applied,Payment Method\n"

// The rows sum up to 138.304.
const breakdown = breakdownHeader +
	"ent_own,Firm,pc_1,Main,Charge,pay_a,dep-a-000000000000000001,2026-04-10T22:15:30.250,2026-04-13T00:00:00.000,EUR,PO77,100,-2.35,97.65,-1,-1.35,0,0,0,EUR,100,1,VISA\n" +
	"ent_own,Firm,pc_1,Main,Charge,pay_b,dep-b-000000000000000002,2026-04-11T08:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,92.5,-1.846,90.654,-1.846,0,0,0,0,USD,100,0.925,VISA\n" +
	"ent_own,Firm,pc_1,Main,Charge,pay_c,dep-c-000000000000000003,2026-04-11T09:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,0,-0.2,-0.2,-0.2,0,0,0,0,EUR,0,1,VISA\n" +
	"ent_own,Firm,pc_1,Main,Refund,pay_a,dep-a-000000000000000001,2026-04-11T10:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,-25,-0.3,-25.3,-0.3,0,0,0,0,EUR,-25,1,VISA\n" +
	"ent_own,Firm,pc_1,Main,Chargeback,pay_z,dep-z-000000000000000009,2026-04-11T11:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,-40,-15,-55,-15,0,0,0,0,EUR,-40,1,VISA\n" +
	"ent_own,Firm,pc_1,Main,Chargeback,pay_y,dep-y-000000000000000008,2026-04-11T12:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,33,0,33,0,0,0,0,0,EUR,33,1,VISA\n" +
	"ent_own,Firm,pc_1,Main,Network Token Update,pay_a,,2026-04-11T13:00:00.000,2026-04-11T13:00:00.000,EUR,PO77,0,-0.5,-0.5,-0.5,0,0,0,0,,0,,VISA\n" +
	"ent_own,Firm,pc_1,Main,Merchant Payout,,,2026-04-13T00:00:00.000,2026-04-13T00:00:00.000,EUR,PO77,0,-2,-2,0,0,0,0,0,EUR,0,1,\n"

const payouts = "Client Entity ID,Client Entity Name,Holding Currency,Payout ID,Payout Date,Reporting Start Date,Reporting End Date,Payout Amount,Merchant Payout Fees,Payments\n" +
	"ent_own,Firm,EUR,PO77,2026-04-13T02:00:00.000,2026-04-10T00:00:00.000,2026-04-13T00:00:00.000,138.30,-2,192.5\n"

func options() recon.ReadOptions {
	return recon.ReadOptions{Provider: recon.Provider{Label: "cko", Kind: "standard", Account: "cko-1"}, Name: "april.csv", Merchant: "ent_own"}
}

func read(t *testing.T, text string) (recon.Statement, []recon.Line, error) {
	t.Helper()
	return readertest.Read(t, checkout.NewReader(options()), text)
}

func TestBreakdownTellsMovementsFromCosts(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, breakdown)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind            recon.LineType
		gross, fee, net string
		payment         string
	}{
		{recon.LinePayment, "100.00 EUR", "-2.35 EUR", "97.65 EUR", "pay_a"},
		{recon.LinePayment, "100.00 USD", "-1.846 EUR", "90.654 EUR", "pay_b"},
		{recon.LineFee, "no amount", "-0.20 EUR", "-0.20 EUR", "pay_c"},
		{recon.LineRefund, "-25.00 EUR", "-0.30 EUR", "-25.30 EUR", "pay_a"},
		{recon.LineChargeback, "-40.00 EUR", "-15.00 EUR", "-55.00 EUR", "pay_z"},
		{recon.LineChargebackReversal, "33.00 EUR", "0.00 EUR", "33.00 EUR", "pay_y"},
		{recon.LineFee, "no amount", "-0.50 EUR", "-0.50 EUR", "pay_a"},
		{recon.LineFee, "no amount", "-2.00 EUR", "-2.00 EUR", ""},
	} {
		if i >= len(lines) {
			t.Fatalf("%d lines", len(lines))
		}
		l := lines[i]
		if l.Type != want.kind || l.Gross.String() != want.gross || l.Fee.String() != want.fee || l.Net.String() != want.net || l.Payment != want.payment ||
			l.Batch != "PO77" || l.Row != i+2 {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	if at := time.Date(2026, 4, 10, 22, 15, 30, 250e6, time.UTC); !lines[0].At.Equal(at) || lines[0].Code != "dep-a-000000000000000001" {
		t.Errorf("first line %+v", lines[0])
	}
	if len(lines) != 8 || len(st.Problems) != 0 || len(st.Totals) != 0 || st.Incomplete != "" {
		t.Errorf("%d lines, %+v", len(lines), st)
	}
}

// compared is what the comparison makes of the two reports, imported in an order, with the rows that come again left out.
func compared(t *testing.T, texts ...string) (differences []string, rests []recon.Rest) {
	t.Helper()
	var lines []recon.Line
	seen := map[string]bool{}
	for _, text := range texts {
		st, got, err := read(t, text)
		if err != nil || len(st.Problems) != 0 {
			t.Fatalf("err %v, %+v", err, st)
		}
		for _, l := range got {
			if !seen[l.NaturalKey()] {
				lines = append(lines, l)
			}
			seen[l.NaturalKey()] = true
		}
	}
	two, err := credit.Minor(2, "EUR", 2)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC)
	rules := recon.Rules{From: day, Until: day.AddDate(0, 0, 7), Read: day.AddDate(0, 0, 8), Rounding: map[string]credit.Amount{"EUR": two}}
	out, err := recon.Compare(t.Context(), t.TempDir(), rules, each(lines), each[recon.Row](nil), each[recon.Deal](nil), func(i recon.Item) error {
		if i.Key.Class == recon.PayoutDifference {
			differences = append(differences, i.Why)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return differences, out.Rests
}

func each[T any](of []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range of {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func TestThePairIsOneListInEitherOrderAndTwice(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		"payouts first":   {payouts, breakdown},
		"breakdown first": {breakdown, payouts},
		"breakdown twice": {payouts, breakdown, breakdown},
		"payouts twice":   {breakdown, payouts, payouts},
		"all twice":       {breakdown, payouts, breakdown, payouts},
	} {
		differences, rests := compared(t, texts...)
		if len(differences) != 0 || len(rests) != 1 || rests[0].Payouts != 1 || rests[0].Amount.String() != "-0.004 EUR" {
			t.Errorf("%s: %q, rests %+v", name, differences, rests)
		}
	}
}

func TestPayoutThatIsNotTheSumOfItsLinesIsADifference(t *testing.T) {
	t.Parallel()
	differences, rests := compared(t, strings.Replace(payouts, "138.30", "140.30", 1), breakdown)
	if len(differences) != 1 || !strings.Contains(differences[0], "the payout is 140.30 EUR, the 8 lines of its batch sum up to 138.304 EUR") || len(rests) != 0 {
		t.Errorf("%q, rests %+v", differences, rests)
	}
}

func TestPayoutsReportSaysWhatItCovers(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, payouts)
	if err != nil || len(lines) != 1 || len(st.Totals) != 0 {
		t.Fatalf("err %v, %d lines, %+v", err, len(lines), st)
	}
	if !st.From.Equal(time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC)) || !st.Until.Equal(time.Date(2026, 4, 13, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("covers %s to %s", st.From, st.Until)
	}
	if l := lines[0]; l.Type != recon.LinePayout || l.Net.String() != "-138.30 EUR" || l.Batch != "PO77" || l.Gross.IsSet() {
		t.Errorf("line %+v", l)
	}
}

func TestRowsThatNobodyCanPlaceAreKeptAndAsked(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"a new type":                {",Refund,", ",Instant Refund,"},
		"a refund that brings":      {"-25,-0.3,-25.3,-0.3,0,0,0,0,EUR,-25", "25,-0.3,24.7,-0.3,0,0,0,0,EUR,25"},
		"a payout row with a gross": {"PO77,0,-2,-2,0,0,0,0,0,EUR,0", "PO77,-10,-2,-12,0,0,0,0,0,EUR,-10"},
	} {
		st, lines, err := read(t, strings.Replace(breakdown, edit[0], edit[1], 1))
		unknown := slices.ContainsFunc(lines, func(l recon.Line) bool { return l.Type == recon.LineUnknown })
		if err != nil || !unknown || len(st.Problems) != 1 || len(lines) != 8 {
			t.Errorf("%s: err %v, unknown %v, %+v", name, err, unknown, st.Problems)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"net is not gross and deduction": {breakdown, "97.65", "97.64"},
		"a row of another entity":        {breakdown, "ent_own,Firm,pc_1,Main,Refund", "ent_other,Firm,pc_1,Main,Refund"},
		"another direction when paid":    {breakdown, "USD,100,0.925", "USD,-100,0.925"},
		"a fraction of a cent paid":      {breakdown, "USD,100,0.925", "USD,100.001,0.925"},
		"nine decimals":                  {breakdown, "-1.846,90.654", "-1.846000001,90.653999999"},
		"a renamed column":               {breakdown, "Net In Holding Currency", "Net"},
		"a doubled column":               {breakdown, "Tax In Holding Currency", "Net In Holding Currency"},
		"a decimal comma":                {breakdown, "92.5,", "\"92,5\","},
		"no time":                        {breakdown, "2026-04-11T10:00:00.000,", ","},
		"a currency that nobody knows":   {breakdown, "EUR,PO77,92.5", "EUQ,PO77,92.5"},
		"a payout without an id":         {payouts, "PO77", ""},
		"a payout of another entity":     {payouts, "ent_own", "ent_other"},
		"a payout without an amount":     {payouts, "138.30", ""},
		"a period that ends first":       {payouts, "2026-04-10T00", "2026-04-20T00"},
		"nothing":                        {payouts, payouts, ""},
	} {
		text := strings.Replace(c[0], c[1], c[2], 1)
		_, _, err := read(t, text)
		if got := readertest.Refusal(t, err); got.Name != "april.csv" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatTheCallerReturnsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	readertest.ReturnsErrorsAsTheyAre(t, checkout.NewReader(options()), breakdown)
	readertest.ReturnsErrorsAsTheyAre(t, checkout.NewReader(options()), payouts)
}

// The breakdown has no trailer. A cut inside a row is noticed by the file itself, one between rows by the payout.
func TestNoCutIsSilent(t *testing.T) {
	t.Parallel()
	for at := range len(breakdown) {
		st, lines, err := read(t, breakdown[:at])
		switch inside := at > 0 && breakdown[at-1] != '\n'; {
		case err != nil || len(lines) == 0:
		case inside && len(st.Problems) == 0:
			t.Fatalf("cut at byte %d: %d lines and nothing is said", at, len(lines))
		case !inside && len(lines) < 8:
			if differences, _ := compared(t, payouts, breakdown[:at]); len(differences) != 1 {
				t.Fatalf("cut at byte %d: %d lines and nothing is said: %q", at, len(lines), differences)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(breakdown)
	f.Add(payouts)
	f.Add("\xef\xbb\xbf" + breakdown)
	f.Fuzz(func(t *testing.T, text string) {
		_, lines, _ := read(t, text)
		if most := strings.Count(text, "\n") + strings.Count(text, "\r") + 1; len(lines) > most {
			t.Fatalf("%d lines of at most %d rows", len(lines), most)
		}
		for _, l := range lines {
			if l.Type == recon.LineRounding {
				t.Fatalf("line %+v", l)
			}
		}
	})
}
