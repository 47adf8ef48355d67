package sim

import (
	"fmt"
	"strings"
)

// fault is one thing that can go wrong. Each run switches on a random subset, each with a rate of its own.
type fault int

// The menu. The names are those of the reports and of -faults.
const (
	killAtGate      fault = iota // the process is killed at any gate
	rebootHost                   // a kill takes the machine with it: the boot clock begins anew
	pauseProcess                 // no code runs for up to 12 minutes, the world goes on
	stopProcess                  // a clean stop and a new start
	wallJump                     // the wall clock is set
	storeBusy                    // the store takes nothing now
	commitFails                  // a commit error, and nothing was written
	commitLost                   // a commit error, and all was written
	lowSpace                     // the disk falls below its floors
	callNotSent                  // not one byte left
	callRefused                  // a listed refusal
	callLost                     // executed, and the answer is lost
	callNever                    // never executed, no answer
	callLate                     // executed up to Tmax later, mostly after the client's time-out
	callOdd                      // an answer that no list knows, executed or not
	callNoTicket                 // success without a ticket, executed or not
	callWrongTicket              // success with another operation's ticket
	dealHidden                   // a deal is not visible for a while
	dealCommentCut               // a deal's comment is cut or altered
	lookFails                    // a look is not complete
	readFails                    // account and deal reads fail
	wrongLogin                   // an answer for another login or ticket
	sessionDown                  // MT5 cannot be reached for a while
	slowLooks                    // logins with thousands of deals: looks take long
	lookAlikes                   // people make deals by hand that look like a payment
	loginArchived                // a login is away for a while
	zoneShift                    // the MT5 server's clock shifts by an hour
	mt5Restored                  // the MT5 server is restored: its newest deals vanish, tickets are used again
	pspDuplicate                 // the same event again
	pspReorder                   // events come late and out of order
	pspNewID                     // the payment under a second event id
	pspReversed                  // a refund or dispute, also before the payment
	pspSecondPay                 // the same deposit is paid twice
	pspAmount                    // another amount or currency
	pspDisagree                  // two events about one payment disagree
	pspTestMode                  // a test event, or another merchant's
	pspNoise                     // unreadable, unknown and irrelevant events
	pspRenamed                   // the provider's label in the configuration changes
	webhookLost                  // the webhook of an event never comes: only the provider's list has it
	listShowsLate                // the provider's list shows an event late
	listPageFails                // a page of the list cannot be read
	listIsDown                   // the list cannot be read for a while
	depositLate                  // the deposit record comes after the payment, or never
	ownerChanges                 // a login changes hands
	peopleAct                    // people retry, adopt, close, release and hold
	peopleHoldMode               // people hold the mode and release it
	goLiveLater                  // the store starts in observe
	backupByHand                 // an older file is put back by hand while the service is down
	backupByCommand              // a backup is restored by the command
	storeCopied                  // another instance starts on a copy of the file
	witnessLost                  // the witness is gone at a start
	faultCount
)

var faultNames = [...]string{
	"kill", "reboot", "pause", "stop", "wall-jump", "store-busy", "commit-fails", "commit-lost", "low-space",
	"call-not-sent", "call-refused", "call-lost", "call-never", "call-late", "call-odd", "call-no-ticket", "call-wrong-ticket",
	"deal-hidden", "comment-cut", "look-fails", "read-fails", "wrong-login", "session-down", "slow-looks", "look-alikes",
	"login-archived", "zone-shift", "mt5-restored",
	"psp-duplicate", "psp-reorder", "psp-new-id", "psp-reversed", "psp-second-pay", "psp-amount", "psp-disagree", "psp-test-mode",
	"psp-noise", "psp-renamed", "webhook-lost", "list-late", "list-page-fails", "list-down", "deposit-late", "owner-changes", "people", "hold-mode", "go-live-later",
	"backup-by-hand", "backup-by-command", "store-copied", "witness-lost",
}

func (f fault) String() string { return faultNames[f] }

// faults are the rates of one run, one in so many; 0: off.
type faults [faultCount]int

// menu is how often each fault may strike where it is asked: the most frequent rate, and how likely a run has it.
var menu = [faultCount]struct{ rate, odds int }{
	killAtGate: {60, 2}, rebootHost: {2, 4}, pauseProcess: {3, 3}, stopProcess: {4, 5}, wallJump: {3, 4},
	storeBusy: {12, 6}, commitFails: {60, 5}, commitLost: {60, 4}, lowSpace: {3, 5},
	callNotSent: {4, 4}, callRefused: {4, 5}, callLost: {3, 2}, callNever: {3, 3}, callLate: {2, 2}, callOdd: {4, 4},
	callNoTicket: {4, 5}, callWrongTicket: {5, 6},
	dealHidden: {2, 3}, dealCommentCut: {5, 12}, lookFails: {2, 3}, readFails: {6, 4}, wrongLogin: {8, 6}, sessionDown: {3, 5},
	slowLooks: {2, 5}, lookAlikes: {4, 6}, loginArchived: {3, 14}, zoneShift: {3, 8}, mt5Restored: {1, 20},
	pspDuplicate: {2, 2}, pspReorder: {3, 3}, pspNewID: {3, 3}, pspReversed: {4, 5}, pspSecondPay: {5, 8}, pspAmount: {5, 8},
	pspDisagree: {6, 10}, pspTestMode: {5, 8}, pspNoise: {4, 8}, pspRenamed: {2, 10},
	webhookLost: {3, 2}, listShowsLate: {2, 2}, listPageFails: {6, 2}, listIsDown: {3, 4},
	depositLate: {3, 3}, ownerChanges: {4, 10}, peopleAct: {1, 2}, peopleHoldMode: {4, 10}, goLiveLater: {1, 20},
	backupByHand: {1, 14}, backupByCommand: {1, 14}, storeCopied: {1, 16}, witnessLost: {3, 8},
}

// drawFaults chooses the subset and the rates; off removes faults from it without changing what else is drawn.
func (s *sched) drawFaults(off map[fault]bool) faults {
	var f faults
	for i := range menu {
		on, scale := s.oneIn(menu[i].odds), 1+s.rng.IntN(4)
		if on && !off[fault(i)] {
			f[i] = menu[i].rate * scale
			if menu[i].rate == 1 {
				f[i] = 1
			}
		}
	}
	return f
}

func (f faults) names() []string {
	var out []string
	for i, rate := range f {
		if rate > 0 {
			out = append(out, fault(i).String())
		}
	}
	return out
}

// parseFaults reads a list of fault names.
func parseFaults(text string) (map[fault]bool, error) {
	out := map[fault]bool{}
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		found := false
		for i := range faultNames {
			if faultNames[i] == name {
				out[fault(i)], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no fault %q; there are: %s", name, strings.Join(faultNames[:], " "))
		}
	}
	return out, nil
}

// strikes draws whether a fault happens here. In the calm after the faults none does.
func (s *sim) strikes(f fault) bool {
	rate := s.faults[f]
	return rate > 0 && !s.calm && s.rng.IntN(rate) == 0
}
