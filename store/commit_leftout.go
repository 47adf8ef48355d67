//go:build benchnocommit

// This file is in no build but `-tags benchnocommit`, which exists to measure the same listener without its commit.
// A program built so keeps nothing: it must never see money.

package store

import "sync/atomic"

var leaveOut atomic.Bool

// LeaveOutCommit makes every store of this process roll its batches back where it would commit them, and answer as if
// it had committed. For measurements, in builds with the tag benchnocommit alone.
func LeaveOutCommit(yes bool) { leaveOut.Store(yes) }

func commitLeftOut() bool { return leaveOut.Load() }
