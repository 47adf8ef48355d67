package main

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMutants_EachChangesWhatStillStandsInTheSource(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mutate(root, mutants()); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, m := range mutants() {
		if seen[m.name] {
			t.Errorf("two mutants are called %s", m.name)
		}
		seen[m.name] = true
		if m.says == "" || len(m.edits) == 0 || m.killer.run == "" {
			t.Errorf("mutant %s lacks a killer, its words or a change", m.name)
		}
	}
	if len(seen) < 28 {
		t.Errorf("there are %d mutants, the proof promises at least 28", len(seen))
	}
}

func TestKillers_AreTestsThatExist(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m.killer.pkg), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		run, found := regexp.MustCompile(m.killer.run), false
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(b), -1) {
				found = found || run.MatchString(name[1])
			}
		}
		if !found {
			t.Errorf("mutant %s: its killer %s is no test of the package any more", m.name, m.killer)
		}
	}
}

func TestShares_HoldEveryMutantOnce(t *testing.T) {
	t.Parallel()
	var all []string
	for k := 1; k <= 3; k++ {
		for _, m := range share(mutants(), k, 3) {
			all = append(all, m.name)
		}
	}
	var want []string
	for _, m := range mutants() {
		want = append(want, m.name)
	}
	slices.Sort(all)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Errorf("three thirds hold %d mutants, there are %d", len(all), len(want))
	}
}

func TestMutants_BuildTogether(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	over, err := overlay(root, t.TempDir(), mutants())
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, m := range mutants() {
		for _, e := range m.edits {
			packages["./"+path.Dir(e.file)] = true
		}
	}
	args := append([]string{"build", "-overlay", over}, slices.Sorted(maps.Keys(packages))...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the product with every mutant in it does not build: %v\n%s", err, out)
	}
}

func TestVerdict_OnlyTheRightWordsKill(t *testing.T) {
	t.Parallel()
	m := mutant{says: "I-M1"}
	for name, c := range map[string]struct {
		v    verdict
		want string
	}{
		"the harness passed":              {verdict{output: "--- PASS: TestSim"}, "SURVIVED"},
		"it failed for another reason":    {verdict{failed: true, output: "panic: nil"}, "without a word"},
		"it panicked with its own words":  {verdict{failed: true, output: "I-M1\npanic: nil"}, "panicked"},
		"it failed with its own words":    {verdict{failed: true, output: "seed 7: I-M1: two deals"}, ""},
		"it passed and mentions the rule": {verdict{output: "I-M1 is checked"}, "SURVIVED"},
	} {
		got := c.v.trouble(m)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
