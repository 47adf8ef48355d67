package credit

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// act is one thing that arrives: an event, or the deposit.
type act struct {
	name string
	do   func(b *memBook) error
}

func takes(name string, e Event) act {
	return act{name, func(b *memBook) error {
		_, err := b.Accept(context.Background(), e, IntakeRules{Now: noon.Add(time.Minute), HeldGrace: 10 * time.Minute})
		return err
	}}
}

func opens(code string) act {
	return act{"deposit", func(b *memBook) error {
		n, rules := wish(noon.Add(time.Minute), code, usd(50000), testLogin)
		_, err := b.MakeDeposit(n, rules)
		return err
	}}
}

// final is what must not depend on the order: the rows with what they say about money and the open tasks' kinds
// about the payment. Ids, times of our own and the history tell the order and may differ.
func final(b *memBook) string {
	var out []string
	for _, r := range b.sorted() {
		out = append(out, fmt.Sprintf("%s/%s: %s %v deposit=%s login=%d %s paid=%s at=%d ref=%s due=%v",
			r.Unit.Payment, r.Unit.Part, r.State, r.Holds, r.Deposit, r.Login, r.Amount, r.Paid, r.PaidAt.Unix(), r.Reference, r.State == Pending && !r.NextAt.IsZero()))
	}
	for _, t := range b.tasks {
		if t.IsOpen() {
			out = append(out, "task "+string(t.Kind))
		}
	}
	slices.Sort(out)
	return string(must(json.MarshalIndent(slices.Compact(out), "", " ")))
}

// Any order and any repetition of the events and of the deposit of one payment ends in the same rows (I-D3).
func TestIntake_AnyOrderAndRepetitionEndsInTheSameRows(t *testing.T) {
	t.Parallel()
	code := codeOf(1)
	intent := paidEvent(1, noon, code, usd(50000))
	session := paidEvent(1, noon, code, usd(50000))
	session.MessageKey, session.Digest, session.Facts.Type = "evt_session", "digest-2", "checkout.session.completed"
	bare := session
	bare.Facts.Code = ""
	late := intent
	late.Facts.OccurredAt = noon.Add(48 * time.Hour) // after the expiry
	less := intent
	less.Facts.Parts = []Part{{Amount: usd(49900)}}
	refund, dispute := reversalEvent(1, noon, EffectRefund), reversalEvent(1, noon, EffectDispute)
	unpaid := event("evt_created", 1, Facts{Effect: EffectNone, OccurredAt: noon})
	foreign := intent
	foreign.Provider = "coinbase"
	for name, acts := range map[string][]act{
		"two events, both with the code":   {takes("intent", intent), takes("session", session), opens(code)},
		"two events, one with the code":    {takes("intent", intent), takes("bare session", bare), opens(code), takes("created", unpaid)},
		"refund among them":                {takes("intent", intent), takes("bare session", bare), opens(code), takes("refund", refund)},
		"refund and dispute":               {takes("intent", intent), takes("refund", refund), takes("dispute", dispute), opens(code)},
		"paid late":                        {takes("late", late), opens(code)},
		"paid less, with a refund":         {takes("less", less), opens(code), takes("refund", refund)},
		"from a provider of another label": {takes("foreign", foreign), opens(code)},
		"no deposit at all":                {takes("intent", intent), takes("session", session), takes("refund", refund)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := seeded(t)
			want := ""
			orders := 0
			permute(acts, func(order []act) {
				orders++
				for range 4 {
					got, trace := runActs(t, repeated(rng, order))
					if want == "" {
						want = got
					}
					if got != want {
						t.Fatalf("order %v ends in %s\nanother order ended in %s", trace, got, want)
					}
				}
			})
			if orders < 2 {
				t.Fatalf("%d orders", orders)
			}
		})
	}
}

// runActs applies the acts to a fresh book; a deposit that is asked for twice is a replay.
func runActs(t *testing.T, order []act) (string, []string) {
	t.Helper()
	b := newMemBook()
	a := Account{Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2}
	if err := b.PutAccount(a, "test", noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	var trace []string
	for _, x := range order {
		trace = append(trace, x.name)
		if err := x.do(b); err != nil {
			t.Fatalf("%v: %v", trace, err)
		}
	}
	b.check(t)
	return final(b), trace
}

// repeated puts repetitions of acts that happened already between the acts.
func repeated(rng *rand.Rand, order []act) []act {
	var out []act
	for _, x := range order {
		out = append(out, x)
		for rng.IntN(2) == 0 {
			out = append(out, out[rng.IntN(len(out))])
		}
	}
	return out
}

func permute(acts []act, each func([]act)) {
	var walk func(done []act, rest []act)
	walk = func(done, rest []act) {
		if len(rest) == 0 {
			each(done)
			return
		}
		for i := range rest {
			others := append(slices.Clone(rest[:i]), rest[i+1:]...)
			walk(append(slices.Clone(done), rest[i]), others)
		}
	}
	walk(nil, acts)
}

func TestIntake_TwoPartsOfOnePaymentEndInTheSameRowsHoweverOftenTheyCome(t *testing.T) {
	t.Parallel()
	code := codeOf(1)
	first := paidEvent(1, noon, code, usd(50000))
	first.Facts.Parts = []Part{{"a", usd(50000)}}
	both := paidEvent(1, noon, code, usd(50000))
	both.MessageKey, both.Digest, both.Facts.Parts = "evt_both", "digest-3", []Part{{"a", usd(50000)}, {"b", usd(50000)}}
	want := ""
	permute([]act{takes("first", first), takes("both", both), opens(code), takes("first again", first)}, func(order []act) {
		got, trace := runActs(t, order)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("order %v ends in %s\nanother order ended in %s", trace, got, want)
		}
	})
}

// Two events that disagree on the amount: which of both the row says is a matter of order, but not that it is held, whose it
// is and that people are asked.
func TestIntake_EventsThatDisagreeOnTheAmountStillBringTheDeposit(t *testing.T) {
	t.Parallel()
	code := codeOf(1)
	coded := paidEvent(1, noon, code, usd(50000))
	bare := paidEvent(1, noon, "", usd(70000))
	bare.MessageKey, bare.Digest = "evt_bare", "digest-bare"
	permute([]act{takes("coded", coded), takes("bare", bare), opens(code)}, func(order []act) {
		got, trace := runActs(t, order)
		for _, part := range []string{"held [amount]", "deposit=" + code, "login=" + strconv.FormatUint(testLogin, 10), "task payment_differs", "task held"} {
			if !strings.Contains(got, part) {
				t.Errorf("order %v ends in %s, want %q in it", trace, got, part)
			}
		}
	})
}
