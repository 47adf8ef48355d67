package app

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
	paypalapi "creditonce/internal/psp/paypal"
	stripeapi "creditonce/internal/psp/stripe"
	"creditonce/recon"
	"creditonce/recon/adyen"
	"creditonce/recon/checkout"
	"creditonce/recon/dlocal"
	"creditonce/recon/mapped"
	"creditonce/recon/paypal"
	"creditonce/recon/stripe"
)

// providerList is the settlement list of one provider; false: the configuration names none.
func (a *App) providerList(label string) (recon.ProviderList, bool, error) {
	p := a.cfg.Providers[label]
	s := p.Settlement
	if s.Format == "" {
		return recon.ProviderList{}, false, nil
	}
	out := recon.ProviderList{Provider: providerOf(label, p), Delay: s.UsualDelay, Every: s.Every, Answers: lineTypes(s.RowTypes), Absent: s.Absent}
	if faults := mappedFaults(label, p); len(faults) > 0 {
		return out, false, fmt.Errorf("%s", strings.Join(faults, "; "))
	}
	if !s.Pull {
		return out, true, nil
	}
	var err error
	switch s.Format {
	case "stripe":
		out.Pull, err = a.stripePull(label, p)
	case "paypal":
		out.Pull, err = a.paypalPull(label, p)
	}
	if err != nil {
		return out, false, fmt.Errorf("provider %s: %w", label, err)
	}
	return out, true, nil
}

type pullLines = func(ctx context.Context, from, until time.Time, emit func(recon.Line) error) (recon.Statement, error)

func (a *App) stripePull(label string, p config.Provider) (pullLines, error) {
	client, err := stripeapi.New(stripeapi.Config{
		URL: p.List.URL, Key: p.List.Key.Reveal, Account: p.Account, Live: a.cfg.Environment == config.Live,
		Now: a.clock.Now, Wait: a.pause, Spread: rand.Float64,
	})
	if err != nil {
		return nil, err
	}
	a.teardown.add("close the settlement connection to provider "+label, func(context.Context) error { client.Close(); return nil })
	return stripe.NewPuller(client, a.readOptions(label, "api", p), p.Settlement.Manual).Pull, nil
}

func (a *App) paypalPull(label string, p config.Provider) (pullLines, error) {
	api := p.Settlement.PayPal
	client, err := paypalapi.New(paypalapi.Config{
		URL: api.URL, ID: api.ClientID, Secret: api.Secret.Reveal, Live: a.cfg.Environment == config.Live, Now: a.clock.Now, Wait: a.pause, Spread: rand.Float64,
	})
	if err != nil {
		return nil, err
	}
	a.teardown.add("close the settlement connection to provider "+label, func(context.Context) error { client.Close(); return nil })
	return paypal.NewPuller(client, a.readOptions(label, "api", p)).Pull, nil
}

// statementReader makes the reader of one file. The format is one of the configuration's own list.
func (a *App) statementReader(label, name string, p config.Provider) (recon.Reader, error) {
	o := a.readOptions(label, name, p)
	switch p.Settlement.Format {
	case "stripe":
		return stripe.NewReader(o), nil
	case "adyen":
		return adyen.NewReader(o), nil
	case "paypal":
		return paypal.NewReader(o), nil
	case "checkout":
		return checkout.NewReader(o), nil
	case "dlocal":
		return dlocal.NewReader(o), nil
	default:
		return mapped.NewReader(o, mappedOf(p.Settlement.Mapped))
	}
}

func (a *App) readOptions(label, name string, p config.Provider) recon.ReadOptions {
	s := p.Settlement
	location, err := time.LoadLocation(s.TimeZone)
	if err != nil { // the configuration was checked
		location = time.UTC
	}
	return recon.ReadOptions{
		Provider: providerOf(label, p), Name: name, Merchant: s.Merchant, Location: location, RowTypes: lineTypes(s.RowTypes), Exponents: s.Exponents, Rounding: a.recon.runner.Rounding,
	}
}

// MappedFaults are the mistakes in what the configuration says about mapped exports, each with the path of its key.
func MappedFaults(c *config.Config) []string {
	var out []string
	for _, label := range slices.Sorted(maps.Keys(c.Providers)) {
		out = append(out, mappedFaults(label, c.Providers[label])...)
	}
	return out
}

func mappedFaults(label string, p config.Provider) []string {
	if p.Settlement.Format != "mapped" {
		return nil
	}
	var out []string
	for _, f := range mappedOf(p.Settlement.Mapped).Check() {
		out = append(out, fmt.Sprintf("providers.%s.settlement.mapped.%s: %s", label, f.Path, f.Text))
	}
	return out
}

// mappedOf puts the configuration's words into the reader's.
func mappedOf(m config.Mapped) mapped.Config {
	currency := func(c config.MappedCurrency) mapped.Currency { return mapped.Currency(c) }
	amount := func(a config.MappedAmount) mapped.Amount { return mapped.Amount(a) }
	out := mapped.Config{
		File: mapped.File(m.File), Columns: mapped.Columns(m.Columns), Time: mapped.Time(m.Time), Settled: mapped.Time(m.Settled),
		Currency: currency(m.Currency), NetCurrency: currency(m.NetCurrency), Unit: m.Unit, Gross: amount(m.Gross), Net: amount(m.Net),
		Type: mapped.Type(m.Type), Totals: mapped.Totals{Begins: m.TotalsBegin},
	}
	for _, f := range m.Fees {
		out.Fees = append(out.Fees, mapped.Fee(f))
	}
	for _, f := range m.Filters {
		out.Filters = append(out.Filters, mapped.Filter(f))
	}
	return out
}

func lineTypes(words map[string]string) map[string]recon.LineType {
	out := map[string]recon.LineType{}
	for word, t := range words {
		out[word] = recon.LineType(t)
	}
	return out
}

// clockRule is how a server's clock runs by the configuration.
func clockRule(c config.ServerClock) (recon.ServerClock, error) {
	if c.Zone == "" {
		return recon.ServerClock{}, nil
	}
	location, err := time.LoadLocation(c.Zone)
	return recon.ServerClock{Location: location, Ahead: c.Ahead}, err
}

// knownPage bounds one read of the store.
const knownPage = 500

// knownLogins are the logins that are registered on a server, and those on which a deal is known, ascending.
func (a *App) knownLogins(ctx context.Context, label, identity string) ([]recon.KnownLogin, error) {
	found := map[uint64]*credit.Anchor{}
	for after := []byte(nil); ; {
		page, err := a.store.Accounts(ctx, credit.AccountQuery{Server: label, After: after, Limit: knownPage})
		if err != nil {
			return nil, err
		}
		for _, account := range page.Items {
			found[account.Login] = nil
		}
		if after = page.Next; after == nil {
			break
		}
	}
	for after := uint64(0); ; {
		page, err := a.store.Anchors(ctx, identity, after, knownPage)
		if err != nil {
			return nil, err
		}
		for _, k := range page {
			found[k.Login], after = k.Anchor, k.Login
		}
		if len(page) < knownPage {
			break
		}
	}
	out := make([]recon.KnownLogin, 0, len(found))
	for _, login := range slices.Sorted(maps.Keys(found)) {
		out = append(out, recon.KnownLogin{Login: login, Anchor: found[login]})
	}
	return out, nil
}

// halt stops all payments after a mass mismatch, with one task (protocol-holes.md, H19). Looking and intake go on.
func (a *App) halt(ctx context.Context, reason string) error {
	opened, err := a.store.ChangeStore(ctx, func(s credit.Settings) (credit.StoreChange, error) {
		change, _, err := credit.HoldForBreaches(s, []credit.Breach{{Key: "reconciliation: " + reason, Name: "reconciliation", Text: reason}}, a.clock.Now())
		return change, err
	})
	if err != nil {
		return fmt.Errorf("stop payments: %w", err)
	}
	for _, t := range opened {
		a.observer.Note(ctx, credit.Note{What: "task opened", Task: &t})
	}
	a.log.Error().Str("reason", reason).Msg("mode hold: nothing is claimed until people have looked")
	return nil
}
