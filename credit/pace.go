package credit

import (
	"fmt"
	"maps"
	"time"
)

// Pace bounds what the service does with money by itself within an hour, over all logins, so that neither a storm of repeated
// calls after an outage nor a mistake or a stolen secret can move more than somebody has thought of (holes H11 and H41). A
// map without a currency sets no bound for it.
type Pace struct {
	Reissues int               // calls that are repeated without a person, at most; 0: no bound
	Reissued map[string]Amount // their sum, by account currency
	Claimed  map[string]Amount // the sum of all calls, by account currency
}

// paceHour is how long an [Hour] lasts.
const paceHour = time.Hour

// Hour is what was done by itself since Since. It is kept in the settings and changed in the transaction that it counts, so
// that two lanes never both take the last place. It begins with the first thing that it counts.
type Hour struct {
	Since    time.Time         `json:"since"` // on the scale of NextAt: a step of the wall clock neither ends nor prolongs it
	Reissues int               `json:"reissues,omitempty"`
	Reissued map[string]Amount `json:"reissued,omitempty"`
	Claimed  map[string]Amount `json:"claimed,omitempty"`
}

// at is the hour that counts now: the stored one while it lasts, else a new one. An hour of the future, as a clock that was set
// back between two processes leaves one, begins again with all that it has counted.
func (h *Hour) at(now time.Time) Hour {
	now = instant(now)
	switch {
	case h == nil, !now.Before(h.Since.Add(paceHour)):
		return Hour{Since: now}
	case now.Before(h.Since):
		later := *h
		later.Since = now
		return later
	}
	return *h
}

// reissue counts one more call of the amount that is repeated by itself. Without an hour it may not be: why says so.
func (p Pace) reissue(before *Hour, a Amount, now time.Time) (after *Hour, why string) {
	h := before.at(now)
	h.Reissues++
	if p.Reissues > 0 && h.Reissues > p.Reissues {
		return nil, fmt.Sprintf("%d calls have been repeated since %s, the most that may be in an hour", p.Reissues, hourText(h.Since))
	}
	if h.Reissued, why = spend(h.Reissued, p.Reissued, a, h.Since, "calls that were repeated"); why != "" {
		return nil, why
	}
	return &h, ""
}

// claim counts one more call of the amount; nil without a reason where nothing bounds its currency.
func (p Pace) claim(before *Hour, a Amount, now time.Time) (after *Hour, why string) {
	if _, bounded := p.Claimed[a.Currency()]; !bounded {
		return nil, ""
	}
	h := before.at(now)
	if h.Claimed, why = spend(h.Claimed, p.Claimed, a, h.Since, "all calls"); why != "" {
		return nil, why
	}
	return &h, ""
}

// spend adds the amount to its currency's sum in a map of its own, or says that this would pass the limit.
func spend(sums, limits map[string]Amount, a Amount, since time.Time, what string) (map[string]Amount, string) {
	out := maps.Clone(sums)
	if out == nil {
		out = map[string]Amount{}
	}
	sum, err := out[a.Currency()].Add(a)
	if err != nil {
		return nil, "what was done in this hour cannot be added up: " + err.Error()
	}
	out[a.Currency()] = sum
	limit, bounded := limits[a.Currency()]
	if !bounded {
		return out, ""
	}
	if over, err := sum.Cmp(limit); err != nil || over > 0 {
		return nil, fmt.Sprintf("with it, %s since %s would be %s, and at most %s may be in an hour", what, hourText(since), sum, limit)
	}
	return out, ""
}

func hourText(t time.Time) string { return t.UTC().Format("15:04 UTC") }
