package credit

import "fmt"

// ReplayKey is the message key under which an event is kept that was read anew from a stored body.
func ReplayKey(e Event) string { return fmt.Sprintf("replay of event %d", e.ID) }

// Replay runs a stored event through the intake again (design §5.7). Its facts are those that were stored, so it can only
// end in the same units; nothing is written about the event itself. It is pure.
func Replay(e Event, p People, found IntakeFound, rules IntakeRules) (Changes, error) {
	if e.Variant != "" {
		return Changes{}, Refuse("variant", "event %d came under the id of an earlier one with other facts; the earlier one counts", e.ID)
	}
	in := intake{event: e, found: found, rules: rules, actor: p.Actor, replay: true}
	if !in.refusedByPins() {
		if err := in.act(); err != nil {
			return Changes{}, err
		}
	}
	out := in.finish()
	out.Event = nil
	return out, nil
}

// Reread takes in what a stored event, that nobody could read or knew the type of, says when it is read anew. That had no
// units so far; from now on it has those that any later delivery of the notification has. again carries the facts as they
// are read now, under [ReplayKey]; it is kept as an event of its own, so that a refund in it is seen by every later
// decision. It is pure.
func Reread(stored, again Event, p People, found IntakeFound, rules IntakeRules) (Changes, error) {
	switch {
	case stored.Facts.Effect != EffectUnreadable && stored.Facts.Effect != EffectUnknown:
		return Changes{}, Refuse("readable", "event %d was read when it came; its facts stay", stored.ID)
	case found.Prior != nil:
		return Changes{}, Refuse("used", "event %d was read anew already, as event %d", stored.ID, found.Prior.ID)
	case again.Facts.Effect == EffectUnreadable:
		return Changes{}, Refuse("unreadable", "event %d still cannot be read: %s", stored.ID, again.Facts.Problem)
	case again.Facts.Effect == EffectUnknown:
		return Changes{}, Refuse("unknown_type", "events of type %q still mean nothing to this program", clip(again.Facts.Type))
	}
	again = plainEvent(again)
	again.ID = found.NextEvent
	in := intake{event: again, found: found, rules: rules, actor: p.Actor, replay: true}
	if !in.refusedByPins() {
		if err := in.act(); err != nil {
			return Changes{}, err
		}
	}
	out := in.finish()
	for _, kind := range []TaskKind{TaskUnreadable, TaskUnknownType} {
		out.Close = append(out.Close, TaskClose{
			Key: TaskKey{kind, fmt.Sprintf("event/%d", stored.ID)}, By: p.Actor, At: instant(rules.Now),
			Reason: fmt.Sprintf("read anew as event %d", again.ID),
		})
	}
	return out, nil
}
