package recon_test

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestTimesAreReadInTheirZone(t *testing.T) {
	t.Parallel()
	berlin, newYork := zone(t, "Europe/Berlin"), zone(t, "America/New_York")
	pst, _ := recon.ZoneOf("PST")
	for _, c := range []struct {
		form recon.Stamp
		text string
		want string // empty: refused
	}{
		{recon.Stamp{Layout: time.DateTime}, "2026-07-01 10:00:00", "2026-07-01T10:00:00Z"},
		{recon.Stamp{Layout: time.DateTime, Location: berlin}, "2026-07-01 10:00:00", "2026-07-01T08:00:00Z"},
		{recon.Stamp{Layout: time.DateTime, Location: berlin}, "2026-01-01 00:30:00", "2025-12-31T23:30:00Z"},
		{recon.Stamp{Layout: time.DateTime, Location: pst}, "2026-07-01 23:00:00", "2026-07-02T07:00:00Z"}, // the word is -08:00 in July too
		{recon.Stamp{Layout: "2006/01/02 15:04:05 -0700", Location: berlin}, "2026/01/06 23:59:59 -0800", "2026-01-07T07:59:59Z"},
		{recon.Stamp{Layout: time.DateTime, Location: berlin}, "2026-03-29 02:30:00", ""}, // the clocks leave it out
		{recon.Stamp{Layout: time.DateTime, Location: newYork}, "2026-03-08 02:30:00", ""},
		{recon.Stamp{Layout: time.DateTime, Location: berlin}, "2026-10-25 02:30:00", "2026-10-25T00:30:00Z"},  // it comes twice: the earlier
		{recon.Stamp{Layout: time.DateTime, Location: newYork}, "2026-11-01 01:30:00", "2026-11-01T05:30:00Z"}, // likewise
		{recon.Stamp{Layout: time.DateTime, Location: zone(t, "Australia/Lord_Howe")}, "2026-04-05 01:45:00", "2026-04-04T14:45:00Z"},
		{recon.Stamp{Layout: time.DateTime}, "2026-02-30 10:00:00", ""},
		{recon.Stamp{Layout: time.DateTime}, "0001-01-01 00:00:00", ""},
		{recon.Stamp{Layout: time.DateTime}, "01.07.2026 10:00", ""},
		{recon.Stamp{Layout: time.DateTime}, "", ""},
		{recon.Stamp{Layout: time.UnixDate}, "Wed Jul  1 10:00:00 XYZ 2026", ""}, // package time would read the word as UTC
	} {
		at, err := c.form.Time(c.text)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q is read as %v", c.text, at)
			}
			continue
		}
		if err != nil || at.Format(time.RFC3339) != c.want || at.Location() != time.UTC {
			t.Errorf("%q is read as %v, %v; want %s", c.text, at, err, c.want)
		}
	}
}

func TestZoneWordsThatMeanSeveralZonesAreRefused(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "CST", "IST", "AST", "pst", "Pacific", "+0100"} {
		if loc, ok := recon.ZoneOf(word); ok {
			t.Errorf("%q is %v", word, loc)
		}
	}
	for word, want := range map[string]int{"PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "UTC": 0} {
		loc, ok := recon.ZoneOf(word)
		if _, offset := time.Date(2026, 7, 1, 0, 0, 0, 0, loc).Zone(); !ok || offset != want*3600 {
			t.Errorf("%s is %d s, %v", word, offset, ok)
		}
	}
}

func usd(t *testing.T, minor int64) credit.Amount {
	t.Helper()
	a, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTallySumsByKeyAndCurrency(t *testing.T) {
	t.Parallel()
	yen, err := credit.Minor(7, "JPY", 0)
	if err != nil {
		t.Fatal(err)
	}
	var tally recon.Tally
	for _, a := range []credit.Amount{usd(t, 250), usd(t, -100), yen, {}} {
		if err := tally.Add("batch 1", a); err != nil {
			t.Fatal(err)
		}
	}
	if got := tally.Sum("batch 1", usd(t, 0)); !got.Equal(usd(t, 150)) {
		t.Errorf("dollars: %s", got)
	}
	if got := tally.Sum("batch 1", yen); !got.Equal(yen) {
		t.Errorf("yen: %s", got)
	}
	if got := tally.Sum("batch 2", usd(t, 9)); !got.IsSet() || !got.IsZero() {
		t.Errorf("nothing was added, and the sum is %s", got)
	}
}

func TestTallyIsBounded(t *testing.T) {
	t.Parallel()
	var tally recon.Tally
	one := usd(t, 1)
	for i := range 20_000 {
		if err := tally.Add(strings.Repeat("k", i%3+1)+time.Duration(i).String(), one); err != nil {
			t.Fatalf("sum %d: %v", i, err)
		}
	}
	if err := tally.Add("one more", one); err == nil {
		t.Error("a hostile file can make it grow")
	}
}

func TestProblemsAreBoundedAndSayHowManyMore(t *testing.T) {
	t.Parallel()
	var p recon.Problems
	for i := range 1000 {
		p.Add(i+1, "row %d", i+1)
	}
	list := p.List()
	if len(list) != 201 || !strings.Contains(list[200].Text, "800 more") || list[200].Row != 201 {
		t.Errorf("%d problems, the last one %+v", len(list), list[len(list)-1])
	}
	p = recon.Problems{}
	p.AddTotal(recon.StatedTotal{Name: "payout 1", Stated: usd(t, 100), Summed: usd(t, 100)})
	p.AddTotal(recon.StatedTotal{Name: "payout 2", Row: 9, Stated: usd(t, 100), Summed: usd(t, 70)})
	if list := p.List(); len(list) != 1 || list[0].Row != 9 || !strings.Contains(list[0].Text, "payout 2") || !strings.Contains(list[0].Text, "0.30 USD") {
		t.Errorf("%+v", list)
	}
}
