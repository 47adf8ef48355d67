package recon

import "creditonce/credit"

// Exponent is the number of decimal places of a currency in a statement whose format has no table of its own: what the config says, else
// ISO 4217's. False for a code that is in neither: its places would be a guess, and a file with it is refused until the config names them.
func (o ReadOptions) Exponent(currency string) (places int, ok bool) {
	if places, ok = o.Exponents[currency]; ok {
		return places, places >= 0 && places <= credit.MaxExponent
	}
	return credit.ISOExponent(currency)
}
