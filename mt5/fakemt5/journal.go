package fakemt5

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Where a deal came from.
const (
	SourceAPI    = "api"    // executed by a client over the wire
	SourceSeed   = "seed"   // made when the account was made, or by a seed call
	SourceManual = "manual" // made by hand over the control port
)

// JournalEntry is one executed deal as the server booked it. Amounts are signed minor
// units of Currency; Amount is the same as decimal text.
type JournalEntry struct {
	Ticket    uint64 `json:"ticket"`
	Login     uint64 `json:"login"`
	Action    int    `json:"action"` // mt5-webapi.md §5; 2 is a balance operation
	Amount    string `json:"amount"`
	Minor     int64  `json:"minor"`
	Digits    int    `json:"digits"`
	Currency  string `json:"currency"`
	Comment   string `json:"comment"` // as stored, after the cut
	Dealer    uint64 `json:"dealer"`
	ServerMsc int64  `json:"server_msc"` // server wall clock, milliseconds
	// ServerTime is ServerMsc as the platform prints it.
	ServerTime string    `json:"server_time"`
	UTC        time.Time `json:"utc"`
	Conn       uint64    `json:"conn"`    // connection of the request, 0 when there was none
	Request    uint64    `json:"request"` // server-wide request number, 0 when there was none
	Source     string    `json:"source"`
	// VisibleFrom is the instant from which lookups show the deal; zero means at once.
	VisibleFrom time.Time `json:"visible_from,omitzero"`
	// Detached deals were written without moving the balance.
	Detached bool   `json:"detached,omitempty"`
	Trade    *Trade `json:"trade,omitempty"` // set for actions 0 and 1
	// ModifyFlags is non-zero once the deal was edited.
	ModifyFlags int `json:"modify_flags,omitempty"`
}

// Trade is what a trading deal has and a balance deal has not. Volume is in 1/10000
// lot, Price in units of 1e-5, Commission in minor units.
type Trade struct {
	Symbol     string `json:"symbol"`
	Entry      int    `json:"entry"` // 0 in, 1 out
	Volume     uint64 `json:"volume"`
	Price      int64  `json:"price"`
	Commission int64  `json:"commission"`
	Position   uint64 `json:"position"`
}

// The events of a journal. Only deals are executed operations; the rest restores state.
const (
	eventDeal    = "deal"
	eventEdit    = "edit"
	eventDelete  = "delete"
	eventGroup   = "group"
	eventAccount = "account"
	eventRemove  = "remove"
	eventFix     = "fix"
)

// line is one line of the file. Seq counts lines from 1 without a gap. More says that
// the next line belongs to the same change: both count or neither.
type line struct {
	Seq   uint64 `json:"seq"`
	More  bool   `json:"more,omitempty"`
	Event string `json:"event"`
	*JournalEntry
	Group   *Group   `json:"group,omitempty"`
	Account *Account `json:"account,omitempty"`
}

// journal is an append-only file of lines, or a list in memory when it has no file.
// Safe for concurrent use.
type journal struct {
	mu     sync.Mutex
	file   journalFile // nil: memory only
	size   int64       // bytes known to be whole on disk
	seq    uint64
	deals  []JournalEntry
	broken error
	lazy   bool // no sync yet: the server is not serving
}

// journalFile is the part of os.File that the journal uses.
type journalFile interface {
	io.Writer
	io.Seeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

var errJournalClosed = errors.New("journal is closed")

// openJournal opens or creates the file and returns the lines in it. A torn last change
// was never answered for, so it is cut off. An empty path keeps all in memory.
func openJournal(path string) (*journal, []line, error) {
	if path == "" {
		return &journal{}, nil, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	lines, whole, err := readLines(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), f.Close())
	}
	j := &journal{file: f, lazy: true, size: whole, seq: uint64(len(lines)), deals: dealsOf(lines)}
	return j, lines, nil
}

// append writes the lines in one piece and syncs them; only then they exist. After a
// failed write the file is cut back; when that fails too the journal refuses all work.
func (j *journal) append(lines ...line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return fmt.Errorf("append to journal: %w", j.broken)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for i := range lines {
		lines[i].Seq, lines[i].More = j.seq+uint64(i)+1, i < len(lines)-1
		if err := enc.Encode(lines[i]); err != nil {
			return fmt.Errorf("append to journal: %w", err)
		}
	}
	if err := j.write(buf.Bytes()); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	j.seq += uint64(len(lines))
	j.deals = append(j.deals, dealsOf(lines)...)
	return nil
}

func (j *journal) write(b []byte) error {
	if j.file == nil {
		return nil
	}
	_, err := j.file.Write(b)
	if err == nil && !j.lazy {
		err = j.file.Sync()
	}
	if err == nil {
		j.size += int64(len(b))
		return nil
	}
	if cut := j.file.Truncate(j.size); cut != nil {
		j.broken = errors.Join(err, cut)
	} else if _, seek := j.file.Seek(j.size, io.SeekStart); seek != nil {
		j.broken = errors.Join(err, seek)
	}
	return err
}

// serve ends the time of filling, in which writes were not synced one by one: nobody
// has seen them. From here on every append is synced.
func (j *journal) serve() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lazy = false
	if j.file == nil {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// entries returns a copy of the executed deals, in the order of execution.
func (j *journal) entries() []JournalEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]JournalEntry(nil), j.deals...)
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = errJournalClosed
	}
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// ReadJournal returns the executed deals of a journal file in the order of execution.
// It may read while the server writes: a torn last change is left out. Edits and
// deletions of deals do not change what was executed, so they are not applied.
func ReadJournal(path string) ([]JournalEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	lines, _, err := readLines(f)
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", path, err)
	}
	return dealsOf(lines), nil
}

// readLines reads all whole changes and says how many bytes they take.
func readLines(r io.Reader) (changes []line, whole int64, err error) {
	var lines []line
	var kept int
	var size int64
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return lines[:kept], whole, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		if l.Seq != uint64(len(lines))+1 {
			return nil, 0, fmt.Errorf("line %d carries number %d: lines are missing or doubled", len(lines)+1, l.Seq)
		}
		lines = append(lines, l)
		size += int64(len(text))
		if !l.More {
			kept, whole = len(lines), size
		}
	}
}

func dealsOf(lines []line) []JournalEntry {
	var deals []JournalEntry
	for _, l := range lines {
		if l.Event == eventDeal && l.JournalEntry != nil {
			deals = append(deals, *l.JournalEntry)
		}
	}
	return deals
}
