package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/internal/invariant"
	"creditonce/store"
)

// Inspection is what a store holds, as plain values, and whether it agrees with itself.
type Inspection struct {
	Path      string
	Schema    int // of the file; 0 where it could not be told
	RaisedTo  int // of the private copy that was read in its place, where the file's schema is older than this program's; else 0
	Mode      string
	Events    int
	Rows      []InspectedRow
	OpenTasks []InspectedTask
	Findings  []string // of the store's own verification; empty when all agrees

	Violations []Violation // of the invariants that a store alone can be judged by
}

// Violation is an invariant that does not hold.
type Violation struct {
	Invariant string // "I-M4"; its sentence is in docs/invariants.md
	Rows      []uint64
	Text      string
}

// InspectedRow is one credit row. Amount is decimal text in Currency.
type InspectedRow struct {
	ID               uint64
	State            string
	Code             string // deposit code that came with the payment
	Deposit          string // deposit code that joined; empty before
	Payment          string
	Login            uint64
	Amount, Currency string
	Reference        string
	Ticket           uint64
	Attempt          int
	Holds            []string
}

// InspectedTask is one open task.
type InspectedTask struct {
	Kind, Entity, Summary string
}

// Verify opens the store of a configuration for reading, which no service may have open, and checks all of it; it changes nothing, and reads a
// store of an older schema in a private copy. progress is called now and then; nil is allowed.
func Verify(ctx context.Context, c *config.Config, progress func(done, total int)) (Inspection, error) {
	path := filepath.Join(c.DataDir, storeFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Inspection{}, fmt.Errorf("there is no store %s, so there is nothing to verify: the service makes it at its first start; "+
			"if it has run, see data_dir of the configuration", path)
	}
	db, err := store.OpenReading(path)
	var damaged *store.FoundError
	switch {
	case errors.As(err, &damaged):
		return Inspection{Path: path, Findings: damaged.Report.Findings}, nil
	case err != nil:
		return Inspection{}, fmt.Errorf("open the store: %w", err)
	}
	in, err := inspect(ctx, db, progress)
	in.Path, in.Schema = path, db.Schema()
	if in.Schema < store.SchemaVersion {
		in.RaisedTo = store.SchemaVersion
	}
	return in, errors.Join(err, db.Close(context.WithoutCancel(ctx)))
}

// IsRunning tells whether the error says that a service has the store open.
func IsRunning(err error) bool {
	var running *store.AlreadyRunningError
	return errors.As(err, &running)
}

// IsUnread tells whether an error of [VerifyBackup] says only why the file was not read, or not to its end, and nothing of the file: another
// version reads it, there is no room for it, there is none, this account may not read it, or somebody ended the check.
func IsUnread(err error) bool {
	var schema *store.SchemaError
	var room *store.RoomError
	return (errors.As(err, &schema) && schema.Found > store.SchemaVersion) || errors.As(err, &room) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// IsNoFile tells whether the error says that a name leads to a folder, a device or a pipe where a file is wanted.
func IsNoFile(err error) bool { return errors.Is(err, store.ErrNoFile) }

// IsInUse tells whether the error says that a file cannot be read since somebody has it open for writing.
func IsInUse(err error) bool { return errors.Is(err, store.ErrFileInUse) }

func inspect(ctx context.Context, db *store.DB, progress func(done, total int)) (Inspection, error) {
	var in Inspection
	settings, err := db.Settings(ctx)
	if err != nil {
		return in, fmt.Errorf("read settings: %w", err)
	}
	in.Mode = string(settings.Mode)
	report, err := db.Verify(ctx, progress)
	if err != nil {
		return in, fmt.Errorf("verify: %w", err)
	}
	in.Findings = report.Findings
	if err := in.judge(ctx, db); err != nil {
		return in, fmt.Errorf("judge the store: %w", err)
	}
	if err := in.list(ctx, db); err != nil {
		if len(in.Findings) == 0 {
			return in, err
		}
		// The lists read the records that were found damaged: what was found must not be lost over them.
		in.Findings = append(in.Findings, "not everything can be counted and listed: "+err.Error())
	}
	return in, nil
}

// judge checks every row and event by the invariants, in pieces. Damage is among the findings already.
func (in *Inspection) judge(ctx context.Context, db *store.DB) error {
	note := func(j judged) {
		for _, v := range j.violations {
			if v.Invariant == "I-S3" && len(v.Rows) == 0 {
				continue
			}
			out := Violation{Invariant: v.Invariant, Text: v.Text}
			for _, id := range v.Rows {
				out.Rows = append(out.Rows, uint64(id))
			}
			if !slices.ContainsFunc(in.Violations, func(o Violation) bool { return o.Invariant == out.Invariant && o.Text == out.Text }) {
				in.Violations = append(in.Violations, out)
			}
		}
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		return nil //nolint:nilerr // the list that follows says so
	}
	rows := 0
	for _, n := range counts.Rows {
		rows += n
	}
	for from := 0; from < rows; from += sentinelPiece {
		q := store.ExcerptQuery{}
		for id := from + 1; id <= min(from+sentinelPiece, rows); id++ { // numbers have no gaps
			q.Rows = append(q.Rows, credit.ID(id))
		}
		j, err := judge(ctx, db, invariant.World{}, q)
		if err != nil {
			return err
		}
		note(j)
	}
	for from := 0; from < counts.Events; from += sentinelPiece {
		j, err := judge(ctx, db, invariant.World{}, store.ExcerptQuery{EventsAfter: credit.EventID(from), Events: sentinelPiece})
		if err != nil {
			return err
		}
		note(j)
	}
	return nil
}

// list fills in what there is, as far as it can be read.
func (in *Inspection) list(ctx context.Context, db *store.DB) error {
	counts, err := db.Counts(ctx)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	in.Events = counts.Events
	var errs [2]error
	in.Rows, errs[0] = inspectRows(ctx, db)
	in.OpenTasks, errs[1] = inspectTasks(ctx, db)
	return errors.Join(errs[:]...)
}

const inspectPage = 500

func inspectRows(ctx context.Context, db *store.DB) ([]InspectedRow, error) {
	var out []InspectedRow
	for _, state := range credit.States() {
		var after credit.ID
		for {
			rows, err := db.Rows(ctx, credit.RowQuery{State: state, After: after, Limit: inspectPage})
			if err != nil {
				return out, fmt.Errorf("list %s rows: %w", state, err)
			}
			if len(rows) == 0 {
				break
			}
			for _, r := range rows {
				after, out = r.ID, append(out, inspectedRow(r))
			}
		}
	}
	return out, nil
}

func inspectedRow(r credit.Credit) InspectedRow {
	row := InspectedRow{
		ID: uint64(r.ID), State: string(r.State), Code: r.Code, Deposit: r.Deposit, Payment: r.Unit.Payment, Login: r.Login,
		Reference: string(r.Reference), Ticket: r.Ticket, Attempt: r.Attempt,
	}
	if r.Amount.IsSet() {
		row.Amount, row.Currency = r.Amount.Decimal(), r.Amount.Currency()
	}
	for _, h := range r.Holds {
		row.Holds = append(row.Holds, string(h))
	}
	return row
}

func inspectTasks(ctx context.Context, db *store.DB) ([]InspectedTask, error) {
	var out []InspectedTask
	var after credit.TaskID
	for {
		tasks, err := db.Tasks(ctx, store.TaskQuery{OpenOnly: true, After: after, Limit: inspectPage})
		if err != nil {
			return out, fmt.Errorf("list open tasks: %w", err)
		}
		if len(tasks) == 0 {
			return out, nil
		}
		for _, t := range tasks {
			after = t.ID
			out = append(out, InspectedTask{Kind: string(t.Kind), Entity: t.Entity, Summary: t.Summary})
		}
	}
}

// ProviderAmount reads a decimal amount in major units with the decimal places of the provider's own table. Text that
// is not exact, or not above zero, is refused.
func ProviderAmount(p config.Provider, text, currency string) (credit.Amount, error) {
	places, ok := exponent(p, currency)
	if !ok {
		return credit.Amount{}, fmt.Errorf("currency %q is not one that the provider knows", currency)
	}
	a, err := credit.ParseAmount(text, currency, places)
	if err == nil && a.Sign() <= 0 {
		err = fmt.Errorf("amount %s: want more than 0", a)
	}
	return a, err
}

// StorePath is the store's file in a data directory.
func StorePath(dataDir string) string { return filepath.Join(dataDir, storeFile) }
