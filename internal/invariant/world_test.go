package invariant

import (
	"fmt"
	"testing"
	"time"

	"creditonce/credit"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

const (
	server = "ExampleBroker-Live"
	us     = uint64(77)
	proc   = "p1"
)

func usd(minor int64) credit.Amount {
	a, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		panic(err)
	}
	return a
}

// builder writes a world by hand: nothing of it comes from the code that is judged.
type builder struct {
	w    World
	boot time.Duration // of the process; each act takes a second
}

func (b *builder) tick() credit.Mark {
	b.boot += time.Second
	return b.mark()
}

func (b *builder) mark() credit.Mark {
	return credit.Mark{Process: proc, Boot: b.boot, At: noon.Add(b.boot)}
}

func (b *builder) row(id credit.ID) *Row { return &b.w.Rows[id-1] }

// event delivers and stores one, and answers 200.
func (b *builder) event(key string, f credit.Facts) *credit.Event {
	at := b.tick().At
	f.Live = true
	b.w.Sent = append(b.w.Sent, Delivery{Provider: "stripe-eu", MessageKey: key, Signed: true, Status: 200, At: at, Facts: f})
	b.w.Events = append(b.w.Events, credit.Event{
		ID: credit.EventID(len(b.w.Events) + 1), Provider: "stripe-eu", Kind: "stripe", Account: "acct_1", MessageKey: key, Facts: f,
		Digest: "digest of " + key, ReceivedAt: at,
	})
	return &b.w.Events[len(b.w.Events)-1]
}

func (b *builder) deposit(code string, login uint64, minor int64) {
	b.w.Deposits = append(b.w.Deposits, credit.Deposit{
		Code: code, Owner: "portal", Client: "client-1", Server: "main", Identity: server, Login: login, Provider: "stripe-eu",
		Paid: usd(minor), Credited: usd(minor), CreatedAt: noon, ExpiresAt: noon.Add(24 * time.Hour),
	})
}

// move appends a history entry and brings the row to the state.
func (b *builder) move(id credit.ID, by credit.Mover, name string, to credit.State, ev *credit.Evidence) {
	r := b.row(id)
	e := credit.Entry{
		Credit: id, Seq: len(r.History) + 1, At: b.tick().At, By: by, Actor: "test", Move: name, From: r.Credit.State, To: to,
		Evidence: ev, Previous: r.Credit.Head,
	}
	r.History = append(r.History, e)
	r.Credit.State, r.Credit.Entries, r.Credit.Head = to, e.Seq, digest(e)
}

// paid makes the row of a payment whose deposit is there, or that is held for the reasons.
func (b *builder) paid(payment, code string, login uint64, minor int64, holds ...credit.Hold) credit.ID {
	id := credit.ID(len(b.w.Rows) + 1)
	e := b.event("evt_"+payment, credit.Facts{
		Type: "payment_intent.succeeded", Effect: "paid", Payment: payment, Code: code, OccurredAt: noon,
		Parts: []credit.Part{{Amount: usd(minor)}},
	})
	e.Rows = []credit.ID{id}
	c := credit.Credit{
		ID: id, Kind: "deposit", Unit: credit.Unit{ProviderKind: "stripe", Account: "acct_1", Payment: payment}, Provider: "stripe-eu",
		Paid: usd(minor), PaidAt: noon, Code: code, Holds: holds, CreatedAt: noon,
	}
	if code != "" {
		b.deposit(code, login, minor)
		b.w.Deposits[len(b.w.Deposits)-1].Credit = id
		c.Deposit, c.Server, c.Identity, c.Login, c.Client, c.Amount = code, "main", server, login, "client-1", usd(minor)
		c.Reference = credit.Reference(reference("live", server, "deposit", c.Unit))
	}
	b.w.Rows = append(b.w.Rows, Row{Credit: c})
	to := credit.State("pending")
	if len(holds) > 0 {
		to = "held"
	}
	b.move(id, "intake", "born", to, &credit.Evidence{Event: e.ID})
	return id
}

func (b *builder) claim(id credit.ID) {
	m := b.mark()
	m.Boot += 2 * time.Minute
	b.move(id, "worker", "claimed", "claimed", &credit.Evidence{Process: proc, Look: b.look("absent")})
	c := &b.row(id).Credit
	c.Attempt++
	c.Token, c.LeaseUntil = "token", m
}

// call sends the row's balance call; ended says whether the process has its outcome.
func (b *builder) call(id credit.ID, ended bool) *Call {
	c := &b.row(id).Credit
	sent := b.tick()
	b.w.Calls = append(b.w.Calls, Call{
		Server: server, Login: c.Login, Amount: c.Amount, Reference: string(c.Reference), Process: proc, Conn: "c1",
		Sent: sent, Deadline: sent.Boot + time.Second,
	})
	k := &b.w.Calls[len(b.w.Calls)-1]
	if ended {
		k.Ended = b.tick()
	}
	return k
}

// deal executes the row's call.
func (b *builder) deal(id credit.ID) credit.Deal {
	c := &b.row(id).Credit
	ticket := uint64(1000 + len(b.w.Deals))
	b.w.Deals = append(b.w.Deals, Deal{
		Server: server, Ticket: ticket, Login: c.Login, Action: 2, Amount: c.Amount, Comment: string(c.Reference), Reference: string(c.Reference), Dealer: us,
	})
	return credit.Deal{Ticket: ticket, Login: c.Login, Action: 2, Amount: c.Amount, Comment: string(c.Reference), Dealer: us}
}

func (b *builder) done(id credit.ID, by credit.Mover, name string, d credit.Deal) {
	b.row(id).Credit.Holds = nil
	b.move(id, by, name, "done", &credit.Evidence{Deal: &d})
	b.row(id).Credit.Ticket = d.Ticket
}

func (b *builder) look(v credit.Verdict) *credit.LookEvidence {
	return &credit.LookEvidence{Verdict: v, Started: b.tick(), Complete: true, Control: "last deal"}
}

func (b *builder) lose(id credit.ID, outcome credit.Outcome) {
	b.move(id, "worker", "lost", "unknown", &credit.Evidence{Process: proc, Call: &credit.CallEvidence{Attempt: 1, Outcome: outcome, Ended: b.mark()}})
	b.row(id).Credit.NextAt = noon.Add(b.boot)
}

// absent looks twice after the quarantine and puts the row back to pending.
func (b *builder) absent(id credit.ID) {
	b.boot += b.w.Quarantine
	first := b.look("absent")
	b.move(id, "resolver", "looked", "unknown", &credit.Evidence{Look: first})
	b.boot += b.w.SecondLook
	b.move(id, "resolver", "absent", "pending", &credit.Evidence{Look: b.look("absent"), Before: &first.Started, Process: proc})
}

func (b *builder) task(kind credit.TaskKind, entity string) *credit.Task {
	b.w.Tasks = append(b.w.Tasks, credit.Task{ID: credit.TaskID(len(b.w.Tasks) + 1), Kind: kind, Entity: entity, OpenedAt: b.tick().At})
	return &b.w.Tasks[len(b.w.Tasks)-1]
}

func closed(t *credit.Task, at time.Time) { t.ClosedAt, t.ClosedBy, t.Reason = at, "anna", "looked at" }

// The rows of the good world.
const (
	plain     credit.ID = iota + 1 // done by its call
	repeated                       // lost, absent, called again, done
	refunded                       // held: its refund came
	refused                        // failed
	doubtful                       // unknown
	given                          // cancelled by two people
	adopted                        // done with a deal that a person made
	waiting                        // held: no deposit
	calling                        // claimed, its call under way
	unsentRow                      // its first call never left
)

// good is a world with every kind of row, in which everything is as it must be.
func good() *builder {
	b := &builder{w: World{
		OneClock: true, Environment: "live", Dealer: us, Quarantine: 10 * time.Minute, SecondLook: time.Minute, Lease: 2 * time.Minute,
		Processes: []Process{{ID: proc}}, Settings: credit.Settings{Mode: "live", Environment: "live", ModeAt: noon},
	}}
	for i := range 10 {
		payment, code, login := fmt.Sprintf("pi_%d", i+1), fmt.Sprintf("code-%020d", i+1), uint64(1001+i)
		switch credit.ID(i + 1) {
		case refunded:
			b.paid(payment, code, login, 700)
		case adopted:
			b.paid(payment, code, login, 900, "look_alike")
		case waiting:
			b.paid(payment, "", 0, 1100, "no_deposit")
		default:
			b.paid(payment, code, login, int64(500+100*i))
		}
	}
	b.claim(plain)
	b.call(plain, true)
	b.done(plain, "worker", "done", b.deal(plain))

	b.claim(repeated)
	b.call(repeated, true)
	b.lose(repeated, "unknown")
	b.absent(repeated)
	b.claim(repeated)
	b.call(repeated, true)
	b.done(repeated, "worker", "done", b.deal(repeated))

	b.event("evt_refund", credit.Facts{Type: "charge.refunded", Effect: "refund", Payment: "pi_3", Movement: "re_1"})
	b.task("refund", "payment/stripe/acct_1/pi_3")
	b.row(refunded).Credit.Holds = []credit.Hold{"reversal"}
	b.move(refunded, "intake", "held", "held", nil)
	b.task("held", "credit/3")

	b.claim(refused)
	b.call(refused, true)
	b.move(refused, "worker", "refused", "failed", &credit.Evidence{Call: &credit.CallEvidence{Attempt: 1, Outcome: "refused", Ended: b.mark()}})
	b.task("failed", "credit/4")

	b.claim(doubtful)
	b.call(doubtful, true)
	b.deal(doubtful)
	b.lose(doubtful, "unknown")
	b.task("no_answer", "credit/5")

	b.move(given, "intake", "held", "held", nil)
	b.move(given, "operator", "looked by hand", "held", &credit.Evidence{Look: b.look("absent")})
	proof := b.look("absent")
	proof.Proven = true
	b.move(given, "operator", "looked by hand", "held", &credit.Evidence{Look: proof})
	b.move(given, "two people", "closed without a deal", "cancelled", &credit.Evidence{Proposal: 1})
	closed(b.task("held", "credit/6"), b.tick().At)

	hand := b.deal(adopted)
	d := &b.w.Deals[len(b.w.Deals)-1]
	d.Dealer, d.Comment, d.Reference = 5, "by hand", ""
	hand.Dealer, hand.Comment = 5, "by hand"
	b.done(adopted, "two people", "deal adopted", hand)
	closed(b.task("held", "credit/7"), b.tick().At)

	b.task("held", "credit/8")
	b.claim(calling)
	b.call(calling, false)

	b.claim(unsentRow)
	b.lose(unsentRow, "not_sent")
	b.move(unsentRow, "worker", "not sent", "pending", &credit.Evidence{Process: proc})
	b.claim(unsentRow)
	b.call(unsentRow, true).Conn = "c2"
	b.done(unsentRow, "worker", "done", b.deal(unsentRow))
	b.w.Now = b.tick().At
	return b
}

func TestGoodWorld_HasNoViolation(t *testing.T) {
	t.Parallel()
	for _, v := range Check(good().w) {
		t.Error(v)
	}
}

// Shown again and again, in one piece or as it grew, a good world stays good.
func TestChecker_FindsNothingInAGoodWorldHoweverOftenItIsShown(t *testing.T) {
	t.Parallel()
	w, c := good().w, new(Checker)
	for range 3 {
		for _, v := range c.Check(&w) {
			t.Error(v)
		}
	}
}
