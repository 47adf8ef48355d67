package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// route is one address: its pattern for http.ServeMux and what answers it. Every route is one question to the desk, or
// one act; who may do it is the desk's to say.
type route struct {
	pattern string
	handle  func(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error)
	takes   time.Duration // the longest that it may take; 0: as every answer
}

func (s *Server) routes() []route {
	return []route{
		{pattern: "GET /v1/status", handle: s.status},
		{pattern: "GET /v1/who", handle: s.who},
		{pattern: "GET /v1/find", handle: s.find},
		{pattern: "GET /v1/credits", handle: s.credits},
		{pattern: "GET /v1/credits/{id}", handle: s.credit},
		{pattern: "GET /v1/credits/{id}/candidates", handle: s.candidates},
		{pattern: "GET /v1/events", handle: s.events},
		{pattern: "GET /v1/events/{id}", handle: s.event},
		{pattern: "GET /v1/deposits", handle: s.deposits},
		{pattern: "GET /v1/deposits/{code}", handle: s.deposit},
		{pattern: "GET /v1/tasks", handle: s.tasks},
		{pattern: "GET /v1/tasks/{id}", handle: s.task},
		{pattern: "GET /v1/accounts", handle: s.accounts},
		{pattern: "GET /v1/proposals", handle: s.proposals},
		{pattern: "GET /v1/proposals/{id}", handle: s.proposal},
		{pattern: "GET /v1/people", handle: s.people},
		{pattern: "GET /v1/keys", handle: s.keys},
		{pattern: "GET /v1/audit", handle: s.audit},
		{pattern: "GET /v1/alerts", handle: s.alerts},
		{pattern: "POST /v1/acts", handle: s.submit},
		{pattern: "POST /v1/proposals/{id}/confirm", handle: s.confirm},
		{pattern: "POST /v1/proposals/{id}/reject", handle: s.reject},
		{pattern: "POST /v1/proposals/{id}/use", handle: s.use},
		{pattern: "POST /v1/people/bootstrap", handle: s.bootstrap},
		{pattern: "POST /v1/keys", handle: s.newKey},
		{pattern: "POST /v1/backup", handle: s.backup, takes: backupTimeout},
	}
}

func writeJSON(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("render %T: %w", value, err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(body)
	return err
}

// clipped is a text as an error says it back: whole where it is short.
func clipped(text string) string {
	const longest = 80
	if len(text) <= longest {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:longest/2], ""), len(text))
}

// numbered reads the {id} of an address.
func numbered[T ~uint64](r *http.Request) (T, error) {
	text := r.PathValue("id")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, invalid("%q is no number of a record; give the number that the list shows", clipped(text))
	}
	return T(n), nil
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	var a Act
	if err := readBody(w, r, &a); err != nil {
		return nil, err
	}
	out, err := s.cfg.Desk.Submit(r.Context(), who, desk.Act{Kind: desk.Kind(a.Kind), Subject: a.Subject, Params: a.Params}, a.Reason)
	if err != nil {
		return nil, err
	}
	return outcomeOf(out, s.cfg.Now()), nil
}

func (s *Server) confirm(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[desk.ProposalID](r)
	if err != nil {
		return nil, err
	}
	var v Verdict
	if err := readBody(w, r, &v); err != nil {
		return nil, err
	}
	if v.Digest == "" {
		return nil, invalid("a confirmation names the digest of the proposal that was shown; nothing was done")
	}
	out, err := s.cfg.Desk.Confirm(r.Context(), who, id, v.Digest, v.Reason)
	if err != nil {
		return nil, err
	}
	return outcomeOf(out, s.cfg.Now()), nil
}

// use marks the permit of a confirmed probe as used, for the one who is about to begin.
func (s *Server) use(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[desk.ProposalID](r)
	if err != nil {
		return nil, err
	}
	var c PermitClaim
	if err := readBody(w, r, &c); err != nil {
		return nil, err
	}
	p, err := s.cfg.Desk.UsePermit(r.Context(), who, id, desk.PermitClaim{Server: c.Server, Identity: c.Identity, Login: c.Login})
	if err != nil {
		return nil, err
	}
	return proposalOf(p, s.cfg.Now()), nil
}

func (s *Server) reject(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[desk.ProposalID](r)
	if err != nil {
		return nil, err
	}
	var v Verdict
	if err := readBody(w, r, &v); err != nil {
		return nil, err
	}
	p, err := s.cfg.Desk.Reject(r.Context(), who, id, v.Reason)
	if err != nil {
		return nil, err
	}
	return proposalOf(p, s.cfg.Now()), nil
}

func (s *Server) bootstrap(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	var b Bootstrap
	if err := readBody(w, r, &b); err != nil {
		return nil, err
	}
	var people []desk.Person
	for _, p := range b.People {
		var roles []desk.Role
		for _, role := range p.Roles {
			roles = append(roles, desk.Role(role))
		}
		if err := s.reachable(p); err != nil {
			return nil, err
		}
		people = append(people, desk.Person{ID: desk.PersonID(p.ID), Name: p.Name, Users: p.Users, Roles: roles})
	}
	if err := s.cfg.Desk.Bootstrap(r.Context(), who, people, b.Reason); err != nil {
		return nil, err
	}
	return outcomeOf(desk.Outcome{Done: true, People: people}, s.cfg.Now()), nil
}

// reachable refuses a person who could never act: with a misspelt account one admin would be alone for ever, for people
// are named by root once, and every later change takes both.
func (s *Server) reachable(p Person) error {
	for _, name := range p.Users {
		switch there, err := s.cfg.HasUser(name); {
		case err != nil:
			return err
		case !there:
			return credit.Refuse("no_account", "person %s: this machine has no account %q, and root names people only once; correct the name, or make the account first", p.ID, name)
		}
	}
	return nil
}

func (s *Server) newKey(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	var k NewKey
	if err := readBody(w, r, &k); err != nil {
		return nil, err
	}
	secret, out, err := s.cfg.Desk.NewKey(r.Context(), who, k.Name, k.Scopes, k.Reason)
	if err != nil {
		return nil, err
	}
	answer := outcomeOf(out, s.cfg.Now())
	answer.Secret = secret
	return answer, nil
}

func (s *Server) who(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	p, err := s.cfg.Desk.Who(r.Context(), who)
	if err != nil {
		return nil, err
	}
	return personOf(p), nil
}

func (s *Server) find(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "text")
	text := q.text("text")
	if q.fault == nil && text == "" {
		q.fault = invalid("nothing to find; give an id")
	}
	if q.fault != nil {
		return nil, q.fault
	}
	hits, err := s.cfg.Desk.Find(r.Context(), who, text)
	if err != nil {
		return nil, err
	}
	return List[Found]{Items: each(hits, foundOf)}, nil
}

func (s *Server) credit(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[credit.ID](r)
	if err != nil {
		return nil, err
	}
	v, err := s.cfg.Desk.Credit(r.Context(), who, id)
	if err != nil {
		return nil, missing(err, "credit/%d", id)
	}
	return creditDetailOf(v, s.cfg.Now()), nil
}

func (s *Server) candidates(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[credit.ID](r)
	if err != nil {
		return nil, err
	}
	deals, _, err := s.cfg.Desk.Candidates(r.Context(), who, id)
	if err != nil {
		return nil, missing(err, "credit/%d", id)
	}
	return List[Deal]{Items: each(deals, dealOf)}, nil
}

func (s *Server) deposit(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	v, err := s.cfg.Desk.Deposit(r.Context(), who, r.PathValue("code"))
	if err != nil {
		return nil, missing(err, "deposit/%s", r.PathValue("code"))
	}
	out := depositDetailOf(v, s.cfg.Now())
	if v.Row == nil {
		return out, nil
	}
	row, err := s.cfg.Desk.Credit(r.Context(), who, v.Row.ID)
	if err != nil {
		return nil, err
	}
	out.History = each(row.History, entryOf)
	return out, nil
}

func (s *Server) task(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[credit.TaskID](r)
	if err != nil {
		return nil, err
	}
	columns := 0
	if text := r.URL.Query().Get("columns"); text != "" {
		if columns, err = strconv.Atoi(text); err != nil || columns < 1 || columns > mostColumns {
			return nil, invalid("columns %q is no width between 1 and %d", text, mostColumns)
		}
	}
	v, err := s.cfg.Desk.Task(r.Context(), who, id)
	if err != nil {
		return nil, missing(err, "task/%d", id)
	}
	out := taskDetailOf(v, s.cfg.Now())
	if k, is := recon.KeyOfTask(v.Task); is && s.cfg.Recon != nil {
		out.Difference, err = s.cfg.Recon.Difference(r.Context(), who, k, columns)
	}
	return out, err
}

// mostColumns is the widest terminal that text is made for.
const mostColumns = 1000

func (s *Server) proposal(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[desk.ProposalID](r)
	if err != nil {
		return nil, err
	}
	p, err := s.cfg.Desk.Proposal(r.Context(), who, id)
	if err != nil {
		return nil, missing(err, "proposal/%d", id)
	}
	return proposalOf(p, s.cfg.Now()), nil
}
