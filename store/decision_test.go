package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store/storetest"
)

// H20: between the backup and its return into the very same file nothing was claimed, but people closed a row. The older
// file would take the row up again and pay it. Found by the exhaustive model.
func TestH20_AnOlderFileThatForgetsWhatPeopleDecidedIsNoticed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	receipt := h.w.Accept(h.w.Event(storetest.Paid("pay-without-deposit", "", "", 500)))
	id := receipt.Rows[0].After.ID
	h.w.InState(id, credit.Held)
	h.stop()
	backup := h.path + ".backup"
	h.copyTo(backup)
	h.start()
	_, err := h.db.Advance(t.Context(), id, func(d credit.Dossier) (credit.Decision, error) {
		return credit.CloseWithoutDeal(d, credit.People{
			Actor: "ann, confirmed by ben", Proposal: 1, Reason: "paid back by the provider", At: h.guard.Now.Add(time.Minute),
		}, credit.Guard{Process: credit.Process{ID: "p"}, Timing: credit.DefaultTiming(), Now: credit.Mark{Process: "p", Boot: time.Hour}})
	})
	if err != nil {
		t.Fatal(err)
	}
	h.w.InState(id, credit.Cancelled)
	h.stop()
	if s := h.start(); s.Doubt != "" || s.Wait != "" {
		t.Errorf("a normal restart after the decision: %+v", s)
	}
	h.stop()
	b, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(h.path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.wantDoubt(h.start(), "has seen 2 claims and decisions and the store has 1: it is an older file")
}

// H20: that the witness cannot be read does not say that there was no store: none is made in its place.
func TestH20_NoNewStoreIsMadeWhereTheWitnessCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := os.MkdirAll(h.guard.Witness, 0o700); err != nil { // a folder can be opened and not read
		t.Fatal(err)
	}
	if err := h.try(); err == nil || !strings.Contains(err.Error(), "read the witness") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(h.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store was made all the same: %v", err)
	}
}
