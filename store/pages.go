package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	bolt "go.etcd.io/bbolt"
)

// pageFindings checks the pages of the file: first by reading them, then by bbolt's own check, which follows every number that it finds into the mapped
// file, in a goroutine of its own, so that one that leads out of it would end the process. pathless tells
// that the first found something: then nothing may be looked up in the file at all, since bbolt may follow a page for ever, or out of the file.
func pageFindings(b *bolt.DB, file io.ReaderAt) (out []string, pathless bool) {
	defer func() {
		if p := recover(); p != nil {
			out = append(out, fmt.Sprintf("the check ended early (%v)", p))
		}
	}()
	err := b.View(func(tx *bolt.Tx) error {
		w := pageWalk{file: file, size: b.Info().PageSize}
		if w.walk(); len(w.found) > 0 {
			out, pathless = w.found, true
			return nil
		}
		for err := range tx.Check() { // always to the end: the sender waits for its reader
			if len(out) < mostFindings {
				out = append(out, err.Error())
			}
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out, pathless
}

// The layout of a bbolt file, version 2 (its internal/common: page.go, meta.go, bucket.go), in the byte order of the machine. A page's header has the
// page's id, flags, the count of its elements, and how many pages follow that belong to it. An element's place counts from the element.
const (
	pageHeader    = 16
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	elementSize   = 16 // of a branch: place, key length, child; of a leaf: flags, place, key length, value length
	bucketElement = 0x01
	bucketHeader  = 16 // of a bucket's value: its first page, or 0 where that is in the value itself; a sequence
	metaSummed    = 56 // bytes of the head that its checksum covers
	noFreelist    = ^uint64(0)
	countBeyond   = 0xFFFF // of a freelist: the count is the first number
)

// pageWalk reads each page that bbolt's check would follow, and sees that none leads out of the file.
type pageWalk struct {
	file io.ReaderAt
	size int
	end  uint64 // the first page that does not exist
	seen map[uint64]bool
	todo []uint64

	found []string
}

// walk collects the faults.
func (w *pageWalk) walk() {
	head, err := w.head()
	if err != nil {
		w.found = append(w.found, err.Error())
		return
	}
	root, freelist := number(head, 16), number(head, 32)
	w.end, w.seen, w.todo = number(head, 40), map[uint64]bool{}, []uint64{root}
	if freelist != noFreelist {
		if err := w.freelist(freelist); err != nil {
			w.found = append(w.found, fmt.Sprintf("page %d, the list of free pages: %s", freelist, err))
		}
	}
	for len(w.todo) > 0 {
		id := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		p, err := w.page(id)
		if err == nil {
			err = w.follow(p)
		}
		if err != nil && len(w.found) < mostFindings {
			w.found = append(w.found, fmt.Sprintf("page %d: %s", id, err))
		}
	}
}

// head is the newer of the two heads that are whole.
func (w *pageWalk) head() (head []byte, err error) {
	for i := range int64(2) {
		b := make([]byte, pageHeader+metaSummed+8)
		if _, err := w.file.ReadAt(b, i*int64(w.size)); err != nil {
			return nil, fmt.Errorf("read the head of the file: %w", err)
		}
		b = b[pageHeader:]
		sum := fnv.New64a()
		_, _ = sum.Write(b[:metaSummed])
		if sum.Sum64() == number(b, metaSummed) && (head == nil || number(b, 48) > number(head, 48)) {
			head = b
		}
	}
	if head == nil {
		return nil, errors.New("the head of the file is damaged")
	}
	return head, nil
}

// page reads a page with all that belongs to it.
func (w *pageWalk) page(id uint64) ([]byte, error) {
	if id < 2 || id >= w.end {
		return nil, fmt.Errorf("it is not one of the file's %d pages", w.end)
	}
	p := make([]byte, w.size)
	if err := w.read(p, id); err != nil {
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(p[12:]))
	switch {
	case number(p, 0) != id:
		return nil, fmt.Errorf("it says that it is page %d", number(p, 0))
	case more >= w.end-id:
		return nil, fmt.Errorf("it goes on for %d pages, beyond the file's %d", more, w.end)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return nil, errors.New("multiple references")
		}
		w.seen[i] = true
	}
	if more > 0 {
		p = make([]byte, uint64(w.size)*(more+1))
		if err := w.read(p, id); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (w *pageWalk) read(p []byte, id uint64) error {
	if _, err := w.file.ReadAt(p, int64(id)*int64(w.size)); err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	return nil
}

func (w *pageWalk) freelist(id uint64) error {
	p, err := w.page(id)
	if err != nil {
		return err
	}
	count, at := uint64(binary.NativeEndian.Uint16(p[10:])), pageHeader
	if flags := binary.NativeEndian.Uint16(p[8:]); flags != freelistPage {
		return fmt.Errorf("unexpected page type (flags: %x)", flags)
	}
	if count == countBeyond {
		count, at = number(p, at), at+8
	}
	if count > uint64(len(p)-at)/8 {
		return fmt.Errorf("it cannot hold %d numbers", count)
	}
	for i := range int(count) {
		if free := number(p, at+8*i); free < 2 || free >= w.end {
			return fmt.Errorf("page %d is free, and not one of the file's %d pages", free, w.end)
		}
	}
	return nil
}

// follow checks the elements of a page of a bucket, and notes the pages that they lead to.
func (w *pageWalk) follow(p []byte) error {
	flags, count := binary.NativeEndian.Uint16(p[8:]), int(binary.NativeEndian.Uint16(p[10:]))
	if flags != branchPage && flags != leafPage {
		return fmt.Errorf("unexpected page type (flags: %x)", flags)
	}
	if flags == branchPage && count == 0 || pageHeader+count*elementSize > len(p) {
		return fmt.Errorf("it cannot hold %d elements", count)
	}
	for i := range count {
		at := pageHeader + i*elementSize
		place, key, third := half(p, at), half(p, at+4), half(p, at+8)
		var value uint64
		if flags == leafPage {
			place, key, value = key, third, half(p, at+12)
		}
		from := uint64(at) + place
		if from+key+value > uint64(len(p)) {
			return fmt.Errorf("element %d lies beyond the page", i)
		}
		switch {
		case flags == branchPage:
			w.todo = append(w.todo, number(p, at+8))
		case half(p, at)&bucketElement != 0:
			if err := w.bucket(p[from+key : from+key+value]); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
	}
	return nil
}

// bucket follows the value of a bucket's element.
func (w *pageWalk) bucket(value []byte) error {
	if len(value) < bucketHeader {
		return errors.New("a bucket that is too short")
	}
	if root := number(value, 0); root != 0 {
		w.todo = append(w.todo, root)
		return nil
	}
	inside := value[bucketHeader:]
	if len(inside) < pageHeader || binary.NativeEndian.Uint16(inside[8:]) != leafPage {
		return errors.New("a bucket in the page that is none")
	}
	return w.follow(inside)
}

func number(b []byte, at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }

func half(b []byte, at int) uint64 { return uint64(binary.NativeEndian.Uint32(b[at:])) }
