package boundary

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/webhook"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/standard"
	"creditonce/webhook/stripe"
)

const hookSecret = "whsec_boundary"

var standardKey = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of twenty-four byte"))

// hookTime is when all notifications were signed, and what the listener takes the time for: signatures in a corpus stay good.
var hookTime = time.Unix(1_760_000_000, 0).UTC()

// stopped is a clock that stands still.
type stopped struct{}

func (stopped) Now() time.Time      { return hookTime }
func (stopped) Boot() time.Duration { return 0 }
func (stopped) Wait(ctx context.Context, _ time.Duration, _ <-chan struct{}) error {
	<-ctx.Done()
	return ctx.Err()
}

type deaf struct{}

func (deaf) Step(context.Context, credit.Step)       {}
func (deaf) Note(context.Context, credit.Note)       {}
func (deaf) Webhook(context.Context, webhook.Report) {}

// taken counts what the store said yes to.
type taken struct {
	credit.IntakeBook
	fail func() error // may be nil: what the store says instead of doing it
	mu   sync.Mutex
	yes  []credit.Receipt
}

func (i *taken) Accept(ctx context.Context, e credit.Event, rules credit.IntakeRules) (credit.Receipt, error) {
	if i.fail != nil {
		if err := i.fail(); err != nil {
			return credit.Receipt{}, err
		}
	}
	r, err := i.IntakeBook.Accept(ctx, e, rules)
	if err == nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.yes = append(i.yes, r)
	}
	return r, err
}

func (i *taken) receipts() []credit.Receipt {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]credit.Receipt(nil), i.yes...)
}

// public is the webhook listener with its own server, on a real socket, over a real store.
type public struct {
	t       testing.TB
	address string
	path    string
	options store.Options
	store   *store.DB
	intake  *taken
	server  *http.Server
	ended   chan error

	mu     sync.Mutex
	signed map[string]bool // bodies that somebody with a key has signed
	number int
}

func newPublic(t testing.TB, bend ...func(*store.Options)) *public {
	t.Helper()
	p := &public{
		t: t, path: filepath.Join(t.TempDir(), "store.db"), signed: map[string]bool{}, ended: make(chan error, 1),
		options: store.Options{New: credit.Settings{StoreID: "s", Environment: "test", Mode: credit.ModeLive, CreatedAt: hookTime}},
	}
	for _, b := range bend {
		b(&p.options)
	}
	var err error
	if p.store, err = store.Open(p.path, p.options); err != nil {
		t.Fatal(err)
	}
	p.intake = &taken{IntakeBook: p.store}
	hook, err := webhook.New(webhook.Config{
		Endpoints: endpoints(t), Observer: deaf{}, Now: stopped{}.Now, Reference: func() string { return "ref" },
		Intake: &credit.Reception{Book: p.intake, Clock: stopped{}, Observer: deaf{}, Process: credit.Process{ID: "p", At: hookTime}, HeldGrace: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address, p.server = l.Addr().String(), webhook.Server(hook.Handler())
	go func() { p.ended <- p.server.Serve(l) }()
	t.Cleanup(p.stop)
	return p
}

// endpoints are the providers of each kind.
func endpoints(t testing.TB) []webhook.Endpoint {
	t.Helper()
	one, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte(hookSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := standard.New(standard.Config{
		Signing: standard.Signing{Secrets: [][]byte{[]byte(standardKey)}},
		Payload: standard.Payload{
			Type: "type", OccurredAt: "at", Live: true, AmountIs: standard.Minor, Ignored: []string{"customer.created"},
			Paid: standard.Paid{Types: []string{"paid"}, Payment: "id", Amount: "amount", Currency: "currency", Code: "code"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []webhook.Endpoint{{Name: "psp", Account: "acct_1", Provider: one}, {Name: "std", Account: "acct_2", Provider: other}}
}

// stop ends the server and the store; a second call does nothing.
func (p *public) stop() {
	if p.server == nil {
		return
	}
	_ = p.server.Close()
	p.server = nil
	if err := <-p.ended; !errors.Is(err, http.ErrServerClosed) {
		p.t.Errorf("serve: %v", err)
	}
	if err := p.store.Close(context.Background()); err != nil && !errors.Is(err, credit.ErrStopped) {
		p.t.Errorf("close the store: %v", err)
	}
}

// notification is a signed body and its headers.
type notification struct {
	path, body string
	headers    string // lines, each with its end
}

// next makes a notification that was never sent before, of either provider in turn.
func (p *public) next() notification {
	p.t.Helper()
	p.mu.Lock()
	p.number++
	n := p.number
	p.mu.Unlock()
	body := fmt.Sprintf(`{"id":"evt_%d","object":"event","type":"customer.created","created":1,"livemode":true}`, n)
	if n%2 == 0 {
		return p.nextStandard(n)
	}
	p.known(body)
	return notification{"/webhooks/psp", body, "Stripe-Signature: " + fakepsp.Sign(hookSecret, []byte(body), hookTime) + "\r\n"}
}

func (p *public) nextStandard(n int) notification {
	p.t.Helper()
	body := fmt.Sprintf(`{"type":"customer.created","at":1760000000,"n":%d}`, n)
	p.known(body)
	headers, err := fakepsp.SignStandard([]string{standardKey}, fmt.Sprint("msg_", n), []byte(body), hookTime)
	if err != nil {
		p.t.Fatal(err)
	}
	var lines strings.Builder
	for name, value := range headers {
		fmt.Fprintf(&lines, "%s: %s\r\n", name, value)
	}
	return notification{"/webhooks/std", body, lines.String()}
}

func (p *public) known(body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signed[body] = true
}

// raw is the notification as a plain request; more are further header lines.
func (n notification) raw(more ...string) string {
	return n.withBody(fmt.Sprintf("Content-Length: %d\r\n", len(n.body))+strings.Join(more, ""), n.body)
}

// withBody is the notification with other framing.
func (n notification) withBody(framing, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s", n.path, n.headers, framing, body)
}

// talk sends the bytes on a new connection, says that no more will come, and returns the statuses of all answers.
func (p *public) talk(raw string) []int {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, raw) // the server may have answered and hung up before all was sent
	_ = conn.(*net.TCPConn).CloseWrite()
	return statuses(conn)
}

// statuses reads answers until the connection ends. Interim ones are among them.
func statuses(conn net.Conn) (out []int) {
	in := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return out
		}
		out = append(out, resp.StatusCode)
		if resp.StatusCode < 200 {
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// settle stops the service, opens its store anew, and wants as many acknowledged events there as were acknowledged, each
// with a body that a key has signed. It returns how many events there are.
func (p *public) settle(acknowledged int) int {
	p.t.Helper()
	p.stop()
	p.options.MaxSize, p.options.Free, p.options.RefuseIntakeBelow = 0, nil, 0
	db, err := store.Open(p.path, p.options)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(context.Background()); err != nil {
			p.t.Error(err)
		}
	}()
	bodies := p.bodies(db)
	for _, b := range bodies {
		if !p.signed[b] {
			p.t.Errorf("stored, and nobody with a key has signed it: %.200q", b)
		}
	}
	receipts := p.intake.receipts()
	if len(receipts) != acknowledged {
		p.t.Errorf("%d answers of 2xx, %d events taken in", acknowledged, len(receipts))
	}
	for _, r := range receipts {
		if _, err := db.EventBody(context.Background(), r.Event); err != nil {
			p.t.Errorf("event %d was acknowledged: %v", r.Event, err)
		}
	}
	if report, err := db.Verify(context.Background(), nil); err != nil || !report.Clean() {
		p.t.Errorf("verify: %+v %v", report, err)
	}
	return len(bodies)
}

// bodies are all stored events, as they came.
func (p *public) bodies(db *store.DB) (out []string) {
	p.t.Helper()
	for after := credit.EventID(0); ; {
		page, err := db.Events(context.Background(), after, 100)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(page) == 0 {
			return out
		}
		for _, e := range page {
			body, err := db.EventBody(context.Background(), e.ID)
			if err != nil {
				p.t.Fatal(err)
			}
			out, after = append(out, string(body)), e.ID
		}
	}
}

func count2xx(all []int) (n int) {
	for _, s := range all {
		if s >= 200 && s <= 299 {
			n++
		}
	}
	return n
}
