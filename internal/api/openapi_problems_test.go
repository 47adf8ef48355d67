package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codesInSource reads every code that the code can answer with: the kinds of this package, and the refusals in the
// files that decide for the portal (what people may not do, in other files of credit, never reaches it).
func codesInSource(t *testing.T) []string {
	t.Helper()
	var codes []string
	for _, pattern := range []string{"*.go", "../app/books.go", "../../credit/portal.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if code := codeAt(n, pattern == "*.go"); code != "" {
					codes = append(codes, code)
				}
				return true
			})
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// codeAt finds Refuse("code", ...), and in this package also refusal("code", ...) and kind{status, "code", ...}.
func codeAt(n ast.Node, here bool) string {
	text := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return ""
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			return ""
		}
		return s
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if len(n.Args) > 0 && (name == "Refuse" || here && name == "refusal") {
			return text(n.Args[0])
		}
	case *ast.CompositeLit:
		if id, ok := n.Type.(*ast.Ident); ok && here && id.Name == "kind" && len(n.Elts) == 3 {
			return text(n.Elts[1])
		}
	}
	return ""
}

func TestDocument_NamesEveryProblemCodeOfTheCodeAndNoOther(t *testing.T) {
	t.Parallel()
	inSource, documented := codesInSource(t), problemCodes()
	if len(inSource) < 30 {
		t.Fatalf("only %d codes were found in the source: %v", len(inSource), inSource)
	}
	for _, code := range inSource {
		if !slices.Contains(documented, code) {
			t.Errorf("code %q is in the source and not in the document", code)
		}
	}
	for _, code := range documented {
		if !slices.Contains(inSource, code) {
			t.Errorf("code %q is in the document and not in the source", code)
		}
	}
}

// A code that belongs to no call would never be looked for by a client. Those of no route are so, and two that stand for
// errors of the store which one transaction never makes.
func TestDocument_EveryProblemCodeBelongsToACall(t *testing.T) {
	t.Parallel()
	var said []string
	for _, r := range (*API)(nil).routes() {
		for _, k := range r.every() {
			said = append(said, k.code)
		}
	}
	for _, code := range problemCodes() {
		routeless := slices.Contains([]string{kindNoRoute.code, kindMethod.code, kindTaken.code, kindConflict.code}, code)
		if slices.Contains(said, code) == routeless {
			t.Errorf("code %s belongs to a call: %t", code, !routeless)
		}
	}
}
