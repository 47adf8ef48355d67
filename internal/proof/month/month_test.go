package month

import (
	"flag"
	"math/big"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"creditonce/recon"
)

var oneSeed = flag.Uint64("seed", 0, "make the months of this one seed; 0: a few")

// fresh is another one in every run.
var fresh = rand.Uint64()>>32 + 3

// seeds are those of the test run.
func seeds() []uint64 {
	if *oneSeed != 0 {
		return []uint64{*oneSeed}
	}
	return []uint64{1, 2, fresh}
}

// small is a month that is made and compared in a moment.
func small(seed uint64, s Season) Plan { return Plan{Seed: seed, Payments: 1500, Faults: 4, Season: s} }

var (
	kept  sync.Mutex
	known = map[Plan]*Month{}
)

// made makes a month once for all tests, which only read it.
func made(plan Plan) *Month {
	kept.Lock()
	defer kept.Unlock()
	if known[plan] == nil {
		known[plan] = Make(plan)
	}
	return known[plan]
}

// eachMonth runs the test on small months of both seasons.
func eachMonth(t *testing.T, run func(*testing.T, *Month)) {
	t.Helper()
	monthsOf(t, seeds(), run)
}

// oneMonth runs it on one of each season: for tests that compare many times.
func oneMonth(t *testing.T, run func(*testing.T, *Month)) {
	t.Helper()
	all := seeds()
	monthsOf(t, all[len(all)-1:], run)
}

func monthsOf(t *testing.T, seeds []uint64, run func(*testing.T, *Month)) {
	t.Helper()
	for _, seed := range seeds {
		for _, season := range []Season{Spring, Autumn} {
			t.Run(map[Season]string{Spring: "spring", Autumn: "autumn"}[season], func(t *testing.T) {
				t.Parallel()
				t.Logf("seed %d: go test ./internal/proof/month -seed=%d", seed, seed)
				run(t, made(small(seed, season)))
			})
		}
	}
}

func TestBooks_DifferByExactlyWhatWasPlanted(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		for _, p := range m.Pages(m.Rules.From, m.Rules.Until) {
			off := new(big.Int).Sub(p.Theirs.Closing, p.Ours.Closing)
			if off.Cmp(p.Off) != 0 {
				t.Errorf("%s %s %s: theirs less ours is %s, planted was %s", p.Side, p.Provider, p.Currency, off, p.Off)
			}
		}
	})
}

func TestMonth_IsAFunctionOfItsPlan(t *testing.T) {
	t.Parallel()
	plan := small(5, Autumn)
	if !reflect.DeepEqual(Make(plan).Rows, Make(plan).Rows) || !reflect.DeepEqual(Make(plan).expected, Make(plan).expected) {
		t.Error("two months of one plan differ")
	}
	other := plan
	other.Seed++
	if reflect.DeepEqual(Make(plan).Rows, Make(other).Rows) {
		t.Error("two seeds make the same month")
	}
}

func TestMonth_HasEveryDifferenceSomeTimes(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		found := map[recon.Class]int{}
		for _, e := range m.Expected(m.Rules.Until) {
			found[e.Key.Class]++
		}
		for _, c := range recon.Classes() {
			if want := m.Plan.Faults; c != recon.Matched && found[c] < want {
				t.Errorf("%s: %d, want at least %d", c, found[c], want)
			}
		}
	})
}

func TestMonth_NoKeyIsExpectedTwice(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		seen := map[recon.Key]string{}
		for _, e := range m.Expected(m.Rules.Until) {
			if before, twice := seen[e.Key]; twice {
				t.Errorf("%v: %s, and %s", e.Key, before, e.Story)
			}
			seen[e.Key] = e.Story
		}
	})
}

func TestMonth_HasNothingOfTheFuture(t *testing.T) {
	t.Parallel()
	eachMonth(t, func(t *testing.T, m *Month) {
		read := m.Rules.Read
		for _, l := range m.Lines {
			if l.At.After(read) || l.SettledAt.After(read) {
				t.Fatalf("a line of %s, read %s: %+v", l.SettledAt, read, l)
			}
		}
		for _, r := range m.Rows {
			if r.UpdatedAt.After(read) && r.State != "done" || r.PaidAt.After(read) || r.ClaimedAt.After(read) {
				t.Fatalf("a row of %s, read %s: %+v", r.UpdatedAt, read, r)
			}
		}
		for _, d := range m.Deals {
			if d.At.After(read) {
				t.Fatalf("a deal of %s, read %s: %+v", d.At, read, d)
			}
		}
	})
}

// The calendar is written from the laws; the time zone database must say the same, hour by hour.
func TestCalendar_IsThatOfTheTimeZoneDatabase(t *testing.T) {
	t.Parallel()
	berlin, newYork, pacific := zone(t, Zone), zone(t, "America/New_York"), zone(t, "America/Los_Angeles")
	for at := time.Date(2024, 1, 1, 0, 30, 0, 0, time.UTC); at.Year() < 2029; at = at.Add(time.Hour) {
		if berlinSummer(at) != at.In(berlin).IsDST() || newYorkSummer(at) != at.In(newYork).IsDST() {
			t.Fatalf("%s: Berlin %t, New York %t", at, berlinSummer(at), newYorkSummer(at))
		}
		word, seconds := at.In(pacific).Zone()
		if behind, said := pacificOffset(at); said != word || -int(behind/time.Second) != seconds {
			t.Fatalf("%s: Los Angeles %s %s, want %s", at, said, behind, word)
		}
		y, m, d := at.In(berlin).Date()
		from, until := BusinessDay(y, m, d)
		if at.Before(from) || !at.Before(until) || !from.Equal(time.Date(y, m, d, 0, 0, 0, 0, berlin)) {
			t.Fatalf("%s is not in its business day, %s to %s", at, from, until)
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	out, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
