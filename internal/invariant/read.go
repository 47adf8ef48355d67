package invariant

import (
	"context"
	"fmt"
	"slices"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// Reader is what a store shows of itself.
type Reader interface {
	Settings(ctx context.Context) (credit.Settings, error)
	Rows(ctx context.Context, q credit.RowQuery) ([]credit.Credit, error)
	History(ctx context.Context, id credit.ID) ([]credit.Entry, error)
	Events(ctx context.Context, after credit.EventID, limit int) ([]credit.Event, error)
	Deposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error)
	Tasks(ctx context.Context, q desk.TaskQuery) ([]credit.Task, error)
	Statements(ctx context.Context, q recon.StatementQuery) ([]recon.Imported, error)
	KeptLines(ctx context.Context, after recon.LineID, limit int) ([]recon.KeptLine, recon.LineID, error)
	Runs(ctx context.Context, below recon.RunID, limit int) ([]recon.Run, error)
	Findings(ctx context.Context, id recon.RunID, after, limit int) ([]recon.Item, int, error)
	Discrepancies(ctx context.Context, after recon.Key, limit int) ([]recon.Discrepancy, error)
}

// readPage is how many records one read asks for.
const readPage = 500

// Read fills in what a store has: settings, rows with their histories, events, deposits, tasks and what reconciliation keeps, all of it. The reads
// are several: nobody may write meanwhile. The rest of the world stays as it is; call it on a World whose Missing says
// which journals there are.
func (w *World) Read(ctx context.Context, r Reader) (err error) {
	if w.Settings, err = r.Settings(ctx); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	w.Rows, w.Events, w.Deposits, w.Tasks, w.Recon = nil, nil, nil, nil, &Recon{}
	for _, read := range []func(context.Context, Reader) error{
		w.readRows, w.readEvents, w.readDeposits, w.readTasks, w.Recon.readStatements, w.Recon.readRuns, w.Recon.readDiscrepancies,
	} {
		if err := read(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) readRows(ctx context.Context, r Reader) error {
	var after credit.ID
	for {
		rows, err := r.Rows(ctx, credit.RowQuery{After: after, Limit: readPage})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			h, err := r.History(ctx, row.ID)
			if err != nil {
				return err
			}
			after, w.Rows = row.ID, append(w.Rows, Row{Credit: row, History: h})
		}
	}
}

func (w *World) readEvents(ctx context.Context, r Reader) error {
	var after credit.EventID
	for {
		events, err := r.Events(ctx, after, readPage)
		if err != nil || len(events) == 0 {
			return err
		}
		w.Events = append(w.Events, events...)
		after = events[len(events)-1].ID
	}
}

func (w *World) readDeposits(ctx context.Context, r Reader) error {
	q := credit.DepositQuery{Limit: readPage, Now: w.Now}
	for {
		page, err := r.Deposits(ctx, q)
		if err != nil {
			return err
		}
		for _, v := range page.Items {
			w.Deposits = append(w.Deposits, v.Deposit)
		}
		if q.After = page.Next; q.After == nil {
			return nil
		}
	}
}

func (w *World) readTasks(ctx context.Context, r Reader) error {
	var after credit.TaskID
	for {
		tasks, err := r.Tasks(ctx, desk.TaskQuery{After: after, Limit: readPage})
		if err != nil || len(tasks) == 0 {
			return err
		}
		w.Tasks = append(w.Tasks, tasks...)
		after = tasks[len(tasks)-1].ID
	}
}

func (x *Recon) readStatements(ctx context.Context, r Reader) error {
	var below recon.StatementID
	for {
		page, err := r.Statements(ctx, recon.StatementQuery{Below: below, Limit: readPage})
		if err != nil {
			return err
		}
		x.Statements = append(x.Statements, page...)
		if len(page) < readPage {
			break
		}
		below = page[len(page)-1].ID
	}
	for after := recon.LineID(0); ; {
		page, next, err := r.KeptLines(ctx, after, readPage)
		if err != nil {
			return err
		}
		x.Lines = append(x.Lines, page...)
		if next == 0 {
			return nil
		}
		after = next
	}
}

func (x *Recon) readRuns(ctx context.Context, r Reader) error {
	var below recon.RunID
	for {
		page, err := r.Runs(ctx, below, readPage)
		if err != nil {
			return err
		}
		for _, run := range page {
			items, err := itemsOf(ctx, r, run)
			if err != nil {
				return err
			}
			x.Runs = append(x.Runs, ReconRun{Run: run, Items: items})
		}
		if len(page) < readPage {
			slices.Reverse(x.Runs)
			return nil
		}
		below = page[len(page)-1].ID
	}
}

func itemsOf(ctx context.Context, r Reader, run recon.Run) (out []recon.Item, err error) {
	if run.Purged {
		return nil, nil
	}
	for after := 0; ; {
		page, next, err := r.Findings(ctx, run.ID, after, readPage)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if next == 0 {
			return out, nil
		}
		after = next
	}
}

func (x *Recon) readDiscrepancies(ctx context.Context, r Reader) error {
	var after recon.Key
	for {
		page, err := r.Discrepancies(ctx, after, readPage)
		if err != nil || len(page) == 0 {
			return err
		}
		x.Discrepancies = append(x.Discrepancies, page...)
		after = page[len(page)-1].Key
	}
}
