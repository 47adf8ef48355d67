package pages

import (
	"fmt"
	"io"
)

// Report is what was found.
type Report struct {
	Read     int      // pages that were looked at
	Findings []string // sentences that name the page; empty: all that was read is sound
	More     int      // findings beyond those listed
}

// Clean tells that nothing was found.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// mostFindings bounds the report of a file that is damaged throughout.
const mostFindings = 1000

// deepest is more levels than a tree of 2^64 pages has, each branch of which holds two or more.
const deepest = 64

// Whole looks at every page in use: header, bounds and order of the elements, positions and sizes, page numbers below the head's
// mark, each page used once and none of them free, no circle; and the pages of small buckets, which lie in a value. It reads
// elements and not what they hold: order of keys and pages that nobody uses are for bbolt's own check. Nobody may write to the file
// meanwhile. The memory is some bits for each page.
func Whole(file io.ReaderAt, size int64) Report { return walkAll(file, size, false) }

// Branches is [Whole] without the leaves, of which it looks at one a bucket, and compares the numbers of the others alone: a hundredth of
// the reading, for those who open a file to work with it. What it passes has no circle, and every leaf can be found, in all buckets but
// those within a bucket. One of the two heads may be torn, as a power cut leaves it: the other is the state before, and is whole.
func Branches(file io.ReaderAt, size int64) Report { return walkAll(file, size, true) }

// look is one pass over a file.
type look struct {
	file     io.ReaderAt
	size     int64
	head     head
	used     bits
	free     bits
	branches bool
	buf      []byte
	open     []place // pages that are claimed and not looked at yet
	report   Report
}

func walkAll(file io.ReaderAt, size int64, branches bool) Report {
	l := &look{file: file, size: size, branches: branches}
	if !l.readHeads() {
		return l.report
	}
	l.used, l.free = newBits(l.head.high), newBits(l.head.high)
	l.used.set(0)
	l.used.set(1)
	l.checkHeaders()
	l.readFree()
	l.push(l.head.root, "the head", 0, &tree{top: true})
	for len(l.open) > 0 {
		at := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		l.visit(at)
	}
	return l.report
}

func (l *look) find(format string, args ...any) {
	if len(l.report.Findings) >= mostFindings {
		l.report.More++
		return
	}
	l.report.Findings = append(l.report.Findings, fmt.Sprintf(format, args...))
}

// read returns some bytes of the file; they are there until the next call.
func (l *look) read(at, n uint64) ([]byte, error) {
	if uint64(l.size) < n || at > uint64(l.size)-n {
		return nil, fmt.Errorf("the file ends before byte %d", at+n)
	}
	if uint64(len(l.buf)) < n {
		l.buf = make([]byte, n)
	}
	b := l.buf[:n]
	if got, err := l.file.ReadAt(b, int64(at)); got < len(b) {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return b, nil
}

// header is what stands at the beginning of a page.
type header struct {
	id       uint64 // where it stands
	flags    uint16
	count    uint16
	overflow uint32
}

func (l *look) offset(id uint64) uint64 { return id * l.head.pageSize }

// room is how many bytes a page has with those that continue it.
func (l *look) room(p header) uint64 { return (1 + uint64(p.overflow)) * l.head.pageSize }

// header reads the header of a page whose number is known to be in the file.
func (l *look) header(id uint64) (p header, ok bool) {
	b, err := l.read(l.offset(id), headerSize)
	if err != nil {
		l.find("page %d: %s", id, err)
		return p, false
	}
	l.report.Read++
	p = header{id, order.Uint16(b[8:]), order.Uint16(b[10:]), order.Uint32(b[12:])}
	if named := order.Uint64(b); named != id {
		l.find("page %d: it says that it is page %d", id, named)
		return p, false
	}
	return p, true
}

// claim says that a page is in use, once.
func (l *look) claim(id uint64, by string) bool {
	switch {
	case id < 2 || id >= l.head.high:
		l.find("%s: it leads to page %d, and pages 2 to %d are there", by, id, l.head.high-1)
	case l.used.has(id):
		l.find("%s: it leads to page %d, which something else has already", by, id)
	case l.free.has(id):
		l.find("%s: it leads to page %d, which is listed as free", by, id)
	default:
		l.used.set(id)
		return true
	}
	return false
}

// claimRest claims the pages that continue a page.
func (l *look) claimRest(p header) bool {
	if uint64(p.overflow) >= l.head.high-p.id {
		l.find("page %d: %d pages continue it, and the last page is %d", p.id, p.overflow, l.head.high-1)
		return false
	}
	for i := range uint64(p.overflow) {
		if !l.claim(p.id+1+i, fmt.Sprintf("page %d", p.id)) {
			return false
		}
	}
	return true
}

// bits is a set of page numbers.
type bits []uint64

func newBits(n uint64) bits { return make(bits, n/64+1) }

func (b bits) set(i uint64)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i uint64) bool { return b[i/64]&(1<<(i%64)) != 0 }
