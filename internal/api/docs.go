package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
)

// pageStyle is the whole look of the pages: no font, picture or script is loaded from anywhere.
const pageStyle = `:root{color-scheme:light dark;--ink:#1c2330;--soft:#5b6577;--line:#d9dee7;--paper:#fff;--tint:#f4f6f9;--mark:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf1;--soft:#9aa6b8;--line:#333d4d;--paper:#141a23;--tint:#1d2531;--mark:#7db7f5}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,sans-serif}
main{max-width:46rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}a{color:var(--mark)}
h1{font-size:1.7rem;line-height:1.25;margin:.2rem 0 1rem}h2{font-size:1.1rem;margin:2rem 0 .3rem}p{margin:.3rem 0 .9rem}
code{font:.9em ui-monospace,monospace;background:var(--tint);border:1px solid var(--line);border-radius:4px;padding:.08em .35em;overflow-wrap:anywhere}
.quiet{color:var(--soft);margin:0}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--soft)}td.status{width:4rem;font-variant-numeric:tabular-nums}
@media print{:root{--ink:#000;--soft:#333;--line:#999;--paper:#fff;--tint:#fff;--mark:#000}body{font-size:11pt}main{max-width:none;padding:0}nav{display:none}tr,h2{break-inside:avoid}}`

// pageLayout is written for readers without style sheets too: headings, paragraphs and tables in their order.
var pageLayout = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
{{if .Problem}}<nav><p><a href="/docs/problems">All problems</a></p></nav>
<p class="quiet">{{.Problem.Status}} · <code>{{.Problem.Code}}</code></p>
<h1>{{.Title}}</h1>
<h2>What it means</h2>
<p>{{.Problem.Meaning}}</p>
<h2>What to do</h2>
<p>{{.Problem.Remedy}}</p>
{{if .Faults}}<h2>Codes in errors</h2>
<table>
<thead><tr><th scope="col">Code</th><th scope="col">What is wrong</th></tr></thead>
<tbody>
{{range .Faults}}<tr><td><code>{{.Code}}</code></td><td>{{.Meaning}}</td></tr>
{{end}}</tbody>
</table>
{{end}}{{else}}<p class="quiet">creditonce, the portal's API</p>
<h1>{{.Title}}</h1>
<p>Every refusal is a JSON document (RFC 9457) with a <code>code</code> that never changes its meaning, a <code>detail</code> for people and the request's id in <code>instance</code>. A refused request has changed nothing, unless its page says otherwise.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Problem</th></tr></thead>
<tbody>
{{range .All}}<tr><td class="status">{{.Status}}</td><td><a href="/docs/problems/{{.Code}}"><code>{{.Code}}</code></a></td><td>{{.Title}}</td></tr>
{{end}}</tbody>
</table>
{{end}}</main>
</body>
</html>
`))

// pageData is what the layout shows: one problem, or all of them.
type pageData struct {
	Title   string
	Style   template.CSS
	Problem *pageProblem
	Faults  []pageFault
	All     []pageProblem
}

type pageProblem struct {
	Status                       int
	Code, Title, Meaning, Remedy string
}

type pageFault struct{ Code, Meaning string }

func (t problemText) page() pageProblem {
	return pageProblem{t.kind.status, t.kind.code, t.kind.title, t.meaning, t.remedy}
}

// problemIndex lists every problem.
func (a *API) problemIndex(c echo.Context, _ Key, _ query) error {
	data := pageData{Title: "Problems"}
	for _, t := range problemTexts {
		data.All = append(data.All, t.page())
	}
	return sendPage(c, data)
}

// problemPage explains one problem: the page that a problem's type leads to.
func (a *API) problemPage(c echo.Context, _ Key, _ query) error {
	for _, t := range problemTexts {
		if t.kind.code != c.Param("code") {
			continue
		}
		one := t.page()
		data := pageData{Title: one.Title, Problem: &one}
		if t.kind == kindInvalid {
			for _, f := range faultTexts {
				data.Faults = append(data.Faults, pageFault{f.code, f.meaning})
			}
		}
		return sendPage(c, data)
	}
	return kindNotFound.because("there is no problem with this code; see /docs/problems")
}

// sendPage writes a page that may load and run nothing.
func sendPage(c echo.Context, data pageData) error {
	data.Style = pageStyle
	var page bytes.Buffer
	if err := pageLayout.Execute(&page, data); err != nil {
		return fmt.Errorf("render page %q: %w", data.Title, err)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	return c.HTMLBlob(http.StatusOK, page.Bytes())
}
