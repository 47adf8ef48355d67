package demo

import (
	"os"
	"strings"
	"testing"
)

// The report says the three differences, and a verdict of a comparison that found something else than what was planted is no success.
func TestReconciliation_TheReportHasWhatWasPlantedAndNothingElsePasses(t *testing.T) {
	t.Parallel()
	t.Run("as planted", func(t *testing.T) {
		t.Parallel()
		o, progress := testOptions(t, 11)
		r := playScene(t, o, booksScene())
		page, err := os.ReadFile(r.Report)
		if err != nil || !r.OK {
			t.Fatalf("%+v, %v\n%s", r, err, progress)
		}
		for _, want := range []string{"DEMO: simulated money", lostPayment, "Settled without credit", "One reference on several deals", "Wrong amount"} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%q is not in the report", want)
			}
		}
	})
	t.Run("one deposit", func(t *testing.T) {
		t.Parallel()
		o, progress := testOptions(t, 11)
		o.Deposits = 1
		if r := playScene(t, o, booksScene()); !r.OK || r.Deposits != 1 {
			t.Errorf("%+v\n%s", r, progress)
		}
	})
	t.Run("another difference", func(t *testing.T) {
		t.Parallel()
		o, _ := testOptions(t, 11)
		sc := booksScene()
		sc.once = []string{"settled_without_credit", "duplicate_reference", "late"}
		if r := playScene(t, o, sc); r.OK || !strings.Contains(strings.Join(r.Problems, "\n"), "the comparison found") {
			t.Errorf("%+v", r)
		}
	})
}
