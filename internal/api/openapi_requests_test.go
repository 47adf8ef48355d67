package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// seedBodies are requests that the code takes, by component.
func seedBodies() map[string][]string {
	return map[string][]string{
		"NewAccount": {`{"client":"c-1","currency":"USD","digits":2}`},
		"NewDeposit": {
			plainDeposit, convertedDeposit,
			strings.Replace(plainDeposit, `{"client"`, `{"code":"0123456789012345678901","expires_in":"30m","client"`, 1),
			strings.Replace(plainDeposit, `{"client"`, `{"expires_at":"2026-01-15T13:00:00Z","client"`, 1),
		},
	}
}

// oddValues are what a caller may send instead of the right thing.
func oddValues() []any {
	values := []any{nil, true, 0, 1, -1, 2.5, 9, []any{}, map[string]any{}, map[string]any{"x": 1}}
	for _, s := range []string{
		"", " ", "x", " x", "x ", "a b", "é", "ключ", "a\u0000b", "a\nb", "\u202eabc", "null", "USD", "usd", "US", "USDT", "0", "00", "1", "01", "0.00", "0.01",
		"-1", "+1", "1.", ".5", "1e3", "1,5", "500.00", "0x10", "1.0850", "18446744073709551615", "18446744073709551616", "99999999999999999999999",
		"0.000000000000000001", "0.0000000000000000001", "main", "Main", "ma_in", "2026-01-15T12:00:00Z", "2026-01-15t12:00:00z", "2026-01-15 12:00:00Z",
		"2026-01-15", "2026-02-30T12:00:00Z", "1999-12-31T23:59:59Z", "9999-01-01T00:00:00Z", "2026-01-15T12:00:00+02:00", "2026-01-15T12:00:60Z", "30m", "0m", "1d", "1.5h",
		strings.Repeat("k", 21), strings.Repeat("k", 22), strings.Repeat("k", 64), strings.Repeat("k", 65), strings.Repeat("9", 22), strings.Repeat("9", 23),
		strings.Repeat("é", 64), strings.Repeat("é", 65), strings.Repeat("1", 70),
	} {
		values = append(values, s)
	}
	return values
}

// mutants are the body with one thing changed: a member left out, in another case, with another value, or one more.
func mutants(body string) (list []string) {
	var root map[string]any
	if err := json.Unmarshal([]byte(body), &root); err != nil {
		panic(err)
	}
	emit := func() {
		text, err := json.Marshal(root)
		if err != nil {
			panic(err)
		}
		list = append(list, string(text))
	}
	var walk func(at map[string]any)
	walk = func(at map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(at)) {
			was := at[name]
			delete(at, name)
			emit()
			at[strings.ToUpper(name)] = was
			emit()
			delete(at, strings.ToUpper(name))
			for _, odd := range oddValues() {
				at[name] = odd
				emit()
			}
			at[name] = was
			if child, ok := was.(map[string]any); ok {
				walk(child)
			}
		}
		for _, extra := range []string{"extra", "", "note", "minor", "rate", "code", "expires_at", "expires_in", "client"} {
			if _, there := at[extra]; !there {
				at[extra] = "30m"
				emit()
				delete(at, extra)
			}
		}
	}
	walk(root)
	return list
}

// refusedByCode reads the body as the handlers do and returns the codes of the fields at fault.
func refusedByCode(t *testing.T, name, body string) []string {
	t.Helper()
	root, err := parseObject([]byte(body))
	if err != nil {
		var p *problem
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		return []string{p.kind.code}
	}
	var faults []fault
	if name == "NewAccount" {
		_, faults = readAccount(root)
	} else {
		_, faults = readWish(root)
	}
	var codes []string
	for _, f := range faults {
		codes = append(codes, f.Code)
	}
	return codes
}

// What the code refuses because of its form the schema refuses too, and the reverse: a client that checks its requests
// by the document sends nothing that is refused for its form, and is not kept from anything. Patterns cannot say that
// a login has at most 64 bits, which years a time may have, and which characters can be printed; and JSON Schema takes 2.0
// for a whole number, which the code does not.
func TestRequestSchemas_RefuseWhatTheCodeRefuses(t *testing.T) {
	t.Parallel()
	c := readContract(t)
	beyondPatterns := []string{"bad_login", "bad_time", "bad_text"}
	refused, taken, beyond := 0, 0, map[string]int{}
	for name, seeds := range seedBodies() {
		for _, seed := range seeds {
			for _, body := range append(mutants(seed), seed) {
				codes, bySchema := refusedByCode(t, name, body), c.refuses(t, name, body)
				switch {
				case len(codes) == 0 && bySchema == nil:
					taken++
				case len(codes) > 0 && bySchema != nil:
					refused++
				case len(codes) == 1 && slices.Contains(beyondPatterns, codes[0]):
					beyond[codes[0]+" "+body]++
				case len(codes) > 0:
					t.Errorf("%s: the code refuses (%v), the schema does not: %s", name, codes, body)
				default:
					t.Errorf("%s: the schema refuses, the code does not: %v\n%s", name, bySchema, body)
				}
			}
		}
	}
	if refused < 500 || taken < 50 {
		t.Errorf("only %d requests were refused and %d taken", refused, taken)
	}
	if most := 60; len(beyond) > most {
		t.Errorf("%d requests are refused beyond what the schema says, want at most %d: %s", len(beyond), most, strings.Join(slices.Sorted(maps.Keys(beyond)), "\n"))
	}
}

// The same for query parameters.
func TestParameterSchemas_RefuseWhatTheCodeRefuses(t *testing.T) {
	t.Parallel()
	c := readContract(t)
	for _, r := range (*API)(nil).routes() {
		operation := c.operations()[r.method+" "+openapiPath(r.path)]
		parameters, ok := operation["parameters"].([]any)
		if !ok {
			t.Fatalf("%s: no parameters", r.operation)
		}
		for i, item := range parameters {
			documented, ok := item.(map[string]any)
			if !ok || documented["in"] != "query" {
				continue
			}
			at := slices.IndexFunc(r.query, func(p parameter) bool { return p.name == documented["name"] })
			if at < 0 {
				t.Errorf("%s: parameter %v is in the document alone", r.operation, documented["name"])
				continue
			}
			checkParameter(t, c, r, r.query[at], fmt.Sprint(i))
		}
	}
}

func checkParameter(t *testing.T, c *contract, r route, p parameter, index string) {
	t.Helper()
	_, path, _ := strings.Cut(r.method+" "+openapiPath(r.path), " ")
	s := c.schema(t, "paths", path, strings.ToLower(r.method), "parameters", index, "schema")
	texts := slices.Clone(p.among)
	for _, odd := range oddValues() {
		if text, ok := odd.(string); ok {
			texts = append(texts, text)
		}
	}
	taken := 0
	for _, text := range texts {
		var value any = text
		if p.form == "limit" {
			value = json.Number(text)
			if _, err := json.Marshal(value); err != nil || text == "" {
				continue // no number: nothing that the schema could be asked about
			}
		}
		code, _ := p.check(text)
		err := s.Validate(value)
		if code == "" {
			taken++
		}
		if (code != "") != (err != nil) && !slices.Contains([]string{"bad_login", "bad_time", "bad_text"}, code) {
			t.Errorf("%s, %s=%q: the code says %q, the schema %v", r.operation, p.name, text, code, err)
		}
	}
	if taken == 0 {
		t.Errorf("%s, %s: no text was taken", r.operation, p.name)
	}
}
