package faultproxy

import (
	"errors"
	"fmt"
	"time"
)

// Kind is what a proxy does to connections.
type Kind string

// The kinds. The empty one forwards.
const (
	Forward Kind = ""
	// Latency lets every burst and every answer wait.
	Latency Kind = "latency"
	// HalfOpen forwards nothing any more on the connection and leaves it open: whoever waits for an answer waits until
	// he gives up.
	HalfOpen Kind = "half-open"
	// ResetAfterRequest forwards the burst and then resets the client's connection: the server does what it was asked
	// to, and nobody hears of it.
	ResetAfterRequest Kind = "reset-after-request"
	// HoldAndRelease keeps the burst and forwards it later, whether the client is still there or not: a call that
	// outlives its caller.
	HoldAndRelease Kind = "hold-and-release"
	// Slicer forwards in pieces of a few bytes, both ways.
	Slicer Kind = "slicer"
)

// Kinds lists the kinds that break something.
func Kinds() []Kind { return []Kind{Latency, HalfOpen, ResetAfterRequest, HoldAndRelease, Slicer} }

// Fault is what the proxy does from now on, on connections that are open already too.
type Fault struct {
	Kind Kind
	// Every lets the fault strike at each n-th burst of all connections together; 0 and 1: at each. Latency and Slicer
	// strike always.
	Every int
	// Delay is how long Latency and HoldAndRelease wait.
	Delay time.Duration
}

func (f Fault) check() error {
	switch f.Kind {
	case Forward, HalfOpen, ResetAfterRequest, Slicer:
	case Latency, HoldAndRelease:
		if f.Delay <= 0 {
			return fmt.Errorf("fault %s needs a delay", f.Kind)
		}
	default:
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if f.Every < 0 {
		return errors.New("a fault cannot strike less than never")
	}
	return nil
}

// always tells that the kind is a property of the line, not an event.
func (k Kind) always() bool { return k == Latency || k == Slicer }
