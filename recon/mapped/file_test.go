package mapped_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/mapped"
	"creditonce/recon/readertest"
)

func options() recon.ReadOptions {
	return recon.ReadOptions{Provider: recon.Provider{Label: "cashier", Kind: "standard", Account: "M-1"}, Name: "export.csv"}
}

func read(t *testing.T, o recon.ReadOptions, c mapped.Config, text string) (recon.Statement, []recon.Line, error) {
	t.Helper()
	reader, err := mapped.NewReader(o, c)
	if err != nil {
		t.Fatal(err)
	}
	return readertest.Read(t, reader, text)
}

// plain is a config of the smallest kind: one signed column.
func plain() mapped.Config {
	return mapped.Config{
		Columns:  mapped.Columns{Payment: "id"},
		Time:     mapped.Time{Columns: []string{"at"}, Layout: "YYYY-MM-DD hh:mm:ss"},
		Currency: mapped.Currency{Column: "currency"},
		Gross:    mapped.Amount{Column: "amount"},
		Type:     mapped.Type{Columns: []string{"type"}, Words: map[string]string{"in": "payment", "back": "refund", "fix": "adjustment", "out": "payout"}},
	}
}

const plainFile = "id,at,type,currency,amount,status\n" +
	"p1,2026-01-05 10:00:00,in,USD,100.00,ok\n" +
	"p2,2026-01-05 11:00:00,in,USD,50.00,ok\n" +
	"p1,2026-01-06 10:00:00,back,USD,-25.00,ok\n"

func TestSignsSayWhoseSideTheMoneyIsOn(t *testing.T) {
	t.Parallel()
	row := func(kind, amount, way string) string {
		return "id,at,type,currency,amount,way\np1,2026-01-05 10:00:00," + kind + ",USD," + amount + "," + way + "\n"
	}
	directed := mapped.Amount{Column: "amount", Sign: "direction", Direction: "way", In: []string{"CR"}, Out: []string{"DR"}}
	for name, c := range map[string]struct {
		gross mapped.Amount
		text  string
		want  string // "": refused
	}{
		"signed":                        {mapped.Amount{Column: "amount"}, row("back", "-5.00", ""), "-5.00 USD"},
		"reversed":                      {mapped.Amount{Column: "amount", Sign: "reversed"}, row("back", "5.00", ""), "-5.00 USD"},
		"the type":                      {mapped.Amount{Column: "amount", Sign: "type"}, row("back", "5.00", ""), "-5.00 USD"},
		"the type, in":                  {mapped.Amount{Column: "amount", Sign: "type"}, row("in", "5.00", ""), "5.00 USD"},
		"the type, with a sign after":   {mapped.Amount{Column: "amount", Sign: "type"}, row("back", "-5.00", ""), ""},
		"a direction":                   {directed, row("back", "5.00", "DR"), "-5.00 USD"},
		"a direction, in":               {directed, row("in", "5.00", "CR"), "5.00 USD"},
		"a direction that nobody named": {directed, row("in", "5.00", "XX"), ""},
		"a direction and a sign":        {directed, row("back", "-5.00", "DR"), ""},
	} {
		config := plain()
		config.Gross = c.gross
		delete(config.Type.Words, "fix")
		_, lines, err := read(t, options(), config, c.text)
		if c.want == "" {
			if fault := readertest.Refusal(t, err); fault.Row != 2 {
				t.Errorf("%s: err %v, want a FileError of line 2", name, err)
			}
			continue
		}
		if err != nil || lines[0].Gross.String() != c.want || lines[0].Net.String() != c.want {
			t.Errorf("%s: err %v, lines %+v", name, err, lines)
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ unit, currency, amount, want string }{
		"major":                    {"", "USD", "12.50", "12.50 USD"},
		"major yen":                {"major", "JPY", "1250", "1250 JPY"},
		"minor":                    {"minor", "USD", "1250", "12.50 USD"},
		"minor dinar":              {"minor", "KWD", "1250", "1.250 KWD"},
		"minor with decimals":      {"minor", "USD", "12.5", ""},
		"hundredths of yen":        {"hundredths", "JPY", "125000", "1250.00 JPY"},
		"more decimals than cents": {"major", "USD", "12.505", ""},
		"unknown currency":         {"major", "ZZZ", "1.00", ""},
		"lower case":               {"major", "usd", "1.00", "1.00 USD"},
		"exponent form":            {"major", "USD", "1e2", ""},
		"negative zero":            {"major", "USD", "-0.00", ""},
		"a comma":                  {"major", "USD", "\"1,00\"", ""},
	} {
		config := plain()
		config.Unit = c.unit
		text := "id,at,type,currency,amount\np1,2026-01-05 10:00:00,in," + c.currency + "," + c.amount + "\n"
		_, lines, err := read(t, options(), config, text)
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

func TestTimesFollowTheirLayoutAndZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ layout, zone, text, want string }{
		"without a zone it is UTC":  {"YYYY-MM-DD hh:mm:ss", "", "2026-03-29 01:30:00", "2026-03-29T01:30:00Z"},
		"summer":                    {"DD/MM/YYYY hh:mm", "Europe/Berlin", "29/03/2026 03:30", "2026-03-29T01:30:00Z"},
		"an hour that is left out":  {"DD/MM/YYYY hh:mm", "Europe/Berlin", "29/03/2026 02:30", ""},
		"an hour that comes twice":  {"DD/MM/YYYY hh:mm", "Europe/Berlin", "25/10/2026 02:30", "2026-10-25T00:30:00Z"},
		"its own offset":            {"YYYY-MM-DDThh:mm:ssZ", "Europe/Berlin", "2026-03-29T23:30:00-05:00", "2026-03-30T04:30:00Z"},
		"afternoon":                 {"M/D/YYYY h12:mm AM", "America/New_York", "3/8/2026 01:15 PM", "2026-03-08T17:15:00Z"},
		"unix":                      {"unix", "", "1767225600", "2026-01-01T00:00:00Z"},
		"unix in milliseconds":      {"unix_ms", "", "1767225600250", "2026-01-01T00:00:00Z"},
		"milliseconds as seconds":   {"unix", "", "1767225600250", ""},
		"another form":              {"YYYY-MM-DD", "", "01.02.2026", ""},
		"a day that does not exist": {"YYYY-MM-DD", "", "2026-02-30", ""},
		"nothing":                   {"YYYY-MM-DD", "", "", ""},
	} {
		config := plain()
		config.Time.Layout, config.Time.Zone = c.layout, c.zone
		_, lines, err := read(t, options(), config, "id,at,type,currency,amount\np1,"+c.text+",in,USD,1.00\n")
		if c.want == "" {
			if fault := readertest.Refusal(t, err); fault.Row != 2 || c.text != "" && strings.Contains(fault.Text, c.text) {
				t.Errorf("%s: err %v, want a FileError of line 2 without the text", name, err)
			}
			continue
		}
		if err != nil || lines[0].At.Format(time.RFC3339) != c.want {
			t.Errorf("%s: err %v, lines %+v", name, err, lines)
		}
	}
	o := options()
	o.Location = time.FixedZone("UTC+3", 3*60*60)
	_, lines, err := read(t, o, plain(), plainFile)
	if err != nil || lines[0].At.Format(time.RFC3339) != "2026-01-05T07:00:00Z" {
		t.Errorf("the provider's zone: err %v, %+v", err, lines)
	}
}

func TestGrossFeesAndNetAreCheckedAgainstEachOther(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Fees = []mapped.Fee{{Column: "fixed"}, {Column: "percent"}, {Column: "tax", Sign: "signed"}}
	config.Net = mapped.Amount{Column: "net"}
	head := "id,at,type,currency,amount,fixed,percent,tax,net\n"
	_, lines, err := read(t, options(), config, head+"p1,2026-01-05 10:00:00,in,USD,100.00,0.30,2.00,-0.10,97.60\n")
	if err != nil || lines[0].Fee.String() != "-2.40 USD" || lines[0].Net.String() != "97.60 USD" {
		t.Fatalf("err %v, %+v", err, lines)
	}
	_, _, err = read(t, options(), config, head+"p1,2026-01-05 10:00:00,in,USD,100.00,0.30,2.00,-0.10,97.70\n")
	if fault := readertest.Refusal(t, err); fault.Row != 2 {
		t.Errorf("ten cents off: %v", err)
	}
	config.Gross = mapped.Amount{}
	_, lines, err = read(t, options(), config, head+"p1,2026-01-05 10:00:00,in,USD,100.00,0.30,2.00,-0.10,97.60\n")
	if err != nil || lines[0].Gross.String() != "100.00 USD" {
		t.Errorf("gross worked out: err %v, %+v", err, lines)
	}
}

func TestFiltersAndFootersPassOverByName(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Filters = []mapped.Filter{{Column: "status", Keep: []string{"ok"}, Ignore: []string{"failed"}}}
	config.File.Footer = []string{"Generated"}
	text := plainFile + "p9,2026-01-06 11:00:00,in,USD,7.00,failed\n,,,,,\nGenerated 2026-01-07\n"
	st, lines, err := read(t, options(), config, text)
	if err != nil || len(lines) != 3 || len(st.Problems) != 0 {
		t.Fatalf("err %v, %d lines, %+v", err, len(lines), st)
	}
	_, _, err = read(t, options(), config, plainFile+"p9,2026-01-06 11:00:00,in,USD,7.00,half\n")
	if fault := readertest.Refusal(t, err); fault.Row != 5 || !strings.Contains(fault.Text, `"half"`) {
		t.Errorf("a status that nobody named: %v", err)
	}
}

func TestRowsThatNobodyCanPlaceAreKeptAndAsked(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"a new word":                 "p9,2026-01-06 11:00:00,bonus,USD,7.00,ok\n",
		"a payment that takes money": "p9,2026-01-06 11:00:00,in,USD,-7.00,ok\n",
		"a refund that brings money": "p9,2026-01-06 11:00:00,back,USD,7.00,ok\n",
		"a payment without its id":   ",2026-01-06 11:00:00,in,USD,7.00,ok\n",
	} {
		st, lines, err := read(t, options(), plain(), plainFile+row)
		if err != nil || len(lines) != 4 || lines[3].Type != recon.LineUnknown || len(st.Problems) != 1 || st.Problems[0].Row != 5 {
			t.Errorf("%s: err %v, %+v", name, err, st.Problems)
		}
	}
	o := options()
	o.RowTypes = map[string]recon.LineType{"bonus": recon.LineAdjustment}
	st, lines, err := read(t, o, plain(), plainFile+"p9,2026-01-06 11:00:00,bonus,USD,7.00,ok\n")
	if err != nil || lines[3].Type != recon.LineAdjustment || len(st.Problems) != 0 {
		t.Errorf("with the firm's answer: err %v, %+v", err, st.Problems)
	}
}

func TestEqualCorrectionsAreTwoAndTheSameInASecondDownload(t *testing.T) {
	t.Parallel()
	text := plainFile + ",2026-01-06 11:00:00,fix,USD,-1.00,ok\n,2026-01-06 11:00:00,fix,USD,-1.00,ok\n"
	var keys [2][]string
	for i := range keys {
		_, lines, err := read(t, options(), plain(), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			keys[i] = append(keys[i], l.NaturalKey())
		}
	}
	if !slices.Equal(keys[0], keys[1]) || len(keys[0]) != 5 || keys[0][3] == keys[0][4] {
		t.Errorf("keys %q", keys[0])
	}
}

func TestTotalsRowIsComparedAndMissed(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Totals.Begins = "Total"
	st, _, err := read(t, options(), config, plainFile+"Total,,,,125.00,\n")
	if err != nil || len(st.Totals) != 1 || !st.Totals[0].Agrees() || st.Incomplete != "" {
		t.Fatalf("err %v, %+v", err, st)
	}
	st, _, err = read(t, options(), config, plainFile+"Total,,,,125.01,\n")
	if err != nil || len(st.Totals) != 1 || st.Totals[0].Agrees() || len(st.Problems) != 1 || st.Problems[0].Row != 5 {
		t.Errorf("one cent off: err %v, %+v", err, st)
	}
	st, _, err = read(t, options(), config, plainFile)
	if err != nil || st.Incomplete == "" || len(st.Problems) != 1 {
		t.Errorf("without the totals: err %v, %+v", err, st)
	}
	st, _, err = read(t, options(), config, plainFile+"p7,2026-01-06 10:00:00,in,EUR,1.00,ok\nTotal USD,,,USD,125.00,\nTotal EUR,,,EUR,1.00,\n")
	if err != nil || len(st.Totals) != 2 || !st.Totals[0].Agrees() || !st.Totals[1].Agrees() {
		t.Errorf("by currency: err %v, %+v", err, st)
	}
	st, _, err = read(t, options(), config, plainFile+"p7,2026-01-06 10:00:00,in,EUR,1.00,ok\nTotal,,,,126.00,\n")
	if err != nil || len(st.Totals) != 0 || len(st.Problems) != 1 {
		t.Errorf("of two currencies together: err %v, %+v", err, st)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	units := utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(plainFile, "p2", "p\U0001F600")))
	for name, order := range map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		var text []byte
		for _, u := range units {
			var two [2]byte
			order.PutUint16(two[:], u)
			text = append(text, two[:]...)
		}
		config := plain()
		config.File.Encoding = "utf-16"
		_, lines, err := read(t, options(), config, string(text))
		if err != nil || len(lines) != 3 || lines[1].Payment != "p\U0001F600" {
			t.Errorf("%s endian: err %v, %+v", name, err, lines)
		}
		for what, bad := range map[string]string{"cut inside a character": string(text[:len(text)-1]), "without its mark": string(text[2:])} {
			_, _, err := read(t, options(), config, bad)
			if fault := readertest.Refusal(t, err); fault.Name != "export.csv" {
				t.Errorf("%s endian, %s: %v", name, what, err)
			}
		}
		if _, _, err := read(t, options(), plain(), string(text)); err == nil {
			t.Errorf("%s endian was read as UTF-8", name)
		}
	}
	config := plain()
	config.File.Encoding = "windows-1252"
	_, lines, err := read(t, options(), config, strings.Replace(plainFile, "p2", "p\x80\xe9", 1))
	if err != nil || lines[1].Payment != "p€é" {
		t.Errorf("Windows-1252: err %v, %+v", err, lines)
	}
	_, _, err = read(t, options(), config, strings.Replace(plainFile, "p2", "p\x81", 1))
	if fault := readertest.Refusal(t, err); fault.Name != "export.csv" {
		t.Errorf("a byte that Windows-1252 does not have: %v", err)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Columns.Merchant = "status"
	o := options()
	o.Merchant = "ok"
	if _, _, err := read(t, o, config, plainFile); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"another merchant":  {"50.00,ok", "50.00,other"},
		"a renamed column":  {"amount", "Amount"},
		"a doubled column":  {"status", "amount"},
		"semicolons":        {plainFile, strings.ReplaceAll(plainFile, ",", ";")},
		"a short row":       {"50.00,ok", "50.00"},
		"a long row":        {"50.00,ok", "50.00,ok,x"},
		"an unclosed quote": {"p2", "\"p2"},
		"no amount":         {"50.00", ""},
		"no header":         {plainFile, ""},
	} {
		_, _, err := read(t, o, config, strings.Replace(plainFile, edit[0], edit[1], 1))
		if fault := readertest.Refusal(t, err); fault.Name != "export.csv" {
			t.Errorf("%s: err %v, want a FileError", name, err)
		}
	}
	pair := plain()
	pair.Gross = mapped.Amount{Credit: "in", Debit: "out"}
	for name, row := range map[string]string{"both sides": "5.00,5.00", "no side": ",", "a signed debit": ",-5.00"} {
		_, _, err := read(t, options(), pair, "id,at,type,currency,in,out\np1,2026-01-05 10:00:00,in,USD,"+row+"\n")
		if fault := readertest.Refusal(t, err); fault.Row != 2 {
			t.Errorf("%s: err %v, want a FileError", name, err)
		}
	}
}

func TestWhatTheCallerReturnsComesBackAsItIs(t *testing.T) {
	t.Parallel()
	reader, err := mapped.NewReader(options(), plain())
	if err != nil {
		t.Fatal(err)
	}
	readertest.ReturnsErrorsAsTheyAre(t, reader, plainFile)
}

func TestOpenEndIsAskedFor(t *testing.T) {
	t.Parallel()
	config, text := plain(), strings.TrimSuffix(plainFile, "\n")
	st, _, err := read(t, options(), config, text)
	if err != nil || st.Incomplete == "" || len(st.Problems) != 1 {
		t.Errorf("err %v, %+v", err, st)
	}
	config.File.OpenEnd = true
	st, _, err = read(t, options(), config, text)
	if err != nil || st.Incomplete != "" || len(st.Problems) != 0 {
		t.Errorf("with open_end: err %v, %+v", err, st)
	}
}

func TestConfigWithFaultsReadsNothing(t *testing.T) {
	t.Parallel()
	if _, err := mapped.NewReader(options(), mapped.Config{}); !errors.Is(err, credit.ErrInvalid) {
		t.Errorf("err %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(plainFile, uint8(0))
	f.Add(plainFile+"Total,,,,125.00,\n", uint8(1))
	f.Add("\xff\xfei\x00d\x00", uint8(2))
	f.Add(strings.Replace(plainFile, "p2", "p\x80", 1), uint8(3))
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		config := plain()
		config.File.Encoding = []string{"", "", "utf-16", "windows-1252"}[kind%4]
		if kind%2 == 1 {
			config.Totals.Begins = "Total"
		}
		_, lines, _ := read(t, options(), config, text)
		if len(lines) > len(text) {
			t.Fatalf("%d lines of %d bytes", len(lines), len(text))
		}
		for _, l := range lines {
			if l.Word == "" && l.Type != recon.LineUnknown {
				t.Fatalf("line %+v", l)
			}
		}
	})
}
