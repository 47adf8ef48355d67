package demo

import (
	"io"
	"time"

	"creditonce/internal/stage"
)

// Options say what to show and how. Scenario, Executable, Now, Random and Progress are required.
type Options struct {
	Scenario string // a name of Scenarios(), or All
	Deposits int    // 0: the scenario's own number
	Dir      string // the folder of the show, kept; "": a temporary one
	Keep     bool   // keep a temporary folder too
	Exit     bool   // end the mixed show once it is settled; without it it runs until the context ends
	Seed     uint64 // draws amounts, ids, disorder and moments

	Executable string // this program
	Version    string
	Now        func() time.Time
	Random     io.Reader // cryptographically strong, for secrets

	Progress io.Writer // for people: the view, or plain lines
	Screen   Screen    // what Progress is

	ports      *stage.Ports
	quarantine time.Duration // of a new folder; 0: quarantine
}

// Screen is what the progress is written to.
type Screen struct {
	Live   bool // a terminal on which the view may redraw itself
	Colour bool
	// Size returns columns and rows at this moment; nil: 80 × 24.
	Size func() (columns, rows int)
}

// settleTime bounds how long a show may take to come to rest after everything was set going.
const settleTime = 45 * time.Second

// perDeposit is added to settleTime for each deposit: rows of one login go one after the other.
const perDeposit = 500 * time.Millisecond
