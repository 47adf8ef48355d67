package boundary

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
)

// dial connects to the listener; the test's end hangs up.
func (p *public) dial() *net.TCPConn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

// post sends one good notification and returns the status, 0 without one.
func (p *public) post() int {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, p.next().raw()); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Slow headers cost the server a connection for five seconds and nothing else: others are served meanwhile, and the slow
// ones are hung up on, however busily they drip.
func TestSlowloris_IsHungUpOnWhileOthersAreServed(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	const slow = 200
	raw := p.next().raw()
	var dripping sync.WaitGroup
	var hungUp, served atomic.Int64
	begin := time.Now()
	for i := range slow {
		conn := p.dial()
		dripping.Go(func() {
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for n := range len(raw) - 1 { // never the whole request
				if _, err := conn.Write([]byte{raw[n]}); err != nil {
					break
				}
				if i%2 == 0 && n > 10 {
					break // this one just stays
				}
				<-tick.C
			}
			if all := statuses(conn); count2xx(all) == 0 {
				hungUp.Add(1)
			}
		})
	}
	for range 50 {
		if p.post() == 200 {
			served.Add(1)
		}
	}
	dripping.Wait()
	took := time.Since(begin)
	if hungUp.Load() != slow || served.Load() != 50 {
		t.Errorf("%d of %d slow ones were hung up on, %d of 50 good ones served", hungUp.Load(), slow, served.Load())
	}
	// ReadHeaderTimeout is 5 s; a drip of 50 ms a byte would take far longer. The bound is loose for crowded machines.
	if took > 30*time.Second {
		t.Errorf("the last slow one was hung up on after %v", took)
	}
	if n := p.settle(50); n != 50 {
		t.Errorf("%d events", n)
	}
}

// A caller that has said all and closed its side is answered, and its event is there.
func TestHalfClosed_IsAnsweredAndStored(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	const callers = 20
	for range callers {
		if got := p.talk(p.next().raw()); len(got) != 1 || got[0] != 200 {
			t.Errorf("answers %v", got)
		}
	}
	if n := p.settle(callers); n != callers {
		t.Errorf("%d events", n)
	}
}

// A caller that is cut off in the middle of its request changes nothing, wherever it is cut.
func TestRequestCutAtEveryByte_ChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPublic(t, func(o *store.Options) { o.UnsafeNoSync = true })
	for _, n := range []notification{p.next(), p.next()} {
		for _, raw := range []string{n.raw(), n.withBody("Transfer-Encoding: chunked\r\n", n.chunks(16))} {
			for cut := range len(raw) {
				// The end of the chunks has come when only the last blank line is missing: net/http takes that for whole.
				if strings.HasSuffix(raw[:cut], "\r\n0\r\n") || strings.HasSuffix(raw[:cut], "\r\n0\r\n\r") {
					continue
				}
				if got := p.talk(raw[:cut]); count2xx(got) != 0 {
					t.Errorf("%d bytes of %d: answers %v", cut, len(raw), got)
				}
			}
		}
	}
	if n := p.settle(0); n != 0 {
		t.Errorf("%d events", n)
	}
}

// Callers that hang up at once, in the middle and at the end: an event is there whole or not at all, and one that was
// acknowledged is there.
func TestCallersThatReset_LeaveWholeEventsOrNone(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var calling sync.WaitGroup
	for range 100 {
		raw, cut, answer := p.next().raw(), random.IntN(400), random.IntN(3) == 0
		conn := p.dial()
		calling.Go(func() {
			_, _ = io.WriteString(conn, raw[:min(cut, len(raw))])
			if answer && cut >= len(raw) {
				_, _ = http.ReadResponse(bufio.NewReader(conn), nil)
			}
			_ = conn.SetLinger(0)
			_ = conn.Close()
		})
	}
	calling.Wait()
	for p.post() != 200 { // whatever the others left behind
		t.Error("a good notification is not taken any more")
		break
	}
	p.stop()
	p.settle(len(p.intake.receipts()))
}

// A store that takes nothing: 503, and no row.
func TestStoreWithoutSpace_Is503AndStoresNothing(t *testing.T) {
	t.Parallel()
	var free atomic.Uint64
	free.Store(1 << 40)
	p := newPublic(t, func(o *store.Options) {
		o.RefuseIntakeBelow = 1 << 30
		o.Free = func(string) (uint64, error) { return free.Load(), nil }
	})
	if got := p.post(); got != 200 {
		t.Fatalf("with space: %d", got)
	}
	free.Store(1 << 20)
	refused := 0
	for range 50 { // the store asks for its space now and then
		if p.post() == 503 {
			refused++
		}
	}
	if refused == 0 {
		t.Error("never refused")
	}
	if n := p.settle(51 - refused); n != 51-refused {
		t.Errorf("%d events, %d refused of 51", n, refused)
	}
}

// Whatever error the store answers with, it is never a 2xx, and the next notification has its own verdict.
func TestStoreThatRefuses_IsNever2xx(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	var turn atomic.Int64
	causes := []error{nil, credit.ErrBusy, credit.ErrStopped, credit.ErrInvalid, credit.ErrConflict, credit.ErrNotFound, context.Canceled, io.ErrUnexpectedEOF}
	p.intake.fail = func() error { return causes[int(turn.Add(1)-1)%len(causes)] }
	for i := range 3 * len(causes) {
		cause := causes[i%len(causes)]
		if got := p.post(); (cause == nil) != (got == 200) || cause != nil && got/100 != 5 {
			t.Errorf("%v: status %d", cause, got)
		}
	}
	if n := p.settle(3); n != 3 {
		t.Errorf("%d events", n)
	}
}

// The store dies under load, of a commit that fails: what was acknowledged before is there, and nothing is acknowledged
// after.
func TestStoreThatDies_AcknowledgesOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	p := newPublic(t, func(o *store.Options) { o.MaxSize = 512 << 10 })
	var acknowledged, refused atomic.Int64
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for dead := 0; dead < 5; {
				switch status := p.post(); status {
				case 200:
					acknowledged.Add(1)
					if dead > 0 {
						t.Error("acknowledged after the store was dead")
					}
				case 503, 500:
					refused.Add(1)
					dead++
				default:
					t.Errorf("status %d", status)
					return
				}
			}
		})
	}
	calling.Wait()
	if acknowledged.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d acknowledged, %d refused: the test does not do what it says", acknowledged.Load(), refused.Load())
	}
	if n := p.settle(int(acknowledged.Load())); n < int(acknowledged.Load()) {
		t.Errorf("%d acknowledged, %d there", acknowledged.Load(), n)
	}
}

// 400 notifications in one write on one connection: each has its own verdict, in order.
func TestPipelining_EachRequestHasItsOwnVerdict(t *testing.T) {
	t.Parallel()
	p := newPublic(t)
	var raw strings.Builder
	var want []int
	for i := range 400 {
		n := p.next()
		switch i % 4 {
		case 1:
			n.body += " "
			want = append(want, 401)
		case 3:
			n.path += "x"
			want = append(want, 404)
		default:
			want = append(want, 200)
		}
		raw.WriteString(n.raw())
	}
	conn := p.dial()
	go func() { // the answers are read meanwhile: neither side's buffer holds all
		_, _ = io.WriteString(conn, raw.String())
		_ = conn.CloseWrite()
	}()
	if got := statuses(conn); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers %v", got)
	}
	if n := p.settle(200); n != 200 {
		t.Errorf("%d events", n)
	}
}
