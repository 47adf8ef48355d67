package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse asks of any text: no panic; either a configuration that keeps the rules, or faults that each have a place
// inside the text and one line of words.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"", "a", "- a", "{", "[[[[", "a: {b: {c: [", "? a\n: b", "<<: *x", "&a a: *a", "\xff", "a: |\n  b", "'", "---\n---\n", "a:\n\t- b", "!!map {}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("f.yaml", text)
		if err == nil {
			checkRules(t, c)
			return
		}
		var faults *Faults
		if !errors.As(err, &faults) || len(faults.List) == 0 || c != nil {
			t.Fatalf("got %v", err)
		}
		lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text)), "\n") + 1
		for _, fault := range faults.List {
			if fault.Line < 1 || fault.Column < 1 || fault.Line > lines+1 || strings.ContainsAny(fault.String(), "\n\r\x1b\x00") {
				t.Fatalf("a text of %d lines has the fault %q", lines, fault)
			}
		}
	})
}

// checkRules holds the rules that no accepted configuration may break, each written a second time and differently.
func checkRules(t *testing.T, c *Config) {
	t.Helper()
	if c.Environment != Live && c.Environment != Test || c.Demo && c.Environment == Live {
		t.Fatalf("environment %q, demo %t", c.Environment, c.Demo)
	}
	if len(c.Providers) == 0 || len(c.MT5.Servers) == 0 || c.Webhooks.MaxBody > 256*1024 {
		t.Fatalf("accepted %+v", c)
	}
	if !c.Demo && (c.Credit.Quarantine.Minutes() < 2 || c.Credit.SecondLookAfter.Seconds() < 60) {
		t.Fatalf("unsafe times %+v", c.Credit)
	}
	for _, m := range c.MT5.Servers {
		if c.Credit.Lease <= m.CallTimeout+c.Credit.SendDeadline || c.Credit.Quarantine <= m.CallTimeout+c.Credit.SendDeadline ||
			c.ShutdownTimeout <= m.CallTimeout || m.Login == 0 || m.Identity == "" || len(m.Addresses) == 0 {
			t.Fatalf("unsafe server %+v with %+v", m, c.Credit)
		}
		for currency := range m.Currencies {
			if c.Limits.PerCredit[currency] == "" || c.Limits.PerLoginDay[currency] == "" {
				t.Fatalf("no limit for %s", currency)
			}
		}
	}
	for _, k := range c.API.Keys {
		all := " " + strings.Join(k.Scopes, " ") + " "
		if strings.Contains(all, " accounts:write ") && strings.Contains(all, " deposits:write ") || len(k.Scopes) == 0 {
			t.Fatalf("key %+v", k)
		}
	}
	for _, p := range c.Providers {
		if len(p.Secrets) == 0 || p.MaxFuture.Minutes() > 5 {
			t.Fatalf("provider %+v", p)
		}
	}
}
