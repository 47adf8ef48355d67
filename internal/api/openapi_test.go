package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is the document as a client reads it, with the means to hold answers and requests against it. Safe for
// concurrent use.
type contract struct {
	tree map[string]any
	all  []documented

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const contractURL = "https://example.test/openapi.json"

// theContract reads the document once for all tests. Here, objects of answers may have no member that the document
// does not name, although clients must put up with them: so nothing is answered that is not documented.
var theContract = sync.OnceValues(func() (*contract, error) {
	text, err := Document()
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := &contract{compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	var isObject bool
	if c.tree, isObject = tree.(map[string]any); !isObject {
		return nil, errors.New("the document is no object")
	}
	closeObjects(c.tree["components"])
	c.all = readOperations(c.tree)
	c.compiler.AssertFormat()
	return c, c.compiler.AddResource(contractURL, c.tree)
})

// closeObjects lets no object below have members that its schema does not name.
func closeObjects(at any) {
	s, ok := at.(map[string]any)
	if !ok {
		return
	}
	if s["type"] == "object" && s["properties"] != nil {
		s["additionalProperties"] = false
	}
	for _, below := range s {
		closeObjects(below)
	}
}

func readContract(t testing.TB) *contract {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// under walks down the members of objects.
func under(t testing.TB, at map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, name := range path {
		next, ok := at[name].(map[string]any)
		if !ok {
			t.Fatalf("%v: %q is no object", path, name)
		}
		at = next
	}
	return at
}

// schema compiles the schema at the place.
func (c *contract) schema(t testing.TB, path ...string) *jsonschema.Schema {
	t.Helper()
	var pointer strings.Builder
	for _, part := range path {
		pointer.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[pointer.String()]; s != nil {
		return s
	}
	s, err := c.compiler.Compile(contractURL + "#" + pointer.String())
	if err != nil {
		t.Fatalf("%v: %v", path, err)
	}
	c.compiled[pointer.String()] = s
	return s
}

// refuses tells why the body does not fit the component; nil when it does.
func (c *contract) refuses(t testing.TB, component string, body string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return c.schema(t, "components", "schemas", component).Validate(value)
}

// documented is one operation of the document.
type documented struct {
	name string // "METHOD /path", as the document writes paths
	path *regexp.Regexp
	tree map[string]any
}

// readOperations lists all operations of the document.
func readOperations(tree map[string]any) (list []documented) {
	paths, _ := tree["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, _ := paths[path].(map[string]any)
		form := regexp.MustCompile("^" + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "[^/]+") + "$")
		for method, operation := range item {
			operation, _ := operation.(map[string]any)
			list = append(list, documented{strings.ToUpper(method) + " " + path, form, operation})
		}
	}
	return list
}

// operations are all by their names.
func (c *contract) operations() map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, op := range c.all {
		out[op.name] = op.tree
	}
	return out
}

// find returns the operation that a request is one of.
func (c *contract) find(r *http.Request) (name string, ok bool) {
	for _, op := range c.all {
		if strings.HasPrefix(op.name, r.Method+" ") && op.path.MatchString(r.URL.EscapedPath()) {
			return op.name, true
		}
	}
	return "", false
}

// holds checks an answer: its status, media type, headers and body must be what the document says of the call. It
// returns the problem's code, or "".
func (c *contract) holds(t testing.TB, r *http.Request, w *httptest.ResponseRecorder) (code string) {
	t.Helper()
	op, ok := c.find(r)
	if !ok { // then there is no such route
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Fatalf("%s %s is in no path of the document, and is answered %d", r.Method, r.URL.Path, w.Code)
		}
		return ""
	}
	method, path, _ := strings.Cut(op, " ")
	status := fmt.Sprint(w.Code)
	at := []string{"paths", path, strings.ToLower(method), "responses", status}
	responses := under(t, c.tree, at[:4]...)
	if responses[status] == nil {
		t.Fatalf("%s answers %s, which the document does not say: %s", op, status, w.Body)
	}
	response := under(t, responses, status)
	c.headers(t, op+" "+status, under(t, response, "headers"), w.Header())
	content, hasBody := response["content"].(map[string]any)
	if !hasBody && w.Body.Len() > 0 {
		t.Fatalf("%s %s: a body that the document does not say: %s", op, status, w.Body)
	}
	if !hasBody {
		return ""
	}
	code = c.body(t, op+" "+status, append(at, "content"), content, w)
	if about := fmt.Sprint(response["description"]); code != "" && !strings.Contains(about, "* `"+code+"`: ") {
		t.Fatalf("%s %s: code %s is not among those of the document:\n%s", op, status, code, about)
	}
	return code
}

// body checks a body against the schema of its media type.
func (c *contract) body(t testing.TB, where string, at []string, content map[string]any, w *httptest.ResponseRecorder) (code string) {
	t.Helper()
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	if content[media] == nil {
		t.Fatalf("%s: media type %q, the document says %v", where, media, slices.Collect(maps.Keys(content)))
	}
	if media == mediaHTML {
		return ""
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if err := c.schema(t, append(at, media, "schema")...).Validate(value); err != nil {
		t.Fatalf("%s: %v\n%s", where, err, w.Body)
	}
	if media != mediaProblem {
		return ""
	}
	problem, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("%s: %s", where, w.Body)
	}
	return fmt.Sprint(problem["code"])
}

// headers checks that what must be there is there, and that what the document knows of elsewhere is not there unsaid.
func (c *contract) headers(t testing.TB, where string, documented map[string]any, got http.Header) {
	t.Helper()
	for name := range documented {
		h := under(t, documented, name)
		if h["required"] == true && got.Get(name) == "" {
			t.Errorf("%s: no header %s", where, name)
		}
	}
	for _, name := range []string{"ETag", headerReplayed, "Retry-After", "WWW-Authenticate"} {
		if got.Get(name) != "" && documented[name] == nil {
			t.Errorf("%s: header %s is not in the document", where, name)
		}
	}
}

func TestDocument_HasEveryRouteOfTheRouterAndNoOther(t *testing.T) {
	t.Parallel()
	documented := readContract(t).operations()
	routed := map[string]bool{}
	for _, r := range setup(t).api.echo.Routes() {
		routed[r.Method+" "+openapiPath(r.Path)] = true
	}
	for op := range documented {
		if !routed[op] {
			t.Errorf("%s is in the document and not in the router", op)
		}
	}
	for op := range routed {
		if documented[op] == nil {
			t.Errorf("%s is in the router and not in the document", op)
		}
	}
}

func TestDocument_IsServedWithoutAKeyAndTagged(t *testing.T) {
	t.Parallel()
	p := setup(t)
	want, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	w := p.do(call{method: http.MethodGet, path: DocumentPath})
	if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want) || w.Header().Get("Content-Type") != mediaJSON {
		t.Fatalf("status %d, %d bytes of %s; want %d", w.Code, w.Body.Len(), w.Header().Get("Content-Type"), len(want))
	}
	again := p.do(call{method: http.MethodGet, path: DocumentPath, header: map[string]string{"If-None-Match": w.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified {
		t.Errorf("with its ETag: status %d", again.Code)
	}
}

func TestDocument_SchemasAgreeWithTheGoTypesOfTheBodies(t *testing.T) {
	t.Parallel()
	for _, c := range components() {
		if c.body == nil {
			continue
		}
		fields := fieldsOf(reflect.TypeOf(c.body))
		if len(fields) != len(c.schema.Properties) {
			t.Errorf("%s has %d properties, %T has %d fields", c.name, len(c.schema.Properties), c.body, len(fields))
			continue
		}
		for i, field := range fields {
			checkProperty(t, c, field, c.schema.Properties[i])
		}
	}
}

// fieldsOf lists the fields of a struct, those of embedded structs in their place.
func fieldsOf(of reflect.Type) (list []reflect.StructField) {
	for i := range of.NumField() {
		if field := of.Field(i); field.Anonymous {
			list = append(list, fieldsOf(field.Type)...)
		} else {
			list = append(list, field)
		}
	}
	return list
}

func checkProperty(t *testing.T, c component, field reflect.StructField, p property) {
	t.Helper()
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if p.name != name || p.optional != strings.Contains(options, "omit") {
		t.Errorf("%s: property %q (optional: %t) for the field %s with the tag %q", c.name, p.name, p.optional, field.Name, field.Tag.Get("json"))
	}
	of := field.Type
	if of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct {
		of = of.Elem()
	}
	if named, ok := componentOf(of); ok {
		target := p.schema.Ref
		for _, s := range p.schema.AnyOf {
			target += s.Ref
		}
		if target != componentsPath+named.name {
			t.Errorf("%s.%s: %q for a field of %s", c.name, name, target, of)
		}
		return
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean", reflect.Slice: "array", reflect.Pointer: "string",
	}[of.Kind()]
	if of == reflect.TypeFor[time.Time]() {
		want = "string"
	}
	if p.schema.Ref == "" && (len(p.schema.Type) == 0 || p.schema.Type[0] != want) {
		t.Errorf("%s.%s: type %v for a field of %s", c.name, name, p.schema.Type, of)
	}
	if of == reflect.TypeFor[time.Time]() && p.schema.Format != "date-time" {
		t.Errorf("%s.%s: a time without its format", c.name, name)
	}
}

func TestDocument_ExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	contract := readContract(t)
	for _, c := range components() {
		if c.example != "" {
			if err := contract.refuses(t, c.name, c.example); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for _, p := range c.schema.Properties {
			for _, example := range p.schema.Examples {
				value, err := json.Marshal(example)
				if err != nil {
					t.Fatal(err)
				}
				decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
				if err != nil {
					t.Fatal(err)
				}
				if err := contract.schema(t, "components", "schemas", c.name, "properties", p.name).Validate(decoded); err != nil {
					t.Errorf("%s.%s: example %s: %v", c.name, p.name, value, err)
				}
			}
		}
	}
}

// Numbers of 64 bits and money would be cut by readers that know no integers (JavaScript, jq).
func TestDocument_HasNoNumberThatMayHaveMoreThan53Bits(t *testing.T) {
	t.Parallel()
	for _, c := range components() {
		for _, p := range c.schema.Properties {
			if slices.Contains(p.schema.Type, "number") {
				t.Errorf("%s.%s is a number with a fraction", c.name, p.name)
			}
			if slices.Contains(p.schema.Type, "integer") && (p.schema.Maximum == nil || *p.schema.Maximum > 1_000_000) {
				t.Errorf("%s.%s is an integer without a small bound", c.name, p.name)
			}
		}
	}
}

func TestDocument_IsTheSameBytesEachTime(t *testing.T) {
	t.Parallel()
	first, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := Document()
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another document: %v", err)
		}
	}
}
