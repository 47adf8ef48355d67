package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/alert"
	"creditonce/internal/config"
)

// demoWindow is how long a demo collects what it tells people.
const demoWindow = time.Second

// wireAlerts builds a sender for each place where people are told: a channel of its own for each address, so that one
// that a mail server refuses keeps nobody else waiting. The store learns which channels there are; without any it
// writes no notices.
func (a *App) wireAlerts(ctx context.Context) error {
	transports, err := alertTransports(a.cfg.Alerts, a.clock)
	if err != nil {
		return err
	}
	window := alert.Window
	if a.cfg.Demo {
		window = demoWindow
	}
	var names []string
	for name, transport := range transports {
		names = append(names, name)
		a.senders = append(a.senders, &alert.Sender{
			Channel: name, Outbox: a.store, Transport: transport, Clock: a.clock, Window: window, Report: a.observer.alerted,
		})
	}
	slices.Sort(names)
	return a.store.SetChannels(ctx, names)
}

// alertTransports are the ways to tell people, by the name of the channel as status shows it.
func alertTransports(c config.Alerts, clock credit.Clock) (map[string]alert.Transport, error) {
	out := map[string]alert.Transport{}
	if e := c.Email; e != nil {
		roots, err := rootsOf(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("alerts.email.ca_file: %w", err)
		}
		for _, to := range e.To {
			email, err := alert.NewEmail(alert.EmailConfig{
				Server: e.Server, Security: alert.Security(e.TLS), Roots: roots, Username: e.Username, Password: string(e.Password.Reveal()),
				From: e.From, To: to, Now: clock.Now,
			})
			if err != nil {
				return nil, fmt.Errorf("alerts.email: %w", err)
			}
			out["email "+to] = email
		}
	}
	if w := c.Webhook; w != nil {
		roots, err := rootsOf(w.CAFile)
		if err != nil {
			return nil, fmt.Errorf("alerts.webhook.ca_file: %w", err)
		}
		if out["webhook"], err = alert.NewWebhook(w.URL, string(w.Secret.Reveal()), roots, clock.Now); err != nil {
			return nil, fmt.Errorf("alerts.webhook: %w", err)
		}
	}
	return out, nil
}

// rootsOf reads PEM roots; nil, the system's, where no file is named.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return roots, nil
}

// undelivered is how many notices the channel that is furthest behind has not delivered, and the channels on which some
// wait; -1 where there is no channel, or the store does not say.
func (a *App) undelivered() (int, []admin.AlarmChannel) {
	states, err := a.store.Channels(context.Background())
	if err != nil || len(states) == 0 {
		return -1, nil
	}
	most := 0
	var waiting []admin.AlarmChannel
	for _, s := range states {
		if most = max(most, s.Waiting); s.Waiting > 0 {
			waiting = append(waiting, admin.AlarmChannel{
				Name: s.Channel.Name, Waiting: s.Waiting, Oldest: s.Oldest, Attempts: s.Channel.Attempts,
				Failure: s.Channel.Failure, FailedAt: s.Channel.FailedAt,
			})
		}
	}
	return most, waiting
}

// alerted logs an attempt to tell people.
func (o *observer) alerted(r alert.Report) {
	e := o.log.Info()
	message := "alert delivered"
	if r.Err != nil {
		e, message = o.log.Warn().Err(r.Err).Dur("retry_ms", r.Retry), "alert not delivered"
	}
	e.Str("channel", r.Channel).Str("alert", r.Message).Int("notices", r.Notices).Int("attempt", r.Attempt).Msg(message)
}
