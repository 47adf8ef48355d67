package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
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
func (c *Client) SignRun(ctx context.Context, id, note string) (ReconRun, error) {
	return post[ReconRun](ctx, c, SignWish{note}, "/v1/recon/runs/%s/sign", id)
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

// Report writes a report to w as it comes, and tells which run it is of and what that says in one word.
func (c *Client) Report(ctx context.Context, filter url.Values, w io.Writer) (run, verdict string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://creditonce/v1/recon/report?"+filter.Encode(), nil)
	if err != nil {
		return "", "", fmt.Errorf("make the request: %w", err)
	}
	res, err := c.patient().http.Do(r)
	if err != nil {
		return "", "", c.unreachable(unwrapped(err))
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return "", "", c.unreachable(err)
		}
		return "", "", problemIn(res.StatusCode, text)
	}
	if _, err := io.Copy(w, res.Body); err != nil {
		return "", "", c.unreachable(fmt.Errorf("the report was cut: %w", err))
	}
	return res.Header.Get("Creditonce-Run"), res.Header.Get("Creditonce-Verdict"), nil
}
