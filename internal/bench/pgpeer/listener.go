package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"creditonce/credit"
	"creditonce/internal/bench"
	"creditonce/webhook"
	"creditonce/webhook/stripe"
)

// maxInFlight is the product's default.
const maxInFlight = 256

// logFile writes a line for each event and each row, as the product's log does at its default level. It implements
// webhook.Observer.
type logFile struct{ *os.File }

// Step implements webhook.Observer.
func (logFile) Step(context.Context, credit.Step) {}

// Webhook implements webhook.Observer.
func (f logFile) Webhook(_ context.Context, r webhook.Report) {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if r.Outcome != webhook.Accepted {
		_, _ = fmt.Fprintf(f, `{"level":"warn","outcome":%q,"status":%d,"error":"%v","time":%q,"message":"webhook request"}`+"\n", r.Outcome, r.Status, r.Err, now)
		return
	}
	_, _ = fmt.Fprintf(f, `{"level":"info","event_id":%d,"provider":%q,"time":%q,"message":"event stored"}`+"\n", r.Receipt.Event, r.Provider, now)
	_, _ = fmt.Fprintf(f, `{"level":"info","payment":%q,"to":"pending","time":%q,"message":"row moved"}`+"\n", r.Provider, now)
}

// serve starts the product's own listener and provider over another intake. The returned function stops it.
func serve(log *os.File, intake webhook.Intake) (bench.Target, func() error, error) {
	secret := drawSecret()
	provider, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte(secret)}})
	if err != nil {
		return bench.Target{}, nil, err
	}
	hook, err := webhook.New(webhook.Config{
		Endpoints: []webhook.Endpoint{{Name: "stripe", Account: "acct_bench", Provider: provider}},
		Intake:    intake, Observer: logFile{log}, Now: time.Now, Reference: rand.Text, MaxInFlight: maxInFlight,
	})
	if err != nil {
		return bench.Target{}, nil, err
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return bench.Target{}, nil, err
	}
	server := webhook.Server(hook.Handler())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(socket) }()
	stop := func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
	return bench.Target{Addr: socket.Addr().String(), Path: "/webhooks/stripe", Secret: secret, CPU: bench.OwnProcessorTime}, stop, nil
}
