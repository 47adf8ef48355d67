package recon

import (
	"errors"
	"strings"
	"testing"

	"creditonce/credit"
)

func refusedWith(t *testing.T, err error, code, says string) {
	t.Helper()
	var refused *credit.RefusedError
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Error(), says) {
		t.Errorf("%v, want %s with %q", err, code, says)
	}
}

func TestWithdraw_WaitsForTheRunThatReadsTheLines(t *testing.T) {
	t.Parallel()
	r, asked, mine := &Runner{}, 0, errors.New("mine")
	withdraw := func() error { asked++; return mine }
	r.busy.Lock()
	refusedWith(t, r.Withdraw(withdraw), "busy", "withdraw this one when it is finished")
	if asked != 0 {
		t.Error("it was withdrawn all the same")
	}
	r.busy.Unlock()
	if err := r.Withdraw(withdraw); !errors.Is(err, mine) || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if !r.busy.TryLock() {
		t.Error("runs are kept out for ever")
	}
}

func TestWithdrawn_NamesWhatMustBeWithdrawnBeforeAndStopsNaming(t *testing.T) {
	t.Parallel()
	w := Withdrawal{By: "anna", At: carryTime, Reason: "r"}
	var many StatementIDs
	for id := range StatementID(23) {
		many = many.With(id + 2)
	}
	_, err := Withdrawn(Imported{ID: 1}, w, many)
	refusedWith(t, err, "repeated", "withdraw first statements 24, 23, 22")
	refusedWith(t, err, "repeated", "6, 5 and 3 earlier ones, then this one")
	_, err = Withdrawn(Imported{ID: 1}, w, many[:21])
	refusedWith(t, err, "repeated", "3 and 1 earlier one, then")
	im, err := Withdrawn(Imported{ID: 1}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Withdrawn(im, w, many)
	refusedWith(t, err, "withdrawn", "was withdrawn by anna")
	for name, bad := range map[string]Withdrawal{"nobody": {Reason: "r"}, "no reason": {By: "anna"}, "a book for a reason": {By: "anna", Reason: strings.Repeat("x", 1001)}} {
		if _, err := Withdrawn(Imported{ID: 1}, bad, nil); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
