package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server answers each line with itself and tells, in got, what arrived.
func server(t *testing.T) (addr string, got chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	got = make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					got <- line
					if _, err := io.WriteString(c, line); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), got
}

// rig is a proxy with a server behind it and a client in front.
type rig struct {
	*testing.T
	proxy  *Proxy
	got    chan string
	client net.Conn
	in     *bufio.Reader
}

func newRig(t *testing.T, f Fault) *rig {
	t.Helper()
	addr, got := server(t)
	p, err := Start("127.0.0.1:0", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Set(f); err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, proxy: p, got: got}
	r.dial()
	return r
}

func (r *rig) dial() {
	r.Helper()
	c, err := net.Dial("tcp", r.proxy.Addr())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	r.client, r.in = c, bufio.NewReader(c)
}

func (r *rig) say(line string) {
	r.Helper()
	if _, err := io.WriteString(r.client, line+"\n"); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) hear(line string) {
	r.Helper()
	if got, err := r.in.ReadString('\n'); err != nil || got != line+"\n" {
		r.Fatalf("heard %q, %v; want %q", got, err, line)
	}
}

func (r *rig) arrives(line string) {
	r.Helper()
	select {
	case got := <-r.got:
		if got != line+"\n" {
			r.Fatalf("the server got %q, want %q", got, line)
		}
	case <-time.After(10 * time.Second):
		r.Fatalf("the server never got %q", line)
	}
}

func TestProxy_ForwardsBothWays(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{})
	r.say("one")
	r.hear("one")
	if r.proxy.Struck() != 0 {
		t.Error("nothing was set, and something struck")
	}
}

func TestProxy_LatencyMakesRequestAndAnswerWait(t *testing.T) {
	t.Parallel()
	const wait = 30 * time.Millisecond
	r := newRig(t, Fault{Kind: Latency, Delay: wait})
	begin := time.Now()
	r.say("one")
	r.hear("one")
	if took := time.Since(begin); took < 2*wait || r.proxy.Struck() == 0 {
		t.Errorf("took %s, struck %d", took, r.proxy.Struck())
	}
}

func TestProxy_SlicerChangesNothingButThePieces(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{Kind: Slicer})
	long := strings.Repeat("0123456789", 500)
	r.say(long)
	r.hear(long)
}

func TestProxy_ResetComesAfterTheServerGotTheRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{Kind: ResetAfterRequest, Every: 2})
	r.say("one")
	r.hear("one")
	r.arrives("one")
	r.say("two")
	r.arrives("two")
	if _, err := r.in.ReadString('\n'); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client saw %v", err)
	}
	if r.proxy.Struck() != 1 {
		t.Errorf("struck %d times", r.proxy.Struck())
	}
}

func TestProxy_HalfOpenNeitherAnswersNorEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{Kind: HalfOpen})
	r.say("one")
	r.say("two") // a dead line takes what is written
	_ = r.client.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := r.in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client saw %v", err)
	}
	if err := r.proxy.Set(Fault{}); err != nil {
		t.Fatal(err)
	}
	r.dial() // a new connection works
	r.say("three")
	r.hear("three")
	r.arrives("three") // and nothing of the dead one has arrived
}

func TestProxy_HeldRequestOutlivesItsClient(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{Kind: HoldAndRelease, Delay: 50 * time.Millisecond})
	r.say("late")
	if err := r.client.Close(); err != nil {
		t.Fatal(err)
	}
	r.arrives("late")
}

func TestProxy_CloseEndsWhatIsOpenAndHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{Kind: HoldAndRelease, Delay: time.Hour})
	r.say("never")
	if err := r.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.in.ReadString('\n'); err == nil {
		t.Error("the client's connection goes on")
	}
	if err := r.proxy.Close(); err != nil {
		t.Errorf("closing again gave %v", err)
	}
}

func TestProxy_TargetThatIsDownEndsTheConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := Start("127.0.0.1:0", gone)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	r := &rig{T: t, proxy: p}
	r.dial()
	if _, err := r.in.ReadString('\n'); err == nil {
		t.Error("the connection goes on")
	}
}

func TestSet_RefusesAFaultThatCouldNotStrike(t *testing.T) {
	t.Parallel()
	r := newRig(t, Fault{})
	for _, f := range []Fault{{Kind: "slap"}, {Kind: Latency}, {Kind: HoldAndRelease}, {Kind: HalfOpen, Every: -1}} {
		if err := r.proxy.Set(f); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
	for _, k := range Kinds() {
		if err := r.proxy.Set(Fault{Kind: k, Delay: time.Second}); err != nil {
			t.Error(err)
		}
	}
}
