package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/recon"
)

// NewerRuns tells what the finished runs with higher numbers have made of a run's business days: of each day the newest complete one, and the
// incomplete ones that are newer still; at most [recon.MostNewer] whole ones of each kind.
func (db *DB) NewerRuns(ctx context.Context, r recon.Run) (out recon.Newer, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		complete, incomplete := map[recon.RunID]bool{}, map[recon.RunID]bool{}
		for day := range r.First.Through(r.Last) {
			if err := newerOfDay(tx, r.Zone, day, r.ID, complete, incomplete); err != nil {
				return err
			}
		}
		var errs [2]error
		out.Numbers = newestFirst(incomplete)
		out.Complete, errs[0] = firstRuns(tx, newestFirst(complete))
		out.Incomplete, errs[1] = firstRuns(tx, out.Numbers)
		return errors.Join(errs[:]...)
	})
	if err != nil {
		return recon.Newer{}, fmt.Errorf("read the runs after run %d: %w", r.ID, err)
	}
	return out, nil
}

// newerOfDay goes from the newest run of a day down to its newest complete one, or to the run after which it looks.
func newerOfDay(tx *bolt.Tx, zone string, d recon.Day, after recon.RunID, complete, incomplete map[recon.RunID]bool) error {
	return down(tx, runDays.bucket, dayTextKey(zone, d), 0, func(number []byte) (bool, error) {
		covers, err := runDays.must(tx, append(dayTextKey(zone, d), number...))
		switch {
		case err != nil:
			return false, err
		case covers.Run <= after:
			return false, nil
		case covers.Complete:
			complete[covers.Run] = true
			return false, nil
		}
		incomplete[covers.Run] = true
		return true, nil
	})
}

func newestFirst(ids map[recon.RunID]bool) []recon.RunID {
	out := slices.Sorted(maps.Keys(ids))
	slices.Reverse(out)
	return out
}

func firstRuns(tx *bolt.Tx, ids []recon.RunID) ([]recon.Run, error) {
	var out []recon.Run
	for _, id := range ids[:min(len(ids), recon.MostNewer)] {
		r, err := finishedRun(tx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, r.Run)
	}
	return out, nil
}
