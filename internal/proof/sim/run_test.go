package sim

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/internal/invariant"
	"creditonce/store"
)

var (
	oneSeed  = flag.Int64("seed", -1, "play this one seed and tell its story")
	manySeed = flag.Int("seeds", 0, "play so many seeds; 0: "+seedsVariable+", else a few")
	fromSeed = flag.Uint64("from", 1, "first seed")
	offList  = flag.String("without", "", "faults that are not used, by name, with commas")
	onlyList = flag.String("only", "", "the only faults that are used, by name, with commas; empty: all")
	stepCap  = flag.Int("steps", 0, "gates until the faults end; 0: drawn from the seed")
	doShrink = flag.Bool("shrink", false, "of a seed that fails, look for fewer faults and steps that still fail")
)

const (
	seedsVariable = "CREDITONCE_SIM_SEEDS"
	fewSeeds      = 120
	noFaults      = "none" // for -only
)

// TestMain lets garbage grow: runs are short, and their rate is what the simulation is worth.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// TestSim plays seeds. A seed that fails prints its story and the command that plays it again.
func TestSim(t *testing.T) {
	off, err := parseFaults(*offList)
	if err != nil {
		t.Fatal(err)
	}
	only, err := parseFaults(strings.TrimPrefix(*onlyList, noFaults))
	if err != nil {
		t.Fatal(err)
	}
	for i := range faultNames {
		if *onlyList != "" && !only[fault(i)] {
			off[fault(i)] = true
		}
	}
	o := options{off: off, steps: *stepCap}
	if *oneSeed >= 0 {
		o.keep = 200
		dir := workDir(t)
		r := play(t, dir, uint64(*oneSeed), o)
		if again := play(t, dir, uint64(*oneSeed), o); again.hash != r.hash {
			t.Errorf("seed %d: two runs differ: %s and %s", r.seed, r.hash, again.hash)
		}
		t.Logf("seed %d: %d gates, %v of the world, hash %s, faults: %s", r.seed, r.steps, r.spent, r.hash, strings.Join(r.faults, " "))
		if r.failure != "" {
			report(t, r, o)
		}
		return
	}
	n := seedCount(t)
	total := playMany(t, *fromSeed, n, o)
	t.Logf("%d seeds from %d, %.0f a second", n, *fromSeed, total.rate)
	if n < 1000 {
		return
	}
	for i, times := range total.seen {
		if times == 0 && (n >= 50000 || !slices.Contains(rareOnes, sometimes(i))) {
			t.Errorf("in %d seeds it never happened: %s", n, sometimesNames[i])
		}
	}
}

func seedCount(t *testing.T) int {
	t.Helper()
	if *manySeed > 0 {
		return *manySeed
	}
	if text := os.Getenv(seedsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, not a number of seeds", seedsVariable, text)
		}
		return n
	}
	return fewSeeds
}

// sum is what many seeds came to.
type sum struct {
	seen [sometimesCount]int
	rate float64
	bad  []result
}

// playMany plays seeds on every processor, one bubble each. Each tenth is played twice: the same seed is the same run.
func playMany(t *testing.T, from uint64, n int, o options) *sum {
	t.Helper()
	total := playQuietly(t, from, n, o)
	for _, r := range total.bad[:min(len(total.bad), 3)] {
		if r.failure != "" {
			o.keep = 200
			report(t, play(t, workDir(t), r.seed, o), o)
		}
	}
	if len(total.bad) > 0 {
		t.Errorf("%d of %d seeds fail", len(total.bad), n)
	}
	return total
}

// enoughFailures ends a run: more of them say nothing new. A search for one kind of failure goes on past the others.
const enoughFailures = 20

func playQuietly(t *testing.T, from uint64, n int, o options) *sum {
	t.Helper()
	var next atomic.Uint64
	var mu sync.Mutex
	total := &sum{}
	begun, played := time.Now(), 0
	said := begun
	t.Run("seeds", func(t *testing.T) {
		for w := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				dir := workDir(t)
				for {
					i := next.Add(1) - 1
					if i >= uint64(n) {
						return
					}
					r := playTwice(t, dir, from+i, i%10 == 0, o)
					mu.Lock()
					played++
					for k, times := range r.seen {
						total.seen[k] += times
					}
					if r.failure != "" {
						total.bad = append(total.bad, r)
					}
					stop := o.finds == "" && len(total.bad) >= enoughFailures || o.finds != "" && strings.HasPrefix(r.failure, o.finds)
					if stop {
						next.Store(uint64(n))
					}
					if now := time.Now(); now.Sub(said) > 10*time.Second {
						said = now
						fmt.Printf("sim: %d of %d seeds, %.0f a second, %d failed\n", played, n, float64(played)/now.Sub(begun).Seconds(), len(total.bad))
					}
					mu.Unlock()
					if stop {
						return
					}
				}
			})
		}
	})
	total.rate = float64(played) / time.Since(begun).Seconds()
	return total
}

// playTwice plays a seed, where asked a second time to see that it is the same run.
func playTwice(t *testing.T, dir string, seed uint64, again bool, o options) result {
	t.Helper()
	r := play(t, dir, seed, o)
	if again && r.failure == "" {
		if other := play(t, dir, seed, o); other.hash != r.hash {
			r.failure = fmt.Sprintf("two runs of seed %d differ: %s and %s", r.seed, r.hash, other.hash)
		}
	}
	return r
}

// play plays one seed in a bubble of its own.
func play(t *testing.T, dir string, seed uint64, o options) (r result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		time.Sleep(400 * 24 * time.Hour) // a bubble begins at midnight of a year's first day
		r = run(seed, dir, o)
	})
	return r
}

// report prints what a person needs to find the fault, and the command that shows it again.
func report(t *testing.T, r result, o options) {
	t.Helper()
	if *doShrink {
		r, o = shrink(t, r, o)
	}
	command := fmt.Sprintf("go test ./internal/proof/sim -run TestSim -seed=%d -v", r.seed)
	if len(o.off) > 0 {
		command += " -only=" + cmp.Or(strings.Join(r.faults, ","), noFaults)
	}
	if o.steps > 0 {
		command += fmt.Sprintf(" -steps=%d", o.steps)
	}
	lines := r.lines[max(0, len(r.lines)-200):]
	t.Errorf("seed %d: %s\nfaults: %s\nagain: %s\n%s\n%s", r.seed, r.failure, strings.Join(r.faults, " "), command,
		strings.Join(lines, "\n"), strings.Join(r.story, "\n"))
}

// shrink switches faults off one by one and ends the faults earlier, as long as the seed still fails.
func shrink(t *testing.T, r result, o options) (result, options) {
	t.Helper()
	off, dir := map[fault]bool{}, workDir(t)
	for f := range o.off {
		off[f] = true
	}
	o.off = off
	for changed := true; changed; {
		changed = false
		for i := range faultNames {
			f := fault(i)
			if off[f] {
				continue
			}
			off[f] = true
			if less := play(t, dir, r.seed, o); less.failure != "" {
				r, changed = less, changed || strings.Contains(strings.Join(r.faults, " "), faultNames[i])
			} else {
				delete(off, f)
			}
		}
	}
	for cut := max(r.steps/2, 1); cut >= 8; {
		fewer := o
		if fewer.steps == 0 {
			fewer.steps = r.steps
		}
		fewer.steps -= cut
		if fewer.steps > 0 {
			if less := play(t, dir, r.seed, fewer); less.failure != "" {
				r, o = less, fewer
				continue
			}
		}
		cut /= 2
	}
	return r, o
}

var (
	templates sync.Mutex
	template  = map[credit.Mode][]byte{}
)

// lay puts a fresh store with its people and accounts where the run keeps its file. One is made per mode and copied.
func (s *sim) lay(path string) error {
	mode := credit.ModeLive
	if s.faults[goLiveLater] > 0 {
		mode = credit.ModeObserve
	}
	templates.Lock()
	content, ok := template[mode]
	templates.Unlock()
	if !ok {
		var err error
		if content, err = s.makeTemplate(path+".template", mode); err != nil {
			return err
		}
		templates.Lock()
		template[mode] = content
		templates.Unlock()
	}
	s.files = []*file{newFile("store", path, &invariant.World{
		Missing: invariant.Log, Stepwise: true, Environment: "live", Dealer: dealer, Quarantine: s.timing.Quarantine, SecondLook: s.timing.SecondLook,
		Lease: s.timing.Lease,
	})}
	return os.WriteFile(path, content, 0o600)
}

func (s *sim) makeTemplate(path string, mode credit.Mode) ([]byte, error) {
	defer func() { _ = os.Remove(path) }()
	settings := credit.Settings{
		StoreID: "store-1", Environment: "live", Mode: mode, ModeAt: s.begun.UTC(), CreatedAt: s.begun.UTC(),
		Pins: []credit.Pin{{Name: "mt5/" + serverLabel, Value: identity}, {Name: "provider/" + firstLabel, Value: providerKind + " " + merchant}},
	}
	if mode == credit.ModeLive {
		settings.CutoverAt = s.begun.Add(-time.Hour).UTC()
	}
	db, err := store.Open(path, store.Options{New: settings, UnsafeNoSync: true})
	if err != nil {
		return nil, err
	}
	for _, login := range logins {
		a := credit.Account{Server: serverLabel, Identity: identity, Login: login, Client: clientOf(login), Currency: "USD", Digits: 2}
		if _, err := db.PutAccount(background, a, "crm", s.begun.UTC()); err != nil {
			return nil, err
		}
	}
	p := &process{sim: s, id: "template", host: &machine{}, live: &credit.LiveCalls{}, db: db, file: newFile("template", path, &invariant.World{})}
	p.info = credit.Process{ID: p.id, At: s.begun}
	svc, err := desk.New(desk.Config{
		Book: db, MT5: questions{&session{p: p}}, Reader: reader{}, Clock: p.clock(), Process: p.info, Timing: s.timing, Live: p.live,
		Observer: silent{}, Rand: seededReader{}, Wake: func(string) {},
	})
	if err != nil {
		return nil, err
	}
	roles := desk.Roles()
	people := []desk.Person{
		{ID: maker.Person, Name: "Anna Maker", Users: []string{"anna"}, Roles: roles},
		{ID: checker.Person, Name: "Ben Checker", Users: []string{"ben"}, Roles: roles},
	}
	if err := svc.Bootstrap(background, desk.Actor{User: "root"}, people, "first start"); err != nil {
		return nil, err
	}
	if err := db.Close(background); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	return trimmed(content), err
}

// trimmed leaves out the pages that a fresh file has room for and never wrote.
func trimmed(content []byte) []byte {
	end := len(content)
	for end > 0 && content[end-1] == 0 {
		end--
	}
	page := os.Getpagesize()
	return content[:min(len(content), (end+page-1)/page*page)]
}

// workDir is a folder in memory where the machine has one.
func workDir(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "creditonce-sim-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Clean(dir)
}
