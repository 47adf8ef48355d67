package invariant

import (
	"testing"

	"creditonce/credit"
)

// BenchmarkChecker_AfterEachStep is what a simulation pays: the world is shown after each step, and one entry is new.
func BenchmarkChecker_AfterEachStep(b *testing.B) {
	g := good()
	g.w.OneClock = false
	c := new(Checker)
	c.Check(&g.w)
	for b.Loop() {
		g.move(doubtful, "resolver", "looked", "unknown", &credit.Evidence{Look: g.look("no_answer")})
		if found := c.Check(&g.w); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
}

// BenchmarkCheck_FirstSight is what a kill cycle pays for ten rows.
func BenchmarkCheck_FirstSight(b *testing.B) {
	w := good().w
	for b.Loop() {
		if found := Check(w); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
}
