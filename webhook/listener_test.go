package webhook_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook"
)

// fakeIntake counts what reaches the domain and answers as it is told.
type fakeIntake struct {
	mu     sync.Mutex
	events []credit.Event
	answer func(context.Context) (credit.Receipt, error)
}

func (i *fakeIntake) Receive(ctx context.Context, e credit.Event) (credit.Receipt, error) {
	i.mu.Lock()
	i.events = append(i.events, e)
	i.mu.Unlock()
	if i.answer == nil {
		return credit.Receipt{Event: 1}, nil
	}
	return i.answer(ctx)
}

func (i *fakeIntake) calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.events)
}

// fakeObserver keeps everything that it is told.
type fakeObserver struct {
	mu      sync.Mutex
	steps   []string
	reports []webhook.Report
}

func (o *fakeObserver) Step(_ context.Context, s credit.Step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps = append(o.steps, s.Name)
}

func (o *fakeObserver) Webhook(_ context.Context, r webhook.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reports = append(o.reports, r)
}

func (o *fakeObserver) last(t *testing.T) webhook.Report {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.reports) == 0 {
		t.Fatal("nothing was reported")
	}
	return o.reports[len(o.reports)-1]
}

// toyProvider takes the header "Toy: good" for a signature and the body's first word for the id.
type toyProvider struct {
	mu       sync.Mutex
	verified int
}

const whyRefused = "the toy is broken, secret s3cr3t"

func (p *toyProvider) Kind() string { return "toy" }

func (p *toyProvider) Verify(h http.Header, _ []byte, _ time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verified++
	if h.Get("Toy") != "good" {
		return errors.New(whyRefused)
	}
	return nil
}

func (p *toyProvider) Map(_ http.Header, body []byte) (webhook.Mapped, error) {
	if bytes.HasPrefix(body, []byte("panic")) {
		panic("toy")
	}
	if bytes.HasPrefix(body, []byte("unreadable")) {
		return webhook.Mapped{Facts: credit.Facts{Type: "toy.type"}}, errors.New("no toy")
	}
	id, _, _ := strings.Cut(string(body), " ")
	return webhook.Mapped{MessageKey: id, Facts: credit.Facts{Type: "toy", Effect: credit.EffectNone}}, nil
}

func (p *toyProvider) EvidenceHeaders() []string { return []string{"toy", "X-Missing"} }

type rig struct {
	intake   *fakeIntake
	observer *fakeObserver
	provider *toyProvider
	listener *webhook.Listener
}

var receivedAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newRig(t testing.TB, bend func(*webhook.Config)) *rig {
	t.Helper()
	r := &rig{intake: &fakeIntake{}, observer: &fakeObserver{}, provider: &toyProvider{}}
	cfg := webhook.Config{
		Endpoints: []webhook.Endpoint{{Name: "toy-shop", Account: "acct_1", Provider: r.provider}},
		Intake:    r.intake, Observer: r.observer, Now: func() time.Time { return receivedAt },
		Reference: func() string { return "ref-1" },
	}
	if bend != nil {
		bend(&cfg)
	}
	l, err := webhook.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.listener = l
	return r
}

func (r *rig) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.listener.Handler().ServeHTTP(w, req)
	return w
}

func TestH22_VerifiedEventIsStoredWithItsEvidenceBefore200(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := "evt_1 \x00\xff {\"raw\": 1}\r\n"
	w := r.send("POST", "/webhooks/toy-shop", body, "Toy", "good", "Authorization", "not evidence")
	if w.Code != 200 || w.Body.String() != `{"received":true}` {
		t.Fatalf("answer %d %s", w.Code, w.Body)
	}
	if r.intake.calls() != 1 {
		t.Fatalf("%d intake calls, want 1", r.intake.calls())
	}
	e := r.intake.events[0]
	sum := sha256.Sum256([]byte(body))
	if string(e.Body) != body || e.Digest != hex.EncodeToString(sum[:]) || !e.ReceivedAt.Equal(receivedAt) {
		t.Errorf("evidence is not the body as it came: %q %s %v", e.Body, e.Digest, e.ReceivedAt)
	}
	if e.Provider != "toy-shop" || e.Kind != "toy" || e.Account != "acct_1" || e.MessageKey != "evt_1" {
		t.Errorf("event is named %+v", e)
	}
	if len(e.Headers) != 1 || e.Headers["Toy"] != "good" {
		t.Errorf("headers kept: %v", e.Headers)
	}
	if want := []string{credit.StepBodyRead, credit.StepAcknowledged}; !slices.Equal(r.observer.steps, want) {
		t.Errorf("steps %v, want %v", r.observer.steps, want)
	}
	if rep := r.observer.last(t); rep.Outcome != webhook.Accepted || rep.Provider != "toy-shop" || rep.Bytes != len(body) || rep.IP != "192.0.2.1" {
		t.Errorf("report %+v", rep)
	}
}

func TestRepeat_IsAcknowledged(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.intake.answer = func(context.Context) (credit.Receipt, error) { return credit.Receipt{Repeat: true}, nil }
	if w := r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "good"); w.Code != 200 {
		t.Errorf("answer %d", w.Code)
	}
	if rep := r.observer.last(t); rep.Outcome != webhook.Repeated {
		t.Errorf("report %+v", rep)
	}
}

func TestVerifiedButUnreadable_IsStoredUnderItsDigest(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, body := range []string{"unreadable stuff", " no id"} {
		if w := r.send("POST", "/webhooks/toy-shop", body, "Toy", "good"); w.Code != 200 {
			t.Errorf("%q: answer %d", body, w.Code)
		}
		e := r.intake.events[len(r.intake.events)-1]
		if e.MessageKey != e.Digest || e.Facts.Effect != credit.EffectUnreadable || e.Facts.Problem == "" || string(e.Body) != body {
			t.Errorf("%q: event %+v", body, e)
		}
	}
	if r.intake.events[0].Facts.Type != "toy.type" {
		t.Error("the type, which could be read, is lost")
	}
}

// TestBadRequest_ChangesNothingAndLearnsNothing is the "Clear" list of the listener: no intake call,
// and an answer that depends on the status alone.
func TestBadRequest_ChangesNothingAndLearnsNothing(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", webhook.MaxBody+1)
	for name, tc := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		outcome            webhook.Outcome
	}{
		"bad signature":           {"POST", "/webhooks/toy-shop", "evt_1", []string{"Toy", "bad"}, 401, webhook.Unverified},
		"no signature":            {"POST", "/webhooks/toy-shop", "evt_1", nil, 401, webhook.Unverified},
		"empty body, no sig":      {"POST", "/webhooks/toy-shop", "", nil, 401, webhook.Unverified},
		"unknown provider":        {"POST", "/webhooks/other", "evt_1", []string{"Toy", "good"}, 404, webhook.UnknownProvider},
		"name in other case":      {"POST", "/webhooks/Toy-Shop", "evt_1", []string{"Toy", "good"}, 404, webhook.UnknownProvider},
		"no name":                 {"POST", "/webhooks/", "evt_1", []string{"Toy", "good"}, 404, webhook.NoSuchRoute},
		"deeper path":             {"POST", "/webhooks/toy-shop/x", "evt_1", []string{"Toy", "good"}, 404, webhook.UnknownProvider},
		"root":                    {"GET", "/", "", nil, 404, webhook.NoSuchRoute},
		"get":                     {"GET", "/webhooks/toy-shop", "", []string{"Toy", "good"}, 405, webhook.WrongMethod},
		"put":                     {"PUT", "/webhooks/toy-shop", "evt_1", []string{"Toy", "good"}, 405, webhook.WrongMethod},
		"method override":         {"GET", "/webhooks/toy-shop", "", []string{"Toy", "good", "X-HTTP-Method-Override", "POST"}, 405, webhook.WrongMethod},
		"oversized":               {"POST", "/webhooks/toy-shop", big, []string{"Toy", "good"}, 413, webhook.TooLarge},
		"oversized, unknown":      {"POST", "/webhooks/other", big, []string{"Toy", "good"}, 413, webhook.TooLarge},
		"compressed":              {"POST", "/webhooks/toy-shop", "evt_1", []string{"Toy", "good", "Content-Encoding", "gzip"}, 415, webhook.Encoded},
		"compressed, in disguise": {"POST", "/webhooks/toy-shop", "evt_1", []string{"Toy", "good", "Content-Encoding", ""}, 415, webhook.Encoded},
	} {
		r := newRig(t, nil)
		w := r.send(tc.method, tc.path, tc.body, tc.headers...)
		if w.Code != tc.status {
			t.Errorf("%s: status %d, want %d", name, w.Code, tc.status)
		}
		if want := fmt.Sprintf(`{"error":%q}`, http.StatusText(tc.status)); w.Body.String() != want {
			t.Errorf("%s: answer %s, want %s", name, w.Body, want)
		}
		if r.intake.calls() != 0 {
			t.Errorf("%s: reached the intake", name)
		}
		if rep := r.observer.last(t); rep.Outcome != tc.outcome || rep.Status != tc.status || len(r.observer.reports) != 1 {
			t.Errorf("%s: reports %+v", name, r.observer.reports)
		}
		if slices.Contains(r.observer.steps, credit.StepAcknowledged) {
			t.Errorf("%s: acknowledged", name)
		}
	}
}

func TestUnverified_IsExplainedToTheObserverAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	w := r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "bad")
	if rep := r.observer.last(t); rep.Err == nil || rep.Err.Error() != whyRefused {
		t.Errorf("the log learns %v", rep.Err)
	}
	if all := fmt.Sprint(w.Header(), w.Body); strings.Contains(all, "broken") || strings.Contains(all, "s3cr3t") {
		t.Errorf("the public learns %s", all)
	}
}

func TestUnknownProvider_CostsAVerification(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.send("POST", "/webhooks/other", "evt_1", "Toy", "good")
	if r.provider.verified != 1 {
		t.Errorf("%d verifications, want 1", r.provider.verified)
	}
	bare := newRig(t, func(c *webhook.Config) { c.Endpoints = nil })
	if w := bare.send("POST", "/webhooks/other", "evt_1"); w.Code != 404 {
		t.Errorf("a listener without endpoints answered %d", w.Code)
	}
}

func TestBodyAtTheLimit_IsAccepted(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *webhook.Config) { c.MaxBody = 100 })
	if w := r.send("POST", "/webhooks/toy-shop", strings.Repeat("x", 100), "Toy", "good"); w.Code != 200 {
		t.Errorf("100 bytes of 100: %d", w.Code)
	}
	if w := r.send("POST", "/webhooks/toy-shop", strings.Repeat("x", 101), "Toy", "good"); w.Code != 413 {
		t.Errorf("101 bytes of 100: %d", w.Code)
	}
}

func TestH22_IntakeThatFailsIsNever2xx(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err     error
		status  int
		outcome webhook.Outcome
	}{
		"queue full":     {fmt.Errorf("accept: %w", credit.ErrBusy), 503, webhook.Busy},
		"store stopped":  {fmt.Errorf("accept: %w", credit.ErrStopped), 503, webhook.Busy},
		"invalid event":  {fmt.Errorf("accept: %w", credit.ErrInvalid), 500, webhook.Failed},
		"unknown error":  {errors.New("accept: s3cr3t"), 500, webhook.Failed},
		"refused by pin": {credit.Refuse("pin", "the account changed"), 500, webhook.Failed},
	} {
		r := newRig(t, nil)
		r.intake.answer = func(context.Context) (credit.Receipt, error) { return credit.Receipt{}, tc.err }
		w := r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "good")
		if w.Code != tc.status || strings.Contains(w.Body.String(), "accept") {
			t.Errorf("%s: answer %d %s", name, w.Code, w.Body)
		}
		if (w.Header().Get("Retry-After") != "") != (tc.status == 503) {
			t.Errorf("%s: Retry-After %q", name, w.Header().Get("Retry-After"))
		}
		rep := r.observer.last(t)
		if rep.Outcome != tc.outcome || !errors.Is(rep.Err, tc.err) {
			t.Errorf("%s: report %+v", name, rep)
		}
		if tc.status == 500 && (rep.Reference != "ref-1" || w.Body.String() != `{"error":"internal error","reference":"ref-1"}`) {
			t.Errorf("%s: answer %s with reference %q in the log", name, w.Body, rep.Reference)
		}
	}
}

func TestPanic_Is500WithAReference(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *webhook.Config) { c.MaxInFlight = 1 })
	for range 2 { // twice: the slot of the first is free again
		if w := r.send("POST", "/webhooks/toy-shop", "panic", "Toy", "good"); w.Code != 500 || strings.Contains(w.Body.String(), "toy") {
			t.Errorf("answer %d %s", w.Code, w.Body)
		}
	}
	if rep := r.observer.last(t); rep.Outcome != webhook.Failed || rep.Reference == "" || rep.Err == nil {
		t.Errorf("report %+v", rep)
	}
}

func TestRequestsInFlight_AreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *webhook.Config) { c.MaxInFlight = 2 })
	entered, release := make(chan struct{}), make(chan struct{})
	r.intake.answer = func(context.Context) (credit.Receipt, error) {
		entered <- struct{}{}
		<-release
		return credit.Receipt{}, nil
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if w := r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "good"); w.Code != 200 {
				t.Errorf("a request with a slot got %d", w.Code)
			}
		})
		<-entered
	}
	w := r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "good")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || r.intake.calls() != 2 {
		t.Errorf("the third request got %d after %d intake calls", w.Code, r.intake.calls())
	}
	close(release)
	wg.Wait()
}

func TestCallerThatHangsUp_DoesNotCancelTheIntake(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx, hangUp := context.WithCancel(t.Context())
	r.intake.answer = func(ctx context.Context) (credit.Receipt, error) {
		hangUp()
		return credit.Receipt{}, ctx.Err()
	}
	req := httptest.NewRequestWithContext(ctx, "POST", "/webhooks/toy-shop", strings.NewReader("evt_1"))
	req.Header.Set("Toy", "good")
	r.listener.Handler().ServeHTTP(httptest.NewRecorder(), req)
	if rep := r.observer.last(t); rep.Outcome != webhook.Accepted {
		t.Errorf("report %+v", rep)
	}
}

func TestAddress_IsTheSocketsUnlessAProxyIsTrusted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		proxies []string
		forward string
		want    string
	}{
		"no proxy trusted":        {nil, "203.0.113.9", "192.0.2.1"},
		"the proxy is trusted":    {[]string{"192.0.2.0/24"}, "203.0.113.9", "203.0.113.9"},
		"another one is trusted":  {[]string{"10.0.0.0/8"}, "203.0.113.9", "192.0.2.1"},
		"private is not trusted":  {[]string{"192.0.2.0/24"}, "203.0.113.9, 10.1.2.3", "10.1.2.3"},
		"what it forwards is odd": {[]string{"192.0.2.0/24"}, "x", "192.0.2.1"},
	} {
		r := newRig(t, func(c *webhook.Config) { c.TrustedProxies = tc.proxies })
		r.send("POST", "/webhooks/toy-shop", "evt_1", "Toy", "good", "X-Forwarded-For", tc.forward, "X-Real-Ip", "198.51.100.1")
		if got := r.observer.last(t).IP; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestNew_NamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	good := webhook.Config{Intake: &fakeIntake{}, Observer: &fakeObserver{}, Now: time.Now, Reference: func() string { return "" }}
	toy := webhook.Endpoint{Name: "toy", Provider: &toyProvider{}}
	for name, bend := range map[string]func(*webhook.Config){
		"no intake":      func(c *webhook.Config) { c.Intake = nil },
		"no observer":    func(c *webhook.Config) { c.Observer = nil },
		"no clock":       func(c *webhook.Config) { c.Now = nil },
		"no reference":   func(c *webhook.Config) { c.Reference = nil },
		"body too large": func(c *webhook.Config) { c.MaxBody = webhook.MaxBody + 1 },
		"body negative":  func(c *webhook.Config) { c.MaxBody = -1 },
		"twice":          func(c *webhook.Config) { c.Endpoints = []webhook.Endpoint{toy, toy} },
		"no name":        func(c *webhook.Config) { c.Endpoints = []webhook.Endpoint{{Provider: toy.Provider}} },
		"no provider":    func(c *webhook.Config) { c.Endpoints = []webhook.Endpoint{{Name: "toy"}} },
		"not a range":    func(c *webhook.Config) { c.TrustedProxies = []string{"10.0.0.1"} },
	} {
		cfg := good
		bend(&cfg)
		if _, err := webhook.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
