package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"creditonce/internal/api/client"
)

// portal is the firm's own server as a client of the API: it registers logins with one key and makes and reads
// deposits with the other. Safe for concurrent use.
type portal struct {
	accounts *client.ClientWithResponses
	deposits *client.ClientWithResponses
	now      func() time.Time
}

func newPortal(addr string, k keys, now func() time.Time) (*portal, error) {
	p := &portal{now: now}
	calls := &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second},
	}
	var err error
	if p.accounts, err = client.NewClientWithResponses("http://"+addr, client.WithHTTPClient(calls), client.WithKey(k.accounts)); err != nil {
		return nil, fmt.Errorf("make a client of the API at %s: %w", addr, err)
	}
	if p.deposits, err = client.NewClientWithResponses("http://"+addr, client.WithHTTPClient(calls), client.WithKey(k.deposits)); err != nil {
		return nil, fmt.Errorf("make a client of the API at %s: %w", addr, err)
	}
	return p, nil
}

// depositAnswer is what a return page may show.
type depositAnswer struct {
	Code  string
	State string
}

// putAccount registers a login for its client.
func (p *portal) putAccount(ctx context.Context, a account) error {
	r, err := p.accounts.PutAccountWithResponse(ctx, serverLabel, strconv.FormatUint(a.login, 10), nil,
		client.NewAccount{Client: a.client, Currency: a.currency, Digits: a.digits})
	if err == nil {
		err = client.Refusal(r.StatusCode(), r.Body)
	}
	if err != nil {
		return fmt.Errorf("register login %d: %w", a.login, err)
	}
	return nil
}

// open makes the deposit record; idem must be new for each deposit and the same for each repetition. The time of d's
// rate is fixed with the first try.
func (p *portal) open(ctx context.Context, d *deposit, idem string) (depositAnswer, error) {
	wish := client.NewDeposit{
		Client: d.client, Server: serverLabel, Login: strconv.FormatUint(d.login, 10), Provider: pspLabel,
		Paid:     client.NewMoney{Amount: d.paid.String(), Currency: d.paid.currency},
		Credited: client.NewMoney{Amount: d.credited.String(), Currency: d.credited.currency},
	}
	if d.code != "" {
		wish.Code = &d.code
	}
	if d.rate != "" {
		if d.rateAt.IsZero() {
			d.rateAt = p.now().UTC().Truncate(time.Second)
		}
		wish.Rate = &client.Rate{Value: d.rate, Source: "demo table", At: d.rateAt}
	}
	r, err := p.deposits.MakeDepositWithResponse(ctx, &client.MakeDepositParams{IdempotencyKey: idem}, wish)
	if err == nil {
		err = client.Refusal(r.StatusCode(), r.Body)
	}
	if err != nil {
		return depositAnswer{}, fmt.Errorf("make a deposit for login %d: %w", d.login, err)
	}
	return answerOf(r.JSON201)
}

// read is what a return page does.
func (p *portal) read(ctx context.Context, code string) (depositAnswer, error) {
	r, err := p.deposits.GetDepositWithResponse(ctx, code, nil)
	if err == nil {
		err = client.Refusal(r.StatusCode(), r.Body)
	}
	if err != nil {
		return depositAnswer{}, fmt.Errorf("read deposit %s: %w", code, err)
	}
	return answerOf(r.JSON200)
}

// answerOf refuses a success without the body that belongs to it.
func answerOf(d *client.Deposit) (depositAnswer, error) {
	if d == nil {
		return depositAnswer{}, errors.New("the API answered a deposit without one")
	}
	return depositAnswer{Code: d.Code, State: string(d.State)}, nil
}
