package credit

import (
	"slices"
	"strconv"
	"time"
)

// People says who decides about a row, and why: what its history keeps of the act.
type People struct {
	Actor    string // the person's id; of two "anna, confirmed by ben"
	Proposal uint64 // number of the proposal that two people agreed on; 0: one person acts alone
	Reason   string
	At       time.Time // UTC
}

func (p People) evidence() Evidence { return Evidence{Proposal: p.Proposal} }

// Guard is what the running process knows when people decide about a row: its own clock and whether a call is under way.
type Guard struct {
	Process  Process
	Timing   Timing
	Now      Mark      // of Process
	Schedule time.Time // the same moment on the scale of NextAt
	Live     bool      // a balance call for the row is under way in this process
}

// settled refuses adopting and closing while a call may still be applied (design §4): in doubt, and until a restore or
// takeover has come to the row and started its quarantine, the call can be another instance's.
func (g Guard) settled(d Dossier) error {
	row := d.Row
	switch r := d.Settings.Restore; {
	case d.Settings.Doubt != nil:
		return Refuse("doubt", "this may not be the store that the last calls were made from (%s), so another instance may have a call for credit %d under way; restore or take over first",
			d.Settings.Doubt.Reason, row.ID)
	case r != nil && r.MovedAt.IsZero() && row.Restore < r.Number:
		return Refuse("moving", "the credits of before the %s are still being moved; wait and ask again", r.Kind)
	}
	if g.Live {
		return Refuse("live_call", "a call for credit %d is under way; wait until it has ended", row.ID)
	}
	open := quarantineStart(row, g.Process) + g.Timing.Quarantine
	if g.Now.Boot < open {
		return Refuse("quarantine", "credit %d: the quarantine is over in %s; until then a call may still be applied at MT5, so wait and ask again",
			row.ID, roundUp(open-g.Now.Boot))
	}
	return nil
}

// absent tells whether MT5 is proven, by looks of this process and not long ago, to have no deal of the row, or has
// twice denied that the login exists. Its error says what is missing.
func (g Guard) absent(row Credit) error {
	mine := func(m *Mark) bool { return m != nil && m.Process == g.Process.ID }
	// A login that was away may be back, with a deal made meanwhile: it counts as gone only if MT5 denies it right now.
	deniedNow := mine(row.DeniedAt) && g.Now.Boot-row.DeniedAt.Boot <= g.Timing.SecondLook
	switch {
	case deniedNow && mine(row.FirstDenied) && row.DeniedAt.Boot-row.FirstDenied.Boot >= g.Timing.SecondLook:
		return nil
	case mine(row.AbsentAt) && g.Now.Boot-row.AbsentAt.Boot <= g.Timing.TaskAfter:
		return nil
	case mine(row.AbsentAt):
		return Refuse("not_absent", "credit %d: MT5 was last proven to have no deal %s ago; it must answer completely once more",
			row.ID, roundUp(g.Now.Boot-row.AbsentAt.Boot))
	case mine(row.FirstAbsent):
		return Refuse("not_absent", "credit %d: one look saw no deal at MT5; a second one counts %s after it", row.ID, roundUp(g.Timing.SecondLook))
	case deniedNow:
		return Refuse("not_absent", "credit %d: MT5 denied the login once; it must say so again %s later", row.ID, roundUp(g.Timing.SecondLook))
	}
	return Refuse("not_absent", "credit %d: it is not proven that MT5 has no deal of this payment: two complete looks at least %s apart must see none",
		row.ID, roundUp(g.Timing.SecondLook))
}

// Waits tells whether the refusal passes with time and further looks alone: then people may agree on the act already.
func Waits(code string) bool {
	switch code {
	case "live_call", "quarantine", "not_absent", "moving", "gap":
		return true
	}
	return false
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// Adopt decides that a deal which MT5 has is the row's (design §4). deal was read from MT5 just now; holder is the row
// that has its ticket (0: none); comment is the deal's whole comment as people saw and accepted it, needed where it is
// not the row's reference. It is pure.
func Adopt(d Dossier, p People, g Guard, deal Deal, holder ID, comment string) (Decision, error) {
	row := d.Row
	if err := adopting.on(row); err != nil {
		return Decision{}, err
	}
	if err := adoptable(row, deal, holder, comment); err != nil {
		return Decision{}, err
	}
	if err := g.settled(d); err != nil {
		return Decision{}, err
	}
	t := adopted(p, row.State, deal, g.Schedule, g.Timing.Watch)
	return Decision{Move: &t, Anchor: &Anchor{Ticket: deal.Ticket, ServerTime: deal.ServerTime}}, nil
}

// adoptable compares a deal with the row; only the comment may differ, and only where people accepted that.
func adoptable(row Credit, deal Deal, holder ID, comment string) error {
	switch {
	case row.Login == 0:
		return Refuse("no_login", "credit %d has no deposit record, so no login and no amount to compare a deal with", row.ID)
	case deal.Ticket == 0 || deal.Login != row.Login || deal.Action != ActionBalance || !deal.Amount.Equal(row.DealAmount()):
		return Refuse("wrong_deal", "deal %d is on login %d with action %d over %s; credit %d is login %d, action %d, %s",
			deal.Ticket, deal.Login, deal.Action, deal.Amount, row.ID, row.Login, ActionBalance, row.DealAmount())
	case holder != 0 && holder != row.ID:
		return Refuse("deal_taken", "deal %d is recorded on credit %d", deal.Ticket, holder)
	case row.excludes(deal.Ticket):
		return Refuse("not_this_deal", "deal %d was recorded as not this payment", deal.Ticket)
	case deal.Comment == string(row.Reference):
		return nil
	case Reference(deal.Comment).Valid():
		return Refuse("other_reference", "deal %d carries the reference of another payment, %s", deal.Ticket, deal.Comment)
	case plain(deal.Comment) != comment:
		return Refuse("comment_differs", "deal %d has the comment %q, not the reference %s; if it is this payment all the same, say so with exactly this comment",
			deal.Ticket, plain(deal.Comment), row.Reference)
	}
	return nil
}

// CloseWithoutDeal decides that no deal will be made for the row (design §4). A row with a login needs the proof that
// MT5 has none. It is pure.
func CloseWithoutDeal(d Dossier, p People, g Guard) (Decision, error) {
	row := d.Row
	if err := closing.on(row); err != nil {
		return Decision{}, err
	}
	if err := g.settled(d); err != nil {
		return Decision{}, err
	}
	if row.Login != 0 {
		if err := g.absent(row); err != nil {
			return Decision{}, err
		}
	}
	t := closedWithoutDeal(p, row.State)
	return Decision{Move: &t}, nil
}

// RetryFailed decides that a refused row is tried again: it becomes unknown, and looking decides. It is pure.
func RetryFailed(d Dossier, p People, g Guard) (Decision, error) {
	row := d.Row
	if err := retrying.on(row); err != nil {
		return Decision{}, err
	}
	if g.Live {
		return Decision{}, Refuse("live_call", "a call for credit %d is under way; wait until it has ended", row.ID)
	}
	if r := d.Settings.Restore; r != nil && r.MovedAt.IsZero() {
		return Decision{}, Refuse("moving", "the credits of before the %s are still being moved; wait and ask again", r.Kind)
	}
	if len(d.Busy) > 0 { // a login has one row at a time that MT5 may have applied
		return Decision{}, Refuse("login_busy", "credit %d of the same login is not settled; ask again when it is", d.Busy[0])
	}
	if twin := twinOf(row, row.Amount, d.Around); twin != nil {
		return Decision{}, Refuse("entered_twice", "credit %d (%s) of the same amount on this login may be this very payment, entered by hand or told by the provider: "+
			"then close credit %d; if it is another payment, close it all the same and enter it with deposit manual", twin.ID, twin.State, row.ID)
	}
	t := retried(p, row, g)
	return Decision{Move: &t}, nil
}

// RetryUnknown decides that a row which was handed over may be issued once more, after the gate has proven again that
// MT5 has no deal. It is pure.
func RetryUnknown(d Dossier, p People, g Guard) (Decision, error) {
	row := d.Row
	if err := granting.on(row); err != nil {
		return Decision{}, err
	}
	switch {
	case row.Grants > 0:
		return Decision{}, Refuse("granted", "a further call of credit %d is allowed already; it follows when the looks have seen no deal", row.ID)
	case !row.HandedOver:
		return Decision{}, Refuse("not_handed_over", "credit %d is still being looked for; it is handed to people when the looks have seen no deal", row.ID)
	}
	t := granted(p, g.Schedule)
	return Decision{Move: &t}, nil
}

// LookNow brings the row's next look forward; what the look may lead to stays the gate's. It is pure.
func LookNow(d Dossier, p People, g Guard) (Decision, error) {
	row := d.Row
	if err := hurrying.on(row); err != nil {
		return Decision{}, err
	}
	t := hurried(p, row.State, g.Schedule)
	return Decision{Move: &t}, nil
}

// HoldRow stops a pending row, or keeps a held one from going on when its other reasons are gone. It is pure.
func HoldRow(d Dossier, p People) (Decision, error) {
	row := d.Row
	if err := holding.on(row); err != nil {
		return Decision{}, err
	}
	if row.HasHold(HoldByHand) {
		return Decision{}, Refuse("held", "credit %d is held by hand already", row.ID)
	}
	t := stopped(p.At, ByOperator, p.Actor, p.Reason, nil, HoldByHand)
	return Decision{Move: &t}, nil
}

// NotThisDeal records that a deal which looks like the row's payment is another one; later looks pass it over. deal was
// read from MT5 just now. It is pure.
func NotThisDeal(d Dossier, p People, g Guard, deal Deal, holder ID) (Decision, error) {
	row := d.Row
	if err := passingOver.on(row); err != nil {
		return Decision{}, err
	}
	damaged := row.Reference.Damages(deal.Comment)
	switch {
	case row.Login == 0 || deal.Login != row.Login || deal.Ticket == 0:
		return Decision{}, Refuse("wrong_deal", "deal %d is on login %d; credit %d is on login %d", deal.Ticket, deal.Login, row.ID, row.Login)
	case deal.Comment == string(row.Reference):
		return Decision{}, Refuse("own_reference", "deal %d carries the reference of credit %d: it can be adopted, or be mended at MT5, but not be passed over",
			deal.Ticket, row.ID)
	case damaged && holder == 0 && deal.Action == ActionBalance && deal.Amount.Equal(row.DealAmount()):
		return Decision{}, Refuse("own_reference", "deal %d carries a damaged copy of the reference of credit %d over its very amount, so it is this payment: adopt it, with --comment %q",
			deal.Ticket, row.ID, plain(deal.Comment))
	case holder != 0 && !damaged:
		return Decision{}, Refuse("deal_taken", "deal %d is recorded on credit %d, so looks pass it over already", deal.Ticket, holder)
	case row.excludes(deal.Ticket):
		return Decision{}, Refuse("not_this_deal", "deal %d is recorded as not this payment already", deal.Ticket)
	}
	t := excluded(p, row.State, deal, g.Schedule)
	key := TaskKey{TaskConflict, RowEntity(row.ID)}
	return Decision{Move: &t, Close: []TaskClose{{Key: key, By: p.Actor, At: instant(p.At), Reason: "deal " + strconv.FormatUint(deal.Ticket, 10) + " is not this payment"}}}, nil
}

// Examined keeps a look that people asked for as evidence on a row that no loop looks at, and on an unknown one. It
// settles nothing: of a deal that was found the next round of the loop, or people, take note. It is pure.
func Examined(d Dossier, p People, g Guard, look *LookEvidence) (Decision, error) {
	row := d.Row
	if row.Login == 0 {
		return Decision{}, Refuse("no_login", "credit %d has no deposit record, so there is no login to look at", row.ID)
	}
	if err := examining.on(row); err != nil {
		return Decision{}, err
	}
	ev := *look
	first := row.FirstAbsent
	switch look.Verdict {
	case VerdictAbsent:
		r := gate(row, look, g.Process, g.Timing, g.Live)
		first, ev.Proven = r.first, r.absence != nil
	case VerdictFound, VerdictConflict:
		first = nil
	case VerdictNoAnswer:
	}
	t := examined(p, row.State, &ev, first, g.Schedule)
	return Decision{Move: &t}, nil
}

func (c Credit) excludes(ticket uint64) bool {
	return slices.Contains(c.NotDeals, ticket)
}
