package credit

// Kind says what a credit row does to the login's balance. Amounts are positive; the kind gives the direction.
type Kind string

// The kinds of design §2.
const (
	KindDeposit            Kind = "deposit"
	KindRefund             Kind = "refund"
	KindChargeback         Kind = "chargeback"
	KindChargebackReversal Kind = "chargeback_reversal"
	KindWithdrawal         Kind = "withdrawal"
	KindWithdrawalReturn   Kind = "withdrawal_return"
)

// prefixes are the marks at the start of a reference, one a kind (design §8).
var prefixes = map[Kind]string{
	KindDeposit:            "dep:",
	KindRefund:             "ref:",
	KindChargeback:         "cbk:",
	KindChargebackReversal: "cbr:",
	KindWithdrawal:         "wdr:",
	KindWithdrawalReturn:   "wdb:",
}

// Adds tells whether the kind raises the balance. Only these make a deal with a positive amount.
func (k Kind) Adds() bool {
	switch k {
	case KindDeposit, KindChargebackReversal, KindWithdrawalReturn:
		return true
	case KindRefund, KindChargeback, KindWithdrawal:
		return false
	default:
		return false
	}
}

// Signed turns a row's positive amount into the signed amount of its deal. This is the only place where a
// direction becomes a sign.
func (k Kind) Signed(a Amount) Amount {
	if k.Adds() {
		return a
	}
	return a.Neg()
}

// Unit is the thing that may move money once: one part of one payment at one merchant account of one provider
// kind (design §2). The provider's name in the config is a label and no part of it.
type Unit struct {
	ProviderKind string `json:"provider_kind"` // "stripe"
	Account      string `json:"account"`       // the firm's own merchant account id at the provider
	Payment      string `json:"payment"`       // the provider's id of the payment
	Part         string `json:"part"`          // a capture, on-chain transfer, refund; empty where a payment has one part
}
