package pages

import "fmt"

// tree is one bucket's. Its leaves lie on one level.
type tree struct {
	leaves int  // depth of the leaves; 0: not known yet
	top    bool // the file's own: all that is in it are buckets, and it alone may be empty (an empty bucket lies in its value)
}

// place is a page that waits to be looked at.
type place struct {
	id    uint64
	depth int // 1: the bucket's root
	tree  *tree
}

func (l *look) push(id uint64, by string, depth int, t *tree) {
	if l.claim(id, by) {
		l.open = append(l.open, place{id, depth + 1, t})
	}
}

func (l *look) visit(at place) {
	if l.branches && at.tree.leaves == at.depth && !at.tree.top {
		return
	}
	if at.depth > deepest {
		l.find("page %d: it lies %d levels deep", at.id, at.depth)
		return
	}
	p, ok := l.header(at.id)
	if !ok || !l.claimRest(p) {
		return
	}
	switch p.flags {
	case isBranch:
		l.branch(p, at)
	case isLeaf:
		if at.tree.leaves == 0 {
			at.tree.leaves = at.depth
		}
		l.leaf(p, at.tree.top)
	default:
		l.find("page %d: its flags are %#x, those of neither a branch nor a leaf", p.id, p.flags)
	}
}

// table reads the elements of a page, copied: what they lead to is read while they are walked.
func (l *look) table(p header) ([]byte, bool) {
	n := uint64(p.count) * elementSize
	if n > l.room(p)-headerSize {
		l.find("page %d: it has %d elements, and room for %d", p.id, p.count, (l.room(p)-headerSize)/elementSize)
		return nil, false
	}
	b, err := l.read(l.offset(p.id)+headerSize, n)
	if err != nil {
		l.find("page %d: %s", p.id, err)
		return nil, false
	}
	return append([]byte(nil), b...), true
}

func (l *look) branch(p header, at place) {
	if p.count == 0 {
		l.find("page %d: it is a branch and leads nowhere", p.id)
		return
	}
	b, ok := l.table(p)
	if !ok {
		return
	}
	name := fmt.Sprintf("page %d", p.id)
	w := written{who: name, next: headerSize + uint64(len(b)), end: l.room(p)}
	children := make([]uint64, 0, p.count)
	for i := range uint64(p.count) {
		e := b[i*elementSize:]
		if err := w.element(i, order.Uint32(e), order.Uint32(e[4:]), 0); err != nil {
			l.find("%s", err)
			return
		}
		children = append(children, order.Uint64(e[8:]))
	}
	waiting := len(l.open)
	for _, id := range children {
		l.push(id, name, at.depth, at.tree)
	}
	for i, j := waiting, len(l.open)-1; i < j; i, j = i+1, j-1 { // the first is looked at first
		l.open[i], l.open[j] = l.open[j], l.open[i]
	}
}

func (l *look) leaf(p header, top bool) {
	if p.count == 0 && !top {
		l.find("page %d: it is a leaf and holds nothing", p.id)
		return
	}
	b, ok := l.table(p)
	if !ok {
		return
	}
	w := written{who: fmt.Sprintf("page %d", p.id), next: headerSize + uint64(len(b)), end: l.room(p)}
	for i := range uint64(p.count) {
		e := b[i*elementSize:]
		flags, key, value := order.Uint32(e), order.Uint32(e[8:]), order.Uint32(e[12:])
		if err := w.element(i, order.Uint32(e[4:]), key, value); err != nil {
			l.find("%s", err)
			return
		}
		switch {
		case flags == isBucket:
			l.bucket(p, i, w.next-uint64(value), uint64(value))
		case flags != 0 || top:
			l.find("page %d: element %d has the flags %#x", p.id, i, flags)
		}
	}
}

// bucket looks at the value of a bucket, which begins at a byte of the page.
func (l *look) bucket(p header, i, at, size uint64) {
	who := fmt.Sprintf("page %d: element %d, a bucket,", p.id, i)
	if size < bucketSize || size > l.head.pageSize { // one within a value has a quarter of a page at most
		l.find("%s has %d bytes", who, size)
		return
	}
	b, err := l.read(l.offset(p.id)+at, size)
	if err != nil {
		l.find("page %d: %s", p.id, err)
		return
	}
	switch root := order.Uint64(b); {
	case root != 0 && size == bucketSize:
		l.push(root, who, 0, &tree{})
	case root != 0:
		l.find("%s has its pages elsewhere, and %d bytes", who, size)
	default:
		if err := within(who, b[bucketSize:]); err != nil {
			l.find("%s", err)
		}
	}
}

// within looks at the page of a bucket that is so small that it lies in the value: a leaf without buckets, which fills it.
func within(who string, b []byte) error {
	if len(b) < headerSize {
		return fmt.Errorf("%s has no room for its page", who)
	}
	flags, count := order.Uint16(b[8:]), uint64(order.Uint16(b[10:]))
	if flags != isLeaf {
		return fmt.Errorf("%s has a page with the flags %#x, not those of a leaf", who, flags)
	}
	w := written{who: who, next: headerSize + count*elementSize, end: uint64(len(b))}
	if w.next > w.end {
		return fmt.Errorf("%s has %d elements, and room for %d", who, count, (w.end-headerSize)/elementSize)
	}
	for i := range count {
		e := b[headerSize+i*elementSize:]
		if flags := order.Uint32(e); flags != 0 {
			return fmt.Errorf("%s has an element with the flags %#x", who, flags)
		}
		if err := w.element(i, order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])); err != nil {
			return err
		}
	}
	if w.next != w.end {
		return fmt.Errorf("%s ends %d bytes before its value does", who, w.end-w.next)
	}
	return nil
}

// written follows the keys and values of a page as bbolt writes them: one after the other, behind the elements.
type written struct {
	who  string
	next uint64 // byte of the page at which the next key begins
	end  uint64
}

// element takes one element; pos counts from the element itself.
func (w *written) element(i uint64, pos, key, value uint32) error {
	begin, size := headerSize+i*elementSize+uint64(pos), uint64(key)+uint64(value)
	switch {
	case begin != w.next:
		return fmt.Errorf("%s: element %d begins at byte %d, and what is before it ends at byte %d", w.who, i, begin, w.next)
	case key == 0:
		return fmt.Errorf("%s: element %d has an empty key", w.who, i)
	case size > w.end-begin:
		return fmt.Errorf("%s: element %d has %d bytes, and room for %d", w.who, i, size, w.end-begin)
	}
	w.next = begin + size
	return nil
}
