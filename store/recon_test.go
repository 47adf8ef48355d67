package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// settled are n lines of a file.
func settled(digest string, n int) (out []recon.Line) {
	for i := range n {
		out = append(out, storetest.Settled(digest, i+2, fmt.Sprintf("p%d", i), 500))
	}
	return out
}

// importFile is an import in pieces of 100 lines, as the importer makes it.
func importFile(ctx context.Context, db *store.DB, digest string, lines []recon.Line) (recon.Imported, error) {
	id, before, done, err := db.BeginImport(ctx, storetest.Bank, digest)
	if err != nil || done {
		return before, err
	}
	for piece := range slices.Chunk(lines, 100) {
		if err := db.AddLines(ctx, id, piece); err != nil {
			return recon.Imported{}, err
		}
	}
	return db.FinishImport(ctx, id, recon.Statement{Digest: digest, Provider: storetest.Bank, Rows: len(lines)}, "schedule", time.Unix(1_800_000_000, 0))
}

// mustRead reads every line that counts.
func mustRead(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	for after := uint64(0); ; {
		page, next, err := db.Lines(t.Context(), nil, after, 200)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(page); next == 0 {
			return n
		}
		after = next
	}
}

// An import that dies at any of its writes leaves nothing that counts; the next one starts clean and brings in everything once.
func TestCrashInAnImport_LeavesNothingHalfImported(t *testing.T) {
	t.Parallel()
	died := errors.New("died here")
	for at := 0; ; at++ {
		path := filepath.Join(t.TempDir(), "store.db")
		db := open(t, path, store.Options{New: settings(), UnsafeNoSync: true})
		if _, err := importFile(t.Context(), db, "d0", settled("d0", 50)); err != nil {
			t.Fatal(err)
		}
		puts := 0
		db.FailPuts(func(int) error {
			if puts++; puts > at*71 { // from this write on nothing comes through: the process is gone
				return died
			}
			return nil
		})
		_, err := importFile(t.Context(), db, "d1", settled("d1", 320))
		db.FailPuts(nil)
		if err == nil {
			if n := mustRead(t, db); n != 320 { // 50 of them are those of the first file
				t.Errorf("a whole import: %d lines count", n)
			}
			closeWhole(t, db)
			if at < 10 {
				t.Errorf("only %d places were tried", at)
			}
			return
		}
		if !errors.Is(err, died) {
			t.Fatal(err)
		}
		if n := mustRead(t, db); n != 50 {
			t.Errorf("after the crash at write %d: %d lines count", at*71, n)
		}
		closeWhole(t, db)
		db = open(t, path, store.Options{UnsafeNoSync: true})
		if im, err := importFile(t.Context(), db, "d1", settled("d1", 320)); err != nil || im.Stored != 270 || im.Duplicates != 50 {
			t.Errorf("after the crash at write %d the second import gives %+v, %v", at*71, im, err)
		}
		if n := mustRead(t, db); n != 320 {
			t.Errorf("after the crash at write %d and a second import: %d lines count", at*71, n)
		}
		closeWhole(t, db)
	}
}

func closeWhole(t *testing.T, db *store.DB) {
	t.Helper()
	if r, err := db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("verify: %v, %v", r.Findings, err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// H24: a store of the schema before reconciliation gets its tables, and what it was is kept.
func TestH24_AStoreWithoutReconciliationIsRaised(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(2)
	err := h.db.Raw(func(tx *bolt.Tx) error {
		for _, name := range []string{
			"statements", "statement by digest", "statement by provider", "statement unfinished", "settlement lines", "line by place", "line by movement", "line superseding",
			"line repeats", "runs", "run unfinished", "run days", "findings", "discrepancies", "discrepancy standing",
		} {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), store.Seal("meta", []byte("schema"), []byte(`{"version":2}`)))
	})
	if err != nil {
		t.Fatal(err)
	}
	h.stop()
	h.start()
	if kept, err := os.Stat(h.path + ".schema-2"); err != nil || kept.Size() == 0 {
		t.Errorf("the file as it was: %v, %v", kept, err)
	}
	if im, err := importFile(t.Context(), h.db, "d1", settled("d1", 3)); err != nil || im.Stored != 3 {
		t.Errorf("imported %+v, %v", im, err)
	}
	if rows, err := h.db.CreditsAfter(t.Context(), 0, 0); err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if r, err := h.db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("%v, %v", r.Findings, err)
	}
}

// Each damage of what reconciliation stored is a finding that names it.
func TestVerify_NamesWhatIsWrongWithReconciliation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bucket string
		number int // of the entry, from the first
		old    string
		now    string // empty: the entry is removed
		want   string
	}{
		"a line is gone":         {"settlement lines", 0, "", "", "leads to row 1, which does not exist"},
		"a line of another file": {"settlement lines", 0, `"digest":"d1"`, `"digest":"d9"`, "line 1 is none of statement 1"},
		"a count of lines":       {"statements", 0, `"stored":2`, `"stored":3`, "statement 1 counts 3 lines, there are 2"},
		"a repeat is gone":       {"line repeats", 0, "", "", "statement 2 counts 1 repeated lines, there are 0"},
		"a finding is gone":      {"findings", 0, "", "", "run 1 saved 1 findings, there are 0"},
		"a day is gone":          {"run days", 0, "", "", "run 1 (complete) is not listed so under 2026-05-04"},
		"an open discrepancy":    {"discrepancies", 0, `"state":"open"`, `"state":"explained"`, "late of payment/psp/acct_1/p1 is explained"},
		"a movement is gone":     {"line by movement", 0, "", "", "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := reconciledStore(t)
			err := db.Raw(func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte(c.bucket))
				cur := b.Cursor()
				k, v := cur.First()
				for range c.number {
					k, v = cur.Next()
				}
				if c.now == "" {
					return b.Delete(slices.Clone(k))
				}
				payload, err := store.Unseal(c.bucket, k, v)
				if err != nil || !strings.Contains(string(payload), c.old) {
					return fmt.Errorf("%s in %s: %w", c.old, payload, errors.Join(err, credit.ErrInvalid))
				}
				return b.Put(slices.Clone(k), store.Seal(c.bucket, k, []byte(strings.Replace(string(payload), c.old, c.now, 1))))
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := db.Verify(t.Context(), nil)
			if err != nil || !slices.ContainsFunc(r.Findings, func(f string) bool { return strings.Contains(f, c.want) }) {
				t.Errorf("findings %q, %v, want one with %q", r.Findings, err, c.want)
			}
		})
	}
}

// reconciledStore has two statements, a run with one difference, and its task.
func reconciledStore(t *testing.T) *store.DB {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	ctx := t.Context()
	_, err1 := importFile(ctx, db, "d1", settled("d1", 2))
	_, err2 := importFile(ctx, db, "d2", settled("d2", 1))
	id, err3 := db.BeginRun(ctx)
	item := recon.Item{Key: recon.Key{Class: recon.Late, Entity: "payment/psp/acct_1/p1"}, Side: recon.SideProvider, Provider: "psp", Why: "late"}
	r := recon.Run{ID: id, First: "2026-05-04", Last: "2026-05-04", State: recon.RunComplete, Findings: 1}
	err4 := db.SaveFindings(ctx, id, []recon.Item{item})
	_, err5 := db.Carry(ctx, r, []recon.Item{item})
	if err := errors.Join(err1, err2, err3, err4, err5, db.FinishRun(ctx, r)); err != nil {
		t.Fatal(err)
	}
	if v, err := db.Verify(ctx, nil); err != nil || !v.Clean() {
		t.Fatalf("%q, %v", v.Findings, err)
	}
	return db
}

// Reading everything page by page while others write holds no snapshot: the file does not grow more than without the reader.
func TestPagesOfAList_HoldNoSnapshot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path, store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	for i := range 4 {
		digest := fmt.Sprintf("d%d", i)
		if _, err := importFile(t.Context(), db, digest, settled(digest, 500*(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	churn := func(n int) {
		for range n {
			_, err := db.Settle(t.Context(), func(s credit.Settings) (credit.Settings, error) {
				s.ModeReason = strings.Repeat("x", 1+(len(s.ModeReason)+1)%3)
				return s, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	churn(50)
	before := sizeOf(t, path)
	for after, more := uint64(0), true; more; {
		_, next, err := db.Lines(t.Context(), nil, after, 20)
		if err != nil {
			t.Fatal(err)
		}
		after, more = next, next != 0
		churn(4)
	}
	if grown := sizeOf(t, path) - before; grown > 0 {
		t.Errorf("the file grew by %d bytes", grown)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
