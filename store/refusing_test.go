package store_test

import (
	"bytes"
	"os"
	"testing"
)

// A store that may be an older file tries its witness as every other does, and what the witness says of the claims that it lacks stays.
func TestTryWitness_LeavesTheEvidenceOfADoubt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	h.stop()
	older, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.pay(1)
	h.pay(1)
	h.stop()
	evidence, err := os.ReadFile(h.guard.Witness)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path, older, 0o600); err != nil {
		t.Fatal(err)
	}
	h.wantDoubt(h.start(), "it is an older file")
	if err := h.db.TryWitness(t.Context()); err != nil {
		t.Errorf("tried: %v", err)
	}
	if r := h.db.Refusing(); r.Witness != nil {
		t.Errorf("nothing was tried, and it failed: %v", r.Witness)
	}
	if now, err := os.ReadFile(h.guard.Witness); err != nil || !bytes.Equal(now, evidence) {
		t.Errorf("the witness was %q and is %q, %v", evidence, now, err)
	}
}
