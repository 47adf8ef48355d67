package mapped

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"creditonce/credit"
	"creditonce/recon"
)

// The words of the config.
const (
	unitMajor, unitMinor, unitHundredths             = "major", "minor", "hundredths"
	signSigned, signReversed, signType, signDirected = "signed", "reversed", "type", "direction"
	signCost                                         = "cost"
	utf8Text, utf16Text, windowsText                 = "utf-8", "utf-16", "windows-1252"
)

// directions are the types that a row can be, with the direction that its money has; 0: either.
var directions = map[recon.LineType]int{
	recon.LinePayment: 1, recon.LineRefund: -1, recon.LineRefundReversal: 1, recon.LineChargeback: -1, recon.LineChargebackReversal: 1,
	recon.LineFee: -1, recon.LinePayout: -1, recon.LineConversion: 0, recon.LineReserve: 0, recon.LineAdjustment: 0,
}

// checker collects the faults in the order of the keys.
type checker struct{ faults []Fault }

func (k *checker) fault(path, format string, args ...any) {
	k.faults = append(k.faults, Fault{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (k *checker) oneOf(path, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		k.fault(path, "%q is not known; write one of %s", value, strings.Join(allowed, ", "))
	}
}

// Check names every mistake of the config, none of them twice, in the order of its keys. Without faults the config reads files, or refuses
// them by name.
func (c Config) Check() []Fault {
	k := &checker{}
	k.file(c.File)
	if c.Columns.Payment == "" {
		k.fault("columns.payment", "is missing; name the column with the provider's payment id, as its webhooks carry it")
	}
	k.time("time", c.Time, true)
	k.time("settled", c.Settled, false)
	k.currency("currency", c.Currency, true)
	k.currency("net_currency", c.NetCurrency, false)
	k.oneOf("unit", c.Unit, unitMajor, unitMinor, unitHundredths)
	k.amounts(c)
	k.types(c.Type)
	for i, f := range c.Filters {
		k.filter(fmt.Sprintf("filters[%d]", i), f)
	}
	return k.faults
}

func (k *checker) file(f File) {
	if f.Delimiter != "" {
		if _, ok := delimiter(f.Delimiter); !ok {
			k.fault("file.delimiter", "%q is no delimiter; write one character such as ; or |, or tab", f.Delimiter)
		}
	}
	k.oneOf("file.encoding", f.Encoding, utf8Text, utf16Text, windowsText)
	k.oneOf("file.decimal", f.Decimal, "point", "comma")
	point := map[bool]string{true: ",", false: "."}[f.Decimal == "comma"]
	switch {
	case f.Group == "":
	case f.Group == point:
		k.fault("file.group", "is the decimal sign too; a number could then be read in two ways")
	case !slices.Contains([]string{".", ",", " ", "'", "\u00a0", "\u202f"}, f.Group):
		k.fault("file.group", "%q stands between no groups of digits; write a point, a comma, a blank or an apostrophe", f.Group)
	}
	for i, begin := range f.Footer {
		if strings.TrimSpace(begin) == "" {
			k.fault(fmt.Sprintf("file.footer[%d]", i), "is empty: it would pass every row over; write how the first field of the footer begins")
		}
	}
}

func delimiter(text string) (rune, bool) {
	switch text {
	case "":
		return ',', true
	case "tab":
		return '\t', true
	}
	r, size := utf8.DecodeRuneInString(text)
	return r, size == len(text) && r != utf8.RuneError && !strings.ContainsRune("\"\r\n.-'0123456789", r)
}

func (k *checker) time(path string, t Time, required bool) {
	if len(t.Columns) == 0 {
		if required {
			k.fault(path+".columns", "is missing; name the column, or the two, with the time at which it happened")
		}
		if !required && (t.Layout != "" || t.Zone != "") {
			k.fault(path+".columns", "is missing beside the layout or zone")
		}
		return
	}
	k.names(path+".columns", t.Columns)
	if _, err := goLayout(t.Layout); err != nil {
		k.fault(path+".layout", "%s", err)
	}
	if t.Zone != "" {
		if _, err := time.LoadLocation(t.Zone); err != nil || t.Zone == "Local" {
			k.fault(path+".zone", "%q is not a time zone; write an IANA name such as Europe/Berlin, or UTC", t.Zone)
		}
	}
}

func (k *checker) names(path string, columns []string) {
	for i, name := range columns {
		if strings.TrimSpace(name) == "" {
			k.fault(fmt.Sprintf("%s[%d]", path, i), "is empty; name a column of the header row")
		}
	}
}

func (k *checker) currency(path string, c Currency, required bool) {
	switch {
	case c.Column != "" && c.Fixed != "":
		k.fault(path, "has a column and a fixed currency; write the one that holds")
	case c.Column == "" && c.Fixed == "" && required:
		k.fault(path, "is missing; name its column, or write fixed: USD where the whole export has one currency")
	case c.Fixed != "" && !goodCurrency(c.Fixed):
		k.fault(path+".fixed", "%q is not a currency; write its code in capitals", c.Fixed)
	case c.Column == "" && len(c.Names) > 0:
		k.fault(path+".names", "has no column that it could translate")
	}
	for _, word := range slices.Sorted(maps.Keys(c.Names)) {
		if !goodCurrency(c.Names[word]) {
			k.fault(path+".names."+word, "%q is not a currency; write its code in capitals", c.Names[word])
		}
	}
}

func goodCurrency(code string) bool {
	_, err := credit.Minor(0, code, 0)
	return err == nil
}

func (k *checker) amounts(c Config) {
	if !c.Gross.given() && !c.Net.given() {
		k.fault("gross", "is missing, and net too; name the column with the amount that the client paid")
	}
	if foreign := c.NetCurrency.Column != "" || c.NetCurrency.Fixed != ""; foreign && (!c.Gross.given() || !c.Net.given()) {
		k.fault("net_currency", "needs both gross and net: neither can be worked out from the other in another currency")
	}
	k.amount("gross", c.Gross, c)
	for i, f := range c.Fees {
		path := fmt.Sprintf("fees[%d]", i)
		if f.Column == "" {
			k.fault(path+".column", "is missing; name the column")
		}
		k.oneOf(path+".sign", f.Sign, signCost, signSigned)
	}
	k.amount("net", c.Net, c)
}

func (a Amount) given() bool { return a.Column != "" || a.Credit != "" || a.Debit != "" }

func (k *checker) amount(path string, a Amount, c Config) {
	pair := a.Credit != "" || a.Debit != ""
	directed := a.Direction != "" || len(a.In) > 0 || len(a.Out) > 0
	switch {
	case !a.given():
		if a.Sign != "" || directed {
			k.fault(path+".column", "is missing beside its sign or direction")
		}
		return
	case pair && a.Column != "":
		k.fault(path, "has one column and a pair of credit and debit; write the one that the export has")
	case pair && (a.Credit == "" || a.Debit == "" || a.Credit == a.Debit):
		k.fault(path, "needs two different columns, credit and debit")
	case pair && (a.Sign != "" || directed):
		k.fault(path+".sign", "is not needed: credit and debit say the direction")
	}
	if pair {
		return
	}
	k.oneOf(path+".sign", a.Sign, signSigned, signReversed, signType, signDirected)
	if (a.Sign == signDirected) != directed {
		k.fault(path+".direction", "goes with sign: direction; name the column and its words for in and out")
	}
	if a.Sign == signDirected && directed {
		k.directed(path, a)
	}
	if a.Sign == signType {
		k.typed(path, c.Type)
	}
	if c.Totals.Begins != "" && (a.Sign == signType || a.Sign == signDirected) {
		k.fault("totals", "cannot be compared with %s, which is unsigned: nobody says whether the total counts what goes out", path)
	}
}

func (k *checker) directed(path string, a Amount) {
	if a.Direction == "" {
		k.fault(path+".direction", "is missing; name the column that says in or out")
	}
	if len(a.In) == 0 || len(a.Out) == 0 {
		k.fault(path+".in", "and out need at least one word each")
	}
	for _, word := range a.In {
		if slices.Contains(a.Out, word) {
			k.fault(path+".in", "%q is in and out", word)
		}
	}
}

// typed refuses types that have no direction of their own for an unsigned column.
func (k *checker) typed(path string, t Type) {
	used := slices.Collect(maps.Values(t.Words))
	if t.Fixed != "" {
		used = append(used, t.Fixed)
	}
	slices.Sort(used)
	for _, name := range slices.Compact(used) {
		if to, known := directions[recon.LineType(name)]; known && to == 0 {
			k.fault(path+".sign", "type does not do for rows that are %s: these go either way. Use a signed column, credit and debit, or a direction", name)
		}
	}
}

func (k *checker) types(t Type) {
	names := slices.Sorted(maps.Keys(directions))
	allowed := make([]string, len(names))
	for i, name := range names {
		allowed[i] = string(name)
	}
	switch {
	case t.Fixed != "" && (len(t.Columns) > 0 || len(t.Words) > 0):
		k.fault("type", "has a fixed type and columns or words; write the one that holds")
	case t.Fixed == "" && len(t.Columns) == 0:
		k.fault("type.columns", "is missing; name the column whose words tell payments from refunds, or write fixed: payment")
	case t.Fixed == "" && len(t.Words) == 0:
		k.fault("type.words", "is missing; say what each word of the column is")
	}
	k.oneOf("type.fixed", t.Fixed, allowed...)
	k.names("type.columns", t.Columns)
	for _, word := range slices.Sorted(maps.Keys(t.Words)) {
		if t.Words[word] == "" {
			k.fault("type.words."+word, "is empty; write one of %s", strings.Join(allowed, ", "))
		}
		k.oneOf("type.words."+word, t.Words[word], allowed...)
	}
}

func (k *checker) filter(path string, f Filter) {
	if f.Column == "" {
		k.fault(path+".column", "is missing; name the column")
	}
	if len(f.Keep) == 0 {
		k.fault(path+".keep", "is missing; write the words of rows that count")
	}
	for _, word := range f.Keep {
		if slices.Contains(f.Ignore, word) {
			k.fault(path+".keep", "%q is kept and ignored", word)
		}
	}
}
