package month

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// builder makes the month, story by story. Every story books what it moved and what must be found of it.
type builder struct {
	r      *rand.Rand
	provs  []*provider
	logins []*login
	from   time.Time // first business day begins
	until  time.Time // last one ends
	read   time.Time
	deals0 time.Time // the lists of deals are complete from here on

	rows   []*recon.Row
	lines  []*recon.Line
	deals  []*recon.Deal
	serial int
	ticket uint64
	books  books
	items  []Expected
	open   map[batchKey]*batch
	order  []*batch // in the order in which they were opened
}

// payment is one payment of a client, before anybody wrote anything down.
type payment struct {
	prov  *provider
	coin  coin
	minor int64
	at    time.Time
	login *login
	id    string
	code  string
}

// between draws a moment of [from, until), on a whole second.
func (b *builder) between(from, until time.Time) time.Time {
	return from.Add(time.Duration(b.r.Int64N(int64(until.Sub(from)/time.Second))) * time.Second)
}

// upTo draws a duration of less than d in whole seconds.
func (b *builder) upTo(d time.Duration) time.Duration {
	if d < time.Second {
		return 0
	}
	return time.Duration(b.r.Int64N(int64(d/time.Second))) * time.Second
}

// provider draws one that fits, by its share of the payments.
func (b *builder) provider(fits func(*provider) bool) *provider {
	for {
		n := b.r.IntN(100)
		for _, p := range b.provs {
			if n -= p.share; n < 0 {
				if fits == nil || fits(p) {
					return p
				}
				break
			}
		}
	}
}

// listed tells that the provider gives statements.
func listed(p *provider) bool { return p.usual > 0 }

// pay draws a payment to the provider at the given moment, by a login whose server's list of deals is complete.
func (b *builder) pay(p *provider, at time.Time) *payment {
	out := b.payAnywhere(p, at)
	for out.login.identity == identities[oldServer].identity {
		out.login = b.logins[b.r.IntN(len(b.logins))]
	}
	return out
}

// payAnywhere draws a payment by any login.
func (b *builder) payAnywhere(p *provider, at time.Time) *payment {
	b.serial++
	c := p.coins[0]
	if b.r.IntN(3) == 0 {
		c = p.coins[b.r.IntN(len(p.coins))]
	}
	return &payment{
		prov: p, coin: c, minor: b.size(c), at: at, login: b.logins[b.r.IntN(len(b.logins))],
		id: p.paymentID(b.r, b.serial), code: "cd" + letters(b.r, mixed, 15) + fmt.Sprintf("%07d", b.serial),
	}
}

// size draws an amount as clients pay it: mostly round, sometimes to the last place.
func (b *builder) size(c coin) int64 {
	n := 20 + b.r.Int64N(3000)
	switch c.code {
	case "JPY":
		return n*150 + b.r.Int64N(2)*b.r.Int64N(150)
	case "ETH":
		return 10_000_000_000_000_000 + b.r.Int64N(2_000_000_000_000_000_000)
	case "BRL":
		return n*500 + b.r.Int64N(2)*b.r.Int64N(500)
	default:
		return n*100 + b.r.Int64N(2)*b.r.Int64N(100)
	}
}

// row stores a credit row of the payment: what it is for, how much of what was paid, and in which state. It has no deal yet.
func (b *builder) row(p *payment, kind credit.Kind, part string, minor int64, state credit.State) *recon.Row {
	u := credit.Unit{ProviderKind: p.prov.Kind, Account: p.prov.Account, Payment: p.id, Part: part}
	seen := p.at.Add(time.Second + b.upTo(20*time.Second))
	row := &recon.Row{
		ID: credit.ID(len(b.rows) + 1), Kind: kind, Unit: u, State: state, Provider: p.prov.Label,
		Paid: p.coin.amount(minor), PaidAt: p.at, Code: p.code,
		Server: p.login.server, Identity: p.login.identity, Login: p.login.number,
		Amount:    p.login.coin.amount(max(1, exchange(minor, p.coin, p.login.coin))),
		Reference: credit.NewReference("live", p.login.identity, kind, u),
		Trace:     p.at.Add(-time.Minute - b.upTo(9*time.Minute)), UpdatedAt: seen,
	}
	b.rows = append(b.rows, row)
	return row
}

// called is the moment at which MT5 did what the row asked for.
func (b *builder) called(row *recon.Row) time.Time {
	return row.PaidAt.Add(20*time.Second + b.upTo(10*time.Minute))
}

// claim notes on the row that it was claimed for a call at the given moment.
func (b *builder) claim(row *recon.Row, at time.Time) {
	row.ClaimedAt, row.UpdatedAt = at.Add(-time.Second), at.Add(2*time.Second)
}

// deal puts a deal on the MT5 server, unless it is older than what the list holds. The amount is signed.
func (b *builder) deal(l *login, amount credit.Amount, comment string, action int, at time.Time) *recon.Deal {
	b.ticket += 1 + b.r.Uint64N(40)
	d := &recon.Deal{
		Deal: credit.Deal{
			Ticket: b.ticket, Login: l.number, Action: action, Amount: amount, Comment: comment, Dealer: 17,
			ServerTime: at.Add(serverOffset(at)).Unix(),
		},
		Server: l.server, Identity: l.identity, At: at,
	}
	if !at.Before(b.deals0) && l.identity != identities[oldServer].identity {
		b.deals = append(b.deals, d)
	}
	return d
}

// answer makes the deal that the row asked for and sets the row done.
func (b *builder) answer(row *recon.Row, l *login) *recon.Deal {
	at := b.called(row)
	b.claim(row, at)
	amount := row.Amount
	if !row.Kind.Adds() {
		amount = amount.Neg()
	}
	d := b.deal(l, amount, string(row.Reference), 2, at)
	row.State, row.Ticket = credit.Done, d.Ticket
	return d
}

// inList tells that the deal is on the list that the comparison gets.
func (b *builder) inList(d *recon.Deal) bool {
	return !d.At.Before(b.deals0) && d.Identity != identities[oldServer].identity
}

// done makes a row that was credited as it should be, with its deal, and books MT5's side.
func (b *builder) done(p *payment, kind credit.Kind, part string, minor int64) *recon.Row {
	row := b.row(p, kind, part, minor, credit.Done)
	if d := b.answer(row, p.login); b.inList(d) {
		b.bookMT5(row, d.At)
	}
	return row
}

// flowOf is the movement that a row of the kind is, and whether it counts the other way round.
func flowOf(kind credit.Kind) (flow, bool) {
	switch kind {
	case credit.KindRefund:
		return refunded, false
	case credit.KindChargeback:
		return chargedBack, false
	case credit.KindChargebackReversal:
		return chargedBack, true
	case credit.KindWithdrawal:
		return withdrawn, false
	case credit.KindWithdrawalReturn:
		return withdrawn, true
	default:
		return credited, false
	}
}

// bookMT5 books a row and its deal, which agree.
func (b *builder) bookMT5(row *recon.Row, at time.Time) {
	b.oursMT5(row, at)
	b.theirsMT5(row.Provider, row.Kind, Exact(row.Amount), row.Amount.Currency(), at)
}

func (b *builder) oursMT5(row *recon.Row, at time.Time) {
	f, back := flowOf(row.Kind)
	b.books.post(pageKey{recon.SideMT5, row.Provider, row.Amount.Currency()}, false, f, turned(Exact(row.Amount), back), at)
}

// theirsMT5 books what a deal moved; value is positive.
func (b *builder) theirsMT5(label string, kind credit.Kind, value *big.Int, currency string, at time.Time) {
	f, back := flowOf(kind)
	b.books.post(pageKey{recon.SideMT5, label, currency}, true, f, turned(value, back), at)
}

// ours and theirs book a movement on the provider's side; minor is positive.
func (b *builder) ours(p *payment, f flow, minor int64, at time.Time) {
	if listed(p.prov) {
		b.books.post(pageKey{recon.SideProvider, p.prov.Label, p.coin.code}, false, f, p.coin.exact(minor), at)
	}
}

func (b *builder) theirs(p *payment, f flow, minor int64, at time.Time) {
	b.books.post(pageKey{recon.SideProvider, p.prov.Label, p.coin.code}, true, f, p.coin.exact(minor), at)
}

func (b *builder) both(p *payment, f flow, minor int64, at time.Time) {
	b.ours(p, f, minor, at)
	b.theirs(p, f, minor, at)
}

func turned(v *big.Int, back bool) *big.Int {
	if back {
		return new(big.Int).Neg(v)
	}
	return v
}

// moment is when a line counts: when it was booked, else when it happened.
func moment(l *recon.Line) time.Time {
	if l.SettledAt.IsZero() {
		return l.At
	}
	return l.SettledAt
}

// latest is the moment at which lines that belong together count.
func latest(lines ...*recon.Line) time.Time {
	var out time.Time
	for _, l := range lines {
		if m := moment(l); m.After(out) {
			out = m
		}
	}
	return out
}

func entityOf(row *recon.Row) string { return "credit/" + strconv.FormatUint(uint64(row.ID), 10) }
