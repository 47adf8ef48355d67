package credit

import (
	"os"
	"strings"
	"testing"
)

// modelSize is how large a search is: small ones always run; quick ones, with up to some hundred thousand states, not under
// the race detector or with -short; deep ones with CREDITONCE_MODEL_DEEP set.
type modelSize int

const (
	small modelSize = iota
	quick
	deep
)

// due tells that a search of the size belongs to this run: the large ones are for runs of their own, and the race detector
// makes a search of one goroutine ten times slower for nothing.
func (size modelSize) due() bool {
	switch {
	case os.Getenv("CREDITONCE_MODEL_DEEP") != "":
		return true
	case size == deep:
		return false
	default:
		return size == small || (!modelRaced && !testing.Short())
	}
}

// modelBound ends a search; the memory of a machine is not endless. A deep search that meets it has seen, breadth first,
// everything that takes no more steps than its story's depth.
const modelBound = 6_000_000

// modelScenes are the searches that must find nothing.
var modelScenes = []struct {
	size modelSize
	modelScene
}{
	{small, modelScene{name: "one payment", units: 1, crashes: 1}},
	{quick, modelScene{name: "one payment and people", units: 1, crashes: 1, falseRefusals: 1, people: true}},
	{quick, modelScene{name: "one payment, MT5 hides and lies", units: 1, crashes: 1, staleLooks: 1, falseSuccess: true}},
	{quick, modelScene{name: "two payments of a login", units: 2}},
	{small, modelScene{name: "a deal made by hand", units: 1, hand: true}},
	{quick, modelScene{name: "a deal made by hand, and people", units: 1, hand: true, suspensions: 1, people: true}},
	{deep, modelScene{name: "a deal made by hand for one of two", units: 2, hand: true}},
	{small, modelScene{name: "a success that stays hidden", units: 1, sureAnswer: true, stayHidden: 4}},
	{small, modelScene{name: "another account at MT5", units: 1, account: true, suspensions: 1}},
	{quick, modelScene{name: "another owner", units: 1, owner: true, people: true}},
	{quick, modelScene{name: "cut-over", units: 2, observe: true, before: 1}},
	{small, modelScene{name: "cut-over with people", units: 1, observe: true, before: 1, hand: true, people: true}},
	{small, modelScene{name: "cut-over with a late deposit", units: 1, observe: true, before: 1, hand: true, lateDeposit: true, people: true}},
	{quick, modelScene{name: "two payments of one deposit", units: 2, lateDeposit: true, oneDeposit: true}},
	{quick, modelScene{name: "a backup restored by the command", units: 1, restores: 1, byCommand: true}},
	{deep, modelScene{name: "a backup restored by the command, and people", units: 1, restores: 1, byCommand: true, people: true}},
	{deep, modelScene{name: "a backup restored, and nothing sent again", units: 1, restores: 1, byCommand: true, noResend: true}},
	{quick, modelScene{name: "a file put back by hand", units: 1, restores: 1, byHand: true}},
	{quick, modelScene{name: "a file written over in place", units: 1, restores: 1, inPlace: true}},
	{deep, modelScene{name: "a copy taken over", units: 1, copied: true}},
	{deep, modelScene{name: "MT5 keeps no comments, and people take any deal", units: 2, noComments: true, people: true, mistaken: true}},
	{deep, modelScene{name: "a copy taken over, and people", units: 1, copied: true, people: true}},
	{deep, modelScene{name: "one payment, all at once", units: 1, crashes: 2, falseRefusals: 1, staleLooks: 1, suspensions: 1, falseSuccess: true, people: true, slowLook: 5}},
	{deep, modelScene{name: "two payments of a login, a crash", units: 2, crashes: 1}},
	{deep, modelScene{name: "two payments of a login, people", units: 2, people: true}},
	{deep, modelScene{name: "two payments of two logins", units: 2, otherLogin: true}},
	{deep, modelScene{name: "two payments of one deposit, people", units: 2, lateDeposit: true, oneDeposit: true, people: true}},
}

func TestModel_NothingBreaksAndNothingIsForgotten(t *testing.T) {
	for _, scene := range modelScenes {
		if !scene.size.due() {
			continue
		}
		t.Run(scene.name, func(t *testing.T) {
			m := newModel(scene.modelScene)
			r := m.search(modelBound, true)
			r.log(t)
			t.Logf("%d rows, %d decisions", len(m.rows.files), len(m.made))
			if r.cut && scene.size == deep {
				t.Logf("the search met its bound: nothing breaks within the %d states that come first", r.states)
				r.cut = false
			}
			if r.broken != "" || r.stuck > 0 || r.cut {
				t.Errorf("%s; %d states stuck; cut %v\n%s", r.broken, r.stuck, r.cut, strings.Join(r.story, "\n"))
			}
		})
	}
}
