package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The witness is a small file on another path that knows how far the store's claims have come. It is written before a
// commit that claims and is on disk before it, so the store is at most one batch behind it (design §12): a store that is
// further behind is an older file. Two slots are written in turn, so that a torn write leaves the one before.

// slotLen is the length of a slot: one sector, which disks write whole.
const slotLen = 512

// witnessMark says what the file is.
const witnessMark = 1

// testimony is one slot.
type testimony struct {
	Form     int    `json:"creditonce_witness"`
	Turn     uint64 `json:"turn"` // counts the writes
	Store    string `json:"store"`
	Instance string `json:"instance"`
	From     uint64 `json:"from"`           // claims before the newest batch that claims
	To       uint64 `json:"to"`             // claims after it, if its commit came through
	Next     *next  `json:"next,omitempty"` // what a restore or takeover under way makes of the store
	Sum      uint32 `json:"sum"`            // CRC-32C of all above
}

// next is the store as it will be once the restore's rename, or the takeover's commit, has happened.
type next struct {
	Instance string `json:"instance"`
	Claims   uint64 `json:"claims"`
}

// witness is the file at path. It belongs to the committer's goroutine once the store is open.
type witness struct {
	path  string
	last  *testimony // as this process read or wrote it last; nil: there was none
	tried *testimony // a later one whose write failed: the file may have it all the same; nil: none has
}

// is tells that both are one testimony.
func (t *testimony) is(other *testimony) bool {
	return t != nil && other != nil && t.Turn == other.Turn && t.Sum == other.Sum
}

// WitnessError says that the witness cannot be read, or is another store's.
type WitnessError struct {
	Path   string
	Reason string // what is wrong and what to do
}

// Error implements error.
func (e *WitnessError) Error() string { return fmt.Sprintf("the witness %s %s", e.Path, e.Reason) }

// readWitness reads the newest whole slot; nil where there is no file. A file that exists and has no whole slot is a
// *WitnessError.
func readWitness(path string) (*testimony, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the witness: %w", err)
	}
	var best *testimony
	for at := 0; at+slotLen <= len(b) && at < 2*slotLen; at += slotLen {
		if t := parseSlot(b[at : at+slotLen]); t != nil && (best == nil || t.Turn > best.Turn) {
			best = t
		}
	}
	if best == nil {
		return nil, &WitnessError{path, "cannot be read: it is damaged, or no witness"}
	}
	return best, nil
}

func parseSlot(b []byte) *testimony {
	var t testimony
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&t) != nil || t.Form != witnessMark || t.Sum != t.sum() {
		return nil
	}
	return &t
}

func (t testimony) sum() uint32 {
	t.Sum = 0
	b, err := json.Marshal(t)
	if err != nil {
		return 0
	}
	return checksum("witness", nil, b)
}

// write puts the testimony into the slot that is not the newest one, and on disk. It first sees that the file still says
// what this process read or wrote last: else another instance uses it, or the machine was set back to an earlier moment.
func (w *witness) write(t testimony) error {
	now, err := readWitness(w.path)
	if err != nil {
		return err
	}
	if w.tried.is(now) {
		w.last = w.tried
	}
	if now != nil && !w.last.is(now) {
		return &strangerError{fmt.Sprintf("the witness %s is not as this process left it: another instance uses it, or this machine was set back to an earlier moment", w.path)}
	}
	t.Form, t.Turn = witnessMark, 1
	if w.last != nil {
		t.Turn = w.last.Turn + 1
	}
	t.Sum = t.sum()
	if err := writeSlot(w.path, t); err != nil {
		w.tried = &t
		return fmt.Errorf("write the witness: %w", err)
	}
	w.last, w.tried = &t, nil
	return nil
}

func writeSlot(path string, t testimony) (err error) {
	t.Sum = t.sum()
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if len(b) >= slotLen {
		return fmt.Errorf("%d bytes do not fit in a slot", len(b))
	}
	b = append(append(b, bytes.Repeat([]byte{' '}, slotLen-1-len(b))...), '\n')
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return firstSlot(path, b, t.Turn)
	}
	if err != nil {
		return err
	}
	return putSlot(f, b, t.Turn)
}

// putSlot writes a slot into its half of the file, and closes the file.
func putSlot(f *os.File, slot []byte, turn uint64) error {
	_, err := f.WriteAt(slot, int64(turn%2)*slotLen)
	return errors.Join(err, f.Sync(), f.Close())
}

// firstSlot makes the file. It appears whole or not at all: an empty one would be nobody's witness, and the next start would
// refuse it.
func firstSlot(path string, slot []byte, turn uint64) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := putSlot(f, slot, turn); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return errors.Join(syncFile(folder), syncFile(filepath.Dir(folder)))
}

// strangerError says that somebody else works where this process does: it must end at once.
type strangerError struct{ reason string }

func (e *strangerError) Error() string { return e.reason }
