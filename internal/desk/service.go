package desk

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"creditonce/credit"
)

// MT5 is how the desk asks an MT5 server. Its sessions are its own: a question of a person neither waits behind a balance
// call nor shares a connection with one.
type MT5 interface {
	// Deal reads one deal by its ticket; credit.ErrNotFound when MT5 says that there is none. Any other error is no answer.
	Deal(ctx context.Context, server string, ticket uint64) (credit.Deal, error)
	// Look reads every balance deal of the login, or says why the answer is not complete.
	Look(ctx context.Context, server string, q credit.LookQuery) credit.Sighting
}

// Reader maps a stored body with the provider that its event came from, as the listener would map it today.
type Reader interface {
	Read(provider string, headers map[string]string, body []byte) (credit.Facts, error)
}

// Config is what a Service is made of. Everything is required, save ConfigKeys, OnKeys and Lasts.
type Config struct {
	Book     Book
	MT5      MT5
	Reader   Reader
	Clock    credit.Clock
	Process  credit.Process
	Timing   credit.Timing
	Live     *credit.LiveCalls
	Observer credit.Observer
	Rules    credit.DepositRules // Now and Schedule are set at each act
	Scopes   []string            // that a key of the API may have
	Rand     io.Reader
	Wake     func(server string) // a row of the server is due now; must not block
	// ConfigKeys are the keys that stand in the configuration.
	ConfigKeys []Key
	// OnKeys is called after a commit that changed keys, and must not block.
	OnKeys func()
	// Place is where this process has the store; nil: nobody watches that.
	Place *credit.Place
	// Lasts is how long a proposal can be confirmed; 0: 24 h.
	Lasts time.Duration
}

// Service does what people decide. It is safe for concurrent use.
type Service struct{ cfg Config }

const proposalLasts = 24 * time.Hour

// New makes the service; it refuses a configuration that lacks a part.
func New(cfg Config) (*Service, error) {
	switch {
	case cfg.Book == nil, cfg.MT5 == nil, cfg.Reader == nil, cfg.Clock == nil, cfg.Live == nil, cfg.Observer == nil, cfg.Rand == nil, cfg.Wake == nil:
		return nil, errors.New("desk: a part is missing")
	case cfg.Process.ID == "":
		return nil, errors.New("desk: the process has no id")
	case cfg.Lasts < 0:
		return nil, errors.New("desk: proposals must last for some time")
	}
	if cfg.Lasts == 0 {
		cfg.Lasts = proposalLasts
	}
	return &Service{cfg}, nil
}

// Outcome tells what became of an act.
type Outcome struct {
	Done     bool      // it was done; else it is a proposal now
	Proposal *Proposal // made, or confirmed
	Act      Act       // as it was done or proposed, complete
	Waits    string    // what a proposal still waits for, such as the quarantine; empty: it can be confirmed now
	Rows     []credit.Credit
	Opened   []credit.Task
	Closed   []credit.Task
	Task     *credit.Task
	Event    credit.EventID // of a manual deposit, or of a body that was read anew
	Settings *credit.Settings
	People   []Person
	Voided   []ProposalID         // that count no more, or their permits
	Look     *credit.LookEvidence // that was made for the act
	Notice   credit.NoticeID      // of a test of the alarms: what every channel is to deliver
}

// NoAnswerError says that MT5 gave no answer, or none that is complete, to what an act needs to know.
type NoAnswerError struct {
	Server string
	Reason string
}

// Error implements error.
func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("MT5 server %s gave no complete answer: %s; see that it can be reached, and ask again", e.Server, e.Reason)
}

// Submit does the act, where one person may do it, or makes a proposal of it, where it takes two. What the rules do not
// allow is a *credit.RefusedError with a stable code; an act that cannot be understood is credit.ErrInvalid.
func (s *Service) Submit(ctx context.Context, who Actor, act Act, reason string) (Outcome, error) {
	r, act := s.request(who, reason), act.normal()
	r.act = act
	if err := s.mayDo(ctx, who, act, reason); err != nil {
		return Outcome{}, Missing(err, act.Subject)
	}
	q := Query{Act: act, Now: r.at}
	switch act.Kind {
	case ManualPay:
		r.drawn = map[string]string{"entry": s.draw(), "code": s.draw()}
	case TakeOver:
		r.drawn = map[string]string{"instance": s.draw()}
	default:
	}
	look, handled, err := s.prepare(ctx, &r, &q)
	if err != nil {
		return Outcome{}, Missing(err, act.Subject)
	}
	if handled {
		return Outcome{Done: true, Act: act, Look: look}, nil
	}
	out, err := s.act(ctx, q, r.submit)
	switch {
	case errors.Is(err, credit.ErrNotFound):
		return Outcome{}, Missing(err, act.Subject)
	case err != nil:
		return Outcome{}, fmt.Errorf("%s %s: %w", act.Kind, act.Subject, err)
	}
	out.Waits, out.Look = *r.warning, look
	return out, nil
}

// Confirm does what another person proposed. digest is the proposal's as it was shown to the actor.
func (s *Service) Confirm(ctx context.Context, who Actor, id ProposalID, digest, reason string) (Outcome, error) {
	r := s.request(who, reason)
	r.digest = digest
	p, err := s.cfg.Book.Proposal(ctx, id)
	if err != nil {
		return Outcome{}, Missing(err, proposalSubject(id))
	}
	r.act = p.Act
	if err := s.mayConfirm(ctx, r, p); err != nil {
		return Outcome{}, fmt.Errorf("confirm proposal %d: %w", id, err)
	}
	q := Query{Proposal: id, Act: p.Act, Now: r.at}
	look, _, err := s.prepare(ctx, &r, &q)
	if err != nil {
		return Outcome{}, fmt.Errorf("confirm proposal %d: %w", id, err)
	}
	out, err := s.act(ctx, q, r.confirm)
	if err != nil {
		return Outcome{}, fmt.Errorf("confirm proposal %d: %w", id, err)
	}
	out.Look = look
	return out, nil
}

// Reject ends a proposal without doing it: by somebody who could confirm it, or by the one who made it.
func (s *Service) Reject(ctx context.Context, who Actor, id ProposalID, reason string) (Proposal, error) {
	r := s.request(who, reason)
	out, err := s.act(ctx, Query{Proposal: id, Now: r.at}, r.reject)
	switch {
	case errors.Is(err, credit.ErrNotFound):
		return Proposal{}, Missing(err, proposalSubject(id))
	case err != nil:
		return Proposal{}, fmt.Errorf("reject proposal %d: %w", id, err)
	}
	return *out.Proposal, nil
}

// Bootstrap lets root name the first two people of a store without any. Both must be admins; the others follow by the
// two of them.
func (s *Service) Bootstrap(ctx context.Context, who Actor, people []Person, reason string) error {
	r := s.request(who, reason)
	named := make([]Person, len(people))
	for i, p := range people {
		named[i] = Person{ID: p.ID, Name: p.Name, Users: list[string](join(p.Users)), Roles: list[Role](join(p.Roles))}
	}
	_, err := s.act(ctx, Query{Now: r.at}, func(f Found) (Changes, error) { return r.bootstrap(append([]Person(nil), named...), f) })
	if err != nil {
		return fmt.Errorf("name the first two people: %w", err)
	}
	return nil
}

// NewKey draws a key of the portal's API and proposes it. The secret is shown once and kept nowhere; it is valid after
// another admin has confirmed the proposal.
func (s *Service) NewKey(ctx context.Context, who Actor, name string, scopes []string, reason string) (string, Outcome, error) {
	var b [32]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return "", Outcome{}, fmt.Errorf("draw a key: %w", err)
	}
	secret := "co_" + base64.RawURLEncoding.EncodeToString(b[:])
	sum := sha256.Sum256([]byte(secret))
	out, err := s.Submit(ctx, who, Act{Kind: NewKey, Subject: "key/" + name, Params: map[string]string{
		"sha256": hex.EncodeToString(sum[:]), "scopes": join(scopes),
	}}, reason)
	if err != nil {
		return "", Outcome{}, err
	}
	return secret, out, nil
}

func join[T ~string](parts []T) string {
	text := ""
	for i, p := range parts {
		if i > 0 {
			text += ","
		}
		text += string(p)
	}
	return text
}

// request is an act at this moment of this process.
func (s *Service) request(who Actor, reason string) request {
	now := s.cfg.Clock.Now()
	r := request{
		actor: who, reason: reason, at: now, lasts: s.cfg.Lasts, rules: s.cfg.Rules, configured: s.cfg.ConfigKeys, scopes: s.cfg.Scopes,
		place:   s.cfg.Place,
		warning: new(string), guard: credit.Guard{
			Process: s.cfg.Process, Timing: s.cfg.Timing, Now: s.mark(), Schedule: s.cfg.Process.Schedule(s.cfg.Clock),
		},
	}
	r.rules.Now, r.rules.Schedule = now, r.guard.Schedule
	return r
}

func (s *Service) mark() credit.Mark {
	return credit.Mark{Process: s.cfg.Process.ID, Boot: s.cfg.Clock.Boot(), At: cut(s.cfg.Clock.Now())}
}

// draw is a random id of 128 bits, in a form that a deposit code may have.
func (s *Service) draw() string {
	var b [16]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return "" // refused as a code
	}
	return hex.EncodeToString(b[:])
}

// act runs a decision in the store and tells everybody what came of it.
func (s *Service) act(ctx context.Context, q Query, decide Decide) (Outcome, error) {
	receipt, err := s.cfg.Book.Act(ctx, q, decide)
	if err != nil {
		return Outcome{}, err
	}
	s.step(ctx, receipt.Record.Deed)
	credit.Announce(ctx, s.cfg.Observer, receipt.Credit.Rows, receipt.Opened, receipt.Closed)
	s.announceMode(ctx, receipt)
	out := Outcome{
		Done: receipt.Record.Deed != Proposed, Proposal: receipt.Proposal, Act: receipt.Record.Act, Opened: receipt.Opened, Closed: receipt.Closed,
		Task: receipt.Task, Notice: receipt.Notice, Event: receipt.Record.Event, Settings: receipt.Settings, People: receipt.People,
	}
	out.Voided = receipt.Record.Voided
	woken := map[string]bool{}
	for _, row := range receipt.Credit.Rows {
		out.Rows = append(out.Rows, row.After)
		if !row.After.NextAt.IsZero() && !woken[row.After.Server] {
			woken[row.After.Server] = true
			s.cfg.Wake(row.After.Server)
		}
	}
	if receipt.Gone != nil {
		server, _ := out.Act.Login()
		s.cfg.Wake(server)
	}
	if len(receipt.Keys) > 0 && s.cfg.OnKeys != nil {
		s.cfg.OnKeys()
	}
	return out, nil
}

// The boundaries of what takes two people (protocol-holes.md §3.4).
const (
	StepProposed = "B16.proposal_committed" // nobody was told its number yet
	StepApproved = "B16.approval_committed" // it is done in the store, and nothing that follows from it is under way
)

func (s *Service) step(ctx context.Context, done Deed) {
	switch done {
	case Proposed:
		s.cfg.Observer.Step(ctx, credit.Step{Name: StepProposed})
	case Confirmed:
		s.cfg.Observer.Step(ctx, credit.Step{Name: StepApproved})
	case Did, Rejected, Used:
	}
}

func (s *Service) announceMode(ctx context.Context, r Receipt) {
	if r.Settings == nil {
		return
	}
	s.cfg.Observer.Note(ctx, credit.Note{What: "mode is " + string(r.Settings.Mode)})
	for _, server := range servers(s.cfg.Rules) {
		s.cfg.Wake(server)
	}
}

func servers(r credit.DepositRules) []string {
	var out []string
	for label := range r.Identities {
		out = append(out, label)
	}
	return out
}
