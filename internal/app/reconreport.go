package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/recon/report"
)

// findingsPage bounds one read of a run's items.
const findingsPage = 300

// textWidth is the width of a report as text: what two windows side by side show.
const textWidth = 100

// Report implements admin.Reconciliation.
func (r *reconciliation) Report(ctx context.Context, who desk.Actor, wish admin.ReportWish) (admin.Rendered, error) {
	if err := r.app.desk.MayLook(ctx, who); err != nil {
		return admin.Rendered{}, err
	}
	render, kind, ok := renderer(wish.Format)
	if !ok {
		return admin.Rendered{}, fmt.Errorf("a report has no format %q; it has %s: %w", wish.Format, strings.Join(admin.ReportFormats(), ", "), credit.ErrInvalid)
	}
	run, err := r.wished(ctx, wish)
	if err != nil {
		return admin.Rendered{}, err
	}
	newer, err := r.app.store.NewerRuns(ctx, run)
	if err != nil {
		return admin.Rendered{}, err
	}
	data := r.data(ctx, run)
	data.Newer = newer
	return admin.Rendered{Run: run, Newer: newer.Numbers, ContentType: kind, Write: func(w io.Writer) error { return render(w, data) }}, nil
}

func renderer(format string) (render func(io.Writer, report.Data) error, contentType string, ok bool) {
	switch format {
	case "", "text":
		return func(w io.Writer, d report.Data) error { return report.Text(w, d, textWidth) }, "text/plain; charset=utf-8", true
	case "html":
		return report.HTML, "text/html; charset=utf-8", true
	case "csv":
		return report.CSV, "text/csv; charset=utf-8", true
	case "totals-csv":
		return report.CSVRolls, "text/csv; charset=utf-8", true
	case "xlsx":
		return report.XLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", true
	case "json":
		return report.JSON, "application/json", true
	default:
		return nil, "", false
	}
}

// wished finds the run that somebody wants the report of.
func (r *reconciliation) wished(ctx context.Context, wish admin.ReportWish) (recon.Run, error) {
	switch {
	case wish.Run != 0:
		run, err := r.app.store.Run(ctx, wish.Run)
		if errors.Is(err, credit.ErrNotFound) {
			err = fmt.Errorf("there is no run %d; see `creditonce recon list`: %w", wish.Run, credit.ErrNotFound)
		}
		return run, err
	case wish.Day != "":
		run, err := r.app.store.RunOfDay(ctx, r.runner.Zone.String(), wish.Day)
		if errors.Is(err, credit.ErrNotFound) {
			err = fmt.Errorf("no run has compared the business day %s; make one with `creditonce recon run --day %s`: %w", wish.Day, wish.Day, credit.ErrNotFound)
		}
		return run, err
	}
	runs, err := r.app.store.Runs(ctx, 0, 1)
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("there was no run yet; make one with `creditonce recon run`: %w", credit.ErrNotFound)
	}
	if err != nil {
		return recon.Run{}, err
	}
	return runs[0], nil
}

// items reads a run's items page by page, each in a short transaction.
func (r *reconciliation) items(ctx context.Context, id recon.RunID) iter.Seq2[recon.Item, error] {
	return func(yield func(recon.Item, error) bool) {
		for after := 0; ; {
			page, next, err := r.app.store.Findings(ctx, id, after, findingsPage)
			if err != nil {
				yield(recon.Item{}, err)
				return
			}
			for _, i := range page {
				if !yield(i, nil) {
					return
				}
			}
			if next == 0 {
				return
			}
			after = next
		}
	}
}

// taskOf is what a report says of an item's task; one that cannot be read is left out, and the log says why.
func (r *reconciliation) taskOf(ctx context.Context, k recon.Key) (report.Task, bool) {
	t, ok, err := r.app.store.DiscrepancyTask(ctx, k)
	if err != nil {
		r.app.log.Warn().Err(err).Str("entity", k.Entity).Msg("the task of a difference could not be read for a report")
		return report.Task{}, false
	}
	state := "open"
	if !t.IsOpen() {
		state = "closed"
	}
	return report.Task{ID: t.ID, State: state, Opened: t.OpenedAt}, ok
}
