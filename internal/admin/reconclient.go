package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Reconcile starts a run and waits for it.
func (c *Client) Reconcile(ctx context.Context, w RunWish) (ReconRun, error) {
	return post[ReconRun](ctx, c.patient(), w, "/v1/recon/runs")
}

// ReconProgress reads how far a run or an import is.
func (c *Client) ReconProgress(ctx context.Context) (ProgressAnswer, error) {
	return get[ProgressAnswer](ctx, c, nil, "/v1/recon/progress")
}

// ReconRuns lists runs, newest first.
func (c *Client) ReconRuns(ctx context.Context, filter url.Values) (List[ReconRun], error) {
	return get[List[ReconRun]](ctx, c, filter, "/v1/recon/runs")
}

// Statements lists imported statements, newest first.
func (c *Client) Statements(ctx context.Context, filter url.Values) (List[ReconStatement], error) {
	return get[List[ReconStatement]](ctx, c, filter, "/v1/recon/statements")
}

// SignRun signs a run's report off.
func (c *Client) SignRun(ctx context.Context, id, note string) (SignedRun, error) {
	return post[SignedRun](ctx, c, SignWish{note}, "/v1/recon/runs/%s/sign", id)
}

// patient is the client with the time that a run may take.
func (c *Client) patient() *Client {
	return &Client{path: c.path, http: http.Client{Timeout: reconTimeout + 2*time.Minute, Transport: c.http.Transport}}
}

// ImportStatement sends a statement file.
func (c *Client) ImportStatement(ctx context.Context, w ImportWish, file io.Reader) (ImportAnswer, error) {
	target := "http://creditonce/v1/recon/statements?" + url.Values{
		"provider": {w.Provider}, "name": {w.Name}, "dry": {strconv.FormatBool(w.Dry)}, "incomplete": {strconv.FormatBool(w.Incomplete)},
	}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, file)
	if err != nil {
		return ImportAnswer{}, fmt.Errorf("make the request: %w", err)
	}
	r.Header.Set("Content-Type", "text/csv")
	r.Header.Set("Expect", "100-continue") // who may not, or names no provider, is told so before a large file is sent
	return send[ImportAnswer](c.patient(), r)
}

// Reported tells of a report that was written.
type Reported struct {
	Run     string   // number
	Verdict string   // in one word
	Newer   []string // numbers of newer runs of its business days that were not complete, newest first, at most 20; then so is the verdict
}

// Report writes a report to w as it comes, and tells which run it is of and what is to be said of it.
func (c *Client) Report(ctx context.Context, filter url.Values, w io.Writer) (Reported, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://creditonce/v1/recon/report?"+filter.Encode(), nil)
	if err != nil {
		return Reported{}, fmt.Errorf("make the request: %w", err)
	}
	res, err := c.patient().http.Do(r)
	if err != nil {
		return Reported{}, c.unreachable(unwrapped(err))
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return Reported{}, c.unreachable(err)
		}
		return Reported{}, problemIn(res.StatusCode, text)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		return Reported{}, c.unreachable(fmt.Errorf("the report was cut: %w", err))
	}
	out := Reported{Run: res.Header.Get("Creditonce-Run"), Verdict: res.Header.Get("Creditonce-Verdict")}
	if newer := res.Header.Get("Creditonce-Newer"); newer != "" {
		out.Newer = strings.Split(newer, ",")
	}
	return out, nil
}
