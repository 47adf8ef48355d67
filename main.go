// Creditonce turns a payment provider's webhook into exactly one MetaTrader 5 balance operation.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"creditonce/internal/cli"
)

func main() {
	os.Exit(run())
}

// run lets a first SIGINT or SIGTERM end the command in order; a second one ends the process at once.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Main(ctx, cli.ThisProcess())
}
