package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"creditonce/credit"
)

// Settings and tasks are one transaction: a change that fails writes neither, a task that is open is opened once.
func TestChange_SettingsAndTasksAreOneTransaction(t *testing.T) {
	t.Parallel()
	_, db := world(t, nil)
	ctx := context.Background()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	key := credit.TaskKey{Kind: credit.TaskPull, Entity: "provider/stripe"}
	failing := func(s credit.Settings) (credit.StoreChange, error) {
		s.Pulls = []credit.Pulled{{Provider: "stripe", FailingSince: at}}
		return credit.StoreChange{Settings: s, Open: []credit.Task{{Kind: key.Kind, Entity: key.Entity, OpenedAt: at}}}, nil
	}
	first, err := db.Change(ctx, failing)
	if err != nil || len(first.Opened) != 1 || first.Opened[0].ID == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := db.Change(ctx, failing); err != nil || len(again.Opened) != 0 {
		t.Errorf("opened twice: %+v, %v", again, err)
	}
	refused := errors.New("no")
	if _, err := db.Change(ctx, func(s credit.Settings) (credit.StoreChange, error) {
		s.Pulls = nil
		return credit.StoreChange{Settings: s}, refused
	}); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	s, err := db.Settings(ctx)
	if err != nil || len(s.Pulls) != 1 || !s.Pulls[0].FailingSince.Equal(at) {
		t.Errorf("settings %+v, %v", s.Pulls, err)
	}
	done, err := db.Change(ctx, func(s credit.Settings) (credit.StoreChange, error) {
		s.Pulls = []credit.Pulled{{Provider: "stripe", To: at}}
		return credit.StoreChange{Settings: s, Close: []credit.TaskClose{{Key: key, By: "pull", At: at, Reason: "complete"}}}, nil
	})
	if err != nil || len(done.Closed) != 1 || done.Closed[0].ID != first.Opened[0].ID || done.Closed[0].IsOpen() {
		t.Errorf("%+v, %v", done, err)
	}
}
