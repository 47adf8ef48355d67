package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"creditonce/credit"
)

// The operators' guide explains every kind of task and every reason to hold a credit.
func TestOperationsGuide_ExplainsEveryTaskAndHold(t *testing.T) {
	t.Parallel()
	guide := readText(t, "../../docs/operations.md")
	for _, tt := range []struct {
		file, form string
		atLeast    int
	}{
		{"../../credit/task.go", `\sTask\w+\s+TaskKind\s*= "(\w+)"`, 19},
		{"../../credit/row.go", `\sHold\w+\s+Hold\s*= "(\w+)"`, 18},
	} {
		words := regexp.MustCompile(tt.form).FindAllStringSubmatch(readText(t, tt.file), -1)
		if len(words) < tt.atLeast {
			t.Fatalf("%s: only %d words found", tt.file, len(words))
		}
		for _, w := range words {
			if strings.HasSuffix(tt.file, "task.go") && !slices.Contains(credit.TaskKinds(), credit.TaskKind(w[1])) {
				t.Errorf("credit.TaskKinds leaves out %s", w[1])
			}
			if !strings.Contains(guide, "`"+w[1]+"`") {
				t.Errorf("docs/operations.md does not explain %s of %s", w[1], tt.file)
			}
		}
	}
}

// Every command line of the guide is one that this program takes.
func TestOperationsGuide_ShowsCommandsThatExist(t *testing.T) {
	t.Parallel()
	lines := 0
	for line := range strings.Lines(readText(t, "../../docs/operations.md")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "sudo ")
		if !strings.HasPrefix(line, "creditonce ") {
			continue
		}
		lines++
		cmd, rest, err := tree(t).Find(shellWords(line)[1:])
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if lines < 12 {
		t.Errorf("only %d command lines", lines)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
