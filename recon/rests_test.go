package recon

import (
	"slices"
	"testing"
)

func TestMatch_BooksWhatRoundingLeavesOfPayouts(t *testing.T) {
	t.Parallel()
	var l lists
	batch := func(name, lines, payout string) {
		in := func(l *Line) { l.Batch = name }
		l.line(LineAdjustment, "", lines, in)
		l.line(LinePayout, "", payout, in)
	}
	batch("po_1", "10.00", "-10.01")                                                                                                          // a cent more was paid out
	batch("po_2", "20.00", "-19.99")                                                                                                          // a cent less
	batch("po_3", "30.01", "-30.02")                                                                                                          // a cent more again
	batch("po_4", "40.00", "-40.00")                                                                                                          // none
	batch("po_5", "50.00", "-49.90")                                                                                                          // no rounding any more
	l.line(LineRounding, "", "0.02", func(l *Line) { l.Batch = "po_6" })                                                                      // booked by the reader
	l.line(LineRounding, "", "0.02", func(l *Line) { l.Batch, l.At, l.SettledAt = "po_7", begin.AddDate(0, 0, -1), begin.AddDate(0, 0, -1) }) // of the days before
	_, out := compare(t, testRules(), l)
	if want := (Rest{Provider: cards, Payouts: 4, Amount: dollars("0.03")}); !slices.EqualFunc(out.Rests, []Rest{want}, func(a, b Rest) bool {
		return a.Provider == b.Provider && a.Payouts == b.Payouts && a.Amount.Equal(b.Amount)
	}) {
		t.Errorf("%+v, want %+v", out.Rests, want)
	}
	if out.Classes[PayoutDifference] != 1 {
		t.Errorf("%v", out.Classes)
	}
}
