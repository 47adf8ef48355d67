package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// migrate brings an older schema to this program's, and refuses what this program does not know how to keep. The file as it
// was is kept beside it under a name with its version; the change itself is one transaction, so a crash leaves the one or the
// other (hole H24). Without o.Raise an older one is refused too. Without a path nothing is kept.
func migrate(path string, b *bolt.DB, o Options) error {
	found, err := schemaOf(b)
	if err != nil {
		return err
	}
	switch {
	case found > schemaVersion:
		return &SchemaError{found, "start the program version that wrote it, or a newer one"}
	case found < 1:
		return noSuchSchema(found)
	case found < schemaVersion && !o.Raise:
		return olderSchema(found)
	case found < schemaVersion:
		if path != "" {
			if err := keepOld(path, b, found); err != nil {
				return fmt.Errorf("keep a copy before the change from schema version %d: %w", found, err)
			}
			call(o.Step, StepOldKept)
		}
		err := b.Update(func(tx *bolt.Tx) error {
			err := raise(tx, found, spareNothing)
			if err == nil {
				call(o.Step, StepRaised)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("change from schema version %d to %d: %w", found, schemaVersion, err)
		}
		call(o.Step, StepMigrated)
	}
	return b.View(checkBuckets)
}

// schemaOf reads the file's schema version.
func schemaOf(b *bolt.DB) (version int, err error) {
	err = unharmed(func() error {
		return b.View(func(tx *bolt.Tx) error {
			meta := tx.Bucket([]byte(bucketMeta))
			if meta == nil || meta.Get(metaSchema) == nil {
				return &SchemaError{Hint: "it is a bbolt database of another program; check the path"}
			}
			var schema schemaRecord
			err := readMeta(tx, metaSchema, &schema)
			version = schema.Version
			return err
		})
	})
	return version, err
}

// keepOld writes the file as it is beside it, and sees that the copy is whole.
func keepOld(path string, b *bolt.DB, version int) (err error) {
	kept := fmt.Sprintf("%s.schema-%d", path, version)
	fresh := kept + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := b.View(func(tx *bolt.Tx) error { return tx.CopyFile(fresh, 0o600) }); err != nil {
		return err
	}
	if err := syncFile(fresh); err != nil {
		return err
	}
	copied, file, err := openOn(fresh, &bolt.Options{Timeout: boltLockTimeout, ReadOnly: true})
	if err != nil {
		return err
	}
	findings, _ := pageFindings(copied, file)
	if err := copied.Close(); err != nil {
		return err
	}
	if len(findings) > 0 {
		return fmt.Errorf("the file is damaged (%s): restore a backup, and keep this file", findings[0])
	}
	if err := os.Rename(fresh, kept); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// raise makes every step from the version on, in one transaction. spare decides about each record that cannot be read: nil passes it over.
func raise(tx *bolt.Tx, version int, spare func(error) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	if version < 2 {
		if err := countClaims(tx, spare); err != nil {
			return err
		}
	}
	for _, name := range bucketNames() { // the step from version 2 to 3 is this alone: the tables of reconciliation begin empty
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
	}
	if version < 2 {
		if err := markStops(tx, spare); err != nil {
			return err
		}
	}
	return putMeta(tx, metaSchema, schemaRecord{schemaVersion})
}

// spareNothing lets every fault end the change.
func spareNothing(err error) error { return err }

// countClaims is the step from version 1 to 2: the store counts its claims and has an instance.
func countClaims(tx *bolt.Tx, spare func(error) error) error {
	var claims uint64
	c := tx.Bucket([]byte(credits.bucket)).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		row, err := credits.decode(k, v)
		if err := spare(err); err != nil {
			return err
		}
		claims += uint64(row.Attempt)
	}
	s, err := readSettings(tx)
	if err != nil {
		return err
	}
	s.Instance = s.StoreID
	return errors.Join(putMeta(tx, metaClaims, claimsRecord{claims}), putMeta(tx, metaSettings, cutSettings(s)))
}

// markStops is another part of that step: a task says itself whose login it stops.
func markStops(tx *bolt.Tx, spare func(error) error) error {
	open, err := tasks.list(tx, taskOpenList, nil, 0)
	if err := spare(err); err != nil {
		return err
	}
	for _, t := range open {
		row, err := credits.get(tx, idKey(uint64(t.TaskRow())))
		if err := spare(err); err != nil {
			return err
		}
		if row == nil || row.Login == 0 || !credit.StopsLogin(t.Kind, *row) {
			continue
		}
		t.Identity, t.Login = row.Identity, row.Login
		payload, err := encode(t)
		if err != nil {
			return err
		}
		k := tasks.key(t)
		err = errors.Join(
			tx.Bucket([]byte(tasks.bucket)).Put(k, seal(tasks.bucket, k, payload)),
			tx.Bucket([]byte(taskStops.bucket)).Put(append(taskStops.key(t), k...), taskStops.entry(t)),
		)
		if err != nil {
			return fmt.Errorf("task %d: %w", t.ID, err)
		}
	}
	return nil
}

func putMeta(tx *bolt.Tx, k []byte, v any) error {
	payload, err := encode(v)
	if err != nil {
		return err
	}
	if err := tx.Bucket([]byte(bucketMeta)).Put(k, seal(bucketMeta, k, payload)); err != nil {
		return fmt.Errorf("%s %s: %w", bucketMeta, k, err)
	}
	return nil
}
