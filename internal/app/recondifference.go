package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/recon/report"
)

// Difference implements admin.Reconciliation.
func (r *reconciliation) Difference(ctx context.Context, who desk.Actor, k recon.Key, columns int) (*admin.Difference, error) {
	if err := r.app.desk.MayLook(ctx, who); err != nil {
		return nil, err
	}
	item, id, ok, err := r.app.store.LastItem(ctx, k)
	if err != nil || !ok {
		return nil, err
	}
	run, err := r.app.store.Run(ctx, id)
	if errors.Is(err, credit.ErrNotFound) { // under way: it has opened the task, and its report is not there yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	words, data := report.WordsOf(k.Class), r.data(ctx, run)
	out := &admin.Difference{
		Run: strconv.FormatUint(uint64(id), 10), First: string(run.First), Last: string(run.Last), Title: words.Title, Means: words.Means, Do: words.Do,
	}
	var object bytes.Buffer
	if err := report.ItemJSON(&object, data, item); err != nil {
		return nil, fmt.Errorf("show %s of %s: %w", k.Class, k.Entity, err)
	}
	out.Item = bytes.TrimSpace(object.Bytes())
	if columns == 0 {
		return out, nil
	}
	var text strings.Builder
	if err := report.SideBySide(&text, data, item, columns); err != nil {
		return nil, fmt.Errorf("show %s of %s: %w", k.Class, k.Entity, err)
	}
	out.Text = text.String()
	return out, nil
}

// data is what a report of a run is made from.
func (r *reconciliation) data(ctx context.Context, run recon.Run) report.Data {
	return report.Data{
		Run: run, Environment: string(r.app.cfg.Environment), Demo: r.app.cfg.Demo, Items: r.items(ctx, run.ID),
		Tasks: func(k recon.Key) (report.Task, bool) { return r.taskOf(ctx, k) },
	}
}
