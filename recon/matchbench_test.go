package recon

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"creditonce/credit"
)

// many makes the lists of so many payments whose ids come in no order; of those with a reference that is not whole every second.
type many struct {
	payments int
	damaged  bool
}

func (n many) row(i int) Row {
	p := provider(cards)
	id := fmt.Sprintf("pi_%016x", uint64(i+1)*0x9e3779b97f4a7c15)
	u := credit.Unit{ProviderKind: p.Kind, Account: p.Account, Payment: id}
	at := noon.Add(time.Duration(i%86400) * time.Second)
	return Row{
		ID: credit.ID(i + 1), Kind: credit.KindDeposit, Unit: u, State: credit.Done, Provider: cards, Paid: dollars("123.45"), PaidAt: at, Code: "code-" + id,
		Server: "main", Identity: server, Login: 700_001 + uint64(i%5000), Amount: dollars("123.45"), Ticket: uint64(i + 1),
		Reference: credit.NewReference("live", server, credit.KindDeposit, u), ClaimedAt: at, Trace: at, UpdatedAt: at,
	}
}

func (n many) rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for i := range n.payments {
			if !yield(n.row(i), nil) {
				return
			}
		}
	}
}

func (n many) lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for i := range n.payments {
			r := n.row(i)
			l := Line{
				Provider: provider(cards), Digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Row: i + 2, Type: LinePayment, Word: "charge",
				Payment: r.Unit.Payment, Movement: "txn" + r.Unit.Payment, Code: r.Code, Batch: "po_1", Gross: r.Paid, Fee: dollars("-1.20"), Net: dollars("122.25"),
				At: r.PaidAt, SettledAt: r.PaidAt.Add(24 * time.Hour),
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

func (n many) deals() iter.Seq2[Deal, error] {
	return func(yield func(Deal, error) bool) {
		for i := range n.payments {
			r := n.row(i)
			d := Deal{
				Deal:   credit.Deal{Ticket: r.Ticket, Login: r.Login, Action: credit.ActionBalance, Amount: r.Amount, Comment: string(r.Reference), ServerTime: r.PaidAt.Unix()},
				Server: "main", Identity: server, At: r.PaidAt.Add(time.Second),
			}
			if n.damaged {
				d.Ticket, d.Comment = d.Ticket+uint64(n.payments), d.Comment[:18]
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func benchmarkCompare(b *testing.B, n many) {
	for b.Loop() {
		found := 0
		begun := time.Now()
		s, err := Sort(b.Context(), b.TempDir(), n.lines(), n.rows(), n.deals())
		if err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := Match(b.Context(), testRules(), s, func(i Item) error {
			if i.Key.Class != Matched {
				found++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(middle.Sub(begun).Seconds(), "sort-s")
		b.ReportMetric(time.Since(middle).Seconds(), "match-s")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if want := map[bool]int{true: n.payments}[n.damaged]; found != want {
			b.Fatalf("%d differences, want %d", found, want)
		}
	}
	b.ReportMetric(float64(3*n.payments*b.N)/b.Elapsed().Seconds(), "entries/s")
}

func BenchmarkCompare(b *testing.B) { benchmarkCompare(b, many{payments: 100_000}) }

func BenchmarkCompare_EveryReferenceDamaged(b *testing.B) {
	benchmarkCompare(b, many{payments: 100_000, damaged: true})
}
