package credit

import (
	"fmt"
	"slices"
	"time"
)

// Breach is one thing that was found and cannot be: an invariant that does not hold, a decision that is impossible.
type Breach struct {
	Key  string // the same each time it is found
	Name string // of the invariant: "I-M4"; or where it was met: "store"
	Text string // one sentence, without secrets
}

const (
	// mostBreaches bounds what the settings remember. A store with more has one cause, and people have been told.
	mostBreaches = 500
	// shownBreaches bounds what one task shows.
	shownBreaches = 20
)

// HoldForBreaches decides what follows from breaches (design §12): mode hold with the reason, and one task. Each is acted on
// once: what people were told of and released the mode in spite of does not stop the service again. It returns ErrConflict
// where nothing is new. It is pure.
func HoldForBreaches(s Settings, found []Breach, at time.Time) (StoreChange, []Breach, error) {
	var fresh []Breach
	known := slices.Clone(s.Breaches)
	for _, b := range found {
		if !slices.Contains(known, b.Key) {
			known, fresh = append(known, b.Key), append(fresh, b)
		}
	}
	if len(fresh) == 0 {
		return StoreChange{}, nil, fmt.Errorf("hold for %d breaches: none is new: %w", len(found), ErrConflict)
	}
	s.Breaches = known[max(0, len(known)-mostBreaches):]
	reason := "an invariant is broken: " + fresh[0].Name + ": " + plain(fresh[0].Text)
	if len(fresh) > 1 {
		reason += fmt.Sprintf("; and %d more", len(fresh)-1)
	}
	if s.Mode != ModeHold {
		s.Mode, s.ModeReason, s.ModeBy, s.ModeAt = ModeHold, reason, "", instant(at)
	}
	fields := make([]Field, 0, shownBreaches)
	for _, b := range fresh[:min(len(fresh), shownBreaches)] {
		fields = append(fields, Field{b.Name, plain(b.Text)})
	}
	return StoreChange{Settings: s, Open: []Task{{
		Kind: TaskInvariant, Entity: StoreEntity, OpenedAt: instant(at), Summary: reason,
		Next: "keep a copy of the store, stop the service and run creditonce verify; compare the credits that it names with MT5, and ask for help. " +
			"Webhooks go on, nothing is called. When all is understood: release the mode, and close this task",
		Records: []Record{{Source: "check", Fields: fields}},
	}}}, fresh, nil
}
