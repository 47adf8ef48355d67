package store_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// Every line that contradicts an earlier one is counted, also where the list of them ends.
func TestJ_ContradictingLinesAreAllCounted(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	if _, err := importFile(t.Context(), db, "d1", settled("d1", 1200)); err != nil {
		t.Fatal(err)
	}
	other := settled("d2", 1201)
	for i := range other {
		other[i].Fee = storetest.Money(-11)
	}
	im, err := importFile(t.Context(), db, "d2", other)
	if err != nil || im.Contradicting != 1200 || im.Differing() != 1200 || len(im.Conflicts) != 100 || im.Stored != 1201 {
		t.Fatalf("%d contradict, %d listed, %d stored, %v", im.Contradicting, len(im.Conflicts), im.Stored, err)
	}
	kept, err := db.Statements(t.Context(), recon.StatementQuery{Limit: 1})
	if err != nil || kept[0].Contradicting != 1200 {
		t.Errorf("as it is kept: %+v, %v", kept, err)
	}
	tasks, err := db.Tasks(t.Context(), store.TaskQuery{Limit: 10})
	if err != nil || len(tasks) != 1 || !strings.Contains(tasks[0].Summary, "1,200 rows differ from an earlier statement") {
		t.Fatalf("tasks %+v, %v", tasks, err)
	}
	fields := tasks[0].Records[0].Fields
	if last := fields[len(fields)-1]; last != (credit.Field{Name: "further rows", Value: "1,180"}) {
		t.Errorf("%+v", last)
	}
	if n := mustRead(t, db); n != 1201 {
		t.Errorf("%d lines count", n)
	}
}
