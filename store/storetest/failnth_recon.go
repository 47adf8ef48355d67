package storetest

import (
	"context"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// several are the answers of a verb that gives more than one.
type several[A, B any] struct {
	a A
	b B
}

// BeginImport implements Backend.
func (f *failing) BeginImport(ctx context.Context, p recon.Provider, digest string) (recon.StatementID, recon.Imported, bool, error) {
	v, err := call(f, func() (several[recon.StatementID, several[recon.Imported, bool]], error) {
		id, before, done, err := f.b.BeginImport(ctx, p, digest)
		return several[recon.StatementID, several[recon.Imported, bool]]{id, several[recon.Imported, bool]{before, done}}, err
	})
	return v.a, v.b.a, v.b.b, err
}

// AddLines implements Backend.
func (f *failing) AddLines(ctx context.Context, id recon.StatementID, lines []recon.Line) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.AddLines(ctx, id, lines) })
	return err
}

// FinishImport implements Backend.
func (f *failing) FinishImport(ctx context.Context, id recon.StatementID, s recon.Statement, by string, at time.Time) (recon.Imported, error) {
	return call(f, func() (recon.Imported, error) { return f.b.FinishImport(ctx, id, s, by, at) })
}

// DropImport implements Backend.
func (f *failing) DropImport(ctx context.Context, id recon.StatementID) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.DropImport(ctx, id) })
	return err
}

// Statements implements Backend.
func (f *failing) Statements(ctx context.Context, q recon.StatementQuery) ([]recon.Imported, error) {
	return call(f, func() ([]recon.Imported, error) { return f.b.Statements(ctx, q) })
}

// Lines implements Backend.
func (f *failing) Lines(ctx context.Context, listed recon.StatementIDs, after uint64, limit int) ([]recon.Line, uint64, error) {
	v, err := call(f, func() (several[[]recon.Line, uint64], error) {
		a, b, err := f.b.Lines(ctx, listed, after, limit)
		return several[[]recon.Line, uint64]{a, b}, err
	})
	return v.a, v.b, err
}

// KeptLines implements Backend.
func (f *failing) KeptLines(ctx context.Context, after recon.LineID, limit int) ([]recon.KeptLine, recon.LineID, error) {
	v, err := call(f, func() (several[[]recon.KeptLine, recon.LineID], error) {
		a, b, err := f.b.KeptLines(ctx, after, limit)
		return several[[]recon.KeptLine, recon.LineID]{a, b}, err
	})
	return v.a, v.b, err
}

// LinesOf implements Backend.
func (f *failing) LinesOf(ctx context.Context, p recon.Provider, payment string) ([]recon.KeptLine, error) {
	return call(f, func() ([]recon.KeptLine, error) { return f.b.LinesOf(ctx, p, payment) })
}

// CreditsAfter implements Backend.
func (f *failing) CreditsAfter(ctx context.Context, after credit.ID, limit int) ([]credit.Credit, error) {
	return call(f, func() ([]credit.Credit, error) { return f.b.CreditsAfter(ctx, after, limit) })
}

// BeginRun implements Backend.
func (f *failing) BeginRun(ctx context.Context) (recon.RunID, error) {
	return call(f, func() (recon.RunID, error) { return f.b.BeginRun(ctx) })
}

// SaveFindings implements Backend.
func (f *failing) SaveFindings(ctx context.Context, id recon.RunID, items []recon.Item) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.SaveFindings(ctx, id, items) })
	return err
}

// FinishRun implements Backend.
func (f *failing) FinishRun(ctx context.Context, r recon.Run) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.FinishRun(ctx, r) })
	return err
}

// Carry implements Backend.
func (f *failing) Carry(ctx context.Context, r recon.Run, items []recon.Item) (recon.Carriage, error) {
	return call(f, func() (recon.Carriage, error) { return f.b.Carry(ctx, r, items) })
}

// CarryGone implements Backend.
func (f *failing) CarryGone(ctx context.Context, r recon.Run, spared map[recon.Key]string) (recon.Carriage, error) {
	return call(f, func() (recon.Carriage, error) { return f.b.CarryGone(ctx, r, spared) })
}

// RunTask implements Backend.
func (f *failing) RunTask(ctx context.Context, t credit.Task, closed *credit.TaskClose) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.RunTask(ctx, t, closed) })
	return err
}

// Runs implements Backend.
func (f *failing) Runs(ctx context.Context, below recon.RunID, limit int) ([]recon.Run, error) {
	return call(f, func() ([]recon.Run, error) { return f.b.Runs(ctx, below, limit) })
}

// Run implements Backend.
func (f *failing) Run(ctx context.Context, id recon.RunID) (recon.Run, error) {
	return call(f, func() (recon.Run, error) { return f.b.Run(ctx, id) })
}

// RunOfDay implements Backend.
func (f *failing) RunOfDay(ctx context.Context, zone string, d recon.Day) (recon.Run, error) {
	return call(f, func() (recon.Run, error) { return f.b.RunOfDay(ctx, zone, d) })
}

// Findings implements Backend.
func (f *failing) Findings(ctx context.Context, id recon.RunID, after, limit int) ([]recon.Item, int, error) {
	v, err := call(f, func() (several[[]recon.Item, int], error) {
		a, b, err := f.b.Findings(ctx, id, after, limit)
		return several[[]recon.Item, int]{a, b}, err
	})
	return v.a, v.b, err
}

// PurgeRuns implements Backend.
func (f *failing) PurgeRuns(ctx context.Context, below recon.RunID) (int, error) {
	return call(f, func() (int, error) { return f.b.PurgeRuns(ctx, below) })
}

// Reached implements Backend.
func (f *failing) Reached(ctx context.Context) (recon.Reached, error) {
	return call(f, func() (recon.Reached, error) { return f.b.Reached(ctx) })
}

// DiscrepancyTask implements Backend.
func (f *failing) DiscrepancyTask(ctx context.Context, k recon.Key) (credit.Task, bool, error) {
	v, err := call(f, func() (several[credit.Task, bool], error) {
		a, b, err := f.b.DiscrepancyTask(ctx, k)
		return several[credit.Task, bool]{a, b}, err
	})
	return v.a, v.b, err
}

// Discrepancies implements Backend.
func (f *failing) Discrepancies(ctx context.Context, after recon.Key, limit int) ([]recon.Discrepancy, error) {
	return call(f, func() ([]recon.Discrepancy, error) { return f.b.Discrepancies(ctx, after, limit) })
}
