package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// board is what is known about each deposit while a show runs: from the portal, from the provider, and from serve's
// log. It only shows; no verdict rests on it. Safe for concurrent use.
type board struct {
	now   func() time.Time
	begin time.Time

	mu       sync.Mutex
	rows     []*boardRow
	byCredit map[uint64]*boardRow
	byCode   map[string]*boardRow
	news     []news
	tasks    map[string]bool // open, by kind and entity
	doubled  int
	first    time.Duration // until the first credited deposit; 0: none yet
	hints    []string
	changed  chan struct{} // holds one token after a change
	hear     func(news)    // every piece of news, for the plain view; may be nil
}

// boardRow is one line of the table.
type boardRow struct {
	Code    string
	Login   uint64
	Amount  string   // with its currency
	Way     []string // open, paid, then the row's states in their order
	Attempt int
	Ticket  uint64
	credit  uint64
	touched int // the row that changed last has the highest number
}

// State is the last step of the way.
func (r *boardRow) State() string { return r.Way[len(r.Way)-1] }

// news is one line under the table.
type news struct {
	At      time.Duration // since the show began
	Who     string        // demo, serve, mt5, provider
	Text    string
	repeats int  // of acknowledged events, when the line counts them
	Loud    bool // something went wrong on purpose, or a person must look
}

// maxNews bounds what is kept; the view shows the newest few.
const maxNews = 64

func newBoard(now func() time.Time, begin time.Time, hear func(news)) *board {
	return &board{
		now: now, begin: begin, hear: hear,
		byCredit: map[uint64]*boardRow{}, byCode: map[string]*boardRow{}, tasks: map[string]bool{},
		changed: make(chan struct{}, 1),
	}
}

// tell adds a line of news.
func (b *board) tell(who, format string, args ...any) { b.add(who, false, format, args...) }

// warn is tell for what a viewer must not miss.
func (b *board) warn(who, format string, args ...any) { b.add(who, true, format, args...) }

func (b *board) add(who string, loud bool, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLocked(who, loud, format, args...)
}

func (b *board) addLocked(who string, loud bool, format string, args ...any) {
	n := news{At: b.now().Sub(b.begin), Who: who, Text: fmt.Sprintf(format, args...), Loud: loud}
	if b.news = append(b.news, n); len(b.news) > maxNews {
		b.news = b.news[1:]
	}
	if b.hear != nil {
		b.hear(n)
	}
	b.touch()
}

func (b *board) touch() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// opened puts a deposit on the board.
func (b *board) opened(d *deposit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.byCode[d.code]
	if r == nil {
		r = &boardRow{Code: d.code}
		b.rows = append(b.rows, r)
		b.byCode[d.code] = r
	}
	r.Login, r.Amount = d.login, d.credited.String()+" "+d.credited.currency
	if len(r.Way) == 0 || r.Way[0] != "open" {
		r.Way = append([]string{"open"}, r.Way...)
	}
	b.touchRow(r)
}

// paidAt says that the provider took the money for a code.
func (b *board) paidAt(code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.byCode[code]
	if r == nil {
		r = &boardRow{Code: code}
		b.rows = append(b.rows, r)
		b.byCode[code] = r
	}
	if !slices.Contains(r.Way, "paid") {
		at := 0
		if len(r.Way) > 0 && r.Way[0] == "open" {
			at = 1
		}
		r.Way = slices.Insert(r.Way, at, "paid")
	}
	b.touchRow(r)
}

func (b *board) touchRow(r *boardRow) {
	last := 0
	for _, other := range b.rows {
		last = max(last, other.touched)
	}
	r.touched = last + 1
	b.touch()
}

// setDoubled takes over what MT5's journal says.
func (b *board) setDoubled(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n != b.doubled {
		b.doubled = n
		b.touch()
	}
}

// log takes in one line of serve's log.
func (b *board) log(l logLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch l.Message {
	case msgMoved:
		b.moved(l)
	case msgTaskOpened:
		b.tasks[l.Task+" "+l.Entity] = true
		b.addLocked("serve", true, "task for a person: %s", l.Summary)
	case msgTaskClosed:
		delete(b.tasks, l.Task+" "+l.Entity)
		b.addLocked("serve", false, "task closed: %s", l.Summary)
	case msgRepeated:
		b.repeated()
	case msgStored, msgServing:
	default:
		if l.Error != "" && (l.Level == "warn" || l.Level == "error" || l.Level == "fatal") {
			b.addLocked("serve", true, "%s: %s", l.Message, l.Error)
		}
	}
}

// repeated counts acknowledged repeats in one line: a provider sends many.
func (b *board) repeated() {
	if last := len(b.news) - 1; last >= 0 && b.news[last].repeats > 0 {
		n := &b.news[last]
		n.repeats++
		n.At, n.Text = b.now().Sub(b.begin), fmt.Sprintf("known events acknowledged again, nothing done: %d", n.repeats)
		b.touch()
		return
	}
	b.addLocked("serve", false, "known event acknowledged again, nothing done")
	b.news[len(b.news)-1].repeats = 1
}

func (b *board) moved(l logLine) {
	if l.From == l.To {
		return
	}
	r := b.rowOf(l)
	r.Way = append(r.Way, l.To)
	r.Attempt, r.Ticket = max(r.Attempt, l.Attempt), max(r.Ticket, l.Deal)
	if l.Login > 0 {
		r.Login = l.Login
	}
	if r.Amount == "" {
		r.Amount = l.Amount
	}
	b.touchRow(r)
	b.hearMove(l, r)
	switch l.To {
	case "done":
		if b.first == 0 {
			b.first = b.now().Sub(b.begin)
		}
		if l.From == "unknown" {
			b.addLocked("serve", false, "login %d: the deal was found at MT5, ticket %d; no second call", l.Login, l.Deal)
		}
	case "unknown", "held", "failed":
		reason := strings.TrimPrefix(l.Reason, l.To+": ")
		if l.Login == 0 {
			b.addLocked("serve", true, "a payment without a known deposit is %s: %s", l.To, reason)
			return
		}
		b.addLocked("serve", true, "login %d is %s: %s", l.Login, l.To, reason)
	case "pending":
		if l.From == "unknown" {
			b.addLocked("serve", false, "login %d: MT5 has no deal, proven after the quarantine; called once more", l.Login)
		}
	}
}

// hearMove tells of a move where there is no table to show it.
func (b *board) hearMove(l logLine, r *boardRow) {
	if b.hear == nil {
		return
	}
	text := fmt.Sprintf("credit %d: %s", l.Credit, strings.Join(r.Way, " → "))
	if r.Login > 0 {
		text = fmt.Sprintf("credit %d, login %d, %s: %s", l.Credit, r.Login, r.Amount, strings.Join(r.Way, " → "))
	}
	if l.Deal > 0 {
		text += fmt.Sprintf(", ticket %d", l.Deal)
	}
	b.hear(news{At: b.now().Sub(b.begin), Who: "serve", Text: text})
}

// rowOf finds the line of a credit row. A second row that carries the same code gets a line of its own.
func (b *board) rowOf(l logLine) *boardRow {
	if r := b.byCredit[l.Credit]; r != nil {
		return r
	}
	r := b.byCode[l.Deposit]
	if r == nil || r.credit != 0 {
		twin := &boardRow{Code: l.Deposit, Way: []string{"paid"}}
		if r != nil {
			twin.Login, twin.Amount = r.Login, r.Amount
		}
		b.rows = append(b.rows, twin)
		if r == nil {
			b.byCode[l.Deposit] = twin
		}
		r = twin
	}
	r.credit = l.Credit
	b.byCredit[l.Credit] = r
	return r
}

// settled corrects a row whose last line was lost when serve was killed between the commit and the log.
func (b *board) settled(code, view string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.byCode[code]
	if r == nil || view != "credited" || r.State() == "done" {
		return
	}
	r.Way = append(r.Way, "done")
	if b.first == 0 {
		b.first = b.now().Sub(b.begin)
	}
	b.touchRow(r)
}

// counts are the running numbers of the board.
type counts struct {
	Paid, Credited, Unknown, Doubled, Tasks int
}

// snapshot copies the board for one frame.
func (b *board) snapshot() (rows []boardRow, latest []news, c counts, first, since time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c = counts{Doubled: b.doubled, Tasks: len(b.tasks)}
	for _, r := range b.rows {
		if r.State() != "open" {
			c.Paid++
		}
		one := *r
		one.Way = slices.Clone(r.Way)
		rows = append(rows, one)
		switch r.State() {
		case "done":
			c.Credited++
		case "unknown":
			c.Unknown++
		}
	}
	return rows, slices.Clone(b.news), c, b.first, b.now().Sub(b.begin)
}

// finish puts hints in the place of the news: from here on the show only waits.
func (b *board) finish(hints []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hints = hints
	if b.hear != nil {
		for _, h := range hints {
			b.hear(news{At: b.now().Sub(b.begin), Who: "demo", Text: h})
		}
	}
	b.touch()
}

func (b *board) hintsNow() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hints)
}
