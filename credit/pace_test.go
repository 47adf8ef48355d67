package credit

import (
	"strings"
	"testing"
	"time"
)

func TestH11_CallsRepeatedByThemselvesAreBoundedInAnHour(t *testing.T) {
	for name, pace := range map[string]Pace{
		"their number": {Reissues: 2},
		"their sum":    {Reissues: 20, Reissued: map[string]Amount{"USD": usd(149999)}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var ids []ID
				for n := range 5 {
					ids = append(ids, w.paid(testLogin+uint64(n), n+1))
				}
				w.lostCall(false, false)
				w.lane.Pace = pace
				w.start()
				w.pass(30 * time.Minute)
				w.wantCalls(5+2, 0)
				for i, id := range ids {
					if row := w.wantState(id, Unknown); (row.Reissues == 1) != (i < 2) || !row.HandedOver {
						t.Errorf("credit %d: %d re-issues, handed over %v; the two oldest go first, the others to people", id, row.Reissues, row.HandedOver)
					}
				}
				w.wantTasks(strings.TrimSuffix(strings.Repeat("handed_over, ", 5), ", "))
				w.edit(func(b *memBook) {
					if why := b.tasks[0].Summary; !strings.Contains(why, "in an hour") {
						t.Errorf("the reason says %q", why)
					}
				})

				w.pass(2 * time.Hour) // what was handed over stays with people
				w.wantCalls(7, 0)
				w.edit(func(b *memBook) { // whose word does not count
					row := b.rows[ids[4]]
					row.Grants, row.NextAt = 1, w.process.Schedule(w.clock)
					b.rows[row.ID] = row
					b.settings.Hour = &Hour{Since: w.clock.Now(), Reissues: 99}
				})
				w.pass(time.Minute)
				w.wantCalls(8, 0)
			})
		})
	}
}

func TestH11_TheNextHourBeginsAnew(t *testing.T) {
	t.Parallel()
	p := Pace{Reissues: 1, Reissued: map[string]Amount{"USD": usd(100)}}
	first, why := p.reissue(nil, usd(100), noon)
	if why != "" {
		t.Fatal(why)
	}
	for name, c := range map[string]struct {
		at      time.Time
		allowed bool
	}{
		"at once":                        {noon, false},
		"at the end of the hour":         {noon.Add(time.Hour - time.Microsecond), false},
		"in the next hour":               {noon.Add(time.Hour), true},
		"with a clock that was set back": {noon.Add(-48 * time.Hour), false},
	} {
		after, why := p.reissue(first, usd(100), c.at)
		if (why == "") != c.allowed || (after != nil) != c.allowed {
			t.Errorf("%s: %+v, %q", name, after, why)
		}
	}
	if first.Reissues != 1 || !first.Reissued["USD"].Equal(usd(100)) {
		t.Errorf("the stored hour was changed: %+v", first)
	}
}

func TestH11_SumsOfCurrenciesAreKeptApart(t *testing.T) {
	t.Parallel()
	eur, err := Minor(100, "EUR", 2)
	if err != nil {
		t.Fatal(err)
	}
	p := Pace{Reissued: map[string]Amount{"USD": usd(100), "EUR": eur}}
	h, why := p.reissue(nil, usd(100), noon)
	if why != "" {
		t.Fatal(why)
	}
	if h, why = p.reissue(h, eur, noon); why != "" || h.Reissues != 2 {
		t.Fatalf("%+v %q", h, why)
	}
	if _, why = p.reissue(h, usd(1), noon); !strings.Contains(why, "at most 1.00 USD") {
		t.Errorf("over the sum: %q", why)
	}
}

func TestH41_WhatWouldPassTheHoursSumIsHeldInTheClaimsTransaction(t *testing.T) {
	inWorld(t, func(w *world) {
		var ids []ID
		for n := range 3 {
			ids = append(ids, w.paid(testLogin+uint64(n), n+1))
		}
		w.lane.Pace = Pace{Claimed: map[string]Amount{"USD": usd(100000)}}
		w.start()
		w.pass(time.Minute)
		w.wantState(ids[0], Done)
		w.wantState(ids[1], Done)
		if row := w.wantState(ids[2], Held); holdsOf(row) != "limit" {
			t.Errorf("held for %q", holdsOf(row))
		}
		w.wantTasks("held")
		w.wantCalls(2, 2)

		w.pass(time.Hour)
		next := w.paid(testLogin+9, 9)
		w.pass(time.Minute)
		w.wantState(next, Done)
	})
}
