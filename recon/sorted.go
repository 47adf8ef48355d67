package recon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"os"
	"slices"
	"strings"

	"creditonce/credit"
)

// Compare spools the three lists in a folder of its own under dir (empty: the system's), which it removes, sorts them and matches them. The
// lists come in any order and are read one after the other. emit gets every item, matched ones too, in an order that depends on the lists
// alone. An error of a list, of emit or of the disk ends it with that error; what was emitted before is then worth nothing.
func Compare(
	ctx context.Context, dir string, rules Rules, lines iter.Seq2[Line, error], rows iter.Seq2[Row, error], deals iter.Seq2[Deal, error],
	emit func(Item) error,
) (out Outcome, err error) {
	sorted, err := Sort(ctx, dir, lines, rows, deals)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	return Match(ctx, rules, sorted, emit)
}

// Sorted are the three lists in the orders in which [Match] reads them: lines by (provider kind, account, payment), rows and deals by (MT5
// server's own name, reference). They lie in temporary files, and are matched once. Close must be called.
type Sorted struct {
	ctx    context.Context
	dir    string // ours
	made   string // a parent that was made for it, or empty
	memory int    // of each list while it is sorted
	spools []*spool

	lines, rows, deals *spool

	tickets sieve // of every deal
	suspect sieve // logins with a deal whose comment may be a damaged reference
	codes   sieve // of every line
}

// Sort reads the three lists, one after the other, and sorts them under dir; see [Compare].
func Sort(
	ctx context.Context, dir string, lines iter.Seq2[Line, error], rows iter.Seq2[Row, error], deals iter.Seq2[Deal, error],
) (*Sorted, error) {
	return sortWith(ctx, dir, spoolMemory, lines, rows, deals)
}

func sortWith(
	ctx context.Context, dir string, memory int, lines iter.Seq2[Line, error], rows iter.Seq2[Row, error], deals iter.Seq2[Deal, error],
) (*Sorted, error) {
	size := bits.Len(uint(memory)) - 1
	s := &Sorted{ctx: ctx, memory: memory, tickets: newSieve(min(24, size)), suspect: newSieve(min(20, size)), codes: newSieve(min(23, size))}
	if err := s.makeFolder(dir); err != nil {
		return nil, err
	}
	s.lines, s.rows, s.deals = s.spool(), s.spool(), s.spool()
	if err := s.read(lines, rows, deals); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Sorted) makeFolder(dir string) error {
	if dir == "" {
		dir = os.TempDir()
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		s.made = dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for the sorted lists: %w", err)
	}
	made, err := os.MkdirTemp(dir, "recon-")
	if err != nil {
		return fmt.Errorf("make the folder for the sorted lists under %s: %w", dir, err)
	}
	s.dir = made
	return nil
}

func (s *Sorted) spool() *spool {
	out := newSpool(s.ctx, s.dir, s.memory)
	s.spools = append(s.spools, out)
	return out
}

// Close removes everything that Sort and Match put on the disk. It may be called twice.
func (s *Sorted) Close() error {
	var errs []error
	for _, sp := range s.spools {
		errs = append(errs, sp.close())
	}
	s.spools = nil
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	if s.made != "" {
		_ = os.Remove(s.made) // it stays where somebody put something into it
	}
	s.dir, s.made = "", ""
	return errors.Join(errs...)
}

func (s *Sorted) read(lines iter.Seq2[Line, error], rows iter.Seq2[Row, error], deals iter.Seq2[Deal, error]) error {
	var key []byte
	err := fillSpool(s.lines, lines, func(p *packer, l *Line) []byte {
		if l.Code != "" {
			s.codes.add(codeHash(l.Provider.Kind, l.Provider.Account, l.Code))
		}
		p.line(l)
		key = lineKey(key[:0], l)
		return key
	})
	if err != nil {
		return err
	}
	err = fillSpool(s.rows, rows, func(p *packer, r *Row) []byte {
		p.row(r)
		key = rowKey(key[:0], r)
		return key
	})
	if err != nil {
		return err
	}
	return fillSpool(s.deals, deals, func(p *packer, d *Deal) []byte {
		s.tickets.add(ticketHash(d.Identity, d.Ticket))
		reference := referenceOf(d)
		if reference == "" && suspicious(d) {
			s.suspect.add(ticketHash(d.Identity, d.Login))
		}
		p.marked(d, reference != "")
		key = appendKeyNumber(appendKey(appendKey(key[:0], d.Identity), string(reference)), d.Ticket)
		return key
	})
}

// fillSpool puts a list into the spool; pack writes the value and returns the key.
func fillSpool[T any](s *spool, list iter.Seq2[T, error], pack func(*packer, *T) []byte) error {
	p := s.packer()
	for v, err := range list {
		if err != nil {
			return err
		}
		p.buf = p.buf[:0]
		key := pack(p, &v)
		if err := s.put(key, p.buf); err != nil {
			return err
		}
	}
	return nil
}

// lineKey brings the lines of a payment together. Lines of no payment stay alone, each where it stands in its statement.
func lineKey(key []byte, l *Line) []byte {
	key = appendKey(appendKey(appendKey(key, l.Provider.Kind), l.Provider.Account), l.Payment)
	if l.Payment == "" {
		key = appendKeyNumber(appendKey(key, l.Digest), uint64(l.Row))
	}
	return key
}

func rowKey(key []byte, r *Row) []byte {
	return appendKeyNumber(appendKey(appendKey(key, r.Identity), string(r.Reference)), uint64(r.ID))
}

// marked is a deal with the whole reference that it carries; empty where its comment is none.
type marked struct {
	Deal
	reference credit.Reference
}

func (p *packer) marked(d *Deal, mark bool) {
	if mark {
		p.number(1)
	} else {
		p.number(0)
	}
	p.deal(d)
}

func (u *unpacker) marked() marked {
	mark := u.number() == 1
	m := marked{Deal: u.deal()}
	if mark {
		m.reference = credit.Reference(m.Comment)
	}
	return m
}

// referenceOf is the whole reference that the deal carries; empty where its comment is none.
func referenceOf(d *Deal) credit.Reference {
	if r := credit.Reference(d.Comment); r.Valid() {
		return r
	}
	return ""
}

// cursor reads a sequence with a look at what comes next.
type cursor[T any] struct {
	head T
	ok   bool
	err  error
	next func() (T, error, bool)
	stop func()
}

func newCursor[T any](seq iter.Seq2[T, error]) *cursor[T] {
	c := &cursor[T]{}
	c.next, c.stop = iter.Pull2(seq)
	c.advance()
	return c
}

func (c *cursor[T]) advance() {
	var err error
	if c.head, err, c.ok = c.next(); err != nil {
		c.err, c.ok = err, false
	}
}

// mostTogether is how many lines, rows or deals may have one key: more are no payment, but a column that does not say which payment it is.
const mostTogether = 100_000

// take reads the values that belong together, from the head on.
func (c *cursor[T]) take(into []T, together func(T) bool, what func() string) ([]T, error) {
	return c.takeAtMost(mostTogether, into, together, what)
}

func (c *cursor[T]) takeAtMost(most int, into []T, together func(T) bool, what func() string) ([]T, error) {
	for c.ok && together(c.head) {
		if len(into) == most {
			return nil, fmt.Errorf("compare the lists: more than %d entries of %s: %w", most, what(), credit.ErrInvalid)
		}
		into = append(into, c.head)
		c.advance()
	}
	return into, c.err
}

// sieve tells what is certainly not in a set. It answers alike in every run: no seed is in it.
type sieve []uint64

func newSieve(size int) sieve { return make(sieve, 1<<(max(size, 6)-6)) } // 2^size bits

func (s sieve) add(hash uint64) {
	i := hash % uint64(len(s)*64)
	s[i/64] |= 1 << (i % 64)
}

func (s sieve) may(hash uint64) bool {
	i := hash % uint64(len(s)*64)
	return s[i/64]>>(i%64)&1 == 1
}

const (
	hashStart = 0xcbf29ce484222325
	hashPrime = 0x100000001b3
)

func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return (h ^ 0xff) * hashPrime
}

// spread brings all bits of a hash into the low ones, which a sieve uses.
func spread(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func ticketHash(identity string, number uint64) uint64 {
	return spread((hashText(hashStart, identity) ^ number) * hashPrime)
}

func codeHash(kind, account, code string) uint64 {
	return spread(hashText(hashText(hashText(hashStart, kind), account), code))
}

// byLine puts the lines of a payment into an order that depends on nothing but them.
func byLine(a, b Line) int {
	return cmp.Or(
		a.At.Compare(b.At), strings.Compare(a.Digest, b.Digest), cmp.Compare(a.Row, b.Row), strings.Compare(string(a.Type), string(b.Type)),
		strings.Compare(a.Movement, b.Movement), strings.Compare(a.Word, b.Word), strings.Compare(a.Code, b.Code), strings.Compare(a.Batch, b.Batch),
		a.SettledAt.Compare(b.SettledAt), byAmount(a.Gross, b.Gross), byAmount(a.Net, b.Net), byAmount(a.Fee, b.Fee),
		strings.Compare(a.Provider.Label, b.Provider.Label),
	)
}

func byAmount(a, b credit.Amount) int {
	return cmp.Or(strings.Compare(a.Currency(), b.Currency()), cmp.Compare(a.Exponent(), b.Exponent()), a.Units().Cmp(b.Units()))
}

func sortLines(lines []Line) {
	if len(lines) > 1 {
		slices.SortStableFunc(lines, byLine)
	}
}
