// Package readertest holds what every reader of a provider's statements promises, whatever the format (design §10): a refused file leaves
// nothing behind and says where it is wrong; a file that is taken counts its lines, each with its facts; what the caller returns comes back as it
// is. Only tests import it.
package readertest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

const (
	// mostProblems are the problems that a statement keeps, with the one that says how many more there are.
	mostProblems = 201
	// mostError bounds the text of a refusal: it goes into messages.
	mostError = 1000
)

// Read reads text, and sees that the reader has kept its promises about whatever came of it.
func Read(tb testing.TB, r recon.Reader, text string) (recon.Statement, []recon.Line, error) {
	tb.Helper()
	var lines []recon.Line
	ended := false
	s, err := r.Read(tb.Context(), strings.NewReader(text), func(l recon.Line) error {
		if ended {
			tb.Error("a line behind the end of the reading")
		}
		lines = append(lines, l)
		return nil
	})
	ended = true
	if err != nil {
		refused(tb, s, err)
		return s, lines, err
	}
	if s.Rows != len(lines) || len(s.Digest) != 64 || s.Format == "" || len(s.Problems) > mostProblems {
		tb.Errorf("%d lines came, and the statement counts %d rows; digest %q, format %q, %d problems", len(lines), s.Rows, s.Digest, s.Format, len(s.Problems))
	}
	for _, l := range lines {
		if !l.Net.IsSet() || l.At.IsZero() || l.At.Location() != time.UTC || l.Row < 1 || l.Type == "" || l.Digest != s.Digest && l.Digest != "" {
			tb.Errorf("a line without its facts: %+v", l)
		}
	}
	return s, lines, nil
}

// Whole reads text that must be taken.
func Whole(tb testing.TB, r recon.Reader, text string) (recon.Statement, []recon.Line) {
	tb.Helper()
	s, lines, err := Read(tb, r, text)
	if err != nil {
		tb.Fatal(err)
	}
	return s, lines
}

// refused sees that an error is a refusal of the file, of which nothing stays.
func refused(tb testing.TB, s recon.Statement, err error) {
	tb.Helper()
	var fault *recon.FileError
	if !errors.As(err, &fault) || !errors.Is(err, credit.ErrInvalid) || len(err.Error()) > mostError {
		tb.Errorf("another error than the refusal of a file: %v", err)
	}
	if s.Digest != "" || s.Rows != 0 || s.Totals != nil {
		tb.Errorf("a refused file says %+v", s)
	}
}

// Refusal is the refusal of a file that err must be. Where it is none, that is a failure of the test, and what is returned says nothing.
func Refusal(tb testing.TB, err error) *recon.FileError {
	tb.Helper()
	var fault *recon.FileError
	if !errors.As(err, &fault) {
		tb.Errorf("%v; want the refusal of a file", err)
		return &recon.FileError{}
	}
	return fault
}

// Asks tells that a problem of the row says a text.
func Asks(s recon.Statement, row int, says string) bool {
	return slices.ContainsFunc(s.Problems, func(p recon.Problem) bool { return p.Row == row && strings.Contains(p.Text, says) })
}

// ReturnsErrorsAsTheyAre sees that an error of the caller, of the context and of the disk comes back as itself, and that nothing is read or handed
// over behind it. text is a file that is taken.
func ReturnsErrorsAsTheyAre(tb testing.TB, r recon.Reader, text string) {
	tb.Helper()
	full := errors.New("the disk is full")
	calls := 0
	if _, err := r.Read(tb.Context(), strings.NewReader(text), func(recon.Line) error { calls++; return full }); !errors.Is(err, full) || calls != 1 {
		tb.Errorf("an error of the caller: %v after %d lines", err, calls)
	}
	none := func(recon.Line) error { return nil }
	ctx, cancel := context.WithCancel(tb.Context())
	cancel()
	if _, err := r.Read(ctx, strings.NewReader(text), none); !errors.Is(err, context.Canceled) {
		tb.Errorf("a context that has ended: %v", err)
	}
	for _, at := range []int{0, len(text) / 2, len(text)} {
		in := io.MultiReader(strings.NewReader(text[:at]), iotest.ErrReader(full))
		if s, err := r.Read(tb.Context(), in, none); !errors.Is(err, full) || errors.Is(err, credit.ErrInvalid) || s.Digest != "" {
			tb.Errorf("a disk that fails behind byte %d: %v, %+v", at, err, s)
		}
	}
}
