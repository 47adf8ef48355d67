package invariant

import (
	"fmt"
	"slices"

	"creditonce/credit"
)

// Invariant is one rule with its name and its sentence.
type Invariant struct {
	Name     string
	Sentence string
	needs    Lists
	check    func(*view)
}

// All lists the invariants in the order in which they are judged.
func All() []Invariant {
	return slices.Concat(moneyRules(), callRules(), intakeRules(), stateRules(), reconRules(), otherRules())
}

// Check judges a world that nobody has seen before. It is pure; the violations come in the order of the invariants, and
// for each in the order of the world's lists.
func Check(w World) []Violation { return new(Checker).Check(&w) }

// Checker judges one world again and again as it grows. It keeps what it has proven of the append-only lists and of the
// rows' histories, so that a call costs what is new, not what there is. What the world forgets (a deal, an event, a row)
// without a [Restore] that says so is a violation. The zero value is ready; it is not safe for concurrent use.
type Checker struct {
	m     memory
	rules []Invariant
}

// Check judges the world as it is now. A violation in what only grows is told once, when it is first seen; one of a
// state as long as it lasts. It keeps nothing of w but copies.
func (c *Checker) Check(w *World) []Violation {
	if c.rules == nil {
		c.rules, c.m = All(), newMemory()
	}
	v := newView(w, &c.m)
	for i := range c.rules {
		r := &c.rules[i]
		if !w.has(r.needs) {
			continue
		}
		v.name = r.Name
		r.check(v)
	}
	v.remember()
	return v.out
}

// view is one world while it is judged: indexes for looking up, never for walking through.
type view struct {
	w    *World
	m    *memory
	name string // of the invariant being judged
	out  []Violation

	env      string
	seen     []*seen           // by row
	byID     map[credit.ID]int // row
	byRef    map[string]int    // row by the reference that its unit gives
	byUnit   map[unitKey]int   // row
	open     map[credit.TaskKey]int
	tasksOf  map[credit.ID]int  // how many open tasks are about a row
	codes    map[string]int     // deposit
	blocked  map[account][]stop // logins in doubt now, and why
	reversed map[payment]bool   // payments whose refund or dispute is stored
	faulted  map[account]bool   // a rule about its money has spoken already
}

// account is a login of an MT5 server, by the server's own name.
type account struct {
	identity string
	login    uint64
}

// unitKey is a unit with the kind of its row.
type unitKey struct {
	kind credit.Kind
	unit credit.Unit
}

// payment is a payment at a provider's merchant account.
type payment struct{ kind, account, id string }

func (v *view) find(rows []credit.ID, format string, args ...any) {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	v.out = append(v.out, Violation{Invariant: v.name, Rows: slices.Compact(rows), Text: fmt.Sprintf(format, args...)})
}

func (v *view) row(i int, format string, args ...any) {
	v.find([]credit.ID{v.w.Rows[i].Credit.ID}, format, args...)
}
