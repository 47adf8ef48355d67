package invariant

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/invariants.md anew")

const docs = "../../docs/invariants.md"

const before = `# What must be true

These sentences hold at every moment: after each step of the simulation, after each restart of the kill harness, in each store that
a test leaves behind, in ` + "`creditonce verify`" + `, and in the running service, which judges what has changed every two minutes
and, slowly, everything. Where one is broken, the service puts the mode to ` + "`hold`" + ` with the reason, opens the task ` + "`invariant`" + ` and goes
on taking webhooks (docs/operations.md).

A store alone, without the journals of the provider and of MT5, is judged by those of the third column.

| name | sentence | store alone |
|---|---|---|
`

const after = `
Generated from ` + "`internal/invariant`" + ` by ` + "`go test ./internal/invariant -run TestDocs -update`" + `; another test plants each violation in a
good world and sees exactly its name.
`

func TestDocs_ListEveryInvariant(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(before)
	for _, r := range All() {
		alone := "yes"
		switch {
		case r.needs&NoJournals != 0, slices.Contains([]string{"I-M2", "I-M3", "I-S5", "I-O1", "I-D1"}, r.Name): // or the order of steps
			alone = "no"
		case r.Name == "I-M12", r.Name == "I-L1", strings.HasPrefix(r.Name, "I-R"):
			alone = "in part"
		}
		text.WriteString("| " + r.Name + " | " + r.Sentence + " | " + alone + " |\n")
	}
	text.WriteString(after)
	if *update {
		if err := os.WriteFile(docs, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(docs)
	if err != nil || string(have) != text.String() {
		t.Errorf("docs/invariants.md is not what the code says (%v): run this test with -update", err)
	}
}
