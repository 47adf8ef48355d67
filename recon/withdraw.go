package recon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"creditonce/credit"
)

// Withdrawal says that a person has taken a statement back: its lines count nowhere, and the same file may be imported again.
type Withdrawal struct {
	By     string    `json:"by"` // the person's id
	At     time.Time `json:"at"` // UTC
	Reason string    `json:"reason"`
}

// StatementIDs are statements by number, ascending, each once. As JSON they are text, like every id.
type StatementIDs []StatementID

// With are the numbers and one more.
func (ids StatementIDs) With(id StatementID) StatementIDs {
	at, found := slices.BinarySearch(ids, id)
	if found {
		return ids
	}
	return slices.Insert(slices.Clip(ids), at, id)
}

// Has tells that a number is one of them.
func (ids StatementIDs) Has(id StatementID) bool {
	_, found := slices.BinarySearch(ids, id)
	return found
}

// MarshalJSON writes a list of texts.
func (ids StatementIDs) MarshalJSON() ([]byte, error) {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = strconv.FormatUint(uint64(id), 10)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a list of texts.
func (ids *StatementIDs) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("read numbers of statements: %w", err)
	}
	*ids = nil
	for _, s := range list {
		id, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fmt.Errorf("read numbers of statements: %w", err)
		}
		*ids = ids.With(StatementID(id))
	}
	return nil
}

// Withdrawn decides on taking a statement back. later are the finished statements that lean on it and are not withdrawn. It is refused
// (*credit.RefusedError) for one that is withdrawn already ("withdrawn") and for one that others lean on ("repeated"): what they had in
// common stands in this one only, and would be lost.
func Withdrawn(im Imported, w Withdrawal, later StatementIDs) (Imported, error) {
	switch {
	case w.By == "" || w.Reason == "" || len(w.Reason) > longestReason:
		return im, fmt.Errorf("it takes a person, and a reason of at most %d bytes: %w", longestReason, credit.ErrInvalid)
	case im.Withdrawn != nil:
		return im, credit.Refuse("withdrawn", "statement %d was withdrawn by %s at %s", im.ID, im.Withdrawn.By, momentText(im.Withdrawn.At))
	case len(later) > 0:
		return im, credit.Refuse("repeated", "rows of statement %d stand in later ones too, which were stored as repeats of it or beside it: withdraw first %s, then this one, and import them again",
			im.ID, laterText(later))
	}
	im.Withdrawn = &w
	return im, nil
}

// longestReason bounds the reason of a withdrawal, in bytes; the audit log takes it too.
const longestReason = 1000

// mostLeaning bounds the statements that a message names.
const mostLeaning = 20

func laterText(ids StatementIDs) string {
	newest := slices.Clone(ids)
	slices.Reverse(newest) // the newest leans on the others
	text := "statement "
	if len(newest) > 1 {
		text = "statements "
	}
	for i, id := range newest[:min(len(newest), mostLeaning)] {
		if i > 0 {
			text += ", "
		}
		text += strconv.FormatUint(uint64(id), 10)
	}
	if n := len(newest) - mostLeaning; n > 0 {
		text += fmt.Sprintf(" and %s", plural(n, "earlier one", "earlier ones"))
	}
	return text
}

// Withdraw has a statement withdrawn, and never while a run reads the lines: it is refused (*credit.RefusedError, "busy") then. The error of
// withdraw is returned as it is.
func (r *Runner) Withdraw(withdraw func() error) error {
	if !r.busy.TryLock() {
		return credit.Refuse("busy", "a run is reading the statements; withdraw this one when it is finished")
	}
	defer r.busy.Unlock()
	return withdraw()
}
