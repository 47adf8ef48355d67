package paypal

import (
	"math/big"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// exponent is the same for every currency: the files count hundredths, of yen too.
const exponent = 2

// hundredths reads an unsigned whole number of them. A point, a sign or a blank means that the file is not PayPal's, or was edited: "12.50"
// is either 12 or 1,250.
func hundredths(text, currency string) (credit.Amount, bool) {
	if text == "" || len(text) > 40 || strings.Trim(text, "0123456789") != "" {
		return credit.Amount{}, false
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return credit.Amount{}, false
	}
	a, err := credit.NewAmount(n, currency, exponent)
	return a, err == nil
}

// signed reads an amount with its side: CR comes in, DR goes out.
func signed(r recon.Record, column, sideColumn, currencyColumn string) (credit.Amount, error) {
	a, ok := hundredths(r.Text(column), strings.Clone(r.Text(currencyColumn)))
	if !ok {
		return credit.Amount{}, r.Fail("columns %q and %q are no whole number of hundredths with a currency: the file was changed; get it again", column, currencyColumn)
	}
	switch r.Text(sideColumn) {
	case "CR":
		return a, nil
	case "DR":
		return a.Neg(), nil
	}
	return credit.Amount{}, r.Fail("column %q is neither CR nor DR: nobody can say where the money went", sideColumn)
}

// amounts reads gross and fee; net is their sum.
func (f *file) amounts(r recon.Record, line *recon.Line) (err error) {
	if line.Gross, err = signed(r, colGross, colSide, colGrossIn); err != nil {
		return err
	}
	line.Net = line.Gross
	if r.Text(colFee) == "" && r.Text(colFeeSide) == "" {
		return nil
	}
	if line.Fee, err = signed(r, colFee, colFeeSide, colFeeIn); err != nil {
		return err
	}
	if line.Fee.Currency() != line.Gross.Currency() {
		return r.Fail("has a fee in another currency (%s) than its amount (%s): no net can be computed; ask PayPal", line.Fee.Currency(), line.Gross.Currency())
	}
	if line.Net, err = line.Gross.Add(line.Fee); err != nil {
		return r.Fail("cannot be added up")
	}
	return nil
}
