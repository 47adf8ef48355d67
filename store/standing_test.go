package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

// house is a store with a guard, which tests stop, copy and start again.
type house struct {
	t       *testing.T
	path    string
	guard   store.Guard
	w       *storetest.World
	db      *store.DB
	id      string // of a store that is made; empty: as always
	started int
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &house{t: t, path: filepath.Join(dir, "data", "store.db"), guard: store.Guard{
		Witness: filepath.Join(dir, "data-witness", "claims"), Machine: "machine-1",
		Booted: time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC), Now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC),
	}}
}

// try opens the store.
func (h *house) try() error {
	h.t.Helper()
	fresh := settings()
	fresh.Mode, fresh.CutoverAt = credit.ModeLive, fresh.CreatedAt
	if h.id != "" {
		fresh.StoreID = h.id
	}
	guard := h.guard
	db, err := store.Open(h.path, store.Options{New: fresh, Strict: true, UnsafeNoSync: true, Raise: true, Guard: &guard})
	if err != nil {
		return err
	}
	h.db = db
	if h.w == nil {
		h.w = storetest.NewWorld(h.t, func(storetest.Setup) storetest.Backend { return db }, storetest.Setup{})
	}
	h.w.B = db
	return nil
}

func (h *house) start() store.Standing {
	h.t.Helper()
	if err := h.try(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.stop)
	return h.db.Standing()
}

func (h *house) stop() {
	h.t.Helper()
	if err := h.db.Close(context.Background()); err != nil && !errors.Is(err, credit.ErrStopped) {
		h.t.Error(err)
	}
}

// pay credits some payments.
func (h *house) pay(n int) {
	h.t.Helper()
	for range n {
		h.started++
		row := h.w.Pay(uint64(1000+h.started), 500)
		h.w.Work(2)
		h.w.InState(row.ID, credit.Done)
	}
}

func (h *house) copyTo(path string) {
	h.t.Helper()
	b, err := os.ReadFile(h.path)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) settings() credit.Settings {
	h.t.Helper()
	s, err := h.db.Settings(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// wantDoubt sees that the start found a reason to doubt: stored, mode hold, one task, intake alive, nothing claimed.
func (h *house) wantDoubt(s store.Standing, reason string) {
	h.t.Helper()
	if !strings.Contains(s.Doubt, reason) {
		h.t.Fatalf("standing %+v, want a doubt about %q", s, reason)
	}
	settings := h.settings()
	if settings.Doubt == nil || settings.Doubt.Reason != s.Doubt || settings.Mode != credit.ModeHold || !strings.Contains(settings.ModeReason, reason) {
		h.t.Errorf("settings %+v", settings)
	}
	tasks := 0
	for _, t := range h.w.OpenTasks() {
		if t.Kind == credit.TaskDoubt {
			tasks++
		}
	}
	if tasks != 1 {
		h.t.Errorf("%d tasks about the doubt", tasks)
	}
	row := h.w.Pay(uint64(4711+h.started), 900)
	before := h.w.MT5.Calls()
	h.w.Work(3)
	h.w.InState(row.ID, credit.Pending)
	if h.w.MT5.Calls() != before {
		h.t.Error("a store in doubt called")
	}
}

// H20: a backup is copied over the store without the command.
func TestH20_AFileCopiedBackByHandIsNoticed(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(h *house, from string){
		"renamed over it": func(h *house, from string) {
			if err := os.Rename(from, h.path); err != nil {
				h.t.Fatal(err)
			}
		},
		"written into it": func(h *house, from string) { // the inode stays: only the witness knows
			b, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(h.path, b, 0o600)
			}
			if err != nil {
				h.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.start()
			h.pay(1)
			h.stop()
			backup := h.path + ".backup"
			h.copyTo(backup)
			h.start()
			h.pay(3)
			h.stop()
			put(h, backup)
			s := h.start()
			if name == "written into it" {
				h.wantDoubt(s, "has seen 3 claims and decisions and the store has 1: it is an older file")
			} else {
				h.wantDoubt(s, "a copy, or a file put back")
			}
			h.stop()
			again := h.start()
			if settings := h.settings(); settings.Doubt == nil || settings.Mode != credit.ModeHold {
				t.Errorf("a further start forgot the doubt: %+v, %+v", again, settings)
			}
		})
	}
}

// H21: the data directory is copied to another machine, or a second one started beside it.
func TestH21_ACopyElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	h.stop()
	other := &house{t: t, path: filepath.Join(t.TempDir(), "store.db"), guard: h.guard, w: h.w}
	other.guard.Machine = "machine-2"
	h.copyTo(other.path)
	other.wantDoubt(other.start(), "another machine")
	beside := &house{t: t, path: filepath.Join(t.TempDir(), "store.db"), guard: h.guard, w: h.w}
	beside.guard.Witness = filepath.Join(t.TempDir(), "witness")
	h.copyTo(beside.path)
	beside.wantDoubt(beside.start(), "a copy, or a file put back")
	if s := h.start(); s.Doubt != "" || s.Wait != "" {
		t.Errorf("the first one: %+v", s)
	}
}

// H23: the machine comes back from a snapshot, with the store and without the witness's disk.
func TestH23_AnOlderStoreUnderANewerWitnessIsNoticed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(2)
	h.stop()
	b, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.pay(2)
	h.stop()
	if err := os.WriteFile(h.path, b, 0o600); err != nil { // the same file, as it was
		t.Fatal(err)
	}
	h.wantDoubt(h.start(), "it is an older file")
}

// An older file of before the first claim says that it never claimed. With its witness gone too, nothing but the pin of an
// earlier start tells it from a new store.
func TestH20_AFileOfBeforeTheFirstClaimWithoutItsWitnessWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.stop()
	b, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.pay(1)
	h.stop()
	if err := errors.Join(os.WriteFile(h.path, b, 0o600), os.Remove(h.guard.Witness)); err != nil {
		t.Fatal(err)
	}
	if s := h.start(); s.Doubt != "" || !strings.Contains(s.Wait, "is missing") {
		t.Errorf("standing %+v", s)
	}
}

// H21: a file that is put over the open one is noticed before anything more is acknowledged.
func TestH21_AnotherFileAtThePathStopsTheStore(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]bool{"at the next commit": false, "without one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.start()
			h.pay(1)
			h.copyTo(h.path + ".copy")
			if err := h.db.SeeFile(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(h.path+".copy", h.path); err != nil {
				t.Fatal(err)
			}
			var err error
			if idle {
				err = h.db.SeeFile(t.Context())
			} else {
				_, err = h.db.Accept(t.Context(), h.w.Event(storetest.Paid("p", "", "", 100)), credit.IntakeRules{Now: h.w.Clock.Now()})
			}
			var moved *store.MovedError
			if !errors.Is(err, credit.ErrStopped) || !errors.As(err, &moved) {
				t.Fatalf("error %v", err)
			}
			if cause := <-h.db.Failed(); !errors.As(cause, &moved) {
				t.Errorf("failed with %v", cause)
			}
		})
	}
}

// H24: a store of the first schema is brought to this one, and what it was is kept.
func TestH24_AnOlderSchemaIsRaisedAfterACopy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(2)
	_, err := h.db.Advance(t.Context(), 1, func(d credit.Dossier) (credit.Decision, error) {
		return credit.Decision{Open: []credit.Task{{Kind: credit.TaskSecondDeal, Entity: "credit/1", OpenedAt: time.Unix(1_800_000_000, 0)}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = h.db.Raw(func(tx *bolt.Tx) error {
		if err := tx.DeleteBucket([]byte("task stopping a login")); err != nil {
			return err
		}
		meta := tx.Bucket([]byte("meta"))
		old := strings.NewReplacer(`,"instance":"store-1"`, "").Replace(string(meta.Get([]byte("settings"))[1:]))
		old = old[:strings.Index(old, `,"place"`)] + "}"
		return errors.Join(
			meta.Delete([]byte("claims")),
			meta.Put([]byte("settings"), store.Seal("meta", []byte("settings"), []byte(old))),
			meta.Put([]byte("schema"), store.Seal("meta", []byte("schema"), []byte(`{"version":1}`))),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	h.stop()
	if err := os.RemoveAll(filepath.Dir(h.guard.Witness)); err != nil { // that version kept none
		t.Fatal(err)
	}
	was, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	s := h.start()
	if s.Claims != 2 || s.Doubt != "" || !strings.Contains(s.Wait, "is missing") {
		t.Errorf("standing %+v", s)
	}
	if got := h.settings(); got.Instance != "store-1" || got.Place == nil {
		t.Errorf("settings %+v", got)
	}
	kept, err := os.ReadFile(h.path + ".schema-1")
	if err != nil || len(kept) == 0 || len(kept) > len(was) {
		t.Errorf("kept %d of %d bytes, %v", len(kept), len(was), err)
	}
	if r, err := h.db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("%v, %v", r.Findings, err)
	}
	if d, err := h.db.Dossier(t.Context(), 1); err != nil || len(d.Stops) != 1 {
		t.Errorf("an open task of then stops the login: %+v, %v", d.Stops, err)
	}
}
