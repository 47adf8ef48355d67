package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"creditonce/mt5/fakemt5"
)

// fakeMT5 is what `fakemt5` is asked for.
type fakeMT5 struct {
	listen, control, journal string
	world, passwordFile      string
	identity                 string
	caOut, keyFile           string
	zoneMinutes              int
	dst                      string
}

func fakeMT5Command(p *Process) *cobra.Command {
	var f fakeMT5
	cmd := &cobra.Command{
		Use:   "fakemt5",
		Short: "Run a fake MT5 server, for trying out an installation",
		Long: "fakemt5 speaks the MT5 Web API over TLS with accounts of its own, writes every executed deal to its own journal,\n" +
			"and takes faults over a control port (plain HTTP on loopback): lost replies, late execution, cut pages and more.\n" +
			"When it is ready it prints one line of JSON: {\"listen\", \"control\", \"identity\", \"fingerprint\"}. It runs until\n" +
			"SIGINT or SIGTERM.\n\n" +
			"Without --world there are the manager 1000 and the logins 50001 (USD), 50002 (EUR) and 50003 (JPY). --world names a\n" +
			"JSON file: {\"server\", \"zone\": {\"offset_minutes\", \"dst\"}, \"managers\": [{\"login\"}], \"groups\": [{\"name\", \"currency\",\n" +
			"\"digits\"}], \"accounts\": [{\"login\", \"group\", \"balance\", \"seed_deals\"}]}; amounts are in minor units. Managers without\n" +
			"a password there get the one of --password-file.",
		Example: "  printf 'Secret-1' > password && chmod 600 password\n" +
			"  creditonce fakemt5 --listen 127.0.0.1:8443 --control 127.0.0.1:8444 --password-file password \\\n" +
			"    --ca-out mt5-ca.pem --journal mt5.jsonl\n" +
			"  curl -s 127.0.0.1:8444/faults -d '{\"where\":\"trade/balance\",\"kind\":\"apply_then_drop\",\"count\":1}'",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p, cmd.Flags().Changed) },
	}
	v := cmd.Flags()
	v.StringVar(&f.listen, "listen", "127.0.0.1:0", "host:port of the Web API; port 0 takes a free one")
	v.StringVar(&f.control, "control", "127.0.0.1:0", "loopback host:port of the control port")
	v.StringVar(&f.journal, "journal", "", "file of executed deals, read back at the start (default: in memory)")
	v.StringVar(&f.world, "world", "", "JSON file of managers, groups and accounts")
	v.StringVar(&f.passwordFile, "password-file", "", "file with the managers' password")
	v.StringVar(&f.identity, "identity", "", "name that the server gives itself (default: of --world, else ExampleBroker-Live)")
	v.StringVar(&f.caOut, "ca-out", "", "file for the server's certificate, as ca_file for the client")
	v.StringVar(&f.keyFile, "key-file", "", "file that keeps the certificate's key, so that a restart keeps the certificate of --ca-out")
	v.IntVar(&f.zoneMinutes, "zone-minutes", 120, "zone of the server's clock, minutes east of UTC without daylight saving")
	v.StringVar(&f.dst, "dst", "us", "daylight saving: none, off, on, eu or us")
	return cmd
}

func (f fakeMT5) run(ctx context.Context, p *Process, given func(string) bool) error {
	cfg, err := f.config(given)
	if err != nil {
		return err
	}
	ctx, stop := untilParentEnds(ctx, p)
	defer stop()
	s, err := fakemt5.Start(ctx, cfg)
	if err != nil {
		return err
	}
	ready := map[string]string{
		"listen": s.Addr(), "control": s.ControlAddr(), "identity": cfg.World.Server, "fingerprint": s.Fingerprint(),
	}
	if err := json.NewEncoder(p.Stdout).Encode(ready); err != nil {
		return fmt.Errorf("print where the server listens: %w", err)
	}
	<-ctx.Done()
	return s.Close()
}

// config joins the flags with the world's file; a flag that was given wins.
func (f fakeMT5) config(given func(string) bool) (fakemt5.Config, error) {
	w := smallWorld()
	if f.world != "" {
		var err error
		if w, err = fakemt5.LoadWorld(f.world); err != nil {
			return fakemt5.Config{}, usagef("--world: %w", err)
		}
	}
	if f.world == "" || given("zone-minutes") {
		w.Zone.OffsetMinutes = f.zoneMinutes
	}
	if f.world == "" || given("dst") {
		rule, err := dstRule(f.dst)
		if err != nil {
			return fakemt5.Config{}, err
		}
		w.Zone.DST = rule
	}
	if f.identity != "" {
		w.Server = f.identity
	}
	if w.Server == "" {
		w.Server = "ExampleBroker-Live"
	}
	if err := f.passwords(w.Managers); err != nil {
		return fakemt5.Config{}, err
	}
	return fakemt5.Config{
		Listen: f.listen, Control: f.control, Journal: f.journal, World: w, CertFile: f.caOut, KeyFile: f.keyFile,
	}, nil
}

// passwords gives the managers that have none the one of the file.
func (f fakeMT5) passwords(managers []fakemt5.Manager) error {
	password := ""
	if f.passwordFile != "" {
		text, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return usagef("--password-file: %w", err)
		}
		password = string(bytes.TrimRight(text, "\r\n"))
	}
	for i := range managers {
		if managers[i].Password != "" {
			continue
		}
		if password == "" {
			return usagef("manager %d has no password; give --password-file", managers[i].Login)
		}
		managers[i].Password = password
	}
	return nil
}

func dstRule(word string) (fakemt5.DSTRule, error) {
	switch word {
	case "none":
		return fakemt5.DSTNone, nil
	case "off", "on", "eu", "us":
		return fakemt5.DSTRule(word), nil
	default:
		return "", usagef("--dst %q: want none, off, on, eu or us", word)
	}
}

// smallWorld is enough to try a client by hand.
func smallWorld() fakemt5.World {
	return fakemt5.World{
		Managers: []fakemt5.Manager{{Login: 1000}},
		Groups: []fakemt5.Group{
			{Name: `demo\usd`, Currency: "USD", Digits: 2}, {Name: `demo\eur`, Currency: "EUR", Digits: 2}, {Name: `demo\jpy`, Currency: "JPY"},
		},
		Accounts: []fakemt5.Account{
			{Login: 50001, Group: `demo\usd`, Balance: 100_000, SeedDeals: 30, SeedNumber: 1},
			{Login: 50002, Group: `demo\eur`, Balance: 100_000, SeedDeals: 30, SeedNumber: 2},
			{Login: 50003, Group: `demo\jpy`, Balance: 100_000, SeedDeals: 30, SeedNumber: 3},
		},
	}
}
