package store

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// FailPuts calls hook before every put of every operation; its error fails the operation in the middle of its
// writes. Set it while no operation runs.
func (db *DB) FailPuts(hook func(put int) error) { db.committer.hook = hook }

// Hold keeps the committer busy until release is closed, and returns once it is.
func (db *DB) Hold(release <-chan struct{}) {
	held := make(chan struct{})
	go func() {
		_ = db.committer.do(context.Background(), &operation{alone: func() error {
			close(held)
			<-release
			return nil
		}})
	}()
	<-held
}

// Raw changes the file behind the store's back, in the committer's place.
func (db *DB) Raw(fn func(*bolt.Tx) error) error {
	return db.committer.do(context.Background(), &operation{alone: func() error { return db.bolt.Update(fn) }})
}

// Seal and Checksum let tests write what the store would read.
var (
	Seal     = seal
	Checksum = checksum
)

// Path is the store's file.
func (db *DB) Path() string { return db.path }

// LockFD is the descriptor of the lock file.
func (db *DB) LockFD() int { return int(db.lock.Fd()) }

// Unseal, Encode and Decode are the two layers of a stored value.
var (
	Unseal = unseal
	Encode = encode
	Decode = decode
)

// HoldFile marks a file as a backup does that is writing it.
var HoldFile = holdFile

// RoomToRead asks whether a store of an older schema can be copied to be read where so many bytes are free.
func RoomToRead(path string, free uint64) error {
	b, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(roomFor(b, 1, "/tmp", free), b.Close())
}
