package month

import (
	"strings"
	"time"

	"creditonce/recon"
)

// chainColumns are those of the export of a crypto processor, as such processors have them: one signed column each, a time in UTC, a status.
var chainColumns = []string{"id", "order_id", "parent_id", "type", "status", "currency", "amount", "fee", "received", "created_at", "completed_at", "payout_id"}

// chainFile writes the processor's export for the whole time. What failed at the processor is in it too, and moved nothing.
func chainFile(lines []*recon.Line) []byte {
	t := newTable(chainColumns...)
	for i, l := range lines {
		cells := map[string]string{
			"id": l.Movement, "order_id": l.Code, "parent_id": l.Payment, "type": l.Word, "status": "completed", "currency": strings.ToLower(l.Net.Currency()),
			"amount": major(before(l)), "fee": "0", "received": major(l.Net), "created_at": l.At.Format(time.RFC3339),
			"completed_at": moment(l).Format(time.RFC3339), "payout_id": l.Batch,
		}
		if l.Fee.IsSet() && l.Type != recon.LineFee {
			cells["fee"] = major(l.Fee)
		}
		t.row(cells)
		if i%40 == 0 && l.Type == recon.LinePayment {
			cells["id"], cells["status"], cells["payout_id"] = cells["id"]+"-x", "expired", ""
			t.row(cells)
		}
	}
	return t.bytes()
}
