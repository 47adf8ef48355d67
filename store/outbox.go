package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// outbox: number -> notice. Entries go once every channel has them; the numbers have no gap.
var outbox = &table[credit.Notice]{
	bucket: "outbox", numbered: true,
	key: func(n credit.Notice) []byte { return idKey(uint64(n.ID)) },
}

// channels: name -> how far it has come.
var channels = &table[credit.Channel]{
	bucket: "channels",
	key:    func(c credit.Channel) []byte { return key(nil).text(c.Name) },
}

const (
	// mostChannels bounds the list of channels.
	mostChannels = 100
	// prunePiece is how many delivered notices one operation removes.
	prunePiece = 200
)

// stageNotices appends to the outbox, where there is a channel that will ever read it.
func stageNotices(w *writer, notices []credit.Notice) error {
	_, err := stageNumbered(w, notices)
	return err
}

// stageNumbered is stageNotices, and gives the number of the last notice; 0 where none was written.
func stageNumbered(w *writer, notices []credit.Notice) (last credit.NoticeID, err error) {
	if len(notices) == 0 {
		return 0, nil
	}
	if k, _ := w.tx.Bucket([]byte(channels.bucket)).Cursor().First(); k == nil {
		return 0, nil
	}
	for _, n := range notices {
		n.ID, n.At = credit.NoticeID(outbox.next(w)), instant(n.At)
		if err := outbox.stage(w, nil, n); err != nil {
			return 0, err
		}
		last = n.ID
	}
	return last, nil
}

// SetChannels makes the store's channels those with the names: a new one is told what comes from now on, and one that
// is not named is forgotten with what waits on it.
func (db *DB) SetChannels(ctx context.Context, names []string) error {
	err := db.write(ctx, false, func(w *writer) error {
		known, err := channels.page(w.tx, nil, mostChannels)
		if err != nil {
			return err
		}
		for _, c := range known {
			if !slices.Contains(names, c.Name) {
				channels.remove(w, c)
			}
		}
		for _, name := range names {
			if name == "" || slices.ContainsFunc(known, func(c credit.Channel) bool { return c.Name == name }) {
				continue
			}
			if err := channels.stage(w, nil, credit.Channel{Name: name, Delivered: lastNotice(w.tx)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("set channels: %w", err)
	}
	return nil
}

// lastNotice is the number of the newest notice that was ever written.
func lastNotice(tx *bolt.Tx) credit.NoticeID {
	return credit.NoticeID(tx.Bucket([]byte(outbox.bucket)).Sequence())
}

// Outgoing reads what waits on a channel, oldest first: the notices of the message that is being sent, or at most
// limit that the next one could hold. ErrNotFound where there is no such channel.
func (db *DB) Outgoing(ctx context.Context, channel string, limit int) (out credit.Outgoing, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = readOutgoing(tx, channel, limitOf(limit))
		return err
	})
	if err != nil {
		return credit.Outgoing{}, fmt.Errorf("read what waits on channel %s: %w", channel, err)
	}
	return out, nil
}

func readOutgoing(tx *bolt.Tx, name string, limit int) (out credit.Outgoing, err error) {
	if out.Channel, err = channels.must(tx, key(nil).text(name)); err != nil {
		return out, err
	}
	if out.Settings, err = readSettings(tx); err != nil {
		return out, err
	}
	c := out.Channel
	out.Waiting = int(lastNotice(tx) - c.Delivered)
	if c.Sending != 0 {
		limit = int(c.Sending - c.Delivered)
	}
	notices, err := outbox.page(tx, idKey(uint64(c.Delivered)), limit)
	if err != nil {
		return out, err
	}
	for _, n := range notices {
		of := credit.NoticeOf{Notice: n}
		if n.Task != 0 {
			t, err := tasks.must(tx, idKey(uint64(n.Task)))
			if err != nil {
				return out, err
			}
			of.Task = &t
		}
		out.Notices = append(out.Notices, of)
	}
	return out, nil
}

// UpdateChannel changes how far a channel has come, in one transaction, and removes notices that every channel has.
// change is pure and may run more than once; its error is returned as it is, and nothing is written. A channel never
// goes back and never beyond what was written (ErrInvalid).
func (db *DB) UpdateChannel(ctx context.Context, name string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error) {
	var after credit.Channel
	err := db.write(ctx, false, func(w *writer) error {
		before, err := channels.must(w.tx, key(nil).text(name))
		if err != nil {
			return err
		}
		if after, err = change(before); err != nil {
			return err
		}
		after.Name, after.FailedAt, after.DeliveredAt = name, instant(after.FailedAt), instant(after.DeliveredAt)
		last := lastNotice(w.tx)
		if after.Delivered < before.Delivered || after.Delivered > last || after.Sending > last || (after.Sending != 0 && after.Sending <= after.Delivered) {
			return fmt.Errorf("channel %s: delivered %d, sending %d, of %d: %w", name, after.Delivered, after.Sending, last, credit.ErrInvalid)
		}
		if err := channels.stage(w, &before, after); err != nil {
			return err
		}
		return pruneOutbox(w, after)
	})
	if err != nil {
		return credit.Channel{}, err
	}
	return after, nil
}

// pruneOutbox removes the oldest notices that every channel has.
func pruneOutbox(w *writer, changed credit.Channel) error {
	known, err := channels.page(w.tx, nil, mostChannels)
	if err != nil {
		return err
	}
	least := changed.Delivered
	for _, c := range known {
		if c.Name != changed.Name {
			least = min(least, c.Delivered)
		}
	}
	oldest, err := outbox.page(w.tx, nil, prunePiece)
	if err != nil {
		return err
	}
	for _, n := range oldest {
		if n.ID > least {
			break
		}
		outbox.remove(w, n)
	}
	return nil
}

// Channels lists the channels by name, each with what waits on it, in one snapshot.
func (db *DB) Channels(ctx context.Context) (out []credit.ChannelState, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out = nil
		known, err := channels.page(tx, nil, mostChannels)
		if err != nil {
			return err
		}
		for _, c := range known {
			state := credit.ChannelState{Channel: c, Waiting: int(lastNotice(tx) - c.Delivered)}
			if state.Oldest, err = oldestAfter(tx, c.Delivered); err != nil {
				return err
			}
			out = append(out, state)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	return out, nil
}

func oldestAfter(tx *bolt.Tx, delivered credit.NoticeID) (time.Time, error) {
	next, err := outbox.page(tx, idKey(uint64(delivered)), 1)
	if err != nil || len(next) == 0 {
		return time.Time{}, err
	}
	return next[0].At, nil
}

// verifyOutbox checks the notices and that no channel lies beyond them.
func (v *verifier) verifyOutbox() error {
	err := verifyTable(v, outbox, func(tx *bolt.Tx, n credit.Notice) error {
		if n.Task != 0 && tx.Bucket([]byte(tasks.bucket)).Get(idKey(uint64(n.Task))) == nil {
			v.find("bucket %q: notice %d is about task %d, which does not exist", outbox.bucket, n.ID, n.Task)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return verifyTable(v, channels, func(tx *bolt.Tx, c credit.Channel) error {
		if last := lastNotice(tx); c.Delivered > last || c.Sending > last || (c.Sending != 0 && c.Sending <= c.Delivered) {
			v.find("bucket %q: channel %s has %d and sends up to %d, of %d notices", channels.bucket, c.Name, c.Delivered, c.Sending, last)
			return nil
		}
		// What a channel still needs is there: the numbers have no gap.
		if next := idKey(uint64(c.Delivered) + 1); c.Delivered < lastNotice(tx) && tx.Bucket([]byte(outbox.bucket)).Get(next) == nil {
			v.find("bucket %q: notice %d, which channel %s has not had, is missing", outbox.bucket, c.Delivered+1, c.Name)
		}
		return nil
	})
}
