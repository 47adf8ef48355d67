package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"creditonce/internal/bench"
)

// comparison measures the product and its peer in turns.
type comparison struct {
	bench.Programs
	dir            string
	span           time.Duration
	rounds, events int

	names   []string
	targets []bench.Target
	rows    map[string]map[int][]bench.Accept
}

// The rows of the table.
const (
	ours      = "creditonce"
	uncommit  = "creditonce, commit left out"
	pgPlain   = "PostgreSQL, plain transaction"
	pgOneCall = "PostgreSQL, one statement"
)

func (c *comparison) run(ctx context.Context, dsn string) (err error) {
	db, err := openDatabase(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.drop(ctx)) }()
	durable, err := db.durable(ctx)
	if err != nil {
		return err
	}
	if err := c.fill(ctx, db); err != nil {
		return err
	}
	before, err := bench.MeasureDisk(ctx, c.dir, time.Second)
	if err != nil {
		return err
	}
	product, err := c.StartProduct(ctx, c.dir, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, product.Stop()) }()
	c.add(ours, product.Target())
	if product.Without != nil {
		c.add(uncommit, product.Without.Target())
	}
	log, err := os.Create(filepath.Join(c.dir, "peer.log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	stop, err := c.addPeers(log, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := c.measure(ctx); err != nil {
		return err
	}
	after, err := bench.MeasureDisk(ctx, c.dir, time.Second)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d processors, %s; the disk syncs %.0f times a second (overwrite), %.0f (append)\n%s: %s; pool of %d\n%d rounds of %v each, medians; %d events beforehand\n\n",
		runtime.NumCPU(), runtime.Version(), (before.Overwrite.PerSecond+after.Overwrite.PerSecond)/2, (before.Append.PerSecond+after.Append.PerSecond)/2,
		db.version, durable, pool, c.rounds, c.span, c.events)
	return c.print()
}

// fill brings both sides to the same number of events.
func (c *comparison) fill(ctx context.Context, db *database) error {
	if c.events == 0 {
		return nil
	}
	fmt.Fprintf(os.Stderr, "fill both with %d events\n", c.events)
	if err := db.fill(ctx, c.events, bench.Payments()); err != nil {
		return err
	}
	_, err := bench.FillProduct(ctx, c.dir, c.events, os.Stderr)
	return err
}

func (c *comparison) add(name string, t bench.Target) {
	c.names, c.targets = append(c.names, name), append(c.targets, t)
}

func (c *comparison) addPeers(log *os.File, db *database) (stop func() error, err error) {
	first, stopFirst, err := serve(log, plain{db})
	if err != nil {
		return nil, err
	}
	second, stopSecond, err := serve(log, oneStatement{db})
	if err != nil {
		return nil, errors.Join(err, stopFirst())
	}
	c.add(pgPlain, first)
	c.add(pgOneCall, second)
	return func() error { return errors.Join(stopFirst(), stopSecond()) }, nil
}

func (c *comparison) measure(ctx context.Context) error {
	c.rows = map[string]map[int][]bench.Accept{}
	for round := range c.rounds {
		for _, n := range bench.Connections {
			for i, name := range c.names {
				fmt.Fprintf(os.Stderr, "round %d of %d: %s, %d connections\n", round+1, c.rounds, name, n)
				row, err := c.MeasureAccept(ctx, c.targets[i], n, c.span)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if c.rows[name] == nil {
					c.rows[name] = map[int][]bench.Accept{}
				}
				c.rows[name][n] = append(c.rows[name][n], row)
			}
		}
	}
	return nil
}

func (c *comparison) print() error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "connections\tlistener over\twebhooks/s\tp50 ms\tp99 ms\tload cores\tcreditonce / this")
	for _, n := range bench.Connections {
		our := bench.MedianAccept(c.rows[ours][n])
		for _, name := range c.names {
			row := bench.MedianAccept(c.rows[name][n])
			_, _ = fmt.Fprintf(t, "%d\t%s\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\n", n, name, row.PerSecond, row.P50, row.P99, row.LoadCores, our.PerSecond/row.PerSecond)
		}
	}
	return t.Flush()
}
