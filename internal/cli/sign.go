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
			"  creditonce sign --code 4f1c...  --amount 500.00 --currency USD --send --ca-file ca.pem\n" +
			"  creditonce sign --provider wallet --event refund --amount 500.00 --currency USD",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), p) },
	}
	configFlag(cmd, &s.config)
	f := cmd.Flags()
	f.StringVar(&s.provider, "provider", "", "name of the provider in the configuration (default: the only one)")
	f.StringVar(&s.event, "event", "", "of a stripe provider (default payment_intent.succeeded): "+strings.Join(fakepsp.EventNames(), ", ")+
		"; of a standard provider (default paid): "+strings.Join(standardEvents(), ", "))
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
	c, err := loadConfig(p, chosen(p, s.config))
	if err != nil {
		return err
	}
	name, err := s.providerOf(c)
	if err != nil {
		return err
	}
	make := s.stripe
	if c.Providers[name].Kind == config.KindStandard {
		make = s.standard
	}
	request, err := make(p, c, c.Providers[name])
	if err != nil {
		return err
	}
	if request.url = s.url; s.url == "" {
		request.url = listenerURL(c) + "/webhooks/" + name
	}
	if !s.send {
		return request.print(p)
	}
	return s.post(ctx, p, request)
}

// signed is one request that a provider could send.
type signed struct {
	url     string
	headers map[string]string
	body    []byte
}

func (r signed) print(p *Process) error {
	text := "POST " + r.url + "\nContent-Type: application/json\n"
	for _, name := range slices.Sorted(maps.Keys(r.headers)) {
		text += name + ": " + r.headers[name] + "\n"
	}
	_, err := fmt.Fprintf(p.Stdout, "%s\n%s\n", text, r.body)
	return err
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

// stripe makes and signs one event about a fresh payment as Stripe would.
func (s signing) stripe(p *Process, c *config.Config, from config.Provider) (signed, error) {
	if s.event == "" {
		s.event = "payment_intent.succeeded"
	}
	if !slices.Contains(fakepsp.EventNames(), s.event) {
		return signed{}, usagef("--event %q: want one of %s", s.event, strings.Join(fakepsp.EventNames(), ", "))
	}
	minor, err := s.minor(from)
	if err != nil {
		return signed{}, err
	}
	maker, err := newMaker(p)
	if err != nil {
		return signed{}, err
	}
	payment, err := maker.NewPayment(s.code, minor, strings.ToLower(s.currency), fakepsp.Options{Live: c.Environment == config.Live})
	if err != nil {
		return signed{}, usagef("%w", err)
	}
	refund, err := maker.NewRefund(payment, minor, "succeeded")
	if err != nil {
		return signed{}, fmt.Errorf("make the refund: %w", err)
	}
	dispute, err := maker.NewDispute(payment, minor, "needs_response")
	if err != nil {
		return signed{}, fmt.Errorf("make the dispute: %w", err)
	}
	event, err := maker.EventNamed(s.event, fakepsp.Subject{Payment: payment, Refund: refund, Dispute: dispute})
	if err != nil {
		return signed{}, usagef("--event %s: %w", s.event, err)
	}
	header := fakepsp.Sign(string(from.Secrets[0].Reveal()), event.Body, p.Now())
	return signed{headers: map[string]string{fakepsp.SignatureHeader: header}, body: event.Body}, nil
}

// minor is the amount in the provider's minor units, as the simulated provider counts them.
func (s signing) minor(from config.Provider) (int64, error) {
	amount, err := app.ProviderAmount(from, s.amount, strings.ToUpper(s.currency))
	if err != nil {
		return 0, usagef("--amount %s --currency %s: %s", s.amount, s.currency, inWords(err))
	}
	if units := amount.Units(); units.IsInt64() && units.Int64() < 1<<53 {
		return units.Int64(), nil
	}
	return 0, usagef("--amount %s: want less than 2^53 minor units", s.amount)
}

// inWords leaves out the mark by which programs know the class of an error.
func inWords(err error) string { return strings.TrimSuffix(err.Error(), ": invalid") }

func newMaker(p *Process) (*fakepsp.Maker, error) {
	var seed [32]byte
	if _, err := p.Random.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("draw ids: %w", err)
	}
	return fakepsp.NewMaker(seed, p.Now), nil
}

func (s signing) post(ctx context.Context, p *Process, request signed) error {
	client, err := fakepsp.Client(s.caFile, 15*time.Second)
	if err != nil {
		return fmt.Errorf("--ca-file: %w", err)
	}
	status, err := fakepsp.PostWith(ctx, client, request.url, request.body, request.headers)
	if err != nil {
		return exitWith(ExitNoAnswer, fmt.Errorf("send to %s: %w; is the service running, and does --ca-file fit its certificate?", request.url, err))
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s answered %d\n", request.url, status)
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
