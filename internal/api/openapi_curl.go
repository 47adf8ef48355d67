package api

import (
	"net/http"
	"reflect"
	"strings"
)

// sample is a curl line for the call. $API is the listener's address; the keys and a deposit's code stand in variables.
func (r route) sample() string {
	path := strings.NewReplacer(":server", "main", ":login", "50001", ":code", "$CODE").Replace(r.path)
	if r.open() {
		path = strings.ReplaceAll(r.path, ":code", kindNotFound.code)
	}
	first := "curl -sS"
	if r.method != http.MethodGet {
		first += " -X " + r.method
	}
	lines := []string{first + ` "$API` + path + sampleQueries()[r.operation] + `"`}
	if !r.open() {
		lines = append(lines, `-H "Authorization: Bearer $`+r.sampleKey()+`"`)
	}
	if r.takes(headerIdempotency) {
		lines = append(lines, `-H 'Idempotency-Key: order-1017'`)
	}
	if r.request != nil {
		if c, ok := componentOf(reflect.TypeOf(r.request)); ok {
			lines = append(lines, `-H 'Content-Type: application/json'`, `-d '`+c.example+`'`)
		}
	}
	return strings.Join(lines, " \\\n  ")
}

// sampleKey is the variable of the key that may make the call.
func (r route) sampleKey() string {
	if strings.HasPrefix(r.scopes[0], "accounts:") {
		return "ACCOUNTS_KEY"
	}
	return "DEPOSITS_KEY"
}

// sampleQueries show what lists are asked for, by operation.
func sampleQueries() map[string]string {
	return map[string]string{
		"listAccounts": "?client=client-01&limit=10",
		"listDeposits": "?state=open&limit=10",
		"listCredits":  "?server=main&login=50001&limit=10",
	}
}
