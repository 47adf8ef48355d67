// Pgpeer compares the intake with one on PostgreSQL: the same listener, signature check and mapping, the same load, equal
// writes and the same unique rules, in one run on one machine. It is not part of the product.
//
//	go run ./internal/bench/pgpeer --dsn postgres://peer@127.0.0.1:5433/peer
//	go run -tags benchnocommit ./internal/bench/pgpeer --dsn ...    # and the listener without its commit beside it
//
// It makes a schema of its own in the database and drops it in the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"creditonce/internal/bench"
	"creditonce/internal/cli"
)

// parts are the commands of the product that this program stands in for when it starts itself.
var parts = []string{"serve", "fakemt5", bench.LoadCommand}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := 0
	if len(os.Args) > 1 && slices.Contains(parts, os.Args[1]) {
		code = cli.Main(ctx, cli.ThisProcess())
	} else if err := compare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pgpeer:", err)
		code = 1
		if errors.Is(err, errUsage) {
			code = 2
		}
	}
	stop()
	os.Exit(code)
}

var errUsage = errors.New("--dsn is required: the URL of a PostgreSQL database; see docs/performance.md")

// pool is how many connections the peer has to its database.
const pool = 32

func compare(ctx context.Context) (err error) {
	dsn := flag.String("dsn", "", "URL of a PostgreSQL database, in which a schema is made and dropped")
	dir := flag.String("dir", "", "existing folder on the disk to measure; the database's files should be on the same one")
	seconds := flag.Float64("seconds", 3, "how long each measurement takes")
	rounds := flag.Int("rounds", 3, "how often each measurement is made, in turns; the median counts")
	events := flag.Int("events", 0, "fill both stores with so many events first")
	flag.Parse()
	if *dsn == "" || *seconds <= 0 || *rounds < 1 || *events < 0 || flag.NArg() > 0 {
		return errUsage
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := &comparison{
		Programs: bench.Programs{Executable: self, Env: []string{cli.ChildVariable + "=1"}},
		span:     time.Duration(*seconds * float64(time.Second)), rounds: *rounds, events: *events,
	}
	folder, remove, err := bench.TemporaryFolder(*dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c.dir = folder
	return c.run(ctx, *dsn)
}
