package storage

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
)

// film is what the writer did, act by act, from its first acknowledgement on.
type film struct {
	scene
	acts   []act
	before moment
	states [][32]byte // of the store after so many commits
}

// moment is what is on the two disks, and what may be.
type moment struct {
	store, witness disk  // certainly there
	open, told     []act // since the last sync, of each
	ahead          bool  // the witness has been told of a commit that is not there yet
	commits, acked int
}

// step brings the moment on by one act. It tells whether a commit has become durable by it.
func (f *film) step(m *moment, a act) (committed bool) {
	switch {
	case a.file == f.said():
		m.acked, _ = strconv.Atoi(string(a.data[:len(a.data)-1])) // the writer's own number
	case a.file == f.witness() && a.kind == synced:
		for _, w := range m.told {
			m.witness.apply(w)
		}
		m.told, m.ahead = nil, true
	case a.file == f.witness():
		m.told = append(m.told, a)
	case a.file == f.store() && a.kind == synced:
		for _, w := range m.open {
			m.store.apply(w)
			committed = committed || isMeta(w)
		}
		if m.open = nil; committed {
			m.commits++
			m.ahead = false
		}
	case a.file == f.store():
		m.open = append(m.open, a)
	}
	return committed
}

// isMeta tells that a write is of one of the two pages that say which tree counts.
func isMeta(a act) bool { return a.kind == wrote && a.at < 2*pageLen }

// start is the moment before the first act, to be brought on.
func (f *film) start() moment {
	return moment{store: f.before.store.clone(), witness: f.before.witness.clone()}
}

// shoot lets the writer run under strace.
func shoot(t *testing.T) *film {
	t.Helper()
	b := newBench(t)
	f := &film{scene: scene{memoryDir(t)}}
	for _, d := range []string{"data", "witness"} {
		if err := os.Mkdir(filepath.Join(f.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	trace := filepath.Join(f.dir, "trace")
	args := append(tracing(trace), os.Args[0], "-test.run", "^TestImagesWriter$")
	cmd := exec.CommandContext(t.Context(), b.strace, args...)
	cmd.Env = append(os.Environ(), writerVariable+"="+f.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the writer: %v\n%s", err, out)
	}
	acts, err := readRecord(trace)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.IndexFunc(acts, func(a act) bool { return a.file == f.said() })
	if first < 0 {
		t.Fatal("the trace has no acknowledgement")
	}
	f.acts = acts[first:]
	var errs [2]error
	f.before.store, errs[0] = readDisk(f.store() + ".before")
	f.before.witness, errs[1] = readDisk(f.witness() + ".before")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return f
}

// memoryDir is a folder in memory where the machine has one: an image is a file of some megabytes with few pages in it.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "creditonce-images-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// found is what a start finds on the two disks.
type found struct {
	state [32]byte
	doubt string
	wait  string
}

// look puts an image on the two disks and starts on it. An error says why the service would not run, or what is not whole.
func (f *film) look(ctx context.Context, data, witness disk) (got found, err error) {
	if err := errors.Join(data.write(f.store()), witness.write(f.witness())); err != nil {
		return got, err
	}
	db, err := f.open()
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	got.doubt, got.wait = db.Standing().Doubt, db.Standing().Wait
	report, err := db.Verify(ctx, nil)
	if err == nil && !report.Clean() {
		err = fmt.Errorf("not whole: %v", report.Findings)
	}
	if err != nil {
		return got, err
	}
	got.state, err = stateOf(ctx, db)
	return got, err
}

// stateOf is a digest of all that a store can show.
func stateOf(ctx context.Context, db *store.DB) (sum [32]byte, err error) {
	var errs [4]error
	var all struct {
		Settings credit.Settings
		Events   []credit.Event
		Rows     []credit.Credit
		History  [][]credit.Entry
		Tasks    []credit.Task
		Claims   uint64
	}
	all.Claims = db.Standing().Claims
	all.Settings, errs[0] = db.Settings(ctx)
	all.Events, errs[1] = db.Events(ctx, 0, 1000)
	all.Rows, errs[2] = db.Rows(ctx, credit.RowQuery{Limit: 1000})
	all.Tasks, errs[3] = db.Tasks(ctx, store.TaskQuery{Limit: 1000})
	for _, row := range all.Rows {
		entries, err := db.History(ctx, row.ID)
		if err != nil {
			return sum, err
		}
		all.History = append(all.History, entries)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return sum, err
	}
	text, err := json.Marshal(all)
	return sha256.Sum256(text), err
}

// TestPowerLoss opens what a power loss could leave at every moment of a run: of the writes since the last sync of a file any
// subset, the last of them torn at a sector.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	f := shoot(t)
	f.develop(t)
	t.Run("leaves the old state or the new one, whole", func(t *testing.T) { f.lose(t, imageLimit(t)) })
	t.Run("on a disk that lies is seen", func(t *testing.T) { f.lie(t) })
}

// tally counts what the images showed.
type tally struct{ images, torn, news, waits int }

// lose loses the power at moments that are drawn. A start must find the state before or after the commit under way, with all
// that was acknowledged, and the witness must say no more than that one commit may be missing, exactly where it is.
func (f *film) lose(t *testing.T, limit int) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0x696d616765))
	var n tally
	m := f.start()
	for at, a := range f.acts {
		f.step(&m, a)
		many := limit / len(f.acts)
		if rng.IntN(len(f.acts)) < limit%len(f.acts) {
			many++
		}
		for _, chosen := range subsets(rng, len(m.open), many) {
			if err := f.image(t.Context(), rng, &m, chosen, &n); err != nil {
				t.Errorf("seed %d: the power is lost after act %d, with %v of %d writes on the disk: %v", seed, at, chosen, len(m.open), err)
			}
		}
	}
	t.Logf("seed %d: %d acts, %d commits: %+v", seed, len(f.acts), m.commits, n)
	if m.commits < paymentsMade || n.images < limit/2 || n.news == 0 || n.waits == 0 || m.acked != m.commits {
		t.Errorf("%d commits, %d acknowledged, %+v: the test is asleep", m.commits, m.acked, n)
	}
}

// image makes one image of the moment and judges what a start finds on it.
func (f *film) image(ctx context.Context, rng *rand.Rand, m *moment, chosen []int, n *tally) error {
	data, witness, ahead := m.store.clone(), m.witness.clone(), m.ahead
	n.images++
	n.torn += strike(rng, &data, m.open, chosen)
	if len(m.told) > 0 && rng.IntN(2) > 0 {
		strike(rng, &witness, m.told, []int{0})
		ahead = true
	}
	got, err := f.look(ctx, data, witness)
	if err != nil {
		return err
	}
	old, next := got.state == f.states[m.commits], m.commits+1 < len(f.states) && got.state == f.states[m.commits+1]
	if next && !old {
		n.news++
	}
	if got.wait != "" {
		n.waits++
	}
	switch {
	case !old && !next, m.acked > m.commits:
		return fmt.Errorf("neither state %d nor the next, with %d acknowledged", m.commits, m.acked)
	case got.doubt != "":
		return fmt.Errorf("the start doubts its store: %s", got.doubt)
	case (got.wait != "") != (ahead && old):
		return fmt.Errorf("the witness was told of a commit that is not there: %t, and the start says %q", ahead && old, got.wait)
	}
	return nil
}

// develop works out the state of the store after each commit.
func (f *film) develop(t *testing.T) {
	t.Helper()
	m := f.start()
	add := func() {
		got, err := f.look(t.Context(), m.store, m.witness)
		if err != nil || got.doubt != "" || got.wait != "" {
			t.Fatalf("the store after commit %d: %+v, %v", m.commits, got, err)
		}
		f.states = append(f.states, got.state)
	}
	add()
	for _, a := range f.acts {
		if f.step(&m, a) {
			add()
		}
	}
}

// strike puts some of the writes on the disk, in order, the last one perhaps only in part.
func strike(rng *rand.Rand, d *disk, open []act, chosen []int) (torn int) {
	for i, n := range chosen {
		a := open[n]
		if sectors := len(a.data) / sector; i == len(chosen)-1 && sectors > 1 && rng.IntN(3) == 0 {
			a.data, torn = a.data[:sector*(1+rng.IntN(sectors-1))], 1
		}
		d.apply(a)
	}
	return torn
}

const sector = 512

// subsets are the subsets of n writes: all of them where they are few, else some, with none and all among them.
func subsets(rng *rand.Rand, n, most int) [][]int {
	var out [][]int
	pickBits := func(bits uint64) {
		var chosen []int
		for i := range n {
			if bits>>i&1 > 0 {
				chosen = append(chosen, i)
			}
		}
		out = append(out, chosen)
	}
	if most <= 0 {
		return nil
	}
	if n <= 4 && 1<<n <= most {
		for bits := range uint64(1) << n {
			pickBits(bits)
		}
		return out
	}
	all := uint64(1)<<min(n, 63) - 1
	for _, bits := range []uint64{all, 0} {
		pickBits(bits)
	}
	for len(out) < most {
		pickBits(rng.Uint64() & all)
	}
	return out[:most]
}

func imageLimit(t *testing.T) int {
	t.Helper()
	text := os.Getenv(imagesVariable)
	if text == "" {
		return fewImages
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of images", imagesVariable, text)
	}
	return n
}

// lie leaves out what a sync of data pages wrote, and writes the page that leads to them. A proof that could not see that
// would prove nothing.
func (f *film) lie(t *testing.T) {
	const most = 12
	m, seen, tried := f.start(), 0, 0
	for at, a := range f.acts {
		lost := len(m.open) > 0 && !isMeta(m.open[0])
		before := m.store.clone()
		if f.step(&m, a); !lost || a.file != f.store() || a.kind != synced || tried == most {
			continue
		}
		meta := slices.IndexFunc(f.acts[at:], func(a act) bool { return a.file == f.store() && isMeta(a) })
		if meta < 0 {
			continue
		}
		before.apply(f.acts[at+meta])
		tried++
		got, err := f.look(t.Context(), before, m.witness)
		if err != nil || got.state != f.states[m.commits] && got.state != f.states[m.commits+1] {
			seen++
		}
	}
	t.Logf("%d of %d lies of a disk were seen", seen, tried)
	if tried == 0 || seen < tried/2 {
		t.Errorf("%d of %d lies of a disk were seen", seen, tried)
	}
}
