package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

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
		if after, err = change(before); err != nil {
			return err
		}
		after = cutSettings(after)
		return stageSettings(w, after)
	})
	if err != nil {
		return credit.Settings{}, err
	}
	return after, nil
}

// stageSettings writes the settings where they differ from the stored ones.
func stageSettings(w *writer, s credit.Settings) error {
	before, err := readSettings(w.tx)
	if err != nil {
		return err
	}
	was, err := encode(before)
	if err != nil {
		return err
	}
	now, err := encode(cutSettings(s))
	if err != nil || bytes.Equal(was, now) {
		return err
	}
	if before.Instance != s.Instance {
		w.testify = true
	}
	if err := w.put(bucketMeta, metaSettings, seal(bucketMeta, metaSettings, now)); err != nil {
		return err
	}
	return stageNotices(w, credit.ModeNotices(before, s))
}

func readSettings(tx *bolt.Tx) (s credit.Settings, err error) {
	err = readMeta(tx, metaSettings, &s)
	return s, err
}

// settingsMemo keeps the settings decoded from one transaction to the next: each event needs them, and they hardly
// ever change. It belongs to the committer's goroutine.
type settingsMemo struct {
	value    []byte // as the file has them, checksum and all
	settings credit.Settings
}

// settings reads the settings in the deciding transaction; decoded again only where the file has other bytes.
func (w *writer) settings() (credit.Settings, error) {
	value := w.tx.Bucket([]byte(bucketMeta)).Get(metaSettings)
	if value != nil && bytes.Equal(value, w.memo.value) {
		s := w.memo.settings
		s.Pins = slices.Clone(s.Pins)
		return s, nil
	}
	s, err := readSettings(w.tx)
	if err != nil {
		return s, err
	}
	*w.memo = settingsMemo{bytes.Clone(value), s}
	s.Pins = slices.Clone(s.Pins)
	return s, nil
}

// cutSettings brings the times to the stored precision.
func cutSettings(s credit.Settings) credit.Settings {
	s.ModeAt, s.CutoverAt, s.CreatedAt = instant(s.ModeAt), instant(s.CutoverAt), instant(s.CreatedAt)
	return s
}
