package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// output is where people look on: a picture that is redrawn in place, or one plain line after the other.
type output struct {
	w      io.Writer
	screen Screen
	colour palette

	mu    sync.Mutex
	drawn int // lines of the last picture
}

func newOutput(o Options) *output {
	out := &output{w: o.Progress, screen: o.Screen, colour: palette{on: o.Screen.Colour}}
	if width, height := out.size(); width < narrowest || height <= lowest {
		out.screen.Live = false
	}
	return out
}

// hear prints a piece of news where there is no picture.
func (o *output) hear(n news) {
	if o.screen.Live {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	// Progress that cannot be written has no reader; the verdict does not depend on it.
	_, _ = fmt.Fprintf(o.w, "%8.3fs  %-8s  %s\n", n.At.Seconds(), n.Who, oneLine(n.Text))
}

func (o *output) size() (width, height int) {
	width, height = 80, 24
	if o.screen.Size != nil {
		if w, h := o.screen.Size(); w > 0 && h > 0 {
			width, height = w, h
		}
	}
	return width, height
}

// draw replaces the last picture. The whole frame goes out in one write, each line clears what it does not cover, and
// nothing is cleared before it is drawn over: no flicker.
func (o *output) draw(lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	if o.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dF", o.drawn)
	}
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	o.drawn = len(lines)
	_, _ = io.WriteString(o.w, b.String())
}

// release leaves the last picture standing.
func (o *output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drawn = 0
}

// view is a picture that is kept up to date until it is closed.
type view struct {
	stop chan struct{}
	done chan struct{}
}

// frameEvery bounds how often a picture is drawn.
const frameEvery = 80 * time.Millisecond

// open begins to show a board. Without a picture only the opening lines are printed here; news prints itself.
func (o *output) open(sc scenario, b *board) *view {
	v := &view{stop: make(chan struct{}), done: make(chan struct{})}
	if !o.screen.Live {
		o.plainOpening(sc)
		close(v.done)
		return v
	}
	picture := func() {
		width, height := o.size()
		f := frameOf(sc, b)
		lines := render(f, width, height-1, o.colour)
		o.draw(lines[:min(len(lines), max(height-1, 1))])
	}
	go func() {
		defer close(v.done)
		v.loop(b.changed, picture)
		o.release()
	}()
	return v
}

// loop draws soon after a change, and once a second so that times go on; a last time when it is stopped.
func (v *view) loop(changed <-chan struct{}, picture func()) {
	const idleFrames = int(time.Second / frameEvery)
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for idle, dirty := 0, true; ; idle++ {
		if dirty || idle >= idleFrames {
			picture()
			idle, dirty = 0, false
		}
		select {
		case <-tick.C:
		case <-v.stop:
			picture()
			return
		}
		select {
		case <-changed:
			dirty = true
		default:
		}
	}
}

// close draws a last time and returns when nothing more is written.
func (v *view) close() {
	close(v.stop)
	<-v.done
}

func frameOf(sc scenario, b *board) frame {
	f := frame{Scenario: sc.name, Story: sc.story}
	f.Rows, f.News, f.Counts, f.First, f.Since = b.snapshot()
	f.Hints = b.hintsNow()
	return f
}

func (o *output) plainOpening(sc scenario) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = fmt.Fprintf(o.w, "creditonce demo: %s. %s\n%s\n%s\n", sc.name, banner, sc.story, waitingTimes())
}

// bill shows the scenarios of All, one line each, in their fixed order whatever order they end in.
type bill struct {
	out   *output
	now   func() time.Duration
	view  *view
	wake  chan struct{}
	mu    sync.Mutex
	lines []billLine
}

// billLine is one scenario on the bill.
type billLine struct {
	Name    string
	board   *board
	Counts  counts
	Started bool
	Ended   bool
	Result  Result
	Err     error
	printed bool
}

func (o *output) openBill(scenes []scenario, begin time.Time, now func() time.Time) *bill {
	b := &bill{out: o, now: func() time.Duration { return now().Sub(begin) }, wake: make(chan struct{}, 1)}
	for _, sc := range scenes {
		b.lines = append(b.lines, billLine{Name: sc.name})
	}
	b.view = &view{stop: make(chan struct{}), done: make(chan struct{})}
	if !o.screen.Live {
		_, _ = fmt.Fprintf(o.w, "creditonce demo: all scenarios. %s\n%s\n\n%s\n", banner, waitingTimes(), billHead())
		close(b.view.done)
		return b
	}
	go func() {
		defer close(b.view.done)
		b.view.loop(b.wake, func() {
			width, height := o.size()
			lines := renderBill(b.snapshot(), b.now(), width, o.colour)
			o.draw(lines[:min(len(lines), max(height-1, 1))])
		})
		o.release()
	}()
	return b
}

func (b *bill) change(i int, f func(*billLine)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.lines[i])
	select {
	case b.wake <- struct{}{}:
	default:
	}
	if !b.out.screen.Live {
		b.printEnded()
	}
}

func (b *bill) started(i int, board *board) {
	b.change(i, func(l *billLine) { l.Started, l.board = true, board })
}

func (b *bill) ended(i int, r Result, err error) {
	b.change(i, func(l *billLine) { l.Ended, l.Result, l.Err = true, r, err })
}

// printEnded prints finished lines in order: one that is done early waits for those before it.
func (b *bill) printEnded() {
	for i := range b.lines {
		l := &b.lines[i]
		if !l.Ended {
			return
		}
		if !l.printed {
			l.printed = true
			l.count()
			for _, text := range billText(*l, 100, palette{}) {
				_, _ = fmt.Fprintln(b.out.w, text)
			}
		}
	}
}

func (b *bill) snapshot() []billLine {
	b.mu.Lock()
	lines := slices.Clone(b.lines)
	b.mu.Unlock()
	for i := range lines {
		lines[i].count()
	}
	return lines
}

// count takes the numbers of the line from its board.
func (l *billLine) count() {
	if l.board != nil {
		_, _, l.Counts, _, _ = l.board.snapshot()
	}
}

func (b *bill) close() { b.view.close() }

func billHead() string {
	return fmt.Sprintf("%-24s %-10s %8s %8s %8s %8s", "scenario", "", "credited", "unknown", "doubled", "seconds")
}

// renderBill draws the bill. It is pure.
func renderBill(lines []billLine, since time.Duration, width int, c palette) []string {
	out := []string{spread("creditonce demo · all scenarios", banner, width, c), c.dim(fit(waitingTimes(), width)), ""}
	out = append(out, c.dim(billHead()))
	ended, ok := 0, 0
	for _, l := range lines {
		out = append(out, billText(l, width, c)...)
		if l.Ended {
			ended++
			if l.Err == nil && l.Result.OK {
				ok++
			}
		}
	}
	return append(out, "", fmt.Sprintf("%d of %d scenarios done, %d as promised, %.0f s", ended, len(lines), ok, since.Seconds()))
}

// billText is one line of the bill, and below it, in words, what was wrong.
func billText(l billLine, width int, c palette) []string {
	word, paint := "waiting", c.dim
	n := l.Counts
	took := ""
	switch {
	case l.Err != nil:
		word, paint = "failed", c.bad
	case l.Ended && l.Result.OK:
		word, paint = "as it must", c.good
	case l.Ended:
		word, paint = "WRONG", c.bad
	case l.Started:
		word, paint = "running", c.bold
	}
	if l.Ended && l.Err == nil {
		n.Doubled = l.Result.Doubled
		took = fmt.Sprintf("%.1f", l.Result.Seconds)
	}
	line := fmt.Sprintf("%-24s %s %8d %8d %8d %8s", l.Name, paint(pad(word, 10)), n.Credited, n.Unknown, n.Doubled, took)
	lines := []string{strings.TrimRight(line, " ")}
	problems := l.Result.Problems
	if l.Err != nil {
		problems = append(problems, l.Err.Error())
	}
	for _, p := range problems {
		lines = append(lines, c.bad(fit("  "+oneLine(p), width)))
	}
	return lines
}
