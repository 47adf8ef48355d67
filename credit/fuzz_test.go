package credit

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzMinor: what minor units say is what their decimal text says, at every exponent, and both forms read back.
func FuzzMinor(f *testing.F) {
	for _, digits := range []string{"", "\x00", "\x01", "\xff\xff", "\x7f\xff\xff\xff\xff\xff\xff\xff", strings.Repeat("\xff", 17), "\x27\x0f"} {
		for _, exponent := range []int{0, 2, 3, 8, 18, -1, 19} {
			f.Add([]byte(digits), exponent%2 == 0, exponent)
		}
	}
	f.Fuzz(func(t *testing.T, magnitude []byte, negative bool, exponent int) {
		n := new(big.Int).SetBytes(magnitude)
		if negative {
			n.Neg(n)
		}
		a, err := NewAmount(n, "USD", exponent)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || a.IsSet() || exponent >= 0 && exponent <= 18 && len(n.Text(10)) <= 40 {
				t.Fatalf("%s with %d places: %v", n, exponent, err)
			}
			return
		}
		text := a.Decimal()
		whole, places, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
		if point != (exponent > 0) || len(places) != exponent || whole == "" || len(whole) > 1 && whole[0] == '0' {
			t.Fatalf("%s with %d places is written %q", n, exponent, text)
		}
		if digits, ok := new(big.Int).SetString(whole+places, 10); !ok || digits.CmpAbs(n) != 0 || strings.HasPrefix(text, "-") != (n.Sign() < 0) {
			t.Fatalf("%s with %d places is written %q", n, exponent, text)
		}
		back, err := ParseAmount(text, "USD", exponent)
		if err != nil || back.Units().Cmp(n) != 0 || back.Exponent() != exponent {
			t.Fatalf("%q is read back as %v, %v", text, back, err)
		}
		var again Amount
		if err := json.Unmarshal(must(json.Marshal(a)), &again); err != nil || !again.Equal(a) || again.Exponent() != exponent {
			t.Fatalf("%s comes back as %s, %v", a, again, err)
		}
	})
}

// mistreated changes a comment as people and systems do, one change for each two bytes of the plan, and says how many
// single characters that touched.
func mistreated(comment string, plan []byte) (string, int) {
	b, edits := []byte(comment), 0
	for len(plan) >= 2 && len(b) > 0 {
		at, by := int(plan[1])%len(b), plan[1]
		switch plan[0] % 6 {
		case 0: // another character
			b[at] = crockford[int(by)%len(crockford)]
			edits++
		case 1: // a lost one
			b = slices.Delete(b, at, at+1)
			edits++
		case 2: // one too many
			b = slices.Insert(b, at, crockford[int(by>>3)%len(crockford)])
			edits++
		case 3:
			b = []byte(strings.ToLower(string(b)))
		case 4: // put behind something else
			b = append([]byte("credit "), b...)
		case 5: // a blank, as a line break leaves it
			b = slices.Insert(b, at, ' ')
		}
		plan = plan[2:]
	}
	return string(b), edits
}

// FuzzDamagedReference: a deal whose comment was cut, retyped, put into another case or behind other text is never
// taken for the row's, and is never overlooked either.
func FuzzDamagedReference(f *testing.F) {
	f.Add("pi_1", []byte{})
	for kind := range byte(6) {
		f.Add("pi_1", []byte{kind, 5})
		f.Add("pi_2", []byte{kind, 5, 3, 0, kind, 9, 4, 0})
	}
	f.Add("pi_3", []byte{1, 21, 1, 20, 1, 19, 1, 18})
	f.Fuzz(func(t *testing.T, payment string, plan []byte) {
		row := joinedRow(Unknown)
		row.Reference = NewReference("live", testIdentity, KindDeposit, Unit{ProviderKind: "stripe", Account: "acct_1", Payment: payment})
		comment, edits := mistreated(string(row.Reference), plan[:min(len(plan), 12)])
		deal := dealOf(row)
		deal.Comment = comment
		m := Judge(row, Sighting{Complete: true, Deals: []Deal{deal}}, nil)
		switch whole := comment == string(row.Reference); {
		case (m.Verdict == VerdictFound) != whole:
			t.Fatalf("comment %q for reference %s: %q", comment, row.Reference, m.Verdict)
		case whole, Reference(comment).Valid():
			return // another payment's reference says that the deal is not this one
		case edits <= damageEdits && m.Verdict != VerdictConflict:
			t.Fatalf("comment %q after %d changes to reference %s: %q", comment, edits, row.Reference, m.Verdict)
		}
		// The same deal with another amount is no look-alike: only the comment can tell then.
		deal.Amount = usd(77700)
		if m := Judge(row, Sighting{Complete: true, Deals: []Deal{deal}}, nil); edits <= damageEdits && m.Verdict != VerdictConflict {
			t.Fatalf("comment %q of another amount after %d changes to reference %s: %q", comment, edits, row.Reference, m.Verdict)
		}
		if cut := comment[:len(comment)*2/3]; len(plan) == 0 && row.Reference.Damages(cut) != (len(cut) >= damageRun) {
			t.Fatalf("cut to %q", cut)
		}
	})
}

// FuzzApply takes any changes in any order: each is a legal move with its line in the history, or is refused and leaves
// the row as it was. What a row is about never changes.
func FuzzApply(f *testing.F) {
	every := everyTransition()
	for i := range every {
		f.Add(uint8(i), []byte{byte(i), byte(i + 1), byte(i)})
	}
	states := append(States(), New)
	f.Fuzz(func(t *testing.T, start uint8, plan []byte) {
		row := readyRow(states[int(start)%len(states)], "")
		for _, b := range plan[:min(len(plan), 40)] {
			c := every[int(b)%len(every)]
			before := row
			before.Holds, before.NotDeals = slices.Clone(row.Holds), slices.Clone(row.NotDeals)
			after, entry, err := Apply(row, c.made)
			if !reflect.DeepEqual(row, before) {
				t.Fatalf("%s changed its input", c.made.Name())
			}
			if err != nil {
				if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrRefused) || !reflect.DeepEqual(after, before) {
					t.Fatalf("%s on %q: %v", c.made.Name(), row.State, err)
				}
				continue
			}
			checkStep(t, before, after, entry)
			row = after
		}
	})
}

func checkStep(t *testing.T, before, after Credit, entry Entry) {
	t.Helper()
	name := entry.Move
	if entry.From != before.State || entry.To != after.State || before.State != after.State && !legal(before.State, after.State, entry.By) {
		t.Fatalf("%s moves %q to %q by %s", name, before.State, after.State, entry.By)
	}
	if before.State.Terminal() && after.State != before.State || after.State == New {
		t.Fatalf("%s leaves %q for %q", name, before.State, after.State)
	}
	if entry.Seq != before.Entries+1 || entry.Previous != before.Head || after.Entries != entry.Seq || after.Head != entry.Digest() {
		t.Fatalf("%s does not chain: %+v", name, entry)
	}
	if (after.State == Held) != (len(after.Holds) > 0) || (after.State == Claimed) != (after.Token != "") {
		t.Fatalf("%s leaves %q with holds %v and token %q", name, after.State, after.Holds, after.Token)
	}
	if after.Attempt < before.Attempt || after.Attempt > before.Attempt+1 || (after.Attempt > before.Attempt) != (name == "claimed") {
		t.Fatalf("%s counts attempt %d after %d", name, after.Attempt, before.Attempt)
	}
	if before.State == New {
		return // a birth writes what the row is about
	}
	if after.ID != before.ID || after.Unit != before.Unit || after.Kind != before.Kind || !after.Paid.Equal(before.Paid) {
		t.Fatalf("%s makes another payment of it", name)
	}
	if before.Joined() && (after.Login != before.Login || after.Server != before.Server || after.Reference != before.Reference || name != "released" && !after.Amount.Equal(before.Amount)) {
		t.Fatalf("%s makes another credit of it", name)
	}
	if before.Ticket != 0 && after.Ticket != before.Ticket {
		t.Fatalf("%s replaces ticket %d by %d", name, before.Ticket, after.Ticket)
	}
}
