package mapped

import (
	"fmt"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// line reads one movement.
func (f *file) line(r recon.Record) (recon.Line, error) {
	c := f.config.Columns
	if merchant := field(r, c.Merchant); merchant != "" && merchant != f.merchant() {
		return recon.Line{}, r.Fail("belongs to another account than the configured one (settlement.merchant): get the export of that account alone")
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: r.Row, Payment: field(r, c.Payment), Movement: field(r, c.Movement), Code: field(r, c.Code),
		Batch: field(r, c.Batch),
	}
	known := f.kind(r, &line)
	var err error
	if line.At, err = f.happens.read(r, true); err != nil {
		return recon.Line{}, err
	}
	if line.SettledAt, err = f.settles.read(r, false); err != nil {
		return recon.Line{}, err
	}
	if err := f.amounts(r, &line); err != nil {
		return recon.Line{}, err
	}
	if known {
		f.judge(r, &line)
	}
	line.Shape()
	f.name(r, &line)
	return line, nil
}

func (f *file) merchant() string {
	if f.options.Merchant != "" {
		return f.options.Merchant
	}
	return f.options.Provider.Account
}

// field is the text of a column that the config may leave out, with memory of its own.
func field(r recon.Record, column string) string {
	if column == "" {
		return ""
	}
	return strings.Clone(strings.TrimSpace(r.Text(column)))
}

// kind finds word and type; false where nobody said what the word is.
func (f *file) kind(r recon.Record, line *recon.Line) bool {
	t := f.config.Type
	if t.Fixed != "" {
		line.Type, line.Word = recon.LineType(t.Fixed), t.Fixed
		return true
	}
	texts := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		texts[i] = strings.TrimSpace(r.Text(column))
	}
	line.Word = strings.Clone(strings.Join(texts, " / "))
	if name, mapped := t.Words[line.Word]; mapped {
		line.Type = recon.LineType(name)
		return true
	}
	known := false
	if line.Type, known = recon.WordType(line.Word, nil, f.options.RowTypes); !known {
		f.problems.AddUnknown(r.Row, strings.Join(t.Columns, " / "), line.Word)
	}
	return known
}

// judge doubts a client's row whose money goes the other way, and one without a payment; a doubted row counts nowhere. A payment of nothing
// is an attempt that only cost.
func (f *file) judge(r recon.Record, line *recon.Line) {
	want := directions[line.Type]
	client := want != 0 && line.Type != recon.LineFee && line.Type != recon.LinePayout
	switch {
	case !client:
	case line.Payment == "":
		f.problems.Add(r.Row, "a %s has no payment id in column %q: the row counts nowhere; ask the provider", line.Type, f.config.Columns.Payment)
		line.Type = recon.LineUnknown
	case line.Gross.Sign() == -want:
		f.problems.Add(r.Row, "a %s of %s goes the wrong way: the row counts nowhere; check the sign in the config, and ask the provider", line.Type, line.Gross)
		line.Type = recon.LineUnknown
	case line.Type == recon.LinePayment && line.Gross.IsZero():
		line.Type = recon.LineFee
	}
}

// mostNamed bounds what a hostile file can make the reader hold.
const mostNamed = 20_000

// name gives a movement without an id of its own a name: its payment and time, or, for a row of the account, what it says and which of the
// equal rows it is. So a second download of it is the same movement, and two equal corrections are two.
func (f *file) name(r recon.Record, line *recon.Line) {
	if line.Movement != "" {
		return
	}
	text := f.happens.text(r)
	if line.Payment != "" {
		line.Movement = line.Payment + " " + text
		return
	}
	key := strings.Join([]string{line.Batch, line.Word, text, line.Net.String()}, "\x00")
	if _, known := f.named[key]; !known && len(f.named) >= mostNamed {
		return // it keeps its place in the file as its only name
	}
	f.named[key]++
	line.Movement = fmt.Sprintf("%s %s #%d", text, line.Net, f.named[key])
}

// amounts reads gross, fee and net, and works out what the export leaves out.
func (f *file) amounts(r recon.Record, line *recon.Line) error {
	paid, got, err := f.moneys(r)
	if err != nil {
		return err
	}
	var gross, net credit.Amount
	if f.config.Gross.given() {
		if gross, err = f.amount(r, f.config.Gross, paid, line.Type); err != nil {
			return err
		}
	}
	if f.config.Net.given() {
		if net, err = f.amount(r, f.config.Net, got, line.Type); err != nil {
			return err
		}
	}
	fee, err := f.fee(r, got)
	if err != nil {
		return err
	}
	if line.Type != recon.LineUnknown { // what nobody can place counts nowhere
		if err := f.sums.add(gross, fee, net); err != nil {
			return r.Fail("cannot be added up: %s", err)
		}
	}
	return together(r, line, gross, fee, net)
}

// together checks that gross and fee are net, and fills what is not given. Two currencies cannot be checked.
func together(r recon.Record, line *recon.Line, gross, fee, net credit.Amount) error {
	line.Gross, line.Fee, line.Net = gross, fee, net
	var err error
	switch {
	case !net.IsSet():
		line.Net, err = gross.Add(fee)
	case !gross.IsSet():
		line.Gross, err = net.Add(fee.Neg())
	case gross.Currency() != net.Currency() || !fee.IsSet() || line.Type == recon.LineUnknown:
		return nil
	default:
		var sum credit.Amount
		if sum, err = gross.Add(fee); err == nil && !sum.Equal(net) {
			return r.Fail("does not add up: gross %s and fee %s are not net %s; check fees and signs in the config, else get the file again", gross, fee, net)
		}
	}
	if err != nil {
		return r.Fail("cannot be worked out: %s", err)
	}
	return nil
}
