package month

import (
	"bytes"
	"strings"
	"testing"
)

func TestFiles_AreTheSameForTheSamePlan(t *testing.T) {
	t.Parallel()
	plan := small(11, Spring)
	a, b := Make(plan).Files(), Make(plan).Files()
	if len(a) != len(b) {
		t.Fatalf("%d files, then %d", len(a), len(b))
	}
	names := map[string]bool{}
	for i := range a {
		if a[i].Name != b[i].Name || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Errorf("file %s differs", a[i].Name)
		}
		if key := a[i].Format + a[i].Name; names[key] {
			t.Errorf("two files are called %s", a[i].Name)
		} else {
			names[key] = true
		}
	}
}

// A payment of each format stands in the files with its id, which is what everything else is tied to.
func TestFiles_HaveEveryLine(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		all := map[string]*strings.Builder{}
		for _, f := range m.Files() {
			if all[f.Provider.Label] == nil {
				all[f.Provider.Label] = &strings.Builder{}
			}
			all[f.Provider.Label].Write(f.Data)
		}
		for _, l := range m.Lines {
			if text := all[l.Provider.Label].String(); l.Payment != "" && l.Type == "payment" && !strings.Contains(text, l.Payment) {
				t.Fatalf("no file has the payment %s of %s", l.Payment, l.Provider.Label)
			}
		}
	})
}
