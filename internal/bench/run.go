package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"
)

// Options are what a run is asked for.
type Options struct {
	Programs
	Dir      string        // on the disk that matters; a temporary folder is made in it. Empty: the system's folder
	Span     time.Duration // of each measurement
	Rounds   int           // each measurement is made so often, in turns; the median counts
	Events   int           // fill the store with so many events first
	TLS      bool          // let the webhook listener speak TLS itself
	Progress io.Writer     // for people: one line a step
}

// Connections are the numbers of connections that the listener is measured with.
var Connections = []int{1, 32, 128}

// run is a run under way.
type run struct {
	Options
	dir string
	out Result
}

// Run measures everything. It makes a folder, removes it, and ends every process that it started, also on an error.
func Run(ctx context.Context, o Options) (result Result, err error) {
	begun := time.Now()
	r := &run{Options: o}
	dir, remove, err := TemporaryFolder(o.Dir)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	r.dir = dir
	r.out.Host = Host{
		CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Rounds: o.Rounds,
		PerStep: o.Span.Seconds(), TLS: o.TLS,
	}
	r.say("disk")
	before, err := measureDisk(ctx, dir, o.Span)
	if err != nil {
		return Result{}, err
	}
	if err := r.products(ctx); err != nil {
		return Result{}, err
	}
	for _, lanes := range Connections {
		r.say("rows from pending to done in the store alone, %d lanes", lanes)
		row, err := measureLanes(ctx, filepath.Join(dir, fmt.Sprint("lanes-", lanes, ".db")), lanes, o.Span)
		if err != nil {
			return Result{}, err
		}
		r.out.Store = append(r.out.Store, row)
	}
	r.say("disk again")
	after, err := measureDisk(ctx, dir, o.Span)
	if err != nil {
		return Result{}, err
	}
	r.out.Disk = before.meanWith(after)
	r.ratios()
	r.out.Advice = advice(r.out)
	r.out.Seconds = time.Since(begun).Seconds()
	return r.out, nil
}

func (r *run) say(format string, values ...any) {
	_, _ = fmt.Fprintf(r.Progress, format+"\n", values...)
}

// products measures what needs the whole service.
func (r *run) products(ctx context.Context) (err error) {
	if r.Events > 0 {
		r.say("fill the store with %d events", r.Events)
		large, err := FillProduct(ctx, r.dir, r.Events, r.Progress)
		if err != nil {
			return err
		}
		r.out.Large = &large
	}
	product, err := r.StartProduct(ctx, r.dir, r.TLS)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.Stop()) }()
	if r.out.Large != nil {
		if err := r.idle(ctx, product.service); err != nil {
			return err
		}
	}
	if err := r.accepts(ctx, product); err != nil {
		return err
	}
	if err := r.paced(ctx, product); err != nil {
		return err
	}
	if err := r.lookups(ctx, product); err != nil {
		return err
	}
	return r.wire(ctx, product.mt5)
}

// accepts measures the listener in turns, so that a slow minute of the machine falls on every row alike.
func (r *run) accepts(ctx context.Context, product *Product) error {
	rows, without := map[int][]Accept{}, map[int][]Accept{}
	for round := range r.Rounds {
		for _, n := range Connections {
			r.say("webhooks over %d connections, round %d of %d", n, round+1, r.Rounds)
			row, err := r.MeasureAccept(ctx, product.Target(), n, r.Span)
			if err != nil {
				return err
			}
			rows[n] = append(rows[n], row)
			if product.Without == nil {
				continue
			}
			if row, err = r.MeasureAccept(ctx, product.Without.Target(), n, r.Span); err != nil {
				return err
			}
			without[n] = append(without[n], row)
		}
	}
	for _, n := range Connections {
		row := MedianAccept(rows[n])
		if len(without[n]) > 0 {
			row.Without = MedianAccept(without[n]).PerSecond
			row.Ratio = row.PerSecond / row.Without
		}
		r.out.Accept = append(r.out.Accept, row)
	}
	return nil
}

// MedianAccept is the row with the median rate. There must be at least one.
func MedianAccept(rows []Accept) Accept {
	return medianBy(rows, func(a Accept) float64 { return a.PerSecond })
}

// pacedRate is a busy second of a large broker.
const pacedRate = 100

func (r *run) paced(ctx context.Context, product *Product) error {
	var rows []Paced
	for range r.Rounds {
		r.say("webhooks at %d a second", pacedRate)
		t := product.Target()
		done, err := r.Send(ctx, Load{
			Addr: t.Addr, CAFile: t.CAFile, Path: t.Path, Secret: t.Secret, Run: runName(), Rate: pacedRate, Span: max(r.Span, 3*time.Second), Minor: minor,
		})
		if err != nil {
			return err
		}
		if done.Accepted != done.Sent {
			return fmt.Errorf("of %d events at %d a second only %d were accepted", done.Sent, pacedRate, done.Accepted)
		}
		rows = append(rows, Paced{Rate: pacedRate, P50: milliseconds(done.P50), P99: milliseconds(done.P99)})
	}
	r.out.Paced = medianBy(rows, func(p Paced) float64 { return p.P99 })
	return nil
}

// ratios sets every figure beside its limit, once the disk has been measured on both sides of it.
func (r *run) ratios() {
	syncs := r.out.Disk.Overwrite
	for i := range r.out.Accept {
		r.out.Accept[i].PerSync = r.out.Accept[i].PerSecond / syncs.PerSecond
	}
	for i := range r.out.Store {
		r.out.Store[i].PerSync = r.out.Store[i].PerSecond / syncs.PerSecond
	}
	r.out.Wire.PerSync = r.out.Wire.PerSecond / syncs.PerSecond
	p := &r.out.Paced
	p.Limit = max(8, 6*1000/syncs.PerSecond)
	p.Ratio = p.P99 / p.Limit
	l := &r.out.Lookup
	l.Limit = lookupLimit
	l.Ratio = l.P99 / l.Limit
}
