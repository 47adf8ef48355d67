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
	out.Proposals, out.OldestDoubt, out.TasksByKind = st.Proposals, st.Doubt, []TaskCount{}
	for _, t := range st.Tasks {
		out.TasksByKind = append(out.TasksByKind, TaskCount{Kind: string(t.Kind), Open: t.Open, Oldest: t.Oldest})
	}
	return out, nil
}
