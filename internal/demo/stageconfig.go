package demo

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// configText is the configuration of serve: production's own, with a demo's waiting times. Paths are relative, so
// that the folder may be moved.
func (s *stageFolder) configText(quarantine time.Duration) string {
	return fmt.Sprintf(`# Written by creditonce demo. Simulated money: these waiting times are too short for a real MT5 server.
environment: test
demo: true
data_dir: store
log: {level: info, format: json}

webhooks:
  listen: %s
  tls: {cert_file: tls/webhooks.pem, key_file: tls/webhooks.key}

api:
  listen: %s
  keys:
    - {name: accounts, sha256: "%x", scopes: ["accounts:write"]}
    - {name: portal, sha256: "%x", scopes: ["deposits:write", "deposits:read"]}

providers:
  %s:
    kind: stripe
    account: %s
    secrets:
      - file: secrets/webhook
    api_key: {file: secrets/provider-api}
    api_url: http://%s
    pull_every: %s
    settlement: {format: stripe, pull: false}

mt5:
  servers:
    %s:
      identity: %s
      addresses: ["%s"]
      login: %d
      password: {file: secrets/mt5-manager}
      tls: {ca_file: tls/mt5-ca.pem}
      sessions: 4
      call_timeout: %s
      currencies: {USD: 2, EUR: 2, JPY: 0}
      groups: ['demo\*']

credit:
  lease: %s
  send_deadline: %s
  quarantine: %s
  second_look_after: 500ms
  looks: [200ms, 500ms, 1s, 2s, 3s]
  look_every: 500ms
  look_every_with_task: 2s
  task_after: 10s
  held_grace: %s

limits:
  per_credit: {USD: "10000.00", EUR: "10000.00", JPY: "1500000"}
  per_login_day: {USD: "1000000.00", EUR: "1000000.00", JPY: "150000000"}

rates:
  bands:
    EUR/USD: {min: "0.95", max: "1.25"}
    USD/JPY: {min: "100", max: "200"}

space: {stop_claims_below: 64MiB, refuse_intake_below: 32MiB}
shutdown_timeout: 5s
`, s.ports.webhooks(), s.ports.api(), sha256.Sum256([]byte(s.keys.accounts)), sha256.Sum256([]byte(s.keys.deposits)),
		pspLabel, pspAccount, s.ports.pspAPI(), text(pullEvery), serverLabel, mt5Identity, s.ports.mt5(), managerLogin,
		text(callTimeout), text(3*time.Second), text(sendDeadline), text(quarantine), text(heldGrace))
}

// text writes a duration as the configuration reads it.
func text(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

// readme tells whoever finds the folder what it is and how to go on with it.
func (s *stageFolder) readme(executable string) string {
	self, hint := shellWords([]string{executable}), ""
	if fleeting(executable) {
		self, hint = installed, "\nThe program of go run is gone when the demo ends; for one that stays, in the folder of the source:\n  go install .\n"
	}
	return fmt.Sprintf(`This folder was made by creditonce demo. The money in it is simulated.

config.yaml       the configuration of serve, with waiting times far too short for a real MT5 server
store/            the store of creditonce
mt5.jsonl         the fake MT5 server's own journal: one line per executed deal
provider.jsonl    the simulated provider's own journal: payments, events, delivery attempts
serve.log         the log of serve
deposit.sh        makes one more deposit, as the firm's server does it; prints its code
pay.sh CODE       pays it: creditonce sign makes, signs and sends the provider's event
secrets/, tls/    keys and certificates of this demo only
%[5]s
Go on with it, all three processes as before:
  %[2]s demo --dir %[1]s

Or by hand, in two terminals:
  %[2]s %[3]s
  %[2]s serve --config %[4]s

Look at it while nothing runs:
  %[2]s verify --config %[4]s
`, shellWords([]string{s.dir}), self, shellWords(s.mt5Args()), shellWords([]string{s.config()}), hint)
}

// installed is the program as a shell finds it after go install.
const installed = "creditonce"

// fleeting tells that go run built the program into a folder of its own, which does not stay.
func fleeting(executable string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(executable), "/"), func(folder string) bool {
		return strings.HasPrefix(folder, "go-build")
	})
}

// depositScript makes a deposit over the API with curl.
func (s *stageFolder) depositScript() string {
	a := accountAt(0)
	return fmt.Sprintf(`# Makes one deposit of 123.45 USD for login %[1]d and prints the answer; its code goes to pay.sh.
curl -sS http://%[2]s/v1/deposits \
  -H "Authorization: Bearer $(cat %[3]s)" \
  -H "Idempotency-Key: by-hand-$$-$(date +%%s)" \
  -H 'Content-Type: application/json' \
  -d '{"client":"%[4]s","server":"%[5]s","login":"%[1]d","provider":"%[6]s",
       "paid":{"amount":"123.45","currency":"USD"},"credited":{"amount":"123.45","currency":"USD"}}'
echo
`, a.login, s.ports.api(), shellWords([]string{s.secret("api-deposits")}), a.client, serverLabel, pspLabel)
}

// payScript sends a payment of that deposit with creditonce sign.
func (s *stageFolder) payScript(executable string) string {
	program := shellWords([]string{executable})
	choice := "program=" + program
	if fleeting(executable) {
		choice += "; [ -x \"$program\" ] || program=" + installed
	}
	return fmt.Sprintf(`# Pays the deposit whose code is given: signs the provider's event and sends it to the webhook.
%s
"$program" %s \
  --amount 123.45 --currency USD --code "${1:?give the code of the deposit}"
`, choice, shellWords([]string{"sign", "--send", "--config", s.config(), "--ca-file", s.path("tls", "webhooks-ca.pem")}))
}
