package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"creditonce/recon"
)

// ReconOptions are what a measurement of reconciliation is asked for.
type ReconOptions struct {
	Programs
	Dir      string        // on the disk that matters; a temporary folder is made in it. Empty: the system's folder
	Payments int           // each gives an entry of each of the three lists; at least 1000
	Span     time.Duration // of each half of the measurement beside the listener
	Rounds   int           // of that measurement, in turns; the median counts
	Progress io.Writer     // for people: one line a step
}

// Matching is one comparison of three lists, in a process of its own.
type Matching struct {
	Payments int     `json:"payments"`
	Entries  int     `json:"entries"`        // of the three lists together
	Cores    int     `json:"cores"`          // that it was given
	Making   float64 `json:"making_seconds"` // of the lists alone
	Seconds  float64 `json:"seconds"`        // sorting and matching: the lists are made on the way, and what making them took alone is taken off
	Matching float64 `json:"of_it_match"`    // of Seconds, after the lists were sorted
	CPU      float64 `json:"cpu_seconds"`    // user and system, likewise; 0 where the system does not tell
	PeakMiB  float64 `json:"peak_mib"`       // of the process; 0 where the system does not tell
	PerSec   float64 `json:"entries_per_second"`
	Items    int     `json:"items"`
	Found    int     `json:"found"` // items that are no plain match
	Planted  int     `json:"planted"`
}

// Beside is the time to the 2xx at 100 webhooks a second, alone and beside a matcher on one core at a low priority.
type Beside struct {
	Rate     int     `json:"rate"`
	AloneP50 float64 `json:"alone_p50_ms"`
	AloneP99 float64 `json:"alone_p99_ms"`
	P50      float64 `json:"beside_p50_ms"`
	P99      float64 `json:"beside_p99_ms"`
	Ratio    float64 `json:"ratio"` // of the 99th of a hundred
	Passes   int     `json:"passes"`
}

// ReconResult is what a run of `bench recon` measured.
type ReconResult struct {
	Host   Host     `json:"host"`
	Whole  Matching `json:"whole"`
	Tenth  Matching `json:"tenth"`
	Ratio  float64  `json:"seconds_for_ten_times"` // the time of the whole to that of a tenth; in processor time where the system tells it
	OneCPU Matching `json:"one_core"`
	Beside Beside   `json:"beside_the_listener"`
}

// What a measurement is held against.
const (
	ReconSeconds = 15.0 // for a million payments on two cores
	ReconMiB     = 1024.0
	ReconTenfold = 11.0
	ReconBeside  = 2.0
)

// ReconCommand is the word below `bench` that makes the program a matcher: see [RunRecon].
const ReconCommand = "matcher"

// ReconWork is what a matcher's process is asked for.
type ReconWork struct {
	Payments int
	Dir      string // of its temporary files
	Again    bool   // until it is ended, at a low priority
}

// RunRecon is the child's side: it makes three lists, compares them, and writes a [Matching] to out as a line of JSON; with Again a line
// for every comparison, until ctx ends.
func RunRecon(ctx context.Context, w ReconWork, out io.Writer) error {
	if w.Again {
		lowPriority()
	}
	lists, err := newThreeLists(w.Payments)
	if err != nil {
		return err
	}
	to := json.NewEncoder(out)
	if w.Again {
		if err := to.Encode(Matching{Payments: w.Payments}); err != nil { // it has begun
			return err
		}
	}
	for {
		m, err := matchOnce(ctx, lists, w)
		if w.Again && errors.Is(err, context.Canceled) {
			return nil // it was told to end
		}
		if err != nil {
			return err
		}
		if err := to.Encode(m); err != nil || !w.Again {
			return err
		}
	}
}

func matchOnce(ctx context.Context, lists *threeLists, w ReconWork) (Matching, error) {
	m := Matching{Payments: w.Payments, Cores: runtime.GOMAXPROCS(0), Planted: lists.found()}
	begun := time.Now()
	start := OwnProcessorTime()
	if !w.Again {
		if err := errors.Join(drain(lists.lines()), drain(lists.rows()), drain(lists.deals())); err != nil {
			return m, err
		}
		m.Making = time.Since(begun).Seconds()
	}
	used := OwnProcessorTime()
	making := used - start
	begun = time.Now()
	sorted, err := recon.Sort(ctx, w.Dir, lists.lines(), lists.rows(), lists.deals())
	if err != nil {
		return m, err
	}
	middle := time.Now()
	out, err := recon.Match(ctx, lists.rules(), sorted, func(i recon.Item) error {
		m.Items++
		if i.Key.Class != recon.Matched {
			m.Found++
		}
		return nil
	})
	m.Matching, m.Seconds = time.Since(middle).Seconds(), time.Since(begun).Seconds()-m.Making
	if err := errors.Join(err, sorted.Close()); err != nil {
		return m, err
	}
	m.Entries = out.Lines + out.Rows + out.Deals
	m.PerSec = float64(m.Entries) / m.Seconds
	m.CPU = (OwnProcessorTime() - used - making).Seconds()
	m.PeakMiB = float64(peakMemory()) / (1 << 20)
	if m.Found != m.Planted {
		return m, fmt.Errorf("the comparison found %d differences where %d are", m.Found, m.Planted)
	}
	return m, nil
}

// drain reads a list to its end.
func drain[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// RunReconBench measures the comparison of three lists, and what it costs the listener. It makes a folder, removes it, and ends every
// process that it started, also on an error.
func RunReconBench(ctx context.Context, o ReconOptions) (result ReconResult, err error) {
	dir, remove, err := TemporaryFolder(o.Dir)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	r := &reconRun{ReconOptions: o, dir: dir}
	result.Host = Host{CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Rounds: o.Rounds, PerStep: o.Span.Seconds()}
	for _, step := range []struct {
		into  *Matching
		n     int
		cores int
	}{{&result.Tenth, o.Payments / 10, 0}, {&result.Whole, o.Payments, 0}, {&result.OneCPU, o.Payments, 1}} {
		if *step.into, err = r.match(ctx, step.n, step.cores); err != nil {
			return result, err
		}
	}
	result.Ratio = result.Whole.Seconds / result.Tenth.Seconds
	if result.Tenth.CPU > 0 && result.Whole.CPU > 0 {
		result.Ratio = result.Whole.CPU / result.Tenth.CPU
	}
	result.Beside, err = r.beside(ctx)
	return result, err
}

// reconRun is a measurement under way.
type reconRun struct {
	ReconOptions
	dir string
}

func (r *reconRun) say(format string, values ...any) {
	_, _ = fmt.Fprintf(r.Progress, format+"\n", values...)
}

// start starts a matcher; cores 0: all.
func (r *reconRun) start(name string, payments, cores int, again bool) (*part, error) {
	var env []string
	if cores > 0 {
		env = []string{"GOMAXPROCS=" + strconv.Itoa(cores)}
	}
	args := []string{"bench", ReconCommand, "--payments", strconv.Itoa(payments), "--dir", filepath.Join(r.dir, "lists")}
	if again {
		args = append(args, "--again")
	}
	return r.Programs.start(name, r.dir, env, args...)
}

// match makes one comparison in a process of its own.
func (r *reconRun) match(ctx context.Context, payments, cores int) (m Matching, err error) {
	r.say("three lists of %d payments, on %s", payments, map[bool]string{true: "one core", false: "all cores"}[cores == 1])
	child, err := r.start("matcher", payments, cores, false)
	if err != nil {
		return m, err
	}
	defer func() {
		if stopped := child.stop(); stopped != nil {
			err = errors.Join(stopped, err)
		}
	}()
	return m, child.report(ctx, &m)
}

// report waits for the next line of the part's output and decodes it.
func (s *part) report(ctx context.Context, into any) error {
	got := make(chan error, 1)
	go func() {
		line, err := s.stdout.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, into)
		}
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		return nil
	case <-ctx.Done():
		_ = s.stdin.Close() // it ends by that, and its output with it
		return errors.Join(ctx.Err(), <-got)
	}
}

// beside measures the acknowledgement alone and beside a matcher, in turns.
func (r *reconRun) beside(ctx context.Context) (out Beside, err error) {
	product, err := r.StartProduct(ctx, r.dir, false)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, product.Stop()) }()
	var alone, beside []Loaded
	passes := 0
	for round := range r.Rounds {
		r.say("webhooks at %d a second, alone, round %d of %d", pacedRate, round+1, r.Rounds)
		l, err := r.paced(ctx, product)
		if err != nil {
			return out, err
		}
		alone = append(alone, l)
		r.say("webhooks at %d a second, beside a matcher on one core", pacedRate)
		if l, err = r.pacedBeside(ctx, product, &passes); err != nil {
			return out, err
		}
		beside = append(beside, l)
	}
	a := medianBy(alone, func(l Loaded) float64 { return float64(l.P99) })
	b := medianBy(beside, func(l Loaded) float64 { return float64(l.P99) })
	out = Beside{
		Rate: pacedRate, AloneP50: milliseconds(a.P50), AloneP99: milliseconds(a.P99), P50: milliseconds(b.P50), P99: milliseconds(b.P99), Passes: passes,
	}
	out.Ratio = out.P99 / out.AloneP99
	return out, nil
}

func (r *reconRun) pacedBeside(ctx context.Context, product *Product, passes *int) (l Loaded, err error) {
	child, err := r.start("beside", r.Payments, 1, true)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, child.stop()) }()
	var m Matching
	if err := child.report(ctx, &m); err != nil {
		return l, err
	}
	if l, err = r.paced(ctx, product); err != nil {
		return l, err
	}
	_ = child.stdin.Close()
	for child.report(ctx, &m) == nil {
		*passes++
	}
	return l, ctx.Err()
}

func (r *reconRun) paced(ctx context.Context, product *Product) (Loaded, error) {
	t := product.Target()
	done, err := r.Send(ctx, Load{
		Addr: t.Addr, CAFile: t.CAFile, Path: t.Path, Secret: t.Secret, Run: runName(), Rate: pacedRate, Span: r.Span, Minor: minor,
	})
	if err == nil && done.Accepted != done.Sent {
		err = fmt.Errorf("of %d events at %d a second only %d were accepted", done.Sent, pacedRate, done.Accepted)
	}
	return done, err
}
