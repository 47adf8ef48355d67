package month

import (
	"math/big"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// fault is one way in which something goes wrong, of the class that it must be found under first.
type fault struct {
	class recon.Class
	plant func(*builder, *payment)
	fits  func(*provider) bool
}

func refundable(p *provider) bool { return p.has(recon.LineRefund) }

// providerFaults are what goes wrong between statements and rows.
func providerFaults() []fault {
	return []fault{
		{recon.SettledWithoutCredit, (*builder).lostWebhook, listed},
		{recon.SettledWithoutCredit, (*builder).settledNotCredited, listed},
		{recon.SettledWithoutCredit, (*builder).secondPayment, listed},
		{recon.WrongAmount, (*builder).settledOtherwise, listed},
		{recon.WrongAmount, (*builder).captureMissing, listed},
		{recon.WrongCurrency, (*builder).settledInAnotherCurrency, func(p *provider) bool { return len(p.coins) > 1 && p.net.code == "" }},
		{recon.Late, (*builder).neverSettled, listed},
		{recon.ReversalMissing, (*builder).refundMissed, refundable},
		{recon.ReversalMissing, (*builder).disputeMissed, func(p *provider) bool { return p.has(recon.LineChargeback) }},
		{recon.ReversalMissing, (*builder).refundOfNothing, refundable},
		{recon.CancelledNotRefunded, (*builder).cancelledNotRefunded, listed},
		{recon.CancelledNotRefunded, (*builder).cancelledHalfRefunded, refundable},
	}
}

// lostWebhook: settled, and no row knows of it. Some in several captures.
func (b *builder) lostWebhook(p *payment) {
	cut := []int64{p.minor}
	if b.r.IntN(3) == 0 && capturesApart(p.prov) {
		cut = b.split(p.minor)
	}
	lines := b.settle(p, cut...)
	b.theirs(p, credited, p.minor, latest(lines...))
	b.expectPayment("settled, and no row knows of it", recon.SettledWithoutCredit, p, nil, p.minor, latest(lines...))
}

// settledNotCredited: settled, and its row never reached the login.
func (b *builder) settledNotCredited(p *payment) {
	states := []credit.State{credit.Held, credit.Pending, credit.Claimed, credit.Unknown, credit.Failed}
	row := b.row(p, credit.KindDeposit, "", p.minor, states[b.r.IntN(len(states))])
	if row.State != credit.Held && row.State != credit.Pending {
		b.claim(row, b.called(row))
	}
	lines := b.settle(p, p.minor)
	b.theirs(p, credited, p.minor, latest(lines...))
	b.expectPayment("settled, and its row is "+string(row.State), recon.SettledWithoutCredit, p, row, p.minor, latest(lines...))
}

// secondPayment: paid twice under one deposit. The first is in order; the second has no row, and its code is the first one's.
func (b *builder) secondPayment(p *payment) {
	b.plain(p)
	q := *p
	b.serial++
	q.id = p.prov.paymentID(b.r, b.serial)
	q.at = p.at.Add(3 * time.Minute)
	lines := b.settle(&q, q.minor)
	b.theirs(&q, credited, q.minor, latest(lines...))
	b.expectPayment("paid twice under one code, the second without a row", recon.SettledWithoutCredit, &q, nil, q.minor, latest(lines...))
}

// settledOtherwise: the statement has another amount than what was credited for.
func (b *builder) settledOtherwise(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	off := (p.minor/50 + 5*tolerated(p.coin)) * (1 - 2*b.r.Int64N(2))
	lines := b.settle(p, p.minor+off)
	b.wrongSum(p, row, off, lines)
}

// wrongSum books lines that sum up to off more than the row.
func (b *builder) wrongSum(p *payment, row *recon.Row, off int64, lines []*recon.Line) {
	at := latest(lines...)
	b.ours(p, credited, p.minor, at)
	b.theirs(p, credited, p.minor+off, at)
	b.expectPayment("settled for another amount", recon.WrongAmount, p, row, off, at)
}

// captureMissing: one capture of several is not in the statement, of a row or of rows that have them all.
func (b *builder) captureMissing(p *payment) {
	cut := b.split(p.minor)
	row := b.done(p, credit.KindDeposit, "", p.minor)
	b.wrongSum(p, row, cut[0]-p.minor, b.settle(p, cut[0]))
}

// settledInAnotherCurrency: the same worth of another currency. Each currency's page is off by its own part.
func (b *builder) settledInAnotherCurrency(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	q := *p
	for q.coin.code == p.coin.code {
		q.coin = p.prov.coins[b.r.IntN(len(p.prov.coins))]
	}
	q.minor = max(10, exchange(p.minor, p.coin, q.coin))
	at := latest(b.settle(&q, q.minor)...)
	b.ours(p, credited, p.minor, at)
	b.theirs(&q, credited, q.minor, at)
	b.expectPayment("settled in another currency", recon.WrongCurrency, p, row, -p.minor, at)
	b.items[len(b.items)-1].Off[q.coin.code] = q.coin.exact(q.minor)
}

// neverSettled: credited, and in no statement long after.
func (b *builder) neverSettled(p *payment) {
	b.unsettled(p, b.done(p, credit.KindDeposit, "", p.minor), p.minor)
}

// refundMissed: refunded, once or twice, and nothing was taken back from the login.
func (b *builder) refundMissed(p *payment) {
	b.plain(p)
	for i := range 1 + b.r.IntN(2) {
		b.missed(p, recon.LineRefund, refunded, p.minor/3, time.Duration(20+10*i)*time.Hour)
	}
}

// missed: a movement out without a row.
func (b *builder) missed(p *payment, t recon.LineType, f flow, minor int64, after time.Duration) {
	l := b.move(p, t, -minor, p.at.Add(after))
	if l == nil {
		return
	}
	b.theirs(p, f, minor, moment(l))
	b.expectReversal("settled, and not taken back from the login: "+string(t), p, l, minor)
}

// disputeMissed: a dispute took the money, and nothing was taken back from the login. Half of them failed to be taken back: the row is
// there and not done.
func (b *builder) disputeMissed(p *payment) {
	b.plain(p)
	if b.r.IntN(2) == 0 {
		b.missed(p, recon.LineChargeback, chargedBack, p.minor, 30*time.Hour)
		return
	}
	q := *p
	q.at = p.at.Add(30 * time.Hour)
	l := b.move(&q, recon.LineChargeback, -p.minor, q.at)
	if l == nil {
		return
	}
	row := b.row(&q, credit.KindChargeback, l.Movement, p.minor, credit.Failed)
	b.claim(row, b.called(row))
	b.theirs(p, chargedBack, p.minor, moment(l))
	b.expectReversal("a chargeback whose row failed", p, l, p.minor)
}

// refundOfNothing: a refund of a payment that neither we nor the statements know.
func (b *builder) refundOfNothing(p *payment) {
	b.missed(p, recon.LineRefund, refunded, p.minor, 0)
}

// cancelledNotRefunded: closed by people without a deal, and the provider keeps the client's money.
func (b *builder) cancelledNotRefunded(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Cancelled)
	at := latest(b.settle(p, p.minor)...)
	b.theirs(p, credited, p.minor, at)
	b.expectPayment("cancelled, settled, and not refunded", recon.CancelledNotRefunded, p, row, p.minor, at)
}

// cancelledHalfRefunded: only a part of it went back.
func (b *builder) cancelledHalfRefunded(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Cancelled)
	lines := b.settle(p, p.minor)
	part := p.minor / 4
	if l := b.move(p, recon.LineRefund, -part, p.at.Add(2*time.Hour)); l != nil {
		lines = append(lines, l)
	} else {
		part = 0
	}
	at := latest(lines...)
	b.theirs(p, credited, p.minor, at)
	b.theirs(p, refunded, part, at)
	b.expectPayment("cancelled, settled, and refunded in part only", recon.CancelledNotRefunded, p, row, p.minor-part, at)
}

// none is no difference of amounts.
func none() *big.Int { return new(big.Int) }
