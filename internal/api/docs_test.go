package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsed visits every node of the files, tests apart.
func parsed(t *testing.T, visit func(path string, n ast.Node), patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				visit(path, n)
				return true
			})
		}
	}
}

func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if text, err := strconv.Unquote(lit.Value); err == nil {
			return text
		}
	}
	return ""
}

// Every code that the source can answer with is in the list, and the list holds no other: what the domain and the
// wiring refuse the portal (people's decisions have codes of their own, which no route leads to), and this package's kinds.
func TestEveryProblemCode_HasAPage(t *testing.T) {
	t.Parallel()
	inSource := map[string]string{}
	parsed(t, func(path string, n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if (name == "Refuse" || name == "refusal") && len(n.Args) > 1 {
				code := literal(n.Args[0])
				if code == "" {
					t.Errorf("%s: a refusal whose code is not written out", path)
				}
				inSource[code] = path
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "kind" && len(n.Elts) == 3 {
				if code := literal(n.Elts[1]); code != "" {
					inSource[code] = path
				}
			}
		}
	}, "../../credit/portal.go", "../../credit/ownership.go", "../app/books.go", "*.go")
	listed := map[string]bool{}
	for _, text := range problemTexts {
		if listed[text.kind.code] {
			t.Errorf("%s is listed twice", text.kind.code)
		}
		listed[text.kind.code] = true
		if inSource[text.kind.code] == "" {
			t.Errorf("%s is listed, and nothing answers with it", text.kind.code)
		}
	}
	for code, path := range inSource {
		if !listed[code] {
			t.Errorf("%s: %q has no page", path, code)
		}
	}
	if len(listed) < 40 {
		t.Errorf("%d codes", len(listed))
	}
}

// Every code that can stand in errors is explained.
func TestEveryFaultCode_IsExplained(t *testing.T) {
	t.Parallel()
	explained := map[string]bool{}
	for _, f := range faultTexts {
		explained[f.code] = true
	}
	used := map[string]bool{}
	note := func(code string) {
		if regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`).MatchString(code) {
			used[code] = true
		}
	}
	parsed(t, func(_ string, n ast.Node) {
		switch n := n.(type) {
		case *ast.ReturnStmt: // of rules: code, detail
			if len(n.Results) == 2 {
				note(literal(n.Results[0]))
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "blame" {
				note(literal(n.Args[1]))
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "fault" && len(n.Elts) == 3 {
				note(literal(n.Elts[1]))
			}
		}
	}, "*.go")
	for code := range used {
		if !explained[code] {
			t.Errorf("%s is not explained", code)
		}
	}
	for code := range explained {
		if !used[code] {
			t.Errorf("%s is explained, and never used", code)
		}
	}
}

func TestPages_AreWholeAndLoadNothing(t *testing.T) {
	t.Parallel()
	p := setup(t)
	index := p.do(call{method: http.MethodGet, path: "/docs/problems"})
	for _, text := range problemTexts {
		path := problemPath + text.kind.code
		if !strings.Contains(index.Body.String(), `href="`+path+`"`) {
			t.Errorf("the list does not lead to %s", path)
		}
		w := p.do(call{method: http.MethodGet, path: path})
		page := w.Body.String()
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=UTF-8" || !strings.Contains(page, "What to do") ||
			!strings.Contains(page, "<title>"+html.EscapeString(text.kind.title)) || !strings.Contains(page, `href="/docs/problems"`) || !strings.Contains(page, strconv.Itoa(text.kind.status)) {
			t.Errorf("%s: %d %s", path, w.Code, page)
		}
		if text.meaning == "" || text.remedy == "" {
			t.Errorf("%s says nothing", text.kind.code)
		}
		for _, loads := range []string{"<script", "<img", "<link", "http://", "https://", "@import", "url(", "style="} {
			if strings.Contains(page, loads) {
				t.Errorf("%s holds %s", path, loads)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("policy %q", policy)
		}
	}
	for _, path := range []string{problemPath + "nothing", problemPath + "%3Cscript%3E", problemPath + "Busy"} {
		w := p.do(call{method: http.MethodGet, path: path})
		wantProblem(t, w, http.StatusNotFound, "not_found")
		if strings.Contains(w.Body.String(), "script") {
			t.Errorf("the page repeats its address: %s", w.Body)
		}
	}
	wantProblem(t, p.do(call{method: http.MethodGet, path: "/docs/problems?x=1"}), http.StatusBadRequest, "unknown_parameter")
}

// Any problem leads to its page, whoever met it.
func TestTypeOfAProblem_IsServed(t *testing.T) {
	t.Parallel()
	p := setup(t)
	d := readProblem(t, p.do(get("", "/v1/deposits")))
	if w := p.do(call{method: http.MethodGet, path: d.Type}); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), html.EscapeString(d.Title)) {
		t.Errorf("%s: %d", d.Type, w.Code)
	}
}

// The table describes itself whole: what a document is made of is there for every call.
func TestRouteTableIsWhole(t *testing.T) {
	t.Parallel()
	p := setup(t)
	seen := map[string]bool{}
	for _, r := range p.api.routes() {
		if r.operation == "" || seen[r.operation] || r.summary == "" || len(r.responses) == 0 || r.handle == nil {
			t.Errorf("%s %s lacks a part, or shares its operation", r.method, r.path)
		}
		seen[r.operation] = true
		for _, q := range r.query {
			if q.name == "" || q.about == "" || q.form == "" || q.check == nil || (q.form == "choice") != (len(q.among) > 0) {
				t.Errorf("%s %s: parameter %+v lacks a part", r.method, r.path, q.name)
			}
			for _, word := range q.among {
				if code, _ := q.check(word); code != "" {
					t.Errorf("%s %s: %s=%s is offered and refused", r.method, r.path, q.name, word)
				}
			}
		}
		for _, k := range r.every() {
			if !slices.ContainsFunc(problemTexts, func(text problemText) bool { return text.kind == k }) {
				t.Errorf("%s %s: problem %s has no page", r.method, r.path, k.code)
			}
		}
		for _, one := range r.responses {
			if one.media == mediaJSON && one.body == nil && !r.open() || one.about == "" {
				t.Errorf("%s %s: response %d lacks a part", r.method, r.path, one.status)
			}
		}
	}
}
