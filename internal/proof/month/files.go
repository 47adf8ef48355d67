package month

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// File is one statement as a provider delivers it.
type File struct {
	Provider recon.Provider
	Format   string // "stripe", "adyen", "paypal", "checkout", "dlocal", "mapped"
	Name     string
	Data     []byte
}

// Files writes the month's lines out as the providers' own files, in the shapes of providers.md §2 and §3. Times without a zone are UTC. A
// rounding rest is no line of a file: whoever reads it books it. The lists of credit rows and deals stay as they are.
func (m *Month) Files() []File {
	var out []File
	for _, p := range m.provs {
		lines := m.linesOf(p)
		switch p.Kind {
		case "stripe":
			out = append(out, File{p.Provider, "stripe", "payout_reconciliation.itemized.csv", stripeFile(lines)})
		case "adyen":
			out = append(out, byBatch(p, lines, "adyen", "settlement_detail_report_batch_%s.csv", adyenFile)...)
		case "paypal":
			out = append(out, payPalFiles(p, lines)...)
		case "checkout":
			out = append(out, byBatch(p, lines, "checkout", "settlement-breakdown_%s.csv", checkoutFile)...)
			out = append(out, File{p.Provider, "checkout", "payouts.csv", checkoutPayouts(lines)})
		case "dlocal":
			out = append(out, byBatch(p, lines, "dlocal", "settlement_%s.csv", dLocalFile)...)
		default:
			if listed(p) {
				out = append(out, File{p.Provider, "mapped", "transactions.csv", chainFile(lines)})
			}
		}
	}
	return out
}

// linesOf are the provider's lines in the order of a statement, without rounding rests.
func (m *Month) linesOf(p *provider) []*recon.Line {
	var out []*recon.Line
	for i := range m.Lines {
		if l := &m.Lines[i]; l.Provider == p.Provider && l.Type != recon.LineRounding {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *recon.Line) int {
		return cmp.Or(moment(a).Compare(moment(b)), b2i(a.Type == recon.LinePayout)-b2i(b.Type == recon.LinePayout), a.At.Compare(b.At),
			cmp.Compare(a.Payment, b.Payment), cmp.Compare(a.Movement, b.Movement))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byBatch writes one file for each payout, in the order of the payouts.
func byBatch(p *provider, lines []*recon.Line, format, name string, write func(*provider, []*recon.Line) []byte) []File {
	of := map[string][]*recon.Line{}
	var order []string
	for _, l := range lines {
		if of[l.Batch] == nil {
			order = append(order, l.Batch)
		}
		of[l.Batch] = append(of[l.Batch], l)
	}
	out := make([]File, len(order))
	for i, batch := range order {
		out[i] = File{p.Provider, format, fmt.Sprintf(name, batch), write(p, of[batch])}
	}
	return out
}

// table writes rows of named columns.
type table struct {
	columns []string
	buffer  bytes.Buffer
	csv     *csv.Writer
}

func newTable(columns ...string) *table {
	t := &table{columns: columns}
	t.csv = csv.NewWriter(&t.buffer)
	t.write(columns)
	return t
}

func (t *table) write(fields []string) {
	if err := t.csv.Write(fields); err != nil {
		panic(fmt.Sprintf("write to memory: %v", err))
	}
}

// row writes one row: of its columns those that the cells name.
func (t *table) row(cells map[string]string) {
	fields := make([]string, len(t.columns))
	for i, name := range t.columns {
		fields[i] = cells[name]
	}
	t.write(fields)
}

func (t *table) bytes() []byte {
	t.csv.Flush()
	return t.buffer.Bytes()
}

// major is the amount in major units, as short as it can be: "48.5", "-0.1", "50"; empty where there is none.
func major(a credit.Amount) string {
	if !a.IsSet() {
		return ""
	}
	return decimal(a.Units(), a.Exponent())
}

// decimal writes units with the given places, without zeros at the end.
func decimal(units *big.Int, places int) string {
	text := new(big.Int).Abs(units).String()
	if len(text) <= places {
		text = strings.Repeat("0", places-len(text)+1) + text
	}
	whole, frac := text[:len(text)-places], strings.TrimRight(text[len(text)-places:], "0")
	if frac != "" {
		whole += "." + frac
	}
	if units.Sign() < 0 {
		whole = "-" + whole
	}
	return whole
}

// debitCredit puts the amount without its sign into the column of its direction.
func debitCredit(cells map[string]string, a credit.Amount, debit, in string) {
	switch {
	case a.Sign() < 0:
		cells[debit] = major(a.Neg())
	case a.IsSet():
		cells[in] = major(a)
	}
}

// before is what the line was in the currency of the balance before its fee.
func before(l *recon.Line) credit.Amount {
	fee := new(big.Int)
	if l.Type != recon.LineFee {
		fee = l.Fee.Units()
	}
	return written(new(big.Int).Sub(l.Net.Units(), fee), l.Net.Currency(), l.Net.Exponent())
}
