package month

import (
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

var (
	// checkoutColumns are those of a settlement breakdown, ordered with the ids of actions (providers.md §2.4).
	checkoutColumns = []string{
		"Client Entity ID", "Client Entity Name", "Processing Channel ID", "Processing Channel Name", "Type", "Payment ID", "Action ID", "Reference",
		"Processed On", "Available On", "Holding Currency", "Payout ID", "Gross In Holding Currency", "Deduction In Holding Currency",
		"Net In Holding Currency", "Processing Fee In Holding Currency", "Scheme Fee In Holding Currency", "Processing Currency",
		"Gross In Processing Currency", "FX Rate Applied", "Payment Method",
	}
	checkoutPayoutColumns = []string{
		"Client Entity ID", "Client Entity Name", "Currency Account ID", "Holding Currency", "Payout ID", "Payout Date", "Reporting Start Date",
		"Reporting End Date", "Payout Amount", "Merchant Payout Fees", "Payments", "Refunds",
	}
)

const checkoutTime = "2006-01-02T15:04:05.000"

// checkoutFile writes the breakdown of one payout, which never has the payout itself. Deductions are negative.
func checkoutFile(p *provider, lines []*recon.Line) []byte {
	t := newTable(checkoutColumns...)
	for _, l := range lines {
		if l.Type == recon.LinePayout {
			continue
		}
		gross, fee := before(l), l.Fee
		if l.Type == recon.LineFee {
			gross, fee = credit.Amount{}, l.Net
		}
		cells := map[string]string{
			"Client Entity ID": p.Account, "Client Entity Name": "Example Broker", "Type": l.Word, "Payment ID": l.Payment, "Action ID": l.Movement,
			"Reference": l.Code, "Processed On": l.At.Format(checkoutTime), "Available On": moment(l).Format(checkoutTime),
			"Holding Currency": l.Net.Currency(), "Payout ID": l.Batch, "Gross In Holding Currency": orNought(gross),
			"Deduction In Holding Currency": orNought(fee), "Net In Holding Currency": major(l.Net), "Gross In Processing Currency": "0",
		}
		if l.Gross.IsSet() {
			cells["Processing Currency"], cells["Gross In Processing Currency"] = l.Gross.Currency(), major(l.Gross)
		}
		t.row(cells)
	}
	return t.bytes()
}

// checkoutPayouts writes the report that states the payouts of all breakdowns.
func checkoutPayouts(lines []*recon.Line) []byte {
	t := newTable(checkoutPayoutColumns...)
	for _, l := range lines {
		if l.Type == recon.LinePayout {
			day := l.At.Truncate(24 * time.Hour)
			t.row(map[string]string{
				"Client Entity ID": l.Provider.Account, "Client Entity Name": "Example Broker", "Holding Currency": l.Net.Currency(), "Payout ID": l.Batch,
				"Payout Date": l.At.Format(checkoutTime), "Reporting Start Date": day.AddDate(0, 0, -1).Format(checkoutTime),
				"Reporting End Date": day.Format(checkoutTime), "Payout Amount": major(l.Net.Neg()),
			})
		}
	}
	return t.bytes()
}

func orNought(a credit.Amount) string {
	if !a.IsSet() {
		return "0"
	}
	return major(a)
}
