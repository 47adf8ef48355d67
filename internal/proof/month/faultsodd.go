package month

import (
	"math/big"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// The faults of this file are found by what two lists say together, or at the edge of a rule.

func oddFaults() []fault {
	return []fault{
		{recon.DamagedReference, (*builder).copiedByHand, nil},
		{recon.DamagedReference, (*builder).unknownAndDamaged, nil},
		{recon.DoneWithoutDeal, (*builder).asBonus, nil},
		{recon.DoneWithoutDeal, (*builder).otherServer, nil},
		{recon.DealWithoutRow, (*builder).bonusWithoutRow, nil},
		{recon.WrongLogin, (*builder).unknownOnOtherLogin, nil},
		{recon.WrongAmount, (*builder).refundedOtherwise, refundable},
		{recon.ReversalMissing, (*builder).wonAndKept, func(p *provider) bool { return p.has(recon.LineChargebackReversal) }},
		{recon.ReversalMissing, (*builder).returnedTwice, refundable},
		{recon.Late, (*builder).partNeverSettled, capturesApart},
		{recon.SettledWithoutCredit, (*builder).partNotCredited, capturesApart},
		{recon.MatchedWithin, (*builder).dealWithinTolerance, nil},
	}
}

// copiedByHand: the row has its deal, and the dealer made it once more by hand, with the reference mistyped. The client has it twice.
func (b *builder) copiedByHand(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	d := b.deal(p.login, row.Amount, b.damage(string(row.Reference)), 2, row.ClaimedAt.Add(time.Hour))
	b.settled(p, row, b.settle(p, p.minor))
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("a damaged copy beside the row's own deal", recon.DamagedReference, row, Exact(row.Amount), d.At)
}

// unknownAndDamaged: the row is unknown, and the only deal that it may have is a damaged copy: the resolver calls that a conflict.
func (b *builder) unknownAndDamaged(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Unknown)
	at := b.called(row)
	b.claim(row, at)
	d := b.deal(p.login, row.Amount, b.damage(string(row.Reference)), 2, at)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("unknown, and a damaged copy of its reference is there", recon.DamagedReference, row, Exact(row.Amount), d.At)
	b.openRow(p, row)
}

// openRow settles a payment whose row has not credited it.
func (b *builder) openRow(p *payment, row *recon.Row) {
	if lines := b.settle(p, p.minor); lines != nil {
		b.theirs(p, credited, p.minor, latest(lines...))
		b.expectPayment("settled, and its row is "+string(row.State), recon.SettledWithoutCredit, p, row, p.minor, latest(lines...))
	}
}

// asBonus: the deal with the row's reference is a bonus, which moves no balance.
func (b *builder) asBonus(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	at := b.called(row)
	b.claim(row, at)
	d := b.deal(p.login, row.Amount, string(row.Reference), 6, at)
	row.Ticket = d.Ticket
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, d.At)
	b.expectRow("done as a bonus", recon.DoneWithoutDeal, row, new(big.Int).Neg(Exact(row.Amount)), d.At)
}

// bonusWithoutRow: a bonus with a reference of ours that no row has. It moves no balance.
func (b *builder) bonusWithoutRow(p *payment) {
	row := b.forgotten(p)
	d := b.deal(p.login, row.Amount, string(row.Reference), 6, b.called(row))
	b.expectDeal("a bonus with our reference, and no row", recon.DealWithoutRow, d, none(), d.At)
}

// otherServer: the deal with the row's reference is on another server than the row's, where no row has it.
func (b *builder) otherServer(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	b.claim(row, b.called(row))
	b.ticket += 7
	row.Ticket = b.ticket
	there := p.login
	for there.identity == p.login.identity || there.identity == identities[oldServer].identity {
		there = b.logins[b.r.IntN(len(b.logins))]
	}
	amount := there.coin.amount(row.Amount.Units().Int64())
	d := b.deal(there, amount, string(row.Reference), 2, row.ClaimedAt.Add(time.Second))
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, row.ClaimedAt)
	b.expectRow("done on another server", recon.DoneWithoutDeal, row, new(big.Int).Neg(Exact(row.Amount)), row.ClaimedAt)
	b.theirsMT5("", credit.KindDeposit, Exact(amount), amount.Currency(), d.At)
	b.expectDeal("our reference on another server", recon.DealWithoutRow, d, Exact(amount), d.At)
}

// unknownOnOtherLogin: the row is unknown, and the deal with its reference is on another login.
func (b *builder) unknownOnOtherLogin(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Unknown)
	d := b.sent(p, row, b.another(p.login), row.Amount)
	b.claim(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("unknown, and its deal is on another login", recon.WrongLogin, row, Exact(row.Amount), d.At)
	b.settled(p, row, b.settle(p, p.minor))
}

// refundedOtherwise: the refund's row took back less than the statement says was refunded.
func (b *builder) refundedOtherwise(p *payment) {
	b.plain(p)
	q := *p
	q.at = p.at.Add(25 * time.Hour)
	minor := p.minor / 2
	l := b.move(&q, recon.LineRefund, -minor, q.at)
	less := minor - max(3*tolerated(p.coin), minor/20)
	row := b.done(&q, credit.KindRefund, l.Movement, less)
	b.ours(p, refunded, less, moment(l))
	b.theirs(p, refunded, minor, moment(l))
	b.expectPayment("refunded for another amount", recon.WrongAmount, p, row, less-minor, moment(l))
}

// wonAndKept: a dispute was lost and taken back from the login; then it was won, and the login never got it back.
func (b *builder) wonAndKept(p *payment) {
	b.plain(p)
	q := *p
	q.at = p.at.Add(20 * time.Hour)
	l := b.move(&q, recon.LineChargeback, -p.minor, q.at)
	b.done(&q, credit.KindChargeback, l.Movement, p.minor)
	b.both(p, chargedBack, p.minor, moment(l))
	won := b.move(p, recon.LineChargebackReversal, p.minor, q.at.Add(20*time.Hour))
	if won == nil {
		return
	}
	b.theirs(p, chargedBack, -p.minor, moment(won))
	b.expectReversal("won, and not given back to the login", p, won, -p.minor)
}

// returnedTwice: the same amount was refunded twice, and only one of them was taken back from the login.
func (b *builder) returnedTwice(p *payment) {
	b.plain(p)
	half := p.minor / 2
	b.missed(p, recon.LineRefund, refunded, half, 22*time.Hour)
	q := *p
	q.at = p.at.Add(23 * time.Hour)
	l := b.move(&q, recon.LineRefund, -half, q.at)
	b.done(&q, credit.KindRefund, l.Movement, half)
	b.both(p, refunded, half, moment(l))
}

// partNeverSettled: of two parts, each with its row and deal, one is in no statement.
func (b *builder) partNeverSettled(p *payment) {
	cut := []int64{p.minor / 3, p.minor - p.minor/3}
	one := b.settle(p, cut[0])
	b.done(p, credit.KindDeposit, one[0].Movement, cut[0])
	b.both(p, credited, cut[0], moment(one[0]))
	q := *p
	q.at = p.at.Add(time.Hour)
	b.unsettled(&q, b.done(&q, credit.KindDeposit, b.movement(&q, recon.LinePayment, q.at), cut[1]), cut[1])
}

// partNotCredited: both parts are settled, and the row of one never reached the login.
func (b *builder) partNotCredited(p *payment) {
	cut := []int64{p.minor / 3, p.minor - p.minor/3}
	lines := b.settle(p, cut...)
	b.done(p, credit.KindDeposit, lines[0].Movement, cut[0])
	open := b.row(p, credit.KindDeposit, lines[1].Movement, cut[1], credit.Held)
	at := latest(lines...)
	b.ours(p, credited, cut[0], at)
	b.theirs(p, credited, p.minor, at)
	b.expectPayment("one of two parts is not credited", recon.SettledWithoutCredit, p, open, cut[1], at)
}

// dealWithinTolerance: MT5 has a minor unit more or less, which the firm lets pass.
func (b *builder) dealWithinTolerance(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	d := b.answer(row, p.login)
	d.Amount = p.login.coin.amount(row.Amount.Units().Int64() + 1)
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(d.Amount), row.Amount.Currency(), d.At)
	b.expectRow("on MT5 with a difference that the firm lets pass", recon.MatchedWithin, row, p.login.coin.exact(1), d.At)
}
