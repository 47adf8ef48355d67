package paypal

import (
	"fmt"

	"creditonce/credit"
	"creditonce/recon"
)

// The sums that a footer states of one currency, and one more: withdrawals, which one footer that was seen leaves out of its debits.
const (
	grossCredits = "gross credits"
	grossDebits  = "gross debits"
	feeCredits   = "fee credits"
	feeDebits    = "fee debits"
	withdrawals  = "withdrawals"
)

// sums are what the rows of a section, or of the report, add up to; all unsigned, as in the file.
type sums struct {
	recon.Tally
	rows       int
	currencies map[string]bool // that have rows; false: and no footer yet
	order      []string
}

func newSums() *sums { return &sums{currencies: map[string]bool{}} }

// mostCurrencies bounds what a hostile file can make the reader hold.
const mostCurrencies = 500

func (s *sums) add(gross, fee credit.Amount, withdrawal bool) error {
	s.rows++
	if _, known := s.currencies[gross.Currency()]; !known {
		if len(s.order) >= mostCurrencies {
			return fmt.Errorf("more than %d currencies: %w", mostCurrencies, credit.ErrInvalid)
		}
		s.currencies[gross.Currency()] = false
		s.order = append(s.order, gross.Currency())
	}
	for _, one := range []struct {
		in, out string
		amount  credit.Amount
	}{{grossCredits, grossDebits, gross}, {feeCredits, feeDebits, fee}} {
		key, a := one.in, one.amount
		if a.Sign() < 0 {
			key, a = one.out, a.Neg()
		}
		if err := s.Add(key, a); err != nil {
			return err
		}
	}
	if withdrawal {
		return s.Add(withdrawals, gross.Neg())
	}
	return nil
}

// count adds the row to its section and to the report.
func (f *file) count(r recon.Record, gross, fee credit.Amount, withdrawal bool) error {
	for _, s := range []*sums{f.section.sums, f.report} {
		if err := s.add(gross, fee, withdrawal); err != nil {
			return r.Fail("cannot be added up: %s", err)
		}
	}
	return nil
}

// stated lays the four totals of a footer beside the sums. PayPal's files do not name these fields. Gross credits and debits are certain;
// of the fees the files that were seen have debits first, so where the sums fit the other order they are taken to be in that.
func (s *sums) stated(name string, row int, of [4]credit.Amount) []recon.StatedTotal {
	sum := func(key string) credit.Amount { return s.Sum(key, of[0]) }
	first, second := feeDebits, feeCredits
	if of[2].Equal(sum(feeCredits)) && of[3].Equal(sum(feeDebits)) {
		first, second = second, first
	}
	debits := sum(grossDebits)
	if less, err := debits.Add(sum(withdrawals).Neg()); err == nil && of[1].Equal(less) {
		debits = less
	}
	total := func(key string, stated, summed credit.Amount) recon.StatedTotal {
		return recon.StatedTotal{Name: fmt.Sprintf("%s, %s %s", name, stated.Currency(), key), Row: row, Stated: stated, Summed: summed}
	}
	return []recon.StatedTotal{
		total(grossCredits, of[0], sum(grossCredits)), total(grossDebits, of[1], debits),
		total(first, of[2], sum(first)), total(second, of[3], sum(second)),
	}
}
