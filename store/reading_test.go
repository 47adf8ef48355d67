package store_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"creditonce/credit"
	"creditonce/store"
)

// firstSchema writes the store that a program of the first schema left: two events, two done credits. It is in a folder of its own.
func firstSchema(t *testing.T) (path string, file []byte) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "schema-1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if file, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "store.db")
	put(t, path, file)
	return path, file
}

func put(t *testing.T, path string, file []byte) {
	t.Helper()
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// onlyFile sees that the folder holds the file as it was, and nothing else.
func onlyFile(t *testing.T, path string, file []byte) {
	t.Helper()
	now, err := os.ReadFile(path)
	if err != nil || sha256.Sum256(now) != sha256.Sum256(file) {
		t.Errorf("the file was changed (%v)", err)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 1 {
		t.Errorf("beside it: %v, %v", names, err)
	}
}

// An older store is read whole, in its own numbers, and stays what it is for the program that wrote it.
func TestOpenReading_ReadsAnOlderSchemaAndChangesNothing(t *testing.T) {
	t.Parallel()
	path, file := firstSchema(t)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if s, schema, err := store.ReadSettings(path); err != nil || schema != 1 || s.StoreID == "" || s.Mode != credit.ModeLive {
		t.Errorf("settings %+v of schema %d, %v", s, schema, err)
	}
	db, err := store.OpenReading(path)
	if err != nil {
		t.Fatal(err)
	}
	if db.Schema() != 1 {
		t.Errorf("it says schema %d", db.Schema())
	}
	if r, err := db.Verify(t.Context(), nil); err != nil || !r.Clean() || r.Checked < 20 {
		t.Errorf("%+v, %v", r, err)
	}
	if n, err := db.Counts(t.Context()); err != nil || n.Events != 2 || n.Rows[credit.Done] != 2 {
		t.Errorf("counts %+v, %v", n, err)
	}
	same := func(s credit.Settings) (credit.Settings, error) { return s, nil }
	if _, err := db.Settle(t.Context(), same); !errors.Is(err, credit.ErrInvalid) || !strings.Contains(err.Error(), "for reading alone") {
		t.Errorf("a change gave %v", err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := store.VerifyFile(t.Context(), path, nil)
	if err != nil || c.Schema != 1 || c.Counts.Rows[credit.Done] != 2 || c.Claims != 2 || c.Newest.IsZero() || c.StoreID == "" {
		t.Errorf("content %+v, %v", c, err)
	}
	onlyFile(t, path, file)
}

// Whoever does not start the service raises nothing, whatever it wants to do with the store.
func TestOpen_RaisesAnOlderSchemaOnlyForWhoSaysSo(t *testing.T) {
	t.Parallel()
	path, file := firstSchema(t)
	_, err := store.Open(path, store.Options{})
	var schema *store.SchemaError
	if !errors.As(err, &schema) || schema.Found != 1 || !strings.Contains(err.Error(), "Nothing was changed") {
		t.Errorf("opened: %v", err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "LOCK")); err != nil {
		t.Error(err)
	}
	onlyFile(t, path, file)
	db := open(t, path, store.Options{Raise: true, UnsafeNoSync: true})
	closeWhole(t, db)
	if kept, err := os.Stat(path + ".schema-1"); err != nil || kept.Size() == 0 {
		t.Errorf("the file as it was: %v", err)
	}
}

// Each flipped bit of an older file is found, and every damaged record is named.
func TestVerifyFile_FindsTheDamageOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	path, file := firstSchema(t)
	for name, c := range map[string]struct {
		mark string
		want []string
	}{
		"references":          {"dep:", []string{`bucket "credits", key 1:`, `bucket "credits", key 2:`}},
		"bodies":              {`{"type":"payment.paid","timestamp"`, []string{`bucket "bodies"`}},
		"a deposit":           {`{"number":2,"deposit"`, []string{`bucket "deposits"`}},
		"the settings":        {`{"store_id"`, []string{"it cannot be raised from schema version 1", `bucket "meta"`}},
		"the list of buckets": {"credit by state", []string{"pages"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := bytes.Clone(file)
			flipped := 0
			for at := 0; ; flipped++ {
				i := bytes.Index(bad[at:], []byte(c.mark))
				if i < 0 {
					break
				}
				at += i + len(c.mark)
				bad[at+2] ^= 1
			}
			if flipped == 0 {
				t.Fatalf("the file has no %q", c.mark)
			}
			path := filepath.Join(t.TempDir(), "bad.db")
			put(t, path, bad)
			_, err := store.VerifyFile(t.Context(), path, nil)
			var found *store.FoundError
			if !errors.As(err, &found) {
				t.Fatalf("%v", err)
			}
			all := strings.Join(found.Report.Findings, "\n")
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q is missing in\n%s", want, all)
				}
			}
			onlyFile(t, path, bad)
		})
	}
	onlyFile(t, path, file)
}

// Wherever a bit of a file is wrong, in what is stored or in what leads to it: the check ends with an answer, and never with the process.
func TestVerifyFile_OutlivesEveryFlippedBit(t *testing.T) {
	t.Parallel()
	path, older := firstSchema(t)
	closeWhole(t, open(t, path, store.Options{Raise: true, UnsafeNoSync: true}))
	raised, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	sound := 0
	const tries = 300
	for i := range tries {
		file := bytes.Clone([][]byte{older, raised}[i%2])
		page := os.Getpagesize()
		at := r.IntN(len(file))
		if i%3 > 0 { // mostly the heads of pages, with the first numbers in them
			at = at/page*page + r.IntN(48)
		}
		file[at] ^= 1 << r.IntN(8)
		put(t, path, file)
		if c, err := store.VerifyFile(t.Context(), path, nil); err == nil {
			sound++ // in a page that is free, or in the older of the two heads
			if c.Counts.Rows[credit.Done] != 2 || c.Counts.Events != 2 {
				t.Errorf("byte %d of file %d: it holds %+v", at, i%2, c)
			}
		}
	}
	if sound == tries {
		t.Error("no damage was ever found")
	}
}

// Too little room for the copy is said as that, with where it could be found, and says nothing against the file.
func TestOpenReading_SaysThatThereIsTooLittleRoom(t *testing.T) {
	t.Parallel()
	path, _ := firstSchema(t)
	var room *store.RoomError
	if err := store.RoomToRead(path, 4<<20); !errors.As(err, &room) || room.Free != 4<<20 || !strings.Contains(err.Error(), "4 MiB of 5 MiB") || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("with 4 MiB: %v", err)
	}
	if err := store.RoomToRead(path, 5<<20); err != nil {
		t.Errorf("with 5 MiB: %v", err)
	}
}

// A store in use is told from a missing one, at once and without a trace; while one reads, nobody writes, and others read.
func TestOpenReading_ExcludesWritersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, excludesWritersAlone)
}

func excludesWritersAlone(t *testing.T) {
	path, _ := firstSchema(t)
	if _, err := store.OpenReading(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing one: %v", err)
	}
	db := open(t, path, store.Options{Raise: true, UnsafeNoSync: true})
	var running *store.AlreadyRunningError
	if _, err := store.OpenReading(path); !errors.As(err, &running) || running.PID != os.Getpid() {
		t.Errorf("beside a service: %v", err)
	}
	if _, _, err := store.ReadSettings(path); !errors.As(err, &running) {
		t.Errorf("settings beside a service: %v", err)
	}
	closeWhole(t, db)
	first, err := store.OpenReading(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := store.OpenReading(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Schema() != store.SchemaVersion {
		t.Errorf("it says schema %d", first.Schema())
	}
	if _, err := store.Open(path, store.Options{}); err == nil || !strings.Contains(err.Error(), "another program has the file open") {
		t.Errorf("a writer beside readers: %v", err)
	}
	if err := errors.Join(first.Close(t.Context()), second.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
