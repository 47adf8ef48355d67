package month

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// Season says around which change of the clocks the month lies: each holds a change of the business zone and one of the servers' clocks,
// in different weeks.
type Season int

// The seasons.
const (
	Spring Season = iota // New York changes on 8 March 2026, Berlin on 29 March
	Autumn               // Berlin changes on 25 October 2026, New York on 1 November
)

// Plan says which month is made. The same plan makes the same month, to the byte.
type Plan struct {
	Seed     uint64
	Payments int // of the firm's clients, before faults; at least 500
	Faults   int // of each way in which something goes wrong
	Season   Season
}

// Month is what the three lists hold and what a comparison must say of them.
type Month struct {
	Plan  Plan
	Rules recon.Rules

	// The lists, in no order.
	Lines []recon.Line
	Rows  []recon.Row
	Deals []recon.Deal

	Nights []Night

	expected []Expected
	books    books
	batches  []*batch
	provs    []*provider
}

// Night is a payment of 23:30 UTC, when UTC and the business zone have different dates.
type Night struct {
	At       time.Time
	Row      credit.ID
	Login    uint64
	Identity string
	Ticket   uint64
	Payment  string
}

// Make makes the month of a plan.
func Make(plan Plan) *Month {
	b := newBuilder(plan)
	b.ordinary(plan.Payments)
	nights := b.nights()
	b.faults(plan.Faults)
	b.manualDeals(plan.Payments / 50)
	b.accountLines()
	b.payouts(plan.Faults)
	b.withdrawals()
	m := &Month{Plan: plan, Rules: b.rules(), Nights: nights, expected: b.items, batches: b.order, provs: b.provs}
	slices.SortFunc(m.expected, func(x, y Expected) int {
		return cmp.Or(cmp.Compare(x.Key.Class, y.Key.Class), cmp.Compare(x.Key.Entity, y.Key.Entity))
	})
	b.evidence()
	m.books = b.books
	m.Lines, m.Rows, m.Deals = spread(b.r, b.lines), spread(b.r, b.rows), spread(b.r, b.deals)
	return m
}

// spread copies a list into an order that has nothing to do with how it was made.
func spread[T any](r *rand.Rand, list []*T) []T {
	out := make([]T, len(list))
	for to, from := range r.Perm(len(list)) {
		out[to] = *list[from]
	}
	return out
}

// days are the first business day of the season and the first after it.
func (s Season) days() (from, until time.Time) {
	if s == Autumn {
		return midnight(2026, time.October, 12), midnight(2026, time.November, 16)
	}
	return midnight(2026, time.March, 2), midnight(2026, time.April, 6)
}

func newBuilder(plan Plan) *builder {
	from, until := plan.Season.days()
	b := &builder{
		r: rand.New(rand.NewPCG(plan.Seed, 0x6d6f6e7468)), provs: providers(), from: from, until: until, read: until.Add(7 * time.Hour),
		deals0: from.AddDate(0, 0, -3), ticket: 7_000_000, open: map[batchKey]*batch{},
	}
	b.logins = makeLogins(b.r, 200+plan.Payments/20)
	return b
}

// ordinary tells the month's payments in which nothing is wrong, from twelve days before the first day until the lists are read.
func (b *builder) ordinary(n int) {
	tales := cleanTales()
	for range n {
		at := b.between(b.from.AddDate(0, 0, -12), b.read.Add(-time.Hour))
		t := drawTale(b.r, tales)
		t.tell(b, b.payAnywhere(b.provider(t.fits), at))
	}
	for range 1 + n/2000 {
		at := b.between(b.read.Add(-10*time.Hour), b.read.Add(-time.Hour))
		b.stillLooking(b.pay(b.provider(nil), at))
	}
}

func drawTale(r *rand.Rand, tales []tale) tale {
	total := 0
	for _, t := range tales {
		total += t.weight
	}
	n := r.IntN(total)
	for _, t := range tales {
		if n -= t.weight; n < 0 {
			return t
		}
	}
	panic("the weights of the tales do not add up")
}

// nights pays at 23:30 UTC of every evening of the weeks around both changes, plainly, over the provider that settles at once.
func (b *builder) nights() []Night {
	var out []Night
	wallet := b.byLabel("wallet")
	for day := b.from; day.Before(b.until.Add(-24 * time.Hour)); day = day.Add(24 * time.Hour) {
		u := day.UTC()
		at := time.Date(u.Year(), u.Month(), u.Day(), 23, 30, 0, 0, time.UTC)
		p := b.pay(wallet, at)
		b.plain(p)
		row, d := b.rows[len(b.rows)-1], b.deals[len(b.deals)-1]
		out = append(out, Night{at, row.ID, row.Login, row.Identity, d.Ticket, p.id})
	}
	return out
}

// faults plants n of each way in which something goes wrong.
func (b *builder) faults(n int) {
	for _, f := range slices.Concat(providerFaults(), mt5Faults(), oddFaults()) {
		for range n {
			p := b.provider(f.fits)
			latest := b.read.Add(-max(p.usual, p.slowest()) - 3*24*time.Hour)
			f.plant(b, b.pay(p, b.between(b.from.AddDate(0, 0, -2), latest)))
		}
	}
}

// rules are what the comparison is told.
func (b *builder) rules() recon.Rules {
	out := recon.Rules{
		From: b.from, Until: b.until, Read: b.read, DealsFrom: map[string]time.Time{}, Delay: map[string]time.Duration{},
		Tolerance: map[string]credit.Amount{}, Rounding: map[string]credit.Amount{},
	}
	for i, s := range identities {
		if i != oldServer {
			out.DealsFrom[s.identity] = b.deals0
		}
	}
	for _, p := range b.provs {
		if listed(p) {
			out.Delay[p.Label] = p.usual
		}
	}
	for _, c := range []coin{euro, dollar, yen, reais, ether} {
		out.Tolerance[c.code] = c.amount(tolerated(c))
		out.Rounding[c.code] = c.amount(2 * max(1, exchange(1, dollar, c)))
	}
	return out
}

// evidence says of every line where it stands, the statement of its batch or day and the row in it, and books what it costs.
func (b *builder) evidence() {
	rows := map[string]int{}
	for _, l := range b.lines {
		name := fmt.Sprintf("%s %s %s", l.Provider.Label, l.Batch, l.At.Format("20060102"))
		sum := sha256.Sum256([]byte(name))
		rows[name]++
		l.Digest, l.Row = hex.EncodeToString(sum[:]), rows[name]+1
		if l.Type != recon.LineUnknown && l.Fee.IsSet() {
			b.books.costs = append(b.books.costs, cost{l.Provider.Label, l.Fee.Currency(), Exact(l.Fee), moment(l)})
		}
	}
}
