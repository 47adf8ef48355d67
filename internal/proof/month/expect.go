package month

import (
	"maps"
	"math/big"
	"strconv"
	"time"

	"creditonce/recon"
)

// Expected is one item that a comparison of the month must give, and why.
type Expected struct {
	Key      recon.Key
	Side     recon.Side
	Provider string              // label; empty for deals that no row has
	Off      map[string]*big.Int // by currency, in 10^-18 of it, signed as in recon.Item; empty: the sides agree on how much
	At       time.Time
	Story    string // what was planted, for the message of a test
}

// Expected are the items that a comparison of days that end at until must give beside the plainly matched ones, sorted by class and entity.
// Whatever happened before until and is not explained is among them, be it older than the days that are compared.
func (m *Month) Expected(until time.Time) []Expected {
	var out []Expected
	for _, e := range m.expected {
		if e.At.Before(until) {
			out = append(out, e)
		}
	}
	return out
}

// expect notes an item.
func (b *builder) expect(story string, e Expected) {
	e.Story = story
	maps.DeleteFunc(e.Off, func(_ string, v *big.Int) bool { return v.Sign() == 0 })
	b.items = append(b.items, e)
}

// expectPayment notes an item of the provider's side about a payment: of its row, where it has one.
func (b *builder) expectPayment(story string, class recon.Class, p *payment, row *recon.Row, off int64, at time.Time) {
	entity := "payment/" + p.prov.Kind + "/" + p.prov.Account + "/" + p.id
	if row != nil {
		entity = entityOf(row)
	}
	b.expect(story, Expected{
		Key: recon.Key{Class: class, Entity: entity}, Side: recon.SideProvider, Provider: p.prov.Label,
		Off: map[string]*big.Int{p.coin.code: p.coin.exact(off)}, At: at,
	})
}

// expectRow notes an item of MT5's side about a row; off is in 10^-18 of the row's currency.
func (b *builder) expectRow(story string, class recon.Class, row *recon.Row, off *big.Int, at time.Time) {
	b.expect(story, Expected{
		Key: recon.Key{Class: class, Entity: entityOf(row)}, Side: recon.SideMT5, Provider: row.Provider,
		Off: map[string]*big.Int{row.Amount.Currency(): off}, At: at,
	})
}

// expectDeal notes an item about a deal that no row has.
func (b *builder) expectDeal(story string, class recon.Class, d *recon.Deal, off *big.Int, at time.Time) {
	b.expect(story, Expected{
		Key:  recon.Key{Class: class, Entity: "deal/" + d.Identity + "/" + strconv.FormatUint(d.Ticket, 10)},
		Side: recon.SideMT5, Off: map[string]*big.Int{d.Amount.Currency(): off}, At: at,
	})
}

// expectPayout notes that the payout of a batch is rest more than the sum of its lines.
func (b *builder) expectPayout(t *batch, at time.Time, rest *big.Int) {
	off := new(big.Int).Mul(rest, power(fine-t.coin.places))
	b.expect("a payout that is not the sum of its lines", Expected{
		Key:  recon.Key{Class: recon.PayoutDifference, Entity: "payout/" + t.prov.Kind + "/" + t.prov.Account + "/" + t.id},
		Side: recon.SideProvider, Provider: t.prov.Label, Off: map[string]*big.Int{t.coin.code: off.Neg(off)}, At: at,
	})
}

// expectReversal notes a movement out that no row has taken back from the login.
func (b *builder) expectReversal(story string, p *payment, l *recon.Line, minor int64) {
	b.expect(story, Expected{
		Key:  recon.Key{Class: recon.ReversalMissing, Entity: "payment/" + p.prov.Kind + "/" + p.prov.Account + "/" + p.id + "/" + l.Movement},
		Side: recon.SideProvider, Provider: p.prov.Label,
		Off: map[string]*big.Int{p.coin.code: p.coin.exact(-minor)}, At: moment(l),
	})
}

// unsettled books a credited row whose movement is not in a statement, and notes that it waits, or is late.
func (b *builder) unsettled(p *payment, row *recon.Row, minor int64) {
	if !listed(p.prov) {
		return
	}
	at := rowMoment(row)
	f, back := flowOf(row.Kind)
	off := -minor
	switch {
	case back:
		b.ours(p, f, -minor, at)
	case f == credited:
		b.ours(p, f, minor, at)
	default:
		off = minor
		b.ours(p, f, minor, at)
	}
	class, story := recon.Waiting, "credited and not settled yet"
	if p.at.Add(p.prov.usual).Before(b.read) {
		class, story = recon.Late, "credited and never settled"
	}
	b.expectPayment(story, class, p, row, off, at)
}

// rowMoment is when a row counts that nothing on the other side answers.
func rowMoment(row *recon.Row) time.Time {
	if !row.ClaimedAt.IsZero() {
		return row.ClaimedAt
	}
	return row.UpdatedAt
}
