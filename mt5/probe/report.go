package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"creditonce/credit"
)

// Format marks a report's JSON form; another form is refused.
const Format = "creditonce-mt5-probe-1"

// Verdict says how an answer stands to what the client assumes.
type Verdict string

// The verdicts.
const (
	AsAssumed Verdict = "as assumed"
	Differs   Verdict = "differs"
	Handled   Verdict = "handled"   // otherwise than assumed, and the client copes, now that it knows or anyway
	Learned   Verdict = "learned"   // the client works either way
	NoAnswer  Verdict = "no answer" // asked, and not to be seen from what came
	NotAsked  Verdict = "not asked"
)

// Finding is the answer to one question of the table.
type Finding struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	Answer  string  `json:"answer"`         // what was seen; for NoAnswer and NotAsked why not
	Next    string  `json:"next,omitempty"` // what to do about a difference; what follows from a handled one
}

// Operation is one balance operation of the probe.
type Operation struct {
	Purpose string         `json:"purpose"` // id of a question, or "reversal"
	Login   uint64         `json:"login,string"`
	Amount  string         `json:"amount"` // as sent
	Comment string         `json:"comment"`
	Outcome credit.Outcome `json:"outcome"`
	Reply   string         `json:"reply"`
	Took    time.Duration  `json:"took_ns"`
	Ticket  uint64         `json:"ticket,string,omitempty"`
	// Booked and Kept are amount and comment as the deal shows them; empty before it shows.
	Booked string `json:"booked,omitempty"`
	Kept   string `json:"kept,omitempty"`
	// Visible is how long after the answer the deal showed, by endpoint; one that is missing never showed it.
	Visible map[string]time.Duration `json:"visible_ns,omitempty"`
}

// Report is what a probe found. Times are UTC.
type Report struct {
	Format   string    `json:"format"`
	Program  string    `json:"program"` // version of the program that probed
	Server   string    `json:"server"`  // label in the configuration
	Identity string    `json:"identity"`
	Build    string    `json:"build"` // what the server says about its version
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Manager  uint64    `json:"manager,string"`
	Login    uint64    `json:"login,string"`
	Group    string    `json:"group"`
	Currency string    `json:"currency"`
	Digits   int       `json:"digits"`
	Operated bool      `json:"operated"` // balance operations were allowed

	Facts      Facts       `json:"facts"`
	Findings   []Finding   `json:"findings"`
	Operations []Operation `json:"operations,omitempty"`
	// Attention is what a person must do now, such as taking an operation back by hand.
	Attention []string `json:"attention,omitempty"`
}

// Facts are the findings that the client uses as numbers. Nil: not measured.
type Facts struct {
	Dealer      *uint64        `json:"dealer,string,omitempty"`
	VisibleMost *time.Duration `json:"visible_most_ns,omitempty"`
	Samples     int            `json:"visible_samples,omitempty"`
	PageLimit   *int           `json:"page_limit,omitempty"`
	Offset      *time.Duration `json:"offset_ns,omitempty"`
	Sessions    *int           `json:"sessions,omitempty"` // the most at once; nil also where no limit was met
}

// ParseReport reads a report's JSON form and refuses what no probe wrote.
func ParseReport(text []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return Report{}, fmt.Errorf("it is not the JSON file of a report: %w", err)
	}
	if r.Format != Format {
		return Report{}, fmt.Errorf("its format is %q, this program reads %q", r.Format, Format)
	}
	known := map[string]bool{}
	for _, a := range Assumptions() {
		known[a.ID] = true
	}
	for _, f := range r.Findings {
		if !known[f.ID] {
			return Report{}, fmt.Errorf("it answers a question %q that this program does not know; probe again with this version", f.ID)
		}
		delete(known, f.ID)
	}
	f := r.Facts
	switch {
	case r.Server == "" || r.Identity == "" || r.Ended.IsZero():
		return Report{}, errors.New("it names no server or no time")
	case f.VisibleMost != nil && *f.VisibleMost < 0, f.PageLimit != nil && (*f.PageLimit < 2 || *f.PageLimit > 100), f.Sessions != nil && *f.Sessions < 1:
		return Report{}, errors.New("a number in it cannot be: it was changed by hand or is damaged")
	}
	return r, nil
}

// Found is the finding of a question.
func (r *Report) Found(id string) (Finding, bool) {
	for _, f := range r.Findings {
		if f.ID == id {
			return f, true
		}
	}
	return Finding{}, false
}

// Differences are the findings that contradict what the client assumes, and that somebody must look at.
func (r *Report) Differences() []Finding { return r.of(Differs) }

func (r *Report) of(v Verdict) []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if f.Verdict == v {
			out = append(out, f)
		}
	}
	return out
}
