package stripe_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/readertest"
	"creditonce/recon/stripe"
)

const header = "balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id," +
	"automatic_payout_id,automatic_payout_effective_at_utc,customer_facing_amount,customer_facing_currency,payment_metadata[creditonce_deposit]\n"

// A payout of two payments (one in another currency), a partial capture, a refund, a dispute with its fee, and a fee of the account.
const payoutFile = header +
	"txn_a1,2026-03-02 09:15:00,2026-03-06 00:00:00,eur,120.00,3.78,116.22,charge,ch_a1,ch_a1,pi_a1,po_7,2026-03-09 00:00:00,120.00,eur,dep-alpha-0000000000000001\n" +
	"txn_a2,2026-03-02 23:30:00,2026-03-06 00:00:00,eur,46.00,1.44,44.56,charge,ch_a2,ch_a2,pi_a2,po_7,2026-03-09 00:00:00,50.00,usd,\n" +
	"txn_a3,2026-03-03 08:00:00,2026-03-06 00:00:00,eur,-20.00,0.00,-20.00,partial_capture_reversal,ch_a1,ch_a1,pi_a1,po_7,2026-03-09 00:00:00,,,\n" +
	"txn_a4,2026-03-03 10:00:00,2026-03-06 00:00:00,eur,-46.00,0.00,-46.00,refund,re_a4,ch_a2,pi_a2,po_7,2026-03-09 00:00:00,50.00,usd,\n" +
	"txn_a5,2026-03-03 11:00:00,2026-03-06 00:00:00,eur,-30.00,15.00,-45.00,dispute,dp_a5,ch_a0,,po_7,2026-03-09 00:00:00,,,\n" +
	"txn_a6,2026-03-03 12:00:00,2026-03-06 00:00:00,eur,0.00,2.00,-2.00,fee,,,,po_7,2026-03-09 00:00:00,,,\n" +
	"txn_a7,2026-03-08 01:00:00,2026-03-09 00:00:00,eur,-47.78,0.00,-47.78,payout,po_7,,,po_7,2026-03-09 00:00:00,,,\n"

func options() recon.ReadOptions {
	return recon.ReadOptions{Provider: recon.Provider{Label: "cards", Kind: "stripe", Account: "acct_own"}, Name: "march.csv"}
}

func read(t *testing.T, text string, o recon.ReadOptions) (recon.Statement, []recon.Line, error) {
	t.Helper()
	return readertest.Read(t, stripe.NewReader(o), text)
}

func amount(t *testing.T, text, currency string, exponent int) credit.Amount {
	t.Helper()
	a, err := credit.ParseAmount(text, currency, exponent)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPayoutReportGivesLinesAndThePayoutsOwnTotal(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, payoutFile, options())
	if err != nil {
		t.Fatal(err)
	}
	eur := func(s string) credit.Amount { return amount(t, s, "EUR", 2) }
	want := []struct {
		kind             recon.LineType
		payment          string
		gross            credit.Amount
		fee, net         string
		word, code, move string
	}{
		{recon.LinePayment, "pi_a1", eur("120"), "-3.78", "116.22", "charge", "dep-alpha-0000000000000001", "txn_a1"},
		{recon.LinePayment, "pi_a2", amount(t, "50", "USD", 2), "-1.44", "44.56", "charge", "", "txn_a2"},
		{recon.LinePayment, "pi_a1", eur("-20"), "0", "-20", "partial_capture_reversal", "", "txn_a3"},
		{recon.LineRefund, "pi_a2", amount(t, "-50", "USD", 2), "0", "-46", "refund", "", "txn_a4"},
		{recon.LineChargeback, "ch_a0", eur("-30"), "-15", "-45", "dispute", "", "txn_a5"},
		{recon.LineFee, "", credit.Amount{}, "-2", "-2", "fee", "", "txn_a6"},
		{recon.LinePayout, "", credit.Amount{}, "0", "-47.78", "payout", "", "txn_a7"},
	}
	if len(lines) != len(want) || st.Rows != len(want) {
		t.Fatalf("%d lines, Rows %d, want %d", len(lines), st.Rows, len(want))
	}
	for i, w := range want {
		l := lines[i]
		if l.Type != w.kind || l.Payment != w.payment || l.Gross.IsSet() != w.gross.IsSet() || w.gross.IsSet() && !l.Gross.Equal(w.gross) || !l.Fee.Equal(eur(w.fee)) || !l.Net.Equal(eur(w.net)) ||
			l.Word != w.word || l.Code != w.code || l.Movement != w.move || l.Batch != "po_7" || l.Row != i+2 {
			t.Errorf("line %d: %+v", i, l)
		}
		if !l.SettledAt.Equal(time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("line %d is settled at %s", i, l.SettledAt)
		}
	}
	if at := time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC); !lines[1].At.Equal(at) {
		t.Errorf("the second payment happened at %s, want %s", lines[1].At, at)
	}
	if len(st.Totals) != 1 || st.Totals[0].Batch != "po_7" || !st.Totals[0].Stated.Equal(eur("47.78")) || !st.Totals[0].Agrees() || len(st.Problems) != 0 {
		t.Errorf("totals %+v, problems %+v", st.Totals, st.Problems)
	}
	if len(st.Digest) != 64 || st.Format != "stripe" {
		t.Errorf("statement %+v", st)
	}
}

func TestPayoutThatIsNotTheSumOfItsLinesIsAProblem(t *testing.T) {
	t.Parallel()
	short := strings.Replace(payoutFile, strings.SplitAfter(payoutFile, "\n")[2], "", 1)
	st, _, err := read(t, short, options())
	if err != nil || len(st.Totals) != 1 || st.Totals[0].Agrees() || len(st.Problems) != 1 {
		t.Fatalf("err %v, totals %+v, problems %+v", err, st.Totals, st.Problems)
	}
}

func TestPayoutWithItsLinesElsewhereStatesNoTotal(t *testing.T) {
	t.Parallel()
	rows := strings.SplitAfter(payoutFile, "\n")
	st, lines, err := read(t, header+rows[7], options())
	if err != nil || len(lines) != 1 || len(st.Totals) != 0 || len(st.Problems) != 0 {
		t.Fatalf("err %v, lines %d, totals %+v, problems %+v", err, len(lines), st.Totals, st.Problems)
	}
}

func TestUnknownCategoryIsKeptAndAsked(t *testing.T) {
	t.Parallel()
	text := strings.Replace(payoutFile, ",fee,,", ",climate_order_purchase,,", 1)
	st, lines, err := read(t, text, options())
	if err != nil || lines[5].Type != recon.LineUnknown || lines[5].Word != "climate_order_purchase" || len(st.Problems) != 2 {
		t.Fatalf("err %v, problems %+v", err, st.Problems)
	}
	o := options()
	o.RowTypes = map[string]recon.LineType{"climate_order_purchase": recon.LineAdjustment, "charge": recon.LineFee}
	st, lines, err = read(t, text, o)
	if err != nil || lines[5].Type != recon.LineAdjustment || len(st.Problems) != 0 || !st.Totals[0].Agrees() {
		t.Fatalf("with the firm's answer: err %v, %+v, problems %+v", err, lines[5], st.Problems)
	}
	if lines[0].Type != recon.LinePayment {
		t.Error("the firm's answer changed a word that the reader knows")
	}
}

func TestStripesExponentsHoldInReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		currency, gross string
		want            string // "" : refused
	}{
		"yen":                      {"jpy", "1200", "1200 JPY"},
		"yen with empty decimals":  {"jpy", "1200.00", "1200 JPY"},
		"yen with decimals":        {"jpy", "1200.50", ""},
		"dinar":                    {"kwd", "12.340", "12.340 KWD"},
		"krona":                    {"isk", "500", "500.00 ISK"},
		"krona with hundredths":    {"isk", "500.50", ""},
		"upper case":               {"EUR", "1.00", "1.00 EUR"},
		"decimal comma":            {"eur", `"1,00"`, ""},
		"thousands":                {"eur", `"1,234.00"`, ""},
		"exponent form":            {"eur", "1e3", ""},
		"negative zero":            {"eur", "-0.00", ""},
		"no currency":              {"", "1.00", ""},
		"currency of four letters": {"usdt", "1.00", ""},
	} {
		net := c.gross
		text := header + "txn_1,2026-03-02 09:15:00,2026-03-06 00:00:00," + c.currency + "," + c.gross + ",0," + net + ",charge,ch_1,ch_1,pi_1,,,,,\n"
		_, lines, err := read(t, text, options())
		if c.want == "" {
			if fault := readertest.Refusal(t, err); fault.Row != 2 {
				t.Errorf("%s: err %v, want a FileError of line 2", name, err)
			}
			continue
		}
		if err != nil || lines[0].Gross.String() != c.want {
			t.Errorf("%s: err %v, lines %+v", name, err, lines)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(string) string{
		"net is not gross less fee": func(s string) string { return strings.Replace(s, "116.22", "116.23", 1) },
		"no payment_intent_id":      func(s string) string { return strings.Replace(s, ",payment_intent_id,", ",intent,", 1) },
		"two net columns":           func(s string) string { return strings.Replace(s, "source_id", "net", 1) },
		"semicolons":                func(s string) string { return strings.ReplaceAll(s, ",", ";") },
		"no movement":               func(s string) string { return strings.Replace(s, "txn_a2", "", 1) },
		"a time with a slash":       func(s string) string { return strings.Replace(s, "2026-03-02 09", "02/03/2026 09", 1) },
		"a short row":               func(s string) string { return strings.Replace(s, "po_7,2026-03-09 00:00:00,,,\n", "po_7\n", 1) },
		"empty":                     func(string) string { return "" },
	} {
		_, _, err := read(t, edit(payoutFile), options())
		if fault := readertest.Refusal(t, err); fault.Name != "march.csv" {
			t.Errorf("%s: err %v, want a FileError of march.csv", name, err)
		}
	}
}

func TestRowOfAnotherAccountRefusesTheFile(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSuffix(payoutFile, "\n"), "\n")
	own, other := rows[0]+",connected_account_id\n", rows[0]+",connected_account_id\n"
	for i, row := range rows[1:] {
		own += row + ",acct_own\n"
		if i == 3 {
			other += row + ",acct_other\n"
		} else {
			other += row + ",acct_own\n"
		}
	}
	if _, _, err := read(t, own, options()); err != nil {
		t.Errorf("own rows: %v", err)
	}
	_, _, err := read(t, other, options())
	if fault := readertest.Refusal(t, err); fault.Row != 5 {
		t.Errorf("a row of another account: %v", err)
	}
}

func TestWhatTheCallerReturnsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	readertest.ReturnsErrorsAsTheyAre(t, stripe.NewReader(options()), payoutFile)
}

// A report states its payout at the end, so wherever it is cut inside a row the reader says so, and behind a row the total is missing.
func TestNoCutIsSilent(t *testing.T) {
	t.Parallel()
	for at := len(header); at < len(payoutFile); at++ {
		st, _, err := read(t, payoutFile[:at], options())
		if err == nil && len(st.Problems) == 0 && len(st.Totals) != 0 {
			t.Fatalf("cut at byte %d: nothing is said", at)
		}
		if err == nil && len(st.Problems) == 0 && payoutFile[at-1] != '\n' {
			t.Fatalf("cut inside a row at byte %d: nothing is said", at)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(payoutFile)
	f.Add(header)
	f.Add(strings.ReplaceAll(payoutFile, ",", ";"))
	f.Add("\xef\xbb\xbf" + payoutFile)
	f.Fuzz(func(t *testing.T, text string) {
		_, lines, _ := read(t, text, options())
		if most := strings.Count(text, "\n") + strings.Count(text, "\r") + 1; len(lines) > most {
			t.Fatalf("%d lines of at most %d rows", len(lines), most)
		}
		for _, l := range lines {
			if !slices.Contains(lineTypes, l.Type) {
				t.Fatalf("line %+v", l)
			}
		}
	})
}

var lineTypes = []recon.LineType{
	recon.LinePayment, recon.LineRefund, recon.LineRefundReversal, recon.LineChargeback, recon.LineChargebackReversal, recon.LineFee,
	recon.LineReserve, recon.LineAdjustment, recon.LinePayout, recon.LineUnknown,
}
