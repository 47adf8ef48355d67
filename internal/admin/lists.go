package admin

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// missing names a record that there is not; other errors stay as they are.
func missing(err error, format string, args ...any) error {
	return desk.Missing(err, fmt.Sprintf(format, args...))
}

// after reads the place of a page of the store.
func (q *query) after() []byte {
	text := q.text("after")
	if text == "" {
		return nil
	}
	place, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		q.fault = invalid("after is no place of this list; begin again without it")
	}
	return place
}

func (q *query) login() uint64 {
	n := q.number("login")
	if n != 0 && q.text("server") == "" {
		q.fault = invalid("a login is one of a server; give server too")
	}
	return n
}

// oneOf reads a word of a list.
func oneOf[T ~string](q *query, name string, words []T) T {
	text := q.text(name)
	if text == "" {
		return ""
	}
	for _, w := range words {
		if string(w) == text {
			return w
		}
	}
	q.fault = invalid("%s %q is none of %v", name, text, words)
	return ""
}

func (s *Server) credits(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "state", "client", "server", "login", "provider", "since", "until", "after", "limit")
	want := credit.CreditQuery{
		State: oneOf(q, "state", credit.States()), Client: q.text("client"), Server: q.text("server"), Login: q.login(), Provider: q.text("provider"),
		Created: credit.TimeRange{From: q.time("since"), To: q.time("until")}, After: q.after(), Limit: q.limit(),
	}
	if q.fault != nil {
		return nil, q.fault
	}
	page, err := s.cfg.Desk.Credits(r.Context(), who, want)
	if err != nil {
		return nil, err
	}
	return pageOf(page, creditOf), nil
}

func (s *Server) deposits(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q, now := newQuery(r, "state", "client", "server", "login", "provider", "since", "until", "after", "limit"), s.cfg.Now().UTC()
	want := credit.DepositQuery{
		State: oneOf(q, "state", credit.DepositStates()), Now: now, Client: q.text("client"), Server: q.text("server"), Login: q.login(),
		Provider: q.text("provider"), Created: credit.TimeRange{From: q.time("since"), To: q.time("until")}, After: q.after(), Limit: q.limit(),
	}
	if q.fault != nil {
		return nil, q.fault
	}
	page, err := s.cfg.Desk.Deposits(r.Context(), who, want)
	if err != nil {
		return nil, err
	}
	return pageOf(page, func(v credit.DepositView) Deposit { return depositOf(v, now) }), nil
}

func (s *Server) accounts(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "client", "server", "login", "currency", "after", "limit")
	want := credit.AccountQuery{
		Client: q.text("client"), Server: q.text("server"), Login: q.login(), Currency: q.text("currency"), After: q.after(), Limit: q.limit(),
	}
	if q.fault != nil {
		return nil, q.fault
	}
	page, err := s.cfg.Desk.Accounts(r.Context(), who, want)
	if err != nil {
		return nil, err
	}
	return pageOf(page, accountOf), nil
}

// numberedList makes a page of records that are listed by number: a full page may have a next one.
func numberedList[A, B any](items []A, limit int, number func(A) uint64, convert func(A) B) List[B] {
	out := List[B]{Items: each(items, convert)}
	if len(items) >= limit {
		out.Next = id64(number(items[len(items)-1]))
	}
	return out
}

func (s *Server) events(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "newest", "after", "limit")
	read, after, limit := s.cfg.Desk.Events, q.number("after"), q.limit()
	if q.flag("newest") {
		read = s.cfg.Desk.NewestEvents
	}
	if q.fault != nil {
		return nil, q.fault
	}
	got, err := read(r.Context(), who, credit.EventID(after), limit)
	if err != nil {
		return nil, err
	}
	return numberedList(got, limit, func(e credit.Event) uint64 { return uint64(e.ID) }, eventOf), nil
}

func (s *Server) event(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	id, err := numbered[credit.EventID](r)
	if err != nil {
		return nil, err
	}
	e, err := s.cfg.Desk.Event(r.Context(), who, id)
	if err != nil {
		return nil, missing(err, "event/%d", id)
	}
	body, err := s.cfg.Desk.EventBody(r.Context(), who, id)
	if err != nil {
		return nil, err
	}
	out := EventDetail{Event: eventOf(e)}
	if utf8.Valid(body) {
		out.Body = string(body)
	} else {
		out.BodyBase64 = body
	}
	return out, nil
}

// scanned bounds how many tasks one request looks through for those that a filter wants.
const scanned = 5000

func (s *Server) tasks(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "all", "kind", "assigned", "after", "limit")
	want := desk.TaskQuery{OpenOnly: !q.flag("all"), After: credit.TaskID(q.number("after")), Limit: maxPage}
	kind, assigned, limit := oneOf(q, "kind", credit.TaskKinds()), q.text("assigned"), q.limit()
	if q.fault != nil {
		return nil, q.fault
	}
	out := List[Task]{Items: []Task{}}
	for range scanned / maxPage {
		got, err := s.cfg.Desk.Tasks(r.Context(), who, want)
		if err != nil {
			return nil, err
		}
		for _, t := range got {
			want.After = t.ID
			if (kind != "" && t.Kind != kind) || (assigned != "" && t.Assigned != assigned) {
				continue
			}
			if out.Items = append(out.Items, taskOf(t)); len(out.Items) == limit {
				out.Next = id64(t.ID)
				return out, nil
			}
		}
		if len(got) < maxPage {
			return out, nil
		}
	}
	out.Next = id64(want.After)
	return out, nil
}

func (s *Server) proposals(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "all", "after", "limit")
	all, now := q.flag("all"), s.cfg.Now()
	want := desk.ProposalQuery{Open: !all, After: desk.ProposalID(q.number("after")), Limit: q.limit()}
	if q.fault != nil {
		return nil, q.fault
	}
	got, err := s.cfg.Desk.Proposals(r.Context(), who, want)
	if err != nil {
		return nil, err
	}
	out := numberedList(got, want.Limit, func(p desk.Proposal) uint64 { return uint64(p.ID) }, func(p desk.Proposal) Proposal { return proposalOf(p, now) })
	if !all { // to the store an expired proposal is open: nothing has to happen for it to expire. A moved one still waits for its rejection
		open := []Proposal{}
		for _, p := range out.Items {
			if p.State == string(desk.ProposalOpen) || p.State == string(desk.ProposalMoved) {
				open = append(open, p)
			}
		}
		out.Items = open
	}
	return out, nil
}

func (s *Server) people(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	got, err := s.cfg.Desk.People(r.Context(), who)
	if err != nil {
		return nil, err
	}
	return List[Person]{Items: each(got, personOf)}, nil
}

func (s *Server) keys(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	got, err := s.cfg.Desk.Keys(r.Context(), who)
	if err != nil {
		return nil, err
	}
	return List[Key]{Items: each(got, keyOf)}, nil
}

func (s *Server) alerts(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	got, err := s.cfg.Desk.Channels(r.Context(), who)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(got, func(a, b credit.ChannelState) int { return strings.Compare(a.Channel.Name, b.Channel.Name) })
	return List[Channel]{Items: each(got, channelOf)}, nil
}

func channelOf(s credit.ChannelState) Channel {
	c := s.Channel
	return Channel{
		Name: c.Name, Delivered: uint64(c.Delivered), Sending: uint64(c.Sending), Waiting: s.Waiting, Oldest: s.Oldest, Attempts: c.Attempts,
		Failure: c.Failure, FailedAt: c.FailedAt, DeliveredAt: c.DeliveredAt,
	}
}

func (s *Server) audit(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	q := newQuery(r, "newest", "after", "limit")
	read, after, limit := s.cfg.Desk.Audit, q.number("after"), q.limit()
	if q.flag("newest") {
		read = s.cfg.Desk.NewestAudit
	}
	if q.fault != nil {
		return nil, q.fault
	}
	got, err := read(r.Context(), who, after, limit)
	if err != nil {
		return nil, err
	}
	return numberedList(got, limit, func(r desk.Record) uint64 { return r.Seq }, auditOf), nil
}
