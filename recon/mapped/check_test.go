package mapped_test

import (
	"slices"
	"strings"
	"testing"

	"creditonce/recon/mapped"
)

func TestEveryMistakeIsNamedByItsKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*mapped.Config)
		want []string // paths, in this order
	}{
		"nothing wrong": {func(*mapped.Config) {}, nil},
		"everything is missing": {
			func(c *mapped.Config) { *c = mapped.Config{} },
			[]string{"columns.payment", "time.columns", "currency", "gross", "type.columns"},
		},
		"the file": {
			func(c *mapped.Config) {
				c.File = mapped.File{Delimiter: "::", Encoding: "latin", Decimal: "dot", Group: ".", Footer: []string{" "}}
			},
			[]string{"file.delimiter", "file.encoding", "file.decimal", "file.group", "file.footer[0]"},
		},
		"a digit parts the columns": {func(c *mapped.Config) { c.File.Delimiter = "1" }, []string{"file.delimiter"}},
		"a letter between groups":   {func(c *mapped.Config) { c.File.Group = "x" }, []string{"file.group"}},
		"a zone of this host":       {func(c *mapped.Config) { c.Time.Zone = "Local" }, []string{"time.zone"}},
		"a zone that is none":       {func(c *mapped.Config) { c.Time.Zone = "Europe/Nowhere" }, []string{"time.zone"}},
		"a layout of package time":  {func(c *mapped.Config) { c.Time.Layout = "2006-01-02" }, []string{"time.layout"}},
		"a layout without a year":   {func(c *mapped.Config) { c.Time.Layout = "DD.MM. hh:mm" }, []string{"time.layout"}},
		"two months":                {func(c *mapped.Config) { c.Time.Layout = "YYYY-MM-DD hh:MM" }, []string{"time.layout"}},
		"no layout":                 {func(c *mapped.Config) { c.Time.Layout = "" }, []string{"time.layout"}},
		"an empty time column":      {func(c *mapped.Config) { c.Time.Columns = []string{""} }, []string{"time.columns[0]"}},
		"settled without a column":  {func(c *mapped.Config) { c.Settled.Layout = "YYYY-MM-DD" }, []string{"settled.columns"}},
		"currencies": {
			func(c *mapped.Config) {
				c.Currency = mapped.Currency{Column: "currency", Fixed: "USD", Names: map[string]string{"dollar": "$", "euro": "EUR"}}
			},
			[]string{"currency", "currency.names.dollar"},
		},
		"a currency in words": {func(c *mapped.Config) { c.Currency = mapped.Currency{Fixed: "dollar"} }, []string{"currency.fixed"}},
		"names without a column": {func(c *mapped.Config) {
			c.Currency = mapped.Currency{Fixed: "USD", Names: map[string]string{"a": "USD"}}
		}, []string{"currency.names"}},
		"net in another currency":  {func(c *mapped.Config) { c.NetCurrency.Fixed = "EUR" }, []string{"net_currency"}},
		"a unit that is none":      {func(c *mapped.Config) { c.Unit = "cents" }, []string{"unit"}},
		"a column and a pair":      {func(c *mapped.Config) { c.Gross.Credit, c.Gross.Debit = "in", "out" }, []string{"gross"}},
		"half a pair":              {func(c *mapped.Config) { c.Gross = mapped.Amount{Credit: "in"} }, []string{"gross"}},
		"a pair of one column":     {func(c *mapped.Config) { c.Gross = mapped.Amount{Credit: "in", Debit: "in"} }, []string{"gross"}},
		"a pair with a sign":       {func(c *mapped.Config) { c.Gross = mapped.Amount{Credit: "in", Debit: "out", Sign: "type"} }, []string{"gross.sign"}},
		"a sign that is none":      {func(c *mapped.Config) { c.Gross.Sign = "plus" }, []string{"gross.sign"}},
		"a direction without sign": {func(c *mapped.Config) { c.Gross.Direction = "way" }, []string{"gross.direction"}},
		"a sign without direction": {func(c *mapped.Config) { c.Gross.Sign = "direction" }, []string{"gross.direction"}},
		"a direction without words": {
			func(c *mapped.Config) { c.Gross.Sign, c.Gross.Direction = "direction", "way" }, []string{"gross.in"},
		},
		"one word for both ways": {
			func(c *mapped.Config) {
				c.Gross = mapped.Amount{Column: "amount", Sign: "direction", Direction: "way", In: []string{"A"}, Out: []string{"A"}}
			},
			[]string{"gross.in"},
		},
		"words without a direction column": {
			func(c *mapped.Config) {
				c.Gross = mapped.Amount{Column: "amount", Sign: "direction", In: []string{"A"}, Out: []string{"B"}}
			},
			[]string{"gross.direction"},
		},
		"a sign by type where a type goes either way": {func(c *mapped.Config) { c.Gross.Sign = "type" }, []string{"gross.sign"}},
		"totals of an unsigned column": {
			func(c *mapped.Config) {
				c.Gross.Sign, c.Totals.Begins = "type", "Total"
				c.Type.Words = map[string]string{"in": "payment"}
			},
			[]string{"totals"},
		},
		"a sign beside no column": {func(c *mapped.Config) { c.Net.Sign = "reversed" }, []string{"net.column"}},
		"fees":                    {func(c *mapped.Config) { c.Fees = []mapped.Fee{{Column: "fee"}, {Sign: "plus"}} }, []string{"fees[1].column", "fees[1].sign"}},
		"a type that is none":     {func(c *mapped.Config) { c.Type.Words["in"] = "deposit" }, []string{"type.words.in"}},
		"an empty type":           {func(c *mapped.Config) { c.Type.Words["in"] = "" }, []string{"type.words.in"}},
		"nobody says a row is unknown": {
			func(c *mapped.Config) { c.Type.Words["in"], c.Type.Words["out"] = "unknown", "rounding" }, []string{"type.words.in", "type.words.out"},
		},
		"a fixed type and words": {func(c *mapped.Config) { c.Type.Fixed = "payment" }, []string{"type"}},
		"columns without words":  {func(c *mapped.Config) { c.Type.Words = nil }, []string{"type.words"}},
		"filters": {
			func(c *mapped.Config) {
				c.Filters = []mapped.Filter{{}, {Column: "status", Keep: []string{"ok", "half"}, Ignore: []string{"half"}}}
			},
			[]string{"filters[0].column", "filters[0].keep", "filters[1].keep"},
		},
	} {
		config := plain()
		c.edit(&config)
		var paths []string
		for _, fault := range config.Check() {
			paths = append(paths, fault.Path)
			if fault.Text == "" || strings.HasSuffix(fault.Text, ".") || strings.Contains(fault.Text, "%!") {
				t.Errorf("%s: fault %+v", name, fault)
			}
		}
		if !slices.Equal(paths, c.want) {
			t.Errorf("%s: faults of %q, want %q", name, paths, c.want)
		}
	}
}
