package store

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// carryPiece is how many discrepancies one transaction of CarryGone looks at.
const carryPiece = 200

// Carry implements [recon.RunBook]: each item is decided on by [recon.Carried] with what the same transaction read, and tasks, notices and
// counters are written with it. Items that are no difference are passed over. The time of what is written is the run's end, or its start
// where it has no end yet.
func (db *DB) Carry(ctx context.Context, r recon.Run, items []recon.Item) (out recon.Carriage, err error) {
	if len(items) > mostAdded {
		return out, fmt.Errorf("carry tasks of run %d: %d items in one piece, at most %d are taken: %w", r.ID, len(items), mostAdded, credit.ErrInvalid)
	}
	err = db.write(ctx, false, func(w *writer) error {
		if err := w.hasRoom(); err != nil {
			return err
		}
		out = recon.Carriage{}
		for _, i := range items {
			i = plainItem(i)
			prior, task, err := discrepancyOf(w.tx, i.Key)
			if err != nil {
				return err
			}
			c := recon.Carried(r, carriedAt(r), prior, task, i)
			if err := stageCarrying(w, prior, task, c, carriedAt(r)); err != nil {
				return fmt.Errorf("%s of %s: %w", i.Key.Class, i.Key.Entity, err)
			}
			countCarrying(&out, c.Did)
		}
		return nil
	})
	if err != nil {
		return recon.Carriage{}, fmt.Errorf("carry tasks of run %d: %w", r.ID, err)
	}
	return out, nil
}

func carriedAt(r recon.Run) time.Time {
	if r.Finished.IsZero() {
		return instant(r.Started)
	}
	return instant(r.Finished)
}

// discrepancyOf reads what is known of a key; nil where nothing is.
func discrepancyOf(tx *bolt.Tx, k recon.Key) (*recon.Discrepancy, *credit.Task, error) {
	prior, err := discrepancies.get(tx, discrepancyKey(k))
	if err != nil || prior == nil {
		return nil, nil, err
	}
	task, err := tasks.must(tx, idKey(uint64(prior.Task)))
	return prior, &task, err
}

// stageCarrying writes what was decided, and tells people what opened and closed.
func stageCarrying(w *writer, prior *recon.Discrepancy, task *credit.Task, c recon.Carrying, at time.Time) error {
	if c.Did == recon.CarryNothing {
		return nil
	}
	if t := c.Task; t != nil {
		if t.ID == 0 {
			t.ID, t.OpenedAt = credit.TaskID(tasks.next(w)), instant(t.OpenedAt)
			task, c.Discrepancy.Task = nil, t.ID
		}
		t.ClosedAt = instant(t.ClosedAt)
		if err := tasks.stage(w, task, *t); err != nil {
			return err
		}
		if err := stageNotices(w, carryNotices(c, at)); err != nil {
			return err
		}
	}
	return discrepancies.stage(w, prior, c.Discrepancy)
}

func carryNotices(c recon.Carrying, at time.Time) []credit.Notice {
	switch c.Did {
	case recon.CarryOpened, recon.CarryReopened:
		return []credit.Notice{{Kind: credit.NoticeTaskOpened, At: at, Task: c.Task.ID}}
	case recon.CarryClosed:
		return []credit.Notice{{Kind: credit.NoticeTaskClosed, At: at, Task: c.Task.ID}}
	default:
		return nil
	}
}

func countCarrying(out *recon.Carriage, did recon.CarryAct) {
	switch did {
	case recon.CarryOpened:
		out.Opened++
	case recon.CarryReopened:
		out.Reopened++
	case recon.CarryRefreshed:
		out.Refreshed++
	case recon.CarryClosed:
		out.Closed++
	case recon.CarryAccepted:
		out.Accepted++
	case recon.CarryNothing, recon.CarryForgot:
	}
}

// CarryGone implements [recon.RunBook]: 200 discrepancies in each transaction. Closing writes notices too: it is refused where intake is.
func (db *DB) CarryGone(ctx context.Context, r recon.Run, spared map[recon.Key]string) (out recon.Carriage, err error) {
	var after []byte
	for more := true; more; {
		var next []byte
		var did recon.Carriage
		err := db.write(ctx, true, func(w *writer) error {
			did = recon.Carriage{}
			page, last, err := standingAfter(w.tx, after)
			if next = last; err != nil {
				return err
			}
			for _, d := range page {
				if err := stageGoneOne(w, r, d, spared, &did); err != nil {
					return fmt.Errorf("%s of %s: %w", d.Key.Class, d.Key.Entity, err)
				}
			}
			return nil
		})
		if err != nil {
			return out, fmt.Errorf("close tasks that run %d explains: %w", r.ID, err)
		}
		out.Closed, out.Refreshed = out.Closed+did.Closed, out.Refreshed+did.Refreshed
		after, more = next, next != nil
	}
	return out, nil
}

// standingAfter reads a page of the discrepancies that a run may explain; last is nil at the end.
func standingAfter(tx *bolt.Tx, after []byte) (page []recon.Discrepancy, last []byte, err error) {
	c := tx.Bucket([]byte(discrepancyStanding.bucket)).Cursor()
	k, id := c.Seek(after)
	if after != nil && bytes.Equal(k, after) {
		k, id = c.Next()
	}
	for ; k != nil; k, id = c.Next() {
		d, err := discrepancies.must(tx, id)
		if err != nil {
			return nil, nil, err
		}
		if page = append(page, d); len(page) == carryPiece {
			return page, bytes.Clone(k), nil
		}
	}
	return page, nil, nil
}

func stageGoneOne(w *writer, r recon.Run, d recon.Discrepancy, spared map[recon.Key]string, did *recon.Carriage) error {
	task, err := tasks.must(w.tx, idKey(uint64(d.Task)))
	if err != nil {
		return err
	}
	if note, keep := spared[d.Key]; keep {
		c := recon.Spared(r, carriedAt(r), d, task, note)
		countCarrying(did, c.Did)
		return stageCarrying(w, &d, &task, c, carriedAt(r))
	}
	rows, err := rowsAbout(w.tx, d.Key.Entity)
	if err != nil {
		return err
	}
	c := recon.Gone(r, carriedAt(r), d, task, rows)
	countCarrying(did, c.Did)
	return stageCarrying(w, &d, &task, c, carriedAt(r))
}

// rowsAbout reads the credit rows that an entity of a discrepancy is about, as they are now.
func rowsAbout(tx *bolt.Tx, entity string) ([]credit.Credit, error) {
	kind, parts := recon.EntityParts(entity)
	var row *credit.Credit
	var err error
	switch {
	case kind == "credit" && len(parts) == 1:
		row, err = credits.get(tx, idKey(numberIn(parts[0])))
	case kind == "deal" && len(parts) == 2:
		row, err = credits.find(tx, creditByDeal, dealKey(parts[0], numberIn(parts[1])))
	case kind == "payment" && len(parts) >= 3: // behind it, what names a part or a movement
		return rowsOf(tx, parts[0], parts[1], parts[2])
	}
	if err != nil || row == nil {
		return nil, err
	}
	return []credit.Credit{*row}, nil
}

// numberIn reads a number; 0, which no row and no deal has, where it is none.
func numberIn(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// RunTask implements [recon.RunBook]. With closed it closes the open task with that key, if there is one; else it opens t, unless a task with
// its key is open.
func (db *DB) RunTask(ctx context.Context, t credit.Task, closed *credit.TaskClose) error {
	err := db.write(ctx, false, func(w *writer) error {
		if closed != nil {
			_, err := stageTasks(w, nil, []credit.TaskClose{*closed})
			return err
		}
		_, err := stageTasks(w, []credit.Task{t}, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("change the task %s: %w", t.Kind, err)
	}
	return nil
}

// stageAccepted lets a discrepancy follow its task, which a person has closed: no open discrepancy is without an open task.
func stageAccepted(w *writer, closed credit.Task) error {
	k, ok := recon.KeyOfTask(closed)
	if !ok {
		return nil
	}
	d, err := discrepancies.get(w.tx, discrepancyKey(k))
	if err != nil || d == nil {
		return err
	}
	after, changed := recon.Accept(*d, closed)
	if !changed {
		return nil
	}
	return discrepancies.stage(w, d, after)
}
