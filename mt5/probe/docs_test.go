package probe_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"creditonce/mt5/probe"
)

// docs/mt5.md shows the table of assumptions as the code has it.
func TestDocs_ShowTheTableOfAssumptions(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/mt5.md", "-run Docs -update -->\n", "<!-- end of table -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the marks of the table are gone")
	}
	var b strings.Builder
	b.WriteString("| id | question | the client relies on | source | how it is asked |\n|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`)
	seen := map[string]bool{}
	for _, a := range probe.Assumptions() {
		how, relies := "reading", a.Assumes
		switch {
		case a.Unaskable != "":
			how = "not: " + a.Unaskable
		case a.ID == "amount.overdraw":
			how = "`--operate --overdraw`"
		case a.Money:
			how = "`--operate`"
		}
		if relies == "" {
			relies = "either way"
		}
		if a.ID == "" || a.Asks == "" || a.Source == "" || seen[a.ID] {
			t.Errorf("the table's line %+v is not whole, or comes twice", a)
		}
		seen[a.ID] = true
		_, _ = fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", a.ID, cell.Replace(a.Asks), cell.Replace(relies), a.Source, how)
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s shows another table; run: go test ./mt5/probe -run Docs -update", file)
	}
}
