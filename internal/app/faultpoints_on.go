//go:build faultpoints

package app

import (
	"context"
	"runtime"

	"creditonce/credit"
	"creditonce/internal/proof/faultpoints"
)

// The goroutine that makes and opens the store stays on the process's first thread: whoever counts its system calls from
// outside, to let the n-th fail, counts by thread.
func init() { runtime.LockOSThread() }

// builtInStep is the hook of a program built for the kill harness.
func builtInStep() func(context.Context, credit.Step) { return faultpoints.FromEnvironment() }
