// Package linear holds histories of concurrent calls to the portal's deposits API against one simple sequential book.
// The service is the real one: its listener, its API, its store with fsync. Clients that lose their connection leave
// operations without an end, which may have happened or not, at any later time. A history for which no order explains
// every answer is a failure.
package linear

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The calls.
const (
	opMake  = "make"
	opRead  = "read"
	opClose = "close"
	opList  = "list"
)

// slots is how many idempotency keys a client uses. Slots 0 and 1 want the same deposit code under two keys; slot 3
// leaves the code to the service.
const (
	slots     = 4
	drawnSlot = 3
)

// wish is what a client asked. Clients do not share logins or codes, so each is a history of its own.
type wish struct {
	call    string
	client  int
	slot    int    // of a make
	variant int    // of a make: 1 or 2, the body that goes with the key
	code    string // of a make: what the deposit will be called; of a read and a close: which one is meant
}

// answer is what the client was told.
type answer struct {
	none     bool // the connection was lost: nothing was told
	status   int
	code     string // the problem's code
	replayed bool
	deposits []shown // one for a deposit, any number for a list
	body     string
}

// shown is a deposit as an answer shows it.
type shown struct {
	code, state string
	minor       int
}

// minorOf is the amount that a client asks for under a slot and variant: an amount tells which wish it came from.
func minorOf(slot, variant int) int { return 100*(slot+1) + variant }

// kept is what the book holds under a key.
type kept struct {
	variant int // 0: nothing
	code    string
	closed  bool
	body    string // the first answer; "" while no client has seen it
}

func (k kept) shown() shown {
	s := shown{code: k.code, state: "open"}
	if k.closed {
		s.state = "closed"
	}
	return s
}

// book is one client's part of the store: by slot.
type book [slots]kept

// find is the slot that holds the code, or -1.
func (b book) find(code string) int {
	return slices.IndexFunc(b[:], func(k kept) bool { return k.variant != 0 && k.code == code })
}

// step is the sequential specification: what the API promises when one call is made at a time.
func step(b book, w wish, a answer) (bool, book) {
	if !a.none && a.status == 503 {
		return true, b // "busy": promised to have changed nothing
	}
	switch w.call {
	case opMake:
		return makeDeposit(b, w, a)
	case opRead:
		i := b.find(w.code)
		return a.none || told(b, i, a), b
	case opClose:
		i := b.find(w.code)
		if i >= 0 {
			b[i].closed = true
		}
		return a.none || told(b, i, a), b
	default:
		return a.none || slices.Equal(b.all(), a.deposits), b
	}
}

// makeDeposit is POST under an idempotency key: the first one makes, the same again is told the same, another body is
// refused, and a code that another deposit has is refused without using the key up.
func makeDeposit(b book, w wish, a answer) (bool, book) {
	had := b[w.slot]
	switch holder := b.find(w.code); {
	case had.variant == 0 && holder >= 0:
		return a.none || a.status == 422 && a.code == "code_taken", b
	case had.variant != 0 && had.variant != w.variant:
		return a.none || a.status == 422 && a.code == "idempotency_key_reused", b
	case had.variant == 0:
		b[w.slot] = kept{variant: w.variant, code: w.code, body: a.body}
		want := shown{w.code, "open", minorOf(w.slot, w.variant)}
		return a.none || a.status == 201 && !a.replayed && slices.Equal(a.deposits, []shown{want}), b
	}
	if a.none {
		return true, b
	}
	if had.body == "" {
		b[w.slot].body = a.body
	}
	first := shown{had.code, "open", minorOf(w.slot, had.variant)} // as it was when it was made
	return a.status == 201 && a.replayed && slices.Equal(a.deposits, []shown{first}) && a.body == b[w.slot].body, b
}

// told is whether the answer shows the deposit of the slot as it stands; of -1, that there is none.
func told(b book, slot int, a answer) bool {
	if slot < 0 {
		return a.status == 404 && a.code == "not_found"
	}
	want := b[slot].shown()
	want.minor = minorOf(slot, b[slot].variant)
	return a.status == 200 && slices.Equal(a.deposits, []shown{want})
}

// all is what a list of the client's deposits shows, by code.
func (b book) all() []shown {
	var out []shown
	for i, k := range b {
		if k.variant != 0 {
			s := k.shown()
			s.minor = minorOf(i, k.variant)
			out = append(out, s)
		}
	}
	slices.SortFunc(out, byCode)
	return out
}

func byCode(a, b shown) int { return cmp.Compare(a.code, b.code) }

// model is the specification in the checker's terms.
var model = porcupine.Model{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		by := map[int][]porcupine.Operation{}
		for _, o := range all {
			c := o.Input.(wish).client
			by[c] = append(by[c], o)
		}
		var out [][]porcupine.Operation
		for _, part := range by {
			out = append(out, part)
		}
		return out
	},
	Init: func() any { return book{} },
	Step: func(state, input, output any) (bool, any) {
		ok, next := step(state.(book), input.(wish), output.(answer))
		return ok, next
	},
	DescribeOperation: func(input, output any) string {
		return describe(input.(wish), output.(answer))
	},
}

func describe(w wish, a answer) string {
	ask := fmt.Sprintf("client %d: %s %s", w.client, w.call, w.code)
	if w.call == opMake {
		ask = fmt.Sprintf("client %d: make %s under key %d with body %d", w.client, w.code, w.slot, w.variant)
	}
	if a.none {
		return ask + " -> no answer"
	}
	var said []string
	for _, d := range a.deposits {
		said = append(said, fmt.Sprintf("%s %s %d", d.code, d.state, d.minor))
	}
	return fmt.Sprintf("%s -> %d %s %s replayed %v", ask, a.status, a.code, strings.Join(said, ", "), a.replayed)
}
