package credit

// takeRepeat handles a message key that is known: equal facts are acknowledged and change nothing, since a
// provider's retries may differ in bytes; other facts are kept as evidence and open a task.
func takeRepeat(e Event, found IntakeFound, rules IntakeRules) Changes {
	if found.Variant || e.Facts.same(found.Prior.Facts) {
		return Changes{}
	}
	e.Variant = e.Digest
	in := intake{event: e, found: found, rules: rules}
	t := in.eventTask(TaskEventDiffers, "the same event id came again with other facts",
		"compare both stored bodies and ask the provider which one is true")
	t.Entity = "event/" + e.Provider + "/" + e.MessageKey
	t.Records = []Record{factsRecord("first event", found.Prior.Facts), factsRecord("this event", e.Facts)}
	in.open(t)
	return in.finish()
}

// same compares the mapped facts of design §5.3: type, payment, parts with amount and currency, status, code.
func (f Facts) same(g Facts) bool {
	if f.Type != g.Type || f.Effect != g.Effect || f.Payment != g.Payment || f.Status != g.Status || f.Code != g.Code ||
		f.CodesClash != g.CodesClash || f.Movement != g.Movement || f.Live != g.Live || f.Merchant != g.Merchant ||
		len(f.Parts) != len(g.Parts) {
		return false
	}
	for i := range f.Parts {
		if f.Parts[i].ID != g.Parts[i].ID || !sameAmount(f.Parts[i].Amount, g.Parts[i].Amount) {
			return false
		}
	}
	return sameAmount(f.Moved, g.Moved)
}

func sameAmount(a, b Amount) bool { return a.Equal(b) || (!a.IsSet() && !b.IsSet()) }
