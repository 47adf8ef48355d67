package cli

import (
	"strings"
	"testing"

	"creditonce/internal/admin"
)

func TestReconRun_SaysWhatThereIsToKnowOfTheLists(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := runSheet(&out, admin.ReconRun{ID: 7, First: "2026-11-29", Last: "2026-11-29", State: "complete", Sources: []admin.ReconSource{
		{List: "settlements", Name: "stripe", Complete: true},
		{List: "deals", Name: "main", Complete: true, Notes: []string{"login 50004 is not at MT5 any more", "named \x1b[31mred"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "\nnote on deals of main: login 50004 is not at MT5 any more\n") || strings.Contains(text, "\x1b") ||
		strings.Count(text, "note on") != 2 || strings.Contains(text, "not complete") {
		t.Errorf("%q", text)
	}
}
