package credit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Lane is the one owner of one MT5 session: it looks at the unknown rows and calls for the pending rows of the
// logins that fall to it. Several lanes of one server share the logins by remainder, so a login never has two
// callers in one process.
type Lane struct {
	Server   string // label; the lane works rows of this server only
	Shard    int
	Shards   int
	Book     Book
	Session  Session
	Clock    Clock
	Observer Observer
	Process  Process
	Timing   Timing
	Live     *LiveCalls
	Token    func() string   // a fresh random claim token
	Wake     <-chan struct{} // a row became pending
	// ClaimsFrom, on the boot clock, is when the first claim may be made: where a start could not see that the store is the
	// newest one, the end of the quarantine after it.
	ClaimsFrom time.Duration
	Dealer     uint64 // of our deals: a deal of another dealer is reported; 0: not checked
	// DealerMeasured tells that Dealer, be it 0, was measured on this server: then a fresh deal of another dealer
	// is odd, and its row unknown until a look settles it (design §6.7).
	DealerMeasured bool
	Pace           Pace // bounds of an hour; the zero value bounds nothing
	// Stopped says why the store takes no claim now, whatever the row; empty: it does. Then no pending row is taken up: MT5 is not asked for
	// nothing, and people hear of it once and not for each payment. nil: it always does. The claim's transaction checks again.
	Stopped func() string

	down  bool                 // the session was not ready at the last round
	queue queue                // logins with rows that wait for their turn
	aside map[ID]time.Duration // rows that could not be worked, and until when (boot clock) they wait
}

const (
	idlePoll  = time.Second // longest sleep: rows that another process part made due are seen by then
	batchSize = 64
	setAside  = 30 * time.Second // pause of a row that met an error of our own
)

// Run works until ctx ends or the store stops. It returns nil when ctx ended it. A busy store is waited for.
func (l *Lane) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		next, err := l.round(ctx)
		switch {
		case err == nil, ctx.Err() != nil:
		case errors.Is(err, ErrBusy): // what was due stays due
			l.Observer.Note(ctx, Note{What: "store busy", Err: err, Retry: idlePoll})
			next = idlePoll
		default:
			return fmt.Errorf("lane %s/%d: %w", l.Server, l.Shard, err)
		}
		if l.Clock.Wait(ctx, l.Clock.Boot()+next, l.Wake) != nil {
			break
		}
	}
	return nil //nolint:nilerr // the end of ctx is a clean stop, whatever the last round met
}

func (l *Lane) schedule() time.Time { return l.Process.Schedule(l.Clock) }

func (l *Lane) mark() Mark {
	return Mark{Process: l.Process.ID, Boot: l.Clock.Boot(), At: instant(l.Clock.Now())}
}

func (l *Lane) actor() string { return "lane " + l.Server + "/" + strconv.Itoa(l.Shard) }

// round takes up everything that is due, once, and tells how long to sleep.
func (l *Lane) round(ctx context.Context) (time.Duration, error) {
	settings, err := l.Book.Settings(ctx)
	if err != nil {
		return 0, fmt.Errorf("read settings: %w", err)
	}
	var work []DueRow
	states := []State{Unknown, Done, Pending}
	if settings.Mode != ModeLive || l.Clock.Boot() < l.ClaimsFrom || (l.Stopped != nil && l.Stopped() != "") {
		states = []State{Unknown, Done} // looking goes on, claims do not
	}
	sleep := idlePoll
	for _, state := range states {
		rows, wait, err := l.due(ctx, state)
		if err != nil {
			return 0, err
		}
		work, sleep = append(work, rows...), min(sleep, wait)
	}
	ready := l.ready(ctx)
	for _, row := range work {
		if ctx.Err() != nil {
			return 0, nil //nolint:nilerr // the session's error has been noted and goes to the rows
		}
		if err := l.take(ctx, row, ready); err != nil {
			return 0, err
		}
	}
	if len(work) > 0 {
		return 0, l.followUp(ctx)
	}
	return sleep, nil
}

// due lists the rows of a state that are due now, and how long until the next one is.
func (l *Lane) due(ctx context.Context, state State) ([]DueRow, time.Duration, error) {
	now := l.schedule()
	rows, err := l.Book.Due(ctx, DueQuery{
		State: state, Server: l.Server, UpTo: now.Add(idlePoll), Shard: l.Shard, Shards: l.Shards, Limit: batchSize,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list due %s rows: %w", state, err)
	}
	sleep, ripe := idlePoll, rows[:0]
	for _, row := range rows {
		switch {
		case row.NextAt.After(now):
			sleep = min(sleep, row.NextAt.Sub(now))
		case l.aside[row.ID] <= l.Clock.Boot():
			ripe = append(ripe, row)
		}
	}
	return ripe, sleep, nil
}

// ready brings the session up. Its error is the reason that rows get instead of an answer.
func (l *Lane) ready(ctx context.Context) error {
	err := l.Session.Ready(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil && !l.down:
		l.Observer.Note(ctx, Note{What: "MT5 session not ready", Err: fmt.Errorf("%s: %w", l.actor(), err), Session: &SessionNote{l.Server, l.Shard, err}})
	case err == nil && l.down:
		l.Observer.Note(ctx, Note{What: "MT5 session ready again", Session: &SessionNote{l.Server, l.Shard, nil}})
	}
	l.down = err != nil
	return err
}

// take works one due row. Only the end of the store is returned: it ends the lane. A row that cannot be worked for
// any other reason is reported and set aside for a while, so that it stops neither the lane nor its own retry.
func (l *Lane) take(ctx context.Context, due DueRow, ready error) error {
	err := l.work(ctx, due, ready)
	switch {
	case err == nil, errors.Is(err, ErrConflict): // whoever moved the row on will have it taken up again
		delete(l.aside, due.ID)
		return nil
	case errors.Is(err, ErrStopped), ctx.Err() != nil:
		return err
	}
	if l.aside == nil {
		l.aside = map[ID]time.Duration{}
	}
	pause := setAside
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrDuplicate) { // passes: judged afresh
		pause = idlePoll
	}
	l.aside[due.ID] = l.Clock.Boot() + pause
	l.Observer.Note(ctx, Note{What: "row could not be worked", Err: fmt.Errorf("credit %d: %w", due.ID, err), Retry: pause})
	return nil
}

func (l *Lane) work(ctx context.Context, due DueRow, ready error) error {
	d, err := l.Book.Dossier(ctx, due.ID)
	if err != nil {
		return fmt.Errorf("read the dossier: %w", err)
	}
	switch d.Row.State {
	case Unknown:
		err = l.resolve(ctx, d, ready)
	case Done:
		err = l.watch(ctx, d, ready)
	case Pending:
		err = l.pay(ctx, d, ready)
	case New, Held, Claimed, Failed, Cancelled: // moved on since it was listed
	}
	return err
}

// advance writes a decision and tells the observer what became of it.
func (l *Lane) advance(ctx context.Context, id ID, decide Decide) (Result, error) {
	res, err := l.Book.Advance(ctx, id, decide)
	if err != nil {
		return Result{}, err
	}
	for i := range res.Entries {
		l.Observer.Note(ctx, Note{What: "row moved", Row: &res.Row, Entry: &res.Entries[i]})
	}
	Announce(ctx, l.Observer, nil, res.Opened, res.Closed)
	l.queue.seen(res.Row, res.Entries)
	return res, nil
}

// look asks MT5 for the row's deals and judges the answer. before is an earlier sighting to go on from, or nil.
func (l *Lane) look(ctx context.Context, d Dossier, before *Sighting) (Sighting, Match, *LookEvidence, error) {
	started := l.mark()
	q := LookQuery{Login: d.Row.Login, Earliest: d.Row.EarliestTrace(), Control: d.Anchor}
	var s Sighting
	if before == nil {
		s = l.Session.Look(ctx, q)
	} else {
		s = l.Session.Relook(ctx, q, *before)
	}
	l.Observer.Step(ctx, Step{Name: StepLooked, Credit: d.Row.ID})
	m, ev, err := Weigh(ctx, l.Book, d.Row, started, s)
	return s, m, ev, err
}

// TicketHolders tells which tickets are on a row already; see [Book].
type TicketHolders interface {
	Holders(ctx context.Context, identity string, tickets []uint64) (map[uint64]ID, error)
}

// Weigh judges a sighting that was begun at started for the row, with the tickets that other rows have, and puts it down
// as evidence.
func Weigh(ctx context.Context, book TicketHolders, row Credit, started Mark, s Sighting) (Match, *LookEvidence, error) {
	held, err := book.Holders(ctx, row.Identity, tickets(s.Deals))
	if err != nil {
		return Match{}, nil, fmt.Errorf("credit %d: read the holders of tickets: %w", row.ID, err)
	}
	m := Judge(row, s, held)
	return m, evidenceOf(started, s, m), nil
}

func evidenceOf(started Mark, s Sighting, m Match) *LookEvidence {
	ev := &LookEvidence{
		Verdict: m.Verdict, Reason: m.Reason, Started: started, From: instant(s.From), Until: instant(s.Until),
		Offset: s.Offset.String(), Rows: s.Rows, Control: s.Control, Complete: s.Complete, Denied: s.LoginMissing,
	}
	for _, d := range m.Deals {
		ev.Tickets = append(ev.Tickets, strconv.FormatUint(d.Ticket, 10))
	}
	return ev
}

func tickets(deals []Deal) []uint64 {
	out := make([]uint64, 0, len(deals))
	for _, d := range deals {
		out = append(out, d.Ticket)
	}
	return out
}

// noAnswer is the evidence of a look that could not even begin.
func (l *Lane) noAnswer(reason error) *LookEvidence {
	return &LookEvidence{Verdict: VerdictNoAnswer, Reason: "MT5 cannot be asked: " + reason.Error(), Started: l.mark()}
}
