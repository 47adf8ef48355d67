package credit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RestoreKind says how a store came to be other than its own last commits left it.
type RestoreKind string

// The kinds.
const (
	FromBackup RestoreKind = "restore"  // a backup was put in its place
	FromCopy   RestoreKind = "takeover" // people said that this file goes on, and that the other instance is fenced at MT5
)

// Restore is the newest restore or takeover of the store. It stays for ever: a payment that is older than it may have been
// credited by what the store does not remember, however late it comes (design §12).
type Restore struct {
	Number int         `json:"number"` // from 1
	Kind   RestoreKind `json:"kind"`
	At     time.Time   `json:"at"`    // UTC; payments that the provider dates before it are older
	Mark   Mark        `json:"mark"`  // the same moment: the quarantine counts from it in the process that it names, else from a start
	Since  time.Time   `json:"since"` // of the newest record that the file had: what came later may be missing
	Claims uint64      `json:"claims"`
	By     string      `json:"by"`
	Reason string      `json:"reason"`
	Fence  string      `json:"fence,omitempty"` // of a takeover: how the other instance was fenced
	Gaps   []Gap       `json:"gaps,omitempty"`  // sorted by Provider

	MovedAt    time.Time `json:"moved_at,omitzero"`    // every row of before has been moved or marked
	ReleasedAt time.Time `json:"released_at,omitzero"` // two people ended the hold
	ReleasedBy string    `json:"released_by,omitempty"`
	Proposal   uint64    `json:"proposal,omitempty"` // of the release
	FreedAt    time.Time `json:"freed_at,omitzero"`  // every row that was held for the restore alone has gone on
}

// gapBefore is how far before the newest record a gap begins: providers deliver late, and commits are not in the order of
// payments.
const gapBefore = 48 * time.Hour

// Gap is what may be missing of one provider after a restore or takeover.
type Gap struct {
	Provider string    `json:"provider"` // label
	From     time.Time `json:"from"`
	To       time.Time `json:"to,omitzero"` // end of the window of which everything is here; zero: not yet
	Complete bool      `json:"complete,omitempty"`
	By       string    `json:"by,omitempty"`     // "pull", or who looked it through
	Reason   string    `json:"reason,omitempty"` // of a person
	At       time.Time `json:"at,omitzero"`      // when that was said
}

// restoring tells that a restore or takeover has not been released.
func (s Settings) restoring() bool { return s.Restore != nil && s.Restore.ReleasedAt.IsZero() }

// OpenGaps lists what the pull of missed payments has to do; empty in normal life.
func (s Settings) OpenGaps() []Gap {
	if !s.restoring() {
		return nil
	}
	var out []Gap
	for _, g := range s.Restore.Gaps {
		if !g.Complete {
			out = append(out, g)
		}
	}
	return out
}

// withRestore returns the settings with a changed copy of their restore.
func (s Settings) withRestore(change func(*Restore)) Settings {
	r := *s.Restore
	r.Gaps = slices.Clone(r.Gaps)
	change(&r)
	s.Restore = &r
	return s
}

// BeginRestore marks a store as restored or taken over: mode hold, the gap of every provider that it ever knew open, any
// doubt over. r says when, from what and by whom; instance is a fresh random text. It is pure.
func BeginRestore(s Settings, r Restore, instance string, place *Place) StoreChange {
	r.Number, r.At, r.Since = 1, instant(r.At), instant(r.Since)
	r.Mark.At = r.At
	if last := s.Restore; last != nil {
		r.Number = last.Number + 1
		if last.At.After(r.At) {
			r.At = last.At // a clock that was set back makes no payment younger
		}
	}
	r.By, r.Reason, r.Gaps = plain(r.By), plain(r.Reason), nil
	for _, p := range s.Pins {
		r.openGap(p.Name)
	}
	what := map[RestoreKind]string{FromBackup: "a backup was restored", FromCopy: "the store was taken over"}[r.Kind]
	s.Mode, s.ModeReason, s.ModeBy, s.ModeAt = ModeHold, plain(what+": "+r.Reason), r.By, r.Mark.At
	s.Restore, s.Doubt, s.Instance, s.Place = &r, nil, instance, place
	return StoreChange{
		Settings: s,
		Open: []Task{{
			Kind: TaskRestored, Entity: StoreEntity, OpenedAt: r.Mark.At,
			Summary: what + "; its newest record is of " + timeText(r.Since) + ", and nothing is called until the mode is released",
			Next: "see that the payments of the gap are here (creditonce status), import the statements of providers without a list, reconcile since the gap began (creditonce recon run --from DAY --to DAY), " +
				"settle what looking does not settle; then release the mode",
		}},
		Close: []TaskClose{{Key: TaskKey{TaskDoubt, StoreEntity}, By: r.By, At: r.Mark.At, Reason: what}},
	}
}

// openGap opens the gap of the provider that a pin names; any other pin is passed over.
func (r *Restore) openGap(pin string) {
	label, ok := strings.CutPrefix(pin, "provider/")
	if !ok {
		return
	}
	r.Gaps = append(r.Gaps, Gap{Provider: label, From: instant(r.Since.Add(-gapBefore))})
	slices.SortFunc(r.Gaps, func(a, b Gap) int { return strings.Compare(a.Provider, b.Provider) })
}

// Unheard opens the gap of a provider that a restored or taken over store does not know yet and the configuration names: it may
// have been connected after the backup was made, with payments that this store has lost. Of a store that is released, and of a
// pin of anything else, it changes nothing. It is pure.
func Unheard(s Settings, pin string) Settings {
	if !s.restoring() {
		return s
	}
	return s.withRestore(func(r *Restore) { r.openGap(pin) })
}

// TakeOver decides that this file goes on although it is in doubt (design §12): two people say that the other instance was
// fenced at MT5, and how. The quarantine counts from here. It is pure.
func TakeOver(s Settings, p People, g Guard, fence, instance string, place *Place) (StoreChange, error) {
	if s.Doubt == nil {
		return StoreChange{}, Refuse("no_doubt", "this store is not in doubt, so there is nothing to take over")
	}
	return BeginRestore(s, Restore{
		Kind: FromCopy, At: p.At, Mark: g.Now, Since: s.Doubt.Since, By: p.Actor, Reason: p.Reason, Fence: plain(fence),
	}, instance, place), nil
}

// GapPull says that everything which a provider has of a window is in the store.
type GapPull struct {
	Provider string // label
	From, To time.Time
	At       time.Time // UTC
	By       string    // "pull", or the person's id
	Reason   string    // of a person
}

// GapPulled marks a provider's gap as complete. It returns ErrConflict where the provider has no open gap, and ErrInvalid
// where the window does not cover the gap. It is pure.
func GapPulled(s Settings, g GapPull) (Settings, error) {
	i := slices.IndexFunc(s.OpenGaps(), func(o Gap) bool { return o.Provider == g.Provider })
	if i < 0 {
		return s, fmt.Errorf("provider %s has no open gap: %w", g.Provider, ErrConflict)
	}
	open := s.OpenGaps()[i]
	end := s.Restore.At
	if g.At.Before(end) {
		end = g.At // the clock was set back since: nothing can be known beyond now
	}
	if g.From.After(open.From) || g.To.Before(end) {
		return s, fmt.Errorf("the gap of provider %s lasts from %s to %s, pulled was %s to %s: %w", g.Provider,
			timeText(open.From), timeText(end), timeText(g.From), timeText(g.To), ErrInvalid)
	}
	return s.withRestore(func(r *Restore) {
		i := slices.IndexFunc(r.Gaps, func(o Gap) bool { return o.Provider == g.Provider })
		r.Gaps[i] = Gap{
			Provider: g.Provider, From: instant(g.From), To: instant(g.To), Complete: true, By: plain(g.By), Reason: plain(g.Reason), At: instant(g.At),
		}
	}), nil
}

// GapChecked decides that a person has looked through what a provider without a list knows of the gap. It is pure.
func GapChecked(s Settings, p People, provider string) (Settings, error) {
	for _, open := range s.OpenGaps() {
		if open.Provider == provider {
			return GapPulled(s, GapPull{Provider: provider, From: open.From, To: p.At, At: p.At, By: p.Actor, Reason: p.Reason})
		}
	}
	return s, Refuse("no_gap", "provider %q has no open gap", clip(provider))
}

// endsRestore refuses to release a store that may still not know what the other one did.
func endsRestore(s Settings, g Guard) error {
	r := s.Restore
	start := g.Process.Started
	if r.Mark.Process == g.Process.ID {
		start = max(start, r.Mark.Boot)
	}
	if open := start + g.Timing.Quarantine; g.Now.Boot < open {
		return Refuse("quarantine", "the quarantine after the %s is over in %s; until then a call of before may still be applied at MT5, so wait and ask again",
			r.Kind, roundUp(open-g.Now.Boot))
	}
	if r.MovedAt.IsZero() {
		return Refuse("moving", "the credits of before the %s are still being moved; wait and ask again", r.Kind)
	}
	var open []string
	for _, gap := range s.OpenGaps() {
		open = append(open, gap.Provider)
	}
	if len(open) > 0 {
		return Refuse("gap", "what was paid since %s is not known to be complete for: %s; its payments are pulled where the provider has a list, "+
			"else look them through and record that with creditonce gap-checked", timeText(r.Gaps[0].From), strings.Join(open, ", "))
	}
	return nil
}

// moved marks a row that a restore or takeover found. What may have been called since is unknown; what waits for people goes
// on waiting, and for the restore too. Permissions to call again are void.
func moved(at time.Time, actor string, from State, r Restore, next time.Time) Transition {
	to := New
	if from == Pending || from == Claimed {
		to = Unknown
	}
	return Transition{
		name: "restored", from: []State{from}, to: to, by: ByRestore, actor: actor, at: at,
		reason:   string(r.Kind) + " of " + timeText(r.At),
		evidence: &Evidence{Process: r.Mark.Process},
		change: func(c *Credit) {
			c.Restored, c.Restore = true, r.Number
			c.Grants, c.HandedOver, c.NotSent = 0, false, nil
			forgetLooks(c)
			switch from {
			case Held:
				c.Holds, c.Ended, c.NextAt = withHolds(c.Holds, HoldRestored), r.Mark, time.Time{}
			case Failed:
				c.Ended = r.Mark
			default:
				c.UnknownSince, c.Looks, c.NextAt = r.Mark, 0, next
			}
		},
	}
}

// movable are the states that a restore moves or marks, in the order of the sweep: an unknown row that was not moved yet
// could become pending meanwhile, so unknown comes first.
var movable = []State{Unknown, Claimed, Pending, Failed, Held}

// MoveRow decides what the store's restore or takeover makes of a row that is older (design §4); nothing for one that it has
// moved already, that is settled, or that was born after it. It is pure. schedule is the moment on the scale of NextAt.
func MoveRow(d Dossier, actor string, at, schedule time.Time) Decision {
	r := d.Settings.Restore
	if r == nil || d.Row.Restore >= r.Number || !slices.Contains(movable, d.Row.State) {
		return Decision{}
	}
	t := moved(at, actor, d.Row.State, *r, schedule)
	return Decision{Move: &t}
}

// RowsMoved notes that every row of before the restore has been moved. It is pure.
func RowsMoved(s Settings, number int, at time.Time) (Settings, error) {
	if s.Restore == nil || s.Restore.Number != number || !s.Restore.MovedAt.IsZero() {
		return s, fmt.Errorf("restore %d is not under way: %w", number, ErrConflict)
	}
	return s.withRestore(func(r *Restore) { r.MovedAt = instant(at) }), nil
}

// rowsFreed notes that every row that was held for the restore alone has gone on.
func rowsFreed(s Settings, number int, at time.Time) (Settings, error) {
	r := s.Restore
	if r == nil || r.Number != number || r.ReleasedAt.IsZero() || !r.FreedAt.IsZero() {
		return s, fmt.Errorf("restore %d is not being ended: %w", number, ErrConflict)
	}
	return s.withRestore(func(r *Restore) { r.FreedAt = instant(at) }), nil
}

// bornInDoubt makes the row of a payment that is older than a restore: it may have been credited before (design §12).
func bornInDoubt(at time.Time, actor string, event EventID, r Restore, next time.Time, fill func(*Credit)) Transition {
	return Transition{
		name: "born", from: []State{New}, to: Unknown, by: ByIntake, actor: actor, at: at,
		reason: "paid before the " + string(r.Kind) + " of " + timeText(r.At) + ", so it may have been credited", evidence: eventEvidence(event),
		change: func(c *Credit) {
			fill(c)
			c.UnknownSince, c.NextAt, c.CreatedAt = r.Mark, next, instant(at)
		},
	}
}
