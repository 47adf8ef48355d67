package recon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"time"

	"creditonce/credit"
)

// The three lists lie on disk in a form of their own: no names of fields, words that repeat once only, amounts of any size. It is written
// and read by one run of one process, so it has no version.

// errPacked says that what was read from disk is not what was written.
var errPacked = errors.New("a temporary list is damaged")

// The dictionary takes this many words, none longer; others stand in the records themselves.
const (
	mostWords   = 1 << 14
	longestWord = 64
)

// dictionary numbers the words that repeat in a list. It grows while the list is written and is only read afterwards.
type dictionary struct {
	numbers map[string]uint64
	words   []string
}

func newDictionary() *dictionary { return &dictionary{numbers: map[string]uint64{}} }

// number of the word, from 1; 0 where it must stand in the record.
func (d *dictionary) number(word string) uint64 {
	if n, ok := d.numbers[word]; ok {
		return n
	}
	if len(d.words) == mostWords || len(word) > longestWord {
		return 0
	}
	d.words = append(d.words, word)
	d.numbers[word] = uint64(len(d.words))
	return uint64(len(d.words))
}

// packer appends values to a record. Its buffer is the caller's to read until the next record.
type packer struct {
	buf   []byte
	words *dictionary
}

func (p *packer) number(v uint64) { p.buf = binary.AppendUvarint(p.buf, v) }
func (p *packer) signed(v int64)  { p.buf = binary.AppendVarint(p.buf, v) }

func (p *packer) text(s string) {
	p.number(uint64(len(s)))
	p.buf = append(p.buf, s...)
}

// word writes a text that probably repeats.
func (p *packer) word(s string) {
	n := p.words.number(s)
	p.number(n)
	if n == 0 {
		p.text(s)
	}
}

func (p *packer) time(t time.Time) {
	if t.IsZero() {
		p.buf = append(p.buf, 0)
		return
	}
	p.buf = append(p.buf, 1)
	p.signed(t.Unix())
	p.number(uint64(t.Nanosecond()))
}

// How an amount lies in a record.
const (
	amountUnset = iota
	amountSmall
	amountBig
	amountBigNegative
)

func (p *packer) money(m money) {
	switch {
	case !m.set:
		p.buf = append(p.buf, amountUnset)
		return
	case m.big == nil:
		p.buf = append(p.buf, amountSmall, byte(m.exponent))
		p.signed(m.small)
	case m.big.Sign() < 0:
		p.buf = append(p.buf, amountBigNegative, byte(m.exponent))
		p.text(string(m.big.Bytes()))
	default:
		p.buf = append(p.buf, amountBig, byte(m.exponent))
		p.text(string(m.big.Bytes()))
	}
	p.word(m.currency)
}

func (p *packer) amount(a credit.Amount) { p.money(moneyOf(a)) }

// unpacker reads a record back. Its texts share the record's memory. The first error stays.
type unpacker struct {
	rest  string
	words []string
	err   error
}

func (u *unpacker) fail() {
	if u.err == nil {
		u.err = errPacked
	}
	u.rest = ""
}

func (u *unpacker) number() uint64 {
	var v uint64
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		b := u.rest[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.rest = u.rest[i+1:]
			return v
		}
	}
	u.fail()
	return 0
}

func (u *unpacker) signed() int64 {
	v := u.number()
	return int64(v>>1) ^ -int64(v&1)
}

func (u *unpacker) byte() byte {
	if u.rest == "" {
		u.fail()
		return 0
	}
	b := u.rest[0]
	u.rest = u.rest[1:]
	return b
}

func (u *unpacker) text() string {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.fail()
		return ""
	}
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

func (u *unpacker) word() string {
	n := u.number()
	switch {
	case n == 0:
		return u.text()
	case n > uint64(len(u.words)):
		u.fail()
		return ""
	}
	return u.words[n-1]
}

func (u *unpacker) time() time.Time {
	if u.byte() == 0 {
		return time.Time{}
	}
	seconds := u.signed()
	return time.Unix(seconds, int64(u.number())).UTC()
}

func (u *unpacker) money() money {
	form := u.byte()
	if form == amountUnset {
		return money{}
	}
	m := money{set: true, exponent: int(u.byte())}
	switch form {
	case amountSmall:
		m.small = u.signed()
	case amountBig, amountBigNegative:
		v := new(big.Int).SetBytes([]byte(u.text()))
		if form == amountBigNegative {
			v.Neg(v)
		}
		m = m.with(v)
	default:
		u.fail()
	}
	m.currency = u.word()
	return m
}

func (u *unpacker) amount() credit.Amount {
	a, err := u.money().amount()
	if err != nil && u.err == nil {
		u.err = fmt.Errorf("%w: %w", errPacked, err)
	}
	return a
}

// count reads the length of a list whose elements take at least a byte each.
func (u *unpacker) count() int {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.fail()
		return 0
	}
	return int(n)
}

func (p *packer) line(l *Line) {
	p.word(l.Provider.Label)
	p.word(l.Provider.Kind)
	p.word(l.Provider.Account)
	p.word(l.Digest)
	p.signed(int64(l.Row))
	p.word(string(l.Type))
	p.word(l.Word)
	p.text(l.Payment)
	p.text(l.Movement)
	p.text(l.Code)
	p.word(l.Batch)
	p.amount(l.Gross)
	p.amount(l.Fee)
	p.amount(l.Net)
	p.time(l.At)
	p.time(l.SettledAt)
}

func (u *unpacker) line() Line {
	return Line{
		Provider: Provider{Label: u.word(), Kind: u.word(), Account: u.word()},
		Digest:   u.word(), Row: int(u.signed()), Type: LineType(u.word()), Word: u.word(),
		Payment: u.text(), Movement: u.text(), Code: u.text(), Batch: u.word(),
		Gross: u.amount(), Fee: u.amount(), Net: u.amount(), At: u.time(), SettledAt: u.time(),
	}
}

func (p *packer) row(r *Row) {
	p.number(uint64(r.ID))
	p.word(string(r.Kind))
	p.word(r.Unit.ProviderKind)
	p.word(r.Unit.Account)
	p.text(r.Unit.Payment)
	p.text(r.Unit.Part)
	p.word(string(r.State))
	p.word(r.Provider)
	p.amount(r.Paid)
	p.time(r.PaidAt)
	p.text(r.Code)
	p.word(r.Server)
	p.word(r.Identity)
	p.number(r.Login)
	p.amount(r.Amount)
	p.text(string(r.Reference))
	p.number(r.Ticket)
	p.time(r.ClaimedAt)
	p.time(r.Trace)
	p.time(r.UpdatedAt)
	before := uint64(0)
	if r.Before {
		before = 1
	}
	p.number(before)
	p.number(uint64(len(r.NotDeals)))
	for _, ticket := range r.NotDeals {
		p.number(ticket)
	}
}

func (u *unpacker) row() Row {
	r := Row{
		ID: credit.ID(u.number()), Kind: credit.Kind(u.word()),
		Unit:  credit.Unit{ProviderKind: u.word(), Account: u.word(), Payment: u.text(), Part: u.text()},
		State: credit.State(u.word()), Provider: u.word(), Paid: u.amount(), PaidAt: u.time(), Code: u.text(),
		Server: u.word(), Identity: u.word(), Login: u.number(), Amount: u.amount(), Reference: credit.Reference(u.text()),
		Ticket: u.number(), ClaimedAt: u.time(), Trace: u.time(), UpdatedAt: u.time(), Before: u.number() == 1,
	}
	if n := u.count(); n > 0 {
		r.NotDeals = make([]uint64, n)
		for i := range r.NotDeals {
			r.NotDeals[i] = u.number()
		}
	}
	return r
}

func (p *packer) deal(d *Deal) {
	p.number(d.Ticket)
	p.number(d.Login)
	p.signed(int64(d.Action))
	p.amount(d.Amount)
	p.text(d.Comment)
	p.number(d.Dealer)
	p.signed(d.ServerTime)
	p.word(d.Server)
	p.word(d.Identity)
	p.time(d.At)
}

func (u *unpacker) deal() Deal {
	return Deal{
		Deal: credit.Deal{
			Ticket: u.number(), Login: u.number(), Action: int(u.signed()), Amount: u.amount(), Comment: u.text(), Dealer: u.number(),
			ServerTime: u.signed(),
		},
		Server: u.word(), Identity: u.word(), At: u.time(),
	}
}
