//go:build faultpoints

package faultpoints

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"creditonce/credit"
)

// FromEnvironment is the hook that this process's environment asks for; nil where it asks for none. A plan that cannot be
// read ends the process: a test that asked for a fault must not pass without it.
func FromEnvironment() func(context.Context, credit.Step) {
	plan, err := Parse(os.Getenv(Variable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(plan) == 0 {
		return nil
	}
	return NewHook(plan, carryOut).Step
}

// carryOut says on stderr what it does, for whoever reads the log afterwards, and does it.
func carryOut(ctx context.Context, p Point) {
	fmt.Fprintf(os.Stderr, "fault point %s\n", p)
	switch p.Action {
	case Kill:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // cannot fail for the process itself
		select {}                                      // the signal may take a moment; nothing more happens here
	case Stop:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case Hold:
		timer := time.NewTimer(p.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}
