package recon

import (
	"context"
	"fmt"
)

// standing is what the discrepancies that stand before a run rest on at MT5.
type standing struct {
	logins map[string]map[uint64]bool // by the server's own name
}

// standingNow reads it.
func (r *Runner) standingNow(ctx context.Context) (standing, error) {
	out := standing{logins: map[string]map[uint64]bool{}}
	err := r.eachStanding(ctx, func(d Discrepancy) {
		into := out.logins[d.Subject.Identity]
		if into == nil {
			into = map[uint64]bool{}
			out.logins[d.Subject.Identity] = into
		}
		for _, login := range d.Subject.Logins {
			into[login] = true
		}
	})
	return out, err
}

// eachStanding goes through the discrepancies that a run may explain, a page at a time.
func (r *Runner) eachStanding(ctx context.Context, each func(Discrepancy)) error {
	for after := (Key{}); ; {
		page, err := r.Book.Discrepancies(ctx, after, pageOfRows)
		if err != nil {
			return fmt.Errorf("read what stands: %w", err)
		}
		for _, d := range page {
			if after = d.Key; d.State != DiscrepancyExplained {
				each(d)
			}
		}
		if len(page) < pageOfRows {
			return nil
		}
	}
}

// unseen are the missing logins of a server that a standing discrepancy is about.
func (s standing) unseen(identity string, missing []uint64) Logins {
	var out []uint64
	for _, login := range missing {
		if s.logins[identity][login] {
			out = append(out, login)
		}
	}
	return loginsOf(out)
}
