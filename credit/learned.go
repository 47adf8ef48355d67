package credit

import (
	"slices"
	"strings"
	"time"
)

// Learned is what a probe has measured of one MT5 server, as far as the service uses it. Nil: not measured.
type Learned struct {
	Server   string    `json:"server"` // label
	Identity string    `json:"identity"`
	Build    string    `json:"build,omitempty"` // the server's version by its own words
	Program  string    `json:"program"`         // version of the program that probed
	At       time.Time `json:"at"`              // of the newest report

	Dealer      *uint64        `json:"dealer,string,omitempty"`   // on the deals of our calls
	VisibleMost *time.Duration `json:"visible_most_ns,omitempty"` // the longest until a new deal showed
	Samples     int            `json:"samples,omitempty"`         // that VisibleMost is the most of
	PageLimit   *int           `json:"page_limit,omitempty"`      // rows that a page gives
	Offset      *time.Duration `json:"offset_ns,omitempty"`       // server clock minus UTC, at At
	Sessions    *int           `json:"sessions,omitempty"`        // most at once; nil also where no limit was met

	Answers []LearnedAnswer `json:"answers,omitempty"` // sorted by ID
}

// LearnedAnswer is the answer to one question about the server.
type LearnedAnswer struct {
	ID      string    `json:"id"`
	Differs bool      `json:"differs,omitempty"` // from what the client assumes
	Answer  string    `json:"answer"`
	At      time.Time `json:"at"`
}

// LearnedOf is what is known of a server by its label; the zero value where nothing is.
func (s Settings) LearnedOf(server string) Learned {
	for _, l := range s.Learned {
		if l.Server == server {
			return l
		}
	}
	return Learned{}
}

// Learn returns the settings with what a newer report says about a server. What the report did not measure stays as
// it was known, except where the server calls itself by another name or version now: then only the report counts.
// VisibleMost only grows, as long as the server is the same.
func (s Settings) Learn(now Learned) Settings {
	before := s.LearnedOf(now.Server)
	if before.Identity == now.Identity && before.Build == now.Build {
		now = now.over(before)
	}
	s.Learned = slices.Clone(s.Learned)
	s.Learned = slices.DeleteFunc(s.Learned, func(l Learned) bool { return l.Server == now.Server })
	s.Learned = append(s.Learned, now)
	slices.SortFunc(s.Learned, func(a, b Learned) int { return strings.Compare(a.Server, b.Server) })
	return s
}

// over fills what l lacks from an earlier state of knowledge.
func (l Learned) over(before Learned) Learned {
	l.Dealer, l.PageLimit = orBefore(l.Dealer, before.Dealer), orBefore(l.PageLimit, before.PageLimit)
	l.Offset = orBefore(l.Offset, before.Offset)
	if !slices.ContainsFunc(l.Answers, func(a LearnedAnswer) bool { return a.ID == "session.count" }) {
		l.Sessions = before.Sessions // nil in a report that asked says that there was no limit
	}
	if l.VisibleMost == nil || before.VisibleMost != nil && *before.VisibleMost > *l.VisibleMost {
		l.VisibleMost = before.VisibleMost
	}
	l.Samples += before.Samples
	answers := slices.Clone(l.Answers)
	for _, a := range before.Answers {
		if !slices.ContainsFunc(answers, func(b LearnedAnswer) bool { return b.ID == a.ID }) {
			answers = append(answers, a)
		}
	}
	slices.SortFunc(answers, func(a, b LearnedAnswer) int { return strings.Compare(a.ID, b.ID) })
	l.Answers = answers
	return l
}

func orBefore[T any](now, before *T) *T {
	if now == nil {
		return before
	}
	return now
}
