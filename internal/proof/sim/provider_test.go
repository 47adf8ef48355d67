package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/invariant"
)

const (
	merchant     = "acct_1"
	providerKind = "stripe"
	firstLabel   = "stripe-eu"
	otherLabel   = "stripe-main"
)

var logins = []uint64{5001, 5002, 5003}

func usd(cents int64) credit.Amount {
	a, err := credit.Minor(cents, "USD", 2)
	if err != nil {
		panic(err)
	}
	return a
}

// payment is one payment as the world means it.
type payment struct {
	n      int
	id     string
	login  uint64
	cents  int64
	code   string
	paidAt time.Duration // world
	again  *payment      // pays the deposit of another payment a second time
	facts  credit.Facts
}

// delivery is one notification that the provider sends until it is acknowledged.
type delivery struct {
	number int // in the order of their planning
	key    string
	facts  credit.Facts
	tries  int
	acked  bool
	lost   bool // no webhook brings it, ever
	more   int  // times that it is sent again after the acknowledgement
}

func (d *delivery) body() []byte { return fmt.Appendf(nil, "%s %v", d.key, d.facts) }

func (d *delivery) digest() string {
	sum := sha256.Sum256(d.body())
	return hex.EncodeToString(sum[:])
}

// request is a deposit that the portal makes until it is told that it is made.
type request struct {
	pay    *payment
	made   bool
	never  bool // refused for good
	expiry time.Duration
}

// plan draws the payments of a run and everything that is sent about them.
func (s *sim) plan() {
	count := 2 + s.rng.IntN(7)
	gap := s.spread(time.Second, 2*time.Minute)
	at := time.Duration(0)
	for n := 1; n <= count; n++ {
		at += s.between(0, gap)
		p := &payment{
			n: n, id: fmt.Sprintf("pi_%d", n), login: pick(&s.sched, logins), code: fmt.Sprintf("code-%017d", n), paidAt: at,
			cents: int64(1000 + 500*s.rng.IntN(4)),
		}
		if n > 1 && s.strikes(pspSecondPay) {
			first := s.payments[s.rng.IntN(len(s.payments))]
			p.again, p.code, p.login, p.cents = first, first.code, first.login, first.cents
		}
		s.payments = append(s.payments, p)
		if p.again == nil {
			s.planDeposit(p)
		}
		s.planEvents(p)
	}
}

func (s *sim) planDeposit(p *payment) {
	r := &request{pay: p, expiry: 24 * time.Hour}
	at := max(0, p.paidAt-s.between(0, 10*time.Minute))
	if s.strikes(depositLate) {
		at = p.paidAt + s.spread(time.Second, time.Hour)
		if s.oneIn(4) {
			return // nobody ever makes it
		}
		s.count(depositCameLate)
	}
	s.requests = append(s.requests, r)
	s.after(at, func() { s.portal(r) })
}

// planEvents draws what the provider sends about a payment.
func (s *sim) planEvents(p *payment) {
	p.facts = credit.Facts{
		Type: "payment_intent.succeeded", Effect: credit.EffectPaid, Payment: p.id, Parts: []credit.Part{{Amount: usd(p.cents)}}, Code: p.code,
		Status: "succeeded", Live: true, OccurredAt: s.begun.Add(p.paidAt).UTC().Truncate(time.Second),
	}
	if s.strikes(pspAmount) {
		s.count(amountDiffered)
		if s.oneIn(2) {
			p.facts.Parts[0].Amount = usd(p.cents - 100 + int64(s.rng.IntN(3))*100)
		} else {
			p.facts.Parts[0].Amount, _ = credit.Minor(p.cents, "EUR", 2)
		}
	}
	s.planDelivery(p, "paid", p.facts, 0)
	if s.strikes(pspNewID) {
		f := p.facts
		f.Type = "checkout.session.completed"
		if s.oneIn(3) {
			f.Code = ""
		}
		s.count(secondEventID)
		s.planDelivery(p, "session", f, s.spread(time.Millisecond, time.Minute))
	}
	if s.strikes(pspDisagree) {
		f := p.facts
		f.Parts = []credit.Part{{Amount: usd(p.cents + 700)}}
		s.count(eventsDisagreed)
		key := "differs"
		if s.oneIn(2) {
			key = "paid" // the very same message key with other facts
		}
		s.planDelivery(p, key, f, s.spread(time.Millisecond, 10*time.Minute))
	}
	s.planOthers(p)
}

// planOthers draws what is sent beside the news of the payment: reversals, events of others, noise.
func (s *sim) planOthers(p *payment) {
	if s.strikes(pspReversed) {
		f := credit.Facts{Type: "charge.refunded", Effect: credit.EffectRefund, Payment: p.id, Movement: "re_" + p.id, Moved: usd(p.cents), Live: true, OccurredAt: p.facts.OccurredAt}
		if s.oneIn(2) {
			f.Type, f.Effect, f.Movement = "charge.dispute.created", credit.EffectDispute, "dp_"+p.id
		}
		after := s.between(-5*time.Minute, 10*time.Minute)
		if after < 0 {
			s.count(refundedFirst)
		}
		s.planDelivery(p, "reversal", f, after)
	}
	if s.strikes(pspTestMode) {
		f := p.facts
		if s.oneIn(2) {
			f.Live = false
		} else {
			f.Merchant = "acct_other"
		}
		s.count(foreignEvent)
		s.planDelivery(p, "foreign", f, 0)
	}
	if s.strikes(pspNoise) {
		f := credit.Facts{Type: "product.created", Effect: pick(&s.sched, []credit.Effect{credit.EffectUnreadable, credit.EffectUnknown, credit.EffectNone}), Live: true, Problem: "cut"}
		s.planDelivery(p, "noise", f, 0)
	}
}

func (s *sim) planDelivery(p *payment, key string, f credit.Facts, later time.Duration) {
	d := &delivery{key: "evt_" + key + "_" + p.id, facts: f}
	if s.strikes(pspDuplicate) {
		d.more = 1 + s.rng.IntN(3)
	}
	at := p.paidAt + later + s.between(0, time.Second)
	if s.strikes(pspReorder) {
		at += s.spread(time.Second, 2*time.Hour)
	}
	d.number = len(s.deliveries)
	s.deliveries = append(s.deliveries, d)
	s.list(d, max(p.paidAt+later, 0))
	if d.lost = s.loses(d); d.lost {
		return
	}
	s.after(max(at, 0), func() { s.deliver(d) })
}

// deliver sends a notification, and again until it is acknowledged, as every provider does.
func (s *sim) deliver(d *delivery) {
	if d.lost || d.acked && d.more == 0 {
		return
	}
	if d.acked {
		d.more--
		s.count(duplicateSent)
	}
	d.tries++
	s.after(min(time.Duration(d.tries*d.tries)*s.between(5*time.Second, 20*time.Second), 30*time.Minute), func() { s.deliver(d) })
	p := s.serving()
	if p == nil || !p.up || p.stopped {
		s.note("%s is refused: nobody listens", d.key)
		return
	}
	w := s.world()
	w.Sent = append(w.Sent, invariant.Delivery{
		Provider: p.label, MessageKey: d.key, Signed: true, At: s.begun.Add(s.now).UTC(), Facts: d.facts,
	})
	at := len(w.Sent) - 1
	s.spawn(p, "webhook", func() { w.Sent[at].Status = s.take(p, d) })
}

// take is the listener's part: the acknowledgement follows the commit.
func (s *sim) take(p *process, d *delivery) (status int) {
	s.pass(credit.StepBodyRead)
	receipt, err := p.reception().Receive(p.ctx, p.event(d))
	if err != nil {
		s.expected("webhook", err)
		return 503
	}
	s.pass(credit.StepAcknowledged)
	s.dirty = true
	if !d.acked {
		s.note("%s is acknowledged as event %d", d.key, receipt.Event)
		d.acked = true
		s.acked = append(s.acked, ack{receipt.Event, d.key, d.digest()})
	}
	return 200
}

// event is a notification as a reader of it makes an event.
func (p *process) event(d *delivery) credit.Event {
	e := credit.Event{
		Provider: p.label, Kind: providerKind, Account: merchant, MessageKey: d.key, Facts: d.facts, Digest: d.digest(), Body: d.body(),
		ReceivedAt: p.clock().Now(),
	}
	e.Facts.Parts = slices.Clone(d.facts.Parts)
	return e
}

// portal makes a deposit, with one idempotency key until it has an answer.
func (s *sim) portal(r *request) {
	if r.made || r.never {
		return
	}
	s.after(s.between(5*time.Second, 40*time.Second), func() { s.portal(r) })
	p := s.serving()
	if p == nil || !p.up || p.stopped {
		return
	}
	s.spawn(p, "portal", func() { s.makeDeposit(p, r) })
}

func (s *sim) makeDeposit(p *process, r *request) {
	pay := r.pay
	now := p.clock().Now()
	n := credit.NewDeposit{
		Key:       credit.IdempotencyKey{Route: "POST /v1/deposits", Owner: "portal", Key: "key-" + pay.code},
		InputHash: []byte(pay.code),
		Deposit: credit.Deposit{
			Code: pay.code, Owner: "portal", Client: clientOf(pay.login), Server: serverLabel, Login: pay.login, Provider: p.label,
			Paid: usd(pay.cents), Credited: usd(pay.cents), ExpiresAt: now.Add(r.expiry),
		},
		Render: func(v credit.DepositView) (credit.Answer, error) {
			return credit.Answer{Status: 201, Body: []byte(v.Deposit.Code)}, nil
		},
	}
	switch err := p.book.MakeDeposit(p.ctx, n, p.rules()); {
	case err == nil:
		r.made = true
	case s.expected("portal", err):
		r.never = true // a refusal stays one: an account that changed hands, say
	}
}

func clientOf(login uint64) string { return fmt.Sprintf("client-%d", login) }

// register gives the login to its client, or to another one for a while.
func (s *sim) register(login uint64, client string) {
	p := s.serving()
	if p == nil || !p.up || p.stopped {
		s.after(time.Minute, func() { s.register(login, client) })
		return
	}
	s.spawn(p, "accounts", func() {
		a := credit.Account{Server: serverLabel, Identity: identity, Login: login, Client: client, Currency: "USD", Digits: 2}
		if err := p.book.PutAccount(context.WithoutCancel(p.ctx), a, "crm", p.clock().Now()); err != nil {
			s.expected("accounts", err)
			s.after(time.Minute, func() { s.register(login, client) })
		}
	})
}
