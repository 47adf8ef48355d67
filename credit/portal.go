package credit

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Answer is what an API call was answered with: kept under its idempotency key and replayed byte for byte.
type Answer struct {
	Status int    `json:"status"`
	Body   []byte `json:"body"`
	Replay bool   `json:"-"` // this is the stored first answer
}

// IdempotencyKey scopes a key that a client chose: route and key owner (design §5).
type IdempotencyKey struct {
	Route string
	Owner string
	Key   string
}

// NewDeposit is a portal's wish for a deposit, parsed and complete: Code and ExpiresAt are set by the caller.
type NewDeposit struct {
	Key       IdempotencyKey
	InputHash []byte // SHA-256 of the input, canonical: the same key with another hash is ErrMismatch
	Deposit   Deposit
	// Render makes the answer that is stored under the key. It is pure: the store may call it more than once.
	Render func(DepositView) (Answer, error)
	// DryRun makes every check and writes nothing.
	DryRun bool
}

// DepositRules are the arguments of a deposit that the store does not hold.
type DepositRules struct {
	IntakeRules
	PerCredit   map[string]Amount   // the most that one deposit may credit, by account currency; without an entry: no limit
	Bands       map[string]RateBand // by pair, "EUR/USD": paid / credited
	Identities  map[string]string   // MT5 server label -> identity
	Providers   []string            // labels of the configured providers
	LongestLife time.Duration       // the furthest that an expiry may lie ahead
}

// RateBand is the range in which a rate must lie, both ends included.
type RateBand struct{ Low, High Rate }

// DepositFound is what the store has for a new deposit, read in the deciding transaction.
type DepositFound struct {
	Settings Settings
	Answer   *Answer // stored under the idempotency key
	Hash     []byte  // the input hash stored with it
	Existing *Deposit
	Account  *Account
	Waiting  []Credit    // held rows that wait for the code, earliest payment first
	Reversed map[ID]bool // waiting rows whose payment has a known refund or dispute
	DayTotal Amount
	Around   []Credit // see [IntakeFound], for the earliest payment that waits
}

// DepositOutcome is a decided deposit.
type DepositOutcome struct {
	Changes Changes
	Answer  Answer
	Store   bool // write Changes and keep Answer under the key; false: a replay, or a dry run
}

var codeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{22,64}$`)

// ValidCode tells whether a portal may bring the text as a deposit code (design §2).
func ValidCode(code string) bool { return codeForm.MatchString(code) }

// OpenDeposit decides a new deposit (design §5). It is pure. It returns ErrMismatch for a key that came with
// another input, and a *RefusedError with a stable code for everything that is understood and not allowed.
func OpenDeposit(n NewDeposit, found DepositFound, rules DepositRules) (DepositOutcome, error) {
	if found.Answer != nil {
		if !bytes.Equal(found.Hash, n.InputHash) {
			return DepositOutcome{}, fmt.Errorf("idempotency key of %s: %w", n.Key.Route, ErrMismatch)
		}
		replay := *found.Answer
		replay.Replay = true
		return DepositOutcome{Answer: replay}, nil
	}
	if err := checkDeposit(n.Deposit, found, rules); err != nil {
		return DepositOutcome{}, err
	}
	d := n.Deposit
	d.CreatedAt, d.ExpiresAt, d.RateAt = instant(rules.Now), instant(d.ExpiresAt), instant(d.RateAt)
	d.Identity = rules.Identities[d.Server]
	changes, row, err := takeWaiting(d, found, rules.IntakeRules)
	if err != nil {
		return DepositOutcome{}, fmt.Errorf("open deposit %s: %w", d.Code, err)
	}
	day := joining{rules: rules.IntakeRules, dayTotal: found.DayTotal, taken: &Amount{}}
	view := DepositView{Deposit: *changes.Deposit, Row: row, OverDay: row == nil && day.overLimit(d.Credited)}
	if row != nil && row.State == Held && wantsTask(row.Holds, row.Restored) {
		view.Tasks = 1
	}
	answer, err := n.Render(view)
	if err != nil {
		return DepositOutcome{}, fmt.Errorf("open deposit %s: render answer: %w", d.Code, err)
	}
	return DepositOutcome{Changes: changes, Answer: answer, Store: !n.DryRun}, nil
}

// takeWaiting lets a new deposit take the earliest row that waits for its code; later ones join it held, as
// second parts.
func takeWaiting(d Deposit, found DepositFound, rules IntakeRules) (Changes, *Credit, error) {
	in := intake{
		actor: "api/" + d.Owner,
		found: IntakeFound{Settings: found.Settings, Account: found.Account, DayTotal: found.DayTotal, Around: found.Around},
		rules: rules,
	}
	in.out.Deposit = &d
	var first *Credit
	for _, row := range found.Waiting {
		var known []Hold
		if found.Reversed[row.ID] {
			known = []Hold{HoldReversal}
		}
		if err := in.join(row, d, known...); err != nil {
			return Changes{}, nil, err
		}
		if first == nil {
			after := in.out.Rows[len(in.out.Rows)-1].After
			first = &after
		}
	}
	return in.out, first, nil
}

func checkDeposit(d Deposit, found DepositFound, rules DepositRules) error {
	if _, ok := rules.Identities[d.Server]; !ok {
		return Refuse("unknown_server", "there is no MT5 server with the name %q", clip(d.Server))
	}
	if !slices.Contains(rules.Providers, d.Provider) {
		return Refuse("unknown_provider", "there is no provider with the name %q", clip(d.Provider))
	}
	if found.Existing != nil {
		return Refuse("code_taken", "a deposit with this code exists already")
	}
	if !ValidCode(d.Code) {
		return Refuse("bad_code", "a deposit code is 22 to 64 characters of A-Z a-z 0-9 _ -")
	}
	a := found.Account
	if a == nil {
		return Refuse("unknown_account", "login %d is not registered on %s; PUT the account first", d.Login, d.Server)
	}
	if a.Client != d.Client {
		return Refuse("foreign_login", "login %d on %s does not belong to this client", d.Login, d.Server)
	}
	if a.Currency != d.Credited.Currency() || a.Digits != d.Credited.Exponent() {
		return Refuse("wrong_currency", "login %d is kept in %s with %d digits", d.Login, a.Currency, a.Digits)
	}
	if d.Paid.Sign() <= 0 || d.Credited.Sign() <= 0 {
		return Refuse("bad_amount", "amounts must be more than 0")
	}
	if limit, ok := rules.PerCredit[d.Credited.Currency()]; ok {
		if over, err := d.Credited.Cmp(limit); err != nil || over > 0 {
			return Refuse("limit_per_credit", "one deposit may credit at most %s", limit)
		}
	}
	if !d.ExpiresAt.After(rules.Now) || d.ExpiresAt.After(rules.Now.Add(rules.LongestLife)) {
		return Refuse("bad_expiry", "the expiry must lie ahead, by at most %s", rules.LongestLife)
	}
	return checkConversion(d, rules)
}

// checkConversion is the one place where a conversion is accepted (design §5): paid x rate = credited within
// one minor unit, and the rate inside the band of its pair.
func checkConversion(d Deposit, rules DepositRules) error {
	if d.Paid.Currency() == d.Credited.Currency() {
		if d.Rate.IsSet() {
			return Refuse("rate_not_needed", "paid and credited are both in %s: leave the rate out", d.Paid.Currency())
		}
		if !d.Paid.Equal(d.Credited) {
			return Refuse("conversion_differs", "without a conversion the credited amount must equal the paid one")
		}
		return nil
	}
	pair := d.Paid.Currency() + "/" + d.Credited.Currency()
	if !d.Rate.IsSet() || d.RateFrom == "" || d.RateAt.IsZero() {
		return Refuse("rate_missing", "%s needs a rate with its source and time", pair)
	}
	band, ok := rules.Bands[pair]
	if !ok {
		return Refuse("rate_without_band", "there is no band for %s in the configuration", pair)
	}
	if !d.Rate.Within(band.Low, band.High) {
		return Refuse("rate_outside_band", "the rate of %s must lie between %s and %s", pair, band.Low, band.High)
	}
	if d.RateAt.After(rules.Now.Add(time.Minute)) {
		return Refuse("bad_rate_time", "the rate's time lies in the future")
	}
	if !d.Rate.Agrees(d.Paid, d.Credited) {
		return Refuse("conversion_differs", "paid x rate is not the credited amount within one minor unit")
	}
	return nil
}

// CloseDeposit decides that a deposit is not to be paid any more (design §2): a payment that the provider dates later
// is held. It is pure. An expired deposit closes like an open one. Closing again changes nothing, and the first
// closing stays. A deposit that a payment has taken is refused as deposit_paid: what is paid is credited, or left to
// people. by is the API key's name.
func CloseDeposit(d Deposit, by string, now time.Time) (Changes, error) {
	switch {
	case d.Credit != 0:
		return Changes{}, Refuse("deposit_paid", "the deposit was paid; it cannot be closed any more")
	case !d.ClosedAt.IsZero():
		return Changes{}, nil
	}
	d.ClosedAt, d.ClosedBy = instant(now), by
	return Changes{Deposit: &d}, nil
}
