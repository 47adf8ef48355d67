package adyen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/adyen"
	"creditonce/recon/readertest"
)

// header has the report's columns in an order of our own, with some that are not read.
const header = "Company Account,Merchant Account,Batch Number,Type,Psp Reference,Merchant Reference,Modification Reference,Creation Date,TimeZone," +
	"Payment Method,Gross Currency,Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC)," +
	"Commission (NC),Markup (NC),Scheme Fees (NC),Interchange (NC)"

// row is one movement; what is empty stands empty in the file.
type row struct {
	kind, psp, code, mod              string
	grossIn, grossDebit, grossCredit  string
	netIn, netDebit, netCredit        string
	commission, markup, scheme, inter string
	batch, merchant, created, zone    string
}

func (r row) String() string {
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	return strings.Join([]string{
		"Broker", or(r.merchant, "BrokerECOM"), or(r.batch, "77"), r.kind, r.psp, r.code, r.mod, or(r.created, "2026-03-07 21:15:00"), or(r.zone, "PST"),
		"visa", r.grossIn, r.grossDebit, r.grossCredit, "1", or(r.netIn, "EUR"), r.netDebit, r.netCredit, r.commission, r.markup, r.scheme, r.inter,
	}, ",")
}

func report(rows ...row) string {
	lines := []string{header}
	for _, r := range rows {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "\n") + "\n"
}

var (
	settled = row{kind: "Settled", psp: "PSP-A", code: "code-a", mod: "CAP-A", grossIn: "EUR", grossCredit: "250.00", netCredit: "246.90",
		commission: "1.00", markup: "0.60", scheme: "0.50", inter: "1.00"}
	partial = row{kind: "Settled", psp: "PSP-A", code: "code-a", mod: "CAP-B", grossIn: "EUR", grossCredit: "50.00", netCredit: "49.75", markup: "0.25"}
	refund  = row{kind: "Refunded", psp: "PSP-A", code: "code-a", mod: "REF-A", grossIn: "EUR", grossDebit: "20.00", netDebit: "20.30", commission: "0.30"}
	dispute = row{kind: "Chargeback", psp: "PSP-B", code: "code-b", mod: "CHB-B", grossIn: "EUR", grossDebit: "100.00", netDebit: "115.00", commission: "15.00"}
	fee     = row{kind: "Fee", mod: "Transaction Fees March 2026", grossIn: "EUR", netDebit: "4.35"}
	// 246.90 + 49.75 - 20.30 - 115.00 - 4.35
	payout = row{kind: "MerchantPayout", mod: `"TX5550001112XT batch 77, BrokerECOM"`, grossIn: "EUR", netDebit: "157.00"}
)

func good() []row { return []row{settled, partial, refund, dispute, fee, payout} }

func options() recon.ReadOptions {
	return recon.ReadOptions{
		Provider: recon.Provider{Label: "cards", Kind: "standard", Account: "BrokerECOM"}, Name: "settlement_detail_report_batch_77.csv",
	}
}

func read(t *testing.T, text string, o recon.ReadOptions) (recon.Statement, []recon.Line, error) {
	t.Helper()
	return readertest.Read(t, adyen.NewReader(o), text)
}

func mustRead(t *testing.T, text string) (recon.Statement, []recon.Line) {
	t.Helper()
	return readertest.Whole(t, adyen.NewReader(options()), text)
}

// facts is a line in one text, for tables.
func facts(l recon.Line) string {
	return fmt.Sprintf("%d %s %s pay=%s mov=%s code=%s batch=%s gross=%s fee=%s net=%s", l.Row, l.Type, l.Word, l.Payment, l.Movement, l.Code, l.Batch, l.Gross, l.Fee, l.Net)
}

func TestWholeBatchIsItsPayout(t *testing.T) {
	t.Parallel()
	s, lines := mustRead(t, report(good()...))
	want := []string{
		"2 payment Settled pay=PSP-A mov=CAP-A code=code-a batch=77 gross=250.00 EUR fee=-3.10 EUR net=246.90 EUR",
		"3 payment Settled pay=PSP-A mov=CAP-B code=code-a batch=77 gross=50.00 EUR fee=-0.25 EUR net=49.75 EUR",
		"4 refund Refunded pay=PSP-A mov=REF-A code=code-a batch=77 gross=-20.00 EUR fee=-0.30 EUR net=-20.30 EUR",
		"5 chargeback Chargeback pay=PSP-B mov=CHB-B code=code-b batch=77 gross=-100.00 EUR fee=-15.00 EUR net=-115.00 EUR",
		"6 fee Fee pay= mov=Transaction Fees March 2026 -4.35 EUR #1 code= batch=77 gross=no amount fee=-4.35 EUR net=-4.35 EUR",
		"7 payout MerchantPayout pay= mov=TX5550001112XT -157.00 EUR #1 code= batch=77 gross=no amount fee=no amount net=-157.00 EUR",
	}
	for i, l := range lines {
		if i >= len(want) || facts(l) != want[i] {
			t.Errorf("line %d: %s", i, facts(l))
		}
	}
	if len(lines) != len(want) || s.Rows != len(want) || s.Format != "adyen" || s.Provider != options().Provider || len(s.Digest) != 64 {
		t.Errorf("%d lines, statement %+v", len(lines), s)
	}
	if len(s.Totals) != 1 || !s.Totals[0].Agrees() || s.Totals[0].Batch != "77" || s.Totals[0].Row != 7 || s.Totals[0].Stated.String() != "157.00 EUR" {
		t.Errorf("totals %+v", s.Totals)
	}
	if len(s.Problems) != 0 || s.Incomplete != "" {
		t.Errorf("problems %+v, incomplete %q", s.Problems, s.Incomplete)
	}
}

func TestZoneWordIsAFixedOffset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ created, zone, want string }{
		{"2026-03-07 21:15:00", "PST", "2026-03-08T05:15:00Z"},
		{"2026-07-07 21:15:00", "PST", "2026-07-08T05:15:00Z"},
		{"2026-07-07 21:15:00", "PDT", "2026-07-08T04:15:00Z"},
		{"2026-10-25 02:30:00", "CET", "2026-10-25T01:30:00Z"},
		{"2026-10-25 02:30:00", "CEST", "2026-10-25T00:30:00Z"},
	} {
		r := settled
		r.created, r.zone = c.created, c.zone
		_, lines := mustRead(t, report(r))
		if got := lines[0].At.Format(time.RFC3339); got != c.want || !lines[0].SettledAt.IsZero() {
			t.Errorf("%s %s is %s, settled %v; want %s", c.created, c.zone, got, lines[0].SettledAt, c.want)
		}
	}
}

func TestOptionalColumnsAreRead(t *testing.T) {
	t.Parallel()
	text := header + ",Booking Date,Booking Date TimeZone,Payment Fees (NC),ARN,Metadata\n" +
		settled.String() + `,2026-03-09 01:00:00,PDT,3.10,7.4E+022,"{""mail"":""a@b.example""}"` + "\n" +
		partial.String() + ",2026-03-09 01:00:00,PDT,0.26,,\n"
	s, lines := mustRead(t, text)
	if got := lines[0].SettledAt.Format(time.RFC3339); got != "2026-03-09T08:00:00Z" {
		t.Errorf("settled at %s", got)
	}
	if lines[0].Fee.String() != "-3.10 EUR" || lines[1].Fee.String() != "-0.25 EUR" {
		t.Errorf("fees %s, %s", lines[0].Fee, lines[1].Fee)
	}
	if !slices.ContainsFunc(s.Problems, func(p recon.Problem) bool { return p.Row == 3 && strings.Contains(p.Text, "0.26") }) {
		t.Errorf("nobody hears that the fees contradict each other: %+v", s.Problems)
	}
}

func TestPaymentFeesAloneAreTheFee(t *testing.T) {
	t.Parallel()
	small := row{kind: "Settled", psp: "PSP-S", mod: "CAP-S", grossIn: "INR", grossCredit: "12", netIn: "USD", netDebit: "0.04"} // fees above the amount
	s, lines := mustRead(t, header+",Payment Fees (NC)\n"+small.String()+",0.18\n")
	if got := facts(lines[0]); !strings.HasSuffix(got, "gross=12.00 INR fee=-0.18 USD net=-0.04 USD") || lines[0].Type != recon.LinePayment {
		t.Error(got)
	}
	if len(s.Totals) != 0 || s.Incomplete != "" {
		t.Errorf("a debt has no payout: %+v, %q", s.Totals, s.Incomplete)
	}
}

func TestGrossUnderDebitIsJudgedByWhatTheRowDidToTheBalance(t *testing.T) {
	t.Parallel()
	other := settled
	other.grossDebit, other.grossCredit = other.grossCredit, "" // Adyen's own sample has it so
	s, lines := mustRead(t, report(other))
	if lines[0].Type != recon.LinePayment || lines[0].Gross.String() != "250.00 EUR" {
		t.Error(facts(lines[0]))
	}
	against := settled
	against.netDebit, against.netCredit = "246.90", ""
	s, lines = mustRead(t, report(against))
	if lines[0].Type != recon.LineUnknown || len(s.Problems) == 0 {
		t.Errorf("a payment that takes money: %s, %+v", facts(lines[0]), s.Problems)
	}
}

func TestTypesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	in := func(kind string) row { r := settled; r.kind = kind; return r }
	out := func(kind string) row { r := dispute; r.kind = kind; return r }
	account := func(kind string) row { return row{kind: kind, mod: "text", netDebit: "1.00"} }
	for _, c := range []struct {
		row  row
		want recon.LineType
	}{
		{in("RefundedReversed"), recon.LineRefundReversal},
		{in("ChargebackReversed"), recon.LineChargebackReversal},
		{out("SecondChargeback"), recon.LineChargeback},
		{account("InvoiceDeduction"), recon.LineFee},
		{account("InvoiceDeduction (1/2)"), recon.LineFee},
		{account("MiscCosts"), recon.LineFee},
		{account("DepositCorrection"), recon.LineAdjustment},
		{account("BalanceTransfer"), recon.LineReserve},
		{account("ReserveAdjustment"), recon.LineReserve},
		{account("Received"), recon.LineUnknown},
		{account("settled"), recon.LineUnknown},
		{in("Refunded"), recon.LineUnknown},     // takes nothing
		{out("Settled"), recon.LineUnknown},     // gives nothing
		{account("Settled"), recon.LineUnknown}, // no payment
	} {
		s, lines := mustRead(t, report(c.row))
		if lines[0].Type != c.want || lines[0].Word != strings.TrimSuffix(c.row.kind, " (1/2)") {
			t.Errorf("%s: %s", c.row.kind, facts(lines[0]))
		}
		if c.want == recon.LineUnknown && !slices.ContainsFunc(s.Problems, func(p recon.Problem) bool { return p.Row == 2 }) {
			t.Errorf("%s: nobody is asked", c.row.kind)
		}
	}
}

func TestFirmAnswersForUnknownTypes(t *testing.T) {
	t.Parallel()
	o := options()
	o.RowTypes = map[string]recon.LineType{"GrantPayment": recon.LineReserve, "Settled": recon.LineFee}
	s, lines, err := read(t, report(row{kind: "GrantPayment", mod: "x", netCredit: "5.00"}, settled), o)
	if err != nil {
		t.Fatal(err)
	}
	if lines[0].Type != recon.LineReserve || lines[1].Type != recon.LinePayment {
		t.Errorf("%s, %s: the firm names what Adyen's list does not, and changes nothing of it", lines[0].Type, lines[1].Type)
	}
	if slices.ContainsFunc(s.Problems, func(p recon.Problem) bool { return strings.Contains(p.Text, "not known") }) {
		t.Errorf("%+v", s.Problems)
	}
}

func TestTwoEqualCorrectionsAreTwoAndASecondDownloadIsNone(t *testing.T) {
	t.Parallel()
	correction := row{kind: "DepositCorrection", mod: "Deposit Correction", netDebit: "9.00"}
	keys := func(text string) []string {
		_, lines := mustRead(t, text)
		var out []string
		for _, l := range lines {
			out = append(out, l.NaturalKey())
		}
		slices.Sort(out)
		return out
	}
	first := keys(report(settled, correction, correction, fee))
	if n := len(slices.Compact(slices.Clone(first))); n != 4 {
		t.Errorf("4 rows have %d names", n)
	}
	if again := keys(report(correction, fee, settled, correction)); !slices.Equal(first, again) {
		t.Errorf("the same rows in another order have other names:\n%q\n%q", first, again)
	}
}

func TestBadReportIsRefusedWhole(t *testing.T) {
	t.Parallel()
	with := func(change func(*row)) string {
		r := settled
		change(&r)
		return report(partial, r, payout)
	}
	for name, c := range map[string]struct {
		text, says string
		row        int
	}{
		"life cycle of payments": {"Company Account,Merchant Account,Psp Reference,Record Type,Received (PC)\nB,BrokerECOM,P,Received,1\n", "settlement details report", 1},
		"another report":         {"Merchant Account,Date\nBrokerECOM,x\n", `no column`, 1},
		"column left out":        {strings.ReplaceAll(report(settled), "Interchange (NC)", "Interchange"), "Interchange (NC)", 1},
		"another merchant":       {with(func(r *row) { r.merchant = "OtherECOM" }), "another merchant account than BrokerECOM", 3},
		"no merchant":            {strings.Replace(report(settled), "Broker,BrokerECOM", "Broker,", 1), "Merchant Account", 2},
		"unknown zone":           {with(func(r *row) { r.zone = "CST" }), "no zone word", 3},
		"bad time":               {with(func(r *row) { r.created = "2026-03-07" }), "Creation Date", 3},
		"unknown currency":       {with(func(r *row) { r.netIn = "XXQ" }), "no currency of ISO 4217", 3},
		"minus in a column":      {with(func(r *row) { r.netCredit = "-246.90" }), "is negative", 3},
		"negative zero":          {with(func(r *row) { r.netCredit = "-0" }), "negative zero", 3},
		"no net":                 {with(func(r *row) { r.netCredit = "" }), "neither", 3},
		"spreadsheet's number":   {with(func(r *row) { r.grossCredit = "2.5E+2" }), "exponent form", 3},
		"too exact":              {with(func(r *row) { r.grossCredit = "250.001" }), "nothing is rounded", 3},
		"no type":                {with(func(r *row) { r.kind = "" }), `"Type" is empty`, 3},
		"semicolons":             {strings.ReplaceAll(report(settled), ",", ";"), "separated by", 1},
		"empty":                  {"", "is empty", 0},
		"short row":              {report(settled) + "Broker,BrokerECOM,77\n", "3 fields", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(t, c.text, options())
			if got := readertest.Refusal(t, err); got.Row != c.row || !strings.Contains(got.Text, c.says) {
				t.Errorf("%v; want line %d: …%s…", got, c.row, c.says)
			}
		})
	}
}

func TestWhatTheCallerReturnsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	readertest.ReturnsErrorsAsTheyAre(t, adyen.NewReader(options()), report(good()...))
}

func TestPayoutThatIsNotItsBatchIsNamed(t *testing.T) {
	t.Parallel()
	short := slices.Delete(good(), 1, 2)
	s, _ := mustRead(t, report(short...))
	if len(s.Totals) != 1 || s.Totals[0].Agrees() || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "49.75 EUR") || s.Problems[0].Row != 6 {
		t.Errorf("totals %+v, problems %+v", s.Totals, s.Problems)
	}
	s, alone := mustRead(t, report(payout))
	if len(alone) != 1 || len(s.Totals) != 0 || len(s.Problems) != 0 {
		t.Errorf("a payout whose rows are in another file: %+v", s)
	}
	s, _ = mustRead(t, report(settled))
	if s.Incomplete == "" || len(s.Problems) != 1 {
		t.Errorf("a batch with money and no payout: %+v", s)
	}
}

func TestEveryBatchAndCurrencyHasItsOwnPayout(t *testing.T) {
	t.Parallel()
	usd := row{kind: "Settled", psp: "PSP-C", mod: "CAP-C", grossIn: "USD", grossCredit: "10.00", netIn: "USD", netCredit: "10.00"}
	usdOut := row{kind: "MerchantPayout", mod: "TX2XT batch 77", netIn: "USD", netDebit: "10.00"}
	next := settled
	next.batch = "78"
	nextOut := row{kind: "MerchantPayout", mod: "TX3XT batch 78", netDebit: "246.90", batch: "78"}
	s, _ := mustRead(t, report(append(good(), usd, next, usdOut, nextOut)...))
	var got []string
	for _, total := range s.Totals {
		got = append(got, fmt.Sprintf("%s %s %v", total.Batch, total.Stated, total.Agrees()))
	}
	if strings.Join(got, ", ") != "77 157.00 EUR true, 77 10.00 USD true, 78 246.90 EUR true" {
		t.Errorf("%v", got)
	}
}

func TestExponentsAreAdyensThenTheFirms(t *testing.T) {
	t.Parallel()
	chilean := row{kind: "Settled", psp: "P", mod: "C", grossIn: "CLP", grossCredit: "1000.50", netIn: "CLP", netCredit: "1000.50"}
	_, lines := mustRead(t, report(chilean))
	if lines[0].Gross.String() != "1000.50 CLP" {
		t.Errorf("%s", lines[0].Gross)
	}
	o := options()
	o.Exponents = map[string]int{"CLP": 0}
	if _, _, err := read(t, report(chilean), o); !errors.Is(err, credit.ErrInvalid) {
		t.Errorf("the firm's exponent does not count: %v", err)
	}
}

// Any single cut of a good file is refused or says that it may not be whole; never is it a smaller list that looks whole. What can be cut
// without a trace is the end of the last line.
func TestCutFileNeverLooksWhole(t *testing.T) {
	t.Parallel()
	text := report(good()...)
	for at := range len(text) {
		s, lines, err := read(t, text[:at], options())
		if err == nil && s.Incomplete == "" {
			t.Errorf("cut behind byte %d of %d: %d lines that look whole", at, len(text), len(lines))
		}
		if err == nil && len(s.Problems) == 0 {
			t.Errorf("cut behind byte %d: nobody is asked", at)
		}
	}
}

// Leaving any one row out is seen by the sum.
func TestMissingRowNeverLooksWhole(t *testing.T) {
	t.Parallel()
	for i := range good() {
		s, _ := mustRead(t, report(slices.Delete(good(), i, i+1)...))
		if len(s.Problems) == 0 {
			t.Errorf("row %d left out: nobody is asked", i)
		}
	}
}

func FuzzReadSettlementDetails(f *testing.F) {
	f.Add(report(good()...))
	f.Add(report(row{kind: "DepositCorrection", netDebit: "1"}, row{kind: "Nonsense", netCredit: "1"}))
	f.Add(header + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, lines, _ := read(t, text, options())
		for _, l := range lines {
			if l.Row < 2 || l.Word == "" {
				t.Fatalf("line without its facts: %+v", l)
			}
		}
	})
}
