package storetest

import (
	"context"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// reconciliation is what reconciliation and its judges need of an engine.
type reconciliation interface {
	recon.StatementBook
	recon.RunBook
	KeptLines(ctx context.Context, after recon.LineID, limit int) ([]recon.KeptLine, recon.LineID, error)
	LinesOf(ctx context.Context, p recon.Provider, payment string) ([]recon.KeptLine, error)
	PurgeRuns(ctx context.Context, below recon.RunID) (int, error)
	Discrepancies(ctx context.Context, after recon.Key, limit int) ([]recon.Discrepancy, error)
}

// BeginImport implements Backend.
func (b Broken) BeginImport(context.Context, recon.Provider, string) (recon.StatementID, recon.Imported, bool, error) {
	return 0, recon.Imported{}, false, b.Err
}

// AddLines implements Backend.
func (b Broken) AddLines(context.Context, recon.StatementID, []recon.Line) error { return b.Err }

// FinishImport implements Backend.
func (b Broken) FinishImport(context.Context, recon.StatementID, recon.Statement, string, time.Time) (recon.Imported, error) {
	return recon.Imported{}, b.Err
}

// DropImport implements Backend.
func (b Broken) DropImport(context.Context, recon.StatementID) error { return b.Err }

// Statements implements Backend.
func (b Broken) Statements(context.Context, recon.StatementQuery) ([]recon.Imported, error) {
	return nil, b.Err
}

// Lines implements Backend.
func (b Broken) Lines(context.Context, recon.StatementIDs, uint64, int) ([]recon.Line, uint64, error) {
	return nil, 0, b.Err
}

// KeptLines implements Backend.
func (b Broken) KeptLines(context.Context, recon.LineID, int) ([]recon.KeptLine, recon.LineID, error) {
	return nil, 0, b.Err
}

// LinesOf implements Backend.
func (b Broken) LinesOf(context.Context, recon.Provider, string) ([]recon.KeptLine, error) {
	return nil, b.Err
}

// CreditsAfter implements Backend.
func (b Broken) CreditsAfter(context.Context, credit.ID, int) ([]credit.Credit, error) {
	return nil, b.Err
}

// BeginRun implements Backend.
func (b Broken) BeginRun(context.Context) (recon.RunID, error) { return 0, b.Err }

// SaveFindings implements Backend.
func (b Broken) SaveFindings(context.Context, recon.RunID, []recon.Item) error { return b.Err }

// FinishRun implements Backend.
func (b Broken) FinishRun(context.Context, recon.Run) error { return b.Err }

// Carry implements Backend.
func (b Broken) Carry(context.Context, recon.Run, []recon.Item) (recon.Carriage, error) {
	return recon.Carriage{}, b.Err
}

// CarryGone implements Backend.
func (b Broken) CarryGone(context.Context, recon.Run, map[recon.Key]string) (recon.Carriage, error) {
	return recon.Carriage{}, b.Err
}

// RunTask implements Backend.
func (b Broken) RunTask(context.Context, credit.Task, *credit.TaskClose) error { return b.Err }

// Runs implements Backend.
func (b Broken) Runs(context.Context, recon.RunID, int) ([]recon.Run, error) { return nil, b.Err }

// Run implements Backend.
func (b Broken) Run(context.Context, recon.RunID) (recon.Run, error) { return recon.Run{}, b.Err }

// RunOfDay implements Backend.
func (b Broken) RunOfDay(context.Context, string, recon.Day) (recon.Run, error) {
	return recon.Run{}, b.Err
}

// Findings implements Backend.
func (b Broken) Findings(context.Context, recon.RunID, int, int) ([]recon.Item, int, error) {
	return nil, 0, b.Err
}

// PurgeRuns implements Backend.
func (b Broken) PurgeRuns(context.Context, recon.RunID) (int, error) { return 0, b.Err }

// Reached implements Backend.
func (b Broken) Reached(context.Context) (recon.Reached, error) { return recon.Reached{}, b.Err }

// DiscrepancyTask implements Backend.
func (b Broken) DiscrepancyTask(context.Context, recon.Key) (credit.Task, bool, error) {
	return credit.Task{}, false, b.Err
}

// Discrepancies implements Backend.
func (b Broken) Discrepancies(context.Context, recon.Key, int) ([]recon.Discrepancy, error) {
	return nil, b.Err
}
