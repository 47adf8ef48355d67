package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importTable is the direction of imports between our own packages (docs/architecture.md, "Layout"): each package may import
// directly what its line names and nothing else of this module. Test files are exempt.
var importTable = map[string][]string{
	".":            {"internal/cli"},
	"internal/cli": {"internal/admin", "internal/app", "internal/bench", "internal/config", "internal/demo", "mt5/fakemt5", "webhook/fakepsp"},
	"internal/app": {"credit", "store", "webhook", "webhook/standard", "webhook/stripe", "mt5", "mt5/probe", "internal/admin", "internal/alert", "internal/api", "internal/config", "internal/desk", "internal/invariant", "internal/proof/faultpoints", "internal/psp/ask", "internal/psp/paypal", "internal/psp/stripe",
		"recon", "recon/adyen", "recon/checkout", "recon/dlocal", "recon/mapped", "recon/paypal", "recon/report", "recon/stripe"},
	"internal/bench": {"credit", "recon", "store", "internal/app", "mt5/fakemt5", "webhook/fakepsp"},
	// a program of its own, for the comparison; no package of the product imports it
	"internal/bench/pgpeer": {"credit", "internal/bench", "internal/cli", "webhook", "webhook/stripe"},
	"internal/demo":         {"internal/api/client", "internal/app", "internal/config", "internal/stage", "mt5/fakemt5", "webhook/fakepsp"},
	"internal/stage":        {},
	"internal/alert":        {"credit"},
	"internal/invariant":    {"credit", "recon", "internal/desk"},
	"internal/config":       {},
	"internal/admin":        {"credit", "internal/desk", "recon"},
	"internal/desk":         {"credit"},
	"internal/api":          {"credit"},
	"internal/api/client":   {},
	"webhook":               {"credit"},
	"webhook/standard":      {"webhook", "credit"},
	"webhook/stripe":        {"webhook", "credit", "internal/psp/stripe"},
	"webhook/fakepsp":       {},
	"internal/psp/ask":      {},
	"internal/psp/stripe":   {"internal/psp/ask"},
	"internal/psp/paypal":   {"internal/psp/ask"},
	"recon/stripe":          {"recon", "credit", "internal/psp/stripe"},
	"recon/dlocal":          {"recon", "credit"},
	"recon/checkout":        {"recon", "credit"},
	"recon/mapped":          {"recon", "credit"},
	"recon/adyen":           {"recon", "credit"},
	"recon/paypal":          {"recon", "credit", "internal/psp/paypal"},
	"mt5":                   {"credit"},
	"mt5/fakemt5":           {},
	"mt5/probe":             {"credit", "mt5"},
	"store":                 {"credit", "recon", "internal/desk", "store/pages"},
	"store/pages":           {},
	"store/storetest":       {"credit", "recon", "store", "internal/desk", "internal/invariant"},
	"credit":                {},
	"recon":                 {"credit"},
	"recon/report":          {"recon", "credit"},
	"recon/readertest":      {"recon", "credit"},
	".ci/testreport":        {},

	// what proves the product: only tests import it, and internal/app when it is built with the tag faultpoints
	"internal/proof/faultpoints": {"credit"},
	"internal/proof/faultproxy":  {},
	"internal/proof/mutants":     {},
	"internal/proof/month":       {"credit", "recon"},
	"internal/proof/arena": {
		"credit", "store", "internal/api/client", "internal/app", "internal/invariant", "internal/proof/faultpoints",
		"internal/proof/faultproxy", "internal/stage", "mt5/fakemt5", "webhook/fakepsp",
	},
}

// technologies are the third-party modules that only some packages may touch.
var technologies = map[string][]string{
	"go.etcd.io/bbolt":            {"store"},
	"github.com/labstack/echo":    {"webhook", "internal/api", "internal/admin", "internal/console", "internal/app"},
	"github.com/wneessen/go-mail": {"internal/alert"},
	"github.com/xuri/excelize":    {"recon/report"},
	"github.com/jackc/pgx":        {"internal/bench/pgpeer"},
	"github.com/robfig/cron":      {"internal/app", "internal/cli"},
	"github.com/rs/zerolog":       {"internal/app", "internal/cli"},
}

// standardOnly are the packages that import the standard library and nothing else.
var standardOnly = []string{"credit", "webhook/fakepsp", "mt5/fakemt5", "internal/psp/ask", "internal/psp/stripe", "internal/psp/paypal", "store/pages"}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for dir, imports := range directImports(t) {
		allowed, listed := importTable[dir]
		if !listed {
			t.Errorf("package %q is not in the import table", dir)
			continue
		}
		seen[dir] = true
		for _, path := range imports {
			own, ours := strings.CutPrefix(path, "creditonce/")
			switch {
			case ours && !slices.Contains(allowed, own):
				t.Errorf("%s imports %s: the table allows %v", dir, own, allowed)
			case !ours && strings.Contains(strings.Split(path, "/")[0], ".") && slices.Contains(standardOnly, dir):
				t.Errorf("%s imports %s: it may use the standard library only", dir, path)
			}
			for module, users := range technologies {
				if (path == module || strings.HasPrefix(path, module+"/")) && !slices.Contains(users, dir) {
					t.Errorf("%s imports %s: only %v may", dir, path, users)
				}
			}
		}
	}
	for dir := range importTable {
		if !seen[dir] {
			t.Errorf("the import table lists %q, which has no Go files", dir)
		}
	}
}

// The program that is shipped links no other database, and nothing that leaves a commit out.
func TestProgramHoldsNothingForMeasurementsOnly(t *testing.T) {
	t.Parallel()
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("list what the program is made of: %v", err)
	}
	for path := range strings.FieldsSeq(string(deps)) {
		if strings.HasPrefix(path, "github.com/jackc/") || path == "creditonce/internal/bench/pgpeer" {
			t.Errorf("the program links %s", path)
		}
	}
	files, err := exec.Command("go", "list", "-f", "{{.GoFiles}}", "./store").Output()
	if err != nil {
		t.Fatalf("list the store's files: %v", err)
	}
	if text := string(files); !strings.Contains(text, "commit_always.go") || strings.Contains(text, "commit_leftout.go") {
		t.Errorf("the store is built of %s", text)
	}
}

func TestNoPackageIsADrawerForEverything(t *testing.T) {
	t.Parallel()
	for dir := range directImports(t) {
		switch filepath.Base(dir) {
		case "util", "utils", "common", "models", "types", "helpers", "helper", "misc":
			t.Errorf("package %q: name it after what it does", dir)
		}
	}
}

// directImports maps each package directory to what its non-test files import.
func directImports(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if out[dir] == nil {
			out[dir] = []string{}
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			out[dir] = append(out[dir], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
