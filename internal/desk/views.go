package desk

import (
	"context"
	"errors"
	"time"

	"creditonce/credit"
)

// Who tells which person the actor is. Everybody whom it knows may look at everything.
func (s *Service) Who(ctx context.Context, a Actor) (Person, error) {
	who, err := s.who(ctx, a)
	if err != nil {
		return Person{}, err
	}
	if !who.May(Roles()...) {
		return Person{}, credit.Refuse("role", "%s has no role, so nothing is shown", who.ID)
	}
	return who, nil
}

// seen checks that the actor may look and reads.
func seen[T any](ctx context.Context, s *Service, a Actor, read func() (T, error)) (T, error) {
	if _, err := s.Who(ctx, a); err != nil {
		var none T
		return none, err
	}
	return read()
}

// Status is the service at one glance.
type Status struct {
	Settings credit.Settings
	Totals   Totals
	Process  credit.Process
	Now      time.Time     // UTC
	Since    time.Duration // the process runs, on the boot-time clock
	// Quarantine is how long until rows of earlier processes can be proven absent; 0: it is over.
	Quarantine time.Duration
	People     int
	Tasks      []OpenKind // every open task, by kind
	Doubt      time.Time  // since when the oldest unknown row is unknown; zero: none is
	Proposals  int        // that a second person can still confirm
	Moved      int        // proposals that can only be rejected, since what they are about has moved on
}

// Status reads the service's state. It costs the same for ten rows and for a million, save for what is open: open tasks
// are counted in their index, and of the unknown rows and the undecided proposals those are read that decide.
func (s *Service) Status(ctx context.Context, a Actor) (Status, error) {
	return seen(ctx, s, a, func() (Status, error) {
		out := Status{Process: s.cfg.Process, Now: s.cfg.Clock.Now(), Since: s.cfg.Clock.Boot() - s.cfg.Process.Started}
		out.Quarantine = max(0, s.cfg.Timing.Quarantine-out.Since)
		var err error
		if out.Settings, err = s.cfg.Book.Settings(ctx); err != nil {
			return out, err
		}
		people, err := s.cfg.Book.People(ctx)
		if err != nil {
			return out, err
		}
		out.People = len(people)
		if out.Totals, err = s.cfg.Book.Totals(ctx); err != nil {
			return out, err
		}
		if out.Tasks, err = s.cfg.Book.OpenTasks(ctx); err != nil {
			return out, err
		}
		if out.Doubt, err = s.oldestDoubt(ctx); err != nil {
			return out, err
		}
		out.Proposals, out.Moved, err = s.confirmable(ctx, out.Now)
		return out, err
	})
}

// statusPage is how many records one read of Status takes.
const statusPage = 500

// oldestDoubt finds since when the oldest unknown row is unknown. Rows are numbered in the order of their making, and none
// is unknown before it was made: once a whole page was made later than what was found, nothing older follows.
func (s *Service) oldestDoubt(ctx context.Context) (oldest time.Time, err error) {
	q := credit.RowQuery{State: credit.Unknown, Limit: statusPage}
	for {
		rows, err := s.cfg.Book.Rows(ctx, q)
		if err != nil {
			return oldest, err
		}
		for _, r := range rows {
			q.After = r.ID
			if at := r.UnknownSince.At; oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
		if len(rows) < statusPage || rows[len(rows)-1].CreatedAt.After(oldest) {
			return oldest, nil
		}
	}
}

// confirmable counts what a second person can still confirm, and what has moved on: to the store both are open, and so is
// an expired one.
func (s *Service) confirmable(ctx context.Context, now time.Time) (n, moved int, err error) {
	q := ProposalQuery{Open: true, Limit: statusPage}
	for {
		page, err := s.standing(ctx, s.cfg.Book.Proposals, q)
		if err != nil {
			return n, moved, err
		}
		for _, p := range page {
			q.After = p.ID
			switch p.StateAt(now) {
			case ProposalOpen:
				n++
			case ProposalMoved:
				moved++
			default:
			}
		}
		if len(page) < statusPage {
			return n, moved, nil
		}
	}
}

// CreditView is a row with everything beside it that a decision about it needs, read one after the other.
type CreditView struct {
	credit.Dossier
	History   []credit.Entry
	Proposals []Proposal // open and moved ones about the row
}

// Credit reads a row with its records side by side; credit.ErrNotFound where there is none.
func (s *Service) Credit(ctx context.Context, a Actor, id credit.ID) (CreditView, error) {
	return seen(ctx, s, a, func() (CreditView, error) { return s.creditView(ctx, id) })
}

func (s *Service) creditView(ctx context.Context, id credit.ID) (v CreditView, err error) {
	if v.Dossier, err = s.cfg.Book.Dossier(ctx, id); err != nil {
		return v, err
	}
	if v.History, err = s.cfg.Book.History(ctx, id); err != nil {
		return v, err
	}
	var after ProposalID
	for {
		page, err := s.standing(ctx, s.cfg.Book.Proposals, ProposalQuery{Open: true, After: after})
		if err != nil || len(page) == 0 {
			return v, err
		}
		for _, p := range page {
			after = p.ID
			if state := p.StateAt(s.cfg.Clock.Now()); p.Act.Credit() == id && (state == ProposalOpen || state == ProposalMoved) {
				v.Proposals = append(v.Proposals, p)
			}
		}
	}
}

// TaskView is a task with the row that it is about.
type TaskView struct {
	Task   credit.Task
	Credit *CreditView // nil: the task is about something else
}

// Task reads a task with its row; credit.ErrNotFound where there is none.
func (s *Service) Task(ctx context.Context, a Actor, id credit.TaskID) (TaskView, error) {
	return seen(ctx, s, a, func() (v TaskView, err error) {
		if v.Task, err = s.cfg.Book.Task(ctx, id); err != nil {
			return v, err
		}
		row := v.Task.TaskRow()
		if row == 0 {
			return v, nil
		}
		c, err := s.creditView(ctx, row)
		if errors.Is(err, credit.ErrNotFound) {
			return v, nil
		}
		v.Credit = &c
		return v, err
	})
}

// Tasks lists tasks by number.
func (s *Service) Tasks(ctx context.Context, a Actor, q TaskQuery) ([]credit.Task, error) {
	return seen(ctx, s, a, func() ([]credit.Task, error) { return s.cfg.Book.Tasks(ctx, q) })
}

// Channels lists the places where people are told, with how far each has come.
func (s *Service) Channels(ctx context.Context, a Actor) ([]credit.ChannelState, error) {
	return seen(ctx, s, a, func() ([]credit.ChannelState, error) { return s.cfg.Book.Channels(ctx) })
}

// Find lists what has the text as one of its ids: a credit's, event's or task's number, payment, event id, reference,
// ticket, login or deposit code.
func (s *Service) Find(ctx context.Context, a Actor, text string) ([]Hit, error) {
	return seen(ctx, s, a, func() ([]Hit, error) { return s.cfg.Book.Find(ctx, text) })
}

// Credits lists rows, the newest first.
func (s *Service) Credits(ctx context.Context, a Actor, q credit.CreditQuery) (credit.Page[credit.Credit], error) {
	return seen(ctx, s, a, func() (credit.Page[credit.Credit], error) { return s.cfg.Book.Credits(ctx, q) })
}

// Deposits lists deposits, the newest first.
func (s *Service) Deposits(ctx context.Context, a Actor, q credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	return seen(ctx, s, a, func() (credit.Page[credit.DepositView], error) { return s.cfg.Book.Deposits(ctx, q) })
}

// Deposit reads one deposit by its code.
func (s *Service) Deposit(ctx context.Context, a Actor, code string) (credit.DepositView, error) {
	return seen(ctx, s, a, func() (credit.DepositView, error) { return s.cfg.Book.Deposit(ctx, code) })
}

// Accounts lists registered logins.
func (s *Service) Accounts(ctx context.Context, a Actor, q credit.AccountQuery) (credit.Page[credit.Account], error) {
	return seen(ctx, s, a, func() (credit.Page[credit.Account], error) { return s.cfg.Book.Accounts(ctx, q) })
}

// Events lists events by number, after the given one, without bodies.
func (s *Service) Events(ctx context.Context, a Actor, after credit.EventID, limit int) ([]credit.Event, error) {
	return seen(ctx, s, a, func() ([]credit.Event, error) { return s.cfg.Book.Events(ctx, after, limit) })
}

// NewestEvents lists events below the given number (0: all), the newest first, without bodies.
func (s *Service) NewestEvents(ctx context.Context, a Actor, below credit.EventID, limit int) ([]credit.Event, error) {
	return seen(ctx, s, a, func() ([]credit.Event, error) { return s.cfg.Book.NewestEvents(ctx, below, limit) })
}

// Event reads one event without its body.
func (s *Service) Event(ctx context.Context, a Actor, id credit.EventID) (credit.Event, error) {
	return seen(ctx, s, a, func() (credit.Event, error) { return s.cfg.Book.Event(ctx, id) })
}

// EventBody reads the body of an event byte for byte. It is what the provider sent: treat it as hostile.
func (s *Service) EventBody(ctx context.Context, a Actor, id credit.EventID) ([]byte, error) {
	return seen(ctx, s, a, func() ([]byte, error) { return s.cfg.Book.EventBody(ctx, id) })
}

// Proposals lists proposals by number. Their StateAt tells which have expired, and which have moved on.
func (s *Service) Proposals(ctx context.Context, a Actor, q ProposalQuery) ([]Proposal, error) {
	return seen(ctx, s, a, func() ([]Proposal, error) { return s.standing(ctx, s.cfg.Book.Proposals, q) })
}

// Proposal reads one proposal, as [Service.Proposals] does.
func (s *Service) Proposal(ctx context.Context, a Actor, id ProposalID) (Proposal, error) {
	return seen(ctx, s, a, func() (Proposal, error) {
		one, err := s.standing(ctx, func(ctx context.Context, _ ProposalQuery) ([]Proposal, error) {
			p, err := s.cfg.Book.Proposal(ctx, id)
			return []Proposal{p}, err
		}, ProposalQuery{})
		if err != nil {
			return Proposal{}, err
		}
		return one[0], nil
	})
}

// People lists everybody, disabled people too.
func (s *Service) People(ctx context.Context, a Actor) ([]Person, error) {
	return seen(ctx, s, a, func() ([]Person, error) { return s.cfg.Book.People(ctx) })
}

// Keys lists the keys of the portal's API: those of the configuration, then those of the store, revoked ones too.
func (s *Service) Keys(ctx context.Context, a Actor) ([]Key, error) {
	return seen(ctx, s, a, func() ([]Key, error) { return s.allKeys(ctx) })
}

func (s *Service) allKeys(ctx context.Context) ([]Key, error) {
	out := append([]Key(nil), s.cfg.ConfigKeys...)
	for i := range out {
		out[i].Source = FromConfig
	}
	stored, err := s.cfg.Book.Keys(ctx)
	for _, k := range stored {
		k.Source = FromStore
		out = append(out, k)
	}
	return out, err
}

// LiveKeys lists the keys that the portal's API accepts now. A name or a hash that both places have is the
// configuration's: it stood there first.
func (s *Service) LiveKeys(ctx context.Context) ([]Key, error) {
	all, err := s.allKeys(ctx)
	names, hashes := map[string]bool{}, map[string]bool{}
	var out []Key
	for _, k := range all {
		if k.Live() && !names[k.Name] && !hashes[k.SHA256] {
			names[k.Name], hashes[k.SHA256] = true, true
			out = append(out, k)
		}
	}
	return out, err
}

// Audit lists audit records by number, after the given one; limit 0 is 100.
func (s *Service) Audit(ctx context.Context, a Actor, after uint64, limit int) ([]Record, error) {
	return seen(ctx, s, a, func() ([]Record, error) { return s.cfg.Book.Records(ctx, after, limit) })
}

// NewestAudit lists what people did below the given number (0: all), the newest first.
func (s *Service) NewestAudit(ctx context.Context, a Actor, below uint64, limit int) ([]Record, error) {
	return seen(ctx, s, a, func() ([]Record, error) { return s.cfg.Book.NewestRecords(ctx, below, limit) })
}
