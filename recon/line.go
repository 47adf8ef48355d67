package recon

import (
	"time"

	"creditonce/credit"
)

// Provider says whose statement it is. Kind and Account are those of the rows' units (design §2), whatever format the statement has.
type Provider struct {
	Label   string `json:"label"`   // the name in the config
	Kind    string `json:"kind"`    // "stripe", "standard"
	Account string `json:"account"` // the firm's own merchant account id
}

// LineType is what a settlement line does to the firm's balance at the provider.
type LineType string

// The types of lines. Whoever reads a statement maps the provider's words to them; a word that it does not know becomes LineUnknown: the
// line is kept, counts nowhere, and a person is asked.
const (
	LinePayment            LineType = "payment"             // a client's payment, or one capture of it: gross in
	LineRefund             LineType = "refund"              // gross out, to the client
	LineRefundReversal     LineType = "refund_reversal"     // a refund that came back
	LineChargeback         LineType = "chargeback"          // gross out, by a dispute
	LineChargebackReversal LineType = "chargeback_reversal" // a dispute that was won
	LineFee                LineType = "fee"                 // cost of the firm, with or without a payment
	LineConversion         LineType = "conversion"          // one leg of an exchange between the firm's own balances
	LineReserve            LineType = "reserve"             // held back, or released
	LineAdjustment         LineType = "adjustment"          // a correction of the provider
	LinePayout             LineType = "payout"              // net leaves for the firm's bank (negative), or comes back
	LineRounding           LineType = "rounding"            // the rest between a payout and the sum of its lines, booked by the reader
	LineUnknown            LineType = "unknown"
)

// Line is one row of a provider's statement (design §2, "settlement line"). Amounts are signed from the firm's side: a payment is
// positive, its fee, a refund and a payout are negative. It is evidence: never edited.
type Line struct {
	Provider Provider `json:"provider"`

	// Evidence: where it stands.
	Digest string `json:"digest"` // SHA-256 of the file, or of the pulled answers; hex
	Row    int    `json:"row"`    // the line of the file, from 1; of a pull: the position in the list

	Type     LineType `json:"type"`
	Word     string   `json:"word"`               // the provider's own word for the type
	Payment  string   `json:"payment,omitempty"`  // as in [credit.Unit]; empty for rows of the account
	Movement string   `json:"movement,omitempty"` // the provider's id of this very movement: a capture, refund, dispute movement, balance transaction
	Unique   bool     `json:"unique,omitempty"`   // the provider gives that id to one movement only: under another type it is the same one, changed. Only statements keep it
	Code     string   `json:"code,omitempty"`     // the deposit code (merchant reference) where the statement carries it
	Batch    string   `json:"batch,omitempty"`    // payout or batch that it belongs to

	Gross credit.Amount `json:"gross"` // in the currency of the payment
	Fee   credit.Amount `json:"fee"`   // in the currency of Net; negative is a cost
	Net   credit.Amount `json:"net"`   // in the currency of the balance; gross and net may differ in currency

	At        time.Time `json:"at"`                  // UTC, when it happened
	SettledAt time.Time `json:"settled_at,omitzero"` // UTC, when it was booked or became available; zero where the statement does not say
}

// Moment is when the line counts: when it was settled, else when it happened.
func (l Line) Moment() time.Time {
	if l.SettledAt.IsZero() {
		return l.At
	}
	return l.SettledAt
}

// Cost is what the provider took by this line, negative: of a fee line its net, of any other its fee. Unset where it says none.
func (l Line) Cost() credit.Amount {
	if l.Type == LineFee && l.Net.IsSet() {
		return l.Net
	}
	return l.Fee
}

// NaturalKey names the movement whatever file it stands in: re-issued and overlapping statements carry the same one. Empty where the
// statement gives nothing that names it (two equal corrections are two); then only (digest, row) does. The batch names a row of the account
// only: that of a payment is often listed before its payout is made, and again with it. The type and the provider's word name it too, unless
// the id is the provider's own for one movement of whatever type.
func (l Line) NaturalKey() string {
	if l.Payment == "" && l.Movement == "" {
		return ""
	}
	batch, kind, word := l.Batch, string(l.Type), l.Word
	if l.Payment != "" {
		batch = ""
	}
	if l.Unique && l.Movement != "" {
		batch, kind, word = "", "", ""
	}
	return l.Provider.Kind + "\x00" + l.Provider.Account + "\x00" + batch + "\x00" + kind + "\x00" + word + "\x00" + l.Payment + "\x00" + l.Movement
}

// Alike gives the forms under whose natural keys an earlier line of the movement may be kept: the line itself; as it was before the firm said
// what its word means; and as it was before its id was known to be unique.
func (l Line) Alike() []Line {
	out := []Line{l}
	if l.Type != LineUnknown {
		before := l
		if before.Type = LineUnknown; l.Type == LinePayment && l.Payment == l.Movement {
			before.Payment = "" // [Line.Shape] has named it
		}
		out = append(out, before)
	}
	if l.Unique {
		for _, u := range out {
			u.Unique = false
			out = append(out, u)
		}
	}
	return out
}

// OneMovement tells whether two lines can be of the same movement: they have one natural key, where the firm has said of either what its word
// means. Where the provider gives the movement no id of its own, two batches are two movements.
func OneMovement(a, b Line) bool {
	a, b = Meant(a, b), Meant(b, a)
	a.Unique, b.Unique = a.Unique && b.Unique, a.Unique && b.Unique
	return a.NaturalKey() == b.NaturalKey() && (a.Movement != "" || a.Batch == "" || b.Batch == "" || a.Batch == b.Batch)
}

// Meant is a line of a word that nobody had an answer for, with the type that the same word has in the other line: the answer came between them.
func Meant(l, other Line) Line {
	if l.Type != LineUnknown || l.Word != other.Word {
		return l
	}
	return Retyped(l, map[string]LineType{l.Word: other.Type})
}

// FillsIn tells that a line of a movement says what an earlier one left open: its batch, or what its word means.
func FillsIn(earlier, now Line) bool {
	if earlier.Batch == "" && now.Batch != "" {
		return true
	}
	return earlier.Type == LineUnknown && now.Type != LineUnknown && (earlier.Batch == "" || now.Batch != "")
}
