package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// The layout is that of go.etcd.io/bbolt v1.5.0, internal/common: page.go, meta.go, bucket.go, inode.go. Numbers are in the machine's own order.
const (
	headerSize  = 16 // id 8, flags 2, count 2, overflow 4
	elementSize = 16 // of a branch: position 4, key size 4, page 8; of a leaf: flags 4, position 4, key size 4, value size 4
	bucketSize  = 16 // root 8, sequence 8
	idSize      = 8  // of a page in the list of free pages

	isBranch   = 0x01
	isLeaf     = 0x02
	isMeta     = 0x04
	isFreelist = 0x10
	isBucket   = 0x01 // flag of a leaf's element

	magic      = 0xED0CDAED
	version    = 2
	metaEnd    = 80 // of header and meta together; the checksum is the last 8 bytes
	noFreelist = ^uint64(0)

	smallestPage, largestPage = 1 << 10, 1 << 24 // page sizes that bbolt looks for
)

var order = binary.NativeEndian

// head is what a meta page says.
type head struct {
	pageSize uint64
	root     uint64 // page of the root bucket
	freelist uint64 // noFreelist: none is kept
	high     uint64 // all pages are below
	tx       uint64
}

// readHeads finds both meta pages and takes the one that bbolt takes: the newest that is whole.
func (l *look) readHeads() bool {
	first, err := l.readHead(0)
	if err == nil {
		second, err := l.readHead(first.pageSize)
		return l.take(first, second, 1, err)
	}
	for at := uint64(smallestPage); at <= largestPage; at <<= 1 {
		if second, other := l.readHead(at); other == nil && second.pageSize == at {
			return l.take(second, second, 0, err)
		}
	}
	l.find("head: page 0: %s, and page 1 is not whole either", err)
	return false
}

// take settles on a head; err is what is wrong with the other page.
func (l *look) take(one, other head, page int, err error) bool {
	l.head = one
	if err != nil && !l.branches {
		l.find("head: page %d: %s: what the last transaction wrote may be missing", page, err)
	}
	if err == nil && other.tx > one.tx {
		l.head = other
	}
	if there := uint64(l.size) / l.head.pageSize; l.head.high > there || l.head.high < 4 {
		l.find("head: it names %d pages, the file has %d", l.head.high, there)
		return false
	}
	return true
}

func (l *look) readHead(at uint64) (h head, err error) {
	b, err := l.read(at, metaEnd)
	if err != nil {
		return h, err
	}
	meta := b[headerSize:]
	sum := fnv.New64a()
	sum.Write(meta[:len(meta)-8])
	h = head{
		pageSize: uint64(order.Uint32(meta[8:])), root: order.Uint64(meta[16:]), freelist: order.Uint64(meta[32:]),
		high: order.Uint64(meta[40:]), tx: order.Uint64(meta[48:]),
	}
	switch {
	case order.Uint32(meta) != magic || order.Uint32(meta[4:]) != version:
		return h, errors.New("it is no head of a bbolt file")
	case order.Uint64(meta[56:]) != sum.Sum64():
		return h, errors.New("its checksum does not match")
	case h.pageSize < smallestPage || h.pageSize > largestPage || h.pageSize&(h.pageSize-1) != 0:
		return h, fmt.Errorf("its page size is %d", h.pageSize)
	}
	return h, nil
}

// checkHeaders looks at what stands before the two heads, which no checksum covers.
func (l *look) checkHeaders() {
	for id := range uint64(2) {
		if p, ok := l.header(id); ok && p.flags != isMeta {
			l.find("page %d: its flags are %#x, not those of a head", id, p.flags)
		}
	}
}

// readFree reads the list of free pages.
func (l *look) readFree() {
	id := l.head.freelist
	if id == noFreelist {
		return
	}
	if !l.claim(id, "the head") {
		return
	}
	p, ok := l.header(id)
	if !ok || !l.claimRest(p) {
		return
	}
	if p.flags != isFreelist {
		l.find("page %d: its flags are %#x, not those of the list of free pages", id, p.flags)
		return
	}
	at, n := l.offset(id)+headerSize, uint64(p.count)
	if n == 0xFFFF { // the number does not fit into the header and comes first
		b, err := l.read(at, idSize)
		if err != nil {
			l.find("page %d: %s", id, err)
			return
		}
		at, n = at+idSize, order.Uint64(b)
	}
	if end := l.offset(id) + l.room(p); n > (end-at)/idSize {
		l.find("page %d: it lists %d free pages, and has room for %d", id, n, (end-at)/idSize)
		return
	}
	l.readFreeIDs(id, at, n)
}

func (l *look) readFreeIDs(id, at, n uint64) {
	const most = 1 << 16 // ids in memory at once
	for n > 0 {
		some := min(n, most)
		b, err := l.read(at, some*idSize)
		if err != nil {
			l.find("page %d: %s", id, err)
			return
		}
		for i := range some {
			free := order.Uint64(b[i*idSize:])
			switch {
			case free < 2 || free >= l.head.high:
				l.find("page %d: it lists page %d as free, and pages 2 to %d are there", id, free, l.head.high-1)
			case l.free.has(free) || l.used.has(free):
				l.find("page %d: it lists page %d as free, which it is not, or is twice", id, free)
			default:
				l.free.set(free)
			}
		}
		at, n = at+some*idSize, n-some
	}
}
