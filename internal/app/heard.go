package app

import (
	"errors"
	"slices"
	"sync"

	"creditonce/credit"
)

const (
	// mostHeard bounds how many moved rows are remembered for the sentinel: what is beyond it, its slow round finds.
	mostHeard = 20_000
	// mostOdd bounds how many impossible things are remembered for it.
	mostOdd = 100
)

// heard keeps, for the sentinel, which rows have moved and what was met that cannot be. Safe for concurrent use; it never
// blocks. The zero value keeps nothing that anybody waits for.
type heard struct {
	mu   sync.Mutex
	rows map[credit.ID]bool
	odd  []credit.Breach
	wake chan struct{} // something odd came; nil: nobody waits
}

// moved notes that a row has changed.
func (h *heard) moved(id credit.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil {
		h.rows = map[credit.ID]bool{}
	}
	if len(h.rows) < mostHeard {
		h.rows[id] = true
	}
}

// failed notes an error that tells of something impossible; any other is nothing to it.
func (h *heard) failed(err error) {
	if err != nil && errors.Is(err, credit.ErrImpossible) {
		h.strange(damaged(err))
	}
}

// strange notes breaches.
func (h *heard) strange(found ...credit.Breach) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range found {
		known := slices.ContainsFunc(h.odd, func(o credit.Breach) bool { return o.Key == b.Key })
		if !known && len(h.odd) < mostOdd {
			h.odd = append(h.odd, b)
		}
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// take gives what was heard, at most so many rows by number, and forgets it.
func (h *heard) take(most int) (rows []credit.ID, odd []credit.Breach) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.rows {
		rows = append(rows, id)
	}
	slices.Sort(rows)
	rows = rows[:min(most, len(rows))]
	for _, id := range rows {
		delete(h.rows, id)
	}
	odd, h.odd = h.odd, nil
	return rows, odd
}

// again takes rows back that could not be judged.
func (h *heard) again(rows []credit.ID) {
	for _, id := range rows {
		h.moved(id)
	}
}
