package demo_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"creditonce/internal/cli"
	"creditonce/internal/demo"
)

// TestMain lets this test binary stand in for creditonce: what a demo starts as its children is this very file.
func TestMain(m *testing.M) {
	if os.Getenv(demo.ChildVariable) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.ThisProcess())
	stop()
	os.Exit(code)
}
