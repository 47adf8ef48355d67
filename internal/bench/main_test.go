package bench_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"creditonce/internal/bench"
	"creditonce/internal/cli"
)

// TestMain lets this test binary stand in for creditonce: what a run starts as its parts is this very file.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"serve", "fakemt5", bench.LoadCommand, "bench"}, os.Args[1]) {
		os.Exit(cli.Main(context.Background(), cli.ThisProcess()))
	}
	os.Exit(m.Run())
}
