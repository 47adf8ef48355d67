package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/internal/psp/ask"
	psp "creditonce/internal/psp/stripe"
	"creditonce/webhook"
	"creditonce/webhook/stripe"
)

// wirePulls gives each provider whose list may be read its puller, on the accept path of the webhooks.
func (a *App) wirePulls(points []webhook.Endpoint, reception *credit.Reception) error {
	for _, point := range points {
		p := a.cfg.Providers[point.Name]
		if p.Kind != config.KindStripe || !p.List.Key.IsSet() {
			continue
		}
		client, err := psp.New(psp.Config{
			URL: p.List.URL, Key: p.List.Key.Reveal, Account: p.Account, Live: a.cfg.Environment == config.Live, Types: stripe.ListedTypes(),
			Now: a.clock.Now, Wait: a.pause, Spread: rand.Float64,
		})
		if err != nil {
			return fmt.Errorf("provider %s: %w", point.Name, err)
		}
		a.teardown.add("close the connection to provider "+point.Name, func(context.Context) error { client.Close(); return nil })
		a.pullers = append(a.pullers, &credit.Puller{
			Provider: point.Name, List: &stripeList{client, point, a.clock}, Book: a.store, Receive: reception.Receive,
			Clock: a.clock, Observer: a.observer, Every: p.List.Every,
		})
	}
	return nil
}

// pause waits for d on the boot clock.
func (a *App) pause(ctx context.Context, d time.Duration) error {
	return a.clock.Wait(ctx, a.clock.Boot()+d, nil)
}

// stripeList is Stripe's list of events as the domain asks for it.
type stripeList struct {
	client *psp.Client
	point  webhook.Endpoint
	clock  credit.Clock
}

var _ credit.EventList = (*stripeList)(nil)

// Kept implements credit.EventList.
func (l *stripeList) Kept() time.Duration { return psp.Kept }

// Pull implements credit.EventList.
func (l *stripeList) Pull(ctx context.Context, from, to time.Time, take func(credit.Event) error) (time.Time, error) {
	got, err := l.client.Events(ctx, from, to, func(e psp.Event) error {
		return take(webhook.PulledEvent(l.point, e.ID, e.Raw, l.clock.Now()))
	})
	return got.Until, l.explained(err)
}

// explained says in the domain's words what a fault of the list means, and what a person can do.
func (l *stripeList) explained(err error) error {
	f := ask.FaultOf(err)
	if f == nil {
		return err
	}
	option := "providers." + l.point.Name + ".api_key"
	switch f.Reason {
	case psp.Expired:
		return fmt.Errorf("%w: %w", credit.ErrExpired, err)
	case ask.Denied:
		return &credit.PullRefusal{Err: err, Next: "make a restricted key with the right to read Events, and those that they are about (PaymentIntents, Checkout " +
			"Sessions, Charges and Refunds, Disputes), in Stripe's dashboard under API keys; put it where " + option + " says, and start the service again"}
	case ask.Foreign:
		return &credit.PullRefusal{Err: err, Next: "put a key of the account and environment that the configuration names where " + option +
			" says, and start the service again; nothing of the other account was taken in"}
	case ask.Limited, ask.Unavailable, ask.Odd, ask.TooLarge, ask.Refused:
	}
	return err
}
