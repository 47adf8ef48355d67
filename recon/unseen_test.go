package recon

import (
	"encoding/json"
	"slices"
	"testing"

	"creditonce/credit"
)

func TestMatch_ARowOnALoginThatMT5DoesNotHaveIsAskedForNothing(t *testing.T) {
	t.Parallel()
	var l lists
	gone := func(r *Row) { r.Login = 50004 }
	l.row("pi_1", "10", gone)
	l.row("pi_2", "20", gone)
	moved := l.row("pi_3", "30", gone)
	l.deal(moved, func(d *Deal) { d.Login = 700_001 })
	l.row("pi_4", "40")
	rules := testRules()
	rules.Unseen = map[string]map[uint64]bool{server: {50004: true}}
	items, out := compare(t, rules, l)
	if out.Classes[DoneWithoutDeal] != 1 || out.Classes[WrongLogin] != 1 {
		t.Errorf("%v", out.Classes)
	}
	if want := []UnseenRows{{server, 50004, 2}}; !slices.Equal(out.Unseen, want) {
		t.Errorf("not asked for: %v, want %v", out.Unseen, want)
	}
	for _, i := range items {
		if i.Key.Class == DoneWithoutDeal && i.Rows[0].Login == 50004 {
			t.Errorf("%s: %s", i.Key.Entity, i.Why)
		}
	}
}

func TestJudges_NothingOfALoginThatMT5DoesNotHave(t *testing.T) {
	t.Parallel()
	run := carryRun(3)
	run.Sources = append(run.Sources, Source{List: ListDeals, Entity: server, Complete: true, Unseen: Numbers{50004}}, Source{List: ListDeals, Entity: "Other", Complete: true})
	on := func(side Side, login uint64, state credit.State) Subject {
		i := Item{Side: side, Provider: "psp", Rows: []Row{{Identity: server, Login: login, State: state, Trace: carryTime.Add(-1)}}, At: carryTime.Add(-1)}
		return i.Subject()
	}
	for name, c := range map[string]struct {
		s    Subject
		want bool
	}{
		"MT5's side of the login":                        {on(SideMT5, 50004, credit.Done), false},
		"MT5's side of another login":                    {on(SideMT5, 50005, credit.Done), true},
		"a done row's statement":                         {on(SideProvider, 50004, credit.Done), true},
		"a failed row, which counts by its deal alone":   {on(SideProvider, 50004, credit.Failed), false},
		"a failed row on a login that is there":          {on(SideProvider, 50005, credit.Failed), true},
		"a deal that was moved there":                    {Item{Side: SideMT5, At: carryTime.Add(-1), Deals: []Deal{{Identity: server, At: carryTime.Add(-1), Deal: credit.Deal{Login: 50004}}}}.Subject(), false},
		"the same number on a server that shows it well": {Subject{Side: SideMT5, Identity: "Other", Logins: Numbers{50004}, At: carryTime.Add(-1)}, true},
	} {
		if got := run.Judges(c.s); got != c.want {
			t.Errorf("%s: judged %v", name, got)
		}
	}
}

func TestNumbers_AreTextInJSON(t *testing.T) {
	t.Parallel()
	s := Source{Unseen: numbersOf([]uint64{9007199254740993, 7, 7})}
	text, err := json.Marshal(s.Unseen)
	if err != nil || string(text) != `["7","9007199254740993"]` {
		t.Fatalf("%s, %v", text, err)
	}
	var back Numbers
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, s.Unseen) {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range []string{`[7]`, `["x"]`, `{}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read as %v", bad, back)
		}
	}
}

func TestTellUnseen_NamesTwentyLoginsAndCountsTheOthers(t *testing.T) {
	t.Parallel()
	run := Run{Sources: []Source{{List: ListDeals, Entity: server, Notes: []string{"first"}}, {List: ListDeals, Entity: "Other"}, {List: ListRows}}}
	for n := range 22 {
		run.Outcome.Unseen = append(run.Outcome.Unseen, UnseenRows{server, uint64(n + 1), n + 1})
	}
	tellUnseen(&run)
	notes := run.Sources[0].Notes
	if len(notes) != 22 || notes[0] != "login 1 is not at MT5 any more (archived, or outside the manager's groups); its 1 credit was not compared" ||
		notes[20] != "2 more logins are not at MT5 any more either; 43 credits on them were not compared" || notes[21] != "first" {
		t.Errorf("%q", notes)
	}
	if len(run.Sources[1].Notes)+len(run.Sources[2].Notes) != 0 {
		t.Errorf("other lists say %q, %q", run.Sources[1].Notes, run.Sources[2].Notes)
	}
}
