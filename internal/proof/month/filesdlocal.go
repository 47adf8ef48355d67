package month

import (
	"bytes"
	"math/big"
	"strconv"
	"time"

	"creditonce/recon"
)

var (
	dLocalTotals = []string{
		"ROW_TYPE", "SETTLEMENT_CURRENCY", "NUMBER_OF_ITEMS", "GROSS_TOTAL_AMOUNT", "FEE_TOTAL_AMOUNT", "NET_TOTAL_AMOUNT", "TRANSFER_DATE", "TRANSFER_ID",
	}
	dLocalColumns = []string{
		"ROW_TYPE", "MID", "LOGIN", "COUNTRY", "CREATION_DATE", "APPROVED_DATE", "TRANSACTION_ID", "DLOCAL_TRANSACTION_ID", "LOCAL_AMOUNT",
		"LOCAL_CURRENCY", "FX_RATE", "GROSS_AMOUNT", "FEE_AMOUNT", "NET_AMOUNT", "PAYMENT_TYPE", "PAYMENT_METHOD_CODE", "CARD_BIN", "CARD_TYPE",
		"INSTALLMENTS", "STATUS", "STATUS_CODE", "STATUS_DETAILS", "USER_DOCUMENT", "USER_EMAIL", "DESCRIPTION",
	}
)

// dLocalFile writes the settlement file of one transfer (providers.md §2.16): names and values of the totals, then names and rows, whose
// settlement amounts have six decimals. The totals have cents.
func dLocalFile(p *provider, lines []*recon.Line) []byte {
	rows := newTable(dLocalColumns...)
	var payout *recon.Line
	items, gross, fees := 0, new(big.Int), new(big.Int)
	for _, l := range lines {
		if l.Type == recon.LinePayout {
			payout = l
			continue
		}
		if l.Type != recon.LineUnknown {
			items++
			gross.Add(gross, dLocalGross(l))
			fees.Add(fees, l.Fee.Units())
		}
		rows.row(dLocalRow(p, l))
	}
	totals := newTable(append(dLocalTotals, make([]string, len(dLocalColumns)-len(dLocalTotals))...)...)
	totals.write([]string{
		"HEADER", payout.Net.Currency(), strconv.Itoa(items), cents(gross), cents(fees), major(payout.Net.Neg()), payout.At.Format(time.DateOnly), payout.Batch,
		"", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
	})
	return bytes.Join([][]byte{totals.bytes(), rows.bytes()}, nil)
}

// cents is a sum of millionths rounded to cents.
func cents(millionths *big.Int) string {
	v := new(big.Int).Add(millionths, big.NewInt(5000))
	return decimal(v.Div(v, big.NewInt(10_000)), 2)
}

// dLocalGross is what the row has in the currency of the settlement; of a fee row nothing.
func dLocalGross(l *recon.Line) *big.Int {
	if l.Type == recon.LineFee {
		return new(big.Int)
	}
	return before(l).Units()
}

func dLocalRow(p *provider, l *recon.Line) map[string]string {
	cells := map[string]string{
		"ROW_TYPE": l.Word, "MID": p.Account, "DLOCAL_TRANSACTION_ID": l.Movement, "LOCAL_AMOUNT": "0", "FX_RATE": "0", "FEE_AMOUNT": "0",
		"GROSS_AMOUNT": decimal(dLocalGross(l), l.Net.Exponent()), "NET_AMOUNT": major(l.Net),
	}
	if l.Fee.IsSet() {
		cells["FEE_AMOUNT"] = major(l.Fee)
	}
	if l.Type != recon.LineFee {
		cells["CREATION_DATE"], cells["APPROVED_DATE"] = l.At.Add(-time.Second).Format(time.DateTime), l.At.Format(time.DateTime)
	}
	if l.Payment == "" || l.Type == recon.LineFee {
		return cells
	}
	cells["LOGIN"], cells["COUNTRY"], cells["STATUS"], cells["STATUS_CODE"] = "YW1exampleLogin", "Brazil", "PAID", "200"
	cells["TRANSACTION_ID"], cells["DLOCAL_TRANSACTION_ID"] = l.Code, l.Payment
	cells["LOCAL_AMOUNT"], cells["LOCAL_CURRENCY"], cells["FX_RATE"] = major(l.Gross), l.Gross.Currency(), "5.735589"
	cells["USER_DOCUMENT"], cells["USER_EMAIL"] = "00000000000", "client@example.com" // personal data that no reader may keep
	return cells
}
