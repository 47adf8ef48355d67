package recon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// spoolMemory is what one list takes of memory while it is sorted: two pieces, one that fills and one that is sorted and written. Larger ones
// were measured to be no faster: they leave the processor's cache.
const spoolMemory = 16 << 20

// mostRuns is how many sorted pieces are merged at once, each with a reading buffer; more are merged into one before.
const (
	mostRuns   = 128
	readBuffer = 128 << 10
)

// spool sorts records by their keys, bytewise, whatever their number: pieces are sorted in memory and written to one temporary file, and
// merged when they are read. A list that fits into one piece never touches the disk. Records with equal keys come in any order.
// put and sorted are called from one goroutine.
type spool struct {
	ctx   context.Context
	dir   string
	limit int // bytes of a piece

	words *dictionary
	fill  piece
	spare chan piece // the other piece, when nothing is written
	file  *os.File
	size  int64
	runs  []run
	err   error // of the piece that was written last; read after spare
	count int
}

// run is a sorted stretch of the file.
type run struct{ from, to int64 }

// piece is a part of the list in memory.
type piece struct {
	bytes []byte
	slots []slot
}

// slot is one record of a piece: its key, followed by its value.
type slot struct{ at, key, value uint32 }

const slotSize = 12

// room makes room for a record; what grows doubles, up to about the size of a piece.
func (p *piece) room(need, limit int) {
	if len(p.bytes)+need > cap(p.bytes) {
		p.bytes = slices.Grow(p.bytes, max(need, min(cap(p.bytes), limit-len(p.bytes)), 4<<10))
	}
	if len(p.slots) == cap(p.slots) {
		p.slots = slices.Grow(p.slots, max(len(p.slots), 64))
	}
}

func newSpool(ctx context.Context, dir string, memory int) *spool {
	s := &spool{ctx: ctx, dir: dir, limit: max(memory/2, 1<<10), words: newDictionary(), spare: make(chan piece, 1)}
	s.spare <- piece{}
	return s
}

// packer writes values with the words of this list. The buffer is its own.
func (s *spool) packer() *packer { return &packer{words: s.words} }

// put adds a record; both parts are copied.
func (s *spool) put(key, value []byte) error {
	if s.count++; s.count%1024 == 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	need := len(key) + len(value)
	if len(s.fill.slots) > 0 && len(s.fill.bytes)+need+(len(s.fill.slots)+1)*slotSize > s.limit {
		if err := s.write(); err != nil {
			return err
		}
	}
	s.fill.room(need, s.limit)
	s.fill.slots = append(s.fill.slots, slot{uint32(len(s.fill.bytes)), uint32(len(key)), uint32(len(value))})
	s.fill.bytes = append(append(s.fill.bytes, key...), value...)
	return nil
}

// write hands the full piece over to be sorted and written, and goes on with the other one.
func (s *spool) write() error {
	next, err := s.wait()
	if err != nil {
		return err
	}
	full := s.fill
	s.fill = piece{next.bytes[:0], next.slots[:0]}
	go func() {
		s.err = s.writeRun(full)
		s.spare <- full
	}()
	return nil
}

// wait ends when nothing is written any more, and takes the spare piece.
func (s *spool) wait() (piece, error) {
	spare := <-s.spare
	if s.err != nil {
		s.spare <- spare
		return piece{}, s.err
	}
	return spare, nil
}

func (s *spool) writeRun(p piece) error {
	if err := s.open(); err != nil {
		return err
	}
	if err := roomOnDisk(s.ctx, int64(len(p.bytes)+len(p.slots)*2*binary.MaxVarintLen32)); err != nil {
		return s.failed(err)
	}
	p.sort()
	from := s.size
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, from), 1<<20)
	for _, e := range p.slots {
		if err := writeRecord(w, p.bytes[e.at:e.at+e.key], p.bytes[e.at+e.key:e.at+e.key+e.value], &s.size); err != nil {
			return s.failed(err)
		}
	}
	if err := w.Flush(); err != nil {
		return s.failed(err)
	}
	s.runs = append(s.runs, run{from, s.size})
	if len(s.runs) == mostRuns {
		return s.mergeRuns()
	}
	return nil
}

func writeRecord(w *bufio.Writer, key, value []byte, size *int64) error {
	var head [2 * binary.MaxVarintLen32]byte
	n := binary.PutUvarint(head[:], uint64(len(key)))
	n += binary.PutUvarint(head[n:], uint64(len(value)))
	*size += int64(n + len(key) + len(value))
	_, _ = w.Write(head[:n]) // an error stays until the last write and the flush
	_, _ = w.Write(key)
	_, err := w.Write(value)
	return err
}

// mergeRuns makes one run of all, so that the number of reading buffers stays bounded.
func (s *spool) mergeRuns() error {
	if err := roomOnDisk(s.ctx, s.size); err != nil {
		return s.failed(err)
	}
	from := s.size
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, from), 1<<20)
	for record, err := range s.merge(s.runs) {
		if err == nil {
			err = writeRecord(w, record.key, record.value, &s.size)
		}
		if err != nil {
			return s.failed(err)
		}
	}
	if err := w.Flush(); err != nil {
		return s.failed(err)
	}
	s.runs = []run{{from, s.size}}
	return nil
}

func (s *spool) open() error {
	if s.file != nil {
		return nil
	}
	f, err := os.CreateTemp(s.dir, "list-")
	if err != nil {
		return s.failed(err)
	}
	// Where the system allows it the file has no name from here on: nothing is left, however the process ends. Elsewhere the folder's removal takes it.
	_ = os.Remove(f.Name())
	s.file = f
	return nil
}

func (s *spool) failed(err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return fmt.Errorf("sort a list in the folder %s: %w", s.dir, err)
}

// sort puts the slots in the order of the keys. Keys of a list begin alike; what they have in common is skipped.
func (p piece) sort() {
	if len(p.slots) < 2 {
		return
	}
	key := func(e slot) []byte { return p.bytes[e.at : e.at+e.key] }
	common := len(key(p.slots[0]))
	for _, e := range p.slots[1:] {
		common = sharedPrefix(key(p.slots[0])[:common], key(e))
	}
	skip := uint32(common)
	slices.SortFunc(p.slots, func(a, b slot) int {
		return bytes.Compare(p.bytes[a.at+skip:a.at+a.key], p.bytes[b.at+skip:b.at+b.key])
	})
}

func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// record is one record as it is read; both parts are valid until the next one.
type record struct{ key, value []byte }

// sorted yields the records in the order of their keys. Nothing can be put afterwards, and it is read once.
func (s *spool) sorted() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		_, err := s.wait()
		if err != nil {
			yield(record{}, err)
			return
		}
		if len(s.runs) == 0 {
			s.spare <- piece{}
			s.fromMemory(yield)
			return
		}
		if len(s.fill.slots) > 0 {
			err = s.writeRun(s.fill)
		}
		s.fill = piece{}
		s.spare <- piece{}
		if err != nil {
			yield(record{}, err)
			return
		}
		s.merge(s.runs)(yield)
	}
}

func (s *spool) fromMemory(yield func(record, error) bool) {
	p := s.fill
	p.sort()
	for i, e := range p.slots {
		if i%1024 == 0 && s.ctx.Err() != nil {
			yield(record{}, s.ctx.Err())
			return
		}
		if !yield(record{p.bytes[e.at : e.at+e.key], p.bytes[e.at+e.key : e.at+e.key+e.value]}, nil) {
			break
		}
	}
	s.fill = piece{}
}

// source is a run that is being read.
type source struct {
	in *bufio.Reader
	record
	buf []byte
}

// next reads a record; false at the end.
func (s *source) next() (bool, error) {
	key, err := binary.ReadUvarint(s.in)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	value, err := binary.ReadUvarint(s.in)
	if err != nil {
		return false, errPacked
	}
	s.buf = slices.Grow(s.buf[:0], int(key+value))[:key+value]
	if _, err := io.ReadFull(s.in, s.buf); err != nil {
		return false, errPacked
	}
	s.key, s.value = s.buf[:key], s.buf[key:]
	return true, nil
}

// merge yields the records of several runs in order.
func (s *spool) merge(runs []run) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		heap := make([]*source, 0, len(runs))
		for _, r := range runs {
			src := &source{in: bufio.NewReaderSize(io.NewSectionReader(s.file, r.from, r.to-r.from), readBuffer)}
			more, err := src.next()
			if err != nil {
				yield(record{}, s.failed(err))
				return
			}
			if more {
				heap = append(heap, src)
			}
		}
		slices.SortFunc(heap, func(a, b *source) int { return bytes.Compare(a.key, b.key) })
		for n := 0; len(heap) > 0; n++ {
			if n%1024 == 0 && s.ctx.Err() != nil {
				yield(record{}, s.ctx.Err())
				return
			}
			if !yield(heap[0].record, nil) {
				return
			}
			more, err := heap[0].next()
			if err != nil {
				yield(record{}, s.failed(err))
				return
			}
			if !more {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
			}
			sink(heap)
		}
	}
}

// sink lets the first source of the heap go down to its place.
func sink(heap []*source) {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && bytes.Compare(heap[child+1].key, heap[child].key) < 0 {
			child++
		}
		if bytes.Compare(heap[i].key, heap[child].key) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// close waits until nothing is written any more and gives everything back. Nobody may be reading; it may be called twice.
func (s *spool) close() error {
	<-s.spare
	s.spare <- piece{}
	s.fill, s.runs = piece{}, nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
