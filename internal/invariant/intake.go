package invariant

import (
	"fmt"
	"strings"

	"creditonce/credit"
)

func intakeRules() []Invariant {
	return []Invariant{
		{"I-D1", "what was answered with 2xx is in the store, and no stored event goes or changes", Events, acknowledgedIsStored},
		{"I-D2", "each event that says paid has a row for each part, or a task that says why not", Events | Rows | Tasks, paidHasRow},
		{"I-D3", "the same events and deposits end in the same units, whatever their order and number", Events | Rows | Deposits, confluent},
		{"I-D4", "what failed its signature is never acknowledged and changes nothing", Sent | Events, signedOnly},
	}
}

func acknowledgedIsStored(v *view) {
	w, m := v.w, v.m
	if !w.Part {
		for i, e := range m.events {
			if i >= len(w.Events) || w.Events[i].ID != e.id || w.Events[i].MessageKey != e.key || w.Events[i].Digest != e.digest {
				v.find(nil, "event %d (%s) was stored and is not there any more as it was", e.id, e.key)
				break
			}
		}
	}
	if !w.has(Sent) {
		return
	}
	waiting := m.unanswered[:0]
	for _, i := range m.unanswered {
		d := &w.Sent[i]
		if d.Status == 0 {
			waiting = append(waiting, i)
			continue
		}
		if d.Status < 200 || d.Status > 299 {
			continue
		}
		if !d.Signed {
			waiting = append(waiting, i) // I-D4 speaks of it, and lets it go
			continue
		}
		if d.MessageKey == "" || w.Part || w.restored(i, func(r Restore) int { return r.Sent }) {
			continue
		}
		if _, ok := m.eventKeys[messageKey{d.Provider, d.MessageKey}]; !ok {
			v.find(nil, "delivery %s to %s was answered %d, and the store does not have it", d.MessageKey, d.Provider, d.Status)
		}
	}
	m.unanswered = waiting
}

func signedOnly(v *view) {
	w, m := v.w, v.m
	waiting := m.unanswered[:0]
	for _, i := range m.unanswered {
		d := &w.Sent[i]
		if !d.Signed && d.Status >= 200 && d.Status <= 299 {
			v.find(nil, "delivery %q to %s had a bad signature and was answered %d", d.MessageKey, d.Provider, d.Status)
			continue
		}
		waiting = append(waiting, i)
	}
	m.unanswered = waiting
	for i := len(m.events); i < len(w.Events); i++ {
		e := &w.Events[i]
		switch {
		case strings.HasPrefix(e.Provider, "desk/"), strings.HasPrefix(e.MessageKey, "replay of event "): // entered by people
		case m.authentic[messageKey{e.Provider, e.MessageKey}]:
		case e.Facts.Effect == "unreadable" && m.nameless[e.Provider]:
		default:
			v.find(nil, "event %d (%s of %s) is stored, and the provider never sent it with a good signature", e.ID, e.MessageKey, e.Provider)
		}
	}
}

func paidHasRow(v *view) {
	for i := range v.w.Events {
		e := &v.w.Events[i]
		if e.Facts.Effect != "paid" {
			continue
		}
		if !pays(v.env, e) {
			v.turnedAway(e)
			continue
		}
		parts := partsOf(e)
		if len(parts) < len(e.Facts.Parts) || len(parts) == 0 {
			v.wantTask(e, fmt.Sprintf("event/%d", e.ID), "unreadable", "paid_without_unit")
		}
		for _, p := range parts {
			u := credit.Unit{ProviderKind: e.Kind, Account: e.Account, Payment: e.Facts.Payment, Part: p.ID}
			if _, ok := v.byUnit[unitKey{"deposit", u}]; !ok {
				v.find(nil, "event %d says that payment %s part %q was paid, and no row has it", e.ID, u.Payment, u.Part)
			}
		}
	}
}

// turnedAway sees that an event that says paid and makes no row has a task, open or closed.
func (v *view) turnedAway(e *credit.Event) {
	switch {
	case e.Variant != "":
		v.wantTask(e, "event/"+e.Provider+"/"+e.MessageKey, "event_differs")
	case e.Facts.Live != (v.env == "live"):
		v.wantTask(e, "environment/"+e.Provider, "environment")
	case e.Facts.Merchant != "" && e.Facts.Merchant != e.Account:
		v.wantTask(e, "merchant/"+e.Provider+"/"+e.Facts.Merchant, "merchant")
	default:
		v.wantTask(e, fmt.Sprintf("event/%d", e.ID), "paid_without_unit")
	}
}

// wantTask finds an event without a task of any of the kinds about the entity.
func (v *view) wantTask(e *credit.Event, entity string, kinds ...credit.TaskKind) {
	if v.w.Part {
		return
	}
	for i := range v.w.Tasks {
		t := &v.w.Tasks[i]
		for _, k := range kinds {
			if t.Kind == k && t.Entity == entity {
				return
			}
		}
	}
	v.find(nil, "event %d says paid and makes no row, and no task %v about %s says why", e.ID, kinds, entity)
}

func confluent(v *view) {
	w, m := v.w, v.m
	if now := [2]int{len(w.Events), len(w.Deposits)}; m.expected == nil || now != m.basis {
		m.expected, m.basis = Expected(v.env, w.Events, w.Deposits), now
	}
	for i := range m.expected {
		x := &m.expected[i]
		at, ok := v.byUnit[unitKey{x.Kind, x.Unit}]
		if !ok {
			continue // I-D2 speaks of it
		}
		v.asExpected(at, x)
	}
	if w.Part || len(w.Rows) == len(m.expected) {
		return
	}
	known := make(map[credit.Unit]bool, len(m.expected))
	for i := range m.expected {
		known[m.expected[i].Unit] = true
	}
	for i := range w.Rows {
		if c := &w.Rows[i].Credit; c.Kind == "deposit" && !known[c.Unit] {
			v.row(i, "credit %d is payment %s part %q, and no event says that it was paid", c.ID, c.Unit.Payment, c.Unit.Part)
		}
	}
}

// asExpected compares one row with what the events say of its unit.
func (v *view) asExpected(at int, x *ExpectedUnit) {
	c := &v.w.Rows[at].Credit
	if x.Paid.IsSet() && !same(c.Paid, x.Paid) {
		v.row(at, "credit %d was paid with %s, its events say %s", c.ID, c.Paid, x.Paid)
	}
	if v.w.Part {
		return
	}
	if x.Deposit && c.Deposit != x.Code && c.State != "cancelled" {
		v.row(at, "credit %d has the deposit %q, its events name %s, which exists", c.ID, c.Deposit, x.Code)
	}
	if !x.Deposit && x.Code == "" && c.Deposit != "" && !v.everNamed(c) {
		v.row(at, "credit %d has the deposit %s, which no event names", c.ID, c.Deposit)
	}
	if v.w.Quiescent && x.Reversed && c.State == "pending" && v.w.Settings.Mode == "live" { // the claim holds it
		v.row(at, "credit %d is pending, and a refund or dispute of its payment is known", c.ID)
	}
}

// everNamed tells that some event of the row's payment names its deposit.
func (v *view) everNamed(c *credit.Credit) bool {
	for i := range v.w.Events {
		e := &v.w.Events[i]
		if e.Facts.Code == c.Deposit && e.Kind == c.Unit.ProviderKind && e.Account == c.Unit.Account && e.Facts.Payment == c.Unit.Payment {
			return true
		}
	}
	return false
}
