package store

import (
	"os"
	"path/filepath"
	"testing"
)

// A process that dies while it makes the witness leaves no file of that name: the next start would refuse an empty one.
func TestWitness_ADeathDuringItsFirstWriteLeavesNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "witness", "claims")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(`{"creditonce_wit`), 0o600); err != nil {
		t.Fatal(err) // as far as the dead process came
	}
	if seen, err := readWitness(path); seen != nil || err != nil {
		t.Fatalf("read %+v, %v where there is none", seen, err)
	}
	if err := writeSlot(path, testimony{Form: witnessMark, Turn: 1, Store: "s", Instance: "i", To: 3}); err != nil {
		t.Fatal(err)
	}
	if seen, err := readWitness(path); err != nil || seen == nil || seen.To != 3 {
		t.Errorf("read %+v, %v", seen, err)
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("the file of the dead process is still there")
	}
}
