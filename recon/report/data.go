package report

import (
	"cmp"
	"fmt"
	"iter"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// Data is what a report is made from. Renderers only read it; it may be rendered by several goroutines when Items and Tasks allow that.
type Data struct {
	Run         recon.Run
	Environment string // "live" or "test"
	Demo        bool   // the money is simulated
	// Newer are the runs after it of the same business days; the zero value: there are none.
	Newer recon.Newer

	// Items gives the run's items but the plain matched ones; nil: none. It may be ranged over twice for one report and must give the same
	// items in the same order. An error ends the report with that error.
	Items iter.Seq2[recon.Item, error]
	// Tasks gives the task of a discrepancy where it has one; nil: nothing has a task.
	Tasks func(recon.Key) (Task, bool)
}

// Task is what a report says of a discrepancy's task.
type Task struct {
	ID     credit.TaskID
	State  string    // "open", "closed"
	Opened time.Time // UTC
}

// items is never nil.
func (d Data) items() iter.Seq2[recon.Item, error] {
	if d.Items == nil {
		return func(func(recon.Item, error) bool) {}
	}
	return d.Items
}

func (d Data) task(key recon.Key) (Task, bool) {
	if d.Tasks == nil {
		return Task{}, false
	}
	return d.Tasks(key)
}

// zone is the business zone of the run.
func (d Data) zone() (*time.Location, error) {
	loc, err := time.LoadLocation(cmp.Or(d.Run.Zone, "UTC"))
	if err != nil {
		return nil, fmt.Errorf("report on run %d: business zone %.40q is not known on this host: %w", d.Run.ID, d.Run.Zone, credit.ErrInvalid)
	}
	return loc, nil
}

// notice is the line that keeps simulated money from being taken for real; empty for a live store.
func (d Data) notice() string {
	switch {
	case d.Demo:
		return "DEMO: simulated money"
	case d.Environment != "live":
		return "TEST: no real money"
	default:
		return ""
	}
}

// environment is one word for columns: "live", "test" or "demo".
func (d Data) environment() string {
	if d.Demo {
		return "demo"
	}
	return cmp.Or(shown(d.Environment), "unknown")
}

// period names the business days: "2026-10-25", or "2026-10-01 to 2026-10-31".
func period(r recon.Run) string {
	if r.First == r.Last {
		return string(r.First)
	}
	return string(r.First) + " to " + string(r.Last)
}
