package credit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/state-machine.md from the table of legal moves")

// stateMachinePage is docs/state-machine.md: the table of legal moves as a diagram and as a list.
func stateMachinePage(moves []Move) []byte {
	var b bytes.Buffer
	b.WriteString("# States of a credit\n\n")
	b.WriteString("Generated from the table in `credit/state.go`; `go test ./credit -run StateMachinePage -update` writes it anew. Do not edit it by hand.\n\n")
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, m := range moves {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", diagramState(m.From), diagramState(m.To), movers(m))
	}
	for _, s := range States() {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n\n| from | to | who moves it | when |\n|---|---|---|---|\n")
	for _, m := range moves {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", tableState(m.From), tableState(m.To), movers(m), m.When)
	}
	b.WriteString("\nWhat the table does not list is refused. There is no way from `claimed` to `pending`: a call that may be under way\n")
	b.WriteString("becomes `unknown`, and `unknown` is settled by looking. `done` and `cancelled` are terminal.\n")
	return b.Bytes()
}

func diagramState(s State) string {
	if s == New {
		return "[*]"
	}
	return string(s)
}

func tableState(s State) string {
	if s == New {
		return "(new)"
	}
	return "`" + string(s) + "`"
}

func movers(m Move) string {
	names := make([]string, len(m.By))
	for i, who := range m.By {
		names[i] = string(who)
	}
	return strings.Join(names, ", ")
}

func TestStateMachinePage_IsTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "state-machine.md")
	want := stateMachinePage(LegalMoves())
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/state-machine.md differs from the table of legal moves; run: go test ./credit -run StateMachinePage -update")
	}
}
