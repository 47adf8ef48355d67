package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"creditonce/webhook/fakepsp"
)

// fakePSP is what `fakepsp` is asked for.
type fakePSP struct {
	cfg         fakepsp.Config
	secretFiles []string
	apiKeyFile  string
}

// fakePSPCommand is hidden: it is a part of the demo. It prints {"control", "api"} when it is ready.
func fakePSPCommand(p *Process) *cobra.Command {
	var f fakePSP
	cmd := &cobra.Command{
		Use:    "fakepsp --url URL --secret-file FILE --journal FILE",
		Short:  "Run a simulated payment provider",
		Hidden: true,
		Long: "fakepsp makes payments when its control port (plain HTTP on loopback) is asked to, and delivers their signed events\n" +
			"to a webhook until each has its 2xx. With --api it answers GET /v1/events as Stripe's API does; its faults are set at the\n" +
			"control port, POST /api. It prints one line of JSON when it is ready: {\"control\"}, with --api also {\"api\"}.",
		Example: "  creditonce fakepsp --url https://127.0.0.1:8080/webhooks/stripe-main --ca-file ca.pem --secret-file webhook \\\n" +
			"    --journal provider.jsonl --control 127.0.0.1:9000\n" +
			"  curl -s 127.0.0.1:9000/payments -d '{\"code\":\"...\",\"amount_minor\":5000,\"currency\":\"usd\",\"delivery\":{}}'",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	v := cmd.Flags()
	v.StringVar(&f.cfg.URL, "url", "", "https URL of the webhook")
	v.StringVar(&f.cfg.CAFile, "ca-file", "", "PEM file of the CA of the webhook's certificate (default: the system's)")
	v.StringSliceVar(&f.secretFiles, "secret-file", nil, "file with a signing secret; repeat the flag during a rotation")
	v.StringVar(&f.cfg.Journal, "journal", "", "file of payments, events and attempts; what had no 2xx goes on at the next start")
	v.StringVar(&f.cfg.Control, "control", "127.0.0.1:0", "loopback host:port of the control port")
	v.StringVar(&f.cfg.API.Listen, "api", "", "loopback host:port of the provider's own API, plain HTTP (default: none)")
	v.StringVar(&f.apiKeyFile, "api-key-file", "", "file with the key that the API takes")
	v.StringVar(&f.cfg.API.Account, "account", "acct_1ExampleAccount", "merchant account that the key belongs to")
	v.Uint64Var(&f.cfg.Seed, "seed", 1, "draws ids and the disorder")
	v.IntVar(&f.cfg.Disorder.Repeat, "repeat", 0, "percent of events that are delivered more than once")
	v.IntVar(&f.cfg.Disorder.Reorder, "reorder", 0, "percent of deliveries that are held back")
	v.DurationVar(&f.cfg.Disorder.MaxDelay, "max-delay", 0, "longest time that a delivery is held back")
	v.DurationVar(&f.cfg.Backoff.Max, "backoff-max", time.Second, "longest pause between attempts")
	return cmd
}

func (f fakePSP) run(ctx context.Context, p *Process) error {
	if f.cfg.URL == "" || f.cfg.Journal == "" || len(f.secretFiles) == 0 {
		return usagef("--url, --secret-file and --journal are needed; see: creditonce fakepsp --help")
	}
	for _, path := range f.secretFiles {
		text, err := os.ReadFile(path)
		if err != nil {
			return usagef("--secret-file: %w", err)
		}
		f.cfg.Secrets = append(f.cfg.Secrets, string(bytes.TrimRight(text, "\r\n")))
	}
	if f.cfg.API.Listen != "" {
		key, err := os.ReadFile(f.apiKeyFile)
		if err != nil {
			return usagef("--api-key-file: %w", err)
		}
		f.cfg.API.Keys = []string{string(bytes.TrimRight(key, "\r\n"))}
	}
	f.cfg.Now = p.Now
	ctx, stop := untilParentEnds(ctx, p)
	defer stop()
	s, err := fakepsp.Start(ctx, f.cfg)
	if err != nil {
		return err
	}
	ready := map[string]string{"control": s.ControlAddr()}
	if s.APIAddr() != "" {
		ready["api"] = s.APIAddr()
	}
	if err := json.NewEncoder(p.Stdout).Encode(ready); err != nil {
		return fmt.Errorf("print where the provider listens: %w", err)
	}
	<-ctx.Done()
	return s.Close()
}
