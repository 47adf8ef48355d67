package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// reconRecord is how far complete runs have come.
type reconRecord struct {
	Reached recon.Reached `json:"reached"`
}

// CreditsAfter implements [recon.RunBook]. Limit 0 is 100; a page has 2,000 rows at most.
func (db *DB) CreditsAfter(ctx context.Context, after credit.ID, limit int) ([]credit.Credit, error) {
	return db.Rows(ctx, credit.RowQuery{After: after, Limit: min(limitOf(limit), mostWalked)})
}

// BeginRun implements [recon.RunBook]. One run is under way at a time: a new one drops what another left or still writes.
func (db *DB) BeginRun(ctx context.Context) (id recon.RunID, err error) {
	for again := true; again; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		err = db.write(ctx, false, func(w *writer) error {
			id, again = 0, false
			left, err := runs.list(w.tx, runUnfinished, nil, 1)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				again = true
				_, err := dropFindings(w, left[0])
				return err
			}
			if err := w.hasRoom(); err != nil {
				return err
			}
			id = recon.RunID(runs.next(w))
			return runs.stage(w, nil, keptRun{Run: recon.Run{ID: id}})
		})
		if err != nil {
			return 0, fmt.Errorf("begin a run: %w", err)
		}
	}
	return id, nil
}

// dropFindings removes a piece of an unfinished run's items, and in the end the run, then gone is true.
func dropFindings(w *writer, r keptRun) (gone bool, err error) {
	n, err := removeFindings(w, r.Run.ID)
	if gone = err == nil && n < dropPiece; gone {
		runs.remove(w, r)
	}
	return gone, err
}

// removeFindings removes a piece of a run's items and tells how many it was.
func removeFindings(w *writer, id recon.RunID) (n int, err error) {
	prefix := idKey(uint64(id))
	c := w.tx.Bucket([]byte(findings.bucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && n < dropPiece; k, v = c.Next() {
		f, err := findings.decode(k, v)
		if err != nil {
			return n, err
		}
		findings.remove(w, f)
		n++
	}
	return n, nil
}

// underWay reads a run that is not finished; ErrConflict where it is, or was dropped.
func underWay(tx *bolt.Tx, id recon.RunID) (keptRun, error) {
	r, err := runs.get(tx, idKey(uint64(id)))
	switch {
	case err != nil:
		return keptRun{}, err
	case r == nil:
		return keptRun{}, fmt.Errorf("run %d was given up, or another one began: %w", id, credit.ErrConflict)
	case r.Finished:
		return keptRun{}, fmt.Errorf("run %d is finished: %w", id, credit.ErrConflict)
	}
	return *r, nil
}

// SaveFindings implements [recon.RunBook].
func (db *DB) SaveFindings(ctx context.Context, id recon.RunID, items []recon.Item) error {
	if len(items) > mostAdded {
		return fmt.Errorf("save findings of run %d: %d in one piece, at most %d are taken: %w", id, len(items), mostAdded, credit.ErrInvalid)
	}
	err := db.write(ctx, false, func(w *writer) error {
		if err := w.hasRoom(); err != nil {
			return err
		}
		r, err := underWay(w.tx, id)
		if err != nil {
			return err
		}
		after := r
		for _, i := range items {
			after.Saved++
			if err := findings.stage(w, nil, finding{id, after.Saved, plainItem(i)}); err != nil {
				return fmt.Errorf("%s of %s: %w", i.Key.Class, i.Key.Entity, err)
			}
		}
		return runs.stage(w, &r, after)
	})
	if err != nil {
		return fmt.Errorf("save findings of run %d: %w", id, err)
	}
	return nil
}

// FinishRun implements [recon.RunBook]. The items that were saved must be as many as the run says that it has; else it is
// [credit.ErrConflict], and nothing changes. A complete run closes the tasks about runs that were not.
func (db *DB) FinishRun(ctx context.Context, r recon.Run) error {
	err := db.write(ctx, false, func(w *writer) error {
		if err := w.hasRoom(); err != nil {
			return err
		}
		before, err := underWay(w.tx, r.ID)
		if err != nil {
			return err
		}
		if r.Findings != before.Saved {
			return fmt.Errorf("it has %d findings, %d were saved: %w", r.Findings, before.Saved, credit.ErrConflict)
		}
		if !r.First.Valid() || !r.Last.Valid() || r.Last < r.First || r.SignOff != nil || r.Purged {
			return fmt.Errorf("it covers no days, or is signed before it is there: %w", credit.ErrInvalid)
		}
		r.Started, r.Finished = instant(r.Started), instant(r.Finished)
		if err := runs.stage(w, &before, keptRun{Run: r, Saved: before.Saved, Finished: true}); err != nil {
			return err
		}
		complete := r.State == recon.RunComplete
		for day := range r.First.Through(r.Last) {
			if err := runDays.stage(w, nil, runDay{r.Zone, day, r.ID, complete}); err != nil {
				return err
			}
		}
		if !complete {
			return nil
		}
		return stageComplete(w, r)
	})
	if err != nil {
		return fmt.Errorf("finish run %d: %w", r.ID, err)
	}
	return nil
}

// stageComplete moves what complete runs have reached over every day that now follows without a gap.
func stageComplete(w *writer, r recon.Run) error {
	last, err := reached(w.tx)
	if err != nil {
		return err
	}
	if !last.IsZero() && r.From.After(last.Until) {
		return nil
	}
	now := last
	if r.Until.After(last.Until) {
		now = r.Reached()
	}
	for {
		id, complete, err := runOfDay(w.tx, now.Zone, now.Day.Next())
		if err != nil {
			return err
		}
		if !complete {
			break
		}
		next, err := finishedRun(w.tx, id)
		if err != nil {
			return err
		}
		now = next.Run.Reached()
	}
	if now.Until.Equal(last.Until) {
		return nil
	}
	payload, err := encode(reconRecord{now})
	if err != nil {
		return err
	}
	return w.put(bucketMeta, metaRecon, seal(bucketMeta, metaRecon, payload))
}

func reached(tx *bolt.Tx) (recon.Reached, error) {
	if tx.Bucket([]byte(bucketMeta)).Get(metaRecon) == nil {
		return recon.Reached{}, nil
	}
	var r reconRecord
	err := readMeta(tx, metaRecon, &r)
	return r.Reached, err
}

// runOfDay finds the newest complete run of a zone's day, else the newest incomplete one; 0 where there is none.
func runOfDay(tx *bolt.Tx, zone string, d recon.Day) (id recon.RunID, complete bool, err error) {
	err = down(tx, runDays.bucket, dayTextKey(zone, d), 0, func(number []byte) (bool, error) {
		covers, err := runDays.must(tx, append(dayTextKey(zone, d), number...))
		if err != nil {
			return false, err
		}
		if id == 0 || covers.Complete {
			id, complete = covers.Run, covers.Complete
		}
		return !complete, nil
	})
	return id, complete, err
}

// stageSignOff stores that a person has read a run's report. It is refused (*credit.RefusedError) on an incomplete run ("incomplete") and on
// one that is signed ("signed").
func stageSignOff(w *writer, id recon.RunID, s recon.SignOff) error {
	r, err := finishedRun(w.tx, id)
	switch {
	case err != nil:
		return err
	case s.By == "" || s.At.IsZero():
		return fmt.Errorf("a sign-off names a person and a time: %w", credit.ErrInvalid)
	case r.Run.State != recon.RunComplete:
		return credit.Refuse("incomplete", "run %d is incomplete: there is nothing to sign before its lists are whole", id)
	case r.Run.SignOff != nil:
		return credit.Refuse("signed", "run %d was signed by %s at %s", id, r.Run.SignOff.By, r.Run.SignOff.At.Format("2006-01-02 15:04:05 UTC"))
	}
	after := r
	after.Run.SignOff = &s
	return runs.stage(w, &r, after)
}

func finishedRun(tx *bolt.Tx, id recon.RunID) (keptRun, error) {
	r, err := runs.must(tx, idKey(uint64(id)))
	if err == nil && !r.Finished {
		return keptRun{}, fmt.Errorf("run %d is not finished: %w", id, credit.ErrNotFound)
	}
	return r, err
}

// PurgeRuns removes a piece of the items of the oldest run below a number that nobody needs any more: it is not signed, and newer complete
// runs cover each of its days. The run itself stays, marked. It tells how many items it removed; 0: there is nothing (more) to purge.
func (db *DB) PurgeRuns(ctx context.Context, below recon.RunID) (n int, err error) {
	id, err := db.purgeable(ctx, below)
	if err != nil || id == 0 {
		return 0, err
	}
	err = db.write(ctx, false, func(w *writer) error {
		r, err := finishedRun(w.tx, id)
		if err != nil {
			return err
		}
		needed, err := neededRun(w.tx, r)
		if n = 0; err != nil || needed {
			return err
		}
		if n, err = removeFindings(w, id); err != nil || r.Run.Purged {
			return err
		}
		after := r
		after.Run.Purged = true
		return runs.stage(w, &r, after)
	})
	if err != nil {
		return 0, fmt.Errorf("purge run %d: %w", id, err)
	}
	return n, nil
}

// purgeable finds the oldest run with items that nobody needs, a page in each snapshot.
func (db *DB) purgeable(ctx context.Context, below recon.RunID) (id recon.RunID, err error) {
	after, more := recon.RunID(0), true
	for more && id == 0 {
		err = db.read(ctx, func(tx *bolt.Tx) error {
			page, err := runs.page(tx, idKey(uint64(after)), defaultLimit)
			if more = len(page) > 0; err != nil || !more {
				return err
			}
			after = page[len(page)-1].Run.ID
			at := slices.IndexFunc(page, func(r keptRun) bool {
				if err != nil || !r.Finished || r.Run.ID >= below || r.Saved == 0 {
					return false
				}
				if k, _ := tx.Bucket([]byte(findings.bucket)).Cursor().Seek(idKey(uint64(r.Run.ID))); !bytes.HasPrefix(k, idKey(uint64(r.Run.ID))) {
					return false
				}
				var needed bool
				needed, err = neededRun(tx, r)
				return err == nil && !needed
			})
			if at >= 0 {
				id = page[at].Run.ID
			}
			more = more && after < below
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("look for a run to purge: %w", err)
		}
	}
	return id, nil
}

// neededRun tells that a run is signed, or that it is the newest complete one of a day, or that no complete one is newer.
func neededRun(tx *bolt.Tx, r keptRun) (bool, error) {
	if r.Run.SignOff != nil {
		return true, nil
	}
	for day := range r.Run.First.Through(r.Run.Last) {
		id, complete, err := runOfDay(tx, r.Run.Zone, day)
		if err != nil || !complete || id <= r.Run.ID {
			return true, err
		}
	}
	return false, nil
}

// plainItem is an item with texts that JSON can keep.
func plainItem(i recon.Item) recon.Item {
	i.Why = plainText(i.Why)
	i.Lines, i.Deals = slices.Clone(i.Lines), slices.Clone(i.Deals)
	for n, l := range i.Lines {
		i.Lines[n] = plainLine(l)
	}
	for n := range i.Deals {
		i.Deals[n].Comment = plainText(i.Deals[n].Comment)
	}
	return i
}
