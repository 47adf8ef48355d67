package sim

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// The simulation is worth what it finds in a service that is broken on purpose.
func TestTeeth(t *testing.T) {
	cases := map[string]struct {
		broken options
		finds  string
	}{
		"a quarantine of one second pays twice": {
			options{timing: func(w *credit.Timing) { w.Quarantine, w.SecondLook = time.Second, time.Second }}, "I-M1",
		},
		"one look is not two": {
			options{timing: func(w *credit.Timing) { w.Quarantine, w.SecondLook = 5*time.Second, 1 }}, "I-M1",
		},
		"an incomplete look that is taken for an empty one pays twice": {
			options{trust: func(s credit.Sighting) credit.Sighting {
				if !s.Complete {
					s.Complete, s.Deals, s.Control = true, nil, "none"
				}
				return s
			}}, "I-M1",
		},
		"a request that lives longer than the quarantine pays twice": {
			options{world: func(s *sim) { s.mt5.lateMost = 3 * s.timing.Quarantine }}, "I-M1",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			const seeds = 500
			total := playQuietly(t, 1, seeds, c.broken)
			if len(total.bad) == 0 {
				t.Fatalf("%d seeds found nothing", seeds)
			}
			kinds := map[string]int{}
			for _, r := range total.bad {
				kinds[strings.SplitN(r.failure, ":", 2)[0]]++
			}
			t.Logf("found by %d seeds, first %d: %s; %v", len(total.bad), total.bad[0].seed, total.bad[0].failure, kinds)
			if kinds[c.finds] == 0 {
				t.Errorf("none of them is %s", c.finds)
			}
		})
	}
}
