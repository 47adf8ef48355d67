package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// DocumentPath is where the API serves its own description, without a key.
const DocumentPath = "/openapi.json"

// Document returns the OpenAPI 3.1 description of the API as indented JSON. It is made from the table that routes and
// judges the requests, and is the same bytes for the same build.
func Document() ([]byte, error) {
	components, err := componentSchemas()
	if err != nil {
		return nil, err
	}
	paths := map[string]map[string]operationDoc{}
	for _, r := range (*API)(nil).routes() {
		path := openapiPath(r.path)
		if paths[path] == nil {
			paths[path] = map[string]operationDoc{}
		}
		if paths[path][strings.ToLower(r.method)], err = r.document(); err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", r.method, r.path, err)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(openapiDoc{
		OpenAPI: "3.1.0",
		Info: infoDoc{
			Title: "creditonce: the client portal's API", Summary: "Deposits that become exactly one MT5 balance operation",
			Description: aboutAPI, Version: "1",
		},
		Servers: []serverDoc{{URL: "/", Description: "where this document was read"}},
		Tags:    documentTags(),
		Paths:   paths,
		Components: componentsDoc{
			Schemas:         components,
			SecuritySchemes: map[string]securityScheme{securityName: {Type: "http", Scheme: "bearer", Description: aboutKeys}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the description of the API: %w", err)
	}
	return out.Bytes(), nil
}

const securityName = "key"

// The members of an OpenAPI document, in the order in which people read them.
type (
	openapiDoc struct {
		OpenAPI    string                             `json:"openapi"`
		Info       infoDoc                            `json:"info"`
		Servers    []serverDoc                        `json:"servers"`
		Tags       []tagDoc                           `json:"tags"`
		Paths      map[string]map[string]operationDoc `json:"paths"`
		Components componentsDoc                      `json:"components"`
	}
	infoDoc struct {
		Title       string `json:"title"`
		Summary     string `json:"summary"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	serverDoc struct {
		URL         string `json:"url"`
		Description string `json:"description"`
	}
	tagDoc struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	componentsDoc struct {
		Schemas         map[string]*schema        `json:"schemas"`
		SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
	}
	securityScheme struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description"`
	}
	operationDoc struct {
		OperationID string                 `json:"operationId"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description,omitempty"`
		Tags        []string               `json:"tags"`
		Security    []map[string][]string  `json:"security"`
		Parameters  []parameterDoc         `json:"parameters,omitempty"`
		RequestBody *bodyDoc               `json:"requestBody,omitempty"`
		Responses   map[string]responseDoc `json:"responses"`
		Samples     []sampleDoc            `json:"x-codeSamples"`
	}
	parameterDoc struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Required    bool    `json:"required,omitempty"`
		Description string  `json:"description"`
		Schema      *schema `json:"schema"`
		GoName      string  `json:"x-go-name,omitempty"` // where a client's generator would make a name that does not compile
	}
	bodyDoc struct {
		Required bool                `json:"required"`
		Content  map[string]mediaDoc `json:"content"`
	}
	mediaDoc struct {
		Schema  *schema         `json:"schema"`
		Example json.RawMessage `json:"example,omitempty"`
	}
	responseDoc struct {
		Description string               `json:"description"`
		Headers     map[string]headerDoc `json:"headers"`
		Content     map[string]mediaDoc  `json:"content,omitempty"`
	}
	headerDoc struct {
		Description string  `json:"description"`
		Required    bool    `json:"required,omitempty"`
		Schema      *schema `json:"schema"`
	}
	sampleDoc struct {
		Lang   string `json:"lang"`
		Label  string `json:"label"`
		Source string `json:"source"`
	}
)

// openapiPath turns echo's ":code" into "{code}".
func openapiPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// documentTags groups the calls for readers.
func documentTags() []tagDoc {
	return []tagDoc{
		{"deposits", "What a client is about to pay, and what became of it"},
		{"credits", "What is on its way to MT5, or there"},
		{"accounts", "MT5 logins and the clients who own them"},
		{"docs", "Pages for people, and this document; no key is needed"},
	}
}

// tag is the group of a call: by what its path is about.
func (r route) tag() string {
	switch {
	case r.open():
		return "docs"
	case strings.Contains(r.path, "/accounts"):
		return "accounts"
	case strings.HasSuffix(r.path, "/credits"):
		return "credits"
	default:
		return "deposits"
	}
}

// document describes the call.
func (r route) document() (operationDoc, error) {
	doc := operationDoc{
		OperationID: r.operation, Summary: r.summary, Description: r.about, Tags: []string{r.tag()}, Security: []map[string][]string{},
		Parameters: r.parameterDocs(), Responses: map[string]responseDoc{},
		Samples: []sampleDoc{{Lang: "Shell", Label: "curl", Source: r.sample()}},
	}
	for _, scope := range r.scopes { // any one of them is enough
		doc.Security = append(doc.Security, map[string][]string{securityName: {scope}})
	}
	if r.request != nil {
		media, err := mediaOf(r.request)
		if err != nil {
			return doc, err
		}
		doc.RequestBody = &bodyDoc{Required: true, Content: map[string]mediaDoc{mediaJSON: media}}
	}
	for _, success := range r.responses {
		described, err := r.success(success)
		if err != nil {
			return doc, err
		}
		doc.Responses[strconv.Itoa(success.status)] = described
	}
	problems := r.every()
	for _, status := range statusesOf(problems) {
		doc.Responses[strconv.Itoa(status)] = failure(status, problems)
	}
	return doc, nil
}

// mediaOf is the schema and the example of a body.
func mediaOf(body any) (mediaDoc, error) {
	c, ok := componentOf(reflect.TypeOf(body))
	if !ok {
		return mediaDoc{}, fmt.Errorf("there is no schema for %T", body)
	}
	return mediaDoc{Schema: ref(c.name), Example: json.RawMessage(c.example)}, nil
}

// success documents an answer that is no problem.
func (r route) success(s response) (responseDoc, error) {
	doc := responseDoc{Description: s.about, Headers: everyAnswer()}
	if s.etag {
		doc.Headers["ETag"] = headerDoc{Description: "Strong validator of this very answer, for If-None-Match", Required: true,
			Schema: &schema{Type: isA("string"), Pattern: `^"[^"]+"$`}}
	}
	if r.takes(headerIdempotency) && s.status == http.StatusCreated {
		doc.Headers[headerReplayed] = headerDoc{
			Description: "true where this is the stored first answer; absent where the request was carried out now",
			Schema:      wordOf("", "true"),
		}
	}
	switch {
	case s.media == "":
	case s.body == nil && s.media == mediaJSON:
		doc.Content = map[string]mediaDoc{s.media: {Schema: &schema{Type: isA("object")}}}
	case s.body == nil:
		doc.Content = map[string]mediaDoc{s.media: {Schema: &schema{Type: isA("string")}}}
	default:
		media, err := mediaOf(s.body)
		if err != nil {
			return doc, err
		}
		doc.Content = map[string]mediaDoc{s.media: media}
	}
	return doc, nil
}

const headerIdempotency = "Idempotency-Key"

// takes tells that the call reads the request header.
func (r route) takes(name string) bool {
	return slices.ContainsFunc(r.headers, func(h header) bool { return h.name == name })
}

// everyAnswer are the headers that no answer lacks.
func everyAnswer() map[string]headerDoc {
	return map[string]headerDoc{headerRequestID: {
		Description: "The request's id: yours, where it came with one that is plain text of at most 64 characters",
		Required:    true, Schema: &schema{Type: isA("string"), MaxLength: maxRequestID},
	}}
}

// failure documents the problems of one status.
func failure(status int, problems []kind) responseDoc {
	lines := []string{http.StatusText(status) + ". The problem's `code` is one of:\n"}
	for _, k := range problems {
		if k.status == status {
			lines = append(lines, fmt.Sprintf("* `%s`: %s", k.code, k.title))
		}
	}
	doc := responseDoc{
		Description: strings.Join(lines, "\n"), Headers: everyAnswer(),
		Content: map[string]mediaDoc{mediaProblem: {Schema: ref("Problem")}},
	}
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		doc.Headers["Retry-After"] = headerDoc{Description: "Seconds to wait before the same request is sent again", Required: true,
			Schema: wholeNumber("", 1, 3600, 2)}
	case http.StatusUnauthorized:
		doc.Headers["WWW-Authenticate"] = headerDoc{Description: "Bearer", Required: true, Schema: wordOf("", "Bearer")}
	}
	return doc
}

// statusesOf lists the statuses of problems, each once.
func statusesOf(problems []kind) []int {
	var list []int
	for _, k := range problems {
		list = append(list, k.status)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// parameterDocs lists what a request carries beside its body: path, query, headers.
func (r route) parameterDocs() []parameterDoc {
	var list []parameterDoc
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			s := r.pathSchema(name)
			doc := parameterDoc{Name: name, In: "path", Required: true, Description: s.Description, Schema: bare(s)}
			if name == "server" { // oapi-codegen calls the API's address so
				doc.GoName = "MT5Server"
			}
			list = append(list, doc)
		}
	}
	for _, p := range r.query {
		list = append(list, parameterDoc{Name: p.name, In: "query", Description: p.about, Schema: p.schema()})
	}
	for _, h := range r.headers {
		list = append(list, parameterDoc{Name: h.name, In: "header", Required: h.required, Description: h.about, Schema: headerSchema(h.name)})
	}
	return append(list, parameterDoc{Name: headerRequestID, In: "header",
		Description: "An id of your own for the request, to find it in both logs; it comes back in every answer",
		Schema:      &schema{Type: isA("string"), MaxLength: maxRequestID}})
}

func headerSchema(name string) *schema {
	if name == headerIdempotency {
		return &schema{Type: isA("string"), Pattern: "^[ -~]+$", MinLength: 1, MaxLength: maxIdempotencyKey, Examples: []any{"order-1017"}}
	}
	return &schema{Type: isA("string")}
}

// schema is the form of the parameter's text.
func (p parameter) schema() *schema {
	switch p.form {
	case "choice":
		return wordOf("", p.among...)
	case "login":
		return bare(loginSchema(""))
	case "label":
		return &schema{Type: isA("string"), Pattern: labelForm.String()}
	case "currency":
		return currencySchema("")
	case "time":
		return timeText("", exampleTime)
	case "amount":
		return amountSchema("")
	case "cursor":
		return &schema{Type: isA("string"), Pattern: cursorForm.String()}
	case "limit":
		s := wholeNumber("", 1, largestPage, 10)
		s.Default = defaultPage
		return s
	default:
		return printable("", "client-01")
	}
}

// bare is the schema without its description, where that stands beside it already.
func bare(s *schema) *schema {
	c := *s
	c.Description = ""
	return &c
}

// serveDocument answers with the document.
func (a *API) serveDocument(c echo.Context, _ Key, _ query) error {
	body, err := a.document()
	if err != nil {
		return err
	}
	return sendTagged(c, body)
}
