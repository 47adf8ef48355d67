package paypal

import "creditonce/recon"

// codes are PayPal's transaction event codes (providers.md §2.3). Whatever is not here is asked: the list has some two hundred codes, and
// several groups of them go in either direction.
var codes = map[string]recon.LineType{
	"T0000": recon.LinePayment, // general
	"T0003": recon.LinePayment, // preapproved
	"T0006": recon.LinePayment, // express checkout, which is what the REST API's captures are
	"T0106": recon.LineFee,     // of a chargeback; a row of its own
	"T0200": recon.LineConversion,
	"T0201": recon.LineConversion, // before a payout
	"T0400": recon.LinePayout,     // withdrawal to the firm's bank
	"T1106": recon.LineChargeback, // PayPal took it back
	"T1107": recon.LineRefund,
	"T1108": recon.LineFee, // a fee that comes back
	"T1109": recon.LineFee,
	"T1110": recon.LineReserve, // hold for a dispute
	"T1111": recon.LineReserve, // and its release
	"T1201": recon.LineChargeback,
	"T1202": recon.LineChargebackReversal,
	"T1900": recon.LineAdjustment,
}

// lineType is what a row of the code is; false where neither the table nor the firm says it.
func lineType(code string, firm map[string]recon.LineType) (recon.LineType, bool) {
	return recon.WordType(code, codes, firm)
}

// direction is the sign that a type has from the firm's side: 1 is CR, -1 is DR; 0: either.
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

// paymentID is the capture that the row belongs to: a payment is its own transaction, what undoes one refers to it. It is empty for rows of
// the account; a conversion refers to whatever it served, which may be a refund. False: the type needs a payment, and the row names none.
func paymentID(t recon.LineType, transaction, reference, referenceType string) (id string, ok bool) {
	switch t {
	case recon.LinePayment:
		return transaction, transaction != ""
	case recon.LineRefund, recon.LineRefundReversal, recon.LineChargeback, recon.LineChargebackReversal:
		if referenceType != "TXN" { // an order, a subscription or a preapproval is no capture
			return "", false
		}
		return reference, reference != ""
	default:
		return "", true
	}
}
