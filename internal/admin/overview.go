package admin

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// lookedThrough bounds how many open tasks and rows in doubt one status looks through: it must stay quick when
// everything goes wrong at once.
const lookedThrough = maxPage

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
	if out.Proposals, err = s.openProposals(r.Context(), who); err != nil {
		return nil, err
	}
	tasksPartly, err := s.tasksByKind(r.Context(), who, &out)
	if err != nil {
		return nil, err
	}
	doubtPartly, err := s.oldestDoubt(r.Context(), who, &out)
	out.Partly = tasksPartly || doubtPartly
	return out, err
}

// openProposals counts what a second person can still confirm: to the store an expired proposal is open.
func (s *Server) openProposals(ctx context.Context, who desk.Actor) (int, error) {
	got, err := s.cfg.Desk.Proposals(ctx, who, desk.ProposalQuery{Open: true, Limit: maxPage})
	n, now := 0, s.cfg.Now()
	for _, p := range got {
		if p.StateAt(now) == desk.ProposalOpen {
			n++
		}
	}
	return n, err
}

// tasksByKind counts the open tasks and finds the oldest of each kind.
func (s *Server) tasksByKind(ctx context.Context, who desk.Actor, out *Status) (partly bool, err error) {
	byKind := map[string]TaskCount{}
	q := desk.TaskQuery{OpenOnly: true, Limit: maxPage}
	partly = true
	for seen := 0; seen < lookedThrough; seen += maxPage {
		got, err := s.cfg.Desk.Tasks(ctx, who, q)
		if err != nil {
			return false, err
		}
		for _, t := range got {
			q.After = t.ID
			n := byKind[string(t.Kind)]
			n.Kind, n.Open = string(t.Kind), n.Open+1
			if n.Oldest.IsZero() || t.OpenedAt.Before(n.Oldest) {
				n.Oldest = t.OpenedAt
			}
			byKind[n.Kind] = n
		}
		if len(got) < maxPage {
			partly = false
			break
		}
	}
	out.TasksByKind = []TaskCount{}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		out.TasksByKind = append(out.TasksByKind, byKind[kind])
	}
	return partly, nil
}

// oldestDoubt finds since when the oldest unknown row is unknown.
func (s *Server) oldestDoubt(ctx context.Context, who desk.Actor, out *Status) (partly bool, err error) {
	if out.Credits[string(credit.Unknown)] == 0 {
		return false, nil
	}
	q := credit.CreditQuery{State: credit.Unknown, Limit: maxPage}
	for seen := 0; seen < lookedThrough; seen += maxPage {
		page, err := s.cfg.Desk.Credits(ctx, who, q)
		if err != nil {
			return false, err
		}
		for _, c := range page.Items {
			if at := c.UnknownSince.At; out.OldestDoubt.IsZero() || at.Before(out.OldestDoubt) {
				out.OldestDoubt = at
			}
		}
		if page.Next == nil {
			return false, nil
		}
		q.After = page.Next
	}
	return true, nil
}
