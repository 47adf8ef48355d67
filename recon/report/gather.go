package report

import (
	"math/big"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// gathered is what one pass over the items amounts to. It holds no more than a bounded number of items of each class.
type gathered struct {
	loc    *time.Location
	groups map[recon.Class]*group
	ageing [4]int // differences by age: 0-1, 2-3, 4-7, 8 and more business days
	listed map[rollKey]*split
}

type group struct {
	class recon.Class
	items int
	off   sums // of what the items add, whatever the sign
	kept  []recon.Item
}

type rollKey struct {
	side               recon.Side
	provider, currency string
}

// split says what kind of items the listed sum of a roll-forward comes from.
type split struct {
	differences, waiting, tolerance credit.Amount
}

// gather ranges over the items once and keeps the first keep of each class.
func gather(d Data, keep int) (*gathered, error) {
	loc, err := d.zone()
	if err != nil {
		return nil, err
	}
	g := &gathered{loc: loc, groups: map[recon.Class]*group{}, listed: map[rollKey]*split{}}
	for item, err := range d.items() {
		if err != nil {
			return nil, err
		}
		if item.Key.Class == recon.Matched {
			continue
		}
		g.take(item, d.Run.Started, keep)
	}
	return g, nil
}

func (g *gathered) take(item recon.Item, read time.Time, keep int) {
	class := item.Key.Class
	of := g.groups[class]
	if of == nil {
		of = &group{class: class, off: sums{}}
		g.groups[class] = of
	}
	of.items++
	for _, off := range item.Offs() {
		of.off.add(absolute(off))
		if class.Rolled() {
			g.split(item, off)
		}
	}
	if len(of.kept) < keep {
		of.kept = append(of.kept, item)
	}
	if class.Difference() {
		g.ageing[bucket(age(item.At, read, g.loc))]++
	}
}

func (g *gathered) split(item recon.Item, off credit.Amount) {
	key := rollKey{item.Side, item.Provider, off.Currency()}
	of := g.listed[key]
	if of == nil {
		of = &split{}
		g.listed[key] = of
	}
	switch {
	case item.Key.Class == recon.Waiting:
		of.waiting = plus(of.waiting, off)
	case item.Key.Class.Difference():
		of.differences = plus(of.differences, off)
	default:
		of.tolerance = plus(of.tolerance, off)
	}
}

func bucket(days int) int {
	switch {
	case days <= 1:
		return 0
	case days <= 3:
		return 1
	case days <= 7:
		return 2
	default:
		return 3
	}
}

// items counts the items of a class.
func (g *gathered) items(c recon.Class) int {
	if of := g.groups[c]; of != nil {
		return of.items
	}
	return 0
}

// differences counts the items that a person must look at, with the sum of what they are off by currency, whatever the sign.
func (g *gathered) differences() (int, sums) {
	n, off := 0, sums{}
	for _, class := range recon.Classes() {
		if of := g.groups[class]; of != nil && class.Difference() {
			n += of.items
			for _, a := range of.off.list() {
				off.add(a)
			}
		}
	}
	return n, off
}

// forward is a roll-forward with the differences that it comes to.
type forward struct {
	recon.Roll
	AtOpening, Change, AtClosing credit.Amount // theirs minus ours
	Sum                          credit.Amount // of the items that this report lists
	Unexplained                  credit.Amount // of the difference at closing, what these items do not explain
	Split                        split
}

func (g *gathered) forwards(rolls []recon.Roll) []forward {
	out := make([]forward, 0, len(rolls))
	for _, r := range rolls {
		f := forward{Roll: r, AtOpening: minus(r.Theirs.Opening, r.Ours.Opening), AtClosing: minus(r.Theirs.Closing, r.Ours.Closing)}
		f.Change = minus(f.AtClosing, f.AtOpening)
		f.Sum = minus(r.Listed, r.Listed) // 0 in the currency
		if s := g.listed[rollKey{r.Side, r.Provider, r.Currency}]; s != nil {
			f.Split = *s
			f.Sum = plus(plus(plus(f.Sum, s.differences), s.waiting), s.tolerance)
		}
		f.Unexplained = minus(f.AtClosing, f.Sum)
		out = append(out, f)
	}
	return out
}

// part is how much of the whole a value is, on a scale of whole steps; 0 of nothing.
func part(value, whole *big.Int, steps int64) int64 {
	if whole.Sign() <= 0 {
		return 0
	}
	v := new(big.Int).Mul(value, big.NewInt(steps))
	return v.Quo(v, whole).Int64()
}
