package faultpoints

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

func TestParse_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	plan, err := Parse("kill@B06.claim_committed#3,stop@B01,hold=1.5s@B09#2")
	want := []Point{{Kill, "B06.claim_committed", 3, 0}, {Stop, "B01", 1, 0}, {Hold, "B09", 2, 1500 * time.Millisecond}}
	if err != nil || !slices.Equal(plan, want) {
		t.Fatalf("got %v, %v", plan, err)
	}
	for _, p := range plan {
		if again, err := Parse(p.String()); err != nil || !slices.Equal(again, []Point{p}) {
			t.Errorf("%s was read as %v, %v", p, again, err)
		}
	}
	if plan, err := Parse(""); len(plan) != 0 || err != nil {
		t.Errorf("nothing was read as %v, %v", plan, err)
	}
}

func TestParse_RefusesAPlanThatWouldDoNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"kill", "kill@", "@B01", "slap@B01", "kill=3s@B01", "hold@B01", "hold=x@B01", "kill@B01#0", "kill@B01#x", "kill@B01,"} {
		if plan, err := Parse(text); err == nil || !strings.Contains(err.Error(), Variable) {
			t.Errorf("%q was read as %v, %v", text, plan, err)
		}
	}
}

func TestHook_StrikesOnceAtTheNthPassing(t *testing.T) {
	t.Parallel()
	plan, err := Parse("kill@B06#2,stop@B06.claim_committed#2,kill@B0#1")
	if err != nil {
		t.Fatal(err)
	}
	var struck []string
	h := NewHook(plan, func(_ context.Context, p Point) { struck = append(struck, p.String()) })
	for _, name := range []string{credit.StepClaimed, credit.StepSlotHeld, credit.StepClaimed, credit.StepClaimed} {
		h.Step(t.Context(), credit.Step{Name: name})
		if len(struck) > 0 && name == credit.StepSlotHeld {
			t.Error("struck at another boundary")
		}
	}
	if !slices.Equal(struck, []string{"kill@B06#2", "stop@B06.claim_committed#2"}) {
		t.Errorf("struck %v", struck)
	}
}

// The program that is shipped has no boundary that a variable of the environment could stop it at.
func TestShippedProgramHoldsNoFaultPoints(t *testing.T) {
	t.Parallel()
	if plain := dependencies(t); slices.Contains(plain, "creditonce/internal/proof/faultpoints") {
		t.Error("the program that is shipped is built with the fault points")
	}
	if slices.ContainsFunc(dependencies(t), func(p string) bool { return strings.HasPrefix(p, "creditonce/internal/proof") }) {
		t.Error("the program that is shipped holds a part of the proofs")
	}
	if tagged := dependencies(t, "-tags", "faultpoints"); !slices.Contains(tagged, "creditonce/internal/proof/faultpoints") {
		t.Error("the tag adds nothing: the check above would see nothing either")
	}
}

// dependencies are the packages that the program is made of.
func dependencies(t *testing.T, flags ...string) []string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("no source path")
	}
	cmd := exec.Command("go", append(append([]string{"list", "-deps"}, flags...), ".")...)
	cmd.Dir = filepath.Join(filepath.Dir(here), "..", "..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list what the program is made of: %v", err)
	}
	return strings.Fields(string(out))
}
