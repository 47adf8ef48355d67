package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/mt5/probe"
	"creditonce/store"
)

// LearnedError says that the configuration is not safe with what a probe has measured of an MT5 server.
type LearnedError struct{ text string }

// Error implements error.
func (e *LearnedError) Error() string { return e.text }

// heedLearned compares the configuration with what is known of each server. It refuses what could pay twice, and
// warns of the rest.
func (a *App) heedLearned() error {
	for _, label := range slices.Sorted(maps.Keys(a.cfg.MT5.Servers)) {
		s, known := a.cfg.MT5.Servers[label], a.settings.LearnedOf(label)
		if known.Identity != s.Identity {
			continue
		}
		if problem := visibilityProblem(a.cfg, label, known); problem != "" {
			if !a.cfg.Demo {
				return &LearnedError{problem}
			}
			a.log.Warn().Str("server", label).Msg(problem)
		}
		if problem := sessionsProblem(label, s, known); problem != "" {
			a.log.Warn().Str("server", label).Msg(problem)
		}
		for _, answer := range known.Answers {
			if answer.Differs {
				a.log.Warn().Str("server", label).Str("question", answer.ID).Str("answer", answer.Answer).Time("probed", answer.At).
					Msg("the mt5 server does not do what the client assumes; see: creditonce doctor")
			}
		}
	}
	return nil
}

// longestCall is the longest life of one balance call, from its claim to the end of waiting for an answer.
func longestCall(c *config.Config, s config.MT5Server) time.Duration {
	return c.Credit.SendDeadline + s.CallTimeout
}

// visibilityProblem says why the quarantine is too short for the measured time until a deal shows (design §7), or "".
func visibilityProblem(c *config.Config, label string, known credit.Learned) string {
	if known.VisibleMost == nil {
		return ""
	}
	need := longestCall(c, c.MT5.Servers[label]) + *known.VisibleMost
	if c.Credit.Quarantine > need {
		return ""
	}
	return fmt.Sprintf("mt5 server %s: the probe of %s saw a new deal only after %s; with the longest call that is %s, and credit.quarantine is %s: "+
		"a deal could be taken for absent and booked twice; set credit.quarantine to more than that, such as %s", label, known.At.Format(time.DateOnly),
		known.VisibleMost.Round(time.Millisecond), need.Round(time.Millisecond), c.Credit.Quarantine, (2*need).Round(time.Minute)+time.Minute)
}

// sessionsProblem says that the configuration opens more sessions than the server allows, or "".
func sessionsProblem(label string, s config.MT5Server, known credit.Learned) string {
	if known.Sessions == nil || s.Sessions <= *known.Sessions {
		return ""
	}
	return fmt.Sprintf("mt5 server %s allows %d sessions at once by the probe of %s, and mt5.servers.%s.sessions is %d: lower it",
		label, *known.Sessions, known.At.Format(time.DateOnly), label, s.Sessions)
}

// dealerOf is the dealer that our deals carry: as measured, else probably the manager's login, and then a difference
// only warns.
func dealerOf(s config.MT5Server, known credit.Learned) (dealer uint64, measured bool) {
	if known.Identity == s.Identity && known.Dealer != nil {
		return *known.Dealer, true
	}
	return s.Login, false
}

// learnedOf translates a report into what the store keeps of it.
func learnedOf(r probe.Report) credit.Learned {
	at := r.Ended.UTC().Truncate(time.Second)
	l := credit.Learned{
		Server: r.Server, Identity: r.Identity, Build: r.Build, Program: r.Program, At: at,
		Dealer: r.Facts.Dealer, VisibleMost: r.Facts.VisibleMost, Samples: r.Facts.Samples,
		PageLimit: r.Facts.PageLimit, Offset: r.Facts.Offset, Sessions: r.Facts.Sessions,
	}
	for _, f := range r.Findings {
		if f.Verdict != probe.NotAsked && f.Verdict != probe.NoAnswer {
			l.Answers = append(l.Answers, credit.LearnedAnswer{ID: f.ID, Differs: f.Verdict == probe.Differs, Answer: f.Answer, At: at})
		}
	}
	slices.SortFunc(l.Answers, func(a, b credit.LearnedAnswer) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return l
}

// ReportError says that a probe's report does not fit the configuration or the store.
type ReportError struct{ text string }

// Error implements error.
func (e *ReportError) Error() string { return e.text }

// ImportProbe stores what the JSON form of a report says. No service may have the store open; where there is no store
// yet it is made, as serve would make it. The answer says in one line what was stored.
func ImportProbe(ctx context.Context, c *config.Config, text []byte) (string, error) {
	r, err := probe.ParseReport(text)
	if err != nil {
		return "", &ReportError{err.Error()}
	}
	now := systemClock{}.Now()
	s, configured := c.MT5.Servers[r.Server]
	switch {
	case !configured:
		return "", &ReportError{fmt.Sprintf("it is about server %q, which the configuration does not name", r.Server)}
	case r.Identity != s.Identity:
		return "", &ReportError{fmt.Sprintf("it is about a server that calls itself %q, and the configuration expects %q under %s", r.Identity, s.Identity, r.Server)}
	case r.Ended.After(now.Add(time.Hour)):
		return "", &ReportError{"it ended in the future: one of the two machines' clocks is wrong"}
	}
	if err := storeProbe(ctx, c, learnedOf(r)); err != nil {
		return "", err
	}
	return fmt.Sprintf("what the probe of %s learned of %s (%d answers) is in the store; serve uses it from its next start",
		r.Ended.Format(time.DateTime), r.Server, len(learnedOf(r).Answers)), nil
}

func storeProbe(ctx context.Context, c *config.Config, learned credit.Learned) (err error) {
	a := &App{cfg: c, clock: systemClock{}}
	defer func() { err = errors.Join(err, a.teardown.run(context.WithoutCancel(ctx))) }()
	if err := a.openStore(ctx); err != nil {
		return err
	}
	return settleProbe(ctx, a.store, learned)
}

func settleProbe(ctx context.Context, db *store.DB, learned credit.Learned) error {
	_, err := db.Settle(ctx, func(s credit.Settings) (credit.Settings, error) {
		if known := s.LearnedOf(learned.Server); known.Identity == learned.Identity && known.At.After(learned.At) {
			return s, &ReportError{fmt.Sprintf("the store holds a newer report about %s, of %s UTC", learned.Server, known.At.Format(time.DateTime))}
		}
		return s.Learn(learned), nil
	})
	if err != nil {
		return fmt.Errorf("store what was learned: %w", err)
	}
	return nil
}
