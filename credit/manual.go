package credit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Manual is a deposit that people enter: a bank wire that no provider tells about.
type Manual struct {
	Entry      string // random, 128 bits, drawn when it was proposed: the event's message key
	Code       string // deposit code, drawn with it
	Client     string
	Server     string // label of the MT5 server
	Login      uint64
	Amount     Amount    // received and credited, in the account's currency
	Bank       string    // the bank's own reference of the wire
	ReceivedAt time.Time // the bank's time, UTC
	Body       []byte    // the frozen request: the evidence
	Digest     string    // SHA-256 of Body, hex
}

// The unit of a manual deposit. No provider of a configuration can have this label.
const (
	ManualKind     = "manual"
	ManualProvider = "desk/manual"
	manualAccount  = "desk"
)

// BankKey is what tells one bank reference from another: its letters and digits. People copy it with other spaces,
// cases, dashes and widths, and that must not make two wires of one.
func BankKey(reference string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r > wideForms+' ' && r <= wideForms+'~' {
			r -= wideForms
		}
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			return -1
		}
		return r
	}, plain(reference)))
}

// wideForms is how far Unicode's full-width forms (U+FF01 to U+FF5E) lie behind the ASCII characters that they repeat.
const wideForms = 0xfee0

// manualExpiry only has to lie ahead: a manual deposit is paid when it is made.
const manualExpiry = time.Hour

// ManualFound is what the store has for a manual deposit, read in the deciding transaction.
type ManualFound struct {
	Intake   IntakeFound // with the account and the day's total of the login
	Existing *Deposit    // with the code
	Wire     KnownWire
}

// KnownWire is what the store has under a bank's reference already.
type KnownWire struct {
	SameBank []Credit // rows of earlier manual deposits with the bank's reference, see [BankKey]
	Paid     []Credit // rows of a provider's payment whose id is given as the bank's reference
}

// Refusal is why the wire is not entered again; nil where nothing but closed rows has its reference. It is pure.
func (k KnownWire) Refusal(bank string) error {
	for _, row := range k.SameBank {
		if row.State != Cancelled {
			return Refuse("bank_reference_known", "credit %d (%s) has the bank reference %q already, or differs from it in spaces, signs or case alone", row.ID, row.State, clip(bank))
		}
	}
	for _, row := range k.Paid {
		if row.State != Cancelled {
			return Refuse("payment_known", "the bank reference %q is the payment of credit %d (%s): it is not entered a second time", clip(bank), row.ID, row.State)
		}
	}
	return nil
}

// ManualNeeds lists what a decision about the deposit must be shown, as for any event.
func (m Manual) ManualNeeds() IntakeNeeds {
	return IntakeNeeds{Provider: ManualProvider, MessageKey: m.Entry, Digest: m.Digest, Kind: ManualKind, Account: manualAccount, PaidAt: m.ReceivedAt}
}

// TakeManual decides a deposit that two people entered (design §4): the checks of a new deposit, then those of a paid
// part, as for any other payment. The same bank reference is taken once, unless its row was closed. It is pure.
func TakeManual(m Manual, p People, found ManualFound, rules DepositRules) (Changes, error) {
	s := found.Intake.Settings
	switch {
	case s.beforeGoLive():
		return Changes{}, Refuse("mode", "the mode is %s and this store has not gone live: the flow before credits; go live first", s.Mode)
	case !s.CutoverAt.IsZero() && m.ReceivedAt.Before(s.CutoverAt):
		return Changes{}, Refuse("pre_cutover", "the wire came in before the cut-over of %s, when the flow before credited", timeText(s.CutoverAt))
	case m.ReceivedAt.After(rules.Now.Add(24 * time.Hour)):
		return Changes{}, Refuse("received_at", "the wire cannot come in as late as %s", timeText(m.ReceivedAt))
	case BankKey(m.Bank) == "":
		return Changes{}, Refuse("bank_reference", "a manual deposit needs the bank's reference, with a letter or a digit in it")
	}
	if err := found.Wire.Refusal(m.Bank); err != nil {
		return Changes{}, err
	}
	d := Deposit{
		Code: m.Code, Owner: ManualProvider, Client: m.Client, Server: m.Server, Login: m.Login, Provider: ManualProvider,
		Paid: m.Amount, Credited: m.Amount, CreatedAt: instant(rules.Now), ExpiresAt: instant(rules.Now.Add(manualExpiry)),
		Identity: rules.Identities[m.Server],
	}
	allowed := rules
	allowed.Providers, allowed.LongestLife = append(slices.Clone(rules.Providers), ManualProvider), max(rules.LongestLife, manualExpiry)
	if err := checkDeposit(d, DepositFound{Settings: s, Existing: found.Existing, Account: found.Intake.Account}, allowed); err != nil {
		return Changes{}, err
	}
	return takeManual(m, p, d, wirePayment(m.Bank, len(found.Wire.SameBank)), found.Intake, rules.IntakeRules)
}

// wirePayment is the unit's payment of a wire: a function of the bank's reference, so that a wire which is entered again into
// a store that an older backup took its row from has the reference that its deal at MT5 carries, and is found there. closed is
// how many rows of the same wire were closed without a deal before.
func wirePayment(bank string, closed int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "wire\x00%s\x00%d", BankKey(bank), closed))
	return hex.EncodeToString(sum[:16])
}

func takeManual(m Manual, p People, d Deposit, payment string, found IntakeFound, rules IntakeRules) (Changes, error) {
	found.Deposit = &d
	in := intake{rules: rules, found: found, actor: p.Actor, event: Event{
		ID: found.NextEvent, Provider: ManualProvider, Kind: ManualKind, Account: manualAccount, MessageKey: m.Entry,
		Digest: m.Digest, Body: m.Body, ReceivedAt: rules.Now,
		Headers: map[string]string{"Decided-By": p.Actor, "Reason": plain(p.Reason)},
		Facts: Facts{
			Type: "bank wire", Effect: EffectPaid, Payment: payment, Parts: []Part{{Amount: m.Amount}}, Movement: plain(m.Bank),
			Code: m.Code, Live: found.Settings.Environment == "live", OccurredAt: instant(m.ReceivedAt),
		},
	}}
	if found.Prior != nil || len(found.Rows) > 0 {
		return Changes{}, Refuse("used", "the deposit has been made already")
	}
	if err := in.paid(); err != nil {
		return Changes{}, fmt.Errorf("manual deposit of %s for login %d: %w", m.Amount, m.Login, err)
	}
	return in.finish(), nil
}
