package fakepsp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// MetadataKey is the metadata key that carries the deposit code on the session and on the intent.
const MetadataKey = "creditonce_deposit"

// Payment is one payment as the provider knows it. Amount is in the currency's minor units as
// Stripe counts them; Currency is lower case, as Stripe sends it.
type Payment struct {
	ID       string    `json:"id"`      // pi_…
	Session  string    `json:"session"` // cs_…
	Charge   string    `json:"charge"`  // ch_…
	Code     string    `json:"code"`
	Amount   int64     `json:"amount_minor"`
	Currency string    `json:"currency"`
	Created  time.Time `json:"created"`
	Options
}

// Options are the parts of a payment that a test may bend. A nil text carries the payment's code,
// a pointer to "" leaves the field out, any other text is sent instead of the code.
type Options struct {
	Live            bool    `json:"live"`
	IntentCode      *string `json:"intent_code,omitempty"`
	SessionCode     *string `json:"session_code,omitempty"`
	ClientReference *string `json:"client_reference,omitempty"`
}

// Refund is one refund of a payment. Status is Stripe's word: pending, succeeded or failed.
type Refund struct {
	ID      string    `json:"id"` // re_…
	Payment string    `json:"payment"`
	Amount  int64     `json:"amount_minor"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed,omitzero"` // when the status changed last
}

// Dispute is one dispute about a payment. Status is Stripe's word, such as needs_response,
// warning_needs_response, won or lost.
type Dispute struct {
	ID      string    `json:"id"` // du_…
	Payment string    `json:"payment"`
	Amount  int64     `json:"amount_minor"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed,omitzero"` // when the status changed last
}

// Maker makes payments and events. Equal seeds draw equal ids in the order of the calls. It is safe
// for concurrent use.
type Maker struct {
	now func() time.Time

	mu  sync.Mutex
	ids *rand.Rand
}

// NewMaker returns a Maker that draws its ids from seed and its times from now.
func NewMaker(seed [32]byte, now func() time.Time) *Maker {
	return &Maker{now: now, ids: rand.New(rand.NewChaCha8(seed))}
}

// NewPayment makes a payment of amountMinor for the deposit code. It refuses what Stripe would not
// let a merchant make: an amount below 1, a currency that is not three letters, a code over 200
// bytes (the limit of client_reference_id). An empty code is allowed: it travels nowhere.
func (m *Maker) NewPayment(code string, amountMinor int64, currency string, o Options) (Payment, error) {
	lower, err := currencyText(currency)
	switch {
	case err != nil:
		return Payment{}, err
	case amountMinor < 1:
		return Payment{}, fmt.Errorf("make payment: amount %d is not positive", amountMinor)
	case len(code) > 200:
		return Payment{}, errors.New("make payment: code is longer than 200 bytes")
	}
	return Payment{
		ID: m.id("pi_3"), Session: m.id(sessionPrefix(o.Live)), Charge: m.id("ch_3"),
		Code: code, Amount: amountMinor, Currency: lower, Created: m.now().UTC(), Options: o,
	}, nil
}

// NewRefund makes a refund of amountMinor. Whether so much is left to refund is the caller's
// question: the sum of refunds is not the maker's to know.
func (m *Maker) NewRefund(p Payment, amountMinor int64, status string) (Refund, error) {
	if amountMinor < 1 || amountMinor > p.Amount {
		return Refund{}, fmt.Errorf("make refund of %s: amount %d is not in 1..%d", p.ID, amountMinor, p.Amount)
	}
	if status == "" {
		status = "succeeded"
	}
	return Refund{ID: m.id("re_3"), Payment: p.ID, Amount: amountMinor, Status: status, Created: m.now().UTC()}, nil
}

// NewDispute makes a dispute about amountMinor of a payment; one payment may have several
// (providers.md §2.1).
func (m *Maker) NewDispute(p Payment, amountMinor int64, status string) (Dispute, error) {
	if amountMinor < 1 || amountMinor > p.Amount {
		return Dispute{}, fmt.Errorf("make dispute of %s: amount %d is not in 1..%d", p.ID, amountMinor, p.Amount)
	}
	if status == "" {
		status = "needs_response"
	}
	return Dispute{ID: m.id("du_1"), Payment: p.ID, Amount: amountMinor, Status: status, Created: m.now().UTC()}, nil
}

func (m *Maker) id(prefix string) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []byte(prefix)
	for range 23 {
		out = append(out, alphabet[m.ids.IntN(len(alphabet))])
	}
	return string(out)
}

func sessionPrefix(live bool) string {
	if live {
		return "cs_live_a1"
	}
	return "cs_test_a1"
}

func currencyText(currency string) (string, error) {
	lower := []byte(currency)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		} else if c < 'a' || c > 'z' {
			return "", fmt.Errorf("make payment: currency %q is not three letters", currency)
		}
	}
	if len(lower) != 3 {
		return "", fmt.Errorf("make payment: currency %q is not three letters", currency)
	}
	return string(lower), nil
}

// carried resolves one of the option texts: nil means the code, and empty means absent.
func carried(option *string, code string) *string {
	if option != nil {
		code = *option
	}
	if code == "" {
		return nil
	}
	return &code
}
