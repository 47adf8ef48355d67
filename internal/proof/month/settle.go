package month

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"creditonce/recon"
)

// batchKey names a batch: what a provider books on one day for one balance.
type batchKey struct {
	label, currency, day string
}

// batch is what one payout pays.
type batch struct {
	prov  *provider
	coin  coin // of the balance, with the places of the statements
	id    string
	at    time.Time // when its lines are booked; of providers that book all day the end of that day
	sum   *big.Int  // net of its lines, in units of coin
	lines int
}

// batchOf opens or continues the batch in which the provider books at the moment. PayPal's balance has none: what is on it stays until the
// firm withdraws it.
func (b *builder) batchOf(p *provider, c coin, settled time.Time) *batch {
	if p.Kind == "paypal" {
		return nil
	}
	k := batchKey{p.Label, c.code, settled.Format("20060102")}
	if t := b.open[k]; t != nil {
		return t
	}
	t := &batch{prov: p, coin: c, at: settled, sum: new(big.Int)}
	if p.daily < 0 {
		t.at = settled.Truncate(24 * time.Hour).Add(24*time.Hour - time.Second)
	}
	switch p.Kind {
	case "stripe":
		t.id = "po_1" + letters(b.r, mixed, 12) + k.day + c.code
	case "adyen":
		t.id = fmt.Sprintf("%d", 100+len(b.order))
	case "checkout":
		t.id = fmt.Sprintf("%08dK%03d", len(b.order)+1, b.r.IntN(1000))
	default:
		t.id = fmt.Sprintf("%d", 640_000+len(b.order))
	}
	b.open[k] = t
	b.order = append(b.order, t)
	return t
}

// bookedAt is when the provider books what happened at the moment.
func (b *builder) bookedAt(p *provider, at time.Time) time.Time {
	t := at.Add(p.delay + b.upTo(p.spread))
	if p.daily < 0 {
		return t
	}
	next := t.Truncate(24 * time.Hour).Add(time.Duration(p.daily) * time.Hour)
	if next.Before(t) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// slowest is the longest time from a payment to its booking.
func (p *provider) slowest() time.Duration { return p.delay + p.spread + 24*time.Hour }

// settle writes the lines of a payment's captures, all booked together; nil where they are not booked when the lists are read.
func (b *builder) settle(p *payment, captures ...int64) []*recon.Line {
	booked := b.bookedAt(p.prov, p.at)
	if !booked.Before(b.read) || !listed(p.prov) {
		return nil
	}
	out := make([]*recon.Line, len(captures))
	for i, minor := range captures {
		out[i] = b.line(p, recon.LinePayment, minor, p.at.Add(time.Duration(i)*time.Second), booked)
	}
	return out
}

// move writes the line of a later movement of the payment: a refund, a dispute. minor has the sign of the line. Nil where it is not booked
// when the lists are read.
func (b *builder) move(p *payment, t recon.LineType, minor int64, at time.Time) *recon.Line {
	booked := b.bookedAt(p.prov, at)
	if !booked.Before(b.read) {
		return nil
	}
	return b.line(p, t, minor, at, booked)
}

// line writes one line of the payment, with what it costs, into its batch.
func (b *builder) line(p *payment, t recon.LineType, minor int64, at, booked time.Time) *recon.Line {
	net := p.prov.balance(p.coin)
	l := &recon.Line{
		Provider: p.prov.Provider, Type: t, Word: p.prov.words[t], Payment: p.id, Movement: b.movement(p, t, at), Code: p.code,
		At: at, SettledAt: booked,
	}
	if p.prov.Kind == "paypal" {
		at = booked // its balance moves when it happens, some minutes after the payment; one time says all
		l.At, l.SettledAt = at, time.Time{}
	}
	places := p.prov.shownPlaces(p.coin)
	l.Gross = written(new(big.Int).Mul(big.NewInt(minor), power(places-p.coin.places)), p.coin.code, places)
	converted := sign(minor) * exchange(abs(minor), p.coin, net)
	fee := b.fee(t, converted, net)
	l.Fee, l.Net = net.amount(fee), net.amount(converted+fee)
	b.enter(l, b.batchOf(p.prov, net, booked))
	if t == recon.LinePayment && b.r.IntN(25) == 0 {
		b.costApart(l, net)
	}
	return l
}

// movement makes the id of a movement. dLocal has none: its file tells two movements of a payment apart by their times.
func (b *builder) movement(p *payment, t recon.LineType, at time.Time) string {
	if p.prov.Kind == "dlocal" {
		return p.id + " " + at.Format(time.DateTime)
	}
	b.serial++
	return p.prov.movementID(b.r, b.serial)
}

// enter adds the line to the batch and to the list.
func (b *builder) enter(l *recon.Line, t *batch) {
	if t != nil {
		l.Batch = t.id
		t.sum.Add(t.sum, l.Net.Units())
		t.lines++
	}
	b.lines = append(b.lines, l)
}

// fee is what the line costs, in minor units of the balance, negative: a share and a fixed part of a payment, more than the payment itself
// where that is small; a fixed price of a dispute; of a refund nothing, or the fixed part once more.
func (b *builder) fee(t recon.LineType, converted int64, net coin) int64 {
	fixed := exchange(25, dollar, net)
	switch t {
	case recon.LinePayment:
		if b.r.IntN(20) == 0 {
			return 0 // billed at the end of the month
		}
		return -(abs(converted)/1000*14 + fixed)
	case recon.LineChargeback:
		return -60 * fixed
	case recon.LineRefund:
		return -fixed * b.r.Int64N(2)
	default:
		return 0
	}
}

// costApart writes a fee of the payment as a line of its own.
func (b *builder) costApart(of *recon.Line, net coin) {
	b.serial++
	l := &recon.Line{
		Provider: of.Provider, Type: recon.LineFee, Word: b.byLabel(of.Provider.Label).words[recon.LineFee], Payment: of.Payment,
		Movement: "fee" + fmt.Sprintf("%07d", b.serial), Code: of.Code, At: of.At, SettledAt: of.SettledAt,
		Fee: net.amount(-exchange(10, dollar, net)), Net: net.amount(-exchange(10, dollar, net)),
	}
	b.enter(l, b.batchOf(b.byLabel(of.Provider.Label), net, moment(of)))
}

func (b *builder) byLabel(label string) *provider {
	return b.provs[slices.IndexFunc(b.provs, func(p *provider) bool { return p.Label == label })]
}

// accountLines puts what belongs to no payment into some of the batches: fees of a month, corrections, what is held back, and words that
// nobody knows, which count nowhere.
func (b *builder) accountLines() {
	for _, t := range slices.Clone(b.order) {
		for _, kind := range []recon.LineType{recon.LineFee, recon.LineAdjustment, recon.LineReserve, recon.LineUnknown} {
			if !t.prov.has(kind) || !t.at.Before(b.read) || b.r.IntN(3) > 0 {
				continue
			}
			b.serial++
			value := -exchange(100+b.r.Int64N(2000), dollar, t.coin)
			if kind == recon.LineAdjustment && b.r.IntN(2) == 0 {
				value = -value
			}
			l := &recon.Line{
				Provider: t.prov.Provider, Type: kind, Word: t.prov.words[kind], Movement: fmt.Sprintf("%07d", b.serial),
				Net: t.coin.amount(value), At: t.at, SettledAt: t.at,
			}
			if kind == recon.LineFee {
				l.Fee = l.Net
			}
			if kind == recon.LineUnknown {
				l.Batch, l.Gross = t.id, l.Net
				b.lines = append(b.lines, l)
				continue
			}
			b.enter(l, t)
		}
	}
}

// payouts closes the batches that are old enough when the lists are read. Every third payout is a rest away from the sum of its lines:
// booked as a line of its own, or so small that it needs none. So many as faults says are wrong by more than that.
func (b *builder) payouts(faults int) {
	slices.SortFunc(b.order, func(x, y *batch) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.id, y.id)) })
	for i, t := range b.order {
		paid := t.at
		if t.prov.daily < 0 {
			paid = paid.Add(10 * time.Second)
		}
		if !paid.Before(b.read) {
			continue
		}
		wrong := faults > 0 && i%2 == 1 && paid.Before(b.until) && !paid.Before(b.from.AddDate(0, 0, -2))
		off := int64(0)
		switch {
		case wrong:
			faults--
			off = exchange(500+b.r.Int64N(9000), dollar, t.coin) * (1 - 2*b.r.Int64N(2))
		case b.r.IntN(3) == 0:
			off = tiny(t.coin) * (1 - 2*b.r.Int64N(2))
		}
		if rest := b.payout(t, paid, off); wrong {
			b.expectPayout(t, paid, rest)
		}
	}
}

// withdrawals takes some of the wallet's balances to the bank every week. They are no batch: what they pay stands nowhere.
func (b *builder) withdrawals() {
	p := b.byLabel("wallet")
	for at := b.from.Add(15 * time.Hour); at.Before(b.read); at = at.AddDate(0, 0, 7) {
		for _, c := range p.coins {
			b.serial++
			net := p.balance(c)
			b.lines = append(b.lines, &recon.Line{
				Provider: p.Provider, Type: recon.LinePayout, Word: p.words[recon.LinePayout], Movement: p.movementID(b.r, b.serial),
				Net: net.amount(-exchange(100_000+b.r.Int64N(5_000_000), dollar, net)), At: at,
			})
		}
	}
}

// payout writes the payout line of the batch: the sum of its lines, and off more or less. The firm's bank takes no more places than the
// currency has: the rest of a statement that counts finer is a rounding rest. It returns what the payout is more than the sum.
func (b *builder) payout(t *batch, at time.Time, off int64) (rest *big.Int) {
	paid := new(big.Int).Add(t.sum, big.NewInt(off))
	if places := bankPlaces(t.coin); places < t.coin.places {
		step := power(t.coin.places - places)
		paid.Quo(paid, step).Mul(paid, step)
	}
	rest = new(big.Int).Sub(paid, t.sum)
	l := &recon.Line{
		Provider: t.prov.Provider, Type: recon.LinePayout, Word: t.prov.words[recon.LinePayout], Movement: t.id, Batch: t.id, At: at, SettledAt: at,
		Net: written(new(big.Int).Neg(paid), t.coin.code, t.coin.places),
	}
	b.lines = append(b.lines, l)
	if small := exchange(1, dollar, t.coin); rest.Sign() != 0 && rest.CmpAbs(big.NewInt(max(1, small))) <= 0 && b.r.IntN(2) == 0 {
		b.lines = append(b.lines, &recon.Line{
			Provider: t.prov.Provider, Type: recon.LineRounding, Word: "rounding rest", Movement: t.id, Batch: t.id, At: at, SettledAt: at,
			Net: written(rest, t.coin.code, t.coin.places),
		})
	}
	return rest
}

// bankPlaces are the places in which a payout in the currency is paid.
func bankPlaces(c coin) int {
	switch c.code {
	case ether.code:
		return ether.places
	case yen.code:
		return yen.places
	default:
		return euro.places
	}
}

// tiny is a rounding rest of the coin.
func tiny(c coin) int64 { return max(1, exchange(1, dollar, c)/2) }

func abs(v int64) int64 { return max(v, -v) }

func sign(v int64) int64 {
	if v < 0 {
		return -1
	}
	return 1
}
