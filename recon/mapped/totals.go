package mapped

import (
	"errors"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// sums are what the rows add up to and what the totals row states.
type sums struct {
	tally  recon.Tally
	gross  []credit.Amount // one of each currency that came, for a totals row that names none
	net    []credit.Amount
	stated bool
	list   []recon.StatedTotal
}

// maxCurrencies bounds what a hostile file can make the reader hold; an export has a few.
const maxCurrencies = 200

const sumGross, sumFee, sumNet = "gross", "fees", "net"

func (s *sums) add(gross, fee, net credit.Amount) error {
	var err error
	if s.gross, err = remember(s.gross, gross); err != nil {
		return err
	}
	if s.net, err = remember(s.net, first(net, fee)); err != nil {
		return err
	}
	for _, add := range []struct {
		key string
		a   credit.Amount
	}{{sumGross, gross}, {sumFee, fee}, {sumNet, net}} {
		if err := s.tally.Add(add.key, add.a); err != nil {
			return err
		}
	}
	return nil
}

func first(amounts ...credit.Amount) credit.Amount {
	for _, a := range amounts {
		if a.IsSet() {
			return a
		}
	}
	return credit.Amount{}
}

func remember(seen []credit.Amount, a credit.Amount) ([]credit.Amount, error) {
	if !a.IsSet() {
		return seen, nil
	}
	for _, s := range seen {
		if s.Currency() == a.Currency() {
			return seen, nil
		}
	}
	if len(seen) == maxCurrencies {
		return nil, errors.New("more than 200 currencies: this is no statement")
	}
	return append(seen, a), nil
}

// takeTotals reads a totals row; its amounts stand in the columns of the rows' amounts.
func (f *file) takeTotals(r recon.Record) error {
	f.sums.stated = true
	if len(f.sums.list) > 3*maxCurrencies {
		return r.Fail("is one totals row of too many: file and config do not fit")
	}
	paid, okPaid, err := f.totalMoney(r, f.config.Currency, f.sums.gross)
	if err != nil {
		return err
	}
	got, okGot, err := f.totalMoney(r, f.config.NetCurrency, f.sums.net)
	if err != nil {
		return err
	}
	if okPaid {
		if err := f.total(r, sumGross, f.config.Gross, paid); err != nil {
			return err
		}
	}
	if !okGot {
		return nil
	}
	fee, err := f.fee(r, got)
	if err != nil {
		return err
	}
	f.state(r, sumFee, fee)
	return f.total(r, sumNet, f.config.Net, got)
}

// totalMoney is the row's own currency, else the only one of the file. Without rows there is none to name, and nothing to compare.
func (f *file) totalMoney(r recon.Record, c Currency, seen []credit.Amount) (money, bool, error) {
	if c.Fixed != "" || strings.TrimSpace(r.Text(c.Column)) != "" {
		m, err := f.money(r, c)
		return m, err == nil, err
	}
	switch len(seen) {
	case 1:
		return money{seen[0].Currency(), seen[0].Exponent()}, true, nil
	case 0:
		return money{}, false, nil
	}
	f.problems.Add(r.Row, "the totals row names no currency and the file has %d: its sums are not compared; ask the provider for an export by currency", len(seen))
	return money{}, false, nil
}

// total reads one stated sum; columns that the row leaves empty state nothing.
func (f *file) total(r recon.Record, key string, a Amount, m money) error {
	filled := false
	for _, column := range []string{a.Column, a.Credit, a.Debit} {
		filled = filled || column != "" && strings.TrimSpace(r.Text(column)) != ""
	}
	if !a.given() || !filled {
		return nil
	}
	var stated credit.Amount
	var err error
	if a.Column == "" {
		stated, err = f.pair(r, a, m, true)
	} else {
		stated, err = f.amount(r, a, m, recon.LineUnknown)
	}
	if err == nil {
		f.state(r, key, stated)
	}
	return err
}

func (f *file) state(r recon.Record, key string, stated credit.Amount) {
	if stated.IsSet() {
		name := map[string]string{sumGross: "total of gross", sumFee: "total of fees", sumNet: "total of net"}[key]
		f.sums.list = append(f.sums.list, recon.StatedTotal{Name: name, Row: r.Row, Stated: stated})
	}
}

// totals lays what was stated beside all rows, wherever the totals row stood. Both have the decimals of the currency, so no rest is rounding.
func (f *file) totals() []recon.StatedTotal {
	for i := range f.sums.list {
		t := &f.sums.list[i]
		key := map[string]string{"total of gross": sumGross, "total of fees": sumFee, "total of net": sumNet}[t.Name]
		t.Summed = f.sums.tally.Sum(key, t.Stated)
		f.problems.AddTotal(*t)
	}
	return f.sums.list
}
