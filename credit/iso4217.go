package credit

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

// ISOExponent is the number of decimal places of an active ISO 4217 code in capitals; false for any other text. It is what a provider uses
// that says nothing else; several have exponents of their own (providers.md §0.4), and those win.
func ISOExponent(code string) (places int, ok bool) {
	if len(code) != 3 || strings.Contains(code, " ") {
		return 0, false
	}
	for places, list := range []string{0: isoZero, 2: isoTwo, 3: isoThree, 4: isoFour} {
		if strings.Contains(list, " "+code+" ") {
			return places, true
		}
	}
	return 0, false
}
