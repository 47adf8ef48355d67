package app

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/mt5"
	"creditonce/webhook"
)

// readTimeout bounds one read of MT5; never longer than a balance call may take.
const readTimeout = 15 * time.Second

// currencyList names currencies with their digits, for a message.
func currencyList(currencies map[string]int) string {
	var names []string
	for _, c := range slices.Sorted(maps.Keys(currencies)) {
		names = append(names, fmt.Sprintf("%s with %d digits", c, currencies[c]))
	}
	return strings.Join(names, ", ")
}

// endpoints builds the provider behind each label.
func endpoints(c *config.Config) ([]webhook.Endpoint, error) {
	var out []webhook.Endpoint
	for _, label := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[label]
		var secrets [][]byte
		for _, s := range p.Secrets {
			secrets = append(secrets, s.Reveal())
		}
		provider, err := provider(p, secrets)
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", label, err)
		}
		out = append(out, webhook.Endpoint{Name: label, Account: p.Account, Provider: provider})
	}
	return out, nil
}

// mt5Server builds the client of one MT5 server, with what a probe has learned of it.
func mt5Server(label string, s config.MT5Server, known credit.Learned, clock credit.Clock, o *observer) (*mt5.Server, error) {
	trust := mt5.Trust{CAFile: s.TLS.CAFile, ServerName: s.TLS.ServerName}
	if s.TLS.PinSHA256 != nil {
		trust.PinSHA256 = hex.EncodeToString(s.TLS.PinSHA256[:])
	}
	cfg := mt5.Config{
		Label: label, Identity: s.Identity, Addresses: s.Addresses, Manager: s.Login, Password: s.Password.Reveal,
		Agent: s.Agent, TLS: trust, CallTimeout: s.CallTimeout, ReadTimeout: min(readTimeout, s.CallTimeout),
		Currencies: s.Currencies, Groups: s.Groups, Clock: clock, Observer: o,
	}
	if known.Identity == s.Identity {
		cfg.Offset = known.Offset
		if known.PageLimit != nil {
			cfg.PageLimit = *known.PageLimit
		}
	}
	if o.step != nil { // without a hook a request leaves in one piece
		cfg.Step = o.namedStep
	}
	server, err := mt5.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("mt5 server %s: %w", label, err)
	}
	return server, nil
}
