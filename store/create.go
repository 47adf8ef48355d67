package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/store/pages"
)

// SchemaError says that the file is a store of another program version, or none of creditonce.
type SchemaError struct {
	Found int    // its schema version; 0 where it has none
	Hint  string // what to do
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Found == 0 {
		return "this is not a store of creditonce: " + e.Hint
	}
	return fmt.Sprintf("the store has schema version %d, this program knows version %d: %s", e.Found, schemaVersion, e.Hint)
}

// noSuchSchema is the error of a version before the first.
func noSuchSchema(found int) error {
	return &SchemaError{found, "version 1 is the first that exists, so the file is damaged; restore a backup"}
}

// olderSchema is the error of a file that somebody wants to write to, and that nobody has raised.
func olderSchema(found int) error {
	return &SchemaError{found, "creditonce serve raises it at its start, and keeps the file as it was beside it. Nothing was changed; " +
		"creditonce verify reads it as it is, and while nothing has it open a plain copy of the file is a backup"}
}

// schemaRecord is kept under metaSchema.
type schemaRecord struct {
	Version int `json:"version"`
}

// ErrNoFile says that there is something else under the name: a folder, a device, a pipe. It is not opened, which might wait for ever.
var ErrNoFile = errors.New("it is not a file")

// ensure sees that a file of some content is at path: an existing one, or a new store. A new store appears under
// its name only when it is whole and on disk; a crash leaves a .new file, which the next start replaces.
func ensure(path string, s credit.Settings) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return ErrNoFile
	case err == nil && info.Size() == 0:
		return errors.New("the file is empty: a store never is; remove it if it is none, else restore a backup")
	case err == nil:
		return whole(path, info.Size())
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case s.StoreID == "":
		return fmt.Errorf("there is no store: %w", credit.ErrNotFound)
	case (s.Environment != "live" && s.Environment != "test") || s.Mode == "" || s.CreatedAt.IsZero():
		return fmt.Errorf("settings of a new store want an environment (live or test), a mode and a time: %w", credit.ErrInvalid)
	}
	return create(path, s)
}

// whole refuses a file that is shorter than its own head says, as a copy that broke off is, and one in which not every leaf can be found: bbolt
// maps the file and trusts its branches, so it would end the process at the first touch of a page that is missing, and a key that cannot be
// found any more would be taken for a new one. What is wrong otherwise shows when it is read.
func whole(path string, size int64) (err error) {
	if size < int64(2*os.Getpagesize()) {
		return fmt.Errorf("the file is no bbolt database, or is cut off (%d bytes): restore a backup, and keep this file", size)
	}
	b, file, err := openOn(path, &bolt.Options{Timeout: boltLockTimeout, ReadOnly: true}) // reads the head alone
	if err != nil {
		return nil
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	err = b.View(func(tx *bolt.Tx) error {
		if tx.Size() > size {
			return fmt.Errorf("the file is cut off (%d of %d bytes are there): restore a backup, and keep this file", size, tx.Size())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r := pagesOf(file, pages.Branches); !r.Clean() {
		return fmt.Errorf("the file is damaged: %w: restore a backup, and keep this file", foundPages(r.Findings))
	}
	return nil
}

func create(path string, s credit.Settings) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what an earlier start left: %w", err)
	}
	b, err := bolt.Open(fresh, 0o600, &bolt.Options{Timeout: boltLockTimeout, FreelistType: bolt.FreelistArrayType})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	err = b.Update(func(tx *bolt.Tx) error { return lay(tx, s) })
	if err := errors.Join(err, b.Close()); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := syncFile(fresh); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := syncFile(filepath.Dir(path)); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return nil
}

// lay makes every bucket and the meta records.
func lay(tx *bolt.Tx, s credit.Settings) error {
	if s.Instance == "" {
		s.Instance = s.StoreID // there is no other file of this store yet
	}
	for _, name := range bucketNames() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
	}
	for k, v := range map[string]any{
		string(metaSchema): schemaRecord{schemaVersion}, string(metaSettings): cutSettings(s), string(metaClaims): claimsRecord{},
	} {
		payload, err := encode(v)
		if err != nil {
			return err
		}
		if err := tx.Bucket([]byte(bucketMeta)).Put([]byte(k), seal(bucketMeta, []byte(k), payload)); err != nil {
			return fmt.Errorf("%s %s: %w", bucketMeta, k, err)
		}
	}
	return nil
}

// syncFile brings a file, or a directory's names, to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkBuckets compares the file's buckets with the schema's.
func checkBuckets(tx *bolt.Tx) error {
	want := bucketNames()
	for _, name := range want {
		if tx.Bucket([]byte(name)) == nil {
			return &DamageError{Bucket: name, Reason: "the bucket is missing"}
		}
	}
	return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if !slices.Contains(want, string(name)) {
			return &DamageError{Bucket: string(name), Reason: "the schema does not know this bucket"}
		}
		return nil
	})
}

// readMeta reads one record of the meta bucket.
func readMeta(tx *bolt.Tx, k []byte, into any) error {
	v := tx.Bucket([]byte(bucketMeta)).Get(k)
	if v == nil {
		return &DamageError{bucketMeta, k, "the record is missing"}
	}
	payload, err := unseal(bucketMeta, k, v)
	if err != nil {
		return err
	}
	if err := decode(payload, into); err != nil {
		return &DamageError{bucketMeta, k, err.Error()}
	}
	return nil
}
