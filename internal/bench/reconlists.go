package bench

import (
	"fmt"
	"iter"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// threeLists makes the three lists of so many payments, each a settled line, a credit row and a deal, in no order: ids, references and
// tickets are spread, as a provider's are. One payment in a thousand has a fault, of seven kinds in turn. Nothing is kept: each list is made
// while it is read.
type threeLists struct {
	payments int
	amounts  []credit.Amount
	fees     []credit.Amount
}

const (
	faultEvery   = 1000
	reconLogins  = 20_000
	reconLabels  = 6
	distinctSums = 997 // a prime, so that amounts do not go with the kinds of faults
)

// The faults of the lists.
const (
	faultNoLine = iota
	faultNoRow
	faultNoDeal
	faultAmount
	faultTwice
	faultDamaged
	faultLogin
	faultKinds
)

var reconBegin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func newThreeLists(payments int) (*threeLists, error) {
	l := &threeLists{payments: payments}
	for i := range distinctSums {
		a, err := credit.Minor(int64(1000+i*137), "USD", 2)
		if err != nil {
			return nil, err
		}
		fee, err := credit.Minor(-int64(10+i), "USD", 2)
		if err != nil {
			return nil, err
		}
		l.amounts, l.fees = append(l.amounts, a), append(l.fees, fee)
	}
	return l, nil
}

// payment is what the three records of one payment have in common.
type reconPayment struct {
	n      int
	id     string
	at     time.Time
	label  string
	amount credit.Amount
	fault  int // -1: none
}

func (l *threeLists) payment(i int) reconPayment {
	n := mix(uint64(i) + 1)
	p := reconPayment{n: i, id: fmt.Sprintf("pi_3%016x", n), label: labelOf(n), amount: l.amounts[i%distinctSums], fault: -1}
	p.at = reconBegin.Add(time.Duration(n % uint64(30*24*time.Hour/time.Second) * uint64(time.Second)))
	if i%faultEvery == faultEvery-1 {
		p.fault = i / faultEvery % faultKinds
	}
	return p
}

func labelOf(n uint64) string { return fmt.Sprintf("provider-%d", n%reconLabels) }

func (p reconPayment) provider() recon.Provider {
	return recon.Provider{Label: p.label, Kind: "stripe", Account: "acct_" + p.label}
}

func (l *threeLists) lines() iter.Seq2[recon.Line, error] {
	return func(yield func(recon.Line, error) bool) {
		for i := range l.payments {
			p := l.payment(i)
			if p.fault == faultNoLine {
				continue
			}
			line := recon.Line{
				Provider: p.provider(), Digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Row: i + 2, Type: recon.LinePayment,
				Word: "charge", Payment: p.id, Movement: "txn_" + p.id[3:], Code: "code-" + p.id[3:],
				Batch: "po_" + p.label + p.at.Format("20060102"), Gross: p.amount, Fee: l.fees[i%distinctSums], At: p.at, SettledAt: p.at.Add(48 * time.Hour),
			}
			var err error
			if line.Net, err = line.Gross.Add(line.Fee); err != nil || !yield(line, nil) {
				if err != nil {
					yield(line, err)
				}
				return
			}
		}
	}
}

func (l *threeLists) row(p reconPayment) recon.Row {
	unit := credit.Unit{ProviderKind: "stripe", Account: "acct_" + p.label, Payment: p.id}
	return recon.Row{
		ID: credit.ID(p.n + 1), Kind: credit.KindDeposit, Unit: unit, State: credit.Done, Provider: p.label, Paid: p.amount, PaidAt: p.at, Code: "code-" + p.id[3:],
		Server: serverLabel, Identity: mt5Identity, Login: firstLogin + mix(uint64(p.n))%reconLogins, Amount: p.amount,
		Reference: credit.NewReference("test", mt5Identity, credit.KindDeposit, unit), Ticket: ticketOf(p.n), ClaimedAt: p.at.Add(3 * time.Second),
		Trace: p.at.Add(-time.Minute), UpdatedAt: p.at.Add(4 * time.Second),
	}
}

func ticketOf(n int) uint64 { return 10_000_000 + uint64(n)*2 }

func (l *threeLists) rows() iter.Seq2[recon.Row, error] {
	return func(yield func(recon.Row, error) bool) {
		for i := range l.payments {
			if p := l.payment(i); p.fault != faultNoRow && !yield(l.row(p), nil) {
				return
			}
		}
	}
}

func (l *threeLists) deals() iter.Seq2[recon.Deal, error] {
	return func(yield func(recon.Deal, error) bool) {
		for i := range l.payments {
			p := l.payment(i)
			if p.fault == faultNoDeal || p.fault == faultNoRow {
				continue
			}
			r := l.row(p)
			d := recon.Deal{
				Deal: credit.Deal{
					Ticket: r.Ticket, Login: r.Login, Action: credit.ActionBalance, Amount: r.Amount, Comment: string(r.Reference), Dealer: managerLogin,
					ServerTime: p.at.Add(5*time.Second + 2*time.Hour).Unix(),
				},
				Server: serverLabel, Identity: mt5Identity, At: p.at.Add(5 * time.Second),
			}
			switch p.fault {
			case faultAmount:
				d.Amount = l.amounts[(i+1)%distinctSums]
			case faultDamaged:
				d.Ticket, d.Comment = d.Ticket+1, d.Comment[:17]
			case faultLogin:
				d.Login++
			}
			if !yield(d, nil) {
				return
			}
			if d.Ticket++; p.fault == faultTwice && !yield(d, nil) {
				return
			}
		}
	}
}

// rules are those of a run over the month of the lists.
func (l *threeLists) rules() recon.Rules {
	r := recon.Rules{
		From: reconBegin, Until: reconBegin.AddDate(0, 0, 33), Read: reconBegin.AddDate(0, 0, 33), DealsFrom: map[string]time.Time{mt5Identity: reconBegin.AddDate(0, 0, -2)},
		Delay: map[string]time.Duration{},
	}
	for i := range uint64(reconLabels) {
		r.Delay[labelOf(i)] = 3 * 24 * time.Hour
	}
	return r
}

// found is how many items that are no plain match the lists must give.
func (l *threeLists) found() int { return l.payments / faultEvery }
