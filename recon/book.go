package recon

import (
	"context"
	"time"

	"creditonce/credit"
)

// StatementID numbers imported statements.
type StatementID uint64

// Imported is a statement as the store has it.
type Imported struct {
	ID         StatementID `json:"id,string"`
	Statement  Statement   `json:"statement"`
	At         time.Time   `json:"at"`                   // UTC, when the import was finished
	By         string      `json:"by"`                   // the person's id, or "schedule"
	Stored     int         `json:"stored"`               // lines of it that no earlier statement had
	Duplicates int         `json:"duplicates,omitempty"` // lines that an earlier statement had with the same facts
	Replaced   int         `json:"replaced,omitempty"`   // of the duplicates, those that name a batch or a type which the earlier line left open: they count in its place
	// Contradicting are the stored lines that an earlier statement has with other facts: kept, and not counted. Conflicts lists the first hundred.
	Contradicting int        `json:"contradicting,omitempty"`
	Conflicts     []Conflict `json:"conflicts,omitempty"`
	// LeansOn are the earlier statements that have movements of this one: it repeats, replaces or contradicts their lines.
	LeansOn   StatementIDs `json:"leans_on,omitempty"`
	Withdrawn *Withdrawal  `json:"withdrawn,omitempty"` // nil: it counts
	// UTC; the later of what the statement says that it covers, and its newest line, but never later than the import.
	Reaches time.Time `json:"reaches,omitzero"`
}

// Differing is how many lines an earlier statement has with other facts. A store from before they were counted has the list alone.
func (im Imported) Differing() int { return max(im.Contradicting, len(im.Conflicts)) }

// ends is the moment before which the statement has what was settled: the end that it states, else just behind its newest line.
func (im Imported) ends() time.Time {
	if im.Reaches.IsZero() || im.Reaches.Equal(im.Statement.Until) {
		return im.Reaches
	}
	return im.Reaches.Add(time.Nanosecond)
}

// Conflict is a line whose natural key is stored already with other facts: both are kept, and a person is asked.
type Conflict struct {
	Row     int    `json:"row"`     // of the statement
	Earlier string `json:"earlier"` // digest of the statement that has the other
	Line    int    `json:"line"`    // row of the other
	Text    string `json:"text"`    // what differs, with both values
}

// StatementBook keeps statements and their lines. Every verb is one transaction; lines count only when their statement is finished.
type StatementBook interface {
	// BeginImport opens an import of a statement with the digest of a provider (by kind and account). What an interrupted import of the same
	// digest left is dropped first, in pieces. Where it was imported whole, the answer is that import and done is true.
	BeginImport(ctx context.Context, p Provider, digest string) (id StatementID, before Imported, done bool, err error)
	// AddLines adds lines to an import that is open; a piece has at most a few hundred.
	AddLines(ctx context.Context, id StatementID, lines []Line) error
	// FinishImport makes the import visible, whole.
	FinishImport(ctx context.Context, id StatementID, s Statement, by string, at time.Time) (Imported, error)
	// DropImport forgets an import that is open, in pieces. It is also called for one that nobody finishes.
	DropImport(ctx context.Context, id StatementID) error
	// Statements lists finished imports, newest first, of one provider (by kind and account) or of all; withdrawn ones too.
	Statements(ctx context.Context, q StatementQuery) ([]Imported, error)
	// Lines lists the lines that count in the order of their numbers, after a number; each line once, whatever statements repeat it. They are
	// those of the statements that were listed, as if no other had come since and none of them had been withdrawn; nil: of all that count now.
	// next is 0 at the end.
	Lines(ctx context.Context, listed StatementIDs, after uint64, limit int) (lines []Line, next uint64, err error)
}

// StatementQuery selects statements; the zero Provider takes all.
type StatementQuery struct {
	Provider Provider
	Below    StatementID // 0: from the newest
	Limit    int
}

// RunBook keeps runs, their findings and the tasks of discrepancies.
type RunBook interface {
	// CreditsAfter lists credit rows by number, after one.
	CreditsAfter(ctx context.Context, after credit.ID, limit int) ([]credit.Credit, error)
	// BeginRun draws the number of a run. Nothing of the run is visible yet; what an unfinished run left is dropped, in pieces.
	BeginRun(ctx context.Context) (RunID, error)
	// SaveFindings adds items to the run that was begun.
	SaveFindings(ctx context.Context, id RunID, items []Item) error
	// FinishRun makes the run visible, with its findings.
	FinishRun(ctx context.Context, r Run) error
	// Carry takes a piece of a run's differences: it opens, refreshes and reopens their tasks by [Carried], each in one transaction with what
	// it read.
	Carry(ctx context.Context, r Run, items []Item) (Carriage, error)
	// CarryGone goes through every open discrepancy that the run has not seen, a page at a time, and closes by [Gone] the tasks of those that
	// it judges. Those in spared stay open and get their note by [Spared].
	CarryGone(ctx context.Context, r Run, spared map[Key]string) (Carriage, error)
	// Discrepancies lists discrepancies in the order of class and entity, after a key (the zero key: from the first), explained ones too.
	Discrepancies(ctx context.Context, after Key, limit int) ([]Discrepancy, error)
	// RunTask opens the task of a kind about the reconciliation as a whole, or closes it with a reason: [credit.TaskReconIncomplete], [credit.TaskReconOverdue].
	RunTask(ctx context.Context, t credit.Task, closed *credit.TaskClose) error
	// Runs lists finished runs, newest first, below a number (0: from the newest).
	Runs(ctx context.Context, below RunID, limit int) ([]Run, error)
	// Run reads one; credit.ErrNotFound where there is none.
	Run(ctx context.Context, id RunID) (Run, error)
	// RunOfDay is the newest complete run whose days hold the day of the zone, else the newest incomplete one; credit.ErrNotFound without either.
	RunOfDay(ctx context.Context, zone string, d Day) (Run, error)
	// Findings lists a run's items in their order, after a position (from 0). next is 0 at the end.
	Findings(ctx context.Context, id RunID, after, limit int) (items []Item, next int, err error)
	// Reached is how far complete runs reach without a gap; zero before the first. FinishRun moves it when the run is complete and begins no
	// later than where it ends.
	Reached(ctx context.Context) (Reached, error)
	// DiscrepancyTask tells the newest task of a discrepancy; ok is false where it never had one.
	DiscrepancyTask(ctx context.Context, k Key) (t credit.Task, ok bool, err error)
}

// Carriage counts what became of tasks.
type Carriage struct {
	Opened, Reopened, Refreshed, Closed, Accepted int
}
