package credit

// doing is something that people do with a row: what it is called, and which states it takes.
type doing struct {
	name, left string // "closing without a deal" and "to close"
	states     []State
}

var (
	adopting    = doing{"adopting a deal", "to adopt", []State{Held, Unknown}}
	passingOver = doing{"recording that a deal is another one", "to compare", []State{Held, Unknown}}
	closing     = doing{"closing without a deal", "to close", []State{Held, Unknown, Failed}}
	retrying    = doing{"a retry", "to retry", []State{Failed}}
	granting    = doing{"a further call", "to call", []State{Unknown}}
	hurrying    = doing{"looking now", "to look for", []State{Unknown, Pending}}
	holding     = doing{"holding", "to hold", []State{Pending, Held}}
	releasing   = doing{"a release", "to release", []State{Held}}
	examining   = doing{"a look", "to look for", []State{Held, Unknown, Failed}}
)

// onwards is what can be done in a state, or what happens without anybody.
var onwards = map[State]string{
	Held:    "to let it go on: creditonce credits release; to end it: adopt-deal or close-without-deal",
	Pending: "it goes on by itself; to stop it: creditonce credits hold",
	Claimed: "its call is under way, so wait a moment and look at it again",
	Unknown: "it is looked for at MT5, and settles itself; to look now: creditonce credits resolve",
	Failed:  "to try again: creditonce credits retry; to end it: close-without-deal",
}

// on refuses a row in a state that it does not take, and says what can be done instead.
func (d doing) on(row Credit) error {
	for _, s := range d.states {
		if row.State == s {
			return nil
		}
	}
	switch row.State {
	case Done:
		return Refuse("state", "credit %d is done with deal %d; nothing is left %s", row.ID, row.Ticket, d.left)
	case Cancelled:
		return Refuse("state", "credit %d was ended without a deal; nothing is left %s", row.ID, d.left)
	default:
		return Refuse("state", "credit %d is %s, and %s takes one that is %s; %s", row.ID, row.State, d.name, orList(d.states), onwards[row.State])
	}
}

func orList(states []State) string {
	text := ""
	for i, s := range states {
		if i > 0 {
			text += " or "
		}
		text += string(s)
	}
	return text
}

// MayAdopt refuses a row in whose state no deal is adopted, before MT5 is asked for one.
func MayAdopt(row Credit) error { return adopting.on(row) }

// MayPassOver refuses a row in whose state no deal is recorded as another one, before MT5 is asked for it.
func MayPassOver(row Credit) error { return passingOver.on(row) }

// MayClose refuses a row in whose state nothing is closed, before MT5 is asked for its deals.
func MayClose(row Credit) error { return closing.on(row) }

// MayExamine refuses a row in whose state people ask for no look that is kept on it.
func MayExamine(row Credit) error { return examining.on(row) }
