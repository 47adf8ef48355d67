package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/store"
)

// damageEnv makes the test binary a service whose file is damaged under it, so that a crash is seen as one.
const damageEnv = "STORE_TEST_DAMAGE"

// many is enough payments for branch pages in several buckets.
const many = 60

// manyPayments is a store that nobody has open.
func manyPayments(t *testing.T) (path string) {
	t.Helper()
	w, db := world(t, func(o *store.Options) { o.UnsafeNoSync, o.Strict = true, false })
	for i := range many {
		w.Pay(uint64(1001+i), 500)
	}
	w.End()
	return db.Path()
}

// sameKind returns where the pages of a kind begin that are in use.
func sameKind(file []byte, flags uint16) (out []int) {
	page := os.Getpagesize()
	for at := 2 * page; at < len(file); at += page {
		if binary.NativeEndian.Uint64(file[at:]) == uint64(at/page) && binary.NativeEndian.Uint16(file[at+8:]) == flags {
			out = append(out, at)
		}
	}
	return out
}

// damageUnderService flips bits in a store that is open, and lets it verify, read and write.
func damageUnderService(path string) error {
	ctx := context.Background()
	db, err := store.Open(path, store.Options{UnsafeNoSync: true})
	if err != nil {
		return err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	disk, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	found := 0
	for _, kind := range []uint16{1, 2} {
		for _, at := range sameKind(file, kind) {
			for _, change := range []struct{ at, bit int }{{10, 0}, {11, 6}, {19, 6}, {23, 6}, {27, 6}} {
				n, err := damaged(db, disk, file, at+change.at, change.bit)
				if err != nil {
					return fmt.Errorf("page %d, byte %d, bit %d: %w", at/os.Getpagesize(), change.at, change.bit, err)
				}
				found += n
			}
		}
	}
	r, err := db.Verify(ctx, nil)
	if err != nil || !r.Clean() {
		return fmt.Errorf("with all bits as they were: %q, %w", r.Findings, err)
	}
	fmt.Println("found", found)
	return errors.Join(disk.Close(), db.Close(ctx))
}

// damaged flips a bit, looks at everything, and flips it back.
func damaged(db *store.DB, disk *os.File, file []byte, at, bit int) (found int, err error) {
	ctx := context.Background()
	if _, err := disk.WriteAt([]byte{file[at] ^ 1<<bit}, int64(at)); err != nil {
		return 0, err
	}
	r, err := db.Verify(ctx, nil)
	if err != nil {
		return 0, err
	}
	if len(r.Findings) > 0 {
		found = 1
	}
	for id := range credit.ID(many) { // an error or the row; never a crash
		if _, err := db.Dossier(ctx, id+1); err != nil {
			found = 1
		}
	}
	_, err = disk.WriteAt(file[at:at+1], int64(at))
	return found, err
}

// A page that is damaged while a service has the file open is a finding of its verification and an error of whoever reads it. The process that takes
// the webhooks lives on.
func TestDamageUnderAService_IsFoundAndOutlived(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), damageEnv+"="+manyPayments(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.6000s", err, out)
	}
	var found int
	if _, err := fmt.Sscanf(string(out), "found %d", &found); err != nil || found < 60 {
		t.Errorf("%.2000s", out)
	}
}

// No store is opened to work with in which keys cannot be found any more: what is there already would be taken for new, and paid again. Its
// verification names the page.
func TestOpen_RefusesAFileWithADamagedBranch(t *testing.T) {
	t.Parallel()
	path := manyPayments(t)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, at := range sameKind(file, 1) {
		for bit := range 8 {
			bad := bytes.Clone(file)
			bad[at+10] ^= 1 << bit
			put(t, path, bad)
			_, findings := store.VerifyFile(t.Context(), path, nil)
			if findings == nil {
				continue // a page that is not in use
			}
			refused++
			var found *store.FoundError
			page := fmt.Sprintf("page %d: ", at/os.Getpagesize())
			if !errors.As(findings, &found) || !strings.Contains(findings.Error(), page) {
				t.Errorf("bit %d: verify says %v", bit, findings)
			}
			_, err := store.Open(path, store.Options{})
			if !errors.As(err, &found) || !strings.Contains(err.Error(), "the file is damaged: ") || !strings.Contains(err.Error(), page) {
				t.Errorf("bit %d: opened: %v", bit, err)
			}
		}
	}
	if refused < 16 {
		t.Errorf("%d files were refused", refused)
	}
}
