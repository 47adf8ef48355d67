package credit

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// constructed is one use of a transition constructor: from where it must pass, and to where.
type constructed struct {
	constructor string
	made        Transition
	to          map[State]State // legal starts and their ends
}

// everyTransition spells every constructor, in every form that leads elsewhere.
func everyTransition() []constructed {
	row := joinedRow(Claimed)
	deal, dep := dealOf(row), depositOf(row)
	ref, mark, call := row.Reference, Mark{Process: "p", Boot: time.Hour, At: noon}, &CallEvidence{Attempt: 1, Outcome: OutcomeUnknown}
	look := absentLook("p", 4*time.Hour)
	first := Mark{Process: "p", Boot: 3 * time.Hour}
	absence := Absence{row: row.ID, attempt: 1, process: "p", before: first, look: look}
	one, two := People{Actor: "a", Reason: "r", At: noon}, People{Actor: "a", Proposal: 3, Reason: "r", At: noon}
	fill := func(c *Credit) { *c = joinedRow(New) }
	stay := func(s State) map[State]State { return map[State]State{s: s} }
	held := map[State]State{Pending: Held, Held: Held}
	all := []constructed{
		{"born", born(noon, "a", 1, nil, noon, fill), map[State]State{New: Pending}},
		{"born", born(noon, "a", 1, []Hold{HoldAmount}, noon, fill), map[State]State{New: Held}},
		{"joined", joined(noon, "a", 1, dep, ref, nil, noon), map[State]State{Held: Pending}},
		{"joined", joined(noon, "a", 1, dep, ref, []Hold{HoldLimit}, noon), stay(Held)},
		{"coded", coded(noon, "a", 1, codeOf(1)), stay(Held)},
		{"stopped", stopped(noon, ByIntake, "a", "r", nil, HoldReversal), held},
		{"stopped", stopped(noon, ByWorker, "a", "r", nil, HoldLookAlike), held},
		{"stopped", stopped(noon, ByOperator, "a", "r", nil, HoldByHand), held},
		{"graced", graced(noon, "a"), stay(Held)},
		{"claimed", claimed(noon, "a", "token", mark, look), map[State]State{Pending: Claimed}},
		{"postponed", postponed(noon, "a", "r", noon, noon), stay(Pending)},
		{"followed", followed(noon, "a", noon), stay(Pending)},
		{"done", done(noon, ByWorker, "a", "found before the call", Pending, "", deal, Evidence{}, noon, time.Hour), map[State]State{Pending: Done}},
		{"done", done(noon, ByWorker, "a", "done", Claimed, "token", deal, Evidence{}, noon, time.Hour), map[State]State{Claimed: Done}},
		{"done", done(noon, ByResolver, "a", "found", Unknown, "", deal, Evidence{}, noon, time.Hour), map[State]State{Unknown: Done}},
		{"watched", watched(noon, "a", look, noon, false), stay(Done)},
		{"refused", refused(noon, "a", "token", call), map[State]State{Claimed: Failed}},
		{"lost", lost(noon, "a", "token", "r", call, false, mark, noon), map[State]State{Claimed: Unknown}},
		{"orphaned", orphaned(noon, "a", "r", mark, noon), map[State]State{Claimed: Unknown}},
		{"resent", resent(noon, "a", "p", noon), map[State]State{Unknown: Pending}},
		{"looked", looked(noon, "a", look, &first, false, noon), stay(Unknown)},
		{"reissued", reissued(noon, "a", absence, noon), map[State]State{Unknown: Pending}},
		{"adopted", adopted(two, Held, deal, noon, time.Hour), map[State]State{Held: Done}},
		{"adopted", adopted(two, Unknown, deal, noon, time.Hour), map[State]State{Unknown: Done}},
		{"closedWithoutDeal", closedWithoutDeal(two, Held), map[State]State{Held: Cancelled}},
		{"closedWithoutDeal", closedWithoutDeal(two, Unknown), map[State]State{Unknown: Cancelled}},
		{"closedWithoutDeal", closedWithoutDeal(two, Failed), map[State]State{Failed: Cancelled}},
		{"released", released(two, row.Amount, false, nil, noon), map[State]State{Held: Pending}},
		{"released", released(two, row.Amount, false, []Hold{HoldLimit}, noon), stay(Held)},
		{"retried", retried(one, row, Guard{Now: mark, Schedule: noon}), map[State]State{Failed: Unknown}},
		{"granted", granted(two, noon), stay(Unknown)},
		{"hurried", hurried(one, Unknown, noon), stay(Unknown)},
		{"hurried", hurried(one, Pending, noon), stay(Pending)},
		{"excluded", excluded(two, Held, deal, noon), stay(Held)},
		{"excluded", excluded(two, Unknown, deal, noon), stay(Unknown)},
		{"examined", examined(one, Held, look, &first, noon), stay(Held)},
		{"examined", examined(one, Unknown, look, &first, noon), stay(Unknown)},
		{"examined", examined(one, Failed, look, &first, noon), stay(Failed)},
		{"answeredLate", answeredLate(noon, "a", call, true, mark, noon), stay(Unknown)},
	}
	restore := Restore{Number: 1, Kind: FromBackup, At: noon, Mark: mark, ReleasedBy: "a"}
	all = append(all,
		constructed{"bornInDoubt", bornInDoubt(noon, "a", 1, restore, noon, fill), map[State]State{New: Unknown}},
		constructed{"moved", moved(noon, "a", Pending, restore, noon), map[State]State{Pending: Unknown}},
		constructed{"moved", moved(noon, "a", Claimed, restore, noon), map[State]State{Claimed: Unknown}},
		constructed{"moved", moved(noon, "a", Unknown, restore, noon), stay(Unknown)},
		constructed{"moved", moved(noon, "a", Failed, restore, noon), stay(Failed)},
		constructed{"moved", moved(noon, "a", Held, restore, noon), stay(Held)},
		constructed{"freed", freed(noon, restore, nil, noon), map[State]State{Held: Pending}},
		constructed{"freed", freed(noon, restore, []Hold{HoldLimit}, noon), stay(Held)},
	)
	for _, s := range States() {
		all = append(all, constructed{"rescheduled", rescheduled(noon, "a", s, noon), stay(s)})
	}
	return all
}

func depositOf(c Credit) Deposit {
	return Deposit{
		Code: c.Deposit, Client: c.Client, Server: c.Server, Identity: c.Identity, Login: c.Login, Provider: c.Provider,
		Paid: c.Paid, Credited: c.Amount, CreatedAt: c.DepositAt, ExpiresAt: noon.Add(24 * time.Hour),
	}
}

// readyRow has all the evidence that any constructor of everyTransition asks for.
func readyRow(s State, constructor string) Credit {
	c := joinedRow(s)
	first := Mark{Process: "p", Boot: 3 * time.Hour}
	if s == Unknown {
		c.FirstAbsent, c.NotSent = &first, &first
	}
	if constructor == "joined" || constructor == "coded" {
		c.Deposit, c.Reference, c.Holds = "", "", []Hold{HoldNoDeposit}
		if s != Held {
			c.Holds = nil
		}
	}
	return c
}

func TestApply_EveryConstructorPassesOnlyWhereTheTableSays(t *testing.T) {
	t.Parallel()
	for _, c := range everyTransition() {
		for _, from := range append(States(), New) {
			row := readyRow(from, c.constructor)
			before := row
			before.Holds = slices.Clone(row.Holds)
			after, entry, err := Apply(row, c.made)
			if !reflect.DeepEqual(row, before) {
				t.Errorf("%s on %q changed its input", c.constructor, from)
			}
			to, legalStart := c.to[from]
			if !legalStart {
				if !errors.Is(err, ErrConflict) || !reflect.DeepEqual(after, before) || !reflect.DeepEqual(entry, Entry{}) {
					t.Errorf("%s on %q: %q, %v; want a conflict and no change", c.constructor, from, after.State, err)
				}
				continue
			}
			if err != nil || after.State != to {
				t.Errorf("%s on %q: %q, %v; want %q", c.constructor, from, after.State, err, to)
				continue
			}
			if entry.From != from || entry.To != to || entry.Move == "" || entry.Actor != "a" || entry.Seq != before.Entries+1 {
				t.Errorf("%s on %q: entry %+v", c.constructor, from, entry)
			}
			if from != to && !legal(from, to, entry.By) {
				t.Errorf("%s moves %q to %q by %s, which the table does not list", c.constructor, from, to, entry.By)
			}
			if (after.State == Held) != (len(after.Holds) > 0) {
				t.Errorf("%s on %q leaves %q with holds %v", c.constructor, from, after.State, after.Holds)
			}
		}
	}
}

func TestEveryTransition_KnowsEveryConstructorOfThePackage(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range everyTransition() {
		known[c.constructor] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Type.Results == nil || len(fn.Type.Results.List) != 1 {
				continue
			}
			result, ok := fn.Type.Results.List[0].Type.(*ast.Ident)
			if !ok || result.Name != "Transition" {
				continue
			}
			found++
			if !known[fn.Name.Name] {
				t.Errorf("%s makes a transition that no test of the table knows", fn.Name.Name)
			}
		}
	}
	if found < 15 {
		t.Errorf("%d constructors found: the search is blind", found)
	}
}

func TestApply_ClaimedNeverBecomesPending(t *testing.T) {
	t.Parallel()
	for _, m := range LegalMoves() {
		if m.From == Claimed && m.To == Pending {
			t.Fatal("the table lists claimed to pending")
		}
	}
	for _, c := range everyTransition() {
		row := readyRow(Claimed, c.constructor)
		mark := Mark{Process: "p", Boot: 3 * time.Hour}
		row.FirstAbsent, row.NotSent = &mark, &mark
		if after, _, err := Apply(row, c.made); err == nil && after.State == Pending {
			t.Errorf("%s moves claimed to pending", c.constructor)
		}
	}
	forged := Transition{name: "forged", from: []State{Claimed}, to: Pending, by: ByWorker, change: func(*Credit) {}}
	if after, _, err := Apply(joinedRow(Claimed), forged); !errors.Is(err, ErrImpossible) || after.State != Claimed {
		t.Errorf("a forged transition gives %q, %v", after.State, err)
	}
}

func TestH19_TerminalStatesAreNeverLeft(t *testing.T) {
	t.Parallel()
	for _, m := range LegalMoves() {
		if m.From.Terminal() {
			t.Errorf("the table leaves %q", m.From)
		}
	}
	for _, s := range []State{Done, Cancelled} {
		for _, c := range everyTransition() {
			if after, _, err := Apply(readyRow(s, c.constructor), c.made); err == nil && after.State != s {
				t.Errorf("%s leaves %q", c.constructor, s)
			}
		}
	}
}

func TestApply_TheTableIsTheDesigns(t *testing.T) {
	t.Parallel()
	want := map[State][]State{
		New:     {Pending, Held, Unknown},
		Held:    {Pending, Done, Cancelled},
		Pending: {Claimed, Held, Done, Unknown},
		Claimed: {Done, Failed, Unknown},
		Unknown: {Done, Pending, Cancelled},
		Failed:  {Unknown, Cancelled},
	}
	got := map[State][]State{}
	for _, m := range LegalMoves() {
		got[m.From] = append(got[m.From], m.To)
		if len(m.By) == 0 || m.When == "" {
			t.Errorf("%q to %q: by %v when %q", m.From, m.To, m.By, m.When)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("table %v, want %v", got, want)
	}
	LegalMoves()[0].By[0] = "anyone"
	if legal(New, Pending, "anyone") {
		t.Error("a caller can change the table")
	}
}

func TestApply_AnotherAttemptsTokenMovesNothing(t *testing.T) {
	t.Parallel()
	call := &CallEvidence{Attempt: 1, Outcome: OutcomeUnknown}
	row := joinedRow(Claimed)
	for _, token := range []string{"", "another", "token "} {
		for name, tr := range map[string]Transition{
			"refused": refused(noon, "a", token, call),
			"lost":    lost(noon, "a", token, "r", call, false, Mark{}, noon),
			"done":    done(noon, ByWorker, "a", "done", Claimed, token, dealOf(row), Evidence{}, noon, time.Hour),
		} {
			if _, _, err := Apply(row, tr); !errors.Is(err, ErrConflict) {
				t.Errorf("%s with token %q: %v", name, token, err)
			}
		}
		row.Token = ""
	}
}

func TestApply_DoneTakesOnlyTheRowsOwnDeal(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	for name, change := range map[string]func(*Deal){
		"no ticket": func(d *Deal) { d.Ticket = 0 },
		"login":     func(d *Deal) { d.Login++ },
		"action":    func(d *Deal) { d.Action = 3 },
		"amount":    func(d *Deal) { d.Amount = usd(1) },
		"sign":      func(d *Deal) { d.Amount = d.Amount.Neg() },
		"comment":   func(d *Deal) { d.Comment += " " },
	} {
		d := dealOf(row)
		change(&d)
		tr := done(noon, ByResolver, "a", "found", Unknown, "", d, Evidence{}, noon, time.Hour)
		if after, _, err := Apply(row, tr); !errors.Is(err, ErrInvalid) || after.State != Unknown {
			t.Errorf("%s: %q, %v", name, after.State, err)
		}
	}
}

func TestApply_WhatTheDepositWroteNeverChanges(t *testing.T) {
	t.Parallel()
	type fixed struct {
		unit             Unit
		kind             Kind
		server, identity string
		login            uint64
		client           string
		amount, ref      string
		depositAt        time.Time
	}
	of := func(c Credit) fixed {
		return fixed{c.Unit, c.Kind, c.Server, c.Identity, c.Login, c.Client, c.Amount.String(), string(c.Reference), c.DepositAt}
	}
	for _, c := range everyTransition() {
		for _, from := range States() {
			row := readyRow(from, "")
			if after, _, err := Apply(row, c.made); err == nil && of(after) != of(row) {
				t.Errorf("%s on %q changes %+v to %+v", c.constructor, from, of(row), of(after))
			}
		}
	}
	again := depositOf(joinedRow(Held))
	again.Login++
	if _, _, err := Apply(joinedRow(Held), joined(noon, "a", 1, again, vector, nil, noon)); !errors.Is(err, ErrConflict) {
		t.Errorf("a second deposit joins: %v", err)
	}
}

func TestApply_FieldsFollowTheState(t *testing.T) {
	t.Parallel()
	for _, c := range everyTransition() {
		for from := range c.to {
			after, _, err := Apply(readyRow(from, c.constructor), c.made)
			if err != nil {
				continue
			}
			if (after.Token != "" || after.LeaseUntil != Mark{}) && after.State != Claimed {
				t.Errorf("%s: %q has a token or lease", c.constructor, after.State)
			}
			if after.FirstAbsent != nil && after.State != Unknown && (after.State != Held && after.State != Failed || c.constructor != "examined") {
				t.Errorf("%s: %q has a look that counts for an absence", c.constructor, after.State)
			}
			if (after.UnknownSince != Mark{} || after.Looks != 0) && after.State != Unknown {
				t.Errorf("%s: %q has traces of unknown", c.constructor, after.State)
			}
			if after.State == Unknown && (after.NextAt.IsZero() || after.UnknownSince == Mark{}) {
				t.Errorf("%s: unknown since %v, next look at %v", c.constructor, after.UnknownSince, after.NextAt)
			}
			if after.State == Pending && (after.NextAt.IsZero() || after.PendingAt.IsZero()) {
				t.Errorf("%s: pending since %v, next at %v", c.constructor, after.PendingAt, after.NextAt)
			}
		}
	}
}

func TestApply_RefusesANamelessTransition(t *testing.T) {
	t.Parallel()
	if _, _, err := Apply(joinedRow(Pending), Transition{}); !errors.Is(err, ErrImpossible) {
		t.Errorf("error %v", err)
	}
}
