package credit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// longestRetry bounds how far ahead the next try of a pending row is planned, unless Timing.Retry is longer.
const longestRetry = time.Minute

// queue knows the logins of which pending rows wait behind another row. It only saves time: what it forgets, at a
// restart above all, is tried again within longestRetry.
type queue struct {
	behind map[uint64]bool // a row of the login was postponed because another one was not settled
	freed  []uint64        // of these, the logins of which a row was settled since
}

// wait notes that a row of the login waits for another one.
func (q *queue) wait(login uint64) {
	if q.behind == nil {
		q.behind = map[uint64]bool{}
	}
	q.behind[login] = true
}

// seen takes in what became of a row. A look at a row that was settled before, as the watch makes it, frees nobody.
func (q *queue) seen(row Credit, entries []Entry) {
	moved := slices.ContainsFunc(entries, func(e Entry) bool { return e.From != e.To })
	if moved && q.behind[row.Login] && !row.State.Open() && row.State != Pending {
		q.freed = append(q.freed, row.Login)
	}
}

// followUp gives the next waiting row of each freed login its turn. Without it every row of a login would wait as long
// again as it has waited already. One at a time: a login has one call at a time, and that row frees the login again.
func (l *Lane) followUp(ctx context.Context) error {
	for len(l.queue.freed) > 0 {
		login := l.queue.freed[0]
		if err := l.giveTurn(ctx, login); err != nil {
			return err
		}
		l.queue.freed = l.queue.freed[1:]
	}
	return nil
}

func (l *Lane) giveTurn(ctx context.Context, login uint64) error {
	now := l.schedule()
	rows, err := l.Book.Due(ctx, DueQuery{
		State: Pending, Server: l.Server, UpTo: now.Add(max(longestRetry, l.Timing.Retry)),
		Shard: l.Shard, Shards: l.Shards, Limit: 16 * batchSize,
	})
	if err != nil {
		return fmt.Errorf("list the rows that wait for their turn on login %d: %w", login, err)
	}
	var next ID
	for _, row := range rows {
		if row.Login == login && (next == 0 || row.ID < next) {
			next = row.ID
		}
	}
	if next == 0 {
		delete(l.queue.behind, login)
		return nil
	}
	_, err = l.advance(ctx, next, func(d Dossier) (Decision, error) {
		if d.Row.State != Pending || len(d.Busy) > 0 || d.stop() != "" || !d.Row.NextAt.After(now) {
			return Decision{}, nil // moved on, still behind another row or a task, or due by itself
		}
		t := followed(l.Clock.Now(), l.actor(), now)
		return Decision{Move: &t}, nil
	})
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// followed gives a row that waited behind another one of its login its turn.
func followed(at time.Time, actor string, next time.Time) Transition {
	return Transition{
		name: "followed", from: []State{Pending}, by: ByWorker, actor: actor, at: at,
		reason: "the row of the same login that it waited for is settled",
		change: func(c *Credit) { c.NextAt, c.StuckSince = next, time.Time{} },
	}
}
