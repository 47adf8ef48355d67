package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"creditonce/credit"
)

// CSV writes the run's items, one line for each of their records (statement line, credit row, deal), by RFC 4180 in UTF-8 with a header line.
// Columns of amounts hold plain decimals and nothing else, with the currency in the column after. Every other column is text that no
// spreadsheet runs as a formula: where it could, or where it would lose digits, it begins with an apostrophe. The amount of an item itself
// ("off") stands in one of its lines only, so that the column adds up to what the roll-forwards list; payout differences are in none of them.
func CSV(w io.Writer, d Data) error {
	loc, err := d.zone()
	if err != nil {
		return err
	}
	out := writer(w)
	if err := out.Write(heads()); err != nil {
		return fmt.Errorf("write the table of run %d: %w", d.Run.ID, err)
	}
	var line []string
	for item, err := range d.items() {
		if err != nil {
			return err
		}
		for _, e := range entries(&d, loc, item) {
			line = e.line(line[:0])
			if err := out.Write(line); err != nil {
				return fmt.Errorf("write the table of run %d: %w", d.Run.ID, err)
			}
		}
	}
	return flushed(out, d)
}

// CSVRolls writes the run's roll-forwards, one line for each provider, currency and side, in the form of [CSV].
func CSVRolls(w io.Writer, d Data) error {
	g, err := gather(d, 0)
	if err != nil {
		return err
	}
	out := writer(w)
	line := []string{"run", "environment", "first_day", "last_day", "zone", "from_utc", "until_utc", "compared", "provider", "currency"}
	for _, c := range rollColumns {
		line = append(line, c.head)
	}
	if err := out.Write(line); err != nil {
		return fmt.Errorf("write the totals of run %d: %w", d.Run.ID, err)
	}
	r := d.Run
	for _, f := range g.forwards(r.Outcome.Rolls) {
		line = line[:0]
		for _, text := range []string{
			number(uint64(r.ID)), d.environment(), string(r.First), string(r.Last), r.Zone, utc(r.From), utc(r.Until), string(f.Side), f.Provider, f.Currency,
		} {
			line = append(line, cell(text))
		}
		for _, c := range rollColumns {
			line = append(line, plain(c.value(f)))
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write the totals of run %d: %w", d.Run.ID, err)
		}
	}
	return flushed(out, d)
}

func (e entry) line(line []string) []string {
	for _, c := range columns {
		if c.amount == nil {
			line = append(line, cell(c.text(e)))
			continue
		}
		a := c.amount(e)
		line = append(line, plain(a), a.Currency())
	}
	return line
}

// plain is the plain decimal of an amount; empty for none.
func plain(a credit.Amount) string {
	if !a.IsSet() {
		return ""
	}
	return a.Decimal()
}

func writer(w io.Writer) *csv.Writer {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return out
}

func flushed(out *csv.Writer, d Data) error {
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the table of run %d: %w", d.Run.ID, err)
	}
	return nil
}
