package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

func TestWitness_ANormalRestartIsNoReasonToWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if s := h.start(); s.Doubt != "" || s.Wait != "" || s.Claims != 0 {
		t.Errorf("a new store: %+v", s)
	}
	for round := range 3 {
		h.pay(2)
		h.stop()
		if s := h.start(); s.Doubt != "" || s.Wait != "" || s.Claims != uint64(2*(round+1)) {
			t.Errorf("round %d: %+v", round, s)
		}
	}
	if s := h.settings(); s.Mode != credit.ModeLive || s.Doubt != nil || s.Place == nil || s.Place.Machine != "machine-1" || s.Place.Inode == 0 {
		t.Errorf("settings %+v, place %+v", s, s.Place)
	}
}

// H20: the disk with the store did not come up, and an empty directory stands in its place.
func TestH20_NoNewStoreIsMadeWhereTheWitnessTellsOfClaims(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.stop()
	if err := os.Remove(h.path); err != nil {
		t.Fatal(err)
	}
	h.start() // it never claimed: beginning anew is fine
	h.pay(1)
	h.stop()
	if err := os.Remove(h.path); err != nil {
		t.Fatal(err)
	}
	var refused *store.WitnessError
	if err := h.try(); !errors.As(err, &refused) || !strings.Contains(err.Error(), "is its disk mounted") {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(h.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store was made all the same: %v", err)
	}
}

// H21: two processes that write one witness find each other at the next claim.
func TestH21_AForeignHandOnTheWitnessStopsTheStore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	before, err := os.ReadFile(h.guard.Witness)
	if err != nil {
		t.Fatal(err)
	}
	h.pay(1)
	if err := os.WriteFile(h.guard.Witness, before, 0o600); err != nil { // H23: the machine was set back
		t.Fatal(err)
	}
	row := h.w.Pay(7000, 500)
	calls := h.w.MT5.Calls()
	lane := h.w.Lane(h.db, h.w.Clock, "process-1")
	if err := lane.Run(t.Context()); !errors.Is(err, credit.ErrStopped) || !strings.Contains(err.Error(), "another instance uses it") {
		t.Errorf("error %v", err)
	}
	if h.w.MT5.Calls() != calls {
		t.Errorf("credit %d was called for", row.ID)
	}
}

func TestWitness_OneBatchAheadOrMissingWaitsForTheQuarantine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	h.stop()
	b, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.pay(1)
	h.stop()
	if err := os.WriteFile(h.path, b, 0o600); err != nil { // as after a crash between the witness and the commit
		t.Fatal(err)
	}
	for range 2 { // it says so at every start, until a claim is made
		if s := h.start(); s.Doubt != "" || !strings.Contains(s.Wait, "one batch ahead") {
			t.Errorf("ahead: %+v", s)
		}
		h.stop()
	}
	if err := os.Remove(h.guard.Witness); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := h.start(); s.Doubt != "" || !strings.Contains(s.Wait, "is missing") {
			t.Errorf("missing: %+v", s)
		}
		h.stop()
	}
	h.start()
	h.started = 50
	h.pay(1)
	h.stop()
	if s := h.start(); s.Doubt != "" || s.Wait != "" || s.Claims != 2 {
		t.Errorf("after the next claim: %+v", s)
	}
}

func TestWitness_AnythingElseIsDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(h *house)
		want  string
	}{
		"damaged": {func(h *house) { h.write(strings.Repeat("x", 1024)) }, "cannot be read: it is damaged"},
		"empty":   {func(h *house) { h.write("") }, "cannot be read: it is damaged"},
		"of another store": {func(h *house) {
			other := newHouse(h.t)
			other.id = "store-2"
			other.start()
			other.pay(1)
			other.stop()
			b, err := os.ReadFile(other.guard.Witness)
			if err != nil {
				h.t.Fatal(err)
			}
			h.write(string(b))
		}, "belongs to another store"},
		"older": {func(h *house) {
			b, err := os.ReadFile(h.guard.Witness)
			if err != nil {
				h.t.Fatal(err)
			}
			h.start()
			h.pay(2)
			h.stop()
			h.write(string(b))
		}, "other claims were made on this file elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.start()
			h.pay(1)
			h.stop()
			c.spoil(h)
			h.wantDoubt(h.start(), c.want)
		})
	}
}

func (h *house) write(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.guard.Witness, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// A file that is no witness is never written over.
func TestWitness_AFileThatIsNoneIsRefusedAtTheFirstStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := os.Mkdir(filepath.Dir(h.guard.Witness), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("root:x:0:0")
	var refused *store.WitnessError
	if err := h.try(); !errors.As(err, &refused) {
		t.Fatalf("error %v", err)
	}
	if b, err := os.ReadFile(h.guard.Witness); err != nil || string(b) != "root:x:0:0" {
		t.Errorf("the file now holds %q, %v", b, err)
	}
}

// A witness whose newest write was torn still knows the one before.
func TestWitness_ATornWriteLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(3) // turns: 1 at the start, then one a claim; the newest is in slot 0
	h.stop()
	f, err := os.OpenFile(h.guard.Witness, os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, 200), 100)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s := h.start() // the store did commit: so it is one ahead of what the witness still knows
	if s.Doubt == "" || !strings.Contains(s.Doubt, "other claims") {
		t.Errorf("standing %+v", s)
	}
}

// A claim that the witness cannot note is not made; everything else goes on.
func TestWitness_NoClaimWhileItCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	row := h.w.Pay(3000, 500)
	dir := filepath.Dir(h.guard.Witness)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := h.w.MT5.Calls()
	h.w.Work(3)
	h.w.InState(row.ID, credit.Pending)
	h.w.Accept(h.w.Event(storetest.Paid("pay-later", "", "", 100)))
	if h.w.MT5.Calls() != calls {
		t.Error("a call was made whose claim no witness has")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	h.w.Work(6)
	h.w.InState(row.ID, credit.Done)
}

// A new store whose witness cannot be made says which file and what to do, not that it is busy.
func TestWitness_ThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := os.Symlink(filepath.Join(t.TempDir(), "a disk that is not there", "folder"), filepath.Dir(h.guard.Witness)); err != nil {
		t.Fatal(err)
	}
	var refused *store.WitnessError
	if err := h.try(); !errors.As(err, &refused) || errors.Is(err, credit.ErrBusy) || !strings.Contains(err.Error(), "cannot be made") || !strings.Contains(err.Error(), "store.witness") {
		t.Errorf("error %v", err)
	}
}
