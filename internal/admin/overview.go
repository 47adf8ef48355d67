package admin

import (
	"net/http"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

func (s *Server) status(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	st, err := s.cfg.Desk.Status(r.Context(), who)
	if err != nil {
		return nil, err
	}
	out := Status{
		Environment: st.Settings.Environment, Mode: string(st.Settings.Mode), ModeReason: st.Settings.ModeReason, ModeBy: st.Settings.ModeBy,
		ModeAt: st.Settings.ModeAt, CutoverAt: st.Settings.CutoverAt, Credits: map[string]int{}, OpenTasks: st.Totals.OpenTasks,
		Events: st.Totals.Events, People: st.People, Quarantine: int((st.Quarantine + time.Second - 1) / time.Second), Service: s.cfg.Service(),
	}
	for _, state := range credit.States() {
		out.Credits[string(state)] = st.Totals.Rows[state]
	}
	out.Proposals, out.Moved, out.OldestDoubt, out.TasksByKind = st.Proposals, st.Moved, st.Doubt, []TaskCount{}
	for _, t := range st.Tasks {
		out.TasksByKind = append(out.TasksByKind, TaskCount{Kind: string(t.Kind), Open: t.Open, Oldest: t.Oldest})
	}
	restoreOf(st.Settings, &out)
	out.Stops = s.stops(st.Settings)
	if s.cfg.Recon != nil {
		standing, err := s.cfg.Recon.Standing(r.Context())
		if err != nil {
			return nil, err
		}
		out.Recon = &standing
	}
	out.Pulls = []Pull{}
	for _, p := range st.Settings.Pulls {
		out.Pulls = append(out.Pulls, Pull{
			Provider: p.Provider, CompleteTo: p.To, PulledAt: p.At, Events: p.Events, Missed: p.Missed, MissedAt: p.MissedAt,
			Failing: p.FailingSince, Problem: p.Problem,
		})
	}
	return out, nil
}

// stops are the reasons for which nothing is credited.
func (s *Server) stops(settings credit.Settings) []Stop {
	if s.cfg.Stops != nil {
		return s.cfg.Stops(settings)
	}
	return each(settings.Stops(), StopOf)
}

// StopOf is a reason as status shows it.
func StopOf(s credit.Stop) Stop {
	return Stop{Key: s.Key, Server: s.Server, Since: s.Since, Why: s.Why, Next: s.Next}
}

// restoreOf fills in what keeps the store from calling, or its rows from going on.
func restoreOf(s credit.Settings, out *Status) {
	if s.Doubt != nil {
		out.Doubt = s.Doubt.Reason
	}
	r := s.Restore
	if r == nil || (!r.ReleasedAt.IsZero() && !r.FreedAt.IsZero()) {
		return
	}
	out.Restore = &Restore{Kind: string(r.Kind), At: r.At, Since: r.Since, MovedAt: r.MovedAt, ReleasedAt: r.ReleasedAt, Gaps: []Gap{}}
	for _, g := range r.Gaps {
		out.Restore.Gaps = append(out.Restore.Gaps, Gap{Provider: g.Provider, From: g.From, To: g.To, Complete: g.Complete, By: g.By})
	}
}
