package recon

import (
	"context"
	"fmt"
	"io"
	"time"

	"creditonce/credit"
)

// Statement is what one file, or one pull from a provider's API, says about itself.
type Statement struct {
	Digest   string    `json:"digest"` // SHA-256 of the bytes, hex
	Name     string    `json:"name"`   // file name without folder, or "api"
	Provider Provider  `json:"provider"`
	Format   string    `json:"format"`         // "adyen", "mapped", ...
	From     time.Time `json:"from,omitzero"`  // UTC; what it covers, where it says so: half open
	Until    time.Time `json:"until,omitzero"` // UTC
	Rows     int       `json:"rows"`           // lines emitted

	// Batches are those that it holds, of a provider that counts its batches through: a number that no statement has is one that is missing.
	Batches []Batches `json:"batches,omitempty"`
	// Consecutive tells that the periods (From, Until) of such statements follow each other: what lies between two of them is missing.
	Consecutive bool `json:"consecutive,omitempty"`

	// Incomplete says why more lines may be missing than the file shows: a trailer or payout row that must be there is not, the last row has
	// no end. Empty: whole, as far as the format can tell. The list of a day that rests on such a statement is incomplete.
	Incomplete string `json:"incomplete,omitempty"`

	// Totals that the statement states itself, with what its lines sum up to.
	Totals []StatedTotal `json:"totals,omitempty"`
	// Problems are rows that a person must look at; the statement is imported all the same. What makes the whole file unusable is a
	// *FileError and imports nothing.
	Problems []Problem `json:"problems,omitempty"`
}

// StatedTotal is one sum that the statement states (payout row, trailer, totals line) beside the sum of its lines.
type StatedTotal struct {
	Name   string        `json:"name"`            // "payout TX123", "gross total"
	Row    int           `json:"row,omitempty"`   // where it stands
	Batch  string        `json:"batch,omitempty"` // where it is a payout's
	Stated credit.Amount `json:"stated"`
	Summed credit.Amount `json:"summed"` // with a booked rounding rest
	Rest   credit.Amount `json:"rest"`   // of it the rounding rest; unset: none
}

// Agrees tells that the lines sum up to what is stated.
func (t StatedTotal) Agrees() bool { return t.Stated.Equal(t.Summed) }

// Problem is a row that a person must look at.
type Problem struct {
	Row  int    `json:"row"`
	Text string `json:"text"` // what is wrong and what to do; no personal data of the row
}

// FileError says why a file cannot be imported: nothing of it is.
type FileError struct {
	Name string // of the file
	Row  int    // line of the file from 1; 0 where it is about the whole
	Text string // what is wrong and what to do
}

// Error names file and row.
func (e *FileError) Error() string {
	if e.Row == 0 {
		return fmt.Sprintf("%s: %s", e.Name, e.Text)
	}
	return fmt.Sprintf("%s, line %d: %s", e.Name, e.Row, e.Text)
}

// Unwrap lets a caller ask for credit.ErrInvalid.
func (e *FileError) Unwrap() error { return credit.ErrInvalid }

// ReadOptions are what the config knows about a provider's statements.
type ReadOptions struct {
	Provider  Provider
	Name      string              // of the file, for messages
	Merchant  string              // the account as the statements write it; a row of another one refuses the file. Empty: Provider.Account where the format carries one
	Location  *time.Location      // of times without a zone; nil: UTC
	RowTypes  map[string]LineType // the firm's answer for words that the reader does not know
	Exponents map[string]int      // decimal places where they are not those of the format's own table

	// Rounding is the largest rest between a stated total and its rows that is a rounding rest, by currency; none for a currency: two of its
	// minor units. It is for the formats whose rows have more decimals than their totals.
	Rounding map[string]credit.Amount
}

// Reader reads one format. Read streams: it holds no more than a few rows and the totals in memory, calls emit in the order of the file, and
// closes nothing. It returns *FileError for a file that cannot be imported whole, and what emit returns as it is. A Reader is made for one file.
type Reader interface {
	Read(ctx context.Context, in io.Reader, emit func(Line) error) (Statement, error)
}
