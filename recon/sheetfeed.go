package recon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// feed is what a sheet's CSV reader reads. Below the decoding it keeps the digest of the bytes as they are in the file; above it, it refuses
// what is no text and stops a row before it fills the memory.
type feed struct {
	in      io.Reader
	started bool
	lines   int   // line ends that were handed on
	row     int   // bytes that were handed on since the last allow
	last    byte  // the last byte that was handed on
	failed  error // what ended the feed; the CSV reader may hide it
}

// The faults of a feed. The sheet gives them file and line.
var (
	errBinary  = errors.New("holds zero bytes: it is no UTF-8 text. UTF-16 must be converted to UTF-8, a spreadsheet must be exported as CSV")
	errUTF16   = errors.New("is UTF-16: export it as UTF-8")
	errTooLong = errors.New("a row is longer than 1 MiB: a quote is not closed here, or this is no CSV file")
	errEmpty   = errors.New("is empty")
)

const (
	maxRow    = 1 << 20 // bytes of one row
	lookahead = 4096    // what the CSV reader's buffer may hold of the next row
)

// allow starts the count of the next row's bytes.
func (s *feed) allow() { s.row = 0 }

func (s *feed) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	if !s.started {
		s.started = true
		if err := s.start(); err != nil {
			s.failed = err
			return 0, err
		}
	}
	n, err := s.in.Read(p)
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		s.lines += bytes.Count(p[:at], []byte{'\n'})
		s.failed = errBinary
		return 0, s.failed
	}
	if s.row += n; s.row > maxRow+lookahead {
		s.failed = errTooLong
		return 0, s.failed
	}
	if n > 0 {
		s.lines += bytes.Count(p[:n], []byte{'\n'})
		s.last = p[n-1]
	}
	if err != nil {
		s.failed = err
	}
	return n, err
}

// start takes a UTF-8 byte order mark away and knows UTF-16 by its own.
func (s *feed) start() error {
	var head [3]byte
	n, err := io.ReadFull(s.in, head[:])
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case n == 0:
		return errEmpty
	case n >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff):
		return errUTF16
	case n == 3 && head == [3]byte{0xef, 0xbb, 0xbf}:
		return nil
	}
	s.in = io.MultiReader(bytes.NewReader(head[:n]), s.in)
	return nil
}

// digest is the SHA-256 of what passed.
type digest struct {
	in   io.Reader
	hash hash.Hash
}

func newDigest(in io.Reader) *digest { return &digest{in: in, hash: sha256.New()} }

func (d *digest) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.hash.Write(p[:n])
	return n, err
}

func (d *digest) hex() string { return hex.EncodeToString(d.hash.Sum(nil)) }
