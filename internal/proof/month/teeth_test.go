package month

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"creditonce/credit"
	"creditonce/recon"
)

// lists are the three lists of a month, with one entry changed.
type lists struct {
	lines []recon.Line
	rows  []recon.Row
	deals []recon.Deal
}

// biased is the amount with a hundredth of it more.
func biased(a credit.Amount) credit.Amount {
	v := a.Units()
	v.Add(v, new(big.Int).Add(new(big.Int).Div(v, big.NewInt(100)), big.NewInt(5_000_000_000*power10(a)+5)))
	return written(v, a.Currency(), a.Exponent())
}

// power10 is 1 for a currency that counts in so small parts that a few of them are within the tolerance, else 0.
func power10(a credit.Amount) int64 {
	if a.Currency() == ether.code {
		return 1
	}
	return 0
}

// spoils are ways in which one entry of the lists is not what it was.
var spoils = map[string]func(*rand.Rand, *lists){
	"a payment line is lost": func(r *rand.Rand, l *lists) {
		l.lines = without(l.lines, pick(r, l.lines, func(x recon.Line) bool { return x.Type == recon.LinePayment }))
	},
	"a line leaves its batch": func(r *rand.Rand, l *lists) {
		i := pick(r, l.lines, func(x recon.Line) bool { return x.Type == recon.LinePayment && x.Batch != "" })
		l.lines[i].Batch = "another"
	},
	"a payment line has another amount": func(r *rand.Rand, l *lists) {
		i := pick(r, l.lines, func(x recon.Line) bool { return x.Type == recon.LinePayment })
		l.lines[i].Gross = biased(l.lines[i].Gross)
	},
	"a payment line has another payment": func(r *rand.Rand, l *lists) {
		i := pick(r, l.lines, func(x recon.Line) bool { return x.Type == recon.LinePayment })
		l.lines[i].Payment, l.lines[i].Code = "pay_nobodys", ""
	},
	"a row is lost": func(r *rand.Rand, l *lists) {
		l.rows = without(l.rows, pick(r, l.rows, func(x recon.Row) bool { return x.State == credit.Done && x.Identity != identities[oldServer].identity }))
	},
	"a row is not done": func(r *rand.Rand, l *lists) {
		i := pick(r, l.rows, func(x recon.Row) bool { return x.State == credit.Done && x.Identity != identities[oldServer].identity })
		l.rows[i].State = credit.Cancelled
	},
	"a deal is lost": func(r *rand.Rand, l *lists) {
		l.deals = without(l.deals, pick(r, l.deals, func(x recon.Deal) bool { return x.Action == 2 }))
	},
	"a deal has another amount": func(r *rand.Rand, l *lists) {
		i := pick(r, l.deals, func(x recon.Deal) bool { return x.Action == 2 })
		l.deals[i].Amount = biased(l.deals[i].Amount)
	},
	"a deal is there twice": func(r *rand.Rand, l *lists) {
		d := l.deals[pick(r, l.deals, func(x recon.Deal) bool { return x.Action == 2 })]
		d.Ticket += 1_000_000
		l.deals = append(l.deals, d)
	},
	"a deal is on another login": func(r *rand.Rand, l *lists) {
		i := pick(r, l.deals, func(x recon.Deal) bool { return x.Action == 2 && credit.Reference(x.Comment).Valid() })
		l.deals[i].Login++
	},
}

// pick draws one entry that fits.
func pick[T any](r *rand.Rand, of []T, fits func(T) bool) int {
	for {
		if i := r.IntN(len(of)); fits(of[i]) {
			return i
		}
	}
}

func without[T any](of []T, i int) []T { return slices.Delete(of, i, i+1) }

// The judge would see it if a comparison went wrong: where one entry of the lists is not what the month made, it complains.
func TestTruth_HasTeeth(t *testing.T) {
	t.Parallel()
	m := made(small(2, Spring))
	early := func(at int64) bool { return at < m.Rules.Until.Unix()-12*24*3600 && at > m.Rules.From.Unix() }
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				l := &lists{}
				late := lists{}
				for _, x := range m.Lines {
					split(early(x.At.Unix()), x, &l.lines, &late.lines)
				}
				for _, x := range m.Rows {
					split(early(x.PaidAt.Unix()), x, &l.rows, &late.rows)
				}
				for _, x := range m.Deals {
					split(early(x.At.Unix()), x, &l.deals, &late.deals)
				}
				spoil(rand.New(rand.NewPCG(seed, 4)), l)
				got := compare(t, m.Rules, append(l.lines, late.lines...), append(l.rows, late.rows...), append(l.deals, late.deals...))
				if c := judge(m, m.Rules, got); len(c.kinds) == 0 {
					t.Errorf("seed %d: nobody complains", seed)
				}
			}
		})
	}
}

func split[T any](first bool, x T, a, b *[]T) {
	if first {
		*a = append(*a, x)
	} else {
		*b = append(*b, x)
	}
}
