package recon

import (
	"fmt"
	"iter"
	"strings"
)

// batchesInMemory is how many batches are summed up in memory; with more the sums so far are sorted aside and added up at the end.
const batchesInMemory = 100_000

// batches sum up what each payout should be: the net of all lines of its batch, the rounding rest included.
type batches struct {
	open   map[batchKey]*batch
	packer *packer
	spool  *spool
	key    []byte
}

type batchKey struct{ kind, account, batch, currency string }

// batch is one currency of a batch, or a part of it.
type batch struct {
	batchKey
	label   string
	sum     money // of all lines but the payouts
	lines   int
	payouts []Line
}

func newBatches(in *Sorted) *batches {
	b := &batches{open: map[batchKey]*batch{}, spool: in.spool()}
	b.packer = b.spool.packer()
	return b
}

// add counts a line of a batch; one without a net amount counts with its gross.
func (b *batches) add(l *Line) error {
	if l.Batch == "" {
		return nil
	}
	net := moneyOf(l.Net)
	if !net.set {
		net = moneyOf(l.Gross)
	}
	if !net.set {
		return nil
	}
	k := batchKey{l.Provider.Kind, l.Provider.Account, l.Batch, net.currency}
	of := b.open[k]
	if of == nil {
		if len(b.open) == batchesInMemory {
			if err := b.flush(); err != nil {
				return err
			}
		}
		of = &batch{batchKey: k, label: l.Provider.Label}
		b.open[k] = of
	}
	of.label = min(of.label, l.Provider.Label)
	if l.Type == LinePayout {
		of.payouts = append(of.payouts, *l)
		return nil
	}
	of.sum = of.sum.plus(net)
	of.lines++
	return nil
}

// flush sorts the sums aside. The order in which the map gives them is of no consequence.
func (b *batches) flush() error {
	for k, of := range b.open {
		b.key = appendKey(appendKey(appendKey(appendKey(b.key[:0], k.kind), k.account), k.batch), k.currency)
		p := b.packer
		p.buf = p.buf[:0]
		for _, s := range []string{k.kind, k.account} {
			p.word(s)
		}
		p.text(k.batch)
		p.word(k.currency)
		p.word(of.label)
		p.money(of.sum)
		p.number(uint64(of.lines))
		p.number(uint64(len(of.payouts)))
		for i := range of.payouts {
			p.line(&of.payouts[i])
		}
		if err := b.spool.put(b.key, p.buf); err != nil {
			return err
		}
	}
	clear(b.open)
	return nil
}

func (u *unpacker) batch() batch {
	out := batch{batchKey: batchKey{u.word(), u.word(), u.text(), u.word()}, label: u.word(), sum: u.money(), lines: int(u.number())}
	for range u.count() {
		out.payouts = append(out.payouts, u.line())
	}
	return out
}

// whole yields each currency of each batch once, sorted.
func (b *batches) whole() iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		if err := b.flush(); err != nil {
			yield(batch{}, err)
			return
		}
		var now batch
		for part, err := range ahead(b.spool, (*unpacker).batch) {
			if err != nil {
				yield(batch{}, err)
				return
			}
			if part.batchKey == now.batchKey {
				now.sum, now.lines = now.sum.plus(part.sum), now.lines+part.lines
				now.payouts = append(now.payouts, part.payouts...)
				now.label = min(now.label, part.label)
				continue
			}
			if now.batch != "" && !yield(now, nil) {
				return
			}
			now = part
		}
		if now.batch != "" {
			yield(now, nil)
		}
	}
}

// tellPayouts compares each payout with the lines of its batch.
func (m *matcher) tellPayouts() error {
	last := batchKey{}
	for b, err := range m.batches.whole() {
		if err != nil {
			return err
		}
		again := b.kind == last.kind && b.account == last.account && b.batch == last.batch
		last = b.batchKey
		if err := m.tellPayout(&b, again); err != nil {
			return err
		}
	}
	return nil
}

// tellPayout emits an item where the payouts are not what the lines sum up to. A payout that came back may be money again, or stand for a
// balance that the firm paid up: the batch agrees where either does.
func (m *matcher) tellPayout(b *batch, again bool) error {
	if len(b.payouts) == 0 {
		return nil
	}
	sortLines(b.payouts)
	all, left := b.sum, b.sum
	var out money
	for i := range b.payouts {
		v := moneyOf(b.payouts[i].Net)
		if !v.set {
			v = moneyOf(b.payouts[i].Gross)
		}
		all, out = all.plus(v), out.plus(v)
		if v.sign() < 0 {
			left = left.plus(v)
		}
	}
	limit := m.rounding[b.currency]
	at := momentOf(b.payouts)
	if !m.counted(at) {
		return nil
	}
	if all.within(limit) || left.within(limit) {
		if !all.within(limit) {
			all = left
		}
		if !at.Before(m.rules.From) {
			m.rest(b.label, all.neg())
		}
		return nil
	}
	entity := strings.Join([]string{"payout", escape.Replace(b.kind), escape.Replace(b.account), escape.Replace(b.batch)}, "/")
	if again {
		entity += "/" + b.currency
	}
	why := fmt.Sprintf("the payout is %s, the %d lines of its batch sum up to %s, which leaves %s", out.neg(), b.lines, b.sum, all)
	if b.lines == 0 {
		why = fmt.Sprintf("the payout is %s, and no line of its batch is in a statement", out.neg())
	}
	return m.emit(Item{
		Key: Key{Class: PayoutDifference, Entity: entity}, Side: SideProvider, Provider: b.label, Lines: b.payouts, At: at, Why: why,
	}, sums{all})
}
