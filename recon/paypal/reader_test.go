package paypal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/recon"
	"creditonce/recon/paypal"
	"creditonce/recon/readertest"
)

const (
	reportHead  = `"RH",2026/03/08 03:10:00 -0700,"A","BROKERID00001",009,` + "\n"
	fileHead    = `"FH",01` + "\n"
	sectionHead = `"SH",2026/03/07 00:00:00 -0800,2026/03/07 23:59:59 -0800,"BROKERID00001",""` + "\n"
	columns     = `"CH","Transaction ID","Invoice ID","PayPal Reference ID","PayPal Reference ID Type","Transaction Event Code",` +
		`"Transaction Initiation Date","Transaction Completion Date","Transaction Debit or Credit","Gross Transaction Amount",` +
		`"Gross Transaction Currency","Fee Debit or Credit","Fee Amount","Fee Currency","Custom Field","Consumer ID"` + "\n"
)

// sb is one row of a section.
type sb struct {
	id, invoice, ref, refType, code, side, gross, currency string
	feeSide, fee, custom                                   string
}

func (r sb) String() string {
	feeIn := ""
	if r.fee != "" {
		feeIn = r.currency
	}
	return fmt.Sprintf(`"SB","%s","%s","%s","%s","%s",2026/03/07 23:30:05 -0800,2026/03/07 23:31:06 -0800,"%s",%s,"%s","%s",%s,"%s","%s","PAYER"`,
		r.id, r.invoice, r.ref, r.refType, r.code, r.side, r.gross, r.currency, r.feeSide, r.fee, feeIn, r.custom) + "\n"
}

var (
	sale     = sb{"CAP01", "inv-1", "B-AGREEMENT", "PAP", "T0006", "CR", "25000", "EUR", "DR", "310", "code-1"}
	sale2    = sb{"CAP02", "code-2", "", "", "T0003", "CR", "5000", "EUR", "DR", "25", ""}
	refund   = sb{"REF01", "inv-1", "CAP01", "TXN", "T1107", "DR", "2000", "EUR", "CR", "30", "code-1"}
	taken    = sb{"CHB01", "", "CAP00", "TXN", "T1201", "DR", "10000", "EUR", "", "", ""}
	takenFee = sb{"CHF01", "", "CHB01", "TXN", "T0106", "DR", "1600", "EUR", "", "", ""}
	withdraw = sb{"WDR01", "", "", "", "T0400", "DR", "15000", "EUR", "", "", ""}
	yen      = sb{"CAP03", "", "", "", "T0006", "CR", "100000", "JPY", "DR", "3600", "code-3"}
	fromYen  = sb{"CNV01", "", "CAP03", "TXN", "T0200", "DR", "96400", "JPY", "", "", ""}
	toEuro   = sb{"CNV02", "", "CAP03", "TXN", "T0200", "CR", "590", "EUR", "", "", ""}
)

func good() []sb {
	return []sb{sale, sale2, refund, taken, takenFee, withdraw, yen, fromYen, toEuro}
}

const footers = `"SF","EUR",30590,28600,335,30,"CR",10,"CR",2000,"CR",2000,"CR",2000,"CR",0,"CR",0,1` + "\n" +
	`"SF","JPY",100000,96400,3600,0,"CR",0,"CR",0,"CR",0,"CR",0,"CR",0,"CR",0,2` + "\n" + `"SC",9` + "\n"

func reportFoot() string {
	return strings.ReplaceAll(strings.ReplaceAll(footers, "SF", "RF"), "SC", "RC")
}

func body(rows []sb) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.String())
	}
	return b.String()
}

func whole() string {
	return reportHead + fileHead + sectionHead + columns + body(good()) + footers + reportFoot() + `"FF",9` + "\n"
}

func options() recon.ReadOptions {
	return recon.ReadOptions{Provider: recon.Provider{Label: "wallet", Kind: "standard", Account: "BROKERID00001"}, Name: "STL-20260307.A.009.CSV"}
}

func read(t *testing.T, text string, o recon.ReadOptions) (recon.Statement, []recon.Line, error) {
	t.Helper()
	return readertest.Read(t, paypal.NewReader(o), text)
}

func mustRead(t *testing.T, text string) (recon.Statement, []recon.Line) {
	t.Helper()
	return readertest.Whole(t, paypal.NewReader(options()), text)
}

func facts(l recon.Line) string {
	return fmt.Sprintf("%d %s %s pay=%s mov=%s code=%s gross=%s fee=%s net=%s", l.Row, l.Type, l.Word, l.Payment, l.Movement, l.Code, l.Gross, l.Fee, l.Net)
}

func TestWholeReportAgreesWithItsFooters(t *testing.T) {
	t.Parallel()
	s, lines := mustRead(t, "\ufeff"+whole())
	want := []string{
		"5 payment T0006 pay=CAP01 mov=CAP01 code=code-1 gross=250.00 EUR fee=-3.10 EUR net=246.90 EUR",
		"6 payment T0003 pay=CAP02 mov=CAP02 code=code-2 gross=50.00 EUR fee=-0.25 EUR net=49.75 EUR",
		"7 refund T1107 pay=CAP01 mov=REF01 code=code-1 gross=-20.00 EUR fee=0.30 EUR net=-19.70 EUR",
		"8 chargeback T1201 pay=CAP00 mov=CHB01 code= gross=-100.00 EUR fee=no amount net=-100.00 EUR",
		"9 fee T0106 pay= mov=CHF01 code= gross=no amount fee=-16.00 EUR net=-16.00 EUR",
		"10 payout T0400 pay= mov=WDR01 code= gross=no amount fee=no amount net=-150.00 EUR",
		"11 payment T0006 pay=CAP03 mov=CAP03 code=code-3 gross=1000.00 JPY fee=-36.00 JPY net=964.00 JPY",
		"12 conversion T0200 pay= mov=CNV01 code= gross=no amount fee=no amount net=-964.00 JPY",
		"13 conversion T0200 pay= mov=CNV02 code= gross=no amount fee=no amount net=5.90 EUR",
	}
	for i, l := range lines {
		if i >= len(want) || facts(l) != want[i] {
			t.Errorf("line %d: %s", i, facts(l))
		}
		if l.At.Format(time.RFC3339) != "2026-03-08T07:30:05Z" || l.SettledAt.Format(time.RFC3339) != "2026-03-08T07:31:06Z" || l.Batch != "" {
			t.Errorf("line %d: at %v, settled %v, batch %q", i, l.At, l.SettledAt, l.Batch)
		}
	}
	if len(lines) != len(want) || s.Rows != len(want) || len(s.Totals) != 16 || len(s.Problems) != 0 || s.Incomplete != "" {
		t.Errorf("%d lines, %d totals, problems %+v, incomplete %q", len(lines), len(s.Totals), s.Problems, s.Incomplete)
	}
	for _, total := range s.Totals {
		if !total.Agrees() {
			t.Errorf("%s: %s, %s", total.Name, total.Stated, total.Summed)
		}
	}
	if s.From.Format(time.RFC3339) != "2026-03-07T08:00:00Z" || s.Until.Format(time.RFC3339) != "2026-03-08T08:00:00Z" {
		t.Errorf("covers %v to %v", s.From, s.Until)
	}
}

func TestFooterMayLeaveWithdrawalsOutAndFeesMayStandInEitherOrder(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{{"28600", "13600"}, {"335,30", "30,335"}} {
		s, _ := mustRead(t, strings.ReplaceAll(whole(), change[0], change[1]))
		if len(s.Problems) != 0 {
			t.Errorf("%s for %s: %+v", change[1], change[0], s.Problems)
		}
	}
}

func TestFooterThatDisagreesIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, says string }{
		"gross credits": {`"SF","EUR",30590`, `"SF","EUR",30591`, "section 1, EUR gross credits: the file states 305.91 EUR, its rows sum up to 305.90 EUR"},
		"gross debits":  {`"SF","EUR",30590,28600`, `"SF","EUR",30590,28601`, "gross debits"},
		"fees":          {`28600,335,30,"CR",10,"CR",2000,"CR",2000,"CR",2000,"CR",0,"CR",0,1` + "\n" + `"SF"`, `28600,335,31,"CR",10,"CR",2000,"CR",2000,"CR",2000,"CR",0,"CR",0,1` + "\n" + `"SF"`, "fee credits"},
		"section count": {`"SC",9`, `"SC",10`, "the section's count (SC) says 10, there are 9"},
		"report total":  {`"RF","JPY",100000`, `"RF","JPY",100001`, "report, JPY gross credits"},
		"report count":  {`"RC",9`, `"RC",8`, "the report's count (RC) says 8"},
		"file count":    {`"FF",9`, `"FF",4`, "the file's count (FF) says 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(whole(), c.from, c.to, 1)
			if text == whole() {
				t.Fatal("nothing was changed")
			}
			s, _ := mustRead(t, text)
			if !slices.ContainsFunc(s.Problems, func(p recon.Problem) bool { return strings.Contains(p.Text, c.says) }) {
				t.Errorf("nobody is asked: %+v", s.Problems)
			}
		})
	}
}

func TestRowsThatContradictThemselvesCountNowhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  sb
		says string
	}{
		"a sale that takes money":    {sb{"X", "", "", "", "T0006", "DR", "100", "EUR", "", "", ""}, "other direction"},
		"a refund that gives money":  {sb{"X", "", "C", "TXN", "T1107", "CR", "100", "EUR", "", "", ""}, "other direction"},
		"a refund of nothing":        {sb{"X", "", "", "", "T1107", "DR", "100", "EUR", "", "", ""}, "no transaction"},
		"a refund of an order":       {sb{"X", "", "O-1", "ODR", "T1107", "DR", "100", "EUR", "", "", ""}, "no transaction"},
		"a code that nobody knows":   {sb{"X", "", "", "", "T9999", "CR", "100", "EUR", "", "", ""}, "not known"},
		"a code that is written low": {sb{"X", "", "", "", "t0006", "CR", "100", "EUR", "", "", ""}, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, lines := mustRead(t, sectionHead+columns+c.row.String())
			if lines[0].Type != recon.LineUnknown || lines[0].Word != c.row.code || !readertest.Asks(s, 3, c.says) {
				t.Errorf("%s, %+v", facts(lines[0]), s.Problems)
			}
		})
	}
}

func TestFirmAnswersForUnknownCodes(t *testing.T) {
	t.Parallel()
	o := options()
	o.RowTypes = map[string]recon.LineType{"T0002": recon.LinePayment, "T0006": recon.LineFee}
	sub := sale
	sub.code = "T0002"
	_, lines, err := read(t, sectionHead+columns+sub.String()+sale.String(), o)
	if err != nil || lines[0].Type != recon.LinePayment || lines[0].Payment != "CAP01" || lines[1].Type != recon.LinePayment {
		t.Errorf("%v, %v", lines, err)
	}
}

func TestAnswerThatComesLaterMakesAPaymentOfTheStoredLine(t *testing.T) {
	t.Parallel()
	sub := sale
	sub.code = "T0002"
	_, lines := mustRead(t, sectionHead+columns+sub.String())
	later := lines[0]
	later.Type = recon.LinePayment
	later.Shape()
	if lines[0].Type != recon.LineUnknown || later.Payment != "CAP01" || later.Gross.String() != "250.00 EUR" {
		t.Error(facts(later))
	}
}

func TestPendingRowsCountNowhere(t *testing.T) {
	t.Parallel()
	head := strings.Replace(columns, `"Consumer ID"`, `"Transactional Status"`, 1)
	for status, want := range map[string]recon.LineType{"S": recon.LinePayment, "": recon.LinePayment, "P": recon.LineUnknown, "D": recon.LineUnknown} {
		_, lines := mustRead(t, sectionHead+head+strings.Replace(sale.String(), "PAYER", status, 1))
		if lines[0].Type != want {
			t.Errorf("status %q: %s", status, lines[0].Type)
		}
	}
}

func TestEverySectionIsSummedByItself(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(sectionHead, "03/07", "03/08") + columns + sale2.String() + `"SF","EUR",5000,0,25,0` + "\n" + `"SC",1` + "\n"
	s, _ := mustRead(t, sectionHead+columns+body(good())+footers+second+`"RF","EUR",35590,28600,360,30`+"\n"+`"RC",10`+"\n")
	if len(s.Problems) != 0 || len(s.Totals) != 16 || s.Until.Format(time.RFC3339) != "2026-03-09T08:00:00Z" {
		t.Errorf("%+v until %v", s.Problems, s.Until)
	}
}

func TestReportInSeveralFiles(t *testing.T) {
	t.Parallel()
	first := reportHead + fileHead + sectionHead + columns + body(good()) + footers + `"FF",9` + "\n"
	s, _ := mustRead(t, first)
	if s.Incomplete != "" || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "goes on in another file") {
		t.Errorf("the first file: %q, %+v", s.Incomplete, s.Problems)
	}
	last := `"FH",02` + "\n" + sectionHead + columns + sale.String() + `"SF","EUR",25000,0,310,0` + "\n" +
		`"RF","EUR",99999,1,2,3` + "\n" + `"RC",5000` + "\n" + `"FF",1` + "\n"
	s, _ = mustRead(t, last)
	if s.Incomplete != "" || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "are not compared") || len(s.Totals) != 4 {
		t.Errorf("the last file: %q, %+v", s.Incomplete, s.Problems)
	}
}

func TestDayWithoutRowsIsWhole(t *testing.T) {
	t.Parallel()
	s, lines := mustRead(t, reportHead+fileHead+sectionHead+columns+`"SC",0`+"\n"+`"RC",0`+"\n"+`"FF",0`+"\n")
	if len(lines) != 0 || s.Incomplete != "" || len(s.Problems) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestBadFileIsRefusedWhole(t *testing.T) {
	t.Parallel()
	with := func(change func(*sb)) string {
		r := sale
		change(&r)
		return sectionHead + columns + sale2.String() + r.String() + footers
	}
	for name, c := range map[string]struct {
		text, says string
		row        int
	}{
		"empty":                   {"", "is empty", 0},
		"activity download":       {"\"Date\",\"Time\",\"Gross\"\n", "no record of a settlement report", 1},
		"another delimiter":       {strings.ReplaceAll(sectionHead, ",", "\t"), "another delimiter", 1},
		"no section":              {reportHead + fileHead, "no section", 0},
		"another merchant":        {strings.ReplaceAll(whole(), "BROKERID00001", "OTHERID000001"), "another merchant account than BROKERID00001", 1},
		"another section's":       {whole()[:strings.Index(whole(), `"RF"`)] + strings.ReplaceAll(sectionHead, "BROKER", "OTHER"), "another merchant account", 17},
		"no merchant":             {`"SH",2026/03/07 00:00:00 -0800,2026/03/07 23:59:59 -0800` + "\n", "names no merchant", 1},
		"rows without a section":  {body(good()), "before its section's header", 1},
		"rows without columns":    {sectionHead + body(good()), "before its section's header", 2},
		"rows behind the footer":  {sectionHead + columns + body(good()) + footers + sale.String(), "behind its section's footer", 15},
		"footer without section":  {footers, "outside a section", 1},
		"footer twice":            {sectionHead + columns + body(good()) + strings.Split(footers, "\n")[0] + "\n" + footers, "second footer", 13},
		"footer cut":              {sectionHead + columns + body(good()) + `"SF","EUR",30590` + "\n", "has 3 fields", 12},
		"columns twice":           {sectionHead + columns + columns, "twice", 3},
		"column left out":         {sectionHead + strings.Replace(columns, "Fee Amount", "Fee", 1), `no column "Fee Amount"`, 2},
		"column doubled":          {sectionHead + strings.Replace(columns, "Custom Field", "Invoice ID", 1), "two columns", 2},
		"short row":               {sectionHead + columns + `"SB","X"` + "\n", "2 fields", 3},
		"two files in one":        {whole() + whole(), "behind the file's footer", 21},
		"point in an amount":      {with(func(r *sb) { r.gross = "250.00" }), "whole number of hundredths", 4},
		"minus in an amount":      {with(func(r *sb) { r.gross = "-25000" }), "whole number of hundredths", 4},
		"no amount":               {with(func(r *sb) { r.gross = "" }), "whole number of hundredths", 4},
		"no side":                 {with(func(r *sb) { r.side = "" }), "neither CR nor DR", 4},
		"fee without a side":      {with(func(r *sb) { r.feeSide = "" }), "neither CR nor DR", 4},
		"currency in low letters": {with(func(r *sb) { r.currency = "eur" }), "hundredths with a currency", 4},
		"no transaction":          {with(func(r *sb) { r.id = "" }), "Transaction ID", 4},
		"fee in another currency": {strings.Replace(sectionHead+columns+sale.String(), `310,"EUR"`, `310,"USD"`, 1), "fee in another currency", 3},
		"bad time":                {strings.Replace(sectionHead+columns+sale.String(), "23:30:05 -0800", "23:30:05", 1), "Transaction Initiation Date", 3},
		"count is a word":         {sectionHead + columns + `"SC",many` + "\n", "is no number", 3},
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
	readertest.ReturnsErrorsAsTheyAre(t, paypal.NewReader(options()), whole())
}

// Any single cut of a good file is refused or says that it may not be whole.
func TestCutFileNeverLooksWhole(t *testing.T) {
	t.Parallel()
	text := whole()
	for at := range len(text) {
		s, lines, err := read(t, text[:at], options())
		if err == nil && (s.Incomplete == "" || len(s.Problems) == 0) {
			t.Errorf("cut behind byte %d of %d: %d lines that look whole", at, len(text), len(lines))
		}
	}
}

// Without the headers of report and file only the section's footers tell: a cut behind them loses no row, and any other is seen.
func TestCutSectionNeverLooksWhole(t *testing.T) {
	t.Parallel()
	text := sectionHead + columns + body(good()) + footers
	rest := len(text) - len(`"SC",9`+"\n")
	for at := range rest {
		s, _, err := read(t, text[:at], options())
		if err == nil && (s.Incomplete == "" || len(s.Problems) == 0) {
			t.Errorf("cut behind byte %d of %d looks whole", at, len(text))
		}
	}
}

func TestMissingOrDoubledRowNeverLooksWhole(t *testing.T) {
	t.Parallel()
	for i := range good() {
		for name, rows := range map[string][]sb{"left out": slices.Delete(good(), i, i+1), "doubled": slices.Insert(good(), i, good()[i])} {
			s, _ := mustRead(t, sectionHead+columns+body(rows)+footers)
			if len(s.Problems) == 0 {
				t.Errorf("row %d %s: nobody is asked", i, name)
			}
		}
	}
}

func FuzzReadSettlementReport(f *testing.F) {
	f.Add(whole())
	f.Add(sectionHead + columns + sale.String() + `"SF","EUR",25000,0,310,0` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, lines, _ := read(t, text, options())
		for _, l := range lines {
			if l.Row < 3 || l.Movement == "" || l.Net.Exponent() != 2 {
				t.Fatalf("line without its facts: %+v", l)
			}
		}
	})
}
