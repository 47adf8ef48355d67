package invariant

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"creditonce/credit"
)

// The vector of design §8.
func TestReference_IsTheOneOfTheDesign(t *testing.T) {
	t.Parallel()
	u := credit.Unit{ProviderKind: "stripe", Account: "acct_123", Payment: "pi_123"}
	if got := reference("live", "ExampleBroker-Live", "deposit", u); got != "dep:8QK800AFQN6Y47J371" {
		t.Errorf("reference %s", got)
	}
}

// Written down twice, the moves must be the same ones: who changes the one must mean the other too.
func TestMoves_AreThoseThatTheProductAllows(t *testing.T) {
	t.Parallel()
	product := map[step][]credit.Mover{}
	for _, m := range credit.LegalMoves() {
		product[step{m.From, m.To}] = m.By
	}
	for s := range maps.Keys(product) {
		slices.Sort(product[s])
	}
	for s, by := range moves {
		if have := product[s]; !slices.Equal(slices.Sorted(slices.Values(by)), have) {
			t.Errorf("%q to %q: here %v, the product %v", s.from, s.to, by, have)
		}
	}
	if len(product) != len(moves) {
		t.Errorf("%d moves here, the product has %d", len(moves), len(product))
	}
}

// A digest that leaves a field out would let it be edited.
func TestDigest_ChangesWithEveryFieldOfAnEntry(t *testing.T) {
	t.Parallel()
	e := credit.Entry{Credit: 1, Seq: 1, At: time.Unix(1, 0).UTC(), By: "worker", Actor: "a", Move: "m", From: "pending", To: "claimed", Reason: "r", Previous: "p"}
	was := digest(e)
	kind := reflect.TypeFor[credit.Entry]()
	for i := range kind.NumField() {
		name := kind.Field(i).Name
		if name == "Credit" { // part of the key, and bound by the row's own head
			continue
		}
		changed := e
		f := reflect.ValueOf(&changed).Elem().Field(i)
		switch name {
		case "Evidence":
			f.Set(reflect.ValueOf(&credit.Evidence{Event: 1}))
		case "At":
			f.Set(reflect.ValueOf(time.Unix(2, 0).UTC()))
		case "Seq":
			f.SetInt(2)
		default:
			f.SetString("another")
		}
		if digest(changed) == was {
			t.Errorf("the digest does not change with %s", name)
		}
	}
	if was != e.Digest() {
		t.Error("the product digests otherwise")
	}
}
