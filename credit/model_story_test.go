package credit

import (
	"strings"
	"testing"
)

// modelStory goes one way through the model: each step must be possible, or must not.
type modelStory struct {
	t    *testing.T
	m    *model
	at   modelState
	rows []string // what the first payment's row at the first instance was, each content once in a row
}

func tellStory(t *testing.T, scene modelScene) *modelStory {
	t.Helper()
	t.Parallel()
	m := newModel(scene)
	return &modelStory{t: t, m: m, at: m.first()}
}

func (y *modelStory) find(text string) *modelEdge {
	for _, e := range y.m.next(&y.at, nil) {
		if strings.Contains(y.m.tell(modelLabel{e.text, e.row, e.i, e.u}), text) {
			return &e
		}
	}
	return nil
}

// then takes the steps whose sentences contain the texts, one after the other.
func (y *modelStory) then(texts ...string) {
	y.t.Helper()
	for _, text := range texts {
		e := y.find(text)
		if e == nil {
			y.t.Fatalf("nothing like %q can happen here; what can:\n%s", text, y.could())
		}
		y.at = e.to
		if y.at.broken != 0 {
			y.t.Fatalf("after %q: %s", text, modelBreaches[y.at.broken])
		}
		if n := y.at.at[0].rows[0]; n != 0 {
			now := reducedText(*y.m.rows.of(n), y.m.rows)
			if len(y.rows) == 0 || y.rows[len(y.rows)-1] != now {
				y.rows = append(y.rows, now)
			}
		}
	}
}

func (y *modelStory) could() string {
	out := ""
	for _, e := range y.m.next(&y.at, nil) {
		out += "  " + y.m.tell(modelLabel{e.text, e.row, e.i, e.u}) + "\n"
	}
	return out
}

// cannot wants the steps refused.
func (y *modelStory) cannot(texts ...string) {
	y.t.Helper()
	for _, text := range texts {
		if e := y.find(text); e != nil {
			y.t.Errorf("%q can happen here", text)
		}
	}
}

// is wants the row of the payment at the instance to be so.
func (y *modelStory) is(i, u int, state State, holds ...Hold) {
	y.t.Helper()
	row := y.m.rows.of(y.at.at[i].rows[u]).row
	if row.State != state || len(withHolds(row.Holds, holds...)) != len(row.Holds) || len(holds) != len(row.Holds) {
		y.t.Errorf("the row is %s %v, want %s %v", row.State, row.Holds, state, holds)
	}
}

// harmless goes through everything that can follow, and wants no breach.
func (y *modelStory) harmless() {
	y.t.Helper()
	r := y.m.searchFrom(y.at, 1_000_000, false)
	if r.broken != "" || r.cut {
		y.t.Errorf("what can follow: %s (bound met: %v)\n%s", r.broken, r.cut, strings.Join(r.story, "\n"))
	}
	y.t.Logf("%d states can follow", r.states)
}

var (
	upToTheClaim = []string{"takes up payment one", "before the call of payment one: no deal", "claims payment one"}
	uptoTheCall  = append(upToTheClaim[:3:3], "checks the send deadline", "sends the call")
	threeTicks   = []string{"Three minutes go by", "Three minutes go by", "Three minutes go by"}
)

// Backup, then event, claim and call; restore; the pull makes the row again.
func TestModel_Story_ARowThatThePullMakesAgainAfterARestoreIsNotPending(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, restores: 1, byCommand: true})
	y.then("store is copied", "takes in payment one: it is pending")
	y.then(uptoTheCall...)
	y.then("restored by the command", "takes in payment one: it is unknown")
	y.is(0, 0, Unknown)
	y.cannot("takes up payment one", "claims")
	y.harmless()
}

func TestModel_Story_AFileCopiedBackByHandWhileItsRequestIsInFlightClaimsNothing(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, restores: 1, byHand: true})
	y.then("takes in payment one", "store is copied")
	y.then(uptoTheCall...)
	y.then("put back by hand")
	y.is(0, 0, Pending)
	y.cannot("takes up", "release the mode")
	y.then("take the service over")
	y.cannot("takes up", "release the mode")
	y.harmless()
}

// The same, written over the very file: only the witness tells, and it is one claim ahead.
func TestModel_Story_AFileWrittenOverInPlaceWaitsForTheQuarantine(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, restores: 1, inPlace: true})
	y.then("takes in payment one", "store is copied")
	y.then(uptoTheCall...)
	y.then("written over")
	y.cannot("takes up")
	y.then("MT5 executes the call of payment one", "MT5 shows the deal of payment one")
	y.then(threeTicks...)
	y.then("takes up payment one", "looks before the call of payment one: the row is done")
}

func TestModel_Story_ACopyIsNotReleasedWhileTheFirstInstanceLives(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, copied: true, people: true})
	y.then("takes in payment one", "store is copied", "copy is started")
	y.cannot("release the mode of the copy", "take the copy over", "copy takes up")
	y.then("is gone for good", "take the copy over")
	y.cannot("release the mode of the copy")
	y.then("copy moves payment one for the restore: the row is unknown", "has moved every row", "pulled the whole gap")
	y.cannot("release the mode of the copy")
	y.then(threeTicks...)
	y.then("release the mode of the copy")
}

// What the fence prevents: with it left out, the same way ends in two deals.
func TestModel_Story_ATakeoverWithoutAFencePaysTwice(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, copied: true, off: modelOff{fence: true}})
	y.then("store is copied", "copy is started", "take the copy over", "service takes in payment one")
	y.then(upToTheClaim...)
	y.then("checks the send deadline", "moved every row", "pulled the whole gap", "Three minutes go by", "service sends the call of payment one")
	y.then("Three minutes go by", "MT5 executes", "Three minutes go by", "release the mode of the copy", "copy takes in payment one")
	y.then("copy takes up payment one", "copy looks before the call of payment one: no deal", "copy claims", "copy checks", "copy sends")
	if e := y.find("MT5 executes"); e == nil || e.to.broken != twoDeals {
		t.Errorf("the second call makes no second deal: %+v", e)
	}
}

func TestModel_Story_ARestoreLeavesHeldRowsOfBeforeTheCutoverHeld(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, observe: true, before: 1, restores: 1, byCommand: true, people: true, hand: true})
	y.then("takes in payment one: it is held", "store is copied", "restored by the command", "moves payment one for the restore")
	y.is(0, 0, Held, HoldPreCutover, HoldRestored)
	y.cannot("people release payment one")
	y.harmless()
}

func TestModel_Story_NothingIsClosedOnOneLookOrWhileTheRequestLiesInMT5sQueue(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, people: true})
	y.then("takes in payment one")
	y.then(uptoTheCall...)
	y.then("gets no answer", "looks at payment one: no deal", "decides on its look")
	y.cannot("close payment one")
	y.then("Three minutes go by", "MT5 drops")
	y.then("Three minutes go by", "Three minutes go by", "looks at payment one: no deal", "decides on its look at payment one: the row is unknown")
	y.cannot("close payment one")
	y.then("Three minutes go by", "looks at payment one: no deal", "decides on its look at payment one: the row is pending")
	y.cannot("close payment one")
	y.harmless()
}

func TestModel_Story_ARestoredBackupOfAnObservingStoreIsReleasedToObserve(t *testing.T) {
	y := tellStory(t, modelScene{units: 2, observe: true, before: 1, restores: 1, byCommand: true})
	y.then("store is copied", "let the service go live", "takes in payment two: it is pending")
	y.then("restored by the command", "moved every row", "takes in payment two", "pulled the whole gap")
	y.then(threeTicks...)
	y.then("release the mode of the service")
	if mode := y.m.settings.kept[y.at.at[0].settings].Mode; mode != ModeObserve {
		t.Errorf("the mode is %s, want observe", mode)
	}
	y.harmless()
}

func TestModel_Story_ADepositThatArrivesClearsOnlyItsOwnReason(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, observe: true, before: 1, lateDeposit: true, people: true})
	y.then("takes in payment one: it is held")
	y.is(0, 0, Held, HoldNoDeposit, HoldPreCutover)
	y.then("portal makes the deposit")
	y.is(0, 0, Held, HoldPreCutover)
	y.then("let the service go live")
	y.is(0, 0, Held, HoldPreCutover)
	y.harmless()
}

func TestModel_Story_AnAccountThatChangesBetweenItsCheckAndTheClaimIsReadAgain(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, account: true})
	y.then("takes in payment one", "takes up payment one", "MT5 makes another account", "Three minutes go by", "looks before the call of payment one")
	y.is(0, 0, Held, HoldAccount)
	y.harmless()
}

func TestModel_Story_AnOwnerWhoChangesBetweenTheCheckAndTheClaimStopsTheClaim(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, owner: true})
	y.then("takes in payment one", "takes up payment one", "before the call of payment one: no deal", "registers another client")
	y.is(0, 0, Held, HoldOwnership)
	y.then("does not claim payment one")
	y.cannot("claims payment one")
	y.harmless()
}

func TestModel_Story_ASuspendedMachineSendsNothingLateAndClaimsOnNothingOld(t *testing.T) {
	y := tellStory(t, modelScene{units: 1, suspensions: 2})
	y.then("takes in payment one", "takes up payment one", "before the call of payment one: no deal", "is suspended", "does not claim payment one")
	y.then(upToTheClaim...)
	y.then("is suspended")
	y.cannot("checks the send deadline")
	y.then("sends nothing for payment one")
	y.is(0, 0, Pending)
	y.harmless()
}

func TestModel_Story_ASecondPaymentBeforeTheGapPullBringsTheFirstWaitsForTheRelease(t *testing.T) {
	y := tellStory(t, modelScene{units: 2, oneDeposit: true, restores: 1, byCommand: true})
	y.then("store is copied", "takes in payment one: it is pending")
	y.then(uptoTheCall...)
	y.then("restored by the command", "takes in payment two: it is held")
	y.is(0, 1, Held, HoldRestored)
	y.then("takes in payment one")
	y.then("moved every row", "pulled the whole gap")
	y.then("MT5 executes", "MT5 shows")
	y.then(threeTicks...)
	y.then("release the mode of the service", "frees payment two after the restore")
	y.is(0, 1, Held, HoldSecondPart)
	y.cannot("takes up payment two")
}
