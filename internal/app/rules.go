package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
)

// longestDepositLife is the furthest that a portal may set an expiry: beyond it a rate is history.
const longestDepositLife = 30 * 24 * time.Hour

// timing translates the configured waits and refuses what the protocol is not safe with.
func timing(c *config.Config) (credit.Timing, error) {
	t := credit.DefaultTiming()
	t.Lease, t.SendWithin, t.FreshFor = c.Credit.Lease, c.Credit.SendDeadline, c.Credit.FreshFor
	t.Quarantine, t.SecondLook = c.Credit.Quarantine, c.Credit.SecondLookAfter
	t.Looks, t.LookEvery, t.LookWithTask = slices.Clone(c.Credit.Looks), c.Credit.LookEvery, c.Credit.LookEveryWithTask
	t.TaskAfter, t.HeldGrace, t.Watch = c.Credit.TaskAfter, c.Credit.HeldGrace, c.Credit.ReissueWatch
	t.Retry = min(t.Retry, t.Looks[0])
	for label, s := range c.MT5.Servers {
		if err := t.Check(s.CallTimeout, c.Demo); err != nil {
			return credit.Timing{}, fmt.Errorf("mt5 server %s: %w", label, err)
		}
	}
	return t, nil
}

// mostReissues is how many calls may be repeated in an hour without a person: an outage leaves a handful in doubt, a hundred
// tell of something else.
const mostReissues = 20

// pace bounds what is done in an hour without a person: of all logins together not more than one login may have in a day.
func pace(c *config.Config) (credit.Pace, error) {
	sums, err := amounts(c, c.Limits.PerLoginDay)
	if err != nil {
		return credit.Pace{}, fmt.Errorf("limits.per_login_day: %w", err)
	}
	all, err := amounts(c, c.Limits.PerHour)
	if err != nil {
		return credit.Pace{}, fmt.Errorf("limits.per_hour: %w", err)
	}
	return credit.Pace{Reissues: mostReissues, Reissued: sums, Claimed: all}, nil
}

// intakeRules are the standing arguments of every intake decision; Now is set at each.
func intakeRules(c *config.Config) (credit.IntakeRules, error) {
	limits, err := amounts(c, c.Limits.PerLoginDay)
	if err != nil {
		return credit.IntakeRules{}, fmt.Errorf("limits.per_login_day: %w", err)
	}
	return credit.IntakeRules{HeldGrace: c.Credit.HeldGrace, DayLimits: limits, Servers: servers(c)}, nil
}

// servers are the labels of the configured MT5 servers: those that have lanes.
func servers(c *config.Config) []string { return slices.Sorted(maps.Keys(c.MT5.Servers)) }

// depositRules are the standing arguments of every new deposit; Now is set at each.
func depositRules(c *config.Config) (credit.DepositRules, error) {
	intake, err := intakeRules(c)
	if err != nil {
		return credit.DepositRules{}, err
	}
	perCredit, err := amounts(c, c.Limits.PerCredit)
	if err != nil {
		return credit.DepositRules{}, fmt.Errorf("limits.per_credit: %w", err)
	}
	r := credit.DepositRules{
		IntakeRules: intake, PerCredit: perCredit, Bands: map[string]credit.RateBand{},
		Identities: map[string]string{}, LongestLife: longestDepositLife,
	}
	for pair, band := range c.Rates.Bands {
		low, err := credit.ParseRate(band.Min)
		if err != nil {
			return credit.DepositRules{}, fmt.Errorf("rates.bands %s/%s: %w", pair.Paid, pair.Credited, err)
		}
		high, err := credit.ParseRate(band.Max)
		if err != nil {
			return credit.DepositRules{}, fmt.Errorf("rates.bands %s/%s: %w", pair.Paid, pair.Credited, err)
		}
		r.Bands[pair.Paid+"/"+pair.Credited] = credit.RateBand{Low: low, High: high}
	}
	for label, s := range c.MT5.Servers {
		r.Identities[label] = s.Identity
	}
	for label := range c.Providers {
		r.Providers = append(r.Providers, label)
	}
	slices.Sort(r.Providers)
	return r, nil
}

// amounts parses money per account currency with the digits that the MT5 servers keep it in.
func amounts(c *config.Config, texts map[string]string) (map[string]credit.Amount, error) {
	out := map[string]credit.Amount{}
	for currency, text := range texts {
		digits := 0
		for _, s := range c.MT5.Servers {
			digits = max(digits, s.Currencies[currency])
		}
		a, err := credit.ParseAmount(text, currency, digits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", currency, err)
		}
		out[currency] = a
	}
	return out, nil
}

// pins are the labels of the configuration and what they mean, as the store keeps them from first use on.
func pins(c *config.Config) []credit.Pin {
	var out []credit.Pin
	for label, p := range c.Providers {
		out = append(out, credit.Pin{Name: "provider/" + label, Value: p.Kind + " " + p.Account})
	}
	for label, s := range c.MT5.Servers {
		out = append(out, credit.Pin{Name: "mt5/" + label, Value: s.Identity})
	}
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b credit.Pin) int { return strings.Compare(a.Name, b.Name) }

// pinEnvironment is the PinError.Name of the store's environment.
const pinEnvironment = "environment"

// PinError says that the configuration gives a label another meaning than the store has pinned.
type PinError struct {
	Name, Pinned, Configured string
}

// Error implements error.
func (e *PinError) Error() string {
	what := fmt.Sprintf("%s was first used for %q and is now configured as %q, which this store never accepts", e.Name, e.Pinned, e.Configured)
	if e.Name == pinEnvironment {
		return what + ": set it back, or name another data_dir; test and real money never share a store"
	}
	return what + ": set it back, or give the new one a name of its own " +
		"(a reference derives from it, so a silent change would pay twice)"
}

// pinned adds what is new to the store's pins and refuses what has changed its meaning (design §2). It is pure.
func pinned(s credit.Settings, environment string, want []credit.Pin) (credit.Settings, error) {
	if s.Environment != environment {
		return s, &PinError{Name: pinEnvironment, Pinned: s.Environment, Configured: environment}
	}
	s.Pins = slices.Clone(s.Pins)
	for _, p := range want {
		i, known := slices.BinarySearchFunc(s.Pins, p, byName)
		switch {
		case !known:
			s.Pins = slices.Insert(s.Pins, i, p)
			s = credit.Unheard(s, p.Name)
		case s.Pins[i].Value != p.Value:
			return s, &PinError{Name: p.Name, Pinned: s.Pins[i].Value, Configured: p.Value}
		}
	}
	return s, nil
}
