package demo

import (
	"bytes"
	"encoding/json"
)

// logLine is one line of serve's log, as far as the demo uses it. The keys are fixed (style.md §3.8).
type logLine struct {
	Level    string `json:"level"`
	Message  string `json:"message"`
	Error    string `json:"error"`
	Credit   uint64 `json:"credit_id"`
	Deposit  string `json:"deposit"` // the deposit code that travelled with the payment
	Payment  string `json:"payment"`
	Login    uint64 `json:"login"`
	Amount   string `json:"amount"` // with its currency
	From     string `json:"from"`
	To       string `json:"to"`
	Move     string `json:"move"`
	Reason   string `json:"reason"`
	Attempt  int    `json:"attempt"`
	Deal     uint64 `json:"deal"`
	Task     string `json:"task"`
	Entity   string `json:"entity"`
	Summary  string `json:"summary"`
	Type     string `json:"type"` // of an event
	Webhooks string `json:"webhooks"`
	API      string `json:"api"`
	Mode     string `json:"mode"`
}

// The messages that the demo acts on.
const (
	msgServing    = "serving"
	msgMoved      = "row moved"
	msgTaskOpened = "task opened"
	msgTaskClosed = "task closed"
	msgStored     = "event stored"
	msgRepeated   = "event repeated"
)

// readLogLine reads one line. Lines that are not serve's JSON (a panic, a message before the log begins) are not ok.
func readLogLine(line string) (l logLine, ok bool) {
	raw := bytes.TrimSpace([]byte(line))
	if len(raw) == 0 || raw[0] != '{' {
		return logLine{}, false
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return logLine{}, false
	}
	return l, true
}
