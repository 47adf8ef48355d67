package desk_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/internal/desk"
)

var update = flag.Bool("update", false, "write the table of docs/desk.md from the table of acts")

const (
	tableBegins = "-run TablePage -update -->\n"
	tableEnds   = "<!-- end -->"
)

func tablePage() string {
	var b strings.Builder
	b.WriteString("\n| act | about | alone, or proposed by | confirmed by another | what it does |\n|---|---|---|---|---|\n")
	names := func(roles []desk.Role) string {
		var out []string
		for _, r := range roles {
			out = append(out, string(r))
		}
		return strings.Join(out, ", ")
	}
	for _, l := range desk.Table() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", l.Kind, l.Subject, names(l.May), names(l.Confirm), l.Help)
	}
	return b.String() + "\n"
}

func TestTablePage_IsTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "desk.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i, j := bytes.Index(page, []byte(tableBegins)), bytes.Index(page, []byte(tableEnds))
	if i < 0 || j < i {
		t.Fatal("docs/desk.md has lost the place of its table")
	}
	i += len(tableBegins)
	if *update {
		page = []byte(string(page[:i]) + tablePage() + string(page[j:]))
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page[i:j]) != tablePage() {
		t.Error("docs/desk.md differs from the table of acts; run: go test ./internal/desk -run TablePage -update")
	}
}
