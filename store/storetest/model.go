package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
)

// modelRow is what a row must look like.
type modelRow struct {
	id            credit.ID
	payment, part string
	code          string
	paid          int64
	client        string
	login         uint64
	joined        bool
	state         credit.State
	holds         map[credit.Hold]bool
}

// modelDeposit is what a deposit must look like.
type modelDeposit struct {
	login  uint64
	amount int64
	taken  credit.ID
}

// model keeps the promises in maps, written from the design and not from any engine.
type model struct {
	events   []credit.Event
	clients  map[uint64]string
	deposits map[string]*modelDeposit
	rows     []*modelRow
	reversed map[string]bool
}

// randomOpsMatchModel: hundreds of random operations leave exactly what the model says, after every one of them.
func randomOpsMatchModel(t *testing.T, open func(Setup) *World) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	w := open(Setup{})
	m := &model{clients: map[uint64]string{}, deposits: map[string]*modelDeposit{}, reversed: map[string]bool{}}
	for i := range 250 {
		w.Clock.Move(time.Second)
		what := m.step(w, r)
		if !m.compare(w) {
			t.Fatalf("operation %d of seed %d, %s: the store differs from the model", i, seed, what)
		}
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// step makes one random operation on both sides.
func (m *model) step(w *World, r *rand.Rand) string {
	login := uint64(1001 + r.IntN(3))
	code := Code(r.IntN(20))
	payment := fmt.Sprintf("pay-%d", r.IntN(40))
	amount := pick[int64](r, 500, 500, 500, 700)
	switch n := r.IntN(20); {
	case n < 2:
		client := pick(r, "client-1", "client-1", "client-2")
		m.register(w, login, client)
		return fmt.Sprintf("login %d is put to %s", login, client)
	case n < 7:
		m.deposit(w, code, login, amount)
		return fmt.Sprintf("deposit %s on login %d", code, login)
	case n < 15:
		code = pick(r, code, code, "")
		part := pick(r, "", "", "b")
		m.pay(w, payment, part, code, amount)
		return fmt.Sprintf("%s part %q pays %d for %q", payment, part, amount, code)
	case n < 17 && len(m.events) > 0:
		e := m.events[r.IntN(len(m.events))]
		if got := w.Accept(WithBody(e, []byte(fmt.Sprint("retry ", r.Uint64())))); !got.Repeat {
			w.T.Errorf("event %s again: %+v", e.MessageKey, got)
		}
		return "a repeat of " + e.MessageKey
	case n < 18:
		m.refund(w, payment)
		return "a refund of " + payment
	default:
		w.Work(3)
		for _, row := range m.rows {
			if row.state == credit.Pending {
				row.state = credit.Done
			}
		}
		return "the lane works"
	}
}

func (m *model) accept(w *World, f credit.Facts) {
	e := w.Event(f)
	m.events = append(m.events, e)
	if r := w.Accept(e); r.Repeat || int(r.Event) != len(m.events) {
		w.T.Errorf("a new event gave %+v", r)
	}
}

func (m *model) register(w *World, login uint64, client string) {
	w.Register(login, client)
	if m.clients[login] != client {
		for _, row := range m.rows {
			if row.login == login && row.state == credit.Pending && row.client != client {
				row.hold(credit.HoldOwnership)
			}
		}
	}
	m.clients[login] = client
}

func (m *model) deposit(w *World, code string, login uint64, amount int64) {
	wish := w.Wish(code, login, "client-1", amount)
	wish.Key.Key = fmt.Sprint("key ", w.next())
	_, err := w.B.MakeDeposit(w.T.Context(), wish, w.rules())
	allowed := m.deposits[code] == nil && m.clients[login] == "client-1"
	if (err == nil) != allowed {
		w.T.Errorf("deposit %s: %v; allowed: %v", code, err, allowed)
	}
	if !allowed {
		return
	}
	m.deposits[code] = &modelDeposit{login: login, amount: amount}
	for _, row := range m.rows { // in the order of arrival, which here is the order of payment
		if row.state == credit.Held && !row.joined && row.code == code {
			m.join(row)
		}
	}
}

func (m *model) pay(w *World, payment, part, code string, amount int64) {
	m.accept(w, Paid(payment, part, code, amount))
	i := slices.IndexFunc(m.rows, func(r *modelRow) bool { return r.payment == payment && r.part == part })
	if i < 0 {
		row := &modelRow{
			id: credit.ID(len(m.rows) + 1), payment: payment, part: part, code: code, paid: amount,
			state: credit.Held, holds: map[credit.Hold]bool{credit.HoldNoDeposit: true},
		}
		m.rows = append(m.rows, row)
		m.join(row)
		return
	}
	row := m.rows[i]
	if row.paid != amount {
		row.hold(credit.HoldAmount)
	}
	if code != "" && row.code != "" && code != row.code {
		row.hold(credit.HoldCode)
	}
	if code == "" || row.code != "" || row.state != credit.Held {
		return
	}
	row.code = code
	m.join(row)
}

// join gives a held row its deposit, if there is one, and judges it.
func (m *model) join(row *modelRow) {
	if m.reversed[row.payment] {
		row.holds[credit.HoldReversal] = true
	}
	d := m.deposits[row.code]
	if d == nil {
		return
	}
	row.joined, row.login, row.client = true, d.login, "client-1"
	delete(row.holds, credit.HoldNoDeposit)
	if d.taken != 0 {
		row.holds[credit.HoldSecondPart] = true
	} else {
		d.taken = row.id
	}
	if d.amount != row.paid {
		row.holds[credit.HoldAmount] = true
	}
	if m.clients[d.login] != "client-1" {
		row.holds[credit.HoldOwnership] = true
	}
	if len(row.holds) == 0 {
		row.state = credit.Pending
	}
}

func (m *model) refund(w *World, payment string) {
	m.accept(w, credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: payment, Movement: fmt.Sprint("re_", w.next()), Moved: Money(500)})
	m.reversed[payment] = true
	for _, row := range m.rows {
		if row.payment == payment {
			row.hold(credit.HoldReversal)
		}
	}
}

// hold stops a row that is not under way.
func (r *modelRow) hold(h credit.Hold) {
	if r.state == credit.Pending || r.state == credit.Held {
		r.state = credit.Held
		r.holds[h] = true
	}
}

// compare looks at every row, deposit and count.
func (m *model) compare(w *World) bool {
	w.T.Helper()
	ctx := w.T.Context()
	want := store.Counts{Events: len(m.events), Rows: map[credit.State]int{}}
	for _, row := range m.rows {
		want.Rows[row.state]++
		got := w.Row(row.id)
		holds := []credit.Hold{}
		for h := range row.holds {
			if row.state == credit.Held {
				holds = append(holds, h)
			}
		}
		slices.Sort(holds)
		if got.State != row.state || !slices.Equal(got.Holds, holds) || got.Joined() != row.joined || got.Code != row.code ||
			got.Login != row.login || (got.Ticket != 0) != (row.state == credit.Done) || got.Unit.Payment != row.payment || got.Unit.Part != row.part {
			w.T.Errorf("credit %d is %+v; the model says %+v", row.id, got, row)
		}
	}
	for code, d := range m.deposits {
		v, err := w.B.Deposit(ctx, code)
		if err != nil || v.Deposit.Credit != d.taken || v.Deposit.Login != d.login {
			w.T.Errorf("deposit %s is taken by %d (%v); the model says %d", code, v.Deposit.Credit, err, d.taken)
		}
	}
	got, err := w.B.Counts(ctx)
	if err != nil || got.Events != want.Events {
		w.T.Errorf("%d events (%v), the model has %d", got.Events, err, want.Events)
	}
	for _, s := range credit.States() {
		if got.Rows[s] != want.Rows[s] {
			w.T.Errorf("%d rows are %s, the model has %d", got.Rows[s], s, want.Rows[s])
		}
	}
	return !w.T.Failed()
}
