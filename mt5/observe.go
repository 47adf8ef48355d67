package mt5

import "time"

// Observer is told what a session did, after the fact. It must not block; sessions call it from their owner's
// goroutine, several sessions at a time.
type Observer interface {
	// Exchanged reports one request, answered or not.
	Exchanged(Exchange)
	// Connected reports an authenticated session on a new connection.
	Connected(label string, session int, address string)
	// Dropped reports the end of a connection and why.
	Dropped(label string, session int, reason string)
}

// Exchange is one request as it went. It never holds parameters: they carry logins, amounts and hashes.
type Exchange struct {
	Label    string
	Session  int
	Endpoint string        // "deal/get_page"
	Took     time.Duration // on the boot-time clock
	Status   int           // HTTP status; 0 without an answer
	Code     int           // return code; -1 without a readable one
	Dials    int           // connections dialled during the exchange: always 0 for trade/balance
	Requests int           // requests of which at least one byte left: 0 or 1
	Bytes    int64         // bytes that left on the TCP connection since the exchange began
	Err      error
}

// silent is the Observer of those who want none.
type silent struct{}

func (silent) Exchanged(Exchange)            {}
func (silent) Connected(string, int, string) {}
func (silent) Dropped(string, int, string)   {}

// OffsetObserver is an Observer that wants to know when the server's clock is not where a probe has seen it.
type OffsetObserver interface {
	// OffsetMoved reports that the server's clock is now away from UTC by now, and was by known.
	OffsetMoved(label string, session int, known, now time.Duration)
}
