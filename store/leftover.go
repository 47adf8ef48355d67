package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// partialName is the name of a backup that is being written: os.CreateTemp puts a number in place of the star.
const partialName = ".%s.*.partial"

var partialForm = regexp.MustCompile(`^\..+\.[0-9]+\.partial$`)

// boltMagic stands behind the 16 bytes of the first page's header in every bbolt file, in the byte order of the machine.
const (
	boltMagic   = 0xED0CDAED
	boltMagicAt = 16
)

// RemoveLeftovers removes from a folder what killed backups left there: copies of the store under names of their own. What a
// running backup is writing stays, and so does every other file. It returns what it removed; a missing folder holds nothing.
func RemoveLeftovers(folder string) (removed []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for what killed backups left: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.Type().IsRegular() || !partialForm.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		gone, err := removeLeftover(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("remove what a killed backup left: %w", err))
		}
		if gone {
			removed = append(removed, path)
		}
	}
	return removed, errors.Join(errs...)
}

// removeLeftover removes the file when it is a store's copy that nobody is writing.
func removeLeftover(path string) (gone bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var head [boltMagicAt + 4]byte
	n, err := f.ReadAt(head[:], 0)
	if n > 0 && (err != nil || binary.NativeEndian.Uint32(head[boltMagicAt:]) != boltMagic) {
		return false, nil
	}
	free, err := flock(f)
	if err != nil || !free {
		return false, err
	}
	return true, removeIfThere(path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
