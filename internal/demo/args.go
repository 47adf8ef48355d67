package demo

import (
	"strconv"
	"strings"

	"creditonce/webhook/fakepsp"
)

// mt5Args is the command line of the fake MT5 server.
func (s *stageFolder) mt5Args() []string {
	return []string{
		"fakemt5", "--listen", s.ports.mt5(), "--control", s.ports.mt5Control(),
		"--world", s.path("world.json"), "--password-file", s.secret("mt5-manager"),
		"--ca-out", s.path("tls", "mt5-ca.pem"), "--key-file", s.path("tls", "mt5.key"),
		"--journal", s.mt5Journal(),
	}
}

// pspArgs is the command line of the simulated provider.
func (s *stageFolder) pspArgs(seed uint64, d fakepsp.Disorder) []string {
	return []string{
		"fakepsp", "--url", "https://" + s.ports.webhooks() + "/webhooks/" + pspLabel,
		"--ca-file", s.path("tls", "webhooks-ca.pem"), "--secret-file", s.secret("webhook"),
		"--api", s.ports.pspAPI(), "--api-key-file", s.secret("provider-api"), "--account", pspAccount,
		"--control", s.ports.pspControl(), "--journal", s.pspJournal(),
		"--seed", strconv.FormatUint(seed, 10), "--repeat", strconv.Itoa(d.Repeat),
		"--reorder", strconv.Itoa(d.Reorder), "--max-delay", d.MaxDelay.String(),
	}
}

// shellWords writes arguments so that a shell reads them back as they are.
func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
