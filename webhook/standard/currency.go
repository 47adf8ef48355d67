package standard

import "strings"

// The active codes of ISO 4217 whose minor unit is not a hundredth, and those whose minor unit is.
const (
	isoZero  = " BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF "
	isoThree = " BHD IQD JOD KWD LYD OMR TND "
	isoFour  = " CLF UYW "
	isoTwo   = " AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY" +
		" COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS" +
		" INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR" +
		" MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP" +
		" STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG "
)

// Currency returns a currency's code in capitals and its number of decimal places: those that exponents name, else
// those of ISO 4217. ok is false for a code that is in neither: its places would be a guess.
func Currency(exponents map[string]int, name string) (code string, places int, ok bool) {
	code = capitals(name)
	if !isCurrency(code) {
		return "", 0, false
	}
	if places, named := exponents[code]; named {
		return code, places, true
	}
	in := func(list string) bool { return strings.Contains(list, " "+code+" ") }
	switch {
	case in(isoTwo):
		return code, 2, true
	case in(isoZero):
		return code, 0, true
	case in(isoThree):
		return code, 3, true
	case in(isoFour):
		return code, 4, true
	}
	return "", 0, false
}

// capitals turns a to z into capitals and leaves everything else: Unicode knows other letters whose capital is one of
// A to Z.
func capitals(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, name)
}

// isCurrency tells that the code is 3 to 12 capitals and digits.
func isCurrency(code string) bool {
	for i := range len(code) {
		if (code[i] < 'A' || code[i] > 'Z') && (code[i] < '0' || code[i] > '9') {
			return false
		}
	}
	return len(code) >= 3 && len(code) <= 12
}
