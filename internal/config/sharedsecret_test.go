package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// twoProviders adds a second Stripe account and two wallets to the configuration; wallets end with their payload as given.
func twoProviders(f *folder, walletA, walletB string) {
	f.t.Helper()
	const payload = "{type: type, occurred_at: at, livemode: false, amount_is: decimal, paid: {types: [paid], payment: id, amount: sum, currency: cur, code: ref}"
	f.change("mt5:\n", "  stripe2: {kind: stripe, account: acct_2, secrets: [{file: webhook2}]}\n"+
		"  wallet-a: {kind: standard, account: a, secrets: [{file: wallet-a}], payload: "+payload+walletA+"}}\n"+
		"  wallet-b: {kind: standard, account: b, secrets: [{file: wallet-b}], payload: "+payload+walletB+"}}\nmt5:\n")
	f.change("limits:", "alerts: {webhook: {url: \"http://127.0.0.1:9000/alerts\", secret: {file: alerts}}}\nlimits:")
	for name, text := range map[string]string{
		"webhook2": "whsec_other", "wallet-a": otherKey('a'), "wallet-b": otherKey('b'), "alerts": otherKey('c'),
	} {
		f.write(name, text, 0o600)
	}
}

// otherKey is a standard key like standardKey.
func otherKey(by byte) string {
	return strings.Replace(standardKey, "cGxh", "cG"+string(by)+"h", 1)
}

// A message that is signed for one provider must never count for another, however the secret is written.
func TestSharedSecret_IsRefusedWhereAMessageWouldCountForTwo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write  map[string]string
		a, b   string // the end of each wallet's payload
		faults []string
	}{
		"each has its own": {},
		"two accounts of Stripe": {
			map[string]string{"webhook2": "whsec_planted\n"}, "", "", []string{"providers.stripe2.secrets[0]: file "},
		},
		"two wallets": {
			map[string]string{"wallet-b": otherKey('a')}, "", "", []string{"providers.wallet-b.secrets[0]: file "},
		},
		"two wallets, written in two ways": {
			map[string]string{"wallet-b": strings.TrimRight(strings.TrimPrefix(otherKey('a'), "whsec_"), "=")}, "", "", []string{"providers.wallet-b.secrets[0]: file "},
		},
		"two wallets, one of which says for whom a message is": {
			map[string]string{"wallet-b": otherKey('a')}, "", ", merchant: m", []string{"providers.wallet-b.secrets[0]: file "},
		},
		"two wallets that both say for whom a message is": {
			map[string]string{"wallet-b": otherKey('a')}, ", merchant: m", ", merchant: m", nil,
		},
		"a wallet and the alerts": {
			map[string]string{"alerts": otherKey('b')}, "", "", []string{"alerts.webhook.secret: file "},
		},
		"a wallet and Stripe, which sign in two ways": {
			map[string]string{"webhook": otherKey('a')}, "", "", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			twoProviders(f, c.a, c.b)
			for file, text := range c.write {
				f.write(file, text, 0o600)
			}
			_, err := f.load()
			var faults *Faults
			if len(c.faults) == 0 && err == nil {
				return
			}
			if !errors.As(err, &faults) || len(faults.List) != len(c.faults) {
				t.Fatalf("%v; want %q", err, c.faults)
			}
			for i, want := range c.faults {
				if got := faults.List[i].String(); !strings.Contains(got, want) || !strings.Contains(got, "holds the same secret as providers.") || strings.Contains(got, "planted") || faults.List[i].Line == 0 {
					t.Errorf("%s; want %q", got, want)
				}
			}
		})
	}
}

// The same secret from two files of one provider verifies nothing more, so it is only told.
func TestSharedSecret_WithinOneProviderIsAWarning(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.change("{file: webhook}", "{file: webhook}, {file: copy}")
	f.write("copy", "whsec_planted", 0o600)
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	told := func(w Fault) bool {
		return w.Path == "providers.stripe.secrets[1]" && strings.Contains(w.Problem, "keep one of them")
	}
	if !slices.ContainsFunc(c.Warnings, told) {
		t.Errorf("warnings %v", c.Warnings)
	}
}
