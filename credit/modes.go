package credit

import "time"

// beforeGoLive tells that the flow before still credits: the store observes, or holds without ever having gone live. What is
// paid then is that flow's for good.
func (s Settings) beforeGoLive() bool {
	return s.Mode == ModeObserve || (s.Mode == ModeHold && s.neverLive())
}

// neverLive tells that a hold is released to observe (design §12).
func (s Settings) neverLive() bool { return s.CutoverAt.IsZero() && !s.Demo }

// GoLive decides that the service pays from the cut-over time on (design §12): payments that the provider dates before it
// stay with the flow before. A zero cutover is the moment of the decision. It is pure.
func GoLive(s Settings, p People, cutover time.Time) (Settings, error) {
	switch {
	case s.Mode == ModeLive:
		return s, Refuse("mode", "the mode is live already, since %s", timeText(s.ModeAt))
	case s.Mode != ModeObserve:
		return s, Refuse("mode", "the mode is %s (%s); release it first, then go live from observe", s.Mode, s.ModeReason)
	case !cutover.IsZero() && cutover.Before(p.At):
		return s, Refuse("cutover", "the cut-over time %s has passed: payments between it and now are held already; name a later one, or none for this moment",
			timeText(cutover))
	case cutover.IsZero():
		cutover = p.At
	}
	s = s.to(ModeLive, p)
	s.CutoverAt = upwards(cutover)
	return s, nil
}

// upwards is the next whole second, never before t: providers date payments, and people read times, by whole seconds, and a
// payment dated between both was seen by the flow before.
func upwards(t time.Time) time.Time {
	cut := t.UTC().Truncate(time.Second)
	if cut.Before(t) {
		cut = cut.Add(time.Second)
	}
	return cut
}

// HoldMode decides that nothing is claimed any more; intake and looking go on. It is pure.
func HoldMode(s Settings, p People) (Settings, error) {
	if s.Mode == ModeHold {
		return s, Refuse("mode", "the mode is hold already (%s)", s.ModeReason)
	}
	return s.to(ModeHold, p), nil
}

// ReleaseMode decides that a hold ends: a store that went live is live again, any other observes (design §12). While the store
// is in doubt it is refused; after a restore or takeover until the quarantine is over, every row of before is moved and the
// gap of every provider is complete. It is pure.
func ReleaseMode(s Settings, p People, g Guard) (Settings, error) {
	switch {
	case s.Mode != ModeHold:
		return s, Refuse("mode", "the mode is %s; only a hold is released (to let one held credit go on: creditonce credits release)", s.Mode)
	case s.Doubt != nil:
		return s, Refuse("doubt", "this may not be the store that the last calls were made from: %s; only a restore or a takeover ends that", s.Doubt.Reason)
	case s.restoring():
		if err := endsRestore(s, g); err != nil {
			return s, err
		}
		s = s.withRestore(func(r *Restore) { r.ReleasedAt, r.ReleasedBy, r.Proposal = instant(p.At), p.Actor, p.Proposal })
	}
	if s.neverLive() {
		return s.to(ModeObserve, p), nil
	}
	return s.to(ModeLive, p), nil
}

// ModeTasks closes the task that stood for a restore which a change of the mode has released.
func ModeTasks(before, after Settings, p People) []TaskClose {
	if !before.restoring() || after.restoring() {
		return nil
	}
	return []TaskClose{{Key: TaskKey{TaskRestored, StoreEntity}, By: p.Actor, At: instant(p.At), Reason: plain(p.Reason)}}
}

func (s Settings) to(m Mode, p People) Settings {
	s.Mode, s.ModeReason, s.ModeBy, s.ModeAt = m, plain(p.Reason), p.Actor, instant(p.At)
	return s
}
