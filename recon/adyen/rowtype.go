package adyen

import (
	"regexp"
	"strings"

	"creditonce/recon"
)

// rowTypes are the words of the Type column (providers.md §2.2). Whatever is not here is asked: a wrong guess would be booked.
var rowTypes = map[string]recon.LineType{
	"Settled":            recon.LinePayment,
	"Refunded":           recon.LineRefund,
	"RefundedReversed":   recon.LineRefundReversal,
	"Chargeback":         recon.LineChargeback,
	"SecondChargeback":   recon.LineChargeback, // lost again after it was won: the money is taken a second time
	"ChargebackReversed": recon.LineChargebackReversal,
	"Fee":                recon.LineFee,
	"MiscCosts":          recon.LineFee,
	"InvoiceDeduction":   recon.LineFee,
	"DepositCorrection":  recon.LineAdjustment,
	"BalanceTransfer":    recon.LineReserve, // carried from one batch to the next
	"Balancetransfer":    recon.LineReserve,
	"ReserveAdjustment":  recon.LineReserve,
	"MerchantPayout":     recon.LinePayout,
}

// part is what follows the word of a row that was booked in parts: "InvoiceDeduction (1/2)".
var part = regexp.MustCompile(` \([0-9]{1,3}/[0-9]{1,3}\)$`)

// word is the row's type without its part, so that the firm's answer for it meets the stored line too.
func word(text string) string { return strings.Clone(part.ReplaceAllString(text, "")) }

// direction is the sign that the gross of a type has from the firm's side; 0: either, or none.
func direction(t recon.LineType) int {
	switch t {
	case recon.LinePayment, recon.LineRefundReversal, recon.LineChargebackReversal:
		return 1
	case recon.LineRefund, recon.LineChargeback:
		return -1
	default:
		return 0
	}
}
