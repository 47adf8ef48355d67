package mt5

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
)

// history is a list of deals that may change, and be shown wrongly, between two requests.
type history struct {
	rows  []row
	plan  []byte // one byte per request says what happens then
	login uint64
	next  uint64
	all   [][]row // the list after every change
}

func newHistory(n int, plan []byte) *history {
	h := &history{login: 7, plan: plan, next: 1}
	for range n {
		h.append()
	}
	h.all = [][]row{slices.Clone(h.rows)}
	return h
}

func (h *history) append() {
	action := 0
	if h.next%3 == 0 {
		action = 2
	}
	h.rows = append(h.rows, row{ticket: h.next, login: h.login, action: action})
	h.next++
}

// turn takes the next byte of the plan; 0, nothing special, when it has run out.
func (h *history) turn() byte {
	if len(h.plan) == 0 {
		return 0
	}
	b := h.plan[0]
	h.plan = h.plan[1:]
	return b
}

// change lets the true list move: rows added at the end, put in late with an older place, or gone in front.
func (h *history) change(b byte) {
	n := int(b >> 4)
	switch b & 15 {
	case 1:
		for range n + 1 {
			h.append()
		}
	case 2:
		if len(h.rows) > 0 {
			h.rows = slices.Delete(h.rows, n%len(h.rows), n%len(h.rows)+1)
		}
	case 3:
		h.append()
		late := h.rows[len(h.rows)-1]
		h.rows = slices.Insert(h.rows[:len(h.rows)-1], n%len(h.rows), late)
	default:
		return
	}
	h.all = append(h.all, slices.Clone(h.rows))
}

func (h *history) total(context.Context) (int, error) {
	b := h.turn()
	h.change(b)
	return len(h.rows), nil
}

// page shows the list, or cuts, repeats, shifts, or mixes it up.
func (h *history) page(_ context.Context, offset, n int) ([]row, error) {
	b := h.turn()
	h.change(b)
	from := min(offset, len(h.rows))
	page := slices.Clone(h.rows[from:min(from+n, len(h.rows))])
	k := int(b >> 4)
	if len(page) == 0 {
		return page, nil
	}
	switch b & 15 {
	case 4:
		page = page[:k%len(page)]
	case 5:
		page = append(page, page[k%len(page)])
	case 6:
		page = slices.Insert(page, k%len(page), page[0])[:len(page)]
	case 7:
		page[k%len(page)].login++
	case 8:
		from = max(offset-k, 0)
		page = slices.Clone(h.rows[from:min(from+n, len(h.rows))])
	case 9:
		page = nil
	case 10:
		return nil, errClosed
	}
	return page, nil
}

// check: a complete answer holds every balance deal that was there all the time, and none that never was.
func (h *history) check(t *testing.T, g *gathered) {
	t.Helper()
	for _, r := range h.all[0] {
		always := true
		for _, state := range h.all {
			always = always && slices.Contains(state, r)
		}
		if r.isBalance() && always && !slices.Contains(g.balance, r) {
			t.Fatalf("deal %d was there all the time and is missing", r.ticket)
		}
	}
	for i, r := range g.balance {
		if r.login != h.login || slices.Contains(g.balance[:i], r) {
			t.Fatalf("deal %d is foreign or there twice", r.ticket)
		}
		if !slices.ContainsFunc(h.all, func(state []row) bool { return slices.Contains(state, r) }) {
			t.Fatalf("deal %d never was", r.ticket)
		}
	}
	if g.rows != len(g.tickets) || !slices.IsSorted(g.tickets) {
		t.Fatalf("%d rows, %d tickets", g.rows, len(g.tickets))
	}
}

func FuzzPageAssembler(f *testing.F) {
	for _, s := range []string{"", "00", "0004", "0014", "001304", "0102030405", "00080000", "060606", "0712", "11111111", "0a", "00000000031200"} {
		plan, err := hex.DecodeString(s[:len(s)/2*2])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(23), uint8(5), plan)
		f.Add(uint8(0), uint8(2), plan)
		f.Add(uint8(10), uint8(10), plan)
	}
	f.Fuzz(func(t *testing.T, size, limit uint8, plan []byte) {
		if len(plan) > 200 {
			return
		}
		h := newHistory(int(size), plan)
		g, err := gather(t.Context(), h, h.login, max(int(limit), 2))
		if err == nil {
			h.check(t, g)
		}
	})
}

func TestGather_QuietListIsReadWhole(t *testing.T) {
	t.Parallel()
	for size := range 30 {
		for limit := 2; limit < 12; limit++ {
			h := newHistory(size, nil)
			g, err := gather(t.Context(), h, h.login, limit)
			if err != nil || g.rows != size {
				t.Fatalf("%d rows in pages of %d: %v", size, limit, err)
			}
			h.check(t, g)
		}
	}
}

func TestGather_EndsWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, b := range []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x31, 0x53} {
		h := newHistory(40, slices.Repeat([]byte{b}, 5000))
		g, err := gather(t.Context(), h, h.login, 10)
		if err == nil {
			h.check(t, g)
		}
		if used := 5000 - len(h.plan); used > 2000 {
			t.Errorf("event %#x: %d requests", b, used)
		}
	}
}

func TestFollow_GoesOnFromWhatIsKnownAndLeavesItAlone(t *testing.T) {
	t.Parallel()
	h := newHistory(25, nil)
	before, err := gather(t.Context(), h, h.login, 10)
	if err != nil {
		t.Fatal(err)
	}
	for range 15 {
		h.append()
	}
	after := before.clone()
	if err := after.follow(t.Context(), h, 10); err != nil || after.rows != 40 || before.rows != 25 || len(before.tickets) != 25 {
		t.Errorf("%v: %d rows after, %d before", err, after.rows, before.rows)
	}
	h.rows = slices.Delete(h.rows, 3, 4)
	if err := before.clone().follow(t.Context(), h, 10); !errors.Is(err, errMoved) {
		t.Errorf("a row went away in front: %v", err)
	}
}

func TestH13_OneForeignRowEndsTheLook(t *testing.T) {
	t.Parallel()
	for at := range 25 {
		h := newHistory(25, nil)
		h.rows[at].login++
		if g, err := gather(t.Context(), h, h.login, 10); !errors.Is(err, errForeign) {
			t.Errorf("foreign row %d: %v %+v", at, err, g)
		}
	}
}

func TestH14_OneTicketTwiceEndsTheLook(t *testing.T) {
	t.Parallel()
	for at := 1; at < 25; at++ {
		h := newHistory(25, nil)
		h.rows[at].ticket = h.rows[at/2].ticket
		if g, err := gather(t.Context(), h, h.login, 10); !errors.Is(err, errMoved) {
			t.Errorf("ticket of row %d again: %v %+v", at, err, g)
		}
	}
}
