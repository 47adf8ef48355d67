package credit

import (
	"encoding/json"
	"slices"
	"time"
)

// modelOff takes load-bearing rules of the design away, one switch a rule: by the timing, by what a decision is shown, or by
// leaving a step out. The zero value is the design; no product code knows of them.
type modelOff struct {
	quarantine   bool
	secondLook   bool // the two looks of an absence may be made at one moment
	guard        bool // nothing is proven while a call is under way
	lookFirst    bool // before the call
	freshFor     bool // evidence is not older than 10 s at the claim
	deadline     bool // a call leaves soon after its claim or not at all
	oneOpen      bool // row a login
	successNever bool // answered with success: never re-issued automatically
	cutover      bool
	bootClock    bool // waits go on while the machine is suspended
	restoreMoves bool // a restore moves rows that may have been called
	noticed      bool // a file put back by hand, and a copy, are noticed
	fence        bool // a takeover ends the other instance's access first
}

// modelScene is what may happen in one search. Counts are budgets.
type modelScene struct {
	name       string
	units      int
	quarantine uint8 // ticks; 0: three
	otherLogin bool  // the second unit is another login's
	off        modelOff
	slowLook   uint8 // ticks that may pass between a look and what is decided on it; 0: one
	atTheWrite bool  // nothing can happen between the check of the send deadline and the write

	crashes, falseRefusals, staleLooks, suspensions, stayHidden uint8
	falseSuccess                                                bool // MT5 may answer success where nothing was applied
	sureAnswer                                                  bool // every call is answered, with success where it was applied
	people                                                      bool
	hand                                                        bool  // somebody may make a deal by hand, without the reference
	noComments                                                  bool  // MT5 keeps no comment of our deals
	mistaken                                                    bool  // people adopt any deal that they are let adopt
	account                                                     bool  // MT5 may make another account of the login
	owner                                                       bool  // the portal may register another client for the login
	observe                                                     bool  // the store begins before its cut-over
	before                                                      uint8 // bits of units that the flow before has had
	lateDeposit                                                 bool
	oneDeposit                                                  bool // both units name one deposit

	restores  uint8
	byCommand bool // a backup is restored by the command
	byHand    bool // a file is put back by hand, as another file
	inPlace   bool // its content is written over the store's own file: only the witness can tell
	copied    bool // a second instance may be started on a copy
	noResend  bool // the provider never sends again what was acknowledged before a restore
}

// modelSettings names stored settings of the table.
type modelSettings uint16

// modelRequest is one balance call on its way: MT5 executes it or drops it within L, and shows its deal within V.
type modelRequest struct {
	is   uint8
	left uint8 // ticks
}

const (
	reqNone uint8 = iota
	reqUnderWay
	reqHidden  // executed, and no look shows the deal yet
	reqVisible // executed
	reqDropped // never to be executed, and the caller still waits
)

func (r modelRequest) executed() bool { return r.is == reqHidden || r.is == reqVisible }

// The steps of the worker of an instance.
const (
	workIdle    uint8 = iota
	workAsked         // the account was read
	workLooked        // and the look saw no deal
	workClaimed       // the claim is committed
	workChecked       // the adapter has checked the send deadline
	workSent
	workAnswered // with success
)

// modelWorker is the lane's turn with one row.
type modelWorker struct {
	step, unit, slot uint8
	age              uint8    // ticks since the account was read; since the claim, once there is one
	deadline         uint8    // ticks from the claim to the send deadline
	was              modelRow // as the step before read it; from the claim on as it was claimed
}

// modelLook is a look that saw no deal and was not decided on yet.
type modelLook struct {
	unit   uint8 // and one; 0: none
	byHand bool
	age    uint8
}

// modelInstance is one process with its store.
type modelInstance struct {
	alive    bool
	waits    bool // its start could not see that the store is the newest one: it claims nothing before the quarantine
	moved    bool // its portal knows another client of the login
	deposit  bool // its store has the deposit record
	started  uint8
	settings modelSettings
	rows     [2]modelRow
	work     modelWorker
	look     modelLook
}

// modelState is the whole world. It is comparable: equal states are one.
type modelState struct {
	at       [2]modelInstance
	backup   modelBackup
	requests [2][2]modelRequest
	hand     modelHand
	events   [2]uint8 // deliveries so far; two are as good as many
	old      uint8    // bits of units that were acknowledged before the last restore
	claims   uint8    // since the backup; two are as good as many
	deposit  bool     // the deposit was made
	live     bool     // the service went live
	account  uint8    // 1: MT5 made another account of the login; 2: over a tick ago
	closed   uint8    // bits of units that people closed, or adopted a deal for
	released uint8    // bits of units that people let go on

	crashes, falseRefusals, staleLooks, suspensions, stayHidden, restores, copies uint8

	broken uint8 // what is wrong, index of modelBreaches
}

// modelHand is a deal that somebody made by hand for a unit.
type modelHand struct {
	is, unit, left uint8
}

const (
	handNone uint8 = iota
	handHidden
	handVisible
	handLong // visible for over a tick
)

// modelBackup is a copy of the first instance's store.
type modelBackup struct {
	taken    bool
	deposit  bool
	moved    bool
	settings modelSettings
	rows     [2]modelRow
}

// modelBreaches are the properties, as sentences about what broke them.
var modelBreaches = []string{
	"",
	"one payment has two deals",
	"a payment was claimed on an account that MT5 had changed before",
	"a payment from before the cut-over was paid",
	"a deal was made although people had closed the row or adopted another deal",
	"a payment was called although a deal made for it by hand was there to see",
	"two payments of one deposit were credited without people letting the second go on",
	"a row is done and MT5 has no deal of it",
	"a call is repeated although an earlier one can still be applied, or was",
	"a call is repeated and its history does not prove that it may be",
	"a call names another login or amount than the deposit",
}

const (
	twoDeals uint8 = 1 + iota
	wrongAccount
	paidBefore
	paidAfterClosing
	paidBesideHand
	depositTwice
	doneWithoutDeal
	repeatedTooEarly
	repeatedUnproven
	wrongCall
)

// settingsTable keeps every stored settings that came up, once.
type settingsTable struct {
	longest time.Duration // age of a mark that is as good as any higher
	kept    []Settings
	byText  map[string]modelSettings
}

func (st *settingsTable) keep(s Settings) modelSettings {
	s.ModeAt, s.ModeReason, s.ModeBy, s.CreatedAt, s.Instance, s.Place = time.Time{}, "", "", time.Time{}, "", nil
	if !s.CutoverAt.IsZero() {
		s.CutoverAt = modelCutover
	}
	if s.Doubt != nil {
		s.Doubt = &Doubt{Reason: "not the newest store"}
	}
	if s.Restore != nil {
		s.Restore = st.restored(*s.Restore)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	n, ok := st.byText[string(text)]
	if !ok {
		n = modelSettings(len(st.kept))
		st.kept, st.byText[string(text)] = append(st.kept, s), n
	}
	return n
}

// restored is a restore whose moments lie where the model has put payments before and after it.
func (st *settingsTable) restored(r Restore) *Restore {
	r.At, r.Since, r.By, r.Reason, r.ReleasedBy, r.Fence = modelRestored, modelRestored, "", "", "", ""
	r.Gaps = slices.Clone(r.Gaps)
	for i := range r.Gaps {
		r.Gaps[i] = Gap{Provider: r.Gaps[i].Provider, Complete: r.Gaps[i].Complete, From: modelRestored, To: r.Gaps[i].To}
		if r.Gaps[i].Complete {
			r.Gaps[i].To = modelNow
		}
	}
	for _, t := range []*time.Time{&r.MovedAt, &r.ReleasedAt, &r.FreedAt} {
		if !t.IsZero() {
			*t = modelNow
		}
	}
	if r.Mark.Process == modelProcess {
		r.Mark = Mark{Process: modelProcess, Boot: max(r.Mark.Boot, modelBoot-st.longest), At: modelNow}
	} else {
		r.Mark = Mark{Process: modelEarlier, At: modelNow.Add(-1000 * time.Hour)}
	}
	return &r
}

// older are the settings one tick later.
func (st *settingsTable) older(n modelSettings) modelSettings {
	s := st.kept[n]
	if s.Restore == nil || s.Restore.Mark.Process != modelProcess {
		return n
	}
	return st.keep(s.withRestore(func(r *Restore) { r.Mark.Boot -= modelTick }))
}

// carriedOver are the settings as another process reads them.
func (st *settingsTable) carriedOver(n modelSettings) modelSettings {
	s := st.kept[n]
	if s.Restore == nil {
		return n
	}
	return st.keep(s.withRestore(func(r *Restore) { r.Mark.Process = modelEarlier }))
}
