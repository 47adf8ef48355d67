package credit

import "sync"

// LiveCalls knows which rows have a balance call of this process under way. It guards the absence verdict only:
// while a call may still leave or be answered, nothing is proven (hole H2). Safe for concurrent use.
type LiveCalls struct {
	mu   sync.Mutex
	rows map[ID]int
}

// Begin marks the row before its claim is committed and returns the function that ends the mark, to be called
// once the call's outcome is recorded.
func (l *LiveCalls) Begin(id ID) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[ID]int{}
	}
	l.rows[id]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.rows[id]--; l.rows[id] == 0 {
			delete(l.rows, id)
		}
	})
}

// Live tells whether the row has a call under way.
func (l *LiveCalls) Live(id ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows[id] > 0
}
