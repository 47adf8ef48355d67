package recon

import (
	"context"
	"encoding/binary"
	"iter"
)

// shelfMemory is small: a shelf is written once and read once, in the order in which it came.
const shelfMemory = 8 << 20

// shelf keeps one list of a run until the others are there.
type shelf[T any] struct {
	spool  *spool
	packer *packer
	pack   func(*packer, *T)
	unpack func(*unpacker) T
	key    []byte
	count  uint64
}

func newShelf[T any](ctx context.Context, dir string, pack func(*packer, *T), unpack func(*unpacker) T) *shelf[T] {
	s := newSpool(ctx, dir, shelfMemory)
	return &shelf[T]{spool: s, packer: s.packer(), pack: pack, unpack: unpack}
}

// add puts a value behind the others.
func (s *shelf[T]) add(v T) error {
	s.packer.buf = s.packer.buf[:0]
	s.pack(s.packer, &v)
	s.key = binary.BigEndian.AppendUint64(s.key[:0], s.count)
	s.count++
	return s.spool.put(s.key, s.packer.buf)
}

// all gives the values in the order in which they came; once.
func (s *shelf[T]) all() iter.Seq2[T, error] { return ahead(s.spool, s.unpack) }

func (s *shelf[T]) close() error { return s.spool.close() }
