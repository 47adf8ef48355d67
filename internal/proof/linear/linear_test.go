package linear

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/api"
)

// The size of a run.
const (
	clients          = 8
	callersPerClient = 5
	callsPerCaller   = 12
)

// seedOf is drawn, or what CREDITONCE_LINEAR_SEED says. The order of what goroutines do is not the seed's to say: it repeats
// the calls, not the history, which a failure prints whole.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("CREDITONCE_LINEAR_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("CREDITONCE_LINEAR_SEED=%d", seed)
	return seed
}

// rounds is how often each test runs: CREDITONCE_LINEAR_ROUNDS, or the given number.
func rounds(t *testing.T, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("CREDITONCE_LINEAR_ROUNDS"))
	if err != nil || n < 1 {
		return usual
	}
	return n
}

// run lets all clients make their calls, and disturb do what it does meanwhile. done is closed when the last has ended.
func run(t *testing.T, d *door, seed uint64, disturb func(calls *history, done <-chan struct{})) *history {
	t.Helper()
	past := &history{began: time.Now()}
	var calling, disturbing sync.WaitGroup
	done := make(chan struct{})
	for client := range clients {
		registerLogin(t, d.wait(""), client)
	}
	for client := range clients {
		for n := range callersPerClient {
			id := client*callersPerClient + n
			calling.Go(func() {
				c := &caller{
					t: t, door: d, past: past, random: rand.New(rand.NewPCG(seed, uint64(id))),
					id: id, client: client, tale: strconv.FormatUint(seed%1_000_000, 36),
				}
				for range callsPerCaller {
					c.call(c.draw())
				}
				if c.conn != nil {
					c.drop(false)
				}
			})
		}
	}
	if disturb != nil {
		disturbing.Go(func() { disturb(past, done) })
	}
	calling.Wait()
	close(done)
	disturbing.Wait()
	return past
}

func registerLogin(t *testing.T, address string, client int) {
	t.Helper()
	body := fmt.Sprintf(`{"client":"client-%d","currency":"USD","digits":2}`, client)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("http://%s/v1/servers/main/accounts/%d", address, 1000+client), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+ownerKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode/100 != 2 {
		t.Fatalf("register login of client %d: %d %s", client, resp.StatusCode, text)
	}
}

// mustHappen fails a run in which one of the answers never came: it would prove less than it says.
func mustHappen(t *testing.T, counts map[string]int, names ...string) {
	t.Helper()
	t.Logf("%v", counts)
	for _, name := range names {
		if counts[name] == 0 {
			t.Errorf("%q never happened", name)
		}
	}
}

var usual = []string{
	"make 201", "replayed", "idempotency_key_reused", "code_taken", "not_found", "read 200", "close 200", "list 200",
	"make without an answer", "close without an answer",
}

func TestDepositsAPI_IsLinearizableWhateverHappensToConnections(t *testing.T) {
	t.Parallel()
	seed, all := seedOf(t), map[string]int{}
	for round := range rounds(t, 4) {
		s, err := newService(filepath.Join(t.TempDir(), "store.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		past := run(t, newDoor(s.address), seed+uint64(round), nil)
		if report, err := s.store.Verify(t.Context(), nil); err != nil || !report.Clean() {
			t.Errorf("verify: %+v %v", report, err)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if bad := past.judge(); bad != "" {
			t.Fatal(bad)
		}
		for name, n := range past.counts() {
			all[name] += n
		}
	}
	mustHappen(t, all, usual...)
}

// The service is a process that is killed again and again, and started on what its store holds: what a client was told
// before stays true after.
func TestDepositsAPI_IsLinearizableThroughKills(t *testing.T) {
	t.Parallel()
	seed, all, kills := seedOf(t), map[string]int{}, 0
	for round := range rounds(t, 2) {
		path := filepath.Join(t.TempDir(), "store.db")
		c, err := startChild(path)
		if err != nil {
			t.Fatal(err)
		}
		d := newDoor(c.address)
		random := rand.New(rand.NewPCG(seed+uint64(round), 1<<32))
		past := run(t, d, seed+uint64(round), func(past *history, done <-chan struct{}) {
			for past.grows(30+random.IntN(60), done) {
				d.set("")
				if err := c.kill(); err != nil {
					t.Error(err)
				}
				kills++
				if c, err = startChild(path); err != nil {
					t.Error(err)
					panic("the service does not start again: the clients would wait for ever")
				}
				d.set(c.address)
			}
		})
		if err := c.kill(); err != nil {
			t.Error(err)
		}
		if bad := past.judge(); bad != "" {
			t.Fatal(bad)
		}
		for name, n := range past.counts() {
			all[name] += n
		}
	}
	all["kills"] = kills
	mustHappen(t, all, append(usual, "kills")...)
}

// grows waits until that many more calls are recorded; false when the last has been made.
func (h *history) grows(by int, done <-chan struct{}) bool {
	h.mu.Lock()
	want := len(h.ops) + by
	h.mu.Unlock()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		h.mu.Lock()
		enough := len(h.ops) >= want
		h.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-done:
			return false
		case <-tick.C:
		}
	}
}

// eager answers before the commit: the wish goes to the store behind the answer's back. The answer itself is right: it
// is what a dry run says.
type eager struct {
	api.Deposits
	late *sync.WaitGroup
}

func (e eager) Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error) {
	dry := n
	dry.DryRun = true
	answer, err := e.Deposits.Open(ctx, dry)
	if err != nil || answer.Replay {
		return answer, err
	}
	e.late.Go(func() { _, _ = e.Deposits.Open(context.WithoutCancel(ctx), n) })
	return answer, nil
}

// forgetful lets every request be the first of its key.
type forgetful struct {
	api.Deposits
	mu   *sync.Mutex
	seen *int
}

func (f forgetful) Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error) {
	f.mu.Lock()
	*f.seen++
	n.Key.Key = fmt.Sprint(n.Key.Key, " ", *f.seen)
	f.mu.Unlock()
	return f.Deposits.Open(ctx, n)
}

// stale reads a deposit as it was when it was first read.
type stale struct {
	api.Deposits
	mu    *sync.Mutex
	known map[string]credit.DepositView
}

func (s stale) View(ctx context.Context, code string) (credit.DepositView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.known[code]; ok {
		return v, nil
	}
	v, err := s.Deposits.View(ctx, code)
	if err == nil {
		s.known[code] = v
	}
	return v, err
}

// hasty says "busy" of every fourth deposit that it has made.
type hasty struct {
	api.Deposits
	mu   *sync.Mutex
	made *int
}

func (h hasty) Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error) {
	answer, err := h.Deposits.Open(ctx, n)
	h.mu.Lock()
	defer h.mu.Unlock()
	if *h.made++; err == nil && *h.made%4 == 0 {
		return credit.Answer{}, credit.ErrBusy
	}
	return answer, err
}

// Each of these mistakes gives answers that look right one by one.
func TestPlantedMistakes_AreRefused(t *testing.T) {
	t.Parallel()
	for name, bend := range map[string]func(*sync.WaitGroup) func(api.Deposits) api.Deposits{
		"answers before the commit": func(late *sync.WaitGroup) func(api.Deposits) api.Deposits {
			return func(d api.Deposits) api.Deposits { return eager{d, late} }
		},
		"forgets the key": func(*sync.WaitGroup) func(api.Deposits) api.Deposits {
			return func(d api.Deposits) api.Deposits { return forgetful{d, new(sync.Mutex), new(int)} }
		},
		"reads what was once": func(*sync.WaitGroup) func(api.Deposits) api.Deposits {
			return func(d api.Deposits) api.Deposits { return stale{d, new(sync.Mutex), map[string]credit.DepositView{}} }
		},
		"says busy of what it has done": func(*sync.WaitGroup) func(api.Deposits) api.Deposits {
			return func(d api.Deposits) api.Deposits { return hasty{d, new(sync.Mutex), new(int)} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := seedOf(t)
			for round := range uint64(10) { // on a crowded machine one run may give the mistake no time to show
				var late sync.WaitGroup
				s, err := newService(filepath.Join(t.TempDir(), "store.db"), bend(&late))
				if err != nil {
					t.Fatal(err)
				}
				past := run(t, newDoor(s.address), seed+round, nil)
				late.Wait()
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				if past.judge() != "" {
					t.Logf("seen in run %d", round+1)
					return
				}
			}
			t.Error("never seen")
		})
	}
}
