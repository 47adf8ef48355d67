package mt5

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

const (
	// sendingBound is TCP_USER_TIMEOUT and, by probes, about the time after which a silent peer is given up.
	sendingBound = 10 * time.Second
	// maxAnswer bounds one answer on the wire, headers and TLS framing included. A page of 100 deals has
	// about 150 kB.
	maxAnswer = 8 << 20
)

// errLate is the guard's refusal: the call's deadline passed before its bytes left.
var errLate = errors.New("the send deadline has passed")

// errTooLong is given instead of bytes beyond maxAnswer.
var errTooLong = errors.New("the answer is too long")

// watched is the TCP connection under TLS. It counts the bytes that left since mark, refuses to write what the
// guard forbids, and bounds what is read. Only the session's owner uses it, except for deadlines.
type watched struct {
	net.Conn
	written int64
	guard   func() error
	budget  int64
	probing bool // give what has arrived already, never wait
}

// Write passes the guard first: the deadline sits where the bytes leave (design §6.5).
func (w *watched) Write(b []byte) (int, error) {
	if w.guard != nil {
		if err := w.guard(); err != nil {
			return 0, err
		}
	}
	n, err := w.Conn.Write(b)
	w.written += int64(n)
	return n, err
}

// Read never gives more than the budget. While probing it gives only what has arrived.
func (w *watched) Read(b []byte) (int, error) {
	if w.probing && !w.arrived() {
		return 0, os.ErrDeadlineExceeded // crypto/tls takes it as temporary: the connection stays good
	}
	if w.budget <= 0 {
		return 0, errTooLong
	}
	n, err := w.Conn.Read(b[:min(int64(len(b)), w.budget)])
	w.budget -= int64(n)
	return n, err
}

func (w *watched) arrived() bool {
	tcp, ok := w.Conn.(*net.TCPConn)
	return ok && pending(tcp)
}

// mark starts the count of a call. TLS has shaken hands by then, so handshake bytes never count.
func (w *watched) mark(guard func() error) {
	w.written, w.budget, w.guard = 0, maxAnswer, guard
}

// dial opens one connection and shakes hands within the connect time-out. Nothing else in this package dials.
func (s *Session) dial(ctx context.Context, address string) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	dial := s.cfg.dial
	if dial == nil {
		d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: sendingBound, Interval: 5 * time.Second, Count: 3}}
		dial = d.DialContext
	}
	s.dials++
	raw, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, dialCause(err)
	}
	w, err := s.shakeHands(ctx, raw, address)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return w, nil
}

// dialCause takes off what the net package says beside the cause of a failed dial, "dial tcp 192.0.2.7:443: connect: ": who
// reports the failure has named the act and the address.
func dialCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

func (s *Session) shakeHands(ctx context.Context, raw net.Conn, address string) (*wire, error) {
	if tcp, ok := raw.(*net.TCPConn); ok {
		// Linger 0 makes every close a reset that drops what has not left our kernel: a call that we gave up
		// must not leave this machine later.
		if err := errors.Join(tcp.SetLinger(0), boundSending(tcp)); err != nil {
			return nil, fmt.Errorf("set socket options: %w", err)
		}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	under := &watched{Conn: raw, budget: maxAnswer}
	secure := tls.Client(under, s.trust.config(host))
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w%s", err, trustAdvice(err))
	}
	return newWire(under, secure, address)
}
