package config

import (
	"errors"
	"strings"
	"testing"
)

// TestAPIKey_OfAnotherKindOrEnvironmentIsRefusedWithoutBeingShown has one row per key that cannot read this file's events.
func TestAPIKey_OfAnotherKindOrEnvironmentIsRefusedWithoutBeingShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, key, want, warns string }{
		{"restricted", "rk_test_planted", "", ""},
		{"secret", "sk_test_planted", "", "a restricted key"},
		{"some other", "planted_key", "", "does not begin with rk_"},
		{"live key", "rk_live_planted", "a key of the live environment", ""},
		{"signing secret", "whsec_planted", "holds a signing secret", ""},
		{"publishable", "pk_test_planted", "holds a publishable key", ""},
		{"a sentence", "rk_test_planted and more", "does not hold an API key", ""},
		{"short", "rk_1", "does not hold an API key", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			f.change("secrets: [{file: webhook}]", "secrets: [{file: webhook}], api_key: {file: key}")
			f.write("key", test.key+"\n", 0o600)
			c, err := f.load()
			if test.want == "" {
				if err != nil || string(c.Providers["stripe"].List.Key.Reveal()) != test.key {
					t.Fatalf("not loaded: %v", err)
				}
				said := ""
				for _, w := range c.Warnings {
					said += w.Path + " " + w.Problem
				}
				if strings.Contains(said, "api_key") != (test.warns != "") || !strings.Contains(said, test.warns) {
					t.Errorf("warns %q, want %q", said, test.warns)
				}
				return
			}
			var faults *Faults
			if !errors.As(err, &faults) || !strings.Contains(err.Error(), "providers.stripe.api_key: ") || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "planted") {
				t.Error("the message shows the key")
			}
		})
	}
}
