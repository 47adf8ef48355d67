package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"creditonce/credit"
)

// wish is a deposit request whose fields are well formed. Its JSON form is what the input hash is made of, so the
// names and order of its fields must not change: a key that was used before an upgrade would no longer fit.
type wish struct {
	Client    string    `json:"client"`
	Server    string    `json:"server"`
	Login     string    `json:"login"`
	Provider  string    `json:"provider"`
	Paid      moneyWish `json:"paid"`
	Credited  moneyWish `json:"credited"`
	Rate      *rateWish `json:"rate,omitempty"`
	Code      string    `json:"code,omitempty"`
	ExpiresAt string    `json:"expires_at,omitempty"`
	ExpiresIn string    `json:"expires_in,omitempty"`
}

type moneyWish struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

type rateWish struct {
	Value  string `json:"value"`
	Source string `json:"source"`
	At     string `json:"at"`
}

// readWish takes the fields of a deposit request; every fault is reported.
func readWish(root *object) (wish, []fault) {
	f, faults := newFields(root)
	w := wish{
		Client:    f.text("client", isPrintable),
		Server:    f.text("server", isLabel),
		Login:     f.text("login", isLogin),
		Provider:  f.text("provider", isLabel),
		Paid:      readMoney(f.child("paid")),
		Credited:  readMoney(f.child("credited")),
		Code:      f.optionalText("code", isCode),
		ExpiresAt: f.optionalText("expires_at", isTime),
		ExpiresIn: f.optionalText("expires_in", isLife),
	}
	if f.has("rate") {
		w.Rate = readRate(f.child("rate"))
	}
	if f.has("expires_at") && f.has("expires_in") {
		f.blame("expires_in", "bad_expiry", "give expires_at or expires_in, not both")
	}
	f.end()
	return w, *faults
}

func readMoney(f *fields) moneyWish {
	if f == nil {
		return moneyWish{}
	}
	defer f.end()
	return moneyWish{Amount: f.text("amount", isAmount), Currency: f.text("currency", isCurrency)}
}

func readRate(f *fields) *rateWish {
	if f == nil {
		return nil
	}
	defer f.end()
	return &rateWish{Value: f.text("value", isRate), Source: f.text("source", isPrintable), At: f.text("at", isTime)}
}

// hash is SHA-256 over the fields' texts as they were sent: white space, the order of the fields and JSON escapes
// make no difference, another spelling of a value ("500" for "500.00") does.
func (w wish) hash() ([]byte, error) {
	canonical, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("write the canonical request: %w", err)
	}
	sum := sha256.Sum256(append([]byte("creditonce deposit 1\n"), canonical...))
	return sum[:], nil
}

// expiry is when the deposit ends, counted from now.
func (w wish) expiry(now time.Time, life time.Duration) (time.Time, error) {
	switch {
	case w.ExpiresAt != "":
		return parseTime(w.ExpiresAt)
	case w.ExpiresIn != "":
		d, err := time.ParseDuration(w.ExpiresIn)
		return now.Add(d), err
	default:
		return now.Add(life), nil
	}
}

// exact parses the amount in the given exponent. false: it has more places than that.
func (m moneyWish) exact(exponent int) (credit.Amount, bool) {
	amount, err := credit.ParseAmount(m.Amount, m.Currency, exponent)
	return amount, err == nil
}

// asSent is the amount in the places that it was written with.
func (m moneyWish) asSent() (credit.Amount, error) {
	return credit.ParseAmount(m.Amount, m.Currency, places(m.Amount))
}
