package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// portal is the firm's own server as a client of the API: it registers logins with one key and makes and reads
// deposits with the other. Safe for concurrent use.
type portal struct {
	base string
	keys keys
	http *http.Client
	now  func() time.Time
}

func newPortal(addr string, k keys, now func() time.Time) *portal {
	return &portal{base: "http://" + addr, keys: k, now: now, http: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second},
	}}
}

// refusedError is an answer of the API that is a problem. Code is stable (RFC 9457, member "code").
type refusedError struct {
	Status int
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Error gives the API's own words.
func (e *refusedError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Detail) }

type moneyJSON struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

type rateJSON struct {
	Value  string `json:"value"`
	Source string `json:"source"`
	At     string `json:"at"`
}

type depositRequest struct {
	Client   string    `json:"client"`
	Server   string    `json:"server"`
	Login    string    `json:"login"`
	Paid     moneyJSON `json:"paid"`
	Credited moneyJSON `json:"credited"`
	Rate     *rateJSON `json:"rate,omitempty"`
	Provider string    `json:"provider"`
	Code     string    `json:"code,omitempty"`
}

// depositAnswer is what a return page may show.
type depositAnswer struct {
	Code  string `json:"code"`
	State string `json:"state"`
}

// putAccount registers a login for its client.
func (p *portal) putAccount(ctx context.Context, a account) error {
	path := "/v1/servers/" + serverLabel + "/accounts/" + strconv.FormatUint(a.login, 10)
	body := map[string]any{"client": a.client, "currency": a.currency, "digits": a.digits}
	if err := p.call(ctx, http.MethodPut, path, p.keys.accounts, "", body, nil); err != nil {
		return fmt.Errorf("register login %d: %w", a.login, err)
	}
	return nil
}

// open makes the deposit record; idem must be new for each deposit and the same for each repetition. The time of d's
// rate is fixed with the first try.
func (p *portal) open(ctx context.Context, d *deposit, idem string) (depositAnswer, error) {
	r := depositRequest{
		Client: d.client, Server: serverLabel, Login: strconv.FormatUint(d.login, 10), Provider: pspLabel, Code: d.code,
		Paid:     moneyJSON{d.paid.String(), d.paid.currency},
		Credited: moneyJSON{d.credited.String(), d.credited.currency},
	}
	if d.rate != "" {
		if d.rateAt == "" {
			d.rateAt = p.now().UTC().Format(time.RFC3339)
		}
		r.Rate = &rateJSON{Value: d.rate, Source: "demo table", At: d.rateAt}
	}
	var a depositAnswer
	if err := p.call(ctx, http.MethodPost, "/v1/deposits", p.keys.deposits, idem, r, &a); err != nil {
		return a, fmt.Errorf("make a deposit for login %d: %w", d.login, err)
	}
	return a, nil
}

// read is what a return page does.
func (p *portal) read(ctx context.Context, code string) (depositAnswer, error) {
	var a depositAnswer
	if err := p.call(ctx, http.MethodGet, "/v1/deposits/"+code, p.keys.deposits, "", nil, &a); err != nil {
		return a, fmt.Errorf("read deposit %s: %w", code, err)
	}
	return a, nil
}

func (p *portal) call(ctx context.Context, method, path, key, idem string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if idem != "" {
		req.Header.Set("Idempotency-Key", idem)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		refused := &refusedError{Status: resp.StatusCode}
		if json.Unmarshal(answer, refused) != nil || refused.Code == "" {
			refused.Code = "no_problem_document"
		}
		return refused
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
