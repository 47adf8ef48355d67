package desk_test

import (
	"context"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// crowded is a book with more unknown rows and expired proposals than one page holds.
type crowded struct {
	desk.Book
	rows      []credit.Credit
	proposals []desk.Proposal
	read      int
}

func (c *crowded) Rows(ctx context.Context, q credit.RowQuery) ([]credit.Credit, error) {
	if q.State != credit.Unknown {
		return c.Book.Rows(ctx, q)
	}
	return pageAfter(c.rows, func(r credit.Credit) bool { return r.ID > q.After }, q.Limit, &c.read), nil
}

func (c *crowded) Proposals(_ context.Context, q desk.ProposalQuery) ([]desk.Proposal, error) {
	return pageAfter(c.proposals, func(p desk.Proposal) bool { return p.ID > q.After }, q.Limit, new(int)), nil
}

func pageAfter[T any](all []T, after func(T) bool, limit int, read *int) (out []T) {
	for _, item := range all {
		if after(item) && len(out) < limit {
			out = append(out, item)
			*read++
		}
	}
	return out
}

func TestStatus_FindsTheOldestDoubtAndEveryOpenProposalBeyondOnePage(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	now := f.Clock.Now()
	made := func(n int) time.Time { return now.Add(time.Duration(n) * time.Second) }
	book := &crowded{Book: f.db}
	// Every row of the first page became unknown late; the oldest doubt is on the second page.
	for i := range 2000 {
		since := made(i).Add(time.Hour)
		if i == 700 {
			since = made(i)
		}
		book.rows = append(book.rows, credit.Credit{ID: credit.ID(i + 1), CreatedAt: made(i), UnknownSince: credit.Mark{At: since}})
	}
	real := f.propose("mia", probeOf("1001"))
	for i := range 1200 {
		p := desk.Proposal{ID: desk.ProposalID(i + 1), Act: real.Act, Basis: real.Basis, State: desk.ProposalOpen, ExpiresAt: now.Add(-time.Minute)}
		if i > 1196 {
			p.ExpiresAt = now.Add(time.Hour)
		}
		book.proposals = append(book.proposals, p)
	}
	st, err := f.serviceOver("process-2", book).Status(t.Context(), by("vera"))
	f.Must(err)
	if !st.Doubt.Equal(made(700)) || st.Proposals != 3 {
		t.Errorf("oldest doubt %s, want %s; %d proposals, want 3", st.Doubt, made(700), st.Proposals)
	}
	if book.read > 1500 {
		t.Errorf("%d rows were read, though none after the second page can be older", book.read)
	}
}
