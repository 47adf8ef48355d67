package credit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const vector = Reference("dep:8QK800AFQN6Y47J371")

var kinds = []Kind{KindDeposit, KindRefund, KindChargeback, KindChargebackReversal, KindWithdrawal, KindWithdrawalReturn}

func unitOf(payment, part string) Unit {
	return Unit{ProviderKind: "stripe", Account: "acct_123", Payment: payment, Part: part}
}

func TestNewReference_GivesTheDesignsVector(t *testing.T) {
	t.Parallel()
	if got := NewReference("live", "ExampleBroker-Live", KindDeposit, unitOf("pi_123", "")); got != vector {
		t.Errorf("reference %s, want %s", got, vector)
	}
}

func TestH16_EachInputOfAReferenceAndEachBoundaryMatters(t *testing.T) {
	t.Parallel()
	seen := map[Reference]string{}
	add := func(what string, r Reference) {
		if !r.Valid() || len(r) != 22 {
			t.Errorf("%s: %q is not valid", what, r)
		}
		if other, ok := seen[r]; ok {
			t.Errorf("%s and %s have the same reference %s", what, other, r)
		}
		seen[r] = what
	}
	for _, k := range kinds {
		add(string(k), NewReference("live", "S", k, unitOf("pi_1", "")))
	}
	add("environment", NewReference("test", "S", KindDeposit, unitOf("pi_1", "")))
	add("identity", NewReference("live", "T", KindDeposit, unitOf("pi_1", "")))
	add("part", NewReference("live", "S", KindDeposit, unitOf("pi_1", "x")))
	add("moved boundary", NewReference("live", "S", KindDeposit, unitOf("pi_", "1")))
	add("moved boundary, other way", NewReference("live", "S", KindDeposit, unitOf("p", "i_1")))
	add("zero bytes", NewReference("live", "S", KindDeposit, unitOf("pi_1", "\x00")))
	other := unitOf("pi_1", "")
	other.ProviderKind = "coinbase"
	add("provider", NewReference("live", "S", KindDeposit, other))
	other = unitOf("pi_1", "")
	other.Account = "acct_124"
	add("account", NewReference("live", "S", KindDeposit, other))
}

const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// someReferences are the vector and references of each kind, the same ones in every run of a seed.
func someReferences(rng *rand.Rand, n int) []Reference {
	out := []Reference{vector}
	for i := range n {
		out = append(out, NewReference("live", testIdentity, kinds[i%len(kinds)], unitOf(fmt.Sprintf("pi_%d", rng.Uint64()), "")))
	}
	return out
}

func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 3))
}

// edits are every single-character change of a text: each substitution, deletion, insertion, swap and case change.
func edits(s string, each func(string)) {
	for i := range len(s) {
		each(s[:i] + s[i+1:])
		if i+1 < len(s) {
			each(s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:])
		}
		for _, c := range []byte(printable) {
			each(s[:i] + string(c) + s[i+1:])
			each(s[:i] + string(c) + s[i:])
		}
	}
	for _, c := range []byte(printable) {
		each(s + string(c))
	}
	for n := range len(s) {
		each(s[:n])
		each(s[n+1:])
	}
	each(strings.ToLower(s))
	each(strings.ToUpper(s))
	each(" " + s)
	each(s + " ")
	each(s + "\n")
	each(s + "\x00")
}

func TestReference_NoSingleEditCutOrCaseChangeIsValid(t *testing.T) {
	t.Parallel()
	for _, r := range someReferences(seeded(t), 11) {
		edits(string(r), func(s string) {
			if s != string(r) && Reference(s).Valid() {
				t.Errorf("%q is as valid as %s", s, r)
			}
		})
	}
}

func TestH15_DamagesSeesEverySingleEditAndEveryCutOfEightOrMore(t *testing.T) {
	t.Parallel()
	for _, r := range someReferences(seeded(t), 11) {
		edits(string(r), func(s string) {
			if s == string(r) || len(s) < 12 {
				return
			}
			if !r.Damages(s) {
				t.Errorf("%q is no damaged %s", s, r)
			}
		})
		for n := 8; n < len(r); n++ {
			if !r.Damages(string(r[:n])) {
				t.Errorf("the first %d characters are no damaged %s", n, r)
			}
			if !r.Damages(string(r[len(r)-n:])) {
				t.Errorf("the last %d characters are no damaged %s", n, r)
			}
		}
	}
}

func TestDamages_SeesCopiesInsideOtherTextAlsoAltered(t *testing.T) {
	t.Parallel()
	rng := seeded(t)
	for _, r := range someReferences(rng, 200) {
		s := string(r)
		for _, comment := range []string{
			"x" + s, s + "x", "Deposit: " + s, s + " (manual)", strings.ToLower(s), "dep " + s[4:], s[4:], s[4:20],
			s[:12] + "-" + s[12:], strings.ReplaceAll(s, "0", "O"), strings.ReplaceAll(s, "1", "l"), s[:4] + " " + s[4:12] + " " + s[12:],
		} {
			if comment != s && !r.Damages(comment) {
				t.Errorf("%q is no damaged %s", comment, r)
			}
		}
		altered := []byte(s)
		for range 1 + rng.IntN(3) {
			altered[4+rng.IntN(18)] = crockford[rng.IntN(32)]
		}
		for _, comment := range []string{string(altered), "pay: " + string(altered), string(altered) + " by hand"} {
			if comment != s && !Reference(comment).Valid() && !r.Damages(comment) {
				t.Errorf("%q is no damaged %s", comment, r)
			}
		}
	}
}

func TestDamages_NeverOnOtherReferencesOrOrdinaryComments(t *testing.T) {
	t.Parallel()
	refs := someReferences(seeded(t), 150)
	for i, r := range refs {
		for j, other := range refs {
			if r.Damages(string(other)) {
				t.Fatalf("%s is taken for a damaged %s", other, r)
			}
			if i != j && (r.Damages(string(other[:14])) || r.Damages("x"+string(other)) || r.Damages(strings.ToLower(string(other)))) {
				t.Fatalf("a damaged %s is taken for a damaged %s", other, r)
			}
		}
		for _, comment := range []string{
			"", "dep", "dep:", "Deposit", "bonus 100%", "by hand", "Swap 2026-03-10", "deposit via bank wire", "0000000000", "so: 10.5% margin",
			"dep:0123456789ABCDEFGH", strings.Repeat("A", 31), "correction of 2026-03-09 swap", "INTERNAL TRANSFER TO 5002",
		} {
			if r.Damages(comment) {
				t.Errorf("%q is taken for a damaged %s", comment, r)
			}
		}
	}
}

func TestDamages_OfNoReferenceIsNeverTrueAndNeverPanics(t *testing.T) {
	t.Parallel()
	for _, r := range []Reference{"", "dep:", "short", vector[:21], vector + "0"} {
		if r.Damages("dep:8QK800AFQN6Y47J371") || r.Damages("x") {
			t.Errorf("%q can be damaged", r)
		}
	}
}

func FuzzReference(f *testing.F) {
	for _, s := range []string{string(vector), "", "dep:", strings.ToLower(string(vector)), string(vector[:21]), "x" + string(vector), "\xff\xfe", "dep:8QK800AFQN6Y47J37I"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		valid := Reference(s).Valid()
		if valid && (len(s) != 22 || !strings.Contains("dep: ref: cbk: cbr: wdr: wdb:", s[:4])) {
			t.Fatalf("%q is valid", s)
		}
		if valid && vector.Damages(s) {
			t.Fatalf("valid %q damages %s", s, vector)
		}
		if s == string(vector) && !valid {
			t.Fatal("the vector is not valid")
		}
		Reference(s).Damages(string(vector))
		vector.Damages(s)
		made := NewReference("live", s, KindDeposit, unitOf(s, s))
		if !made.Valid() || len(made) != 22 {
			t.Fatalf("%q makes the invalid reference %q", s, made)
		}
	})
}
