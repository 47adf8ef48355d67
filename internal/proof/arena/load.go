package arena

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"creditonce/internal/api/client"
	"creditonce/webhook/fakepsp"
)

// portal is the firm's own server.
type portal struct {
	accounts, deposits *client.ClientWithResponses
}

func newPortal(addr, accounts, deposits string) (*portal, error) {
	p := &portal{}
	calls := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var errs [2]error
	p.accounts, errs[0] = client.NewClientWithResponses("http://"+addr, client.WithHTTPClient(calls), client.WithKey(accounts))
	p.deposits, errs[1] = client.NewClientWithResponses("http://"+addr, client.WithHTTPClient(calls), client.WithKey(deposits))
	return p, errors.Join(errs[:]...)
}

func (p *portal) register(ctx context.Context, a Account) error {
	r, err := p.accounts.PutAccountWithResponse(ctx, Server, strconv.FormatUint(a.Login, 10), nil,
		client.NewAccount{Client: a.Client, Currency: a.Currency, Digits: a.Digits})
	if err == nil {
		err = client.Refusal(r.StatusCode(), r.Body)
	}
	return err
}

// state is what the portal would show the client; empty when it cannot be read now.
func (p *portal) state(ctx context.Context, code string) string {
	r, err := p.deposits.GetDepositWithResponse(ctx, code, nil)
	switch {
	case err != nil:
		return ""
	case r.StatusCode() == http.StatusNotFound:
		return gone
	case r.JSON200 == nil:
		return ""
	}
	return string(r.JSON200.State)
}

// gone is a deposit that the store does not have.
const gone = "gone"

// way is how a deposit goes, besides the ordinary.
type way string

const (
	ordinary    way = "ordinary"
	paidFirst   way = "paid before the deposit is made"
	paidTwice   way = "paid twice"
	wrongAmount way = "another amount is paid"
	refunded    way = "refunded after the payment"
	wired       way = "entered by people"
)

// deposit is one deposit as the portal and the client know it. No two of a world credit the same amount, so that MT5's
// journal alone says which deal is whose.
type deposit struct {
	index int
	way   way
	Account
	minor int64

	code     string
	payments []string // at the provider
	made     bool     // the API has said so
}

// most is how many deals the deposit may have.
func (d *deposit) most() int {
	if d.way == wrongAmount {
		return 0
	}
	return 1
}

func newDeposit(i int, rng *rand.Rand) *deposit {
	d := &deposit{index: i, way: ordinary, Account: AccountAt(rng.IntN(AccountCount)), minor: lowest + int64(i)}
	switch n := rng.IntN(100); {
	case n < 8:
		d.way = paidFirst
		d.code = fmt.Sprintf("arena-payment-%04d-%08x", i, rng.Uint32())
	case n < 13:
		d.way = paidTwice
	case n < 18:
		d.way = wrongAmount
	case n < 25:
		d.way = refunded
	}
	return d
}

func (d *deposit) amount() string {
	if d.Digits == 0 {
		return strconv.FormatInt(d.minor, 10)
	}
	return fmt.Sprintf("%d.%02d", d.minor/100, d.minor%100)
}

const (
	workers = 5
	lowest  = 2_000 // minor units; each deposit is one more than the one before
)

// Allow lets Load begin n more deposits: what must settle takes its time, and a load that is not dealt out over the lives of
// a world is used up in its first ones.
func (w *World) Allow(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed += n
}

// Load makes and pays deposits, as many as Allow lets it, until ctx ends, and ends what it has begun: it repeats every
// request until it is answered, so the program must be running in the end. Some deposits are paid before they are made, paid
// twice, paid with another amount, or refunded.
func (w *World) Load(ctx context.Context, seed uint64) error {
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		wg.Go(func() { errs[i] = w.work(ctx, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w *World) work(ctx context.Context, rng *rand.Rand) error {
	for ctx.Err() == nil {
		if d := w.next(rng); d != nil {
			if err := w.play(context.WithoutCancel(ctx), d); err != nil {
				return fmt.Errorf("deposit %d (%s): %w", d.index, d.way, err)
			}
		}
		_ = Pause(ctx, between(rng, 60, 240)) // the loop sees its end
	}
	return nil
}

// next begins a deposit; nil when no more are allowed now.
func (w *World) next(rng *rand.Rand) *deposit {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.allowed == 0 {
		return nil
	}
	w.allowed--
	d := newDeposit(len(w.deposits), rng)
	w.deposits = append(w.deposits, d)
	return d
}

// One makes one ordinary deposit, pays it and waits until it is credited or in front of a person, or ctx ends.
func (w *World) One(ctx context.Context) error {
	w.mu.Lock()
	i := len(w.deposits)
	d := &deposit{index: i, way: ordinary, Account: AccountAt(i % AccountCount), minor: lowest + int64(i)}
	w.deposits = append(w.deposits, d)
	w.mu.Unlock()
	if err := w.play(ctx, d); err != nil {
		return err
	}
	rests := map[string]bool{}
	if !Until(ctx, patience, func(ctx context.Context) bool {
		open, _ := w.openDeposits(ctx, rests, d)
		return open == ""
	}) {
		return fmt.Errorf("deposit %s does not come to rest: %w", d.code, ctx.Err())
	}
	return nil
}

// play takes a deposit the whole way of the portal and the client.
func (w *World) play(ctx context.Context, d *deposit) error {
	if d.way == paidFirst {
		return errors.Join(w.pay(ctx, d, d.minor), w.make(ctx, d))
	}
	if err := w.make(ctx, d); err != nil {
		return err
	}
	switch d.way {
	case wrongAmount:
		return w.pay(ctx, d, d.minor+1)
	case paidTwice:
		return errors.Join(w.pay(ctx, d, d.minor), w.pay(ctx, d, d.minor))
	case refunded:
		if err := w.pay(ctx, d, d.minor); err != nil {
			return err
		}
		_, err := w.PSP.Refund(ctx, fakepsp.RefundRequest{Payment: d.payments[0], Amount: d.minor})
		return err
	case ordinary, paidFirst, wired:
	}
	return w.pay(ctx, d, d.minor)
}

func (w *World) pay(ctx context.Context, d *deposit, minor int64) error {
	p, err := w.PSP.Pay(ctx, fakepsp.PaymentRequest{Code: d.code, Amount: minor, Currency: strings.ToLower(d.Currency)})
	if err == nil {
		w.mu.Lock()
		d.payments = append(d.payments, p.ID)
		w.mu.Unlock()
	}
	return err
}

// patience is how long the portal repeats a request: longer than a cycle with everything that can be wrong in it.
const patience = 90 * time.Second

// make makes the deposit record. An answer that was lost is asked for again under the same key.
func (w *World) make(ctx context.Context, d *deposit) error {
	wish := client.NewDeposit{
		Client: d.Client, Server: Server, Login: strconv.FormatUint(d.Login, 10), Provider: Provider,
		Paid:     client.NewMoney{Amount: d.amount(), Currency: d.Currency},
		Credited: client.NewMoney{Amount: d.amount(), Currency: d.Currency},
	}
	if d.code != "" {
		wish.Code = &d.code
	}
	var last error
	params := &client.MakeDepositParams{IdempotencyKey: fmt.Sprintf("arena-%d", d.index)}
	if !Until(ctx, patience, func(ctx context.Context) bool {
		r, err := w.portal.deposits.MakeDepositWithResponse(ctx, params, wish)
		if err == nil {
			err = client.Refusal(r.StatusCode(), r.Body)
		}
		if last = err; err != nil {
			return false
		}
		w.mu.Lock()
		d.code, d.made = r.JSON201.Code, true
		w.mu.Unlock()
		return true
	}) {
		return fmt.Errorf("make the deposit: %w", last)
	}
	return nil
}

func between(rng *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+rng.IntN(high-low+1)) * time.Millisecond
}
