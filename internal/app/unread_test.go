package app_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"creditonce/internal/app"
	"creditonce/store"
)

// Only a file of which something is known to be wrong is called no whole backup.
func TestIsUnread_TellsWhatWasNotReadFromWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&store.RoomError{Schema: 1}, true},
		{&store.SchemaError{Found: store.SchemaVersion + 1}, true},
		{os.ErrPermission, true},
		{os.ErrNotExist, true},
		{context.Canceled, true},
		{&store.SchemaError{Found: -1}, false},
		{&store.SchemaError{}, false},
		{&store.FoundError{Report: store.Report{Findings: []string{"pages"}}}, false},
		{&store.DamageError{Bucket: "meta"}, false},
	} {
		if got := app.IsUnread(fmt.Errorf("verify: %w", c.err)); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}
