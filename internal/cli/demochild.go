package cli

import (
	"context"
	"io"

	"creditonce/internal/demo"
)

// untilParentEnds is ctx, and ends too when the demo that started this process has gone: it holds our standard input
// open and writes nothing. Any other process gets ctx as it is.
func untilParentEnds(ctx context.Context, p *Process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if p.Getenv(demo.ChildVariable) == "" {
		return ctx, cancel
	}
	go func() {
		_, _ = io.Copy(io.Discard, p.Stdin) // ends, however it ends, when the other end is closed
		cancel()
	}()
	return ctx, cancel
}
