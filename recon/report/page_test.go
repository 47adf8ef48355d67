package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/recon"
)

const (
	classesBegin = "<!-- classes: written by `go test ./recon/report -run Page -update` -->\n"
	classesEnd   = "<!-- end of classes -->"
)

// classTable is the words of every class as the page for finance people has them, in the order of a report.
func classTable() string {
	var b strings.Builder
	b.WriteString("\n| class | in a report | what it means | what to do |\n|---|---|---|---|\n")
	for _, class := range recon.Classes() {
		w := WordsOf(class)
		do := w.Do
		if do == "" {
			do = "Nothing."
		}
		b.WriteString("| `" + string(class) + "` | " + w.Title + " | " + w.Means + " | " + do + " |\n")
	}
	return b.String() + "\n"
}

func TestPage_HasTheWordsOfEveryClass(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "reconciliation.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), classesBegin)
	now, after, ended := strings.Cut(rest, classesEnd)
	if !begun || !ended {
		t.Fatal("docs/reconciliation.md has lost the place of its table of classes")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+classesBegin+classTable()+classesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if now != classTable() {
		t.Error("docs/reconciliation.md differs from the words of the classes; run: go test ./recon/report -run Page -update")
	}
}

func TestPage_EveryClassHasWordsThatFitATable(t *testing.T) {
	t.Parallel()
	for _, class := range recon.Classes() {
		w := WordsOf(class)
		if w.Title == "" || w.Title == string(class) || w.Means == "" {
			t.Errorf("%s has no words: %+v", class, w)
		}
		if class.Difference() && w.Do == "" {
			t.Errorf("%s is a difference, and nobody is told what to do", class)
		}
		if strings.ContainsAny(w.Title+w.Means+w.Do, "|\n") {
			t.Errorf("%s would break a table: %+v", class, w)
		}
	}
}
