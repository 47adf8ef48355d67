package recon

import (
	"math/big"

	"creditonce/credit"
)

// AddUnknown notes a row whose type the reader does not know, and the firm did not name either: its line is a LineUnknown. what is the
// name of the column.
func (p *Problems) AddUnknown(row int, what, word string) {
	p.Add(row, "the %s %q is not known: the row counts nowhere until row_types in the config says what it is; ask the provider", what, clip(word))
}

// WordType is what a row of the provider's word is: by the reader's table, else by the firm's own answer. False, with LineUnknown: nobody
// said.
func WordType(word string, table, firm map[string]LineType) (LineType, bool) {
	if t, ok := table[word]; ok {
		return t, true
	}
	if t, ok := firm[word]; ok {
		return t, true
	}
	return LineUnknown, false
}

// Shape puts the facts where the line's type has them: of a fee the whole row is cost, and rows of the account have no gross. A payment that
// no other id names is its own movement: so it is where the firm's answer makes one of a row that the reader did not know.
func (l *Line) Shape() {
	switch l.Type {
	case LineFee:
		l.Gross, l.Fee = credit.Amount{}, l.Net
	case LinePayment:
		if l.Payment == "" {
			l.Payment = l.Movement
		}
	case LinePayout, LineReserve, LineConversion, LineAdjustment, LineRounding:
		l.Gross = credit.Amount{}
	default: // a client's money, or unknown: as the file has it
	}
}

// BookRest lays a stated total beside its sum once more: a difference that is no larger than a rounding rest becomes Rest, and Summed with it
// is what is stated. A rest of a payout is money, so the reader books it as a line too. A larger difference stays one.
func (o ReadOptions) BookRest(t StatedTotal) StatedTotal {
	rest, err := t.Stated.Add(t.Summed.Neg())
	if err != nil || rest.IsZero() || !rest.IsSet() {
		return t
	}
	if c, err := absolute(rest).Cmp(o.rounding(rest.Currency())); err != nil || c > 0 {
		return t
	}
	t.Summed, t.Rest = t.Stated, rest
	return t
}

// rounding is the largest rounding rest of a currency: what the config says, else two of its minor units.
func (o ReadOptions) rounding(currency string) credit.Amount {
	if a, named := o.Rounding[currency]; named {
		return a
	}
	places, ok := o.Exponent(currency)
	if !ok {
		return credit.Amount{} // nothing is known of its minor unit: nothing is rounding
	}
	two, err := credit.Minor(2, currency, places)
	if err != nil {
		return credit.Amount{}
	}
	return two
}

func absolute(a credit.Amount) credit.Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// Short is the same money with no more decimal places than its value needs and no fewer than places: what a file of six decimals says of
// whole cents is read as cents.
func Short(a credit.Amount, places int) credit.Amount {
	if !a.IsSet() || places < 0 {
		return a
	}
	units, exponent, ten := a.Units(), a.Exponent(), big.NewInt(10)
	for exponent > places {
		next, rest := new(big.Int).QuoRem(units, ten, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		units, exponent = next, exponent-1
	}
	short, err := credit.NewAmount(units, a.Currency(), exponent)
	if err != nil {
		return a
	}
	return short
}
