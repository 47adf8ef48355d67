package recon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"creditonce/credit"
)

// Bounds of asking for single deals.
const (
	mostAsked  = 200 // tickets in one run
	mostSilent = 3   // times in a row that a server gives no answer
)

// spared asks MT5 for the very deals of open discrepancies that the run has not shown and would close: a deal that has got another time, or
// stands on a login that nobody listed, is not in the list, and not gone either. The answer has the keys whose tasks stay open, with what to
// note on them; empty: nothing. What was not asked for stays open, until a later run.
func (r *Runner) spared(ctx context.Context, run Run, s standing) (map[Key]string, error) {
	out := map[Key]string{}
	if run.State != RunComplete {
		return out, nil
	}
	var doubted []Discrepancy
	err := r.eachStanding(ctx, func(d Discrepancy) {
		if d.State == DiscrepancyOpen && d.judgedBy(run) && len(s.unseenTickets(d)) > 0 {
			doubted = append(doubted, d)
		}
	})
	if err != nil {
		return nil, err
	}
	left := mostAsked
	for _, server := range r.Servers {
		if left, err = s.ask(ctx, server, doubted, left, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ask puts the questions to one server, at most left of them, and notes what must stay open. It tells how many are left.
func (s standing) ask(ctx context.Context, server ServerList, doubted []Discrepancy, left int, out map[Key]string) (int, error) {
	q := questions{left: left, answers: map[uint64]answer{}}
	if server.Ask != nil {
		deal, end := server.Ask()
		q.deal = deal
		defer end()
	}
	for _, d := range doubted {
		if d.Subject.Identity != server.Identity {
			continue
		}
		if note, keep := q.keep(ctx, s.unseenTickets(d)); keep {
			out[d.Key] = note
		}
		if ctx.Err() != nil {
			return 0, fmt.Errorf("ask for deals of server %s: %w", server.Label, ctx.Err())
		}
	}
	return q.left, nil
}

// questions are those to one server.
type questions struct {
	deal    func(ctx context.Context, ticket uint64) (credit.Deal, error) // nil: nothing can be asked
	left    int                                                           // tickets that may still be asked for
	silent  int                                                           // times in a row without an answer
	answers map[uint64]answer
}

// answer is what MT5 says of a ticket.
type answer struct {
	gone bool
	note string // of what is not gone
}

// keep tells that not every deal is gone, or that nobody knows.
func (q *questions) keep(ctx context.Context, tickets []uint64) (note string, keep bool) {
	for _, ticket := range tickets {
		if a := q.ask(ctx, ticket); !a.gone {
			return a.note, true
		}
	}
	return "", false
}

func (q *questions) ask(ctx context.Context, ticket uint64) answer {
	if a, asked := q.answers[ticket]; asked {
		return a
	}
	if q.deal == nil || q.left == 0 || q.silent == mostSilent {
		return answer{}
	}
	q.left--
	d, err := q.deal(ctx, ticket)
	a := answer{note: fmt.Sprintf("the list of deals does not have deal %d, and MT5 gave no answer when it was asked for it: this stays open", ticket)}
	switch {
	case errors.Is(err, credit.ErrNotFound):
		q.silent, a = 0, answer{gone: true}
	case err != nil:
		q.silent++
	default:
		q.silent = 0
		at := time.Unix(d.ServerTime, 0).UTC().Format("2006-01-02 15:04:05")
		a.note = fmt.Sprintf("the deal is still at MT5: dated %s (the server's own clock), on login %d; no list has deal %d, so look at it there", at, d.Login, d.Ticket)
	}
	q.answers[ticket] = a
	return a
}

// judgedBy tells that a run which does not show the discrepancy explains it.
func (d Discrepancy) judgedBy(run Run) bool {
	return run.State == RunComplete && run.Judges(d.Subject) && d.State != DiscrepancyExplained && d.Last < run.ID && d.Gone < run.ID
}

// Spared decides about a discrepancy that a run does not show and that is not gone either: its task stays open, with the note, once. at is
// UTC. It is pure.
func Spared(run Run, at time.Time, prior Discrepancy, task credit.Task, note string) Carrying {
	if note == "" || !task.IsOpen() || !prior.judgedBy(run) {
		return Carrying{}
	}
	for _, n := range slices.Backward(task.Notes) {
		if n.By == Reconciler {
			if n.Text == validText(note) {
				return Carrying{}
			}
			break
		}
	}
	task = noted(task, at, note)
	return Carrying{prior, &task, CarryRefreshed}
}
