package api

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func put(login, body string) call {
	return call{method: http.MethodPut, path: "/v1/servers/main/accounts/" + login, key: ownKey, body: body}
}

func TestAccountIsRegisteredChangedAndRead(t *testing.T) {
	t.Parallel()
	p := setup(t)
	const body = `{"client":"c-9","currency":"USD","digits":2}`
	const login = "18446744073709551615"
	want := `{"server":"main","login":"18446744073709551615","client":"c-9","currency":"USD","digits":2,` +
		`"created_at":"2026-01-15T12:00:00Z","updated_at":"2026-01-15T12:00:00Z"}`
	if w := p.do(put(login, body)); w.Code != http.StatusCreated || w.Body.String() != want {
		t.Fatalf("first: %d %s", w.Code, w.Body)
	}
	p.book.now = noon.Add(time.Hour)
	if w := p.do(put(login, body)); w.Code != http.StatusOK || w.Body.String() != want {
		t.Fatalf("same again: %d %s", w.Code, w.Body)
	}
	if w := p.do(call{method: http.MethodGet, path: "/v1/servers/main/accounts/" + login, key: lookKey}); w.Code != http.StatusOK || w.Body.String() != want {
		t.Fatalf("read: %d %s", w.Code, w.Body)
	}
	changed := strings.NewReplacer("c-9", "c-10", `updated_at":"2026-01-15T12`, `updated_at":"2026-01-15T13`).Replace(want)
	if w := p.do(put(login, strings.Replace(body, "c-9", "c-10", 1))); w.Code != http.StatusOK || w.Body.String() != changed {
		t.Fatalf("changed: %d %s", w.Code, w.Body)
	}
	if _, writes := p.book.counts(); writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
}

func TestClientTextIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for login, text := range map[string]string{"11": `\"[[[[[[[[[[{{{{`, "12": `\\`, "13": "Ünïcode 客户 😀", "14": strings.Repeat("客", 64)} {
		w := p.do(put(login, `{"client":"`+text+`","currency":"USD","digits":2}`))
		if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"client":"`+text+`"`) {
			t.Errorf("%s: %d %s", text, w.Code, w.Body)
		}
	}
}

func TestUnreadableAccount_IsRefusedWithoutAskingTheBook(t *testing.T) {
	t.Parallel()
	const good = `{"client":"c","currency":"USD","digits":2}`
	for name, tc := range map[string]struct {
		path, body, field, code string
	}{
		"login 0":             {"main/accounts/0", good, "login", "bad_login"},
		"leading zero":        {"main/accounts/01", good, "login", "bad_login"},
		"login too large":     {"main/accounts/18446744073709551616", good, "login", "bad_login"},
		"login with sign":     {"main/accounts/+1", good, "login", "bad_login"},
		"login text":          {"main/accounts/abc", good, "login", "bad_login"},
		"arabic digits":       {"main/accounts/%D9%A1", good, "login", "bad_login"},
		"escaped slash":       {"main/accounts/1%2F2", good, "login", "bad_login"},
		"server upper case":   {"Main/accounts/1", good, "server", "bad_name"},
		"client missing":      {"main/accounts/1", `{"currency":"USD","digits":2}`, "client", "missing_field"},
		"client null":         {"main/accounts/1", `{"client":null,"currency":"USD","digits":2}`, "client", "wrong_type"},
		"client empty":        {"main/accounts/1", `{"client":"","currency":"USD","digits":2}`, "client", "bad_text"},
		"client long":         {"main/accounts/1", `{"client":"` + strings.Repeat("c", 65) + `","currency":"USD","digits":2}`, "client", "bad_text"},
		"client with newline": {"main/accounts/1", `{"client":"a\nb","currency":"USD","digits":2}`, "client", "bad_text"},
		"client with blanks":  {"main/accounts/1", `{"client":"a ","currency":"USD","digits":2}`, "client", "bad_text"},
		"client bidi":         {"main/accounts/1", `{"client":"a\u202eb","currency":"USD","digits":2}`, "client", "bad_text"},
		"currency lower":      {"main/accounts/1", `{"client":"c","currency":"usd","digits":2}`, "currency", "bad_currency"},
		"digits as text":      {"main/accounts/1", `{"client":"c","currency":"USD","digits":"2"}`, "digits", "wrong_type"},
		"digits 2.0":          {"main/accounts/1", `{"client":"c","currency":"USD","digits":2.0}`, "digits", "bad_number"},
		"digits 2e0":          {"main/accounts/1", `{"client":"c","currency":"USD","digits":2e0}`, "digits", "bad_number"},
		"digits -0":           {"main/accounts/1", `{"client":"c","currency":"USD","digits":-0}`, "digits", "bad_number"},
		"digits 9":            {"main/accounts/1", `{"client":"c","currency":"USD","digits":9}`, "digits", "bad_number"},
		"digits missing":      {"main/accounts/1", `{"client":"c","currency":"USD"}`, "digits", "missing_field"},
		"identity":            {"main/accounts/1", `{"client":"c","currency":"USD","digits":2,"identity":"x"}`, "identity", "unknown_field"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			w := p.do(call{method: http.MethodPut, path: "/v1/servers/" + tc.path, key: ownKey, body: tc.body})
			d := wantProblem(t, w, http.StatusBadRequest, "invalid_request")
			if len(d.Errors) != 1 || d.Errors[0].Field != tc.field || d.Errors[0].Code != tc.code {
				t.Errorf("errors %+v, want %s %s", d.Errors, tc.field, tc.code)
			}
			if calls, _ := p.book.counts(); calls != 0 {
				t.Errorf("the book was asked %d times", calls)
			}
		})
	}
}

func TestAccountOnUnknownServer_IsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	c := put("1", `{"client":"c","currency":"USD","digits":2}`)
	c.path = "/v1/servers/backup/accounts/1"
	wantProblem(t, p.do(c), http.StatusUnprocessableEntity, "unknown_server")
	if _, writes := p.book.counts(); writes != 0 {
		t.Errorf("%d writes", writes)
	}
}

func TestUnregisteredLogin_IsNotFound(t *testing.T) {
	t.Parallel()
	p := setup(t)
	wantProblem(t, p.do(call{method: http.MethodGet, path: "/v1/servers/main/accounts/9", key: lookKey}), http.StatusNotFound, "not_found")
	wantProblem(t, p.do(call{method: http.MethodGet, path: "/v1/servers/main/accounts/x", key: lookKey}), http.StatusBadRequest, "invalid_request")
}
