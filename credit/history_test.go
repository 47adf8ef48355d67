package credit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
	"unicode/utf8"
)

// aLife is a row with a long history: born held, joined, claimed, lost, looked at twice, re-issued, done.
func aLife(t *testing.T) (Credit, []Entry) {
	t.Helper()
	filled := joinedRow(New)
	dep := depositOf(joinedRow(Held))
	filled.Deposit, filled.Reference = "", ""
	var row Credit
	var entries []Entry
	at := noon
	step := func(tr Transition) {
		t.Helper()
		after, e, err := Apply(row, tr)
		if err != nil {
			t.Fatalf("%s: %v", tr.Name(), err)
		}
		row, entries, at = after, append(entries, e), at.Add(time.Minute)
	}
	call := func(o Outcome) *CallEvidence {
		return &CallEvidence{Attempt: row.Attempt, Outcome: o, Code: "0 Done", Detail: "d\xffd", Ended: Mark{Process: "p", Boot: time.Hour, At: at}}
	}
	tm := DefaultTiming()
	step(born(at, "stripe-eu", 4, []Hold{HoldNoDeposit}, at, func(c *Credit) { *c = filled }))
	step(joined(at, "api/portal", 0, dep, NewReference("live", testIdentity, KindDeposit, filled.Unit), nil, at))
	step(postponed(at, "lane", "no complete look: \xff\xfe", at, at))
	step(claimed(at, "lane", "token-1", Mark{Process: "p", Boot: time.Hour, At: at}, absentLook("p", 30*time.Minute)))
	step(lost(at, "lane", "token-1", "time-out", call(OutcomeUnknown), false, Mark{Process: "p", Boot: time.Hour, At: at}, at))
	for _, boot := range []time.Duration{2 * time.Hour, 3 * time.Hour} {
		look := absentLook("p", boot)
		look.Started.At, look.Tickets, look.Reason = at, []string{"5"}, "\xc3(" // as a server in another encoding may answer
		r := gate(row, look, Process{ID: "p"}, tm, false)
		if r.absence == nil {
			step(looked(at, "lane", look, r.first, false, at))
			continue
		}
		step(reissued(at, "lane", *r.absence, at))
	}
	step(claimed(at, "lane", "token-2", Mark{Process: "p", Boot: 4 * time.Hour, At: at}, absentLook("p", 4*time.Hour)))
	step(done(at, ByWorker, "lane", "done", Claimed, "token-2", dealOf(row), Evidence{Call: call(OutcomeApplied)}, at, time.Hour))
	return row, entries
}

func TestCheckChain_AcceptsAnHonestLifeAlsoAfterItWasStoredAndRead(t *testing.T) {
	t.Parallel()
	row, entries := aLife(t)
	if err := CheckChain(row, entries); err != nil {
		t.Fatalf("fresh: %v", err)
	}
	for range 2 {
		for i := range entries {
			b := must(json.Marshal(entries[i]))
			var back Entry
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			back.Credit = entries[i].Credit
			entries[i] = back
		}
		if err := CheckChain(row, entries); err != nil {
			t.Fatalf("read back: %v", err)
		}
	}
	for _, e := range entries {
		if b := must(json.Marshal(e)); !utf8.Valid(b) || bytes.Contains(b, []byte(`\ufffd`)) {
			t.Errorf("entry %d keeps bytes that are no text: %s", e.Seq, b)
		}
	}
	if err := CheckChain(Credit{}, nil); err != nil {
		t.Errorf("a row that does not exist yet: %v", err)
	}
}

func TestCheckChain_ReportsEveryEditOfEveryEntry(t *testing.T) {
	t.Parallel()
	row, entries := aLife(t)
	edits := map[string]func(e *Entry){
		"seq":      func(e *Entry) { e.Seq++ },
		"at":       func(e *Entry) { e.At = e.At.Add(time.Microsecond) },
		"by":       func(e *Entry) { e.By = ByTwoPeople },
		"actor":    func(e *Entry) { e.Actor += "x" },
		"move":     func(e *Entry) { e.Move = "adopted" },
		"from":     func(e *Entry) { e.From = Cancelled },
		"to":       func(e *Entry) { e.To = Cancelled },
		"reason":   func(e *Entry) { e.Reason += "." },
		"previous": func(e *Entry) { e.Previous = "00" + e.Previous },
		"evidence": func(e *Entry) {
			if e.Evidence == nil {
				e.Evidence = &Evidence{}
				return
			}
			e.Evidence = nil
		},
		"event of the evidence": func(e *Entry) {
			ev := Evidence{}
			if e.Evidence != nil {
				ev = *e.Evidence
			}
			ev.Event += 1000
			e.Evidence = &ev
		},
	}
	for name, edit := range edits {
		for i := range entries {
			forged := slices.Clone(entries)
			edit(&forged[i])
			if err := CheckChain(row, forged); err == nil {
				t.Errorf("edit of %s in entry %d of %d passes", name, i+1, len(entries))
			}
		}
	}
	for i, e := range entries {
		if e.Evidence == nil || e.Evidence.Look == nil {
			continue
		}
		forged, ev, look := slices.Clone(entries), *e.Evidence, *e.Evidence.Look
		look.Verdict, ev.Look = VerdictFound, &look
		forged[i].Evidence = &ev
		if CheckChain(row, forged) == nil {
			t.Errorf("another verdict in entry %d passes", i+1)
		}
	}
}

func TestCheckChain_ReportsEveryDropSwapRepeatAndTruncation(t *testing.T) {
	t.Parallel()
	row, entries := aLife(t)
	wrong := map[string][]Entry{"none": nil}
	for i := range entries {
		wrong[fmt.Sprintf("drop %d", i)] = slices.Delete(slices.Clone(entries), i, i+1)
		wrong[fmt.Sprintf("first %d only", i)] = slices.Clone(entries[:i])
		wrong[fmt.Sprintf("repeat %d", i)] = slices.Insert(slices.Clone(entries), i, entries[i])
		renumbered := slices.Delete(slices.Clone(entries), i, i+1)
		for j := range renumbered {
			renumbered[j].Seq = j + 1
		}
		wrong[fmt.Sprintf("drop %d and renumber", i)] = renumbered
		for j := range i {
			swapped := slices.Clone(entries)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			wrong[fmt.Sprintf("swap %d %d", i, j)] = swapped
		}
	}
	for name, forged := range wrong {
		if CheckChain(row, forged) == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestCheckChain_ReportsARowThatItsHistoryDoesNotEndIn(t *testing.T) {
	t.Parallel()
	row, entries := aLife(t)
	for name, change := range map[string]func(*Credit){
		"state":   func(c *Credit) { c.State = Failed },
		"entries": func(c *Credit) { c.Entries-- },
		"head":    func(c *Credit) { c.Head = entries[0].Digest() },
	} {
		other := row
		change(&other)
		if CheckChain(other, entries) == nil {
			t.Errorf("another %s passes", name)
		}
	}
}

func TestCheckChain_ReportsAWellChainedHistoryWithAnIllegalMove(t *testing.T) {
	t.Parallel()
	var entries []Entry
	row := joinedRow(Pending)
	for _, m := range []struct {
		from, to State
		by       Mover
	}{{New, Pending, ByIntake}, {Pending, Claimed, ByWorker}, {Claimed, Pending, ByWorker}} {
		e := Entry{Seq: len(entries) + 1, At: noon, By: m.by, Actor: "a", Move: "m", From: m.from, To: m.to, Previous: row.Head}
		entries = append(entries, e)
		row.Entries, row.Head = e.Seq, e.Digest()
	}
	if CheckChain(row, entries) == nil {
		t.Error("claimed to pending passes in a history that chains")
	}
}

func TestEntries_AreUTCAndCutToMicroseconds(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("UTC+5", 5*3600)
	at := time.Date(2026, 3, 10, 23, 59, 59, 123456789, zone)
	after, e, err := Apply(joinedRow(Pending), postponed(at, "a", "r", at, at))
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 3, 10, 18, 59, 59, 123456000, time.UTC)
	for name, got := range map[string]time.Time{"entry": e.At, "updated": after.UpdatedAt, "next": after.NextAt, "stuck": after.StuckSince} {
		if got != want {
			t.Errorf("%s at %v, want %v", name, got, want)
		}
	}
}
