package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

func settings() credit.Settings {
	at := time.Date(2026, 5, 4, 9, 0, 0, 1001, time.UTC)
	return credit.Settings{StoreID: "store-1", Environment: "test", Mode: credit.ModeObserve, ModeAt: at, CreatedAt: at}
}

// everything reads all that a store can show, as JSON.
func everything(t *testing.T, db *store.DB) string {
	t.Helper()
	var all []any
	add := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	ctx := t.Context()
	s, err := db.Settings(ctx)
	add(s, err)
	events, err := db.Events(ctx, 0, 1000)
	add(events, err)
	for _, e := range events {
		body, err := db.EventBody(ctx, e.ID)
		add(body, err)
	}
	rows, err := db.Rows(ctx, credit.RowQuery{Limit: 1000})
	add(rows, err)
	for _, r := range rows {
		h, err := db.History(ctx, r.ID)
		add(h, err)
		d, err := db.Dossier(ctx, r.ID)
		add(d, err)
	}
	tasks, err := db.Tasks(ctx, store.TaskQuery{Limit: 1000})
	add(tasks, err)
	n, err := db.Counts(ctx)
	add(n, err)
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fill puts a bit of everything into the store.
func fill(w *storetest.World) {
	w.Pay(1001, 500)
	w.Work(2)
	w.Pay(1001, 700)
	w.Accept(w.Event(storetest.Paid("pay-held", "", "", 500)))
	f := storetest.Paid("pay-clash", "", "", 500)
	f.CodesClash = true
	w.Accept(w.Event(f))
	w.Accept(w.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: "pay-held", Movement: "re_1", Moved: storetest.Money(1)}))
}

func TestReopen_KeepsAll(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	fill(w)
	before := everything(t, db)
	w.End()
	again := open(t, db.Path(), store.Options{})
	defer again.Close(t.Context())
	if after := everything(t, again); after != before {
		t.Errorf("before closing:\n%s\nafter opening again:\n%s", before, after)
	}
}

func TestNewStore_HasItsSettingsInMicroseconds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path+".new", []byte("left by a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, store.Options{New: settings()})
	defer db.Close(t.Context())
	got, err := db.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := settings()
	want.ModeAt, want.CreatedAt = want.ModeAt.Truncate(time.Microsecond), want.CreatedAt.Truncate(time.Microsecond)
	want.Instance = want.StoreID
	if !reflect.DeepEqual(got, want) {
		t.Errorf("settings %+v, want %+v", got, want)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of the creation is still there: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: others may read the store", info.Mode(), err)
	}
}

func TestSecondOpen_SaysWhoHasTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "store.db"), store.Options{New: settings()})
	_, err := store.Open(filepath.Join(dir, "store.db"), store.Options{New: settings()})
	var running *store.AlreadyRunningError
	if !errors.As(err, &running) {
		t.Fatalf("second open: %v", err)
	}
	if running.PID != os.Getpid() || running.Path != filepath.Join(dir, "LOCK") {
		t.Errorf("it names process %d and %s", running.PID, running.Path)
	}
	if text := err.Error(); !strings.Contains(text, strconv.Itoa(os.Getpid())) || !strings.Contains(text, running.Path) {
		t.Errorf("the message does not say who and where: %s", text)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := open(t, filepath.Join(dir, "store.db"), store.Options{})
	if err := again.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(running.Path); err != nil {
		t.Errorf("the lock file was removed: %v", err)
	}
}

func TestOpen_RefusesWithAClearMessage(t *testing.T) {
	t.Parallel()
	write := func(b []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	schema := func(version int) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db := open(t, path, store.Options{New: settings()})
			err := db.Raw(func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("schema"), store.Seal("meta", []byte("schema"), fmt.Appendf(nil, `{"version":%d}`, version)))
			})
			if err := errors.Join(err, db.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign := func(t *testing.T, path string) {
		b, err := bolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
		if err := errors.Join(err, b.Close()); err != nil {
			t.Fatal(err)
		}
	}
	cut := func(t *testing.T, path string) {
		db := open(t, path, store.Options{New: settings()})
		if err := db.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clear(b[:3*os.Getpagesize()])
		write(b)(t, path)
	}
	no := store.Options{}
	odd := store.Options{New: settings()}
	odd.New.Environment = "staging"
	for _, c := range []struct {
		name string
		make func(*testing.T, string)
		o    store.Options
		want string
	}{
		{"text", write(bytes.Repeat([]byte("hello "), 10_000)), no, "no bbolt database"},
		{"short text", write([]byte("hello")), no, "no bbolt database"},
		{"empty file", write(nil), no, "the file is empty"},
		{"head lost", cut, no, "no bbolt database, or its head is damaged"},
		{"directory", func(t *testing.T, path string) { _ = os.Mkdir(path, 0o700) }, no, "not a file"},
		{"missing", func(*testing.T, string) {}, no, "there is no store"},
		{"new with odd settings", func(*testing.T, string) {}, odd, "environment (live or test)"},
		{"of another program", foreign, no, "of another program"},
		{"newer", schema(4), no, "schema version 4, this program knows version 3: start the program version that wrote it"},
		{"older", schema(-1), no, "version 1 is the first that exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			c.make(t, path)
			db, err := store.Open(path, c.o)
			if err == nil {
				_ = db.Close(t.Context())
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the message is %q, want %q and the path in it", err, c.want)
			}
			if c.name == "empty file" {
				if info, err := os.Stat(path); err != nil || info.Size() != 0 {
					t.Errorf("the refused file was changed: %v", err)
				}
			}
		})
	}
}

// A file that another program has locked is refused after a short wait, not waited for.
func TestOpen_DoesNotWaitForAReaderOfTheFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		if err := open(t, path, store.Options{New: settings()}).Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		reader, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		begun := time.Now()
		_, err = store.Open(path, store.Options{})
		if err == nil || !strings.Contains(err.Error(), "another program has the file open") {
			t.Errorf("opened beside a reader: %v", err)
		}
		if waited := time.Since(begun); waited > 3*time.Second {
			t.Errorf("it waited %v", waited)
		}
	})
}

// After a commit error the handle serves nothing more, in any verb; what was acknowledged before is on disk.
func TestCommitError_StopsTheStore(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) { o.MaxSize = 600 << 10 })
	var acked []credit.EventID
	var failure error
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 4096)
	for i := range 10_000 {
		_, _ = random.Read(noise)
		e := storetest.WithBody(w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500)), bytes.Clone(noise))
		r, err := db.Accept(t.Context(), e, credit.IntakeRules{Now: w.Clock.Now()})
		if err != nil {
			failure = err
			break
		}
		acked = append(acked, r.Event)
	}
	if !errors.Is(failure, credit.ErrStopped) || !strings.Contains(failure.Error(), "maximum size") {
		t.Fatalf("a full file gave %v", failure)
	}
	if cause, open := <-db.Failed(); !open || !errors.Is(cause, credit.ErrStopped) {
		t.Errorf("Failed gave %v, %v", cause, open)
	}
	if _, open := <-db.Failed(); open {
		t.Error("Failed gave a second cause")
	}
	_, e1 := db.Accept(t.Context(), w.Event(storetest.Paid("x", "", "", 1)), credit.IntakeRules{Now: w.Clock.Now()})
	_, e2 := db.Advance(t.Context(), 1, func(credit.Dossier) (credit.Decision, error) { return credit.Decision{}, nil })
	_, e3 := db.Credit(t.Context(), 1)
	_, e4 := db.Counts(t.Context())
	_, e5 := db.Verify(t.Context(), nil)
	_, e6 := db.Settings(t.Context())
	_, e7 := db.PurgeAnswers(t.Context(), w.Clock.Now(), 1)
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
		if !errors.Is(err, credit.ErrStopped) {
			t.Errorf("verb %d after the stop: %v", i+1, err)
		}
	}
	w.Must(db.Close(t.Context()))
	again := open(t, db.Path(), store.Options{})
	defer again.Close(t.Context())
	for _, id := range acked {
		if _, err := again.EventBody(t.Context(), id); err != nil {
			t.Errorf("acknowledged event %d: %v", id, err)
		}
	}
	if r, err := again.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("after a full file: %v, %v", r.Findings, err)
	}
}

// With a floor, the file's own limit refuses intake before it stops anything.
func TestH25_MaxSizeRefusesIntakeBeforeTheCommitFails(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) {
		o.MaxSize, o.RefuseIntakeBelow, o.Strict = 64<<20, 40<<20, false
		o.Free = func(string) (uint64, error) { return 1 << 40, nil }
	})
	var failure error
	random := rand.NewChaCha8([32]byte{1})
	body := make([]byte, 256<<10)
	for i := 0; failure == nil && i < 1000; i++ {
		_, _ = random.Read(body)
		_, failure = db.Accept(t.Context(), storetest.WithBody(w.Event(storetest.Paid(fmt.Sprint("pay-", i), "", "", 500)), body), credit.IntakeRules{Now: w.Clock.Now()})
	}
	if !errors.Is(failure, credit.ErrBusy) || !strings.Contains(failure.Error(), "disk") {
		t.Errorf("near the file's limit: %v", failure)
	}
	select {
	case err := <-db.Failed():
		t.Errorf("the store stopped: %v", err)
	default:
	}
	w.End()
}

// Room that cannot be measured counts as none.
func TestUnknownSpace_RefusesIntake(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) {
		o.RefuseIntakeBelow = 1
		o.Free = func(string) (uint64, error) { return 0, errors.New("no answer") }
	})
	_, err := db.Accept(t.Context(), w.Event(storetest.Paid("pay-1", "", "", 500)), credit.IntakeRules{Now: w.Clock.Now()})
	if !errors.Is(err, credit.ErrBusy) {
		t.Errorf("with unknown room: %v", err)
	}
	w.End()
}
