package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"

	"creditonce/internal/config"
	"creditonce/recon"
)

// demoMorning is how much later a demo takes it to be when it compares the books: the business day is over then.
const demoMorning = 30 * time.Hour

// DemoBooks is what a demo reconciles when its service has stopped.
type DemoBooks struct {
	Provider  string    // label
	Statement string    // path of the provider's file
	From      time.Time // when the demo began
	Report    string    // path of the page that is written
}

// DemoFound is what the comparison found.
type DemoFound struct {
	Classes    map[string]int // items by class
	Incomplete []string       // why the run was not complete; none: it was
}

// ReconcileDemo imports the statement into the store of a demo, compares the business days of the demo as if the next morning had come, and
// writes the report. The comparison is that of the service; only its clock is not. It refuses any store that is not a demo's, and one that
// a service has open.
func ReconcileDemo(ctx context.Context, c *config.Config, d DemoBooks) (found DemoFound, err error) {
	if !c.Demo {
		return found, errors.New("only a demo may take it to be tomorrow")
	}
	a, err := New(ctx, Options{Config: c, Log: zerolog.Nop()})
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, a.teardown.run(context.WithoutCancel(ctx))) }()
	p, ok := c.Providers[d.Provider]
	if !ok {
		return found, fmt.Errorf("the configuration has no provider %q", d.Provider)
	}
	r := a.recon.runner
	r.Now = func() time.Time { return a.clock.Now().Add(demoMorning) }
	r.Importer.Now = r.Now
	file, err := os.Open(d.Statement)
	if err != nil {
		return found, err
	}
	defer func() { _ = file.Close() }() // it was only read
	const by = "demo"
	_, _, err = r.Importer.File(ctx, recon.FileWish{
		Provider: providerOf(d.Provider, p), Name: "settlement.csv", By: by,
		Reader: func() (recon.Reader, error) { return a.statementReader(d.Provider, "settlement.csv", p) },
	}, file, func(recon.Progress) {})
	if err != nil {
		return found, err
	}
	run, err := a.recon.run(ctx, recon.DayOf(d.From, r.Zone), recon.DayOf(a.clock.Now(), r.Zone), by)
	if err != nil {
		return found, err
	}
	found = DemoFound{Classes: map[string]int{}, Incomplete: run.Reasons()}
	for class, n := range run.Outcome.Classes {
		if n > 0 {
			found.Classes[string(class)] = n
		}
	}
	return found, a.recon.writePage(ctx, run, d.Report)
}

// writePage writes a run's report as a page for people.
func (r *reconciliation) writePage(ctx context.Context, run recon.Run, path string) error {
	render, _, _ := renderer("html")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(render(f, r.data(ctx, run)), f.Close())
}
