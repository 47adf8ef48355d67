package sim

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// The simulation is worth what it finds in a service that is broken on purpose. What it must find is the money, not the
// evidence that is missing: the world is judged without the waits, so that only the deals can tell.
func TestTeeth(t *testing.T) {
	lies := []fault{callLate, callLost}
	for name, broken := range map[string]options{
		"a quarantine of one second": {force: lies, timing: func(w *credit.Timing) { w.Quarantine, w.SecondLook = time.Second, time.Second }},
		"one look instead of two": {force: []fault{dealHidden, callLost}, timing: func(w *credit.Timing) {
			w.Quarantine, w.SecondLook = 5*time.Second, 1
		}},
		"an incomplete look taken for an empty one": {force: []fault{callLost}, world: func(s *sim) { s.faults[lookFails] = 1 }, trust: func(s credit.Sighting) credit.Sighting {
			if !s.Complete {
				s.Complete, s.Deals, s.Control = true, nil, "none"
			}
			return s
		}},
		"requests that live longer than the quarantine": {force: lies, world: func(s *sim) { s.mt5.lateMost = 3 * s.timing.Quarantine }},
		"deals that are hidden longer than the quarantine": {force: []fault{dealHidden, callLost}, world: func(s *sim) {
			s.mt5.hideMost = 3 * s.timing.Quarantine
		}},
		"an older file whose start sees nothing wrong": {
			force: []fault{backupByHand, callLate, callLost}, world: func(s *sim) { s.witness, s.options.blind = "", true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			const seeds = 1500
			broken.finds = "I-M1:"
			total := playQuietly(t, 1, seeds, broken)
			for _, r := range total.bad {
				if strings.HasPrefix(r.failure, broken.finds) {
					t.Logf("found by seed %d: %s", r.seed, r.failure)
					return
				}
			}
			t.Errorf("%d seeds found no second deal, but %d other faults", seeds, len(total.bad))
		})
	}
}
