package month

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"creditonce/recon"
)

// provider is one payment provider of the firm, with how it settles.
type provider struct {
	recon.Provider
	share  int           // of 100 payments
	coins  []coin        // what clients pay in; the first most often
	net    coin          // of the balance; without a code: each currency has a balance of its own
	places int           // decimal places in its statements; -1: those of the currency
	delay  time.Duration // from the payment to the earliest booking
	spread time.Duration // so much later at most
	daily  int           // hour of the day, UTC, at which it books; -1: at any time
	usual  time.Duration // what the configuration calls its usual delay; 0: it gives no statements
	words  words
}

// words are a provider's own words for what its lines do.
type words map[recon.LineType]string

// providers of the firm: six with statements, and the firm's bank, which gives none.
func providers() []*provider {
	day := 24 * time.Hour
	return []*provider{
		{
			Provider: recon.Provider{Label: "cards", Kind: "stripe", Account: "acct_1PmQx7Broker"}, share: 26, coins: []coin{euro, dollar, yen}, places: -1,
			delay: 2 * day, spread: day, daily: 0, usual: 6 * day,
			words: words{
				recon.LinePayment: "charge", recon.LineRefund: "refund", recon.LineRefundReversal: "refund_failure", recon.LineChargeback: "dispute",
				recon.LineChargebackReversal: "dispute_reversal", recon.LineFee: "fee", recon.LineAdjustment: "other_adjustment",
				recon.LineReserve: "risk_reserved_funds", recon.LinePayout: "payout", recon.LineUnknown: "carbon_removal",
			},
		},
		{
			Provider: recon.Provider{Label: "acquirer", Kind: "adyen", Account: "ExampleBrokerECOM"}, share: 22, coins: []coin{euro, dollar, yen}, net: euro, places: -1,
			delay: day, spread: 2 * day, daily: 4, usual: 5 * day,
			words: words{
				recon.LinePayment: "Settled", recon.LineRefund: "Refunded", recon.LineRefundReversal: "RefundedReversed", recon.LineChargeback: "Chargeback",
				recon.LineChargebackReversal: "ChargebackReversed", recon.LineFee: "Fee", recon.LineAdjustment: "DepositCorrection",
				recon.LineReserve: "ReserveAdjustment", recon.LinePayout: "MerchantPayout", recon.LineUnknown: "CloudKitchenLevy",
			},
		},
		{
			Provider: recon.Provider{Label: "wallet", Kind: "paypal", Account: "QX7BROKER4EUR"}, share: 16, coins: []coin{dollar, euro, yen}, places: 2,
			delay: time.Minute, spread: 20 * time.Minute, daily: -1, usual: 2 * day,
			words: words{
				recon.LinePayment: "T0006", recon.LineRefund: "T1107", recon.LineChargeback: "T1201", recon.LineChargebackReversal: "T1202",
				recon.LineFee: "T0106", recon.LineAdjustment: "T1900", recon.LineReserve: "T1110", recon.LinePayout: "T0400", recon.LineUnknown: "T7777",
			},
		},
		{
			Provider: recon.Provider{Label: "gateway", Kind: "checkout", Account: "ent_exampleBroker"}, share: 16, coins: []coin{dollar, euro}, net: dollar, places: -1,
			delay: 20 * time.Hour, spread: day, daily: 2, usual: 4 * day,
			words: words{
				recon.LinePayment: "Charge", recon.LineRefund: "Refund", recon.LineChargeback: "Chargeback", recon.LineFee: "Account Updater",
				recon.LinePayout: "Merchant Payout", recon.LineUnknown: "Moon Phase Charge",
			},
		},
		{
			Provider: recon.Provider{Label: "latam", Kind: "dlocal", Account: "648"}, share: 10, coins: []coin{reais}, net: dollar, places: 6,
			delay: 4 * day, spread: 3 * day, daily: 0, usual: 10 * day,
			words: words{
				recon.LinePayment: "PAYMENT", recon.LineRefund: "REFUND", recon.LineChargeback: "CHARGEBACK", recon.LineFee: "SETTLEMENT_FEE",
				recon.LineAdjustment: "ADJUSTMENT", recon.LinePayout: "HEADER", recon.LineUnknown: "TIDE",
			},
		},
		{
			Provider: recon.Provider{Label: "chain", Kind: "standard", Account: "processor-7"}, share: 8, coins: []coin{ether}, places: -1,
			delay: 10 * time.Minute, spread: 2 * time.Hour, daily: -1, usual: day,
			words: words{
				recon.LinePayment: "deposit", recon.LineRefund: "refund", recon.LineFee: "service fee", recon.LinePayout: "withdrawal",
				recon.LineUnknown: "airdrop",
			},
		},
		{Provider: recon.Provider{Label: "bank", Kind: "standard", Account: "house-bank"}, share: 2, coins: []coin{euro}, places: -1},
	}
}

// has tells whether the provider's statements know such lines.
func (p *provider) has(t recon.LineType) bool { return p.words[t] != "" }

// shownPlaces are the decimal places in which the provider's statements write gross amounts of the coin.
func (p *provider) shownPlaces(c coin) int {
	if p.places == 2 {
		return max(2, c.places)
	}
	return c.places
}

// balance is the currency of the balance to which a payment in the coin goes, with the places of the statements.
func (p *provider) balance(c coin) coin {
	b := c
	if p.net.code != "" {
		b = p.net
	}
	if p.places >= 0 {
		b.places = max(b.places, p.places)
	}
	return b
}

// login is one MT5 account.
type login struct {
	server, identity string
	number           uint64
	coin             coin
}

// identities are the servers by their own names. Of the last the list of deals is not complete in this month.
var identities = []struct{ label, identity string }{{"main", "ExampleBroker-Live"}, {"pro", "ExampleBroker-Pro"}, {"old", "ExampleBroker-Old"}}

// oldServer is the index of the server whose list is not complete.
const oldServer = 2

// makeLogins makes n logins: most on the first server, most in euros and dollars.
func makeLogins(r *rand.Rand, n int) []*login {
	out := make([]*login, n)
	for i := range out {
		at := 0
		switch r.IntN(10) {
		case 0, 1, 2:
			at = 1
		case 3:
			if r.IntN(4) == 0 {
				at = oldServer
			}
		}
		c := []coin{euro, euro, euro, dollar, dollar, dollar, dollar, yen}[r.IntN(8)]
		out[i] = &login{identities[at].label, identities[at].identity, uint64(500_000 + 7*i), c}
	}
	return out
}

const (
	lower = "0123456789abcdefghijklmnopqrstuvwxyz"
	upper = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mixed = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// letters draws n characters of an alphabet.
func letters(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// paymentID makes an id in the provider's fashion; serial keeps ids apart however few letters there are.
func (p *provider) paymentID(r *rand.Rand, serial int) string {
	tail := strconv.FormatInt(int64(serial), 36)
	switch p.Kind {
	case "stripe":
		return "pi_3" + letters(r, mixed, 16) + tail
	case "adyen":
		return fmt.Sprintf("%s%07d", letters(r, upper, 9), serial)
	case "paypal":
		return fmt.Sprintf("%s%07dL", letters(r, upper, 9), serial)
	case "checkout":
		return "pay_" + letters(r, "abcdefghijklmnopqrstuvwxyz234567", 20) + tail
	case "dlocal":
		return "T-648-" + letters(r, lower, 6) + tail
	default:
		return letters(r, "0123456789abcdef", 12) + "-" + tail
	}
}

// movementID makes the id of a capture, refund or dispute.
func (p *provider) movementID(r *rand.Rand, serial int) string {
	tail := fmt.Sprintf("%07d", serial)
	switch p.Kind {
	case "stripe":
		return "txn_3" + letters(r, mixed, 14) + tail
	case "checkout":
		return "act_" + letters(r, "abcdefghijklmnopqrstuvwxyz234567", 18) + tail
	default:
		return letters(r, upper, 9) + tail
	}
}
