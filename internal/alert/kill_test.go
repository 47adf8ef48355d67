package alert_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/alert"
	"creditonce/store"
	"creditonce/store/storetest"
)

// These make the test binary a process that opens tasks and tells of them until it is killed.
const (
	storeEnv = "ALERT_TEST_STORE"
	hookEnv  = "ALERT_TEST_HOOK"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(storeEnv); path != "" {
		tellForEver(path, os.Getenv(hookEnv))
	}
	os.Exit(m.Run())
}

// host is the time of this host.
type host struct{ begin time.Time }

func (h host) Now() time.Time      { return time.Now().UTC() }
func (h host) Boot() time.Duration { return time.Since(h.begin) }
func (h host) Wait(ctx context.Context, until time.Duration, _ <-chan struct{}) error {
	return bubble(h).Wait(ctx, until, nil)
}

func tellForEver(path, url string) {
	db, err := store.Open(path, store.Options{})
	if err == nil {
		err = db.SetChannels(context.Background(), []string{"webhook"})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	hook, err := alert.NewWebhook(url, hookSecret, nil, time.Now)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := &alert.Sender{
		Channel: "webhook", Outbox: db, Transport: hook, Clock: host{time.Now()}, Window: time.Millisecond, Report: func(alert.Report) {},
	}
	go func() { _ = s.Run(context.Background()) }()
	w := storetest.NewWorld(&testing.T{}, func(storetest.Setup) storetest.Backend { return db }, storetest.Setup{})
	for i := 0; ; i++ {
		e := w.Event(credit.Facts{Effect: credit.EffectUnreadable, Problem: "a test"})
		e.MessageKey = fmt.Sprintf("%d-%d", os.Getpid(), i)
		if _, err := db.Accept(context.Background(), e, credit.IntakeRules{Now: time.Now()}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// collector is the far side: it keeps what it took and can say when it has enough.
type collector struct {
	mu      sync.Mutex
	bodies  map[string]string // by message id
	told    map[uint64]int    // task -> how often
	again   int
	faults  []string
	enough  chan struct{}
	waitFor int
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	id := r.Header.Get("Webhook-Id")
	var message struct {
		Data struct {
			Notices []struct{ Task struct{ ID uint64 } }
		}
	}
	if err != nil || json.Unmarshal(body, &message) != nil {
		return // the sender was killed while it sent
	}
	if before, known := c.bodies[id]; known {
		c.again++
		if before != string(body) {
			c.faults = append(c.faults, "message "+id+" came twice and differs")
		}
		return
	}
	c.bodies[id] = string(body)
	for _, n := range message.Data.Notices {
		c.told[n.Task.ID]++
	}
	if c.waitFor--; c.waitFor == 0 {
		close(c.enough)
	}
}

// A process that is killed at any point loses no notice: the next one sends what was not recorded, under the same id and
// with the same body, so that a receiver that knows the id sees everything exactly once.
func TestKilledSender_LosesNothingAndRepeatsUnderTheSameID(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	now := time.Now()
	db, err := store.Open(path, store.Options{New: credit.Settings{
		StoreID: "0123456789abcdef", Environment: "test", Mode: credit.ModeLive, ModeAt: now, CreatedAt: now,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &collector{bodies: map[string]string{}, told: map[uint64]int{}}
	srv := httptest.NewServer(c)
	defer srv.Close()
	for round := range 8 {
		killAfter(t, c, path, srv.URL, 3+round)
	}
	tellTheRest(t, path, srv.URL, c)
}

func killAfter(t *testing.T, c *collector, path, url string, messages int) {
	t.Helper()
	c.mu.Lock()
	c.enough, c.waitFor = make(chan struct{}), messages
	enough := c.enough
	c.mu.Unlock()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), storeEnv+"="+path, hookEnv+"="+url)
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-enough:
	case <-time.After(30 * time.Second):
		t.Error("the process told nothing for 30 s")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// emptying is an outbox that calls done once nothing waits any more.
type emptying struct {
	*store.DB
	done func()
}

func (e emptying) UpdateChannel(ctx context.Context, name string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error) {
	c, err := e.DB.UpdateChannel(ctx, name, change)
	if states, sErr := e.Channels(ctx); err == nil && sErr == nil && states[0].Waiting == 0 {
		e.done()
	}
	return c, err
}

// tellTheRest lets a last sender empty the outbox and compares what was told with the store's tasks.
func tellTheRest(t *testing.T, path, url string, c *collector) {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background()) }()
	hook, err := alert.NewWebhook(url, hookSecret, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	s := &alert.Sender{
		Channel: "webhook", Outbox: emptying{db, stop}, Transport: hook, Clock: host{time.Now()}, Window: time.Millisecond, Report: func(alert.Report) {},
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if states, err := db.Channels(t.Context()); err != nil || states[0].Waiting != 0 {
		t.Fatalf("the last sender left %+v, %v", states, err)
	}
	counts, err := db.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for task := uint64(1); task <= uint64(counts.OpenTasks); task++ {
		if c.told[task] != 1 {
			t.Errorf("task %d was told %d times, repeats apart", task, c.told[task])
		}
	}
	if len(c.told) != counts.OpenTasks || counts.OpenTasks == 0 || len(c.faults) != 0 {
		t.Errorf("%d tasks told of %d; %v", len(c.told), counts.OpenTasks, c.faults)
	}
	if r, err := db.Verify(t.Context(), nil); err != nil || !r.Clean() {
		t.Errorf("verify: %v, %v", r.Findings, err)
	}
	t.Logf("%d tasks in %d messages, %d of them sent again", counts.OpenTasks, len(c.bodies), c.again)
}
