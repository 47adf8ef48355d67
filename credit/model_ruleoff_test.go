package credit

import (
	"strings"
	"testing"
)

// modelRule is a row of the table of rules: with the rule taken away, and everything else as designed, the search must
// find the named breach; where a rule alone is redundant, that it is, and what it is needed with.
type modelRule struct {
	size  modelSize
	name  string
	scene modelScene
	finds uint8 // 0: nothing
}

var modelRulesOff = []modelRule{
	{small, "quarantine", modelScene{units: 1, off: modelOff{quarantine: true}}, twoDeals},
	{small, "quarantine shorter than a call's life and a deal's hiding", modelScene{units: 1, quarantine: 1}, twoDeals},
	{small, "quarantine of just that length is enough with two looks", modelScene{units: 1, quarantine: 2}, 0},
	{small, "second look, at a quarantine of just that length", modelScene{units: 1, quarantine: 2, off: modelOff{secondLook: true}}, twoDeals},
	{small, "second look alone is redundant", modelScene{units: 1, off: modelOff{secondLook: true}}, 0},
	{small, "guard of the live call", modelScene{units: 1, off: modelOff{guard: true}}, twoDeals},
	{small, "guard is redundant where the deadline is enforced at the write itself", modelScene{units: 1, atTheWrite: true, off: modelOff{guard: true}}, 0},
	{small, "send deadline alone is redundant", modelScene{units: 1, atTheWrite: true, off: modelOff{deadline: true}}, 0},
	{small, "send deadline, with the guard", modelScene{units: 1, atTheWrite: true, off: modelOff{deadline: true, guard: true}}, twoDeals},
	{small, "look first", modelScene{units: 1, hand: true, off: modelOff{lookFirst: true}}, paidBesideHand},
	{small, "evidence under ten seconds, about deals", modelScene{units: 1, hand: true, off: modelOff{freshFor: true}}, paidBesideHand},
	{small, "evidence under ten seconds, about the account", modelScene{units: 1, account: true, off: modelOff{freshFor: true}}, wrongAccount},
	{small, "answered success is never re-issued", modelScene{units: 1, stayHidden: 4, sureAnswer: true, off: modelOff{successNever: true}}, twoDeals},
	{quick, "cut-over", modelScene{units: 2, observe: true, before: 1, off: modelOff{cutover: true}}, paidBefore},
	{small, "boot clock", modelScene{units: 1, hand: true, suspensions: 2, off: modelOff{bootClock: true}}, paidBesideHand},
	{quick, "a restore moves rows to unknown", modelScene{units: 1, restores: 1, byCommand: true, people: true, off: modelOff{restoreMoves: true}}, paidAfterClosing},
	{quick, "a file put back by hand is noticed", modelScene{units: 1, restores: 1, byHand: true, off: modelOff{noticed: true}}, twoDeals},
	{quick, "a file written over in place is noticed", modelScene{units: 1, restores: 1, inPlace: true, off: modelOff{noticed: true}}, twoDeals},
	{quick, "a copy is noticed", modelScene{units: 1, copied: true, off: modelOff{noticed: true}}, twoDeals},
	{deep, "the other instance is fenced", modelScene{units: 1, copied: true, off: modelOff{fence: true}}, twoDeals},
	{quick, "one open row a login, where MT5 keeps no comments and people take a wrong deal",
		modelScene{units: 2, noComments: true, people: true, mistaken: true, off: modelOff{oneOpen: true}}, doneWithoutDeal},
	{deep, "one open row a login alone is redundant", modelScene{units: 2, off: modelOff{oneOpen: true}}, 0},
}

// Each load-bearing rule carries weight: without it the search finds the story that it prevents.
func TestModel_RuleOff(t *testing.T) {
	for _, rule := range modelRulesOff {
		if !rule.size.due() {
			continue
		}
		t.Run(rule.name, func(t *testing.T) {
			m := newModel(rule.scene)
			if rule.finds != 0 {
				m.wants = 1 << rule.finds
			} else if rule.scene.off.secondLook {
				m.wants &^= 1 << repeatedUnproven // which is this very rule
			}
			r := m.search(10_000_000, false)
			r.log(t)
			switch {
			case r.cut:
				t.Errorf("the search met its bound")
			case r.broken != modelBreaches[rule.finds]:
				t.Errorf("found %q, want %q\n%s", r.broken, modelBreaches[rule.finds], strings.Join(r.story, "\n"))
			case rule.finds != 0:
				t.Logf("%s:\n%s", r.broken, strings.Join(r.story, "\n"))
			}
		})
	}
}
