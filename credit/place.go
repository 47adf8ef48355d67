package credit

import (
	"fmt"
	"time"
)

// Place is where a store's file lies: pinned in the settings at its first start, compared at every later one. A copy has
// another inode, another host another machine id (design §11, §12).
type Place struct {
	Machine string    `json:"machine,omitempty"` // digest of the machine's id; empty where it tells none: then it is not compared
	Booted  time.Time `json:"booted,omitzero"`   // when the machine booted, UTC, as far as its clock was right
	Device  uint64    `json:"device,string"`
	Inode   uint64    `json:"inode,string"`
}

// sameBoot is the most that two readings of one boot's begin differ by, clock steps included.
const sameBoot = 5 * time.Minute

// Differs says why a file at now is not the one that was pinned at p; empty: it may be. A machine numbers its disks anew at
// each boot, so another device with the same inode counts only within one boot.
func (p Place) Differs(now Place) string {
	switch {
	case p.Machine != "" && now.Machine != "" && p.Machine != now.Machine:
		return "it was last run on another machine"
	case p.Inode != now.Inode:
		return fmt.Sprintf("it is another file than the one that was last run here (inode %d, not %d): a copy, or a file put back", now.Inode, p.Inode)
	case p.Device != now.Device && now.Booted.Sub(p.Booted).Abs() < sameBoot:
		return fmt.Sprintf("it is on another device than the file that was last run here (%d, not %d)", now.Device, p.Device)
	}
	return ""
}

// Doubt says that the store may not be the one that the last claims were made on: it is stored, nothing is claimed, and only
// a restore or a takeover ends it (design §12).
type Doubt struct {
	At     time.Time `json:"at"`             // UTC
	Reason string    `json:"reason"`         // one sentence
	Since  time.Time `json:"since,omitzero"` // of the newest record that the store had then: what came later it may never have seen
}

// StoreEntity is what a task about the whole store is about.
const StoreEntity = "store"

// StoreChange is a change of the settings with the tasks that follow from it.
type StoreChange struct {
	Settings Settings
	Open     []Task
	Close    []TaskClose
}

// PutInDoubt decides what a start does that finds a reason to doubt the store: mode hold, one task. The first reason stays.
// It is pure.
func PutInDoubt(s Settings, d Doubt) StoreChange {
	d.At, d.Since = instant(d.At), instant(d.Since)
	if s.Doubt == nil {
		s.Doubt = &d
	}
	if s.Mode != ModeHold {
		s.Mode, s.ModeReason, s.ModeBy, s.ModeAt = ModeHold, plain("in doubt: "+s.Doubt.Reason), "", d.At
	}
	return StoreChange{Settings: s, Open: []Task{{
		Kind: TaskDoubt, Entity: StoreEntity, OpenedAt: d.At,
		Summary: "this may not be the store that the last calls were made from: " + s.Doubt.Reason,
		Next: "find out where the right store is and whether another instance runs; then restore a backup, or take this store over " +
			"(docs/operations.md, under backup, restore and takeover)",
	}}}
}
