package store

import (
	"path/filepath"
	"testing"
)

// A witness that cannot be told at once that people's decisions are committed is told with the next commit: until then an
// older file without them would pass for one whose last commit did not come through.
func TestWitness_IsToldLaterWhatItCouldNotBeToldAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &committer{witness: &witness{path: dir, last: &testimony{Store: "s", Instance: "i", From: 1, To: 2}}} // a folder cannot be read
	c.confirm([]*operation{{decided: true}})
	if !c.owes || c.witness.last.From != 1 {
		t.Fatalf("owes %v, witness %+v", c.owes, c.witness.last)
	}
	c.witness.path = filepath.Join(dir, "claims")
	c.confirm([]*operation{{}})
	told, err := readWitness(c.witness.path)
	if err != nil || told == nil || told.From != 2 || told.To != 2 || c.owes {
		t.Errorf("told %+v, %v; owes %v", told, err, c.owes)
	}
}
