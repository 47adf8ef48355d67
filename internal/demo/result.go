package demo

import (
	"maps"
	"slices"
)

// Result is what one scenario came to; its JSON form is the demo's output. All numbers are measured: deals against
// MT5's own journal, states from the store after serve has stopped.
type Result struct {
	Scenario string         `json:"scenario"`
	Deposits int            `json:"deposits"`
	States   map[string]int `json:"states"`      // credit rows of these deposits, by state
	Deals    int            `json:"deals"`       // balance deals that MT5 executed for us
	Others   int            `json:"other_deals"` // of them, for payments that a person made by hand meanwhile
	Doubled  int            `json:"doubled"`     // deals beyond one per payment
	Missing  int            `json:"missing"`     // promised credits without their deal
	Wrong    int            `json:"wrong"`       // deals, rows, tasks or records that are not as promised
	Tasks    int            `json:"tasks"`       // open tasks
	Seed     uint64         `json:"seed"`
	Seconds  float64        `json:"seconds"`
	// FirstCredit is the time from the start of the demo to its first credited deposit; 0 when there was none.
	FirstCredit float64  `json:"first_credit_seconds"`
	OK          bool     `json:"ok"`
	Problems    []string `json:"problems"`
	Folder      string   `json:"folder,omitempty"` // of the show, when it was kept
	Report      string   `json:"report,omitempty"` // path of a reconciliation's page, where the scenario makes one
}

// Results is what All came to.
type Results struct {
	Scenarios map[string]Result `json:"scenarios"`
	Deposits  int               `json:"deposits"`
	States    map[string]int    `json:"states"`
	Deals     int               `json:"deals"`
	Doubled   int               `json:"doubled"`
	Missing   int               `json:"missing"`
	Wrong     int               `json:"wrong"`
	Tasks     int               `json:"tasks"`
	Seed      uint64            `json:"seed"`
	Seconds   float64           `json:"seconds"`
	OK        bool              `json:"ok"`
	Folder    string            `json:"folder,omitempty"`
}

func (s *show) result(e evidence, v verdict) Result {
	_, _, _, first, since := s.board.snapshot()
	r := Result{
		Scenario: s.scene.name, Deposits: len(e.deposits), States: map[string]int{}, Deals: len(e.deals),
		Doubled: v.doubled, Missing: v.missing, Wrong: v.wrong, Tasks: len(e.store.OpenTasks),
		Seed: s.o.Seed, Seconds: seconds(since), FirstCredit: seconds(first),
		Problems: append(append([]string{}, s.problems...), v.problems...),
	}
	others := otherReferences(e)
	for _, d := range e.deals {
		if others[d.Comment] {
			r.Others++
		}
	}
	mine := codesOf(e)
	for _, row := range e.store.Rows {
		if mine[row.Code] {
			r.States[row.State]++
		}
	}
	r.Report = s.report
	if s.kept() {
		r.Folder = s.stage.dir
	}
	r.OK = len(r.Problems) == 0
	return r
}

// total adds up the results of several scenarios.
func total(results map[string]Result) Results {
	t := Results{Scenarios: results, States: map[string]int{}, OK: len(results) > 0}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		t.Deposits += r.Deposits
		t.Deals += r.Deals
		t.Doubled += r.Doubled
		t.Missing += r.Missing
		t.Wrong += r.Wrong
		t.Tasks += r.Tasks
		t.OK = t.OK && r.OK
		for state, n := range r.States {
			t.States[state] += n
		}
	}
	return t
}
