package dlocal_test

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/dlocal"
	"creditonce/recon/readertest"
)

const (
	totalsHeader = "ROW_TYPE,SETTLEMENT_CURRENCY,NUMBER_OF_ITEMS,GROSS_TOTAL_AMOUNT,FEE_TOTAL_AMOUNT,NET_TOTAL_AMOUNT,TRANSFER_DATE,TRANSFER_ID,,,,,,,,,,,,,,,,,\n"
	rowsHeader   = "ROW_TYPE,MID,LOGIN,COUNTRY,CREATION_DATE,APPROVED_DATE,TRANSACTION_ID,DLOCAL_TRANSACTION_ID,LOCAL_AMOUNT,LOCAL_CURRENCY,FX_RATE," +
		"GROSS_AMOUNT,FEE_AMOUNT,NET_AMOUNT,PAYMENT_TYPE,PAYMENT_METHOD_CODE,CARD_BIN,CARD_TYPE,INSTALLMENTS,STATUS,STATUS_CODE,STATUS_DETAILS," +
		"USER_DOCUMENT,USER_EMAIL,DESCRIPTION\n"
	payment1 = "PAYMENT,31,kL8,Chile,2026-05-03 23:30:00,2026-05-04 00:10:05,dep-chile-000000000000001,T-31-aa,95000,CLP,950.123456,99.987099,-2.499677,97.487422,CARD,VI,400000,CREDIT,1,PAID,200,Paid,13.555.777-1,someone@example.org,Deposit\n"
	capture  = "CAPTURE,31,kL8,Peru,2026-05-04 10:00:00,2026-05-04 10:00:07,dep-peru-0000000000000002,T-31-ab,190.50,PEN,3.700000,51.486486,-1.287162,50.199324,CARD,MC,500000,DEBIT,1,PAID,200,Paid,44556677,other@example.org,\n"
	refund   = "REFUND,31,kL8,Chile,2026-05-05 08:00:00,2026-05-05 08:00:09,dep-chile-000000000000001,T-31-aa,47500,CLP,950.123456,-49.993549,0,-49.993549,CARD,VI,400000,CREDIT,1,PAID,200,Paid,13.555.777-1,someone@example.org,\n"
	dispute  = "CHARGEBACK,31,kL8,Peru,2026-05-05 09:00:00,,dep-peru-0000000000000002,T-31-ac,20,PEN,3.700000,-5.405405,-15.000000,-20.405405,CARD,MC,500000,DEBIT,1,PAID,200,,44556677,other@example.org,\n"
	note     = "ADJUSTMENT,31,kL8,,2026-05-05 10:00:00,2026-05-05 10:00:00,,7001122,0,,0,-1.25,0,-1.25,DEBIT NOTE,,,,,,,,,,Correction\n"
	fee      = "SETTLEMENT_FEE,31,,,,,,9911,0,,0,0,-12,-12,,,,,,,,,,,\n"
)

// Rows: gross 94.824631, fee -30.786839, net 64.037792; the totals are in cents.
const good = totalsHeader + "HEADER,USD,6,94.82,-30.79,64.04,2026-05-06,9911,,,,,,,,,,,,,,,,,\n" + rowsHeader + payment1 + capture + refund + dispute + note + fee

func options() recon.ReadOptions {
	return recon.ReadOptions{
		Provider: recon.Provider{Label: "latam", Kind: "standard", Account: "latam-1"}, Name: "may.csv", Merchant: "31",
		Location: time.FixedZone("UTC-3", -3*60*60),
	}
}

func read(t *testing.T, text string) (recon.Statement, []recon.Line, error) {
	t.Helper()
	return readertest.Read(t, dlocal.NewReader(options()), text)
}

func TestRowsInMillionthsSumUpToTheTransferWithABookedRest(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind               recon.LineType
		gross, fee, net    string
		payment, code, mov string
		at                 string
	}{
		{recon.LinePayout, "no amount", "no amount", "-64.04 USD", "", "", "9911", "2026-05-06T03:00:00Z"},
		{recon.LinePayment, "95000 CLP", "-2.499677 USD", "97.487422 USD", "T-31-aa", "dep-chile-000000000000001", "T-31-aa 2026-05-04 00:10:05", "2026-05-04T03:10:05Z"},
		{recon.LinePayment, "190.50 PEN", "-1.287162 USD", "50.199324 USD", "T-31-ab", "dep-peru-0000000000000002", "T-31-ab 2026-05-04 10:00:07", "2026-05-04T13:00:07Z"},
		{recon.LineRefund, "-47500 CLP", "0.00 USD", "-49.993549 USD", "T-31-aa", "dep-chile-000000000000001", "T-31-aa 2026-05-05 08:00:09", "2026-05-05T11:00:09Z"},
		{recon.LineChargeback, "-20.00 PEN", "-15.00 USD", "-20.405405 USD", "T-31-ac", "dep-peru-0000000000000002", "T-31-ac 2026-05-05 09:00:00", "2026-05-05T12:00:00Z"},
		{recon.LineAdjustment, "no amount", "0.00 USD", "-1.25 USD", "", "", "7001122", "2026-05-05T13:00:00Z"},
		{recon.LineFee, "no amount", "-12.00 USD", "-12.00 USD", "", "", "9911", "2026-05-06T03:00:00Z"},
		{recon.LineRounding, "no amount", "no amount", "0.002208 USD", "", "", "rounding", "2026-05-06T03:00:00Z"},
	} {
		if i >= len(lines) {
			t.Fatalf("%d lines", len(lines))
		}
		l := lines[i]
		if l.Type != want.kind || l.Gross.String() != want.gross || l.Fee.String() != want.fee || l.Net.String() != want.net || l.Payment != want.payment ||
			l.Code != want.code || l.Movement != want.mov || l.At.Format(time.RFC3339) != want.at || l.Batch != "9911" ||
			l.SettledAt.Format(time.RFC3339) != "2026-05-06T03:00:00Z" {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	if len(lines) != 8 || st.Rows != 8 || len(st.Problems) != 0 || st.Incomplete != "" {
		t.Errorf("%d lines, statement %+v", len(lines), st)
	}
	rests := []string{"-0.004631 USD", "-0.003161 USD", "0.002208 USD"}
	for i, total := range st.Totals {
		if !total.Agrees() || total.Rest.String() != rests[i] || total.Row != 2 {
			t.Errorf("total %d: %+v", i, total)
		}
	}
	if batchNet(t, lines, "9911").Sign() != 0 {
		t.Errorf("the lines of the batch, payout and rest among them, sum up to %s", batchNet(t, lines, "9911"))
	}
}

// batchNet is in millionths.
func batchNet(t *testing.T, lines []recon.Line, batch string) credit.Amount {
	t.Helper()
	var sum credit.Amount
	for _, l := range lines {
		if l.Batch != batch {
			continue
		}
		net, err := credit.ParseAmount(l.Net.Decimal(), l.Net.Currency(), 6)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err = sum.Add(net); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

func TestNothingPersonalIsKept(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Builder{}
	for _, l := range lines {
		text.WriteString(l.Provider.Label + l.Word + l.Payment + l.Movement + l.Code + l.Batch)
	}
	for _, problem := range st.Problems {
		text.WriteString(problem.Text)
	}
	for _, secret := range []string{"13.555.777", "44556677", "example.org", "400000", "500000"} {
		if strings.Contains(text.String(), secret) {
			t.Errorf("%q is kept", secret)
		}
	}
}

func TestSeveralTransfersInOneFile(t *testing.T) {
	t.Parallel()
	second := totalsHeader + "HEADER,EUR,1,51.49,-1.29,50.20,2026-05-07,9912,,,,,,,,,,,,,,,,,\n" + rowsHeader + capture
	st, lines, err := read(t, good+second)
	if err != nil || len(st.Totals) != 6 || len(lines) != 11 || st.Incomplete != "" || lines[9].Net.Currency() != "EUR" || lines[9].Batch != "9912" {
		t.Fatalf("err %v, %d lines, %+v", err, len(lines), st)
	}
}

func TestTotalsThatAreMoreThanARestOff(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, strings.Replace(good, capture, "", 1))
	if err != nil || st.Incomplete == "" || len(st.Problems) != 6 {
		t.Fatalf("err %v, %+v", err, st)
	}
	for _, l := range lines {
		if l.Type == recon.LineRounding {
			t.Errorf("a missing row became a rounding rest: %+v", l)
		}
	}
}

func TestUnknownRowTypeIsKeptAndAsked(t *testing.T) {
	t.Parallel()
	st, lines, err := read(t, strings.Replace(good, "ADJUSTMENT", "LEVY", 1))
	if err != nil || lines[5].Type != recon.LineUnknown || lines[5].Word != "LEVY" || st.Incomplete == "" || len(st.Problems) < 2 || st.Problems[0].Row != 8 {
		t.Fatalf("err %v, %+v", err, st)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"net is not gross and fee":     {"97.487422", "97.497422"},
		"a row of another merchant":    {"CAPTURE,31,", "CAPTURE,32,"},
		"a refund that brings money":   {"-49.993549,0,-49.993549", "49.993549,0,49.993549"},
		"a payment that takes money":   {"51.486486,-1.287162,50.199324", "-51.486486,-1.287162,-52.773648"},
		"seven decimals":               {"-1.287162", "-1.2871621"},
		"a decimal comma":              {",-1.25,0,-1.25,", ",\"-1,25\",0,-1.25,"},
		"pesos with centavos":          {"95000,CLP", "95000.5,CLP"},
		"a currency that nobody knows": {"95000,CLP", "95000,CLQ"},
		"settled in nothing":           {"HEADER,USD", "HEADER,"},
		"no transfer":                  {"2026-05-06,9911", "2026-05-06,"},
		"no totals":                    {"HEADER,USD,6,94.82,-30.79,64.04,2026-05-06,9911,,,,,,,,,,,,,,,,,\n", ""},
		"a renamed column":             {"NET_AMOUNT,P", "NET_AMT,P"},
		"a doubled column":             {"FX_RATE", "MID"},
		"another time":                 {"2026-05-04 10:00:07", "04.05.2026 10:00"},
		"a value behind the totals":    {"9911,,,", "9911,,x,"},
		"only headers":                 {good, totalsHeader},
		"semicolons":                   {good, strings.ReplaceAll(good, ",", ";")},
	} {
		text := strings.Replace(good, edit[0], edit[1], 1)
		if text == good {
			t.Errorf("%s: nothing was changed", name)
		}
		_, _, err := read(t, text)
		if got := readertest.Refusal(t, err); got.Name != "may.csv" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatTheCallerReturnsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	readertest.ReturnsErrorsAsTheyAre(t, dlocal.NewReader(options()), good)
}

// The totals stand first: wherever the file is cut, rows are missing from them, or nothing but a description is.
func TestNoCutIsSilent(t *testing.T) {
	t.Parallel()
	_, whole, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	for at := range len(good) {
		st, lines, err := read(t, good[:at])
		if err == nil && st.Incomplete == "" && len(lines) != len(whole) {
			t.Fatalf("cut at byte %d: %d of %d lines and nothing is said", at, len(lines), len(whole))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(good + good)
	f.Add("\xef\xbb\xbf" + good)
	f.Fuzz(func(t *testing.T, text string) {
		_, lines, _ := read(t, text)
		if most := 2 * (strings.Count(text, "\n") + strings.Count(text, "\r") + 1); len(lines) > most {
			t.Fatalf("%d lines of at most %d", len(lines), most)
		}
		for _, l := range lines {
			if l.Batch == "" {
				t.Fatalf("line %+v", l)
			}
		}
	})
}
