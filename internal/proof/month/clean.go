package month

import (
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// The stories of this file have nothing that a person must look at.

// tale is a way in which a payment goes.
type tale struct {
	weight int
	tell   func(*builder, *payment)
	fits   func(*provider) bool
}

// cleanTales are the ways in which nothing is wrong, with how often they happen in 1000.
func cleanTales() []tale {
	return []tale{
		{700, (*builder).plain, nil},
		{50, (*builder).captures, capturesApart},
		{40, (*builder).parts, capturesApart},
		{15, (*builder).partsApart, capturesApart},
		{50, (*builder).refunds, func(p *provider) bool { return p.has(recon.LineRefund) }},
		{12, (*builder).returnedRefund, func(p *provider) bool { return p.has(recon.LineRefundReversal) }},
		{15, (*builder).lostDispute, func(p *provider) bool { return p.has(recon.LineChargeback) }},
		{12, (*builder).wonDispute, func(p *provider) bool { return p.has(recon.LineChargebackReversal) }},
		{20, (*builder).cancelledAndRefunded, func(p *provider) bool { return p.has(recon.LineRefund) }},
		{25, (*builder).underItsCode, listed},
		{20, (*builder).withinTolerance, listed},
		{20, (*builder).adopted, nil},
		{20, (*builder).notYet, nil},
		{11, (*builder).withdrawal, nil},
	}
}

// capturesApart tells that one payment can have several captures there: PayPal's captures are payments of their own.
func capturesApart(p *provider) bool { return listed(p) && p.Kind != "paypal" }

// plain: paid, credited, settled.
func (b *builder) plain(p *payment) {
	b.settled(p, b.done(p, credit.KindDeposit, "", p.minor), b.settle(p, p.minor))
}

// settled books the provider's side of a payment whose lines and row agree, or that waits for its lines.
func (b *builder) settled(p *payment, row *recon.Row, lines []*recon.Line) {
	if lines == nil {
		b.unsettled(p, row, p.minor)
		return
	}
	b.both(p, credited, p.minor, latest(lines...))
}

// captures: taken in several captures, credited once. Of Stripe: authorised for more, the rest taken back by a line of its own.
func (b *builder) captures(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	if p.prov.Kind == "stripe" && b.r.IntN(2) == 0 {
		more := p.minor/4 + 1
		lines := b.settle(p, p.minor+more, -more)
		if lines != nil {
			lines[1].Word = "partial_capture_reversal"
		}
		b.settled(p, row, lines)
		return
	}
	b.settled(p, row, b.settle(p, b.split(p.minor)...))
}

// split cuts an amount into two or three parts.
func (b *builder) split(minor int64) []int64 {
	first := minor/3 + b.r.Int64N(minor/3)
	rest := minor - first
	if b.r.IntN(2) == 0 {
		return []int64{first, rest}
	}
	return []int64{first, rest / 2, rest - rest/2}
}

// parts: each capture is a part of its own, with its own row and deal.
func (b *builder) parts(p *payment) {
	cut := b.split(p.minor)
	lines := b.settle(p, cut...)
	var first *recon.Row
	for i, minor := range cut {
		part := b.movement(p, recon.LinePayment, p.at.Add(time.Duration(i)*time.Second))
		if lines != nil {
			part = lines[i].Movement
		}
		row := b.done(p, credit.KindDeposit, part, minor)
		if first == nil {
			first = row
		}
	}
	b.settled(p, first, lines)
}

// partsApart: the second part is captured days after the first. When the lists are read it may not be booked yet.
func (b *builder) partsApart(p *payment) {
	q := *p
	q.at = p.at.Add(40*time.Hour + b.upTo(30*time.Hour))
	q.minor = p.minor / 3
	if !q.at.Add(time.Hour).Before(b.read) || p.prov.slowest() > 4*24*time.Hour {
		b.plain(p)
		return
	}
	p.minor -= q.minor
	one := b.settle(p, p.minor)
	two := b.settle(&q, q.minor)
	if one == nil {
		b.plain(p)
		return
	}
	b.done(p, credit.KindDeposit, one[0].Movement, p.minor)
	if two != nil {
		b.done(&q, credit.KindDeposit, two[0].Movement, q.minor)
		b.both(p, credited, p.minor+q.minor, latest(one[0], two[0]))
		return
	}
	later := b.done(&q, credit.KindDeposit, b.movement(&q, recon.LinePayment, q.at), q.minor)
	b.both(p, credited, p.minor, latest(one...))
	b.unsettled(&q, later, q.minor)
}

// refunds: refunded once or twice, each taken back from the login by a row of its own.
func (b *builder) refunds(p *payment) {
	b.plain(p)
	times := 1 + b.r.IntN(2)
	for i := range times {
		b.reversal(p, recon.LineRefund, credit.KindRefund, p.minor/int64(2+i), time.Duration(3+i)*24*time.Hour)
	}
}

// reversal: a movement out of the provider's side, with its row, some time after the payment; nothing where it lies in the future.
func (b *builder) reversal(p *payment, t recon.LineType, kind credit.Kind, minor int64, after time.Duration) {
	q := *p
	q.at = p.at.Add(after + b.upTo(12*time.Hour))
	if !q.at.Add(time.Hour).Before(b.read) {
		return
	}
	line := b.move(&q, t, -minor, q.at)
	part := b.movement(p, t, q.at)
	if line != nil {
		part = line.Movement
	}
	row := b.done(&q, kind, part, minor)
	if line == nil {
		b.unsettled(&q, row, minor)
		return
	}
	f, _ := flowOf(kind)
	b.both(p, f, minor, latest(line))
}

// returnedRefund: a refund that failed. The money is back, and nothing was taken from the login.
func (b *builder) returnedRefund(p *payment) {
	b.plain(p)
	b.undone(p, recon.LineRefund, recon.LineRefundReversal, refunded)
}

// undone: a movement out and its return, both settled, or neither.
func (b *builder) undone(p *payment, out, back recon.LineType, f flow) {
	at := p.at.Add(3*24*time.Hour + b.upTo(24*time.Hour))
	returned := at.Add(26*time.Hour + b.upTo(48*time.Hour))
	if !returned.Add(p.prov.slowest()).Before(b.read) {
		return
	}
	minor := p.minor/2 + 1
	l := b.move(p, back, minor, returned)
	gone := b.move(p, out, -minor, at)
	b.theirs(p, f, minor, latest(gone, l))
	b.theirs(p, f, -minor, latest(gone, l))
}

// lostDispute: the payer's bank took the money, and so did we from the login.
func (b *builder) lostDispute(p *payment) {
	b.plain(p)
	b.reversal(p, recon.LineChargeback, credit.KindChargeback, p.minor, 5*24*time.Hour)
}

// wonDispute: taken and given back; nothing was taken from the login.
func (b *builder) wonDispute(p *payment) {
	b.plain(p)
	b.undone(p, recon.LineChargeback, recon.LineChargebackReversal, chargedBack)
}

// cancelledAndRefunded: closed by people without a deal, and refunded: in full, or in two steps.
func (b *builder) cancelledAndRefunded(p *payment) {
	if !p.at.Add(5*24*time.Hour + p.prov.slowest()).Before(b.read) {
		b.plain(p)
		return
	}
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Cancelled)
	row.UpdatedAt = p.at.Add(26 * time.Hour)
	lines := b.settle(p, p.minor)
	steps := []int64{p.minor}
	if b.r.IntN(3) == 0 {
		steps = []int64{p.minor / 3, p.minor - p.minor/3}
	}
	for i, minor := range steps {
		lines = append(lines, b.move(p, recon.LineRefund, -minor, p.at.Add(30*time.Hour+time.Duration(i)*24*time.Hour)))
	}
	at := latest(lines...)
	b.theirs(p, credited, p.minor, at)
	b.theirs(p, refunded, p.minor, at)
}

// underItsCode: the statement has another id of the payment than the event had, and the deposit's code ties them.
func (b *builder) underItsCode(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	q := *p
	b.serial++
	q.id = p.prov.paymentID(b.r, b.serial)
	b.settled(p, row, b.settle(&q, p.minor))
}

// withinTolerance: the statement differs by no more than what the firm lets pass.
func (b *builder) withinTolerance(p *payment) {
	row := b.done(p, credit.KindDeposit, "", p.minor)
	off := tolerated(p.coin) * (1 - 2*b.r.Int64N(2))
	lines := b.settle(p, p.minor+off)
	if lines == nil {
		b.unsettled(p, row, p.minor)
		return
	}
	at := latest(lines...)
	b.ours(p, credited, p.minor, at)
	b.theirs(p, credited, p.minor+off, at)
	b.expectPayment("settled with a difference that the firm lets pass", recon.MatchedWithin, p, row, off, at)
}

// tolerated is the largest difference that the firm lets pass, in minor units.
func tolerated(c coin) int64 {
	if c.code == "ETH" {
		return 1_000_000_000
	}
	return 1
}

// adopted: the dealer had credited it by hand, and two people adopted the deal.
func (b *builder) adopted(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	at := b.called(row)
	comment := []string{"wire 2231", "", "Deposit by phone", "transfer 100234", "client 88 bonus adj"}[b.r.IntN(5)]
	d := b.deal(p.login, row.Amount, comment, 2, at)
	row.Ticket, row.UpdatedAt = d.Ticket, at.Add(5*time.Hour)
	if b.inList(d) {
		b.bookMT5(row, at)
	}
	b.settled(p, row, b.settle(p, p.minor))
}

// notYet: a row that is not credited, of a payment that is not settled: it has its own tasks, and no item.
func (b *builder) notYet(p *payment) {
	states := []credit.State{credit.Held, credit.Pending, credit.Claimed, credit.Unknown, credit.Failed, credit.Cancelled}
	row := b.row(p, credit.KindDeposit, "", p.minor, states[b.r.IntN(len(states))])
	switch row.State {
	case credit.Held:
		if b.r.IntN(2) == 0 { // no deposit has joined yet
			row.Server, row.Identity, row.Login, row.Reference, row.Code = "", "", 0, "", ""
			row.Amount = credit.Amount{}
		}
	case credit.Claimed, credit.Unknown, credit.Failed:
		b.claim(row, b.called(row))
	default:
	}
}

// withdrawal: money out, debited on MT5 and paid by the firm; it came back where the bank refused it.
func (b *builder) withdrawal(p *payment) {
	q := *p
	q.prov = b.byLabel("bank")
	q.coin, q.minor = euro, b.size(euro)
	b.done(&q, credit.KindWithdrawal, "", q.minor)
	if back := q.at.Add(50 * time.Hour); b.r.IntN(4) == 0 && back.Add(time.Hour).Before(b.read) {
		q.at = back
		b.done(&q, credit.KindWithdrawalReturn, "", q.minor)
	}
}

// manualDeals puts deals of other actions on the servers: credit, charge, correction, bonus. They take no part in balances.
func (b *builder) manualDeals(n int) {
	for range n {
		l := b.logins[b.r.IntN(len(b.logins))]
		v := b.size(l.coin) * (1 - 2*b.r.Int64N(2))
		comment := []string{"", "bonus march", "swap correction", "credit line", "charge"}[b.r.IntN(5)]
		b.deal(l, l.coin.amount(v), comment, 3+b.r.IntN(4), b.between(b.deals0, b.read))
	}
}
