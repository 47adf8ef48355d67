package month

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// payPalColumns are those of a settlement report's body (providers.md §2.3).
var payPalColumns = []string{
	"Transaction ID", "Invoice ID", "PayPal Reference ID", "PayPal Reference ID Type", "Transaction Event Code", "Transaction Initiation Date",
	"Transaction Completion Date", "Transaction Debit or Credit", "Gross Transaction Amount", "Gross Transaction Currency", "Fee Debit or Credit",
	"Fee Amount", "Fee Currency", "Custom Field", "Consumer ID", "Payment Tracking ID", "Store ID", "Bank Reference ID",
}

// payPalFiles writes one settlement report for each day of Los Angeles: records RH FH SH CH SB SF SC RF RC FF. All amounts are unsigned
// hundredths, of yen too.
func payPalFiles(p *provider, lines []*recon.Line) []File {
	var out []File
	for len(lines) > 0 {
		day := pacificDate(lines[0].At)
		n := slices.IndexFunc(lines, func(l *recon.Line) bool { return !pacificDate(l.At).Equal(day) })
		if n < 0 {
			n = len(lines)
		}
		name := "STL-" + day.Format("20060102") + ".01.009.CSV"
		out = append(out, File{p.Provider, "paypal", name, payPalFile(p, day, lines[:n])})
		lines = lines[n:]
	}
	return out
}

// pacificDate is the day in Los Angeles, as midnight UTC of the same date.
func pacificDate(at time.Time) time.Time {
	behind, _ := pacificOffset(at)
	return at.UTC().Add(-behind).Truncate(24 * time.Hour)
}

func payPalTime(at time.Time) string {
	behind, _ := pacificOffset(at)
	return at.UTC().Add(-behind).Format("2006/01/02 15:04:05") + fmt.Sprintf(" -%02d00", int(behind/time.Hour))
}

// payPalSums are the totals of one currency, in hundredths.
type payPalSums struct {
	in, out, feeIn, feeOut *big.Int
	rows                   int
}

func payPalFile(p *provider, day time.Time, lines []*recon.Line) []byte {
	var buffer bytes.Buffer
	if day.Day()%3 == 0 {
		buffer.WriteString("\uFEFF") // some of them have a byte order mark
	}
	w := csv.NewWriter(&buffer)
	record := func(fields ...string) {
		if err := w.Write(fields); err != nil {
			panic(fmt.Sprintf("write to memory: %v", err))
		}
	}
	begin, end := day.Add(8*time.Hour), day.Add(32*time.Hour)
	if behind, _ := pacificOffset(begin); behind != 8*time.Hour {
		begin = begin.Add(-time.Hour)
	}
	if behind, _ := pacificOffset(end); behind != 8*time.Hour {
		end = end.Add(-time.Hour)
	}
	record("RH", payPalTime(end.Add(3*time.Hour)), "A", p.Account, "009", "")
	record("FH", "01")
	record("SH", payPalTime(begin), payPalTime(end.Add(-time.Second)), p.Account, "")
	record(append([]string{"CH"}, payPalColumns...)...)
	sums := map[string]*payPalSums{}
	for _, l := range lines {
		record(payPalRow(l, sums)...)
	}
	for _, footer := range []string{"SF", "RF"} {
		for _, currency := range []string{"EUR", "JPY", "USD"} {
			if s := sums[currency]; s != nil {
				record(footer, currency, s.in.String(), s.out.String(), s.feeOut.String(), s.feeIn.String(), "CR", "547", "CR", "5530", "CR", "5530", "CR", "5530",
					"CR", "0", "CR", "0", strconv.Itoa(s.rows))
			}
		}
		record(footer[:1]+"C", strconv.Itoa(len(lines)))
	}
	record("FF", strconv.Itoa(len(lines)))
	w.Flush()
	return buffer.Bytes()
}

// payPalRow writes a row and adds it to the totals. A withdrawal is in no total of debits.
func payPalRow(l *recon.Line, sums map[string]*payPalSums) []string {
	gross := before(l)
	s := sums[gross.Currency()]
	if s == nil {
		s = &payPalSums{new(big.Int), new(big.Int), new(big.Int), new(big.Int), 0}
		sums[gross.Currency()] = s
	}
	s.rows++
	side, text := payPalSide(gross, s.in, s.out)
	if l.Type == recon.LinePayout {
		s.out.Add(s.out, gross.Units())
	}
	transaction, reference, referenceType := l.Movement, l.Payment, "TXN"
	if l.Type == recon.LinePayment {
		transaction, reference = l.Payment, ""
	}
	if reference == "" {
		referenceType = ""
	}
	row := []string{
		"SB", transaction, "", reference, referenceType, l.Word, payPalTime(l.At), payPalTime(moment(l)), side, text, gross.Currency(), "", "", "",
		l.Code, "", "", "", "",
	}
	if l.Fee.IsSet() && !l.Fee.IsZero() && l.Type != recon.LineFee {
		row[11], row[12] = payPalSide(l.Fee, s.feeIn, s.feeOut)
		row[13] = l.Fee.Currency()
	}
	return row
}

// payPalSide is the direction of an amount and its unsigned hundredths, which it adds to the total of that direction.
func payPalSide(a credit.Amount, in, out *big.Int) (side, text string) {
	if a.Exponent() != 2 {
		panic(fmt.Sprintf("the month wrote %s for PayPal", a))
	}
	units := a.Units()
	if units.Sign() < 0 {
		units.Neg(units)
		out.Add(out, units)
		return "DR", units.String()
	}
	in.Add(in, units)
	return "CR", units.String()
}
