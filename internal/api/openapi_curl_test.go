package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"creditonce/credit"
)

// samplePortal knows what the curl lines name, as the demo does.
func samplePortal(t *testing.T) *portal {
	t.Helper()
	p := setup(t)
	account := credit.Account{Server: "main", Identity: "Example-Live", Login: 50001, Client: "client-01", Currency: "USD", Digits: 2, CreatedAt: noon, UpdatedAt: noon}
	p.book.accounts[accountKey(account.Server, account.Login)] = account
	p.book.rules.Providers = append(p.book.rules.Providers, "stripe-demo")
	p.api = p.restart(func(c *Config) {
		c.PaidExponent = func(provider, currency string) (int, bool) { return 2, provider == "stripe-demo" && currency == "USD" }
	})
	return p
}

var (
	curlURL    = regexp.MustCompile(`^curl -sS(?: -X ([A-Z]+))? "\$API([^"]*)"`)
	curlHeader = regexp.MustCompile(`-H ["']([A-Za-z-]+): ([^"']*)["']`)
	curlBody   = regexp.MustCompile(`-d '([^']*)'`)
)

// curled reads a curl line as a shell and curl would. Whatever of the line is not understood fails the test.
func curled(t *testing.T, line string, variables map[string]string) *http.Request {
	t.Helper()
	for name, value := range variables {
		line = strings.ReplaceAll(line, "$"+name, value)
	}
	flat := strings.ReplaceAll(line, " \\\n  ", " ")
	rest := flat
	first := curlURL.FindStringSubmatch(flat)
	if first == nil {
		t.Fatalf("not a curl line: %s", flat)
	}
	method, body := first[1], ""
	rest = strings.Replace(rest, first[0], "", 1)
	if found := curlBody.FindStringSubmatch(flat); found != nil {
		body, rest = found[1], strings.Replace(rest, found[0], "", 1)
	}
	if method == "" {
		method = http.MethodGet
	}
	r := httptest.NewRequest(method, first[2], strings.NewReader(body))
	for _, found := range curlHeader.FindAllStringSubmatch(rest, -1) {
		r.Header.Add(found[1], found[2])
		rest = strings.Replace(rest, found[0], "", 1)
	}
	if strings.TrimSpace(rest) != "" || strings.Contains(flat, "$") && !strings.HasPrefix(first[2], "/") {
		t.Fatalf("not understood: %q of %s", rest, flat)
	}
	return r
}

// Each curl line of the document is carried out, as it stands, in the order of the table.
func TestCurlLines_AreAnsweredWithSuccess(t *testing.T) {
	t.Parallel()
	p := samplePortal(t)
	// httptest has no line for the address, so $API keeps its name.
	variables := map[string]string{"ACCOUNTS_KEY": ownKey, "DEPOSITS_KEY": payKey}
	for _, r := range p.api.routes() {
		request := curled(t, r.sample(), variables)
		w := serve(p.api, request)
		if w.Code/100 != 2 {
			t.Errorf("%s\nis answered %d %s", r.sample(), w.Code, w.Body)
		}
		readContract(t).holds(t, request, w)
		if r.operation == "makeDeposit" {
			var made depositBody
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
				t.Fatal(err)
			}
			variables["CODE"] = made.Code
		}
	}
}

var update = flag.Bool("update", false, "write the calls of docs/api.md anew")

// guideMark is where the generated part of the guide begins; it goes on to the end.
const guideMark = "<!-- From here on generated from the table of routes: go test ./internal/api -run Guide -update -->\n"

// calls is the generated part: each call with its curl line.
func calls() string {
	var out strings.Builder
	out.WriteString(guideMark)
	for _, r := range (*API)(nil).routes() {
		fmt.Fprintf(&out, "\n### %s\n\n`%s %s`", r.summary, r.method, openapiPath(r.path))
		switch {
		case r.open():
			out.WriteString(", without a key\n")
		default:
			fmt.Fprintf(&out, ", with a key for %s\n", strings.Join(r.scopes, " or "))
		}
		if r.about != "" {
			out.WriteString("\n" + r.about + "\n")
		}
		if len(r.query) > 0 {
			out.WriteString("\n| parameter | |\n|---|---|\n")
			for _, p := range r.query {
				fmt.Fprintf(&out, "| `%s` | %s |\n", p.name, p.about)
			}
		}
		out.WriteString("\n" + indented(r) + "\n")
	}
	return out.String()
}

// indented is the curl line as code of a Markdown page.
func indented(r route) string { return "    " + strings.ReplaceAll(r.sample(), "\n", "\n    ") }

func TestGuide_HasEveryCallOfTheTableWithItsCurlLine(t *testing.T) {
	t.Parallel()
	const path = "../../docs/api.md"
	guide, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	byHand, generated, ok := strings.Cut(string(guide), guideMark)
	if !ok {
		t.Fatalf("%s: the mark is missing: %s", path, guideMark)
	}
	if *update {
		if err := os.WriteFile(path, []byte(byHand+calls()), 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
		return
	}
	if guideMark+generated != calls() {
		t.Errorf("%s does not say what the table says; run: go test ./internal/api -run Guide -update", path)
	}
	rest := byHand
	for _, r := range (*API)(nil).routes() {
		rest = strings.ReplaceAll(rest, indented(r)+"\n", "")
	}
	if strings.Contains(rest, "    curl ") {
		t.Errorf("the first part of %s has a curl line that the table does not have:\n%s", path, rest[strings.Index(rest, "    curl "):])
	}
}
