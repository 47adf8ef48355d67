package readertest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/recon/readertest"
)

// verdicts takes what the suite says of a reader in place of the test.
type verdicts struct {
	testing.TB
	said []string
}

func (v *verdicts) Error(args ...any) { v.said = append(v.said, fmt.Sprint(args...)) }
func (v *verdicts) Errorf(format string, args ...any) {
	v.said = append(v.said, fmt.Sprintf(format, args...))
}

// toy reads a file of one row; each field breaks one promise.
type toy struct {
	miscounts, forgetsTime, elsewhere, keepsRows, ownError, swallows, readsOn bool
}

func (r toy) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	text, err := io.ReadAll(in)
	s := recon.Statement{Digest: strings.Repeat("d", 64), Format: "toy", Rows: 1}
	switch {
	case err != nil && r.swallows:
		return s, nil
	case err != nil:
		return recon.Statement{}, err
	case string(text) == "bad" && r.ownError:
		return recon.Statement{}, errors.New("bad")
	case string(text) == "bad":
		if !r.keepsRows {
			s = recon.Statement{}
		}
		return s, &recon.FileError{Name: "toy.csv", Row: 7, Text: "it is bad"}
	case ctx.Err() != nil && !r.readsOn:
		return recon.Statement{}, ctx.Err()
	}
	net, err := credit.Minor(500, "USD", 2)
	if err != nil {
		return recon.Statement{}, err
	}
	l := recon.Line{Row: 1, Type: recon.LineFee, Net: net, At: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	if r.forgetsTime {
		l.At = time.Time{}
	}
	if r.elsewhere {
		l.At = l.At.In(time.FixedZone("UTC+3", 3*60*60))
	}
	if r.miscounts {
		s.Rows = 2
	}
	if err := emit(l); err != nil && !r.swallows {
		return recon.Statement{}, err
	}
	return s, nil
}

func TestSuite_SaysWhichPromiseAReaderBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reader toy
		says   []string // none: it keeps them all
	}{
		"keeps all":               {toy{}, nil},
		"counts wrongly":          {toy{miscounts: true}, []string{"1 lines came, and the statement counts 2 rows"}},
		"a line without a time":   {toy{forgetsTime: true}, []string{"a line without its facts"}},
		"a time of another zone":  {toy{elsewhere: true}, []string{"a line without its facts"}},
		"keeps rows of a refusal": {toy{keepsRows: true}, []string{"a refused file says"}},
		"an error of its own":     {toy{ownError: true}, []string{"another error than the refusal of a file: bad", "want the refusal of a file"}},
		"passes over errors":      {toy{swallows: true}, []string{"an error of the caller", "a disk that fails", "a disk that fails", "a disk that fails"}},
		"reads on":                {toy{readsOn: true}, []string{"a context that has ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &verdicts{TB: t}
			_, lines := readertest.Whole(v, c.reader, "good")
			_, _, err := readertest.Read(v, c.reader, "bad")
			if refusal := readertest.Refusal(v, err); len(lines) != 1 || refusal.Row != 7 && !c.reader.ownError {
				t.Errorf("%d lines, %v", len(lines), refusal)
			}
			readertest.ReturnsErrorsAsTheyAre(v, c.reader, "good")
			if len(v.said) != len(c.says) {
				t.Fatalf("the suite says %q, want %q", v.said, c.says)
			}
			for i, want := range c.says {
				if !strings.Contains(v.said[i], want) {
					t.Errorf("the suite says %q, want %q", v.said[i], want)
				}
			}
		})
	}
}
