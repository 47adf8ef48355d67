package month

import (
	"strings"
	"time"

	"creditonce/recon"
)

// stripeColumns are those of payout_reconciliation.itemized (providers.md §2.1), with the payment's metadata.
var stripeColumns = []string{
	"automatic_payout_id", "automatic_payout_effective_at_utc", "balance_transaction_id", "created_utc", "available_on_utc", "currency", "gross", "fee",
	"net", "reporting_category", "source_id", "description", "charge_id", "payment_intent_id", "payment_metadata[creditonce_deposit]",
}

// stripeFile writes one report for the whole time: decimal major units, currencies in lower case, fees positive.
func stripeFile(lines []*recon.Line) []byte {
	t := newTable(stripeColumns...)
	for _, l := range lines {
		cells := map[string]string{
			"automatic_payout_id": l.Batch, "automatic_payout_effective_at_utc": moment(l).Format(time.DateTime), "balance_transaction_id": l.Movement,
			"created_utc": l.At.Format(time.DateTime), "available_on_utc": moment(l).Format(time.DateTime), "currency": strings.ToLower(l.Net.Currency()),
			"gross": major(before(l)), "fee": "0", "net": major(l.Net), "reporting_category": l.Word, "source_id": "src_" + l.Movement,
			"payment_intent_id": l.Payment, "payment_metadata[creditonce_deposit]": l.Code,
		}
		if l.Fee.IsSet() && l.Type != recon.LineFee {
			cells["fee"] = major(l.Fee.Neg())
		}
		if l.Payment != "" {
			cells["charge_id"] = "ch_" + strings.TrimPrefix(l.Payment, "pi_")
		}
		t.row(cells)
	}
	return t.bytes()
}
