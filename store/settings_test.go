package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"creditonce/credit"
	"creditonce/store/storetest"
)

// An event is decided on with the settings as the file has them then: a change that was committed counts at once, one
// that was refused never did.
func TestAccept_SeesTheSettingsOfItsOwnTransaction(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	mine := errors.New("no")
	mode := func(m credit.Mode, err error) {
		t.Helper()
		_, got := db.Settle(t.Context(), func(s credit.Settings) (credit.Settings, error) {
			s.Mode, s.CutoverAt = m, s.CreatedAt // a hold before go-live would hold like observe
			return s, err
		})
		if !errors.Is(got, err) {
			t.Fatalf("settle: %v", got)
		}
	}
	n := 0
	observed := func() bool {
		t.Helper()
		n++
		r := w.Accept(w.Event(storetest.Paid(fmt.Sprint("pay-", n), "", "", 100)))
		return slices.Contains(r.Rows[0].After.Holds, credit.HoldPreCutover)
	}
	for i, step := range []struct {
		mode credit.Mode
		err  error
		want bool
	}{
		{credit.ModeLive, nil, false}, {credit.ModeObserve, nil, true}, {credit.ModeLive, mine, true}, {credit.ModeHold, nil, false},
		{credit.ModeObserve, mine, false}, {credit.ModeObserve, nil, true}, {credit.ModeLive, nil, false},
	} {
		mode(step.mode, step.err)
		for range 2 { // decoded, and from memory
			if got := observed(); got != step.want {
				t.Errorf("step %d: held as observed: %v, want %v", i, got, step.want)
			}
		}
	}
}
