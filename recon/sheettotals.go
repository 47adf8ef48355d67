package recon

import (
	"fmt"

	"creditonce/credit"
)

// Tally adds up a statement's lines under the reader's own keys (a batch, "gross credits"), each key by currency, so that the sums can be
// laid beside those that the statement states. The zero value is ready; it is used by one goroutine.
type Tally struct {
	sums map[tallyKey]credit.Amount
}

type tallyKey struct{ key, currency string }

// maxTally bounds what a hostile file can make a tally hold.
const maxTally = 20_000

// Add adds an amount; an unset one adds nothing. It returns credit.ErrInvalid for two exponents of one currency and for more than 20,000
// sums.
func (t *Tally) Add(key string, a credit.Amount) error {
	if !a.IsSet() {
		return nil
	}
	at := tallyKey{key, a.Currency()}
	sum, known := t.sums[at]
	if !known && len(t.sums) >= maxTally {
		return fmt.Errorf("add up %q: more than %d sums: %w", clip(key), maxTally, credit.ErrInvalid)
	}
	sum, err := sum.Add(a)
	if err != nil {
		return fmt.Errorf("add up %q: %w", clip(key), err)
	}
	if t.sums == nil {
		t.sums = map[tallyKey]credit.Amount{}
	}
	t.sums[at] = sum
	return nil
}

// Sum is what was added under the key in the currency of like: 0 of that currency where nothing was.
func (t *Tally) Sum(key string, like credit.Amount) credit.Amount {
	if sum, known := t.sums[tallyKey{key, like.Currency()}]; known {
		return sum
	}
	zero, err := credit.Minor(0, like.Currency(), like.Exponent())
	if err != nil {
		return credit.Amount{} // like has no currency: there is nothing to compare
	}
	return zero
}

// Problems collects the rows that a person must look at, at most 200 of them; of the others it says how many there are. The zero value is
// ready.
type Problems struct {
	list []Problem
	more int
	row  int
}

const maxProblems = 200

// Add notes a problem. The text says what is wrong and what to do, without personal data.
func (p *Problems) Add(row int, format string, args ...any) {
	if len(p.list) == maxProblems {
		if p.more++; p.more == 1 {
			p.row = row
		}
		return
	}
	p.list = append(p.list, Problem{Row: row, Text: fmt.Sprintf(format, args...)})
}

// AddTotal notes a total that disagrees with its lines; one that agrees is no problem.
func (p *Problems) AddTotal(t StatedTotal) {
	if t.Agrees() {
		return
	}
	off, err := t.Summed.Neg().Add(t.Stated)
	if err != nil { // two currencies or exponents: both values say enough
		p.Add(t.Row, "%s: the file states %s, its rows sum up to %s", t.Name, t.Stated, t.Summed)
		return
	}
	p.Add(t.Row, "%s: the file states %s, its rows sum up to %s: %s more or less; rows are missing, doubled or changed. Get the file again, and ask the provider if it stays", t.Name, t.Stated, t.Summed, off)
}

// List is what was noted, in that order.
func (p *Problems) List() []Problem {
	if p.more == 0 {
		return p.list
	}
	return append(p.list[:maxProblems:maxProblems], Problem{Row: p.row, Text: fmt.Sprintf("%d more rows from here on have a problem", p.more)})
}
