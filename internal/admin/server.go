package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// Desk is what people may decide and look at, with every rule about who may (internal/desk).
type Desk interface {
	Submit(ctx context.Context, who desk.Actor, act desk.Act, reason string) (desk.Outcome, error)
	Confirm(ctx context.Context, who desk.Actor, id desk.ProposalID, digest, reason string) (desk.Outcome, error)
	UsePermit(ctx context.Context, who desk.Actor, id desk.ProposalID, c desk.PermitClaim) (desk.Proposal, error)
	Reject(ctx context.Context, who desk.Actor, id desk.ProposalID, reason string) (desk.Proposal, error)
	Bootstrap(ctx context.Context, who desk.Actor, people []desk.Person, reason string) error
	NewKey(ctx context.Context, who desk.Actor, name string, scopes []string, reason string) (string, desk.Outcome, error)

	MayLook(ctx context.Context, a desk.Actor) error
	Who(ctx context.Context, a desk.Actor) (desk.Person, error)
	Status(ctx context.Context, a desk.Actor) (desk.Status, error)
	Find(ctx context.Context, a desk.Actor, text string) ([]desk.Hit, error)
	Credit(ctx context.Context, a desk.Actor, id credit.ID) (desk.CreditView, error)
	Credits(ctx context.Context, a desk.Actor, q credit.CreditQuery) (credit.Page[credit.Credit], error)
	Candidates(ctx context.Context, a desk.Actor, id credit.ID) ([]credit.Deal, *credit.LookEvidence, error)
	Task(ctx context.Context, a desk.Actor, id credit.TaskID) (desk.TaskView, error)
	Tasks(ctx context.Context, a desk.Actor, q desk.TaskQuery) ([]credit.Task, error)
	Deposits(ctx context.Context, a desk.Actor, q credit.DepositQuery) (credit.Page[credit.DepositView], error)
	Deposit(ctx context.Context, a desk.Actor, code string) (credit.DepositView, error)
	Accounts(ctx context.Context, a desk.Actor, q credit.AccountQuery) (credit.Page[credit.Account], error)
	Events(ctx context.Context, a desk.Actor, after credit.EventID, limit int) ([]credit.Event, error)
	NewestEvents(ctx context.Context, a desk.Actor, below credit.EventID, limit int) ([]credit.Event, error)
	Event(ctx context.Context, a desk.Actor, id credit.EventID) (credit.Event, error)
	EventBody(ctx context.Context, a desk.Actor, id credit.EventID) ([]byte, error)
	Proposals(ctx context.Context, a desk.Actor, q desk.ProposalQuery) ([]desk.Proposal, error)
	Proposal(ctx context.Context, a desk.Actor, id desk.ProposalID) (desk.Proposal, error)
	People(ctx context.Context, a desk.Actor) ([]desk.Person, error)
	Keys(ctx context.Context, a desk.Actor) ([]desk.Key, error)
	Channels(ctx context.Context, a desk.Actor) ([]credit.ChannelState, error)
	Audit(ctx context.Context, a desk.Actor, after uint64, limit int) ([]desk.Record, error)
	NewestAudit(ctx context.Context, a desk.Actor, below uint64, limit int) ([]desk.Record, error)
}

var _ Desk = (*desk.Service)(nil)

// Report is one answered request.
type Report struct {
	Method, Route string // the route's pattern, without ids
	User          string // unix user; empty when nobody could be named
	UID           uint32
	Status        int
	Code          string // of a problem
	Took          time.Duration
	Err           error // of a fault of the service
}

// Observer is told of every answered request. It must be safe for concurrent use.
type Observer interface {
	Administered(ctx context.Context, r Report)
}

// Config is what a Server is made of. Everything is required save Peer, UserName and HasUser, which tests replace.
type Config struct {
	Desk     Desk
	Service  func() Service                                                         // what the process knows about itself; safe for concurrent use
	Backup   func(ctx context.Context, who desk.Actor, path string) (Backup, error) // refuses whom it must; nil: this service makes none
	Stops    func(credit.Settings) []Stop                                           // for what reasons nothing is credited; safe for concurrent use; nil: only what the settings say
	Recon    Reconciliation                                                         // nil: this service does not reconcile
	Now      func() time.Time
	Observer Observer
	Peer     func(*net.UnixConn) (Peer, error)
	UserName func(uid uint32) (string, error)
	HasUser  func(name string) (bool, error) // tells whether the machine has an account of this name
}

// Server answers operators on a socket that Listen made. Make one with New.
type Server struct {
	cfg  Config
	http *http.Server
}

const (
	// answerTimeout bounds one request: a confirmation may look through a login's whole history at MT5.
	answerTimeout = 60 * time.Second
	// idleTimeout closes a connection that nobody uses.
	idleTimeout = 2 * time.Minute
)

// New makes the server; it refuses a configuration that lacks a part.
func New(cfg Config) (*Server, error) {
	if cfg.Desk == nil || cfg.Service == nil || cfg.Now == nil || cfg.Observer == nil {
		return nil, errors.New("make the operators' socket: a part of its configuration is missing")
	}
	if cfg.Peer == nil {
		cfg.Peer = PeerOf
	}
	if cfg.UserName == nil {
		cfg.UserName = UserName
	}
	if cfg.HasUser == nil {
		cfg.HasUser = HasUser
	}
	s := &Server{cfg: cfg}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	s.http = &http.Server{
		Handler: s.handler(), Protocols: protocols, ConnContext: s.connected, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: answerTimeout + 5*time.Second, IdleTimeout: idleTimeout, MaxHeaderBytes: 16 << 10,
	}
	return s, nil
}

// Serve answers until Shutdown; it then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("operators' socket: %w", err)
	}
	return nil
}

// Shutdown stops taking requests, waits for those under way until ctx ends, then cuts them. The socket's file goes.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return s.http.Close()
	}
	return err
}

// handler holds every route; what is not listed does not exist.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range slices.Concat(s.routes(), s.reconRoutes()) {
		mux.Handle(r.pattern, s.answer(r))
	}
	mux.Handle("/", s.answer(route{pattern: "no route", handle: func(http.ResponseWriter, *http.Request, desk.Actor) (any, error) {
		return nil, &Problem{"There is no such address", http.StatusNotFound, "no_route", "the service has no such address; are the command and the service of one version?"}
	}}))
	return mux
}

// answer names the caller, bounds the request's time and writes one JSON answer.
func (s *Server) answer(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		began := s.cfg.Now()
		report := Report{Method: req.Method, Route: r.pattern, Status: http.StatusOK}
		who := callerOf(req)
		report.User, report.UID = who.name, who.peer.UID
		ctx, cancel := context.WithTimeout(req.Context(), max(answerTimeout, r.takes))
		defer cancel()
		value, err := s.handled(r, w, req.WithContext(ctx), who)
		switch {
		case errors.Is(err, http.ErrAbortHandler): // the answer has begun, so that only its end can tell
			report.Status, report.Err = http.StatusInternalServerError, err
			defer panic(http.ErrAbortHandler)
		case err != nil:
			p := problemOf(err)
			report.Status, report.Code = p.Status, p.Code
			if p.Status >= http.StatusInternalServerError {
				report.Err = err
			}
			writeProblem(w, p)
		case value == any(written{}):
		default:
			report.Err = writeJSON(w, value)
		}
		report.Took = s.cfg.Now().Sub(began)
		s.cfg.Observer.Administered(req.Context(), report)
	})
}

// handled runs the route for the caller that the kernel named. Without one nothing is done: a rule of this very
// socket, not of the desk, since the desk would have nobody to judge.
func (s *Server) handled(r route, w http.ResponseWriter, req *http.Request, who caller) (any, error) {
	if who.err != nil {
		return nil, credit.Refuse("nobody", "the system does not say who you are (%v), so nothing is shown or done", who.err)
	}
	return r.handle(w, req, desk.Actor{User: who.name, UID: who.peer.UID})
}
