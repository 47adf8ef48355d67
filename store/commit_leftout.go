//go:build benchnocommit

// This file is in no build but `-tags benchnocommit`, which exists to measure the same listener without its commit.
// A program built so keeps nothing: it must never see money.

package store

import "os"

// leftOutVariable makes every store of the process roll its batches back where it would commit them, and answer as if it
// had committed.
const leftOutVariable = "CREDITONCE_LEAVE_OUT_COMMIT"

var leaveOut = os.Getenv(leftOutVariable) != ""

func commitLeftOut() bool { return leaveOut }
