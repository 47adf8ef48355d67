package credit

import (
	"cmp"
	"slices"
	"time"
)

// Stop is a reason for which nothing is credited at the moment: on every login, or on those of one MT5 server. Payments wait as pending
// meanwhile, and go on when it ends.
type Stop struct {
	Key    string        // "mode", "doubt", "restore", "start", "witness", "disk", "mt5/main": the same as long as it lasts
	Server string        // label of the MT5 server; empty: nothing is credited anywhere
	Since  time.Time     // UTC
	Why    string        // without secrets
	Next   string        // what ends it: what a person can do
	Grace  time.Duration // how long it may last before people get a task
	Told   bool          // people hear of it otherwise: it gets no task of its own
}

// Stops are the reasons that stand in the settings themselves: the mode, a doubt, a restore.
func (s Settings) Stops() []Stop {
	var out []Stop
	if s.Doubt != nil {
		out = append(out, Stop{Key: "doubt", Since: s.Doubt.At, Why: "the store may not be the one that the last calls were made from: " + s.Doubt.Reason,
			Next: "creditonce restore, or two people: creditonce takeover", Told: true})
	}
	if s.Restore != nil && s.Restore.ReleasedAt.IsZero() {
		out = append(out, Stop{Key: "restore", Since: s.Restore.At, Why: "the store was restored or taken over, and its release waits",
			Next: "see the gap of each provider below; then two people: creditonce release", Told: true})
	}
	switch s.Mode {
	case ModeObserve:
		out = append(out, Stop{Key: "mode", Since: s.ModeAt, Why: "the mode is observe: no balance operation is called", Next: "two people: creditonce go-live", Told: true})
	case ModeHold:
		out = append(out, Stop{Key: "mode", Since: s.ModeAt, Why: "the mode is hold: " + cmp.Or(s.ModeReason, "nothing is claimed"), Next: "two people, when it is understood: creditonce release", Told: true})
	case ModeLive:
	}
	return out
}

// standstillActor closes the tasks of stops.
const standstillActor = "standstill"

// Standstills decides which stops have a task. It is pure but for what it remembers, and not safe for concurrent use.
type Standstills struct {
	Calm time.Duration // how long a stop must be over before its task closes: one that comes and goes is one task

	known map[string]*standstill
}

type standstill struct {
	begun, gone time.Duration // on the boot clock; gone counts while it is over
	over, told  bool
}

// Resume tells it, before its first decision, of a task that an earlier process opened.
func (m *Standstills) Resume(t Task) {
	if t.Kind == TaskStandstill && t.IsOpen() {
		m.entry(t.Entity[len(standstillHead):]).told = true
	}
}

const standstillHead = "standstill/"

func (m *Standstills) entry(key string) *standstill {
	if m.known == nil {
		m.known = map[string]*standstill{}
	}
	if m.known[key] == nil {
		m.known[key] = &standstill{begun: -1}
	}
	return m.known[key]
}

// Decide compares the stops of now with those of before. boot is the boot clock, at the wall clock. Until Written is called it decides the
// same again, so that a store which could not write it is asked later.
func (m *Standstills) Decide(stops []Stop, boot time.Duration, at time.Time) (open []Task, closing []TaskClose) {
	now := map[string]bool{}
	for _, s := range stops {
		now[s.Key] = true
		e := m.entry(s.Key)
		if e.begun < 0 {
			e.begun = boot
		}
		e.over = false
		if !e.told && !s.Told && boot-e.begun >= s.Grace {
			open = append(open, Task{
				Kind: TaskStandstill, Entity: standstillHead + s.Key, OpenedAt: instant(at), Next: s.Next,
				Summary: "nothing is credited" + on(s.Server) + ": " + plain(s.Why),
			})
		}
	}
	for key, e := range m.known {
		switch {
		case now[key]:
		case !e.told:
			delete(m.known, key)
		case !e.over:
			e.over, e.gone = true, boot
		case boot-e.gone >= m.Calm:
			closing = append(closing, TaskClose{Key: TaskKey{TaskStandstill, standstillHead + key}, By: standstillActor, At: instant(at), Reason: "it is over"})
		}
	}
	slices.SortFunc(closing, func(a, b TaskClose) int { return cmp.Compare(a.Key.Entity, b.Key.Entity) })
	return open, closing
}

// Written says that what Decide answered is stored.
func (m *Standstills) Written(open []Task, closing []TaskClose) {
	for _, t := range open {
		m.entry(t.Entity[len(standstillHead):]).told = true
	}
	for _, c := range closing {
		delete(m.known, c.Key.Entity[len(standstillHead):])
	}
}

func on(server string) string {
	if server == "" {
		return ""
	}
	return " on MT5 server " + server
}
