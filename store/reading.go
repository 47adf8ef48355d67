package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"creditonce/credit"
	"creditonce/store/pages"
)

// SchemaVersion is the layout that this program writes, and into which an older store is read or raised.
const SchemaVersion = schemaVersion

// RoomError says that there is too little room for the private copy in which a file of an older schema is read. It says nothing of the file.
type RoomError struct {
	Schema     int    // of the file
	Dir        string // where the copy would be
	Need, Free uint64 // bytes
}

// Error implements error.
func (e *RoomError) Error() string {
	return fmt.Sprintf("it has schema version %d and is read in a private copy, for which %s has too little room (%d MiB of %d MiB): make room there, or name another folder in TMPDIR",
		e.Schema, e.Dir, e.Free>>20, e.Need>>20+1)
}

// OpenReading opens a store that nobody has open for writing, and changes nothing: neither the file, nor its schema, nor anything beside it. As
// long as it is open nobody else can write. A file of an older schema is read in a private copy in the system's folder for temporary files, raised
// as [Open] would raise the file itself; the copy has no name and is gone with the process. [DB.Schema] tells. Every change is
// refused. It returns ErrNoFile, *AlreadyRunningError or ErrFileInUse where somebody writes to the file, *SchemaError where this program cannot read it,
// *RoomError, and *FoundError where a file is so damaged that nothing can be looked up in it, or an older one cannot be raised.
func OpenReading(path string) (*DB, error) {
	db, err := openReading(path)
	if err != nil {
		return nil, fmt.Errorf("read store %s: %w", path, withHolder(path, err))
	}
	return db, nil
}

// ReadSettings reads the settings alone of a store of any schema up to this program's, and which one it is, as [OpenReading] does, without a copy and
// without reading the rest.
func ReadSettings(path string) (s credit.Settings, schema int, err error) {
	b, _, schema, err := openFile(path, false)
	if err == nil {
		err = errors.Join(unharmed(func() error {
			return b.View(func(tx *bolt.Tx) (err error) {
				s, err = readSettings(tx)
				return err
			})
		}), b.Close())
	}
	if err != nil {
		return credit.Settings{}, 0, fmt.Errorf("read the settings of store %s: %w", path, withHolder(path, err))
	}
	return s, schema, nil
}

// Schema is the schema version of the file. Where it is below [SchemaVersion], the store is open for reading, and what is read is the raised copy.
func (db *DB) Schema() int {
	if db.found == 0 {
		return schemaVersion
	}
	return db.found
}

// withHolder says who has the file open, where that is what keeps it from being read and can be seen.
func withHolder(path string, err error) error {
	if !errors.Is(err, ErrFileInUse) {
		return err
	}
	if running := inUse(path); running != nil {
		return running
	}
	return err
}

// inUse is who holds the lock beside the store; nil where nobody does, or where that cannot be seen. It writes nothing.
func inUse(path string) *AlreadyRunningError {
	f, err := os.Open(filepath.Join(filepath.Dir(path), lockName))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if !writtenTo(f) {
		return nil
	}
	return &AlreadyRunningError{Path: f.Name(), PID: holder(f)}
}

func openReading(path string) (*DB, error) {
	b, file, found, err := openFile(path, true)
	if err != nil {
		return nil, err
	}
	read := b
	if found < schemaVersion {
		if read, file, err = raisedCopy(b, file, found); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	db, err := private(path, read, file)
	if err != nil {
		return nil, errors.Join(err, read.Close(), b.Close())
	}
	db.reading, db.found = true, found
	if read != b {
		db.original = b // stays open, so that nobody writes to the file whose copy is read
	}
	return db, nil
}

// openFile opens the file for reading alone, and tells its schema, which is one that this program can read. A walk over the pages comes
// before anything is looked up in them; it reads the whole file.
func openFile(path string, walk bool) (b *bolt.DB, file *os.File, schema int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, 0, ErrNoFile
	}
	held, err := os.Open(path)
	if err != nil {
		return nil, nil, 0, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if writtenTo(held) { // at once: what follows would wait for its end
		return nil, nil, 0, ErrFileInUse
	}
	if err := whole(path, info.Size()); err != nil {
		return nil, nil, 0, err
	}
	b, file, err = openOn(path, &bolt.Options{Timeout: boltLockTimeout, ReadOnly: true})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, nil, 0, ErrFileInUse
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("open it for reading: %w", err)
	}
	if walk {
		if r := pagesOf(file, pages.Whole); !r.Clean() {
			return nil, nil, 0, errors.Join(foundPages(r.Findings), b.Close())
		}
	}
	schema, err = schemaOf(b)
	switch {
	case err != nil:
	case schema > schemaVersion:
		err = &SchemaError{schema, "use the program version that wrote it, or a newer one"}
	case schema < 1:
		err = noSuchSchema(schema)
	default:
		return b, file, schema, nil
	}
	return nil, nil, 0, errors.Join(err, b.Close())
}

// raisedCopy copies an open file of an older schema to one that nobody else can find, and raises that. Records that are damaged stay as they
// are: the verification of the copy names each.
func raisedCopy(b *bolt.DB, file *os.File, schema int) (copied *bolt.DB, on *os.File, err error) {
	dir := os.TempDir()
	if free, err := freeSpace(dir); err == nil { // where the system does not tell, the copy itself shows it
		if err := roomFor(b, schema, dir, free); err != nil {
			return nil, nil, err
		}
	}
	if found, _ := pageFindings(b, file); len(found) > 0 {
		return nil, nil, foundPages(found)
	}
	if copied, on, err = nameless(b, dir); err != nil {
		return nil, nil, fmt.Errorf("copy the file of schema version %d to read it: %w", schema, err)
	}
	err = unharmed(func() error {
		return copied.Update(func(tx *bolt.Tx) error { return raise(tx, schema, spareDamage) })
	})
	if err != nil {
		text := fmt.Sprintf("it cannot be raised from schema version %d: %s", schema, err)
		return nil, nil, errors.Join(&FoundError{Report{Findings: []string{text}}}, copied.Close())
	}
	return copied, on, nil
}

// spareDamage passes over a damaged record.
func spareDamage(err error) error {
	var damage *DamageError
	if errors.As(err, &damage) {
		return nil
	}
	return err
}

// roomFor sees that a copy fits, with what the change of the schema adds.
func roomFor(b *bolt.DB, schema int, dir string, free uint64) error {
	return b.View(func(tx *bolt.Tx) error {
		size := uint64(tx.Size())
		if need := size + size/8 + 4<<20; free < need {
			return &RoomError{schema, dir, need, free}
		}
		return nil
	})
}

// nameless copies the file to one without a name, which is gone once it is closed, however the process ends.
func nameless(b *bolt.DB, dir string) (copied *bolt.DB, on *os.File, err error) {
	f, err := os.CreateTemp(dir, "creditonce-reading-*.db")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		err = errors.Join(err, removeIfThere(f.Name()), f.Close())
		if err != nil && copied != nil {
			err = errors.Join(err, copied.Close())
			copied = nil
		}
	}()
	err = b.View(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(f)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return openOn(f.Name(), &bolt.Options{Timeout: boltLockTimeout, FreelistType: bolt.FreelistArrayType, NoSync: true, NoGrowSync: true})
}

// unharmed runs fn so that a panic, and a page that is not there, are errors.
func unharmed(fn func() error) error {
	ended := make(chan error, 1)
	go func() { // a goroutine of its own: what it sets about faults must not outlive it
		debug.SetPanicOnFault(true)
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the file is damaged: %w", panicError(p))
			}
			ended <- err
		}()
		err = fn()
	}()
	return <-ended
}

// readFile opens a file for reading alone, uses it, and closes it.
func readFile(ctx context.Context, path string, use func(*DB) error) (err error) {
	db, err := openReading(path)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close(context.WithoutCancel(ctx)))
}
