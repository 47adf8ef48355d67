package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"creditonce/internal/admin"
)

// progressEvery is how often a terminal's bar asks how far the service is; elsewhere a line is printed for each step.
const progressEvery = 300 * time.Millisecond

// followProgress shows how far the service is until stop is called, which waits for the last line.
func followProgress(ctx context.Context, p *Process, c *admin.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		view := progressView{w: p.Stderr, terminal: p.Watched}
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				view.end()
				return
			case <-tick.C:
			}
			if got, err := c.ReconProgress(ctx); err == nil && got.Busy {
				view.show(got)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// progressView draws one line that changes on a terminal, and one line a step elsewhere.
type progressView struct {
	w        io.Writer
	terminal bool
	step     string
	drawn    int
}

// progressWidth keeps the line on one row of the narrowest usual terminal: one that wraps cannot be drawn over.
const progressWidth = 79

func (v *progressView) show(p admin.ProgressAnswer) {
	step := plain(p.Step)
	if !v.terminal {
		if step != v.step {
			v.step = step
			_, _ = fmt.Fprintln(v.w, step)
		}
		return
	}
	count := ""
	switch {
	case p.Total > 0:
		const cells = 16
		full := max(0, min(cells, p.Done*cells/p.Total))
		count = fmt.Sprintf(" [%s%s] %d of %d", strings.Repeat("#", full), strings.Repeat(".", cells-full), p.Done, p.Total)
	case p.Done > 0:
		count = fmt.Sprintf(": %d", p.Done)
	}
	text := []rune(step)
	if room := progressWidth - len(count); len(text) > room {
		text = append(text[:room-1], '…')
	}
	text = append(text, []rune(count)...)
	_, _ = fmt.Fprintf(v.w, "\r%-*s", v.drawn, string(text))
	v.drawn = len(text)
}

func (v *progressView) end() {
	if v.terminal && v.drawn > 0 {
		_, _ = fmt.Fprintf(v.w, "\r%*s\r", v.drawn, "")
	}
}
