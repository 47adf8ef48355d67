package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
	"creditonce/store/storetest"
)

// restoreEnv makes the test binary restore a backup and kill itself at a step: path, backup, witness and step in a line each.
const restoreEnv = "STORE_TEST_RESTORE"

func restoreAndDie(spec string) {
	part := strings.Split(spec, "\n")
	_, err := store.Restore(context.Background(), part[0], store.RestoreOptions{
		From: part[1], Guard: store.Guard{Witness: part[2], Machine: "machine-1", Now: restoredAt}, Instance: "instance-2", By: "root", Reason: "drill",
		Step: func(name string) {
			if name == part[3] {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill()
				}
				select {}
			}
		},
	})
	fmt.Println("restored:", err)
	os.Exit(1)
}

var restoredAt = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)

func (h *house) restore(from string) (store.RestoreReport, error) {
	h.t.Helper()
	guard := h.guard
	guard.Now = restoredAt
	return store.Restore(h.t.Context(), h.path, store.RestoreOptions{From: from, Guard: guard, Instance: "instance-2", By: "root", Reason: "drill"})
}

func (h *house) backup(name string) store.BackupReport {
	h.t.Helper()
	r, err := h.db.Backup(h.t.Context(), filepath.Join(filepath.Dir(h.path), name), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestBackup_IsWholeAndNeverReplacesAFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(3)
	r := h.backup("b1")
	if r.Claims != 3 || r.StoreID != "store-1" || r.Counts.Rows[credit.Done] != 3 || r.Bytes == 0 || len(r.SHA256) != 64 || r.Newest.IsZero() {
		t.Errorf("report %+v", r)
	}
	before, err := os.ReadFile(r.Path)
	if err != nil || int64(len(before)) != r.Bytes {
		t.Fatalf("%d bytes, %v", len(before), err)
	}
	h.pay(1)
	if _, err := h.db.Backup(t.Context(), r.Path, nil); !errors.Is(err, store.ErrFileExists) {
		t.Errorf("a second one over it: %v", err)
	}
	if after, err := os.ReadFile(r.Path); err != nil || !slices.Equal(before, after) {
		t.Errorf("the first one was changed: %v", err)
	}
	if c, err := store.VerifyFile(t.Context(), r.Path, nil); err != nil || c.Claims != 3 {
		t.Errorf("content %+v, %v", c, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(h.path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.db.Backup(ctx, r.Path+"2", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// H20: the command moves every row that may have been called since, and what was held waits for people.
func TestH20_RestoreMovesRowsAndKeepsTheOldStore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	pending := h.w.Pay(2001, 500)
	held := h.w.Accept(h.w.Event(storetest.Paid("pay-held", "", storetest.Code(900), 500))).Rows[0].After
	h.backup("b1")
	h.w.Work(2)
	h.w.InState(pending.ID, credit.Done)
	h.pay(2)
	h.stop()
	was, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.restore(filepath.Join(filepath.Dir(h.path), "b1"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Moved[credit.Pending] != 1 || r.Moved[credit.Held] != 1 || r.Present == nil || r.Present.Claims != 4 || r.Backup.Claims != 1 {
		t.Errorf("report %+v", r)
	}
	if kept, err := os.ReadFile(r.Kept); err != nil || !slices.Equal(kept, was) || !strings.Contains(r.Kept, "20260504T103000Z") {
		t.Errorf("kept %s: %d of %d bytes, %v", r.Kept, len(kept), len(was), err)
	}
	if s := h.start(); s.Doubt != "" || s.Wait != "" || s.Claims != 1 {
		t.Errorf("standing %+v", s)
	}
	s := h.settings()
	if s.Mode != credit.ModeHold || s.Restore == nil || !s.Restore.At.Equal(restoredAt) || s.Restore.MovedAt.IsZero() || s.Instance != "instance-2" || s.Place == nil || s.Place.Inode == 0 {
		t.Errorf("settings %+v, restore %+v", s, s.Restore)
	}
	if row := h.w.InState(pending.ID, credit.Unknown); !row.Restored || row.Grants != 0 || row.NextAt.IsZero() {
		t.Errorf("the pending row: %+v", row)
	}
	if row := h.w.InState(held.ID, credit.Held); !row.Restored || !row.HasHold(credit.HoldRestored) || !row.HasHold(credit.HoldNoDeposit) {
		t.Errorf("the held row: %+v", row)
	}
	calls := h.w.MT5.Calls()
	h.w.Work(4)
	h.w.InState(pending.ID, credit.Done) // looking found the deal of before
	if h.w.MT5.Calls() != calls {
		t.Error("a restored store called")
	}
	if r, err := h.db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("%v, %v", r.Findings, err)
	}
}

// B23: killed at any step of a restore, the store is the old one, untouched, or the marked one; both open, and nothing else.
func TestB23_KilledAtEachStepOfARestore(t *testing.T) {
	t.Parallel()
	for _, step := range []string{store.StepMarked, store.StepWarned, store.StepKept, store.StepReplaced, store.StepRestored} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.start()
			h.pay(1)
			pending := h.w.Pay(2001, 500)
			backup := h.backup("b1").Path
			h.w.Work(2)
			h.pay(2)
			h.stop()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), restoreEnv+"="+strings.Join([]string{h.path, backup, h.guard.Witness, step}, "\n"))
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != -1 {
				t.Fatalf("it was not killed: %v, %s", err, out)
			}
			s := h.start()
			settings := h.settings()
			marked := slices.Index([]string{store.StepReplaced, store.StepRestored}, step) >= 0
			if s.Doubt != "" || s.Wait != "" || (settings.Restore != nil) != marked {
				t.Fatalf("standing %+v, settings %+v", s, settings)
			}
			want := map[bool]credit.State{true: credit.Unknown, false: credit.Done}[marked]
			h.w.InState(pending.ID, want)
			if marked != (settings.Mode == credit.ModeHold) {
				t.Errorf("mode %s", settings.Mode)
			}
			if !marked {
				h.pay(2) // the old one goes on as if nothing had been tried
			}
			h.stop()
			if _, err := h.restore(backup); err != nil { // and the restore can be done again
				t.Fatal(err)
			}
			if s := h.start(); s.Doubt != "" || s.Wait != "" || h.settings().Restore == nil {
				t.Errorf("after the second try: %+v", s)
			}
		})
	}
}

func TestRestore_RefusesWhatIsNoBackupAndLeavesTheStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(h *house, backup string) string
		want  string
	}{
		"missing":          {func(h *house, _ string) string { return h.path + ".none" }, "no such file"},
		"the store itself": {func(h *house, _ string) string { return h.path }, "that is the store itself"},
		"cut off": {func(h *house, b string) string {
			if err := os.Truncate(b, 20_000); err != nil {
				h.t.Fatal(err)
			}
			return b
		}, "cut off"},
		"a changed amount": {func(h *house, b string) string {
			db, err := bolt.Open(b, 0o600, nil)
			if err != nil {
				h.t.Fatal(err)
			}
			err = db.Update(func(tx *bolt.Tx) error {
				k, v := tx.Bucket([]byte("credits")).Cursor().First()
				v = slices.Clone(v)
				v[len(v)/2] ^= 1
				return tx.Bucket([]byte("credits")).Put(slices.Clone(k), v)
			})
			if err := errors.Join(err, db.Close()); err != nil {
				h.t.Fatal(err)
			}
			return b
		}, "the checksum does not match"},
		"open elsewhere": {func(h *house, b string) string {
			db, err := bolt.Open(b, 0o600, nil)
			if err != nil {
				h.t.Fatal(err)
			}
			h.t.Cleanup(func() { _ = db.Close() })
			return b
		}, "take one with creditonce backup"},
		"of another store": {func(h *house, _ string) string {
			other := newHouse(h.t)
			other.id = "store-2"
			other.start()
			return other.backup("b").Path
		}, "is of store store-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.start()
			h.pay(1)
			backup := h.backup("b1").Path
			h.pay(1)
			h.stop()
			was, err := os.ReadFile(h.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.restore(c.spoil(h, backup)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if now, err := os.ReadFile(h.path); err != nil || !slices.Equal(now, was) {
				t.Errorf("the store was changed: %v", err)
			}
			if _, err := os.Stat(h.path + ".restoring"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a copy is left: %v", err)
			}
			if s := h.start(); s.Doubt != "" || s.Wait != "" {
				t.Errorf("standing %+v", s)
			}
		})
	}
}

func TestRestore_IsRefusedWhileAServiceHasTheStore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	b := h.backup("b1").Path
	var running *store.AlreadyRunningError
	if _, err := h.restore(b); !errors.As(err, &running) {
		t.Errorf("error %v", err)
	}
}

// A disk was lost: store and witness are gone, and the backup is all there is.
func TestRestore_OnAnEmptyDisk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(2)
	b := h.backup("b1").Path
	h.stop()
	bare := newHouse(t)
	bare.w = h.w
	if _, err := bare.restore(b); err != nil {
		t.Fatal(err)
	}
	if s := bare.start(); s.Doubt != "" || s.Wait != "" || bare.settings().Restore == nil {
		t.Errorf("standing %+v", s)
	}
}

// Who was disabled since the backup, and which key was revoked, does not come back with it; who came since stays.
func TestRestore_KeepsTodaysPeopleAndKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	act := func(people []desk.Person, keys ...desk.Key) {
		t.Helper()
		_, err := h.db.Act(t.Context(), desk.Query{}, func(f desk.Found) (desk.Changes, error) {
			for i := range keys {
				if keys[i].Number == 0 {
					keys[i].Number = f.NextKey + uint64(i)
				}
			}
			return desk.Changes{People: people, Keys: keys, Record: desk.Record{Seq: f.NextRecord, Deed: desk.Did, Previous: f.Previous}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ada, abe := desk.Person{ID: "ada", Name: "Ada", Users: []string{"ada"}, Roles: []desk.Role{desk.Admin}}, desk.Person{ID: "abe", Name: "Abe", Users: []string{"abe"}, Roles: []desk.Role{desk.Admin}}
	act([]desk.Person{ada, abe}, desk.Key{Name: "shop", SHA256: "1"}, desk.Key{Name: "kept", SHA256: "2"})
	backup := h.backup("b1").Path
	gone := abe
	gone.Disabled = true
	revoked := desk.Key{Number: 1, Name: "shop", SHA256: "1", RevokedAt: restoredAt, RevokedBy: "ada"}
	act([]desk.Person{gone, {ID: "eve", Name: "Eve", Users: []string{"eve"}, Roles: []desk.Role{desk.Admin}}}, revoked)
	act(nil, desk.Key{Name: "shop", SHA256: "3"})
	h.stop()
	if _, err := h.restore(backup); err != nil {
		t.Fatal(err)
	}
	h.start()
	people, err := h.db.People(t.Context())
	if err != nil || len(people) != 3 {
		t.Fatalf("people %+v, %v", people, err)
	}
	for _, p := range people {
		if p.Disabled != (p.ID == "abe") {
			t.Errorf("%+v", p)
		}
	}
	keys, err := h.db.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	for _, k := range keys {
		live[k.SHA256] = k.Live()
	}
	if len(live) != 3 || live["1"] || !live["2"] || !live["3"] {
		t.Errorf("keys %+v", keys)
	}
	if r, err := h.db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("%v, %v", r.Findings, err)
	}
}
