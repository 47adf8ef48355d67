package recon

import (
	"context"
	"fmt"
	"strconv"
)

// standing is what the discrepancies that stand before a run rest on at MT5.
type standing struct {
	logins map[string]map[uint64]bool // by the server's own name
	// tickets are the deals that the open ones of MT5's side are about, by the server's own name; true: the run's list has the deal.
	tickets map[string]map[uint64]bool
	gone    map[Key]bool // done rows of which people know already that their deal is not there
}

// standingNow reads it.
func (r *Runner) standingNow(ctx context.Context) (standing, error) {
	out := standing{logins: map[string]map[uint64]bool{}, tickets: map[string]map[uint64]bool{}, gone: map[Key]bool{}}
	put := func(into map[string]map[uint64]bool, identity string, number uint64) {
		if into[identity] == nil {
			into[identity] = map[uint64]bool{}
		}
		into[identity][number] = false
	}
	err := r.eachStanding(ctx, func(d Discrepancy) {
		for _, login := range d.Subject.Logins {
			put(out.logins, d.Subject.Identity, login)
		}
		if d.Key.Class == DoneWithoutDeal {
			out.gone[d.Key] = true
		}
		if d.State == DiscrepancyOpen {
			for _, ticket := range d.tickets() {
				put(out.tickets, d.Subject.Identity, ticket)
			}
		}
	})
	return out, err
}

// eachStanding goes through the discrepancies that a run may explain, a page at a time, in the order of their keys.
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

// tickets are the deals that a discrepancy of MT5's side is about.
func (d Discrepancy) tickets() []uint64 {
	if d.Subject.Side != SideMT5 {
		return nil
	}
	if len(d.Subject.Tickets) > 0 {
		return d.Subject.Tickets
	}
	if kind, parts := EntityParts(d.Key.Entity); kind == "deal" && len(parts) == 2 {
		if ticket, err := strconv.ParseUint(parts[1], 10, 64); err == nil {
			return []uint64{ticket}
		}
	}
	return nil
}

// unseen are the missing logins of a server that a standing discrepancy is about.
func (s standing) unseen(identity string, missing []uint64) Numbers {
	var out []uint64
	for _, login := range missing {
		if _, about := s.logins[identity][login]; about {
			out = append(out, login)
		}
	}
	return numbersOf(out)
}

// saw notes that the run's list has the deal.
func (s standing) saw(d *Deal) {
	if _, about := s.tickets[d.Identity][d.Ticket]; about {
		s.tickets[d.Identity][d.Ticket] = true
	}
}

// unseenTickets are the deals of a discrepancy that the run's list does not have.
func (s standing) unseenTickets(d Discrepancy) (out []uint64) {
	for _, ticket := range d.tickets() {
		if !s.tickets[d.Subject.Identity][ticket] {
			out = append(out, ticket)
		}
	}
	return out
}
