package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/webhook/fakepsp"
)

// signing is what `sign` is asked for.
type signing struct {
	config, provider, event string
	code, amount, currency  string
	send                    bool
	url, caFile             string
}

func signCommand(p *Process) *cobra.Command {
	var s signing
	cmd := &cobra.Command{
		Use:   "sign",
		Short: "Print or send a webhook signed with a provider's configured secret",
		Long: "sign makes an event as the provider would send it, signs it with the provider's first secret from the\n" +
			"configuration, and prints the request, or sends it with --send. Each call makes a new payment. For trying out an\n" +
			"installation: on a live store the event says live and is taken for real.",
		Example: "  creditonce sign --code 4f1c...  --amount 500.00 --currency USD\n" +
			"  creditonce sign --code 4f1c...  --amount 500.00 --currency USD --send --ca-file ca.pem",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), p) },
	}
	configFlag(cmd, &s.config)
	f := cmd.Flags()
	f.StringVar(&s.provider, "provider", "", "name of the provider in the configuration (default: the only one)")
	f.StringVar(&s.event, "event", "payment_intent.succeeded", "one of: "+strings.Join(fakepsp.EventNames(), ", "))
	f.StringVar(&s.code, "code", "", "deposit code that travels with the payment")
	f.StringVar(&s.amount, "amount", "", "amount in major units, such as 500.00")
	f.StringVar(&s.currency, "currency", "", "currency, such as USD")
	f.BoolVar(&s.send, "send", false, "send the request instead of printing it")
	f.StringVar(&s.url, "url", "", "where to send it (default: this configuration's listener)")
	f.StringVar(&s.caFile, "ca-file", "", "PEM file of the CA that signed the listener's certificate (default: the system's)")
	return cmd
}

func (s signing) run(ctx context.Context, p *Process) error {
	if s.amount == "" || s.currency == "" {
		return usagef("--amount and --currency are needed; see: creditonce sign --help")
	}
	minor, err := app.ProviderMinor(s.amount, strings.ToUpper(s.currency))
	if err != nil {
		return usagef("--amount %s --currency %s: %w", s.amount, s.currency, err)
	}
	c, err := loadConfig(p, chosen(p, s.config))
	if err != nil {
		return err
	}
	name, err := s.providerOf(c)
	if err != nil {
		return err
	}
	body, err := s.body(p, c, minor)
	if err != nil {
		return err
	}
	header := fakepsp.Sign(string(c.Providers[name].Secrets[0].Reveal()), body, p.Now())
	url := s.url
	if url == "" {
		url = listenerURL(c) + "/webhooks/" + name
	}
	if !s.send {
		_, err := fmt.Fprintf(p.Stdout, "POST %s\nContent-Type: application/json\n%s: %s\n\n%s\n", url, fakepsp.SignatureHeader, header, body)
		return err
	}
	return s.post(ctx, p, url, body, header)
}

func (s signing) providerOf(c *config.Config) (string, error) {
	names := slices.Sorted(maps.Keys(c.Providers))
	if s.provider == "" && len(names) == 1 {
		return names[0], nil
	}
	if !slices.Contains(names, s.provider) {
		return "", usagef("--provider %q: the configuration has %s", s.provider, strings.Join(names, ", "))
	}
	return s.provider, nil
}

// body makes one event about a fresh payment.
func (s signing) body(p *Process, c *config.Config, minor int64) ([]byte, error) {
	if !slices.Contains(fakepsp.EventNames(), s.event) {
		return nil, usagef("--event %q: want one of %s", s.event, strings.Join(fakepsp.EventNames(), ", "))
	}
	var seed [32]byte
	if _, err := p.Random.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("draw ids: %w", err)
	}
	maker := fakepsp.NewMaker(seed, p.Now)
	payment, err := maker.NewPayment(s.code, minor, strings.ToLower(s.currency), fakepsp.Options{Live: c.Environment == config.Live})
	if err != nil {
		return nil, usagef("%w", err)
	}
	subject := fakepsp.Subject{Payment: payment}
	refund, err := maker.NewRefund(payment, minor, "succeeded")
	if err != nil {
		return nil, fmt.Errorf("make the refund: %w", err)
	}
	dispute, err := maker.NewDispute(payment, minor, "needs_response")
	if err != nil {
		return nil, fmt.Errorf("make the dispute: %w", err)
	}
	subject.Refund, subject.Dispute = refund, dispute
	event, err := maker.EventNamed(s.event, subject)
	if err != nil {
		return nil, usagef("--event %s: %w", s.event, err)
	}
	return event.Body, nil
}

func (s signing) post(ctx context.Context, p *Process, url string, body []byte, header string) error {
	client, err := fakepsp.Client(s.caFile, 15*time.Second)
	if err != nil {
		return fmt.Errorf("--ca-file: %w", err)
	}
	status, err := fakepsp.Post(ctx, client, url, body, header)
	if err != nil {
		return exitWith(ExitNoAnswer, fmt.Errorf("send to %s: %w; is the service running, and does --ca-file fit its certificate?", url, err))
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s answered %d\n", url, status)
	if status/100 != 2 {
		return exitWith(ExitFailed, errors.New("the event was not accepted; the service's log says why"))
	}
	return nil
}

func listenerURL(c *config.Config) string {
	scheme := "http://"
	if c.Webhooks.TLS != nil {
		scheme = "https://"
	}
	return scheme + c.Webhooks.Listen
}
