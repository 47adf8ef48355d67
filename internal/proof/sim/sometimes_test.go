package sim

import (
	"strings"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// sometimes counts what must happen in some run, or the simulation is asleep.
type sometimes int

const (
	executedLate sometimes = iota
	foundAfterUnknown
	absentVerdict
	conflictSeen
	lookDisagreed
	lateAnswer
	duplicateSent
	secondEventID
	refundedFirst
	depositCameLate
	amountDiffered
	eventsDisagreed
	foreignEvent
	pageWasCut
	wrongLoginAnswered
	controlFailed
	diskWasLow
	lowAtDone
	storeWasBusy
	commitFailed
	commitApplied
	loopEndedByStore
	processPaused
	cleanlyStopped
	hostRebooted
	wallJumped
	zoneShifted
	mt5WasRestored
	dealWasHidden
	commentWasAltered
	sessionWasDown
	loginWasMissing
	lookedAgain
	deadlineHeld
	callWasNotSent
	callWasRefused
	answerLost
	neverExecuted
	successWithoutTicket
	foreignTicket
	madeByHand
	labelRenamed
	pulledAlone
	pulledFirst
	pullRaced
	listedLate
	listPageFailed
	personActed
	adopted
	closedWithoutDeal
	released
	granted
	handedOver
	watchedRow
	wentLive
	backupPutBack
	doubtSeen
	claimsWaited
	copyStarted
	restoredByCommand
	takenOver
	freedAfterRestore
	dealWasGone
	wiredByHand
	replayed
	killedB01
	killedB02
	killedB03
	killedB04
	killedB05
	killedB06
	killedB07
	killedB08
	killedB09
	killedB10
	killedB11
	killedB12
	killedB13
	killedB14
	killedB15
	killedB16
	sometimesCount
)

var sometimesNames = [...]string{
	"executed after the time-out", "found after unknown", "absent verdict", "conflict", "a second look disagreed with the first",
	"an answer for an attempt that was over", "duplicate event", "a payment under a second event id", "refund before its payment",
	"deposit after its payment", "amount differed", "events disagreed", "test or foreign event", "page cut", "answer for another login",
	"positive control failed", "disk low", "disk low when a row became done", "store busy", "commit failed", "commit failed and was applied",
	"loop ended by its store", "process paused", "clean stop", "machine rebooted", "wall clock jumped", "MT5's clock shifted", "MT5 restored",
	"deal hidden", "comment altered", "MT5 away", "login missing", "looked again for freshness", "send deadline held", "call not sent",
	"call refused", "answer lost", "never executed", "success without a ticket", "another operation's ticket", "deal made by hand",
	"provider's label renamed", "a lost webhook found by the pull", "the list was before the webhook", "webhook and pull at the same time",
	"an event listed late", "a page of the list failed", "a person acted", "deal adopted", "closed without a deal", "released", "further call allowed", "handed over",
	"watched for a second deal", "went live later",
	"older backup put back by hand", "store in doubt", "claims waited for the quarantine after a start", "instance on a copy",
	"backup restored by the command", "store taken over", "row freed after a restore", "a deal recorded as deleted", "bank wire entered", "webhook replayed",
	"killed at B01", "killed at B02", "killed at B03", "killed at B04", "killed at B05", "killed at B06", "killed at B07", "killed at B08",
	"killed at B09", "killed at B10", "killed at B11", "killed at B12", "killed at B13", "killed at B14", "killed at B15", "killed at B16",
}

// rareOnes take several faults at once: only a long run must show them.
var rareOnes = []sometimes{dealWasGone, lowAtDone, freedAfterRestore}

func (s *sim) count(c sometimes) { s.seen[c]++ }

// killedAt counts the boundary at which a kill met an actor.
func (s *sim) killedAt(gate string) {
	if s.calm || !strings.HasPrefix(gate, "B") {
		return
	}
	n := int(gate[1]-'0')*10 + int(gate[2]-'0')
	s.count(killedB01 + sometimes(n-1))
}

func (s *sim) countAct(kind desk.Kind) {
	switch kind {
	case desk.Adopt:
		s.count(adopted)
	case desk.CloseCredit:
		s.count(closedWithoutDeal)
	case desk.Release:
		s.count(released)
	case desk.RetryUnknown:
		s.count(granted)
	case desk.DealGone:
		s.count(dealWasGone)
	case desk.ManualPay:
		s.count(wiredByHand)
	case desk.Replay:
		s.count(replayed)
	default:
	}
}

// countMoves counts what rows went through, as their commits tell it.
func (s *sim) countMoves(row credit.Credit, entries []credit.Entry, opened []credit.Task) {
	for _, e := range entries {
		switch e.Move {
		case "found":
			s.count(foundAfterUnknown)
		case "absent":
			s.count(absentVerdict)
		case "answered late":
			s.count(lateAnswer)
		case "watched":
			s.count(watchedRow)
		case "done":
			if s.free < claimFloor {
				s.count(lowAtDone)
			}
		}
		if look := lookOf(e); look != nil && look.Verdict == credit.VerdictFound && s.absentOnce[row.ID] {
			s.count(lookDisagreed)
		} else if look != nil && look.Verdict == credit.VerdictAbsent {
			s.absentOnce[row.ID] = true
		}
	}
	for _, t := range opened {
		switch t.Kind {
		case credit.TaskConflict:
			s.count(conflictSeen)
		case credit.TaskHandedOver:
			s.count(handedOver)
		default:
		}
	}
}

func lookOf(e credit.Entry) *credit.LookEvidence {
	if e.Evidence == nil {
		return nil
	}
	return e.Evidence.Look
}
