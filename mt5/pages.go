package mt5

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// source is a login's deals in one window as the server lists them, oldest first. total is what get_total
// says; page gives up to n rows from an offset and treats every form of "none" as no rows.
type source interface {
	total(ctx context.Context) (int, error)
	page(ctx context.Context, offset, n int) ([]row, error)
}

// Bounds of collecting.
const (
	mostPasses = 3         // a list that moves is begun anew so often in all (design §7)
	mostGrowth = 25        // times that rows added at the end are followed in one pass
	mostRows   = 1_000_000 // beyond it a look is not feasible
)

var (
	// errMoved says that the list changed in front of what was read, or that a page does not fit the list: it
	// has to be read from its beginning.
	errMoved = errors.New("the list of deals changed while it was read")
	// errRestless says that rows kept being added.
	errRestless = errors.New("deals are added faster than they can be read")
)

// gathered is what has been read of a list without a gap: how many rows, which tickets, the balance deals.
// Trading deals are counted and forgotten.
type gathered struct {
	login   uint64
	rows    int
	first   uint64   // ticket of the first row
	last    uint64   // ticket of the last row
	tickets []uint64 // all tickets, sorted: eight bytes per deal, whatever its kind
	newest  row      // with the highest ticket, of any action
	balance []row    // in the server's order
}

func (g *gathered) clone() *gathered {
	c := *g
	c.tickets, c.balance = slices.Clone(g.tickets), slices.Clone(g.balance)
	return &c
}

// holds tells whether a ticket was read.
func (g *gathered) holds(ticket uint64) bool {
	_, found := slices.BinarySearch(g.tickets, ticket)
	return found
}

// add takes the rows that follow those read so far.
func (g *gathered) add(rows []row) error {
	for _, r := range rows {
		if r.login != g.login {
			return errForeign
		}
		at, twice := slices.BinarySearch(g.tickets, r.ticket)
		if twice {
			return fmt.Errorf("%w: ticket %d came twice", errMoved, r.ticket)
		}
		g.tickets = slices.Insert(g.tickets, at, r.ticket)
		if g.rows == 0 {
			g.first = r.ticket
		}
		g.rows++
		g.last = r.ticket
		if r.ticket > g.newest.ticket {
			g.newest = r
		}
		if r.isBalance() {
			g.balance = append(g.balance, r)
		}
	}
	return nil
}

// follow reads on from what g has until total = rows read. Each page begins with the last row known, so that a
// row that went away in front, or was put in there, shows as a shift; it is asked for at full length, so that
// a total that is too small shows as rows beyond it; and the last page must be short. It returns errMoved
// where the list must be read from its beginning.
func (g *gathered) follow(ctx context.Context, src source, limit int) error {
	total, err := src.total(ctx)
	if err != nil {
		return err
	}
	pages := 0
	for range mostGrowth {
		n, err := g.toShortPage(ctx, src, limit, total)
		if err != nil {
			return err
		}
		pages += n
		if total, err = src.total(ctx); err != nil {
			return err
		}
		switch {
		case total == g.rows && pages > 1:
			return g.sameFirst(ctx, src)
		case total == g.rows:
			return nil
		}
	}
	return errRestless
}

// toShortPage reads pages until one is not full.
func (g *gathered) toShortPage(ctx context.Context, src source, limit, total int) (pages int, err error) {
	if total < g.rows {
		return 0, fmt.Errorf("%w: it became shorter", errMoved)
	}
	for {
		from := max(g.rows-1, 0)
		page, err := src.page(ctx, from, limit)
		if err != nil {
			return pages, err
		}
		pages++
		fresh, err := g.beyond(page)
		if err != nil {
			return pages, err
		}
		if err := g.add(fresh); err != nil {
			return pages, err
		}
		switch {
		case len(page) > limit:
			return pages, fmt.Errorf("%w: a page of %d rows where %d were asked for", errGarbled, len(page), limit)
		case g.rows > mostRows:
			return pages, fmt.Errorf("the login has more than %d deals in the window", mostRows)
		case len(page) == limit:
		case g.rows < total:
			return pages, fmt.Errorf("%w: a page ends at row %d of %d", errMoved, g.rows, total)
		default:
			return pages, nil
		}
	}
}

// beyond checks that a page begins with the last row known, and returns the rows after it.
func (g *gathered) beyond(page []row) ([]row, error) {
	switch {
	case g.rows == 0:
		return page, nil
	case len(page) == 0:
		return nil, fmt.Errorf("%w: row %d is gone", errMoved, g.rows)
	case page[0].login != g.login:
		return nil, errForeign
	case page[0].ticket != g.last:
		return nil, fmt.Errorf("%w: row %d is another deal now", errMoved, g.rows)
	}
	return page[1:], nil
}

// sameFirst reads the first row again: it must be the one that was read first.
func (g *gathered) sameFirst(ctx context.Context, src source) error {
	if g.rows == 0 {
		return nil
	}
	page, err := src.page(ctx, 0, 1)
	switch {
	case err != nil:
		return err
	case len(page) != 1:
		return fmt.Errorf("%w: the first row is gone", errMoved)
	case page[0].login != g.login:
		return errForeign
	case page[0].ticket != g.first:
		return fmt.Errorf("%w: the first row is another deal now", errMoved)
	}
	return nil
}

// gather reads a whole list from its beginning, anew when it moves, three times at most.
func gather(ctx context.Context, src source, login uint64, limit int) (*gathered, error) {
	var err error
	for range mostPasses {
		g := &gathered{login: login}
		if err = g.follow(ctx, src, limit); err == nil {
			return g, nil
		}
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("read %d times: %w", mostPasses, err)
}
