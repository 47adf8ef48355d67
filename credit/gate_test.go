package credit

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

var gateProcess = Process{ID: "p", Started: time.Hour}

func absentLook(process string, started time.Duration) *LookEvidence {
	return &LookEvidence{Verdict: VerdictAbsent, Complete: true, Started: Mark{Process: process, Boot: started}}
}

func TestGate_Table(t *testing.T) {
	t.Parallel()
	tm := DefaultTiming()
	const callEnd = 2 * time.Hour
	open := callEnd + tm.Quarantine
	at := func(d time.Duration) *Mark { return &Mark{Process: "p", Boot: d} }
	for name, c := range map[string]struct {
		change func(c *Credit, l *LookEvidence, p *Process)
		first  *Mark
		look   time.Duration
		live   bool
		absent bool
		stored *Mark
	}{
		"look before the quarantine":       {look: open - 1},
		"first look at its end":            {look: open, stored: at(open)},
		"second look too early":            {first: at(open), look: open + tm.SecondLook - 1, stored: at(open)},
		"second look in time":              {first: at(open), look: open + tm.SecondLook, absent: true, stored: at(open)},
		"with a live call":                 {first: at(open), look: open + time.Hour, live: true, stored: at(open)},
		"first look before the call ended": {first: at(callEnd - 1), look: open + time.Hour, stored: at(open + time.Hour)},
		"first look in the quarantine":     {first: at(open - 1), look: open + time.Hour, stored: at(open + time.Hour)},
		"first look of another process":    {first: &Mark{Process: "q", Boot: open}, look: open + time.Hour, stored: at(open + time.Hour)},
		"look of another process":          {first: at(open), look: open + time.Hour, change: func(_ *Credit, l *LookEvidence, _ *Process) { l.Started.Process = "q" }, stored: at(open)},
		"incomplete look":                  {first: at(open), look: open + time.Hour, change: func(_ *Credit, l *LookEvidence, _ *Process) { l.Complete = false }, stored: at(open)},
		"look that conflicts":              {first: at(open), look: open + time.Hour, change: func(_ *Credit, l *LookEvidence, _ *Process) { l.Verdict = VerdictConflict }, stored: at(open)},
		"call of another process counts its start": {first: at(open), look: open + time.Hour, change: func(c *Credit, _ *LookEvidence, _ *Process) {
			c.UnknownSince = Mark{Process: "q", Boot: 99 * time.Hour}
		}, absent: true, stored: at(open)},
		"process start after the call's end": {first: at(open), look: open + time.Hour, change: func(_ *Credit, _ *LookEvidence, p *Process) { p.Started = open }, stored: at(open + time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, look, p := joinedRow(Unknown), absentLook("p", c.look), gateProcess
			row.UnknownSince, row.FirstAbsent = Mark{Process: "p", Boot: callEnd}, c.first
			if c.change != nil {
				c.change(&row, look, &p)
			}
			r := gate(row, look, p, tm, c.live)
			if (r.absence != nil) != c.absent {
				t.Errorf("absence proven %v, want %v", r.absence != nil, c.absent)
			}
			switch {
			case (r.first == nil) != (c.stored == nil):
				t.Errorf("first look %v, want %v", r.first, c.stored)
			case r.first != nil && *r.first != *c.stored:
				t.Errorf("first look %v, want %v", *r.first, *c.stored)
			}
			if r.absence == nil && r.wait <= 0 {
				t.Errorf("wait %v, want more than 0", r.wait)
			}
		})
	}
}

// An oracle beside the gate keeps every look that the row ever had and proves absence from them by the words of
// design §7. Whatever the gate calls absent the oracle must be able to prove.
func TestGate_AbsenceOnlyEverWithTwoCompleteLooksOfThisProcess(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	tm := DefaultTiming()
	verdicts := []Verdict{VerdictAbsent, VerdictAbsent, VerdictAbsent, VerdictNoAnswer, VerdictConflict}
	proven := 0
	for range 3000 {
		type sight struct {
			LookEvidence
			live bool
		}
		var seen []sight
		p := Process{ID: "p0", Started: time.Duration(rng.IntN(3600)) * time.Second}
		boot := p.Started + time.Duration(rng.IntN(1200))*time.Second
		row := joinedRow(Unknown)
		row.UnknownSince = Mark{Process: p.ID, Boot: boot, At: noon.Add(time.Duration(rng.IntN(1e9)) * time.Second)}
		for step := range 40 {
			if rng.IntN(25) == 0 { // the process dies and another one comes, perhaps on a boot clock that starts again
				p = Process{ID: "p" + string(rune('1'+step)), Started: time.Duration(rng.IntN(7200)) * time.Second}
				boot = p.Started
			}
			boot += time.Duration(rng.IntN(400)) * time.Second // or a machine that slept: the boot clock shows it
			look := sight{LookEvidence{
				Verdict: verdicts[rng.IntN(len(verdicts))], Complete: rng.IntN(6) > 0, Started: Mark{Process: p.ID, Boot: boot},
			}, rng.IntN(8) == 0}
			if look.Verdict == VerdictNoAnswer {
				look.Complete = false
			}
			seen = append(seen, look)
			r := gate(row, &look.LookEvidence, p, tm, look.live)
			row.FirstAbsent = r.first
			if r.absence == nil {
				continue
			}
			proven++
			from := p.Started
			if row.UnknownSince.Process == p.ID {
				from = max(from, row.UnknownSince.Boot)
			}
			earlier := false
			for _, s := range seen {
				earlier = earlier || (s.Started.Process == p.ID && s.Complete && s.Verdict == VerdictAbsent && !s.live &&
					s.Started.Boot >= from+tm.Quarantine && boot-s.Started.Boot >= tm.SecondLook)
			}
			if !earlier || look.live || !look.Complete || look.Verdict != VerdictAbsent || boot < from+tm.Quarantine {
				t.Fatalf("absence without its evidence: row unknown since %v, process %v, looks %+v", row.UnknownSince, p, seen)
			}
			break
		}
	}
	if proven < 500 {
		t.Errorf("absence was proven %d times only: the test sleeps", proven)
	}
}

func TestAbsence_IsRefusedForAnotherRowAttemptOrProcess(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	first := Mark{Process: "p", Boot: 3 * time.Hour}
	row.UnknownSince, row.FirstAbsent = Mark{Process: "p", Boot: 2 * time.Hour}, &first
	r := gate(row, absentLook("p", 4*time.Hour), gateProcess, DefaultTiming(), false)
	if r.absence == nil {
		t.Fatal("no absence")
	}
	for name, change := range map[string]func(*Credit){
		"other row":             func(c *Credit) { c.ID++ },
		"other attempt":         func(c *Credit) { c.Attempt++ },
		"first look gone":       func(c *Credit) { c.FirstAbsent = nil },
		"first look of another": func(c *Credit) { c.FirstAbsent = &Mark{Process: "q", Boot: first.Boot} },
	} {
		t.Run(name, func(t *testing.T) {
			other := row
			change(&other)
			if _, _, err := Apply(other, reissued(noon, "lane", *r.absence, noon)); !errors.Is(err, ErrConflict) {
				t.Errorf("error %v, want a conflict", err)
			}
		})
	}
	if _, _, err := Apply(row, reissued(noon, "lane", Absence{}, noon)); !errors.Is(err, ErrConflict) {
		t.Errorf("an absence that no gate made passes: %v", err)
	}
	after, entry, err := Apply(row, reissued(noon, "lane", *r.absence, noon))
	if err != nil || after.State != Pending || after.Reissues != 1 {
		t.Fatalf("re-issue gives %s, %d, %v", after.State, after.Reissues, err)
	}
	if entry.Evidence.Look == nil || entry.Evidence.Before == nil || *entry.Evidence.Before != first {
		t.Errorf("the re-issue's entry holds %+v, want both looks", entry.Evidence)
	}
}

func TestMayReissue_OnlyOnceAndNeverOnDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  Credit
		want bool
	}{
		"first time":                    {Credit{}, true},
		"second time":                   {Credit{Reissues: 1}, false},
		"answered":                      {Credit{Answered: true}, false},
		"restored":                      {Credit{Restored: true}, false},
		"granted":                       {Credit{Reissues: 1, Grants: 1}, true},
		"granted though answered":       {Credit{Answered: true, Grants: 1}, true},
		"a grant that was used is gone": {Credit{Reissues: 2, Grants: 0}, false},
	} {
		ok, why := mayReissue(c.row)
		if ok != c.want || ok == (why != "") {
			t.Errorf("%s: %v, %q; want %v", name, ok, why, c.want)
		}
	}
}

func TestLiveCalls_CountsNestedCallsAndEndsOnce(t *testing.T) {
	t.Parallel()
	var l LiveCalls
	first, second := l.Begin(1), l.Begin(1)
	first()
	first()
	if !l.Live(1) || l.Live(2) {
		t.Error("a call under way is not live, or another row is")
	}
	second()
	if l.Live(1) {
		t.Error("an ended call is live")
	}
}
