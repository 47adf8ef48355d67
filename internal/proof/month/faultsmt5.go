package month

import (
	"math/big"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// mt5Faults are what goes wrong between rows and deals.
func mt5Faults() []fault {
	return []fault{
		{recon.DoneWithoutDeal, (*builder).dealGone, nil},
		{recon.DealWithoutRow, (*builder).rowLost, listed},
		{recon.DealWithoutRow, (*builder).neverLooked, nil},
		{recon.DuplicateReference, (*builder).calledTwice, nil},
		{recon.DuplicateReference, (*builder).twiceWithoutRow, nil},
		{recon.DuplicateReference, (*builder).twiceOnTwoLogins, nil},
		{recon.DealWithoutReference, (*builder).byHand, nil},
		{recon.DealWithoutReference, (*builder).byHandAndRefused, nil},
		{recon.WrongLogin, (*builder).otherLogin, nil},
		{recon.WrongAmount, (*builder).otherAmount, nil},
		{recon.WrongCurrency, (*builder).otherCurrency, nil},
		{recon.DamagedReference, (*builder).damagedCopy, nil},
		{recon.FailedButDeal, (*builder).failedButDeal, nil},
		{recon.CancelledButDeal, (*builder).cancelledButDeal, nil},
	}
}

// dealGone: the row is done, and the server has no such deal.
func (b *builder) dealGone(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	b.claim(row, b.called(row))
	b.ticket += 3
	row.Ticket = b.ticket
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, row.ClaimedAt)
	b.expectRow("done, and the server has no deal", recon.DoneWithoutDeal, row, new(big.Int).Neg(Exact(row.Amount)), row.ClaimedAt)
}

// sent makes the deal of a row without telling the row: the row is as the story left it.
func (b *builder) sent(p *payment, row *recon.Row, l *login, amount credit.Amount) *recon.Deal {
	return b.deal(l, amount, string(row.Reference), 2, b.called(row))
}

// forgotten makes a row as the builder makes rows, and forgets it: no list has it.
func (b *builder) forgotten(p *payment) *recon.Row {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	b.rows = b.rows[:len(b.rows)-1]
	return row
}

// rowLost: paid, credited and settled, and the row is gone, as after a restore: one item on each side.
func (b *builder) rowLost(p *payment) {
	row := b.forgotten(p)
	d := b.sent(p, row, p.login, row.Amount)
	b.theirsMT5("", credit.KindDeposit, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectDeal("our reference, and no row", recon.DealWithoutRow, d, Exact(row.Amount), d.At)
	at := latest(b.settle(p, p.minor)...)
	b.theirs(p, credited, p.minor, at)
	b.expectPayment("settled, and its row is lost", recon.SettledWithoutCredit, p, nil, p.minor, at)
}

// neverLooked: the row is unknown for days, and its deal is there. The client has the money: the provider's side counts it as credited.
func (b *builder) neverLooked(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Unknown)
	d := b.sent(p, row, p.login, row.Amount)
	b.claim(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("unknown for days, and its deal is there", recon.DealWithoutRow, row, Exact(row.Amount), d.At)
	b.settled(p, row, b.settle(p, p.minor))
}

// stillLooking: the row is unknown for some hours, and its deal is there: the resolver finds it, and no person hears of it. Both sides count
// what the deal says.
func (b *builder) stillLooking(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Unknown)
	d := b.sent(p, row, p.login, row.Amount)
	b.claim(row, d.At)
	b.bookMT5(row, d.At)
	b.settled(p, row, b.settle(p, p.minor))
}

// calledTwice: two deals of one row.
func (b *builder) calledTwice(p *payment) { b.secondDeal(p, p.login, "one reference on two deals") }

// twiceOnTwoLogins: two deals of one row, the second on another login.
func (b *builder) twiceOnTwoLogins(p *payment) {
	b.secondDeal(p, b.another(p.login), "one reference on deals of two logins")
}

// secondDeal makes a second deal with the reference of a row that is done.
func (b *builder) secondDeal(p *payment, on *login, story string) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	first := b.answer(row, p.login)
	second := b.deal(on, row.Amount, string(row.Reference), 2, first.At.Add(time.Second+b.upTo(20*time.Hour)))
	b.settled(p, row, b.settle(p, p.minor))
	value := Exact(row.Amount)
	b.oursMT5(row, second.At)
	b.theirsMT5(row.Provider, row.Kind, new(big.Int).Lsh(value, 1), row.Amount.Currency(), second.At)
	b.expectRow(story, recon.DuplicateReference, row, value, second.At)
}

// twiceWithoutRow: two deals with one reference of a row that is gone.
func (b *builder) twiceWithoutRow(p *payment) {
	row := b.forgotten(p)
	first := b.sent(p, row, p.login, row.Amount)
	second := b.deal(p.login, row.Amount, string(row.Reference), 2, first.At.Add(time.Minute))
	twice := new(big.Int).Lsh(Exact(row.Amount), 1)
	b.theirsMT5("", credit.KindDeposit, twice, row.Amount.Currency(), second.At)
	b.expectDeal("one reference on two deals, and no row", recon.DuplicateReference, first, twice, second.At)
}

// another draws another login of the same server and currency.
func (b *builder) another(l *login) *login {
	for {
		if o := b.logins[b.r.IntN(len(b.logins))]; o != l && o.identity == l.identity && o.coin == l.coin {
			return o
		}
	}
}

// byHand: a balance deal that nobody asked for.
func (b *builder) byHand(p *payment) {
	minor := b.size(p.login.coin)
	amount := p.login.coin.amount(minor)
	comment := []string{"", "deposit wire 8841", "as agreed with client", "dep: by phone", "correction of 12.03."}[b.r.IntN(5)]
	kind := credit.KindDeposit
	if b.r.IntN(3) == 0 {
		amount, kind = amount.Neg(), credit.KindWithdrawal
	}
	d := b.deal(p.login, amount, comment, 2, p.at)
	b.unasked("made by hand, without a reference", d, kind)
}

// unasked books a deal that no row has.
func (b *builder) unasked(story string, d *recon.Deal, kind credit.Kind) {
	value := Exact(d.Amount)
	b.theirsMT5("", kind, new(big.Int).Abs(value), d.Amount.Currency(), d.At)
	b.expectDeal(story, recon.DealWithoutReference, d, value, d.At)
}

// byHandAndRefused: the same, and people have said of a row that this deal is not its payment.
func (b *builder) byHandAndRefused(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Held)
	d := b.deal(p.login, row.Amount, "look-alike", 2, p.at.Add(4*time.Minute))
	row.NotDeals = []uint64{d.Ticket}
	b.unasked("made by hand, and people said that it is not the row's", d, credit.KindDeposit)
}

// otherLogin: the deal with the row's reference is on another login.
func (b *builder) otherLogin(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	d := b.answer(row, b.another(p.login))
	b.bookMT5(row, d.At)
	b.settled(p, row, b.settle(p, p.minor))
	b.expectRow("on another login", recon.WrongLogin, row, none(), d.At)
}

// otherAmount: the deal with the row's reference has another amount.
func (b *builder) otherAmount(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	d := b.answer(row, p.login)
	off := 2 + row.Amount.Units().Int64()/100
	if b.r.IntN(2) == 0 && off < row.Amount.Units().Int64() {
		off = -off
	}
	d.Amount = p.login.coin.amount(row.Amount.Units().Int64() + off)
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(d.Amount), row.Amount.Currency(), d.At)
	b.expectRow("for another amount", recon.WrongAmount, row, p.login.coin.exact(off), d.At)
}

// otherCurrency: the login had another currency when the deal was made. Each currency's page is off by its own part.
func (b *builder) otherCurrency(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	d := b.answer(row, p.login)
	foreign := map[string]coin{"EUR": dollar, "USD": euro, "JPY": euro}[p.login.coin.code]
	d.Amount = foreign.amount(row.Amount.Units().Int64())
	b.settled(p, row, b.settle(p, p.minor))
	b.oursMT5(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(d.Amount), d.Amount.Currency(), d.At)
	b.expectRow("in another currency", recon.WrongCurrency, row, new(big.Int).Neg(Exact(row.Amount)), d.At)
	b.items[len(b.items)-1].Off[d.Amount.Currency()] = Exact(d.Amount)
}

// damagedCopy: somebody made the deal again by hand and mistyped the reference.
func (b *builder) damagedCopy(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Done)
	at := b.called(row)
	b.claim(row, at)
	b.ticket += 5
	row.Ticket = b.ticket
	d := b.deal(p.login, row.Amount, b.damage(string(row.Reference)), 2, at)
	b.bookMT5(row, d.At)
	b.settled(p, row, b.settle(p, p.minor))
	b.expectRow("a damaged copy of its reference", recon.DamagedReference, row, none(), d.At)
}

// damage mistypes a reference so that it is none any more and a person still sees which it was.
func (b *builder) damage(ref string) string {
	at := 5 + b.r.IntN(14)
	switch b.r.IntN(6) {
	case 0:
		return ref[:len(ref)-2-b.r.IntN(5)] // cut
	case 1:
		return strings.ToLower(ref)
	case 2:
		return ref[:at] + "?" + ref[at+1:] // one character
	case 3:
		return ref[:at] + " " + ref[at:]
	case 4:
		return "re " + ref[4:]
	default:
		return ref[:at] + ref[at+1:] + "x" // one left out
	}
}

// failedButDeal: MT5 refused, as it said, and the deal is there. The client has the money: the provider's side counts it as credited.
func (b *builder) failedButDeal(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Failed)
	d := b.sent(p, row, p.login, row.Amount)
	b.claim(row, d.At)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("failed, and its deal is there", recon.FailedButDeal, row, Exact(row.Amount), d.At)
	b.settled(p, row, b.settle(p, p.minor))
}

// cancelledButDeal: closed without a deal, and the deal is there. Where the payment was refunded the client has the money twice.
func (b *builder) cancelledButDeal(p *payment) {
	row := b.row(p, credit.KindDeposit, "", p.minor, credit.Cancelled)
	d := b.sent(p, row, p.login, row.Amount)
	row.UpdatedAt = d.At.Add(time.Hour)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), d.At)
	b.expectRow("cancelled, and its deal is there", recon.CancelledButDeal, row, Exact(row.Amount), d.At)
	b.settled(p, row, b.settle(p, p.minor))
	if b.r.IntN(2) == 0 && refundable(p.prov) {
		b.missed(p, recon.LineRefund, refunded, p.minor, 2*time.Hour)
	}
}
