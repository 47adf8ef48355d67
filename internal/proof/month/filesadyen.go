package month

import (
	"fmt"
	"math/big"
	"time"

	"creditonce/recon"
)

// adyenColumns are those of a settlement details report, with some of the optional ones (providers.md §2.2).
var adyenColumns = []string{
	"Company Account", "Merchant Account", "Psp Reference", "Merchant Reference", "Payment Method", "Creation Date", "TimeZone", "Type",
	"Modification Reference", "Gross Currency", "Gross Debit (GC)", "Gross Credit (GC)", "Exchange Rate", "Net Currency", "Net Debit (NC)",
	"Net Credit (NC)", "Commission (NC)", "Markup (NC)", "Scheme Fees (NC)", "Interchange (NC)", "Payment Method Variant",
	"Modification Merchant Reference", "Batch Number", "Reserved4", "Reserved5", "Booking Date", "Booking Date TimeZone",
}

// adyenFile writes the settlement details report of one batch. Debits and credits have a column each; times are in the words PST and PDT.
func adyenFile(p *provider, lines []*recon.Line) []byte {
	t := newTable(adyenColumns...)
	for _, l := range lines {
		cells := map[string]string{
			"Company Account": "ExampleBroker", "Merchant Account": p.Account, "Type": l.Word, "Batch Number": l.Batch, "Net Currency": l.Net.Currency(),
		}
		cells["Creation Date"], cells["TimeZone"] = pacific(l.At)
		cells["Booking Date"], cells["Booking Date TimeZone"] = pacific(moment(l))
		debitCredit(cells, l.Net, "Net Debit (NC)", "Net Credit (NC)")
		if l.Gross.IsSet() {
			cells["Gross Currency"], cells["Exchange Rate"] = l.Gross.Currency(), "1"
			debitCredit(cells, l.Gross, "Gross Debit (GC)", "Gross Credit (GC)")
		}
		if l.Payment != "" {
			cells["Psp Reference"], cells["Merchant Reference"], cells["Modification Reference"] = l.Payment, l.Code, l.Movement
			cells["Payment Method"] = "visa"
		}
		switch l.Type {
		case recon.LinePayout:
			cells["Modification Reference"] = fmt.Sprintf("TX%s0000001XT batch %s, %s", l.Batch, l.Batch, p.Account)
		case recon.LineFee:
			cells["Modification Reference"] = "Transaction Fees " + l.Movement
		case recon.LinePayment, recon.LineChargeback, recon.LineRefund:
			adyenFees(cells, l)
		case recon.LineAdjustment, recon.LineReserve, recon.LineUnknown:
			cells["Modification Reference"] = l.Word
		default:
		}
		t.row(cells)
	}
	return t.bytes()
}

// adyenFees cuts the fee into the four columns; positive is a cost.
func adyenFees(cells map[string]string, l *recon.Line) {
	cost := new(big.Int).Neg(l.Fee.Units())
	if cost.Sign() == 0 {
		return
	}
	rest := new(big.Int).Set(cost)
	for i, name := range []string{"Commission (NC)", "Markup (NC)", "Scheme Fees (NC)"} {
		part := new(big.Int).Div(cost, big.NewInt(int64(3+2*i)))
		if rest.Sub(rest, part); part.Sign() != 0 {
			cells[name] = decimal(part, l.Fee.Exponent())
		}
	}
	cells["Interchange (NC)"] = decimal(rest, l.Fee.Exponent())
}

// pacific is the time of Los Angeles with the word for its offset.
func pacific(at time.Time) (text, word string) {
	behind, word := pacificOffset(at)
	return at.UTC().Add(-behind).Format(time.DateTime), word
}
