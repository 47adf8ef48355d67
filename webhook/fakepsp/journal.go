package fakepsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Record is one line of the provider's own journal: exactly one of the pointers is set. Seq counts
// from 1 without gaps, At is UTC.
type Record struct {
	Seq      int64     `json:"seq"`
	At       time.Time `json:"at"`
	Payment  *Payment  `json:"payment,omitempty"`
	Refund   *Refund   `json:"refund,omitempty"`
	Dispute  *Dispute  `json:"dispute,omitempty"`
	Settled  *Settled  `json:"settled,omitempty"`
	Payout   *Payout   `json:"payout,omitempty"`
	Event    *Event    `json:"event,omitempty"`
	Dispatch *Dispatch `json:"dispatch,omitempty"`
	Attempt  *Attempt  `json:"attempt,omitempty"`
}

// Dispatch says that an event shall be delivered once, Delivery counting from 1 for each event.
// Wait is how long the first attempt is held back.
type Dispatch struct {
	Event    string        `json:"event"`
	Delivery int           `json:"delivery"`
	Wait     time.Duration `json:"wait_ns"`
}

// Attempt is one POST of one delivery. Number counts from 1. Status is 0 where no answer came, and
// Error says why in a few words. Acknowledged means a 2xx answer. A line with Started set is
// written before the first byte is sent; the line with the result follows.
type Attempt struct {
	Event        string        `json:"event"`
	Delivery     int           `json:"delivery"`
	Number       int           `json:"number"`
	SignedAt     int64         `json:"signed_at"` // Unix seconds in the signature
	Started      bool          `json:"started,omitempty"`
	Status       int           `json:"status"`
	Error        string        `json:"error,omitempty"`
	Took         time.Duration `json:"took_ns"`
	Acknowledged bool          `json:"acknowledged"`
}

// ReadJournal reads the journal at path. A last line without its newline was cut by a crash while it
// was written, counted for nothing then, and is left out; any other damage is an error with its line.
func ReadJournal(path string) ([]Record, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read provider journal: %w", err)
	}
	records, _, err := parseJournal(raw)
	return records, err
}

// parseJournal also returns how many bytes the whole lines take.
func parseJournal(raw []byte) ([]Record, int64, error) {
	var records []Record
	var whole int64
	in := bufio.NewReader(bytes.NewReader(raw))
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, whole, nil
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, 0, fmt.Errorf("read provider journal: line %d: %w", len(records)+1, err)
		}
		if r.Seq != int64(len(records))+1 {
			return nil, 0, fmt.Errorf("read provider journal: line %d carries number %d", len(records)+1, r.Seq)
		}
		records = append(records, r)
		whole += int64(len(line))
	}
}

// file is what the journal needs of its file; *os.File is one.
type file interface {
	io.Writer
	Sync() error
	Close() error
}

// journal appends records. Callers that commit at the same time share one fsync. The first write or
// sync error is kept and answers every later call: what the disk holds is unknown from then on.
type journal struct {
	now func() time.Time

	mu      sync.Mutex // guards the file's end, written and err
	out     file
	written int64
	err     error

	syncing sync.Mutex // held around fsync; guards synced
	synced  int64
}

// openJournal opens or creates the journal at path, cuts an unfinished last line and returns what
// the file holds. A new file's directory entry is synced too.
func openJournal(path string, now func() time.Time) (*journal, []Record, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open provider journal: %w", err)
	}
	records, whole, err := parseJournal(raw)
	if err != nil {
		return nil, nil, err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open provider journal: %w", err)
	}
	if err := errors.Join(out.Truncate(whole), out.Sync(), syncDir(filepath.Dir(path))); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open provider journal: %w", err), out.Close())
	}
	return newJournal(out, int64(len(records)), now), records, nil
}

func newJournal(out file, lines int64, now func() time.Time) *journal {
	return &journal{now: now, out: out, written: lines, synced: lines}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// append writes the records in one write without waiting for the disk; a later commit carries them.
func (j *journal) append(records ...Record) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return 0, j.err
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i, r := range records {
		r.Seq, r.At = j.written+int64(i)+1, j.now().UTC()
		if err := enc.Encode(r); err != nil {
			return 0, fmt.Errorf("write provider journal: %w", err)
		}
	}
	if _, err := j.out.Write(lines.Bytes()); err != nil {
		j.err = fmt.Errorf("write provider journal: %w", err)
		return 0, j.err
	}
	j.written += int64(len(records))
	return j.written, nil
}

// commit is append that returns nil only after an fsync that began after the records were written.
func (j *journal) commit(records ...Record) error {
	last, err := j.append(records...)
	if err != nil {
		return err
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if j.synced >= last {
		return nil
	}
	j.mu.Lock()
	target, err := j.written, j.err
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if err := j.out.Sync(); err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.err = fmt.Errorf("sync provider journal: %w", err)
		return j.err
	}
	j.synced = target
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = errors.New("write provider journal: it is closed")
	}
	return errors.Join(j.out.Sync(), j.out.Close())
}
