package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"creditonce/internal/stage"
)

// allAtOnce is how many scenarios All runs side by side: most of a scenario's time is waiting.
const allAtOnce = 3

// Run plays the scenario that o names, All excepted, and returns what it came to. An error means that there is
// no verdict; a verdict that is not OK is no error. When ctx ends, the show ends in order and is judged as it is.
func Run(ctx context.Context, o Options) (Result, error) {
	sc, ok := scenarioNamed(o.Scenario)
	if !ok {
		return Result{}, fmt.Errorf("there is no scenario %q", o.Scenario)
	}
	o.ports = stage.NewPorts(o.Seed ^ uint64(o.Now().UnixNano()))
	launch := stage.NewLauncher()
	defer launch.Close()
	dir, err := folder(o)
	if err != nil {
		return Result{}, err
	}
	st, err := openStage(dir, o)
	if err != nil {
		return Result{}, err
	}
	out := newOutput(o)
	b := newBoard(o.Now, o.Now(), out.hear)
	view := out.open(sc, b)
	result, err := newShow(o, sc, st, launch, b).run(ctx)
	view.close()
	return result, err
}

// RunAll plays every scenario, a few at a time, each in a folder and with processes of its own, and returns all
// results. When ctx ends, the scenarios that have not begun are left out, and the result is not OK.
func RunAll(ctx context.Context, o Options) (Results, error) {
	begin := o.Now()
	if err := checkTop(o.Dir); err != nil {
		return Results{}, err
	}
	o.ports = stage.NewPorts(o.Seed ^ uint64(begin.UnixNano()))
	launch := stage.NewLauncher()
	defer launch.Close()
	top, err := folder(o)
	if err != nil {
		return Results{}, err
	}
	if o.Dir == "" && !o.Keep {
		defer func() { _ = os.RemoveAll(top) }() // each scenario has removed its own folder
	}
	scenes := scenarios()[1:]
	out := newOutput(o)
	bill := out.openBill(scenes, begin, o.Now)
	results, errs := make([]Result, len(scenes)), make([]error, len(scenes))
	slots := make(chan struct{}, allAtOnce)
	var wg sync.WaitGroup
	for i, sc := range scenes {
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			errs[i] = fmt.Errorf("scenario %s: %w", sc.name, ctx.Err())
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			b := newBoard(o.Now, o.Now(), nil)
			bill.started(i, b)
			st, err := openStage(filepath.Join(top, sc.name), o)
			if err == nil {
				results[i], err = newShow(o, sc, st, launch, b).run(ctx)
			}
			errs[i] = err
			bill.ended(i, results[i], errs[i])
		})
	}
	wg.Wait()
	bill.close()
	all := collect(scenes, results, errs, o, begin)
	if o.Dir != "" || o.Keep {
		all.Folder = top
	}
	return all, nil
}

// collect turns an error of one scenario into a result that is not OK, so that the others still count.
func collect(scenes []scenario, results []Result, errs []error, o Options, begin time.Time) Results {
	all := map[string]Result{}
	for i, sc := range scenes {
		r := results[i]
		if errs[i] != nil {
			r = Result{Scenario: sc.name, States: map[string]int{}, Seed: o.Seed, Problems: append(r.Problems, errs[i].Error())}
		}
		all[sc.name] = r
	}
	t := total(all)
	t.Seed, t.Seconds = o.Seed, seconds(o.Now().Sub(begin))
	return t
}

// folder is where the show goes: the named one, or a new temporary one.
func folder(o Options) (string, error) {
	if o.Dir != "" {
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return "", fmt.Errorf("find the demo folder: %w", err)
		}
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "creditonce-demo-")
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	return dir, nil
}

// checkTop refuses a folder for All that holds anything but the folders of scenarios.
func checkTop(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open demo folder: %w", err)
	}
	for _, e := range entries {
		if _, ok := scenarioNamed(e.Name()); !ok || !e.IsDir() {
			return fmt.Errorf("%s %w", dir, errNotDemo)
		}
	}
	return nil
}

// seconds are cut to milliseconds: more would only look exact.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// stay keeps the mixed show open until ctx ends, and says what a visitor can do meanwhile.
func (s *show) stay(ctx context.Context) {
	s.board.finish(s.hints())
	select {
	case <-ctx.Done():
	case <-s.serve.Exited():
		s.problem("serve ended by itself with exit code %d:\n%s", s.serve.Code(), s.serve.Last())
	}
}

// hints tell where things are and how to send another payment.
func (s *show) hints() []string {
	return []string{
		"It goes on until Ctrl-C. Folder: " + s.stage.dir,
		"API at http://" + s.stage.ports.api() + ", webhooks at https://" + s.stage.ports.webhooks(),
		"One more deposit, by curl:        sh " + shellWords([]string{s.stage.path("deposit.sh")}),
		"Its payment, by creditonce sign:  sh " + shellWords([]string{s.stage.path("pay.sh")}) + " CODE",
	}
}
