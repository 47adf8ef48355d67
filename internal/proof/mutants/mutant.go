package main

import (
	"fmt"
	"slices"
	"strings"
)

// mutant is one change of the product that must not go unseen.
type mutant struct {
	name   string
	edits  []edit
	killer harness
	says   string // what the killer's output must contain: the invariant that the mutant attacks, or the words of its test
}

// edit changes one place of the product's source.
type edit struct {
	file   string // from the root of the module, with slashes
	old    string // as it stands in the file, exactly once
	broken string // instead of it; ON stands for the question whether the mutant is on
}

// on is how an edit asks.
const on = "ON"

// in makes the edits of one file: old and broken in turn.
func in(file string, oldAndBroken ...string) []edit {
	var out []edit
	for i := 0; i+1 < len(oldAndBroken); i += 2 {
		out = append(out, edit{file, oldAndBroken[i], oldAndBroken[i+1]})
	}
	return out
}

// harness is a test that is there to catch mistakes of one kind.
type harness struct {
	pkg  string   // from the root of the module, with slashes
	run  string   // pattern of the tests
	args []string // further arguments of the test binary
}

func (h harness) String() string { return strings.TrimPrefix(h.pkg, "internal/proof/") + " " + h.run }

// test is a harness that is an ordinary test of a package.
func test(pkg, run string) harness { return harness{pkg: pkg, run: "^" + run + "$"} }

// simulation plays seeds until enough have failed.
func simulation(seeds int) harness {
	return harness{pkg: "internal/proof/sim", run: "^TestSim$", args: []string{"-seeds", fmt.Sprint(seeds), "-from", "1"}}
}

// mutants lists all of them, in the order in which they are shown.
func mutants() []mutant {
	return slices.Concat(creditMutants(), intakeMutants(), mt5Mutants(), storeMutants(), peopleMutants(), reconMutants())
}

// share picks each n-th mutant, beginning with the k-th: thirds by turns hold all.
func share(all []mutant, k, n int) []mutant {
	var out []mutant
	for i, m := range all {
		if i%n == k-1 {
			out = append(out, m)
		}
	}
	return out
}
