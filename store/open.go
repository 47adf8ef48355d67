package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"creditonce/credit"
)

// Options of an open store. The zero value opens an existing store without space floors.
type Options struct {
	// New are the settings of a store that does not exist yet: StoreID, Environment, Mode and CreatedAt at
	// least. Without a StoreID a missing store is ErrNotFound.
	New credit.Settings
	// MaxSize is the most bytes that the file may have; 0: no limit. Reaching it is a commit error: set
	// RefuseIntakeBelow so that intake stops before.
	MaxSize int64
	// StopClaimsBelow and RefuseIntakeBelow are floors of free bytes; 0: no floor. Below the first, dossiers
	// say LowSpace; below the second, Accept, MakeDeposit and PutAccount are ErrBusy. What adds data of the reconciliation is ErrBusy
	// well above both.
	StopClaimsBelow, RefuseIntakeBelow uint64
	// Free tells the free bytes of the directory's file system; nil asks the system. It must not block.
	Free func(dir string) (uint64, error)
	// Guard, where set, makes the store watch that it is the right one; see [DB.Standing].
	Guard *Guard
	// Queue is how many operations may wait; 0: 4096. Further ones are ErrBusy at once.
	Queue int
	// Batch is how many operations one commit takes at most; 0: 500.
	Batch int
	// Raise brings a store of an older schema to this program's, after a copy beside it. Without it such a store is a *SchemaError, and is not
	// changed: who does not start the service must not take a store away from the program version that wrote it.
	Raise bool
	// Step is told at each boundary of the change from an older schema, before the next thing happens; it may block. nil: nobody is told.
	Step func(name string)
	// Strict lets bbolt check the whole file at every commit. For tests: it is slow.
	Strict bool
	// UnsafeNoSync commits without fsync, so that acknowledged rows may be lost with the machine. ONLY for tests
	// that make many rows; a store opened with it must never see money.
	UnsafeNoSync bool
}

const (
	defaultQueue = 4096
	defaultBatch = 500
	// boltLockTimeout bounds the wait for bbolt's own lock, which only a reader of the file can hold while we
	// have ours.
	boltLockTimeout = 2 * time.Second
	// linuxMap is address space, not memory or disk: with room to grow in, a reader never makes the writer wait
	// for a new mapping.
	linuxMap = 16 << 30
)

// DB is an open store. It is safe for concurrent use. Exactly one process, and one DB in it, has a store open.
type DB struct {
	path      string
	bolt      *bolt.DB
	disk      *os.File // what bolt has open
	lock      *os.File
	committer *committer
	gauge     *gauge
	packer    *packer
	file      fileID // of the open file
	standing  Standing
	left      lastNumbers // of an earlier process

	reading  bool     // nothing may be written
	found    int      // schema of the file that is read; 0: this program's
	original *bolt.DB // the file itself, where a raised copy is read; nil otherwise

	closing sync.Mutex
	closed  bool
}

// Open opens the store at path, or makes it where there is none. The directory must exist and be on a local
// disk. It returns *AlreadyRunningError where the store is in use.
func Open(path string, o Options) (*DB, error) {
	if o.Free == nil {
		o.Free = freeSpace
	}
	lock, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	var db *DB
	err = unharmed(func() (err error) {
		db, err = open(path, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, errors.Join(err, unlock(lock)))
	}
	db.lock = lock
	go db.committer.loop()
	if err := db.stand(o.Guard); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, errors.Join(err, db.Close(context.Background())))
	}
	return db, nil
}

func open(path string, o Options) (*DB, error) {
	if err := o.Guard.beforeCreating(path); err != nil {
		return nil, err
	}
	if err := ensure(path, o.New); err != nil {
		return nil, err
	}
	packer, err := newPacker()
	if err != nil {
		return nil, err
	}
	b, file, err := openBolt(path, o)
	if err != nil {
		return nil, err
	}
	id, err := idOfOpen(file)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if err := migrate(path, b, o); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	left, err := readLastNumbers(b)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	g := &gauge{
		path: path, bolt: b, pageSize: b.Info().PageSize, maxSize: o.MaxSize, free: o.Free,
		stopClaims: o.StopClaimsBelow, refuseIntake: o.RefuseIntakeBelow,
	}
	c := newCommitter(b, g.measure, orDefault(o.Queue, defaultQueue), orDefault(o.Batch, defaultBatch))
	c.unmoved = func() error { return unmoved(path, id) }
	return &DB{path: path, bolt: b, disk: file, committer: c, gauge: g, packer: packer, file: id, left: left}, nil
}

func orDefault(n, d int) int {
	if n <= 0 {
		return d
	}
	return n
}

// openOn opens a file, and tells which one is open, to be read until it is closed with b. bbolt may panic on a damaged one, and read
// beyond its end; that is an error here, and its lock is given up by hand: the mapping that bbolt leaves would hold it until the process ends.
func openOn(path string, o *bolt.Options) (b *bolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	err = unharmed(func() (err error) {
		b, err = bolt.Open(path, 0o600, o)
		return err
	})
	if errors.Is(err, errPanicked) && file != nil {
		err = errors.Join(err, unlock(file))
	}
	return b, file, err
}

// openBolt opens the file for the store.
func openBolt(path string, o Options) (*bolt.DB, *os.File, error) {
	opts := &bolt.Options{
		Timeout: boltLockTimeout, FreelistType: bolt.FreelistArrayType,
		MaxSize: int(o.MaxSize), NoSync: o.UnsafeNoSync,
	}
	if runtime.GOOS == "linux" {
		opts.InitialMmapSize = linuxMap
	}
	b, file, err := openOn(path, opts)
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, errors.New("another program has the file open (a copy or a check of the live file?): end it first")
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return nil, nil, fmt.Errorf("the file is no bbolt database, or its head is damaged (%w): restore a backup, and keep this file", err)
	case err != nil:
		return nil, nil, err
	}
	b.StrictMode = o.Strict
	return b, file, nil
}

// idOfOpen is which file is open.
func idOfOpen(file *os.File) (fileID, error) {
	info, err := file.Stat()
	if err != nil {
		return fileID{}, err
	}
	return idOf(info), nil
}

// Failed sends the cause once a commit error has stopped the store, and is closed then. The process must end:
// whether the last transaction is on disk is known only after the next start.
func (db *DB) Failed() <-chan error { return db.committer.failed }

// Close takes no more work, waits until what is queued is answered, and closes the file. When ctx ends first,
// the store stays open and Close can be called again. A second Close after success does nothing.
func (db *DB) Close(ctx context.Context) error {
	db.closing.Lock()
	defer db.closing.Unlock()
	if db.closed {
		return nil
	}
	if err := db.committer.close(ctx); err != nil {
		return fmt.Errorf("close store %s: %w", db.path, err)
	}
	db.closed = true
	db.packer.close()
	err := db.bolt.Close()
	if db.original != nil {
		err = errors.Join(err, db.original.Close())
	}
	if db.lock != nil {
		err = errors.Join(err, unlock(db.lock))
	}
	if err != nil {
		return fmt.Errorf("close store %s: %w", db.path, err)
	}
	return nil
}

// Stats are counters since the store was opened.
type Stats struct {
	Batches    uint64 // transactions begun for what had arrived
	Commits    uint64 // those that had something to write
	Operations uint64 // operations in all batches
	Reruns     uint64 // batches run again because an operation failed after its first write
	Panics     uint64 // operations that panicked
	Refused    uint64 // operations turned away: full queue, full disk, closing
	Queued     int    // operations that wait now
}

// Stats reads the counters.
func (db *DB) Stats() Stats {
	s := &db.committer.stats
	return Stats{
		Batches: s.batches.Load(), Commits: s.commits.Load(), Operations: s.operations.Load(), Reruns: s.reruns.Load(),
		Panics: s.panics.Load(), Refused: s.refused.Load(), Queued: len(db.committer.queue),
	}
}

// write queues an operation. Its name stands in every error but those of fn that are returned as they are.
func (db *DB) write(ctx context.Context, intake bool, fn func(*writer) error) error {
	if db.reading {
		return fmt.Errorf("the store is open for reading alone: %w", credit.ErrInvalid)
	}
	return db.committer.do(ctx, &operation{run: fn, intake: intake})
}

// read runs fn in a snapshot. fn copies out and does nothing else. What was read while the store stopped is not
// passed on: it may show a transaction that never reached the disk. A page that leads out of the file, or that the disk cannot read, is an
// error of this one read: it must not end the process that takes the webhooks.
func (db *DB) read(ctx context.Context, fn func(*bolt.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.committer.stopError(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read: %w", panicError(p))
		}
		if stopped := db.committer.stopError(); stopped != nil {
			err = stopped
		}
	}()
	err = db.bolt.View(fn)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return fmt.Errorf("the store is closed: %w", credit.ErrBusy)
	}
	return err
}
