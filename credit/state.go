package credit

// State of a credit row (design §4).
type State string

// The states. Done and Cancelled are terminal.
const (
	New       State = ""          // not stored yet; only the left side of a birth
	Held      State = "held"      // a person, or a missing deposit record, must come first
	Pending   State = "pending"   // may be claimed
	Claimed   State = "claimed"   // a call may be under way
	Unknown   State = "unknown"   // nobody knows whether MT5 applied it
	Done      State = "done"      // one verified deal
	Failed    State = "failed"    // MT5 refused for a listed reason
	Cancelled State = "cancelled" // closed by people without a deal
)

// States lists every stored state in the order of a row's life.
func States() []State {
	return []State{Held, Pending, Claimed, Unknown, Done, Failed, Cancelled}
}

// Terminal tells that nothing leaves the state.
func (s State) Terminal() bool { return s == Done || s == Cancelled }

// Open tells that the row still takes part in the login's money: the states the one-open-row check counts.
func (s State) Open() bool { return s == Claimed || s == Unknown }

// Mover says who makes a move.
type Mover string

// The movers of design §4.
const (
	ByIntake    Mover = "intake"     // an event, a deposit or an account change, in its own transaction
	ByWorker    Mover = "worker"     // the loop that claims and calls
	ByResolver  Mover = "resolver"   // the loop that looks
	ByProcess   Mover = "process"    // lease end and process start
	ByOperator  Mover = "operator"   // one person
	ByTwoPeople Mover = "two people" // a proposal and its confirmation
	ByRestore   Mover = "restore"    // restore or takeover
)

// Move is one line of the table of legal moves.
type Move struct {
	From, To State
	By       []Mover
	When     string // the condition, in words for docs/state-machine.md
}

// legalMoves is the whole table of design §4. Apply refuses what it does not list; the diagram in
// docs/state-machine.md is generated from it. There is no line from claimed to pending, and there never is one.
var legalMoves = []Move{
	{New, Pending, []Mover{ByIntake}, "a paid part whose deposit is known and whose birth checks all pass"},
	{New, Held, []Mover{ByIntake}, "a paid part that a check stops, or whose deposit is not known yet"},
	{New, Unknown, []Mover{ByIntake}, "a payment older than a restore"},
	{Held, Pending, []Mover{ByIntake, ByTwoPeople}, "the last reason to hold is gone"},
	{Held, Done, []Mover{ByTwoPeople}, "a deal is adopted"},
	{Held, Cancelled, []Mover{ByTwoPeople}, "closed without a deal"},
	{Pending, Claimed, []Mover{ByWorker}, "looked, absent, and every check inside the transaction passed"},
	{Pending, Held, []Mover{ByIntake, ByWorker, ByOperator}, "a check fails, a look-alike or conflict is seen, a refund or dispute arrives"},
	{Pending, Done, []Mover{ByWorker}, "the look before the call found our deal"},
	{Pending, Unknown, []Mover{ByRestore}, "restore or takeover"},
	{Claimed, Done, []Mover{ByWorker}, "MT5 answered with a ticket and the deal was read back and agrees"},
	{Claimed, Failed, []Mover{ByWorker}, "MT5 refused with a listed code"},
	{Claimed, Unknown, []Mover{ByWorker, ByProcess, ByRestore}, "anything else: time-out, unreadable answer, lease end, process start"},
	{Unknown, Done, []Mover{ByResolver, ByTwoPeople}, "the deal was found, or adopted"},
	{Unknown, Pending, []Mover{ByWorker, ByResolver}, "stored evidence of this process: absent, or no byte was sent"},
	{Unknown, Cancelled, []Mover{ByTwoPeople}, "closed without a deal, on absent evidence"},
	{Failed, Unknown, []Mover{ByOperator}, "a person asks for another try; the gate decides"},
	{Failed, Cancelled, []Mover{ByTwoPeople}, "closed without a deal"},
}

// LegalMoves returns a copy of the table.
func LegalMoves() []Move {
	out := make([]Move, len(legalMoves))
	for i, m := range legalMoves {
		m.By = append([]Mover(nil), m.By...)
		out[i] = m
	}
	return out
}

func legal(from, to State, by Mover) bool {
	for _, m := range legalMoves {
		if m.From != from || m.To != to {
			continue
		}
		for _, who := range m.By {
			if who == by {
				return true
			}
		}
	}
	return false
}
