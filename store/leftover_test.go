package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"creditonce/store"
)

func TestBackup_WhatAKilledOneLeftIsRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	r := h.backup("b1")
	whole, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stay := []string{"b1.db", ".b1.db.partial", ".b1.db.12.part", ".other.34.partial", ".open.56.partial"}
	for name, text := range map[string][]byte{
		".b1.db.12.partial": whole, ".b2.7.partial": nil, ".cut.9.partial": whole[:5000],
		"b1.db": whole, ".b1.db.partial": whole, ".b1.db.12.part": whole, ".other.34.partial": []byte("something of somebody else, long enough"), ".open.56.partial": whole,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(r.Path, filepath.Join(dir, ".link.1.partial")); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(filepath.Join(dir, ".open.56.partial"))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.HoldFile(held); err != nil { // as a backup does that is under way
		t.Fatal(err)
	}
	gone, err := store.RemoveLeftovers(dir)
	if err != nil || len(gone) != 3 {
		t.Errorf("removed %v, %v", gone, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	want := append([]string{".link.1.partial"}, stay...)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("left %v, want %v", names, want)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := store.RemoveLeftovers(dir); err != nil || len(gone) != 1 {
		t.Errorf("once it is not written any more: %v, %v", gone, err)
	}
	if gone, err := store.RemoveLeftovers(filepath.Join(dir, "none")); err != nil || len(gone) > 0 {
		t.Errorf("a folder that is not there: %v, %v", gone, err)
	}
}

// While a backup is under way nobody takes its file for a leftover, and one that is not sealed has no name.
func TestBackup_IsSealedBeforeItHasItsName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	h.pay(1)
	dir := t.TempDir()
	to := filepath.Join(dir, "b1")
	refusal := errors.New("not you")
	_, err := h.db.BackupSealed(t.Context(), to, nil, func(r store.BackupReport) error {
		if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) || len(r.SHA256) != 64 || r.Claims != 1 {
			t.Errorf("it has its name already: %v, or is not told: %+v", err, r)
		}
		if gone, err := store.RemoveLeftovers(dir); err != nil || len(gone) > 0 {
			t.Errorf("its file was taken for a leftover: %v, %v", gone, err)
		}
		return refusal
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, refusal) || len(left) > 0 {
		t.Errorf("%v, left %v", err, left)
	}
}

func TestVerifyFile_SaysThatAFileIsInUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.start()
	if _, err := store.VerifyFile(context.Background(), h.path, nil); !errors.Is(err, store.ErrFileInUse) || strings.Contains(err.Error(), "timeout") {
		t.Errorf("got %v", err)
	}
}
