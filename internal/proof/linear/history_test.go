package linear

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// history is what the clients of one run saw. Safe for concurrent use.
type history struct {
	began time.Time

	mu  sync.Mutex
	ops []porcupine.Operation
}

// now is monotonic time since the history began: only its order counts.
func (h *history) now() int64 { return time.Since(h.began).Nanoseconds() }

func (h *history) add(o porcupine.Operation) {
	if o.Output.(answer).none {
		o.Return = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, o)
}

// named gives every make the code that its deposit got, where it left that to the service: the answers of the other
// makes under the same key, and the lists, tell it by the amount. Where nobody ever saw it, no answer depends on it.
// Where two were seen, the first is taken, and the checker will find no order for the other.
func (h *history) named() []porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	type owner struct{ client, slot int }
	codes := map[owner]string{}
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, o := range h.ops {
		for _, d := range o.Output.(answer).deposits {
			of := owner{o.Input.(wish).client, d.minor/100 - 1}
			if codes[of] == "" {
				codes[of] = d.code
			}
		}
	}
	out := slices.Clone(h.ops)
	for i := range out {
		w := out[i].Input.(wish)
		if w.call == opMake && w.code == "" {
			w.code = codes[owner{w.client, w.slot}]
			if w.code == "" {
				w.code = fmt.Sprintf("never seen %d", w.slot)
			}
			out[i].Input = w
		}
	}
	return needed(out)
}

// needed leaves out what decides nothing and makes the checker's work grow beyond all bounds. A read without an answer says
// nothing. Of equal makes or closes without an answer at most one can have done anything, since neither is ever undone, and
// the one that began first can have done it whenever a later one can: it alone stays.
func needed(all []porcupine.Operation) (out []porcupine.Operation) {
	seen := map[wish]bool{}
	for _, o := range all { // by the time of the call
		w := o.Input.(wish)
		if o.Output.(answer).none {
			if w.call == opRead || w.call == opList || seen[w] {
				continue
			}
			seen[w] = true
		}
		out = append(out, o)
	}
	return out
}

// judge asks the checker, and where it finds no order says what the client's history was.
func (h *history) judge() (bad string) {
	ops := h.named()
	result, info := porcupine.CheckOperationsVerbose(model, ops, time.Minute)
	if result == porcupine.Ok {
		return ""
	}
	var said strings.Builder
	if result == porcupine.Unknown {
		said.WriteString("the checker did not come to an end\n")
	}
	said.WriteString("no order explains this history\n")
	for i, part := range model.Partition(ops) {
		if porcupine.CheckOperationsTimeout(model, part, 20*time.Second) == porcupine.Ok {
			continue
		}
		longest := 0
		for _, partial := range info.PartialLinearizations()[min(i, len(info.PartialLinearizations())-1)] {
			longest = max(longest, len(partial))
		}
		fmt.Fprintf(&said, "%d operations, of which at most %d can be put in order:\n", len(part), longest)
		for _, o := range part {
			end := "open"
			if o.Return != math.MaxInt64 {
				end = fmt.Sprint(o.Return / 1000)
			}
			fmt.Fprintf(&said, "  %d..%s us  %s\n", o.Call/1000, end, describe(o.Input.(wish), o.Output.(answer)))
		}
	}
	return said.String()
}

// counts are the answers of a run by what they say, so that a run in which something never happened is seen.
func (h *history) counts() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]int{}
	for _, o := range h.ops {
		w, a := o.Input.(wish), o.Output.(answer)
		switch {
		case a.none:
			out[w.call+" without an answer"]++
		case a.replayed:
			out["replayed"]++
		case a.code != "":
			out[a.code]++
		default:
			out[fmt.Sprint(w.call, " ", a.status)]++
		}
	}
	return out
}

// The checker itself: histories that a person can judge.
func TestChecker_KnowsGoodFromBad(t *testing.T) {
	t.Parallel()
	const a, b = "code-a", "code-b"
	made := func(slot, variant int, code string, again bool) answer {
		return answer{status: 201, replayed: again, body: fmt.Sprint("first ", slot), deposits: []shown{{code, "open", minorOf(slot, variant)}}}
	}
	want := func(slot, variant int, code string) wish {
		return wish{call: opMake, slot: slot, variant: variant, code: code}
	}
	read := wish{call: opRead, code: a}
	found, missing := answer{status: 200, deposits: []shown{{a, "open", minorOf(0, 1)}}}, answer{status: 404, code: "not_found"}
	shut := answer{status: 200, deposits: []shown{{a, "closed", minorOf(0, 1)}}}
	lost := answer{none: true}
	for name, c := range map[string]struct {
		good bool
		ops  []porcupine.Operation
	}{
		"made, then read":                        {true, serial(want(0, 1, a), made(0, 1, a, false), read, found)},
		"made, then not there":                   {false, serial(want(0, 1, a), made(0, 1, a, false), read, missing)},
		"read before it was made":                {false, serial(read, found, want(0, 1, a), made(0, 1, a, false))},
		"no answer, then there":                  {true, serial(want(0, 1, a), lost, read, found)},
		"no answer, then not there":              {true, serial(want(0, 1, a), lost, read, missing)},
		"no answer, there, gone again":           {false, serial(want(0, 1, a), lost, read, found, read, missing)},
		"replayed":                               {true, serial(want(0, 1, a), made(0, 1, a, false), want(0, 1, a), made(0, 1, a, true))},
		"made twice":                             {false, serial(want(0, 1, a), made(0, 1, a, false), want(0, 1, b), made(0, 1, b, false))},
		"replayed as if new":                     {false, serial(want(0, 1, a), made(0, 1, a, false), want(0, 1, a), made(0, 1, a, false))},
		"replay without a first":                 {false, serial(want(0, 1, a), made(0, 1, a, true))},
		"replay after no answer":                 {true, serial(want(0, 1, a), lost, want(0, 1, a), made(0, 1, a, true))},
		"another body is taken":                  {false, serial(want(0, 1, a), made(0, 1, a, false), want(0, 2, a), made(0, 1, a, true))},
		"another body is refused":                {true, serial(want(0, 1, a), made(0, 1, a, false), want(0, 2, a), answer{status: 422, code: "idempotency_key_reused"})},
		"refused for a key that nobody used":     {false, serial(want(0, 1, a), answer{status: 422, code: "idempotency_key_reused"})},
		"one code twice":                         {false, serial(want(0, 1, a), made(0, 1, a, false), want(1, 1, a), made(1, 1, a, false))},
		"a code that is taken":                   {true, serial(want(0, 1, a), made(0, 1, a, false), want(1, 1, a), answer{status: 422, code: "code_taken"})},
		"closed":                                 {true, serial(want(0, 1, a), made(0, 1, a, false), wish{call: opClose, code: a}, shut, read, shut)},
		"closed and open again":                  {false, serial(want(0, 1, a), made(0, 1, a, false), wish{call: opClose, code: a}, shut, read, found)},
		"busy changes nothing":                   {true, serial(want(0, 1, a), answer{status: 503, code: "busy"}, read, missing)},
		"busy, and there all the same":           {false, serial(want(0, 1, a), answer{status: 503, code: "busy"}, read, found)},
		"listed":                                 {true, serial(want(0, 1, a), made(0, 1, a, false), wish{call: opList}, found)},
		"lost from the list":                     {false, serial(want(0, 1, a), made(0, 1, a, false), wish{call: opList}, answer{status: 200})},
		"another answer to the same":             {false, serial(want(0, 1, a), made(0, 1, a, false), want(0, 1, a), func() answer { x := made(0, 1, a, true); x.body = "other"; return x }())},
		"an answer that nobody can have given":   {false, serial(read, answer{status: 500, code: "internal"})},
		"the amount of another deposit is shown": {false, serial(want(0, 1, a), made(0, 1, a, false), read, answer{status: 200, deposits: []shown{{a, "open", minorOf(2, 1)}}})},
	} {
		h := &history{}
		for _, o := range c.ops {
			h.add(o)
		}
		if bad := h.judge(); (bad == "") != c.good {
			t.Errorf("%s: taken for good: %v\n%s", name, bad == "", bad)
		}
	}
}

// serial makes a history of calls one after the other: wish, answer, wish, answer.
func serial(pairs ...any) []porcupine.Operation {
	var out []porcupine.Operation
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, porcupine.Operation{Input: pairs[i], Output: pairs[i+1], Call: int64(i) * 10, Return: int64(i)*10 + 5})
	}
	return out
}
