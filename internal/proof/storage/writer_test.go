package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

const (
	// imagesVariable says how many images of a lost power are opened.
	imagesVariable = "CREDITONCE_CRASH_IMAGES"
	fewImages      = 400
	// writerVariable makes a test of this binary the program whose power is lost; its value is the folder.
	writerVariable = "CREDITONCE_CRASH_WRITER"
	paymentsMade   = 4
)

// scene is the folder in which the writer works, and its images are opened: a store is bound to its file.
type scene struct{ dir string }

func (s scene) store() string   { return filepath.Join(s.dir, "data", "store.db") }
func (s scene) witness() string { return filepath.Join(s.dir, "witness", "claims") }
func (s scene) said() string    { return filepath.Join(s.dir, "said") }

func (s scene) open() (*store.DB, error) {
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	return store.Open(s.store(), store.Options{
		New:   credit.Settings{StoreID: "store-1", Environment: "test", Mode: credit.ModeLive, ModeAt: at, CreatedAt: at, CutoverAt: at},
		Guard: &store.Guard{Witness: s.witness(), Machine: "machine-1", Booted: at.Add(-time.Hour), Now: at},
	})
}

// TestImagesWriter is the program whose power is lost: it credits payments, and says after each step how many commits were
// acknowledged to it by then.
func TestImagesWriter(t *testing.T) {
	s := scene{os.Getenv(writerVariable)}
	if s.dir == "" {
		return // TestPowerLoss runs it, in a process of its own
	}
	said, err := os.OpenFile(s.said(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var db *store.DB
	w := storetest.NewWorld(t, func(storetest.Setup) storetest.Backend {
		if db, err = s.open(); err != nil {
			t.Fatal(err)
		}
		return db
	}, storetest.Setup{})
	credited := func(n int) {
		row := w.Pay(uint64(1000+n), 500)
		w.Work(2)
		w.InState(row.ID, credit.Done)
	}
	credited(0) // the witness is there from the first claim on
	if err := errors.Join(keep(s.store()), keep(s.witness())); err != nil {
		t.Fatal(err)
	}
	begun := db.Stats().Commits
	acknowledged := func() { _, _ = fmt.Fprintf(said, "%d\n", db.Stats().Commits-begun) } // read back by who judges
	acknowledged()
	for n := 1; n <= paymentsMade; n++ {
		credited(n)
		acknowledged()
		w.Accept(w.Event(storetest.Paid(fmt.Sprintf("held-%d", n), "", "", 500)))
		acknowledged()
	}
	w.End()
	if err := said.Close(); err != nil {
		t.Fatal(err)
	}
}

// keep copies a file beside it, as it is before what is traced.
func keep(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".before", text, 0o600)
}
