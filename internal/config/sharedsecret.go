package config

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// signing is a key that messages of a provider are verified with, and where it is named.
type signing struct {
	label, path string
	merchant    bool // the provider's messages name their merchant account, which must be the configured one
}

// sharedSecrets looks for keys that verify more than they should: what is signed for one provider must not count for another, and who
// receives the alerts must not be able to sign payments.
func (r *reader) sharedSecrets(c *Config) {
	known := map[[sha256.Size]byte]signing{}
	for _, label := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[label]
		for i, secret := range p.Secrets {
			key, ok := verifies(p.Kind, secret)
			if !ok {
				continue
			}
			now := signing{label, fmt.Sprintf("providers.%s.secrets[%d]", label, i), p.Kind == KindStandard && p.Payload.Merchant != ""}
			first, taken := known[key]
			switch {
			case !taken:
				known[key] = now
			case first.label == label:
				r.warn(now.path, "%s holds the same secret as %s; keep one of them", secret.Source(), first.path)
			case first.merchant && now.merchant: // a message says itself for which of them it is
			case p.Kind == KindStandard:
				r.fault(now.path, "%s holds the same secret as %s, so a message that is signed for one is taken for the other; give each a secret of its own, or name payload.merchant at both", secret.Source(), first.path)
			default:
				r.fault(now.path, "%s holds the same secret as %s, so a message that is signed for one is taken for the other; each webhook endpoint of Stripe has a secret of its own", secret.Source(), first.path)
			}
		}
	}
	if w := c.Alerts.Webhook; w != nil {
		if key, ok := verifies(KindStandard, w.Secret); ok && known[key].path != "" {
			r.fault("alerts.webhook.secret", "%s holds the same secret as %s, so whoever receives the alerts can sign payments; make one of its own with: echo whsec_$(openssl rand -base64 32)", w.Secret.Source(), known[key].path)
		}
	}
}

// verifies is the digest of what a secret verifies with; not ok where it holds nothing that could. Two texts of one key have the same.
func verifies(kind string, s Secret) (key [sha256.Size]byte, ok bool) {
	text := string(s.Reveal())
	if text == "" {
		return key, false
	}
	if kind != KindStandard {
		return sha256.Sum256([]byte(kind + " " + text)), true
	}
	of, encoded, prefixed := strings.Cut(text, "_")
	if !prefixed {
		of, encoded = "whsec", text
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	return sha256.Sum256(append([]byte(kind+" "+of+" "), raw...)), err == nil && len(raw) > 0
}
