package mt5

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"creditonce/credit"
)

// apiVersion is what the client says at auth/start; any number from 484 on is accepted (§1.3).
const apiVersion = "3661"

// connect opens a connection, proves both sides and checks the server's name. Only then it becomes the
// session's connection, so that no money can be moved on one that failed a check.
func (s *Session) connect(ctx context.Context) error {
	now := s.cfg.Clock.Boot()
	if err := s.logins.hold(now); err != nil {
		return s.failed("log in", err)
	}
	w, address, err := s.dialAny(ctx)
	if err != nil {
		return s.failed("connect", err)
	}
	if err := s.introduce(ctx, w); err != nil {
		w.reset()
		if ctx.Err() == nil {
			s.logins.failed(s.cfg.Clock.Boot(), err)
		}
		return s.failed("log in at "+address, err)
	}
	s.logins.succeeded()
	s.wire, s.generation, s.accounts = w, s.generation+1, map[uint64]credit.AccountState{}
	s.cfg.Observer.Connected(s.cfg.Label, s.index, address)
	return nil
}

// dialAny tries the addresses in order, beginning with the last good one.
func (s *Session) dialAny(ctx context.Context) (*wire, string, error) {
	var failures error // in one line: it stands in a list's column
	for range s.cfg.Addresses {
		address := s.cfg.Addresses[s.address]
		w, err := s.dial(ctx, address)
		if err == nil {
			return w, address, nil
		}
		if err = fmt.Errorf("%s: %w", address, err); failures == nil {
			failures = err
		} else {
			failures = fmt.Errorf("%w; %w", failures, err)
		}
		s.address = (s.address + 1) % len(s.cfg.Addresses)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, "", failures
}

// introduce authenticates both ways and compares the server's own name with the configured one.
func (s *Session) introduce(ctx context.Context, w *wire) error {
	if err := s.authenticate(ctx, w); err != nil {
		return err
	}
	e, err := s.getOn(ctx, w, "common/get", nil)
	if err != nil {
		return fmt.Errorf("read the server's name: %w", err)
	}
	var common struct{ Name scalar }
	if err := fields(e.answer, &common); err != nil {
		return fmt.Errorf("read the server's name: %w", err)
	}
	if common.Name.text != s.cfg.Identity {
		return &IdentityError{Got: shown(common.Name.text), Want: s.cfg.Identity}
	}
	return nil
}

// IdentityError says that a server gives itself another name than the configured one.
type IdentityError struct{ Got, Want string }

// Error implements error.
func (e *IdentityError) Error() string {
	return fmt.Sprintf("the server calls itself %q, the configuration expects %q: no money moves there; "+
		"correct the address or the identity", e.Got, e.Want)
}

// LoginError says that the server answered and refused the manager: login, password, address or rights.
type LoginError struct{ cause error }

// Error implements error.
func (e *LoginError) Error() string { return e.cause.Error() }

// Unwrap gives the refusal.
func (e *LoginError) Unwrap() error { return e.cause }

// refusedLogin marks a readable refusal of the authentication; every other error stays what it is.
func refusedLogin(err error) error {
	var code *codeError
	var lost *lostError
	if errors.As(err, &code) || errors.As(err, &lost) && lost.refused {
		return &LoginError{cause: err}
	}
	return err
}

// authenticate is auth/start and auth/answer (§1.3, §2). At most 10 s may pass between them.
func (s *Session) authenticate(ctx context.Context, w *wire) error {
	e, err := s.getOn(ctx, w, "auth/start", url.Values{
		"version": {apiVersion}, "agent": {s.cfg.Agent}, "login": {strconv.FormatUint(s.cfg.Manager, 10)}, "type": {"manager"},
	})
	if err != nil {
		return refusedLogin(fmt.Errorf("begin the authentication: %w", err))
	}
	var start struct {
		Rand scalar `json:"srv_rand"`
	}
	if err := fields(e.whole, &start); err != nil {
		return fmt.Errorf("begin the authentication: %w", err)
	}
	challenge, err := hex.DecodeString(start.Rand.text)
	if err != nil || len(challenge) != 16 {
		return errors.New("begin the authentication: the server's challenge is not 32 hex digits")
	}
	return s.prove(ctx, w, challenge)
}

// prove answers the server's challenge and checks its answer to ours.
func (s *Session) prove(ctx context.Context, w *wire, challenge []byte) error {
	hash, err := passwordHash(s.cfg.Password())
	if err != nil {
		return err
	}
	ours := make([]byte, 16)
	if _, err := io.ReadFull(s.cfg.Rand, ours); err != nil {
		return fmt.Errorf("draw a challenge: %w", err)
	}
	e, err := s.getOn(ctx, w, "auth/answer", url.Values{
		"srv_rand_answer": {randAnswer(hash, challenge)}, "cli_rand": {hex.EncodeToString(ours)},
	})
	if err != nil {
		return refusedLogin(fmt.Errorf("authenticate as manager %d: %w", s.cfg.Manager, err))
	}
	var proof struct {
		Answer scalar `json:"cli_rand_answer"`
		Build  scalar `json:"version_trade"`
	}
	if err := fields(e.whole, &proof); err != nil {
		return fmt.Errorf("authenticate as manager %d: %w", s.cfg.Manager, err)
	}
	want := randAnswer(hash, ours)
	if subtle.ConstantTimeCompare([]byte(strings.ToLower(proof.Answer.text)), []byte(want)) != 1 {
		return errors.New("the server could not prove that it knows the manager's password: it is not the MT5 server")
	}
	s.build = shown(proof.Build.text)
	return nil
}

// shown keeps the server's words short in messages.
func shown(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
