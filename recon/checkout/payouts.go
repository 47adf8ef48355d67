package checkout

import (
	"strings"
	"time"

	"creditonce/recon"
)

// payoutColumns must be there. The fee columns are sums over the payout that the breakdown has row by row, so they are not read.
var payoutColumns = []string{colEntity, colHolding, colPayoutID, "Payout Date", "Reporting Start Date", "Reporting End Date", colPayoutAmount}

// period is what a payouts report covers, over all its rows.
type period struct{ from, until time.Time }

func (p *period) widen(from, until time.Time) {
	if p.from.IsZero() || from.Before(p.from) {
		p.from = from
	}
	if until.After(p.until) {
		p.until = until
	}
}

// payout reads one row of the payouts report: one payout.
func (f *file) payout(r recon.Record) error {
	if err := f.own(r); err != nil {
		return err
	}
	id := strings.Clone(r.Text(colPayoutID))
	if id == "" {
		return r.Fail("has no Payout ID: nothing names the payout; get the report again")
	}
	currency, cents, err := f.currency(r, colHolding)
	if err != nil {
		return err
	}
	paid, err := r.Amount(colPayoutAmount, currency, places)
	if err != nil {
		return err
	}
	at, err := f.dates(r)
	if err != nil {
		return err
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: r.Row, Type: recon.LinePayout, Word: "Payout", Movement: id, Batch: id,
		Net: recon.Short(paid.Neg(), cents), At: at, SettledAt: at,
	}
	return f.send(line)
}

func (f *file) dates(r recon.Record) (time.Time, error) {
	stamp := recon.Stamp{Layout: layout, Location: f.options.Location}
	var at [3]time.Time
	for i, column := range []string{"Payout Date", "Reporting Start Date", "Reporting End Date"} {
		var err error
		if at[i], err = r.Time(column, stamp); err != nil {
			return time.Time{}, err
		}
	}
	if at[2].Before(at[1]) {
		return time.Time{}, r.Fail("ends its period before it begins: the file was changed, get it again")
	}
	f.covers.widen(at[1], at[2])
	return at[0], nil
}
