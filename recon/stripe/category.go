package stripe

import "creditonce/recon"

// categories says what each reporting_category is (providers.md §2.1, docs.stripe.com/reports/reporting-categories). What is not here is
// not guessed: the line is kept as unknown and a person is asked.
var categories = map[string]recon.LineType{
	"charge": recon.LinePayment,
	// The part of an authorisation that was not captured: negative, so that both rows together are what was captured.
	"partial_capture_reversal": recon.LinePayment,
	"refund":                   recon.LineRefund,
	"refund_failure":           recon.LineRefundReversal,
	// A bank debit that bounced after it had counted as paid: the money is back with the client.
	"charge_failure":   recon.LineRefund,
	"dispute":          recon.LineChargeback,
	"dispute_reversal": recon.LineChargebackReversal,

	"fee":          recon.LineFee,
	"network_cost": recon.LineFee,
	"tax":          recon.LineFee,

	"risk_reserved_funds":    recon.LineReserve,
	"connect_reserved_funds": recon.LineReserve,

	"adjustment":       recon.LineAdjustment,
	"other_adjustment": recon.LineAdjustment,
	// Between the firm's own accounts, not from a client.
	"transfer":          recon.LineAdjustment,
	"transfer_reversal": recon.LineAdjustment,
	"topup":             recon.LineAdjustment,
	"topup_reversal":    recon.LineAdjustment,

	"payout":          recon.LinePayout,
	"payout_reversal": recon.LinePayout,
}

// lineType is what a reporting_category does to the balance: by the table, else by the firm's own answer. False: nobody said.
func lineType(category string, firm map[string]recon.LineType) (recon.LineType, bool) {
	return recon.WordType(category, categories, firm)
}
