package recon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
	"creditonce/mt5/fakemt5"
)

func TestReadDeals_ListsEveryActionOfKnownLoginsAndGroups(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 4, nil)
	now := dealStart.Add(-time.Hour)
	for i, action := range []int{2, 3, 4, 5, 6, 12} { // 12, interest, is no balance deal
		f.deal(baseLogin+1, action, "1.50", now.Add(time.Duration(i)*time.Minute))
	}
	f.deal(baseLogin+4, 2, "-20.00", dealStart.Add(-48*time.Hour)) // at From: in
	f.deal(baseLogin+4, 2, "7.00", dealStart.Add(-48*time.Hour-time.Second))
	ticket := f.deal(baseLogin+3, 2, "3.00", now)
	q := f.query()
	q.Groups = []string{eur}
	q.Known = []KnownLogin{{Login: baseLogin + 3}, {Login: baseLogin + 1}, {Login: baseLogin + 3, Anchor: &credit.Anchor{Ticket: ticket, ServerTime: now.Add(2 * time.Hour).Unix()}}}
	list := f.complete(q)
	want := []string{"1 2 1.50 USD", "1 3 1.50 USD", "1 4 1.50 USD", "1 5 1.50 USD", "1 6 1.50 USD", "3 2 3.00 USD", "4 2 -20.00 EUR"}
	if !slices.Equal(f.lines(), want) || list.Logins != 4 || list.Offset != 2*time.Hour || len(list.Notes) != 0 {
		t.Errorf("%v, %+v", f.lines(), list)
	}
	if d := f.deals[5]; d.Server != "main" || d.Identity != "ExampleBroker-Live" || !d.At.Equal(now) || d.At.Location() != time.UTC || d.ServerTime != now.Unix()+7200 {
		t.Errorf("deal %+v", d)
	}
	if !slices.Equal(f.steps, []string{"0/4", "1/4", "2/4", "3/4", "4/4"}) {
		t.Errorf("progress %v", f.steps)
	}
	if s := list.Source(); s.List != ListDeals || s.Name != "main" || s.Entity != "ExampleBroker-Live" || s.Rows != 7 || !s.Complete || s.Digest != list.Digest || s.From != q.From {
		t.Errorf("source %+v", s)
	}
	q.Until = now.Add(2 * time.Minute)
	if f.complete(q); !slices.Equal(f.lines(), []string{"1 2 1.50 USD", "1 3 1.50 USD", "3 2 3.00 USD", "4 2 -20.00 EUR"}) {
		t.Errorf("until: %v", f.lines())
	}
}

func TestReadDeals_TheDigestIsThatOfTheDealsAlone(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 6, nil)
	for i := range uint64(6) {
		f.deal(baseLogin+1+i, 2, fmt.Sprintf("%d.00", i+1), dealStart.Add(-time.Hour))
	}
	first := f.complete(f.query())
	if again := f.complete(f.query()); again.Digest != first.Digest || len(again.Digest) != 64 {
		t.Errorf("digest %s, then %s", first.Digest, again.Digest)
	}
	// A login that fails at first is read last: another order, the same list.
	f.fault(fakemt5.Rule{Where: "deal/get_page", Login: baseLogin + 2, Kind: fakemt5.GarbledBody, Count: 1})
	late := f.complete(f.query())
	if got := f.lines(); late.Digest != first.Digest || !strings.HasPrefix(got[5], "2 ") {
		t.Errorf("digest %s, want %s; order %v", late.Digest, first.Digest, got)
	}
	f.deal(baseLogin+6, 2, "0.01", dealStart.Add(-time.Minute))
	if more := f.complete(f.query()); more.Digest == first.Digest {
		t.Error("one deal more, and the same digest")
	}
}

func TestReadDeals_OneLoginThatCannotBeReadMakesTheListIncompleteAndCostsNoOther(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]fakemt5.Rule{
		"pages are garbled":     {Where: "deal/get_page", Kind: fakemt5.GarbledBody},
		"pages are cut":         {Where: "deal/get_page", Kind: fakemt5.PageCut},
		"pages of another":      {Where: "deal/*", Kind: fakemt5.WrongLogin, Other: baseLogin + 1},
		"the account is denied": {Where: "user/get", Kind: fakemt5.RefuseCode, Code: 8},
		"the session is lost":   {Where: "deal/get_total", Kind: fakemt5.SessionLost},
		"deals keep coming":     {Where: "deal/*", Kind: fakemt5.DealsBetween, Rows: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFloor(t, 4, nil)
			for i := range uint64(4) {
				f.deal(baseLogin+1+i, 2, "5.00", dealStart.Add(-time.Hour))
			}
			rule.Login = baseLogin + 2
			f.fault(rule)
			list := f.read(f.query())
			if list.Complete || len(list.Failed) != 1 || list.Failed[0].Login != rule.Login || !strings.Contains(list.Reason, "the deals of 1 of 4 logins could not be read (login 7002: ") {
				t.Errorf("%+v", list)
			}
			if !slices.Equal(f.lines(), []string{"1 2 5.00 USD", "3 2 5.00 USD", "4 2 5.00 EUR"}) {
				t.Errorf("deals %v", f.lines())
			}
			if rules, err := f.control.Faults(t.Context()); err != nil || rules[0].Hits < dealTries {
				t.Errorf("tried %d times", rules[0].Hits)
			}
		})
	}
}

func TestReadDeals_FailuresAreNamedUpToTwenty(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 50, nil)
	f.fault(fakemt5.Rule{Where: "deal/get_page", Kind: fakemt5.RefuseCode, Code: 8})
	list := f.read(f.query())
	if list.Complete || len(list.Failed) != 20 || !strings.Contains(list.Reason, "of 50 of 50 logins") || !strings.Contains(list.Reason, "and 30 more") || strings.Contains(list.Reason, "7021") {
		t.Errorf("%d failed: %s", len(list.Failed), list.Reason)
	}
	if n := f.asked["user/get"]; n > dealTries*mostFailed+3 { // three prove the list of logins
		t.Errorf("%d accounts were asked for: a server in trouble is not asked for all of them", n)
	}
	if len(list.Reason) > 20*(mostReason+30) {
		t.Errorf("a reason of %d bytes", len(list.Reason))
	}
}

func TestReadDeals_ABlockOfLoginsThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 60, nil)
	for i := range uint64(25) {
		f.fault(fakemt5.Rule{Where: "deal/get_total", Login: baseLogin + 3 + i, Kind: fakemt5.RefuseCode, Code: 8})
	}
	f.deal(baseLogin+59, 2, "5.00", dealStart.Add(-time.Hour))
	list := f.read(f.query())
	if list.Complete || !strings.Contains(list.Reason, "of 25 of 60 logins") || !slices.Equal(f.lines(), []string{"59 2 5.00 USD"}) {
		t.Errorf("%v: %+v", f.lines(), list)
	}
}

func TestReadDeals_AServerThatCannotBeReachedIsNeverNoDeals(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 3, func(_ *fakemt5.Config, c *mt5.Config) { c.Addresses = []string{refusedAddress(t)} })
	q := f.query()
	q.Known = []KnownLogin{{Login: baseLogin + 1}, {Login: baseLogin + 2}}
	list := f.read(q)
	if list.Complete || len(f.deals) != 0 || !strings.HasPrefix(list.Reason, "MT5 cannot be reached, tried 3 times: ") || list.Logins != 2 {
		t.Errorf("%+v", list)
	}
	if !slices.Equal(f.clock.waits, []time.Duration{5 * time.Second, 10 * time.Second}) {
		t.Errorf("waits %v", f.clock.waits)
	}
	if strings.Contains(list.Reason, "Fund5Bridge!") {
		t.Error("the reason has the password")
	}
}

func TestReadDeals_AServerThatGoesAwayMidwayEndsTheListing(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 40, nil)
	f.deal(baseLogin+1, 2, "5.00", dealStart.Add(-time.Hour))
	q := f.query()
	q.Progress = func(done, _ int) {
		if done == 2 {
			_ = f.fake.Close()
		}
	}
	list := f.read(q)
	if list.Complete || !strings.Contains(list.Reason, "MT5 cannot be reached") || !strings.Contains(list.Reason, "the deals of 38 of 40 logins") || !slices.Equal(f.lines(), []string{"1 2 5.00 USD"}) {
		t.Errorf("%v, %+v", f.lines(), list)
	}
	if n := len(f.clock.waits); n > 3 {
		t.Errorf("waited %d times: each login waited for the server anew", n)
	}
}

func TestReadDeals_ALoginThatIsGoneIsNotedAfterMT5HasSaidSoTwice(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 3, nil)
	f.deal(baseLogin+1, 2, "5.00", dealStart.Add(-time.Hour))
	q := f.query()
	q.Known = []KnownLogin{{Login: 4711}, {Login: baseLogin + 1}}
	list := f.complete(q)
	if !slices.Equal(list.Missing, []uint64{4711}) || len(list.Notes) != 1 || !strings.Contains(list.Notes[0], "4711") {
		t.Errorf("%+v", list)
	}
	// Said once, it may be a slip: the login is read when it is shown again.
	f.fault(fakemt5.Rule{Where: "user/get", Login: baseLogin + 1, Skip: 2, Count: 1, Kind: fakemt5.RefuseCode, Code: 13})
	q = f.query()
	q.Groups, q.Known = nil, []KnownLogin{{Login: baseLogin + 1}}
	f.fault(fakemt5.Rule{Where: "user/get", Login: baseLogin + 1, Count: 1, Kind: fakemt5.RefuseCode, Code: 13})
	if list := f.complete(q); len(list.Missing) != 0 || !slices.Equal(f.lines(), []string{"1 2 5.00 USD"}) {
		t.Errorf("%v, %+v", f.lines(), list)
	}
	// A server in trouble that denies all of them once, and then answers nothing, has not said it twice.
	f.fault(fakemt5.Rule{Where: "user/get", Kind: fakemt5.HTTPStatus, Status: 500, Skip: 1})
	f.fault(fakemt5.Rule{Where: "user/get", Kind: fakemt5.RefuseCode, Code: 13, Count: 1})
	if list := f.read(q); list.Complete || len(list.Missing) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestReadDeals_AGroupThatCannotBeListedMakesTheListIncomplete(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 2, nil)
	f.deal(baseLogin+1, 2, "5.00", dealStart.Add(-time.Hour))
	f.fault(fakemt5.Rule{Where: "user/logins", Kind: fakemt5.RefuseCode, Code: 8})
	q := f.query()
	q.Groups, q.Known = []string{eur, usd, `!demo\*`}, []KnownLogin{{Login: baseLogin + 1}}
	list := f.read(q)
	if list.Complete || strings.Count(list.Reason, "cannot be listed") != 2 || !strings.Contains(list.Reason, `group mask "real\\eur"`) || len(f.deals) != 1 {
		t.Errorf("%v, %+v", f.lines(), list)
	}
	if err := f.control.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.Groups = []string{`demo\*`, `real\eur`}
	if list := f.complete(q); list.Logins != 2 || !slices.Equal(list.Notes, []string{`MT5 shows no login under group mask "demo\\*"`}) {
		t.Errorf("%+v", list)
	}
}

func TestReadDeals_DealsThatComeAndGoMeanwhile(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 3, nil)
	f.deal(baseLogin+2, 2, "1.00", dealStart.Add(-2*time.Hour))
	lost := f.deal(baseLogin+3, 2, "2.00", dealStart.Add(-time.Hour))
	q := f.query()
	q.Progress = func(done, _ int) {
		if done == 1 {
			f.deal(baseLogin+1, 2, "8.00", dealStart) // of a login that has been read: the next list has it
			f.deal(baseLogin+2, 2, "9.00", dealStart)
			if err := f.control.DeleteDeal(t.Context(), lost); err != nil {
				t.Error(err)
			}
		}
	}
	f.fault(fakemt5.Rule{Where: "deal/*", Login: baseLogin + 2, Kind: fakemt5.DealsBetween, Rows: 70, Count: 3})
	f.complete(q)
	if !slices.Equal(f.lines(), []string{"2 2 1.00 EUR", "2 2 9.00 EUR"}) {
		t.Errorf("deals %v", f.lines())
	}
}

// A deal that we know and that is not shown is no empty list, unless MT5 itself says that it is gone: then another deal proves the rest, and
// what is gone is named. A server that was put back has lost the newest deal of every login.
func TestReadDeals_ANewestKnownDealThatIsGoneIsNotedAndOneThatIsNotShownMakesTheListIncomplete(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 3, nil)
	kept := f.deal(baseLogin+2, 2, "1.00", dealStart.Add(-2*time.Hour))
	rest := f.deal(baseLogin+3, 2, "3.00", dealStart.Add(-2*time.Hour))
	lost := f.deal(baseLogin+3, 2, "2.00", dealStart.Add(-time.Hour))
	if err := f.control.DeleteDeal(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	q := f.query()
	q.Known = []KnownLogin{{Login: baseLogin + 3, Anchor: &credit.Anchor{Ticket: lost, ServerTime: dealStart.Add(time.Hour).Unix()}}, {Login: baseLogin + 2, Anchor: &credit.Anchor{Ticket: kept, ServerTime: dealStart.Unix()}}}
	f.fault(fakemt5.Rule{Where: "deal/get", Kind: fakemt5.HTTPStatus, Status: 500})
	if list := f.read(q); list.Complete || len(list.Failed) != 1 || list.Failed[0].Login != baseLogin+3 || !strings.Contains(list.Reason, fmt.Sprint(lost)) {
		t.Errorf("MT5 does not say that it is gone: %+v", list)
	}
	if err := f.control.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := f.complete(q)
	if len(list.Notes) != 1 || !strings.HasPrefix(list.Notes[0], fmt.Sprintf("deal %d, the newest known on login %d, is not at MT5 any more", lost, baseLogin+3)) {
		t.Errorf("the notes are %q", list.Notes)
	}
	if !slices.Equal(f.lines(), []string{"2 2 1.00 EUR", "3 2 3.00 USD"}) {
		t.Errorf("deals %v", f.lines())
	}
	// Nor does the deal before it prove anything once it is gone too.
	if err := f.control.DeleteDeal(t.Context(), rest); err != nil {
		t.Fatal(err)
	}
	f.fault(fakemt5.Rule{Where: "deal/get_page", Login: baseLogin + 3, Kind: fakemt5.EmptyBody})
	if list := f.read(q); list.Complete || len(list.Failed) != 1 {
		t.Errorf("nothing proves that the list is whole: %+v", list)
	}
}

func TestReadDeals_AcrossAChangeOfClocksDealsKeepTheOffsetThatHeldThen(t *testing.T) {
	t.Parallel()
	f := openFloorAt(t, moment(t, "2026-11-02T12:00:00Z"), 2, nil) // US clocks changed the day before
	before, after := moment(t, "2026-10-31T23:30:00Z"), moment(t, "2026-11-01T23:30:00Z")
	f.deal(baseLogin+1, 2, "1.00", before)
	f.deal(baseLogin+1, 2, "2.00", after)
	q := f.query()
	q.From = moment(t, "2026-10-20T00:00:00Z")
	list := f.complete(q)
	if len(f.deals) != 2 || !f.deals[0].At.Equal(before) || !f.deals[1].At.Equal(after) || len(list.Notes) != 0 {
		t.Fatalf("%+v, %v", f.deals, list.Notes)
	}
	// Without a rule the first is an hour off, and the list says so.
	q.Rule = ServerClock{}
	list = f.complete(q)
	if !f.deals[0].At.Equal(before.Add(time.Hour)) || !f.deals[1].At.Equal(after) || len(list.Notes) != 1 || !strings.Contains(list.Notes[0], "EU clocks changed on 2026-10-25") && !strings.Contains(list.Notes[0], "US clocks changed on 2026-11-01") {
		t.Errorf("%+v, %v", f.deals, list.Notes)
	}
	// A rule that is not the server's own makes the list incomplete, once, however many logins there are.
	q.Rule = ServerClock{Location: zone(t, "Europe/London")}
	if list = f.read(q); list.Complete || list.Reason != "the server's clock is +2h, the rule gives +0h; correct mt5.servers.main.clock" {
		t.Errorf("%+v", list)
	}
}

func TestReadDeals_PausesBetweenLoginsAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 5, nil)
	q := f.query()
	q.Pause = 20 * time.Millisecond
	f.complete(q)
	if want := slices.Repeat([]time.Duration{q.Pause}, 4); !slices.Equal(f.clock.waits, want) {
		t.Errorf("waits %v", f.clock.waits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.clock.waits = nil
	f.clock.ended = func() {
		if len(f.clock.waits) == 2 {
			cancel()
		}
	}
	f.deal(baseLogin+1, 2, "5.00", dealStart)
	list, err := ReadDeals(ctx, f.session, q, func(Deal) error { return nil })
	if !errors.Is(err, context.Canceled) || list.Complete || list.Deals != 1 || !strings.Contains(list.Reason, "the listing was ended") {
		t.Errorf("%v, %+v", err, list)
	}
}

func TestReadDeals_AnErrorOfEmitEndsItAsItIs(t *testing.T) {
	t.Parallel()
	f := openFloor(t, 3, nil)
	f.deal(baseLogin+1, 2, "5.00", dealStart)
	full := errors.New("no room")
	list, err := ReadDeals(t.Context(), f.session, f.query(), func(Deal) error { return full })
	if err != full || list.Complete { //nolint:errorlint // as it is, not wrapped
		t.Errorf("%v, %+v", err, list)
	}
	for _, q := range []DealQuery{{}, {Server: "main", Identity: "x"}, {Server: "main", Identity: "x", Clock: f.clock, Known: []KnownLogin{{}}}} {
		if list, err := ReadDeals(t.Context(), f.session, q, nil); !errors.Is(err, credit.ErrInvalid) || list.Complete {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// Two thousand logins on a real socket: what it costs is a handful of requests a login.
func TestReadDeals_OfTwoThousandLogins(t *testing.T) {
	t.Parallel()
	const logins = 2000
	f := openFloor(t, logins, nil)
	for i := range uint64(40) {
		f.deal(baseLogin+1+i*50, 2, "5.00", dealStart.Add(-time.Hour))
	}
	begun := time.Now()
	list := f.complete(f.query())
	took := time.Since(begun)
	requests := 0
	for _, n := range f.asked {
		requests += n
	}
	t.Logf("%d logins, %d deals, %d requests in %s: %.0f logins/s", list.Logins, list.Deals, requests, took.Round(time.Millisecond), logins/took.Seconds())
	if list.Logins != logins || list.Deals != 40 || requests > 8*logins+60 {
		t.Errorf("%d requests, %+v", requests, list)
	}
}
