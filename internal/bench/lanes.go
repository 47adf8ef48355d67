package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"creditonce/credit"
	"creditonce/store"
)

// laneRows is how many rows are made for each second of the measurement of the lanes; where a machine does more, the
// measurement ends early.
const laneRows = 3000

// measureLanes lets so many lanes work pending rows of a new store over an MT5 that takes no time.
func measureLanes(ctx context.Context, path string, lanes int, span time.Duration) (row Lanes, err error) {
	db, err := store.Open(path, store.Options{New: freshSettings()})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	n := int(laneRows * span.Seconds() / map[bool]float64{true: 3, false: 1}[lanes == 1])
	if err := pendingRows(ctx, db, n); err != nil {
		return row, err
	}
	working, stop := context.WithTimeout(ctx, span)
	defer stop()
	w := &laneWork{db: db, clock: wallClock{time.Now()}, stop: stop, want: int64(n)}
	begun := time.Now()
	work, workCtx := errgroup.WithContext(working)
	for shard := range lanes {
		work.Go(func() error { return w.lane(shard, lanes).Run(workCtx) })
	}
	if err := work.Wait(); err != nil && working.Err() == nil {
		return row, err
	}
	rate := float64(w.done.Load()) / time.Since(begun).Seconds()
	return Lanes{Lanes: lanes, PerSecond: rate}, ctx.Err()
}

// pendingRows pays n deposits, each on a login of its own.
func pendingRows(ctx context.Context, db *store.DB, n int) error {
	m := &maker{run: runName()}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(128)
	amount, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		return err
	}
	for i := range n {
		work.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(i), 0x1a9e))
			code, login := fmt.Sprintf("lanes-%020d", i), firstLogin+uint64(i)
			e, rules := stripeEvent(m, random, code)
			account := credit.Account{Server: serverLabel, Identity: mt5Identity, Login: login, Client: "client", Currency: "USD", Digits: 2}
			if _, err := db.PutAccount(ctx, account, "bench", rules.Now); err != nil {
				return err
			}
			wish := credit.NewDeposit{
				Key: credit.IdempotencyKey{Route: "bench", Owner: "bench", Key: code}, InputHash: []byte(code),
				Deposit: credit.Deposit{
					Code: code, Owner: "bench", Client: "client", Server: serverLabel, Identity: mt5Identity, Login: login,
					Provider: providerLabel, Paid: amount, Credited: amount, CreatedAt: rules.Now, ExpiresAt: rules.Now.Add(time.Hour),
				},
				Render: func(credit.DepositView) (credit.Answer, error) {
					return credit.Answer{Status: 201, Body: []byte("{}")}, nil
				},
			}
			_, err := db.MakeDeposit(ctx, wish, credit.DepositRules{
				IntakeRules: rules, Identities: map[string]string{serverLabel: mt5Identity}, Providers: []string{providerLabel}, LongestLife: 24 * time.Hour,
			})
			if err != nil {
				return err
			}
			_, err = db.Accept(ctx, e, rules)
			return err
		})
	}
	return work.Wait()
}

// stripeEvent is a verified payment as the webhook's adapter hands it over.
func stripeEvent(m *maker, random *rand.Rand, code string) (credit.Event, credit.IntakeRules) {
	now := time.Now().UTC()
	body, signature := m.event(random, code, minor, now)
	sum := sha256.Sum256(body)
	id := m.run + strconv.FormatUint(random.Uint64(), 16)
	amount, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		panic("bench: " + err.Error()) // the constant amount of a measurement
	}
	return credit.Event{
			Provider: providerLabel, Kind: "stripe", Account: "acct_bench", MessageKey: "evt_" + id,
			Facts: credit.Facts{
				Type: "payment_intent.succeeded", Effect: credit.EffectPaid, Payment: "pi_" + id, Parts: []credit.Part{{Amount: amount}},
				Status: "succeeded", Code: code, OccurredAt: now.Truncate(time.Second),
			},
			Headers: map[string]string{"Stripe-Signature": signature, "Content-Type": "application/json; charset=utf-8"},
			Digest:  hex.EncodeToString(sum[:]), Body: body, ReceivedAt: now,
		}, credit.IntakeRules{
			Now: now, HeldGrace: 23 * time.Hour, Servers: []string{serverLabel},
		}
}

// laneWork is what the lanes of one measurement share.
type laneWork struct {
	db      *store.DB
	clock   wallClock
	tickets atomic.Uint64
	done    atomic.Int64
	want    int64
	stop    context.CancelFunc
}

func (w *laneWork) lane(shard, shards int) *credit.Lane {
	return &credit.Lane{
		Server: serverLabel, Shard: shard, Shards: shards, Book: w.db, Session: &instant{work: w}, Clock: w.clock, Observer: w,
		Process: credit.Process{ID: "bench", Started: 0, At: w.clock.begun.UTC()}, Timing: credit.DefaultTiming(), Live: &credit.LiveCalls{},
		Token: runName, Wake: nil,
	}
}

// Step implements credit.Observer.
func (w *laneWork) Step(_ context.Context, s credit.Step) {
	if s.Name == credit.StepDone && w.done.Add(1) == w.want {
		w.stop()
	}
}

// Note implements credit.Observer.
func (w *laneWork) Note(context.Context, credit.Note) {}

// wallClock runs since it was made.
type wallClock struct{ begun time.Time }

func (c wallClock) Now() time.Time      { return time.Now().UTC() }
func (c wallClock) Boot() time.Duration { return time.Since(c.begun) }

func (c wallClock) Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(max(0, until-c.Boot()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-wake:
	}
	return nil
}

// instant is an MT5 session that answers at once and knows its last deal.
type instant struct {
	work *laneWork
	mu   sync.Mutex
	last credit.Deal
}

func (s *instant) Ready(context.Context) error { return nil }
func (s *instant) Drop(string)                 {}

func (s *instant) Account(_ context.Context, login uint64) (credit.AccountState, error) {
	return credit.AccountState{Login: login, Group: "bench", Currency: "USD", Digits: 2}, nil
}

func (s *instant) Look(_ context.Context, q credit.LookQuery) credit.Sighting {
	return credit.Sighting{Complete: true, From: q.Earliest, Until: time.Now().UTC(), Control: "none needed"}
}

func (s *instant) Relook(ctx context.Context, q credit.LookQuery, _ credit.Sighting) credit.Sighting {
	return s.Look(ctx, q)
}

func (s *instant) Balance(_ context.Context, c credit.Call) credit.CallResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = credit.Deal{
		Ticket: s.work.tickets.Add(1), Login: c.Login, Action: credit.ActionBalance, Amount: c.Amount, Comment: string(c.Reference),
	}
	return credit.CallResult{Outcome: credit.OutcomeApplied, Answered: true, Ticket: s.last.Ticket, Code: "0 Done", Status: 200}
}

func (s *instant) Deal(context.Context, uint64) (credit.Deal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}
