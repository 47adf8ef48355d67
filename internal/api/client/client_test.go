package client_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/api"
	"creditonce/internal/api/client"
)

var update = flag.Bool("update", false, "write openapi.json and generated.sum anew")

const advice = "run: go generate ./internal/api/client"

func TestDocument_FileIsWhatTheAPIServes(t *testing.T) {
	t.Parallel()
	want, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("openapi.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json is not the API's document (%v); %s", err, advice)
	}
}

// The generator may not be at hand (a machine without network), so the digests of what it was given and what it made
// are compared in any case.
func TestGenerated_FilesBelongTogether(t *testing.T) {
	t.Parallel()
	var sums strings.Builder
	for _, name := range []string{"openapi.json", "oapi-codegen.yaml", "client.gen.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
	}
	if *update {
		if err := os.WriteFile("generated.sum", []byte(sums.String()), 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("generated.sum")
	if err != nil || string(got) != sums.String() {
		t.Errorf("the files were not made of each other (%v); %s", err, advice)
	}
}

// The pinned generator makes the same file again.
func TestGenerated_ClientComesOutTheSame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the generator")
	}
	source, err := os.ReadFile("client.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "//go:generate go run ")
	line, _, _ := strings.Cut(rest, "\n")
	out := filepath.Join(t.TempDir(), "client.gen.go")
	arguments := strings.Fields("run " + strings.Replace(line, "-o client.gen.go", "-o "+out, 1))
	cmd := exec.CommandContext(t.Context(), "go", arguments...)
	cmd.Env = append(os.Environ(), "GOPROXY="+cacheAsProxy(t), "GOSUMDB=off", "GOFLAGS=", "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(said, []byte("cache/download")) || bytes.Contains(said, []byte("disabled by GOPROXY=off")) {
			t.Skipf("the generator is not on this machine; generated.sum was compared instead: %s", said)
		}
		t.Fatalf("%v: %s", err, said)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("client.gen.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("client.gen.go is not what the generator makes of openapi.json (%v); %s", err, advice)
	}
}

// cacheAsProxy lets the go command find modules of this machine's own cache and asks no server.
func cacheAsProxy(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skipf("there is no go command: %v", err)
	}
	return "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(dir)), "cache", "download")) + ",off"
}

func TestClient_SendsKeyHeadersQueryAndBody(t *testing.T) {
	t.Parallel()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer co_k" {
			t.Errorf("%v, %v", err, r.Header)
		}
		seen = append(seen, r.Method+" "+r.URL.String()+" "+r.Header.Get("Idempotency-Key")+" "+strings.TrimSpace(string(body)))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[],"next":"abc","some_later_field":1}`)
	}))
	defer server.Close()
	c, err := client.NewClientWithResponses(server.URL, client.WithKey("co_k"))
	if err != nil {
		t.Fatal(err)
	}
	at, state := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), client.ListDepositsParamsStateReview
	page, err := c.ListDepositsWithResponse(t.Context(), &client.ListDepositsParams{State: &state, CreatedFrom: &at})
	if err != nil || page.JSON200 == nil || page.JSON200.Next == nil || *page.JSON200.Next != "abc" {
		t.Fatalf("%+v, %v", page, err)
	}
	if _, err := c.MakeDepositWithResponse(t.Context(), &client.MakeDepositParams{IdempotencyKey: "order-1"}, client.NewDeposit{Client: "c"}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || !strings.HasPrefix(seen[0], "GET /v1/deposits?") || !strings.Contains(seen[0], "state=review") ||
		!strings.Contains(seen[0], "created_from=2026-01-15T12%3A00%3A00Z") ||
		!strings.HasPrefix(seen[1], `POST /v1/deposits order-1 {"client":"c"`) || strings.Contains(seen[1], "null") {
		t.Errorf("sent %q", seen)
	}
}

func TestRefusal_TellsSuccessProblemAndForeignAnswersApart(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 304} {
		if err := client.Refusal(status, nil); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	var refused *client.RefusedError
	err := client.Refusal(404, []byte(`{"code":"not_found","detail":"there is no deposit with this code"}`))
	if !errors.As(err, &refused) || refused.Status != 404 || refused.Problem.Code != client.ProblemCodeNotFound ||
		err.Error() != "404 not_found: there is no deposit with this code" {
		t.Errorf("got %v", err)
	}
	for _, body := range []string{"", "<html>", "{}", "null", `{"message":"Bad Gateway"}`} {
		if err := client.Refusal(502, []byte(body)); !errors.As(err, &refused) || refused.Problem.Code != "" || refused.Problem.Detail == "" {
			t.Errorf("%q: %v", body, err)
		}
	}
}
