package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"creditonce/internal/api"
)

func TestOpenAPI_PrintsTheDocumentThatTheAPIServes(t *testing.T) {
	t.Parallel()
	want, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	got := run("openapi")
	if got.code != ExitDone || !bytes.Equal([]byte(got.stdout), want) || got.stderr != "" {
		t.Fatalf("code %d, %d bytes, want %d; %s", got.code, len(got.stdout), len(want), got.stderr)
	}
	var head struct {
		OpenAPI string `json:"openapi"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &head); err != nil || head.OpenAPI != "3.1.0" {
		t.Errorf("%+v, %v", head, err)
	}
}
