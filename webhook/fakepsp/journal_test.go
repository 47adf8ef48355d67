package fakepsp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// gatedFile lets a test hold fsync back or make it fail.
type gatedFile struct {
	mu    sync.Mutex
	data  []byte
	syncs int
	gate  chan error    // each fsync takes one value
	wrote chan struct{} // where set, each write sends one value
}

func (f *gatedFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = append(f.data, p...)
	if f.wrote != nil {
		f.wrote <- struct{}{}
	}
	return len(p), nil
}

func (f *gatedFile) Sync() error {
	err := <-f.gate
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	return err
}

func (f *gatedFile) Close() error { return nil }

func gatedCourier(ctx context.Context, f *gatedFile, post poster, tried func(Attempt)) *courier {
	c := &courier{
		post: post, secrets: []string{"s"}, backoff: Backoff{First: time.Second, Max: time.Second}, now: time.Now,
		journal: newJournal(f, 0, time.Now), slots: make(chan struct{}, 1), onTried: tried, changed: make(chan struct{}),
	}
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

func TestAttempt_CountsAsAcknowledgedOnlyAfterItsFsync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &gatedFile{gate: make(chan error)}
		var tried int
		c := gatedCourier(t.Context(), f, func(context.Context, []byte, string) (int, error) { return 200, nil },
			func(Attempt) { tried++ })
		c.carry(Event{ID: "evt_1"}, []Dispatch{{Event: "evt_1", Delivery: 1}})
		synctest.Wait()
		f.mu.Lock()
		written := string(f.data)
		f.mu.Unlock()
		if !strings.Contains(written, `"acknowledged":true`) {
			t.Fatalf("the 2xx is not written yet: %s", written)
		}
		if c.outstanding() != 1 || tried != 0 {
			t.Fatal("the attempt counts before its fsync returned")
		}
		f.gate <- nil
		synctest.Wait()
		if c.outstanding() != 0 || tried != 1 {
			t.Error("the attempt does not count after its fsync returned")
		}
		c.close()
	})
}

func TestAttempt_WhoseFsyncFailsNeverCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("disk gone")
		f := &gatedFile{gate: make(chan error, 1)}
		c := gatedCourier(t.Context(), f, func(context.Context, []byte, string) (int, error) { return 200, nil }, func(Attempt) {})
		f.gate <- broken
		c.carry(Event{ID: "evt_1"}, []Dispatch{{Event: "evt_1", Delivery: 1}, {Event: "evt_1", Delivery: 2}})
		if err := c.drain(t.Context()); !errors.Is(err, broken) {
			t.Errorf("drain answered %v, want the journal's error", err)
		}
		if c.outstanding() != 2 {
			t.Errorf("%d outstanding, want 2", c.outstanding())
		}
		if err := c.journal.commit(Record{}); !errors.Is(err, broken) {
			t.Errorf("a later commit answered %v: nobody knows what the disk holds", err)
		}
		c.close()
	})
}

func TestJournal_CommitsThatWaitShareOneFsync(t *testing.T) {
	t.Parallel()
	const callers = 10
	f := &gatedFile{gate: make(chan error, callers), wrote: make(chan struct{}, callers)}
	j := newJournal(f, 0, time.Now)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			if err := j.commit(Record{Attempt: &Attempt{}}); err != nil {
				t.Error(err)
			}
		})
	}
	for range callers { // all have written; at most one of them is in an fsync, held at the gate
		<-f.wrote
	}
	for range callers {
		f.gate <- nil
	}
	wg.Wait()
	if f.syncs > 2 {
		t.Errorf("%d fsyncs for %d commits, want at most 2", f.syncs, callers)
	}
}

func TestReadJournal_LeavesOutACutLineAndRefusesDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, _, err := openJournal(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"pi_1", "pi_2"} {
		if err := j.commit(Record{Payment: &Payment{ID: id}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(good), "\n")
	for name, tc := range map[string]struct {
		content string
		want    int
		wantErr string
	}{
		"whole":           {string(good), 2, ""},
		"cut in line 2":   {string(good[:len(good)-5]), 1, ""},
		"newline missing": {string(good[:len(good)-1]), 1, ""},
		"empty":           {"", 0, ""},
		"garbage":         {lines[0] + "garbage\n", 0, "line 2"},
		"line lost":       {lines[1], 0, "line 1 carries number 2"},
	} {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJournal(path)
		if tc.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("%s: %v, want %q", name, err, tc.wantErr)
			}
			continue
		}
		if err != nil || len(got) != tc.want {
			t.Errorf("%s: %d records and %v, want %d", name, len(got), err, tc.want)
		}
	}
	if _, err := ReadJournal(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing journal was read")
	}
}

func TestOpenJournal_GoesOnAfterACutLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(path, []byte(`{"seq":1,"payment":{"id":"pi_1"}}`+"\n"+`{"seq":2,"pay`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, records, err := openJournal(path, time.Now)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := errors.Join(j.commit(Record{Payment: &Payment{ID: "pi_2"}}), j.close()); err != nil {
		t.Fatal(err)
	}
	records, err = ReadJournal(path)
	if err != nil || len(records) != 2 || records[1].Payment.ID != "pi_2" {
		t.Errorf("after the cut line: %+v, %v", records, err)
	}
}
