package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Settings reads the stored settings.
func (db *DB) Settings(ctx context.Context) (s credit.Settings, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		s, err = readSettings(tx)
		return err
	})
	if err != nil {
		return credit.Settings{}, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}

// Settle changes the settings in one transaction and returns them. change is pure and may run more than once;
// its error is returned as it is, and nothing is written.
func (db *DB) Settle(ctx context.Context, change func(credit.Settings) (credit.Settings, error)) (credit.Settings, error) {
	var after credit.Settings
	err := db.write(ctx, false, func(w *writer) error {
		before, err := readSettings(w.tx)
		if err != nil {
			return err
		}
		was, err := encode(before)
		if err != nil {
			return err
		}
		if after, err = change(before); err != nil {
			return err
		}
		after = cutSettings(after)
		now, err := encode(after)
		if err != nil || bytes.Equal(was, now) {
			return err
		}
		return w.put(bucketMeta, metaSettings, seal(bucketMeta, metaSettings, now))
	})
	if err != nil {
		return credit.Settings{}, err
	}
	return after, nil
}

func readSettings(tx *bolt.Tx) (s credit.Settings, err error) {
	err = readMeta(tx, metaSettings, &s)
	return s, err
}

// cutSettings brings the times to the stored precision.
func cutSettings(s credit.Settings) credit.Settings {
	s.ModeAt, s.CutoverAt, s.CreatedAt = instant(s.ModeAt), instant(s.CutoverAt), instant(s.CreatedAt)
	return s
}
