//go:build faultpoints

package app

import (
	"context"

	"creditonce/credit"
	"creditonce/internal/proof/faultpoints"
)

// builtInStep is the hook of a program built for the kill harness.
func builtInStep() func(context.Context, credit.Step) { return faultpoints.FromEnvironment() }
