package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	testFunc  = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	namedTest = regexp.MustCompile("`(Test\\w+)`")
	holeTest  = regexp.MustCompile(`^TestH(\d+)_`)
	holeRow   = regexp.MustCompile(`(?m)^\| H(\d+)(?:–H(\d+))? \|.*$`)
)

// testsInTree are the names of all tests of the repository.
func testsInTree(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The page of threats names a test for each hole that is closed, each of them exists, and no test of a hole is missing on it.
func TestThreats_EveryHoleHasItsTest(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("docs", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsInTree(t)
	for _, m := range namedTest.FindAllSubmatch(page, -1) {
		if name := string(m[1]); name != t.Name() && !tests[name] {
			t.Errorf("docs/threats.md names %s, which does not exist", name)
		}
	}
	closed, _, ok := strings.Cut(string(page), "## Later work")
	if !ok {
		t.Fatal("docs/threats.md has no section of later work")
	}
	rows := map[int]string{}
	for _, m := range holeRow.FindAllStringSubmatch(string(page), -1) {
		first, _ := strconv.Atoi(m[1])
		last := first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		for hole := first; hole <= last; hole++ {
			if rows[hole] != "" {
				t.Errorf("hole H%d has two rows", hole)
			}
			rows[hole] = m[0]
		}
	}
	for hole := 1; hole <= 54; hole++ {
		row, mark := rows[hole], "`TestH"+strconv.Itoa(hole)+"_"
		switch {
		case row == "":
			t.Errorf("hole H%d has no row", hole)
		case strings.Contains(closed, row) && !strings.Contains(row, mark):
			t.Errorf("hole H%d is told to be closed, and its row names no test of it", hole)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		if m := holeTest.FindStringSubmatch(name); m != nil {
			hole, _ := strconv.Atoi(m[1])
			if !strings.Contains(rows[hole], "`"+name+"`") {
				t.Errorf("the row of hole H%d does not name %s", hole, name)
			}
		}
	}
}
