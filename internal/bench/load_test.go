package bench

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook/stripe"
)

const testSecret = "whsec_test"

// Every body is what a provider sends: signed, about 3 KB, and about a payment of its own.
func TestMaker_MakesDistinctPaymentsThatVerify(t *testing.T) {
	t.Parallel()
	p, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte(testSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{secret: testSecret, run: "run"}
	random := rand.New(rand.NewPCG(1, 2))
	payments, keys := map[string]bool{}, map[string]bool{}
	const n = 2000
	for i := range n {
		code := ""
		if i%2 == 1 {
			code = "a-deposit"
		}
		body, signature := m.event(random, code, 12_345, time.Now())
		if len(body) < 2800 || len(body) > 3400 {
			t.Fatalf("a body of %d bytes", len(body))
		}
		if err := p.Verify(http.Header{"Stripe-Signature": {signature}}, body, time.Now()); err != nil {
			t.Fatal(err)
		}
		mapped, err := p.Map(http.Header{}, body)
		if err != nil {
			t.Fatal(err)
		}
		f := mapped.Facts
		if f.Effect != credit.EffectPaid || f.Code != code || f.Parts[0].Amount.String() != "123.45 USD" {
			t.Fatalf("read as %+v", f)
		}
		payments[f.Payment], keys[mapped.MessageKey] = true, true
	}
	if len(payments) != n || len(keys) != n {
		t.Errorf("%d payments and %d messages of %d", len(payments), len(keys), n)
	}
}

// receiver is a webhook listener that answers by the given function and counts.
type receiver struct {
	*httptest.Server
	seen atomic.Int64
	mu   sync.Mutex
	last string
}

func newReceiver(t *testing.T, status func(n int64) int) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil || req.Header.Get("Stripe-Signature") == "" {
			t.Errorf("a request without body or signature: %v", err)
		}
		r.mu.Lock()
		r.last = string(body)
		r.mu.Unlock()
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(status(r.seen.Add(1)))
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) load() Load {
	return Load{Addr: strings.TrimPrefix(r.URL, "http://"), Path: "/webhooks/stripe", Secret: testSecret, Run: "t", Connections: 3, Minor: 5}
}

func TestLoad_SendsOnePaymentForEachCode(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, func(n int64) int { return map[bool]int{true: 503, false: 200}[n%5 == 0] })
	l := r.load()
	l.Codes = []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10"}
	got, err := runLoad(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if got.Sent != 10 || got.Accepted != 8 || got.Busy != 2 || got.Other != 0 || got.P50 <= 0 || got.P99 < got.P50 {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(r.last, `"creditonce_deposit": "c`) {
		t.Errorf("the last body names no deposit:\n%s", r.last)
	}
}

func TestLoad_ClosedLoopCountsItsSpanAlone(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, func(int64) int { return 200 })
	l := r.load()
	l.Span = time.Second // on a crowded machine an answer may take a while
	got, err := runLoad(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if got.Span != l.Span || got.Accepted == 0 || int64(got.Sent) >= r.seen.Load() {
		t.Errorf("counted %+v of %d, warm-up included", got, r.seen.Load())
	}
}

func TestLoad_PacedSendsAsManyAsPlanned(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, func(int64) int { return 401 })
	l := r.load()
	l.Rate, l.Span = 400, 100*time.Millisecond
	got, err := runLoad(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if got.Sent != 40 || got.Other != 40 || r.seen.Load() != 40 {
		t.Errorf("got %+v, seen %d", got, r.seen.Load())
	}
}

// A connection that breaks, or that does not speak HTTP, ends the load with an error: a load with holes measures nothing.
func TestLoad_BrokenConnectionIsAnError(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing": "", "no HTTP": "SSH-2.0-x\r\n", "no status": "HTTP/1.1 abc\r\n\r\n", "no length": "HTTP/1.1 200 OK\r\n\r\n",
		"length is no number": "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "cut off": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = socket.Close() }()
			go func() {
				for {
					c, err := socket.Accept()
					if err != nil {
						return
					}
					_, _ = io.CopyN(io.Discard, c, 100)
					_, _ = io.WriteString(c, answer)
					_ = c.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				}
			}()
			_, err = runLoad(t.Context(), Load{Addr: socket.Addr().String(), Path: "/", Secret: "s", Connections: 1, Codes: []string{"c"}, Minor: 1})
			if err == nil {
				t.Error("the load was taken for whole")
			}
		})
	}
}

func TestQuantiles_AreTheMiddleAndTheLastOfAHundred(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := range 100 {
		took = append(took, time.Duration(100-i))
	}
	if p50, p99 := quantiles(took); p50 != 51 || p99 != 100 {
		t.Errorf("got %d and %d", p50, p99)
	}
	if p50, p99 := quantiles([]time.Duration{7}); p50 != 7 || p99 != 7 {
		t.Errorf("of one: %d and %d", p50, p99)
	}
	if p50, p99 := quantiles(nil); p50 != 0 || p99 != 0 {
		t.Errorf("of none: %d and %d", p50, p99)
	}
	row := MedianAccept([]Accept{{PerSecond: 3}, {PerSecond: 9}, {PerSecond: 5, Connections: 1}})
	if row.PerSecond != 5 || row.Connections != 1 {
		t.Errorf("median %+v", row)
	}
}

func TestUsage_IsThatOfTheProcess(t *testing.T) {
	t.Parallel()
	before, known := processorTime(os.Getpid())
	if !known {
		t.Skip("this system does not tell")
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		if now, _ := processorTime(os.Getpid()); now > before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("ten seconds of work cost no processor time")
		}
	}
	if bytes, known := anonymousMemory(os.Getpid()); !known || bytes < 1<<20 {
		t.Errorf("%d bytes of anonymous memory, %v", bytes, known)
	}
}

func TestAdvice_SaysWhatIsTooSlow(t *testing.T) {
	t.Parallel()
	good := Result{Disk: Disk{Overwrite: Syncs{PerSecond: 5200}}, Accept: []Accept{{PerSecond: 800}, {PerSecond: 6243}}, Wire: Credited{Sessions: 4, PerSecond: 512}}
	if text := strings.Join(advice(good), "\n"); !strings.Contains(text, "syncs 5,200 times") || !strings.Contains(text, "about 6,200 webhooks") {
		t.Errorf("got %s", text)
	}
	for want, change := range map[string]func(*Result){
		"SSD":                  func(r *Result) { r.Disk.Overwrite.PerSecond = 90 },
		"when the power fails": func(r *Result) { r.Disk.Overwrite.PerSecond = 400_000 },
		"over the limit":       func(r *Result) { r.Paced = Paced{Rate: 100, P99: 20, Limit: 8, Ratio: 2.5} },
		"look at a deposit":    func(r *Result) { r.Lookup = Lookup{P99: 9, Ratio: 1.8} },
	} {
		r := good
		change(&r)
		if text := strings.Join(advice(r), "\n"); !strings.Contains(text, want) || strings.Contains(strings.Join(advice(good), "\n"), want) {
			t.Errorf("want %q in %s", want, text)
		}
	}
}
