package store_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// A movement is one, whatever type a later statement gives it.
func TestAMovementUnderAnotherType_CountsOnce(t *testing.T) {
	t.Parallel()
	plain := func(digest string, change func(*recon.Line)) recon.Line {
		l := storetest.Settled(digest, 2, "p1", 500)
		change(&l)
		return l
	}
	unique := func(kind recon.LineType) func(*recon.Line) {
		return func(l *recon.Line) { l.Type, l.Word, l.Unique = kind, string(kind), true }
	}
	typed := func(kind recon.LineType) func(*recon.Line) {
		return func(l *recon.Line) {
			l.Type, l.Word = recon.LineUnknown, "green fund"
			*l = recon.Retyped(*l, map[string]recon.LineType{"green fund": kind})
		}
	}
	nameless := func(kind recon.LineType) func(*recon.Line) {
		return func(l *recon.Line) { l.Payment = ""; typed(kind)(l) }
	}
	for name, c := range map[string]struct {
		earlier, now func(*recon.Line)
		differs      string // what a person is asked about; empty: it is the same line again
		both         bool   // two movements
	}{
		"another type under the provider's own id":        {unique(recon.LinePayment), unique(recon.LineRefund), "type was payment, now refund", false},
		"a row of the account, with its payout now":       {func(l *recon.Line) { unique(recon.LineFee)(l); l.Payment, l.Batch = "", "" }, func(l *recon.Line) { unique(recon.LineFee)(l); l.Payment = "" }, "", false},
		"of a store from before ids were known as unique": {func(l *recon.Line) { unique(recon.LinePayment)(l); l.Unique = false }, unique(recon.LinePayment), "", false},
		"another type under an id that may name several":  {func(*recon.Line) {}, func(l *recon.Line) { l.Type = recon.LineFee }, "", true},
		"a word that has got its answer":                  {typed(recon.LineUnknown), typed(recon.LineAdjustment), "", false},
		"a word that has got its answer, a payment by it": {nameless(recon.LineUnknown), nameless(recon.LinePayment), "", false},
		"a word with its answer, and another amount":      {typed(recon.LineUnknown), func(l *recon.Line) { typed(recon.LineAdjustment)(l); l.Net = storetest.Money(1) }, "net was", false},
		"another word, under an id that may name several": {typed(recon.LineUnknown), func(l *recon.Line) { l.Type, l.Word = recon.LineAdjustment, "other" }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
			t.Cleanup(func() { _ = db.Close(context.Background()) })
			if _, err := importFile(t.Context(), db, "d1", []recon.Line{plain("d1", c.earlier)}); err != nil {
				t.Fatal(err)
			}
			im, err := importFile(t.Context(), db, "d2", []recon.Line{plain("d2", c.now)})
			if err != nil {
				t.Fatal(err)
			}
			counted := 1
			if c.both {
				counted = 2
			}
			lines, _, err := db.Lines(t.Context(), nil, 0, 10)
			if err != nil || len(lines) != counted {
				t.Fatalf("%d lines count, want %d: %v", len(lines), counted, err)
			}
			if c.differs == "" && slices.ContainsFunc(lines, func(l recon.Line) bool { return l.Type == recon.LineUnknown }) != c.both && strings.Contains(name, "word") {
				t.Errorf("what nobody had an answer for stands for what has one: %+v", lines)
			}
			if asked := im.Contradicting == 1 && len(im.Conflicts) == 1 && strings.Contains(im.Conflicts[0].Text, c.differs); asked != (c.differs != "") {
				t.Errorf("%+v", im)
			}
			if report, err := db.Verify(t.Context(), nil); err != nil || !report.Clean() {
				t.Errorf("verify: %v, %+v", err, report)
			}
		})
	}
}
