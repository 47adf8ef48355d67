package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/invariant"
	"creditonce/store"
)

// The names of the suite's small firm.
const (
	Server   = "main"
	Identity = "ExampleBroker-Live"
	Provider = "psp"
	Merchant = "acct_1"
	Currency = "USD"
)

// World is one engine with a small firm around it: a clock, an MT5 server, a client and deposits. Every event is
// decided by package credit and every row is moved by its loops, so that an engine meets what it will meet.
type World struct {
	T     testing.TB
	B     Backend
	Clock *Clock
	MT5   *MT5
	Rules credit.DepositRules

	mu     sync.Mutex
	number int
}

// NewWorld opens an engine. End closes it.
func NewWorld(t testing.TB, open func(Setup) Backend, s Setup) *World {
	t.Helper()
	clock := &Clock{start: time.Date(2026, 5, 4, 9, 30, 0, 123456789, time.UTC), boot: time.Hour}
	if s.New.StoreID == "" {
		s.New = credit.Settings{
			StoreID: "store-1", Environment: "test", Mode: credit.ModeLive,
			ModeAt: clock.Now(), CreatedAt: clock.Now(),
		}
	}
	w := &World{T: t, B: open(s), Clock: clock, MT5: &MT5{clock: clock, last: 1000}}
	w.Rules = credit.DepositRules{
		IntakeRules: credit.IntakeRules{HeldGrace: 10 * time.Minute},
		Identities:  map[string]string{Server: Identity}, Providers: []string{Provider}, LongestLife: 48 * time.Hour,
	}
	return w
}

// End verifies the store, judges it by the invariants and closes it: no test passes with a store that is not whole.
func (w *World) End() {
	report, err := w.B.Verify(context.Background(), nil)
	if errors.Is(err, credit.ErrBusy) {
		return // the test has closed it
	}
	if err != nil {
		w.T.Errorf("verify: %v", err)
	}
	for _, f := range report.Findings {
		w.T.Errorf("verify: %s", f)
	}
	world := invariant.World{Missing: invariant.NoJournals, Now: w.Clock.Now()}
	if err := world.Read(context.Background(), w.B); err != nil {
		w.T.Errorf("read the store: %v", err)
	}
	for _, v := range invariant.Check(world) {
		w.T.Error(v)
	}
	w.judgeInPieces(world)
	if err := w.B.Close(context.Background()); err != nil {
		w.T.Errorf("close: %v", err)
	}
}

// judgeInPieces judges excerpts: what is right as a whole is right in each part.
func (w *World) judgeInPieces(whole invariant.World) {
	queries := []store.ExcerptQuery{{Events: 10}, {Events: 1000, EventsAfter: 10}}
	for i := 0; i < len(whole.Rows); i += 7 {
		q := store.ExcerptQuery{}
		for _, r := range whole.Rows[i:min(i+7, len(whole.Rows))] {
			q.Rows = append(q.Rows, r.Credit.ID)
		}
		queries = append(queries, q)
	}
	for _, q := range queries {
		x, err := w.B.Excerpt(context.Background(), q)
		if err != nil {
			w.T.Errorf("excerpt of %+v: %v", q, err)
			return
		}
		part := invariant.World{
			Missing: invariant.NoJournals, Part: true, Now: w.Clock.Now(), Settings: x.Settings, Events: x.Events, Deposits: x.Deposits, Tasks: x.Tasks,
		}
		for i, row := range x.Rows {
			part.Rows = append(part.Rows, invariant.Row{Credit: row, History: x.Histories[i]})
		}
		for _, v := range invariant.Check(part) {
			w.T.Errorf("in the excerpt of %+v: %s", q, v)
		}
	}
}

// Must ends the test on an error.
func (w *World) Must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Money is an amount of minor units of the firm's currency.
func Money(minor int64) credit.Amount {
	a, err := credit.Minor(minor, Currency, 2)
	if err != nil {
		panic(err)
	}
	return a
}

// Code is a deposit code with the number in it.
func Code(n int) string { return fmt.Sprintf("deposit-code-%012d", n) }

func (w *World) next() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	return w.number
}

func (w *World) rules() credit.DepositRules {
	r := w.Rules
	r.Now = w.Clock.Now()
	return r
}

// Register puts an account.
func (w *World) Register(login uint64, client string) store.AccountReceipt {
	w.T.Helper()
	r, err := w.B.PutAccount(w.T.Context(), credit.Account{
		Server: Server, Identity: Identity, Login: login, Client: client, Currency: Currency, Digits: 2,
	}, "accounts-key", w.Clock.Now())
	w.Must(err)
	return r
}

// Wish is a new deposit under an idempotency key of its own.
func (w *World) Wish(code string, login uint64, client string, minor int64) credit.NewDeposit {
	sum := sha256.Sum256([]byte(code))
	return credit.NewDeposit{
		Key:       credit.IdempotencyKey{Route: "POST /v1/deposits", Owner: "checkout", Key: "key of " + code},
		InputHash: sum[:],
		Deposit: credit.Deposit{
			Code: code, Owner: "checkout", Client: client, Server: Server, Login: login, Provider: Provider,
			Paid: Money(minor), Credited: Money(minor), ExpiresAt: w.Clock.Now().Add(24 * time.Hour),
		},
		Render: func(v credit.DepositView) (credit.Answer, error) {
			return credit.Answer{Status: 201, Body: []byte("made " + v.Deposit.Code)}, nil
		},
	}
}

// Deposit makes a deposit for a registered login of client-1.
func (w *World) Deposit(code string, login uint64, minor int64) store.DepositReceipt {
	w.T.Helper()
	r, err := w.B.MakeDeposit(w.T.Context(), w.Wish(code, login, "client-1", minor), w.rules())
	w.Must(err)
	return r
}

// Event builds a verified event with a body of its own.
func (w *World) Event(facts credit.Facts) credit.Event {
	n := w.next()
	if facts.OccurredAt.IsZero() {
		facts.OccurredAt = w.Clock.Now()
	}
	e := credit.Event{
		Provider: Provider, Kind: "psp", Account: Merchant, MessageKey: "evt_" + strconv.Itoa(n),
		Facts: facts, ReceivedAt: w.Clock.Now(), Headers: map[string]string{"Signature": "t=1,v1=ab"},
	}
	return WithBody(e, []byte(fmt.Sprintf(`{"id":"evt_%d","payment":%q}`, n, facts.Payment)))
}

// WithBody gives the event a body and its digest.
func WithBody(e credit.Event, body []byte) credit.Event {
	sum := sha256.Sum256(body)
	e.Body, e.Digest = body, hex.EncodeToString(sum[:])
	return e
}

// Paid is what an event says about one paid part.
func Paid(payment, part, code string, minor int64) credit.Facts {
	return credit.Facts{
		Type: "payment.paid", Effect: credit.EffectPaid, Payment: payment, Status: "paid", Code: code,
		Parts: []credit.Part{{ID: part, Amount: Money(minor)}},
	}
}

// Accept takes an event in.
func (w *World) Accept(e credit.Event) credit.Receipt {
	w.T.Helper()
	r, err := w.B.Accept(w.T.Context(), e, w.rules().IntakeRules)
	w.Must(err)
	return r
}

// Pay registers the login, makes a deposit and lets its payment arrive: a pending row.
func (w *World) Pay(login uint64, minor int64) credit.Credit {
	w.T.Helper()
	code := Code(w.next())
	w.Register(login, "client-1")
	w.Deposit(code, login, minor)
	r := w.Accept(w.Event(Paid("pay-"+code, "", code, minor)))
	if len(r.Rows) != 1 || r.Rows[0].After.State != credit.Pending {
		w.T.Fatalf("a paid deposit gave %+v", r.Rows)
	}
	return r.Rows[0].After
}

// Lane is a lane of the firm's server over the given book.
func (w *World) Lane(book credit.Book, clock credit.Clock, process string) *credit.Lane {
	n := 0
	return &credit.Lane{
		Server: Server, Shards: 1, Book: book, Session: w.MT5, Clock: clock, Observer: silent{},
		Process: credit.Process{ID: process}, Timing: credit.DefaultTiming(), Live: &credit.LiveCalls{},
		Token: func() string { n++; return process + "-" + strconv.Itoa(n) },
	}
}

// Work lets a lane run for some rounds; time jumps to whatever the lane waits for.
func (w *World) Work(rounds int) {
	w.T.Helper()
	w.Clock.mu.Lock()
	w.Clock.waits = rounds
	w.Clock.mu.Unlock()
	w.Must(w.Lane(w.B, w.Clock, "process-1").Run(w.T.Context()))
}

// Row reads a row.
func (w *World) Row(id credit.ID) credit.Credit {
	w.T.Helper()
	c, err := w.B.Credit(w.T.Context(), id)
	w.Must(err)
	return c
}

// InState ends the test when the row is in another state.
func (w *World) InState(id credit.ID, s credit.State) credit.Credit {
	w.T.Helper()
	c := w.Row(id)
	if c.State != s {
		w.T.Fatalf("credit %d is %s %v, want %s", id, c.State, c.Holds, s)
	}
	return c
}

// OpenTasks lists the open tasks.
func (w *World) OpenTasks() []credit.Task {
	w.T.Helper()
	list, err := w.B.Tasks(w.T.Context(), store.TaskQuery{OpenOnly: true, Limit: 1000})
	w.Must(err)
	return list
}

// errCaught ends a lane whose decision was taken out of its hands.
var errCaught = errors.New("decision caught")

// catcher keeps the decisions that a loop wants to advance with, instead of writing them.
type catcher struct {
	credit.Book
	mu     sync.Mutex
	caught map[credit.ID]credit.Decide
}

// Advance implements credit.Book.
func (c *catcher) Advance(_ context.Context, id credit.ID, decide credit.Decide) (credit.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caught[id] = decide
	return credit.Result{}, errCaught
}

// Holders implements credit.Book. It sees nothing: what is caught leans on the engine's rules alone.
func (c *catcher) Holders(context.Context, string, []uint64) (map[uint64]credit.ID, error) {
	return nil, nil
}

// Decisions returns what a lane would write next, by row: for pending rows, the claim.
func (w *World) Decisions(process string) map[credit.ID]credit.Decide {
	w.T.Helper()
	c := &catcher{Book: w.B, caught: map[credit.ID]credit.Decide{}}
	clock := &Clock{start: w.Clock.start, boot: w.Clock.Boot(), waits: 1}
	if err := w.Lane(c, clock, process).Run(w.T.Context()); err != nil && !errors.Is(err, errCaught) {
		w.T.Fatal(err)
	}
	return c.caught
}
