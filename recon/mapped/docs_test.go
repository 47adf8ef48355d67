package mapped_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"creditonce/recon"
	"creditonce/recon/mapped"

	"github.com/goccy/go-yaml"
)

// exported is a file of one section of docs/settlement-formats.md, in the shape that the section describes, and what it must read as:
// "type payment movement gross fee net when".
type exported struct {
	text      string
	lines     []string
	totals    []string // "name: amount"; all of them agree
	problems  int
	exponents map[string]int
}

var exports = map[string]exported{
	"Praxis Cashier": {
		text: "merchant_id,tid,trace_id,order_id,transaction_type,transaction_status,processed_date,processed_currency,processed_amount,fee,customer\n" +
			"M-1,770001,tr-1,dep-p1,sale,approved,2026-02-01 23:30:00,USD,25000,375,Ada Example\n" +
			"M-1,770002,tr-2,dep-p2,sale,declined,2026-02-01 23:31:00,USD,9900,0,Ada Example\n" +
			"M-1,770001,tr-3,dep-p1,refund,approved,2026-02-02 08:00:00,USD,5000,0,Ada Example\n",
		lines: []string{
			"payment 770001 tr-1 250.00 USD -3.75 USD 246.25 USD 2026-02-01T23:30:00Z",
			"refund 770001 tr-3 -50.00 USD 0.00 USD -50.00 USD 2026-02-02T08:00:00Z",
		},
	},
	"BridgerPay": {
		text: "uuid,merchant,psp_order_id,order_id,operation_type,status,amount,currency,processed_at,email\n" +
			"u-1,M-1,psp-91,dep-b1,deposit,approved,120.5,EUR,2026-02-03T10:00:00+02:00,a@example.org\n" +
			"u-2,M-1,psp-92,wd-7,payout,approved,80,EUR,2026-02-03T11:00:00+02:00,a@example.org\n" +
			"u-3,M-1,psp-93,dep-b3,deposit,declined,300,EUR,2026-02-03T12:00:00+02:00,a@example.org\n" +
			"u-4,M-1,psp-91,dep-b1,refund,approved,20.5,EUR,2026-02-04T00:30:00+02:00,a@example.org\n",
		lines: []string{
			"payment psp-91 u-1 120.50 EUR no amount 120.50 EUR 2026-02-03T08:00:00Z",
			"refund psp-91 u-4 -20.50 EUR no amount -20.50 EUR 2026-02-03T22:30:00Z",
		},
	},
	"Skrill": {
		text: "ID,Time (CET),Type,Transaction Details,[-] EUR,[+] EUR,Status,Balance,Reference,ID of the corresponding Skrill transaction\n" +
			"5001,28 Mar 26 23:30,Receive Money,from a@example.org,,200.00,processed,1200.00,dep-s1,9001\n" +
			"5002,28 Mar 26 23:30,Fee,,5.80,,processed,1194.20,,\n" +
			"5003,29 Mar 26 03:30,Receive Money,from b@example.org,,75.50,processed,1269.70,dep-s2,9002\n" +
			"5004,29 Mar 26 04:00,Receive Money,from c@example.org,,10.00,pending,1269.70,dep-s3,9003\n" +
			"5005,30 Mar 26 09:00,Withdrawal,to bank,1000.00,,processed,269.70,,\n",
		lines: []string{
			"payment 9001 5001 200.00 EUR no amount 200.00 EUR 2026-03-28T22:30:00Z",
			"fee  5002 no amount -5.80 EUR -5.80 EUR 2026-03-28T22:30:00Z",
			"payment 9002 5003 75.50 EUR no amount 75.50 EUR 2026-03-29T01:30:00Z",
			"payout  5005 no amount no amount -1000.00 EUR 2026-03-30T07:00:00Z",
		},
	},
	"NOWPayments": {
		exponents: map[string]int{"USDT": 6, "BTC": 8},
		text: "payment_id,order_id,payment_status,price_amount,price_currency,pay_currency,actually_paid,outcome_amount,outcome_currency,created_at,updated_at\n" +
			"6100001,dep-n1,finished,250,usd,usdttrc20,250.135,248.9,usdttrc20,2026-02-05T09:00:00.120Z,2026-02-05T09:12:00.500Z\n" +
			"6100002,dep-n2,expired,100,usd,btc,0,0,usdttrc20,2026-02-05T10:00:00Z,2026-02-06T10:00:00Z\n" +
			"6100003,dep-n3,partially_paid,100,usd,btc,0.00081234,77.1,usdttrc20,2026-02-05T11:00:00Z,2026-02-05T11:40:00Z\n" +
			"6100004,dep-n4,refunded,100,usd,btc,0.001,95,usdttrc20,2026-02-05T12:00:00Z,2026-02-07T11:40:00Z\n",
		lines: []string{
			"payment 6100001 6100001 2026-02-05T09:00:00.120Z 250.135000 USDT no amount 248.900000 USDT 2026-02-05T09:00:00.12Z",
			"payment 6100003 6100003 2026-02-05T11:00:00Z 0.00081234 BTC no amount 77.100000 USDT 2026-02-05T11:00:00Z",
			"unknown 6100004 6100004 2026-02-05T12:00:00Z 0.00100000 BTC no amount 95.000000 USDT 2026-02-05T12:00:00Z",
		},
		problems: 1,
	},
	"Confirmo": {
		text: "Invoice ID;Reference;Settlement ID;Type;Paid At;Settled On;Currency;Gross;Processing Fee;Fixed Fee;Net\n" +
			"inv1;dep-c1;set9;Payment;2026-02-06 10:00:00 +0100;07/02/2026;EUR;500.00;4.00;0.25;495.75\n" +
			"inv2;dep-c2;set9;Payment;2026-02-06 23:59:59 +0100;07/02/2026;EUR;40.00;0.32;0.25;39.43\n" +
			"inv1;dep-c1;set9;Refund;2026-02-07 08:00:00 +0100;07/02/2026;EUR;-100.00;0.00;0.25;-100.25\n" +
			"Total;;;;;;;440.00;4.32;0.75;434.93\n",
		lines: []string{
			"payment inv1 inv1 2026-02-06 10:00:00 +0100 500.00 EUR -4.25 EUR 495.75 EUR 2026-02-06T09:00:00Z",
			"payment inv2 inv2 2026-02-06 23:59:59 +0100 40.00 EUR -0.57 EUR 39.43 EUR 2026-02-06T22:59:59Z",
			"refund inv1 inv1 2026-02-07 08:00:00 +0100 -100.00 EUR -0.25 EUR -100.25 EUR 2026-02-07T07:00:00Z",
		},
		totals: []string{"total of gross: 440.00 EUR", "total of fees: -5.07 EUR", "total of net: 434.93 EUR"},
	},
	"An acquiring bank": {
		text: "Händlerbank AG\nAbrechnung;Februar 2026\n\n" +
			"Umsatz-Nr.;Datum;Uhrzeit;Valuta;Vorgang;Autorisierung;Händlerreferenz;Auszahlung;Währung;Soll;Haben;Disagio;Transaktionsentgelt;Karteninhaber\n" +
			"1001;07.02.2026;23:45;09.02.2026;Zahlung;A77;dep-d1;P5;EUR;;1.234,50;12,35;0,10;Müller\n" +
			"1002;08.02.2026;00:15;09.02.2026;Gutschrift;A70;dep-d0;P5;EUR;34,50;;;0,10;Müller\n" +
			"1003;08.02.2026;09:00;09.02.2026;Rücklastschrift;A61;dep-c9;P5;EUR;200,00;;7,50;;Meier\n" +
			"1004;08.02.2026;10:00;09.02.2026;Entgelt;;;P5;EUR;9,90;;;;\n" +
			"Summe;;;;;;;;EUR;244,40;1.234,50;19,85;0,20;\n" +
			"Erstellt am 09.02.2026\n",
		lines: []string{
			"payment A77 1001 1234.50 EUR -12.45 EUR 1222.05 EUR 2026-02-07T22:45:00Z",
			"refund A70 1002 -34.50 EUR -0.10 EUR -34.60 EUR 2026-02-07T23:15:00Z",
			"chargeback A61 1003 -200.00 EUR -7.50 EUR -207.50 EUR 2026-02-08T08:00:00Z",
			"fee  1004 no amount -9.90 EUR -9.90 EUR 2026-02-08T09:00:00Z",
		},
		totals: []string{"total of gross: 990.10 EUR", "total of fees: -20.05 EUR"},
	},
}

// sections gives every YAML block of the page by the heading above it.
func sections(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/settlement-formats.md")
	if err != nil {
		t.Fatal(err)
	}
	found, heading, block, inside := map[string]string{}, "", []string{}, false
	for line := range strings.Lines(string(page)) {
		text := strings.TrimRight(line, "\n")
		switch {
		case text == "```yaml":
			inside, block = true, nil
		case text == "```" && inside:
			inside = false
			if _, twice := found[heading]; twice {
				t.Fatalf("section %q has two blocks", heading)
			}
			found[heading] = strings.Join(block, "\n")
		case inside:
			block = append(block, text)
		case strings.HasPrefix(text, "#"):
			heading = strings.TrimLeft(text, "# ")
		}
	}
	return found
}

// load reads a block as internal/config does: keys in snake case are the fields of the config.
func load(t *testing.T, block string) mapped.Config {
	t.Helper()
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(block), &tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fields(tree))
	if err != nil {
		t.Fatal(err)
	}
	var c mapped.Config
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// fields takes the underscores out of keys; what is below names and words are words of the export.
func fields(node any) any {
	switch n := node.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range n {
			if key != "names" && key != "words" {
				value = fields(value)
			}
			out[strings.ReplaceAll(key, "_", "")] = value
		}
		return out
	case []any:
		for i := range n {
			n[i] = fields(n[i])
		}
	}
	return node
}

func TestEveryExportOfThePageReadsItsFile(t *testing.T) {
	t.Parallel()
	blocks := sections(t)
	if len(blocks) != len(exports) {
		t.Errorf("%d blocks on the page, %d files here", len(blocks), len(exports))
	}
	for name, block := range blocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := exports[name]
			if !known {
				t.Fatal("the page shows an export that no file here tries")
			}
			c := load(t, block)
			if faults := c.Check(); len(faults) > 0 {
				t.Fatalf("faults: %+v", faults)
			}
			o := options()
			o.Exponents = want.exponents
			text := want.text
			if c.File.Encoding == "windows-1252" {
				text = windows1252(t, text)
			}
			st, lines, err := read(t, o, c, text)
			if err != nil {
				t.Fatal(err)
			}
			var got, totals []string
			for _, l := range lines {
				got = append(got, sketch(l))
				if strings.Contains(l.Payment+l.Movement+l.Code+l.Word+l.Batch, "@") {
					t.Errorf("line %d keeps a mail address", l.Row)
				}
			}
			for _, total := range st.Totals {
				totals = append(totals, total.Name+": "+total.Stated.String())
				if !total.Agrees() {
					t.Errorf("%s: stated %s, summed %s", total.Name, total.Stated, total.Summed)
				}
			}
			if !slices.Equal(got, want.lines) {
				t.Errorf("lines:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.lines, "\n"))
			}
			if !slices.Equal(totals, want.totals) || len(st.Problems) != want.problems || st.Incomplete != "" {
				t.Errorf("totals %q, problems %+v, incomplete %q", totals, st.Problems, st.Incomplete)
			}
		})
	}
}

// A cut file must not read as a smaller good one, where its form can tell.
func TestNoCutIsSilent(t *testing.T) {
	t.Parallel()
	for name, block := range sections(t) {
		want := exports[name]
		c, o := load(t, block), options()
		o.Exponents = want.exponents
		text := want.text
		if c.File.Encoding == "windows-1252" {
			text = windows1252(t, text)
		}
		for at := range len(text) {
			st, lines, err := read(t, o, c, text[:at])
			if err != nil || st.Incomplete != "" || len(lines) == len(want.lines) {
				continue
			}
			if between := at > 0 && text[at-1] == '\n'; c.Totals.Begins != "" || !between {
				t.Fatalf("%s cut at byte %d: %d of %d lines and nothing is said", name, at, len(lines), len(want.lines))
			}
		}
	}
}

func sketch(l recon.Line) string {
	return strings.Join([]string{
		string(l.Type), l.Payment, l.Movement, l.Gross.String(), l.Fee.String(), l.Net.String(), l.At.Format("2006-01-02T15:04:05.999Z07:00"),
	}, " ")
}

func windows1252(t *testing.T, text string) string {
	t.Helper()
	var out []byte
	for _, c := range text {
		switch {
		case c < 0x80 || c >= 0xa0 && c <= 0xff:
			out = append(out, byte(c))
		default:
			t.Fatalf("%q is not written here", c)
		}
	}
	return string(out)
}
