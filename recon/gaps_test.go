package recon

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCoverage_NamesWhatIsMissingInTheMiddle(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return begin.AddDate(0, 0, n) }
	batches := func(reaches int, numbers ...uint64) Imported {
		return Imported{Reaches: day(reaches), Statement: Statement{Batches: BatchesOf(numbers)}}
	}
	period := func(from, until int) Imported {
		return Imported{Reaches: day(until), Statement: Statement{From: day(from), Until: day(until), Consecutive: true}}
	}
	for name, c := range map[string]struct {
		statements []Imported
		want       []string
	}{
		"nothing":                                 {nil, nil},
		"all there, in any order":                 {[]Imported{batches(3, 44), batches(1, 42), batches(2, 43)}, nil},
		"one batch":                               {[]Imported{batches(3, 44), batches(1, 42)}, []string{"batch 43"}},
		"several":                                 {[]Imported{batches(9, 50), batches(1, 42), batches(3, 44)}, []string{"batch 43", "batches 45 to 49"}},
		"within one file":                         {[]Imported{batches(3, 42, 44, 44)}, []string{"batch 43"}},
		"a file with what others have":            {[]Imported{batches(3, 42, 43, 44), batches(2, 43), batches(4, 45)}, nil},
		"long before these days":                  {[]Imported{batches(-50, 3), batches(-60, 1), batches(1, 4)}, nil},
		"after these days":                        {[]Imported{batches(30, 44), batches(31, 46), batches(9, 43)}, nil},
		"periods without a gap":                   {[]Imported{period(1, 2), period(0, 1), period(2, 4), period(0, 3)}, nil},
		"a day without a file":                    {[]Imported{period(0, 1), period(2, 3)}, []string{"2026-03-02 00:00 UTC to 2026-03-03 00:00 UTC"}},
		"a period within a longer":                {[]Imported{period(0, 5), period(1, 2), period(5, 6)}, nil},
		"a gap of a second":                       {[]Imported{period(0, 1), {Statement: Statement{From: day(1).Add(time.Second), Until: day(2), Consecutive: true}}}, nil},
		"periods that need not follow each other": {[]Imported{{Statement: Statement{From: day(0), Until: day(1)}}, {Statement: Statement{From: day(4), Until: day(5)}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cover coverage
			for _, im := range c.statements {
				cover.add(im)
			}
			var got []string
			for _, h := range cover.holes(day(-35), day(10)) {
				got = append(got, h.name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("missing %q, want %q", got, c.want)
			}
		})
	}
}

func TestRun_IsIncompleteByTheNameOfWhatIsMissing_UnlessItWasNeverMade(t *testing.T) {
	t.Parallel()
	var cover coverage
	for n := range uint64(8) {
		cover.add(Imported{Reaches: begin.Add(time.Hour), Statement: Statement{Batches: BatchesOf([]uint64{40 + 2*n})}})
	}
	r := &Runner{Lookback: 24 * time.Hour}
	run := &Run{From: begin, Until: begin.AddDate(0, 0, 1)}
	p := ProviderList{Provider: provider(cards)}
	if got := r.lacks(p, &cover, run); !strings.HasPrefix(got, "batch 41, batch 43, batch 45, batch 47, batch 49 and 2 more: missing") {
		t.Error(got)
	}
	p.Absent = []string{"batch 41", "batch 43", "batch 45", "batch 49", "batch 51", "batch 53"}
	if got := r.lacks(p, &cover, run); !strings.HasPrefix(got, "batch 47: missing between statements that are there; import it with `creditonce recon import FILE --provider "+cards+"`") {
		t.Error(got)
	}
	if p.Absent = append(p.Absent, "batch 47"); r.lacks(p, &cover, run) != "" {
		t.Error(r.lacks(p, &cover, run))
	}
}
