package invariant

import (
	"math/big"

	"creditonce/credit"
)

func moneyRules() []Invariant {
	return []Invariant{
		{"I-M1", "a unit has at most one deal of ours under its reference", Deals | Rows, oneDeal},
		{"I-M2", "a call and a deal of ours have the login, the server, the action and the exact signed amount of their unit", Rows, rightMoney},
		{"I-M3", "no call and no deal of ours without a unit that was claimed before, one claim a call", Rows, claimedFirst},
		{"I-M4", "a done row has one verified deal, which is on no other row", Rows, doneHasDeal},
		{"I-M5", "a failed row has no deal of ours", Deals | Rows, failedHasNone},
		{"I-M9", "what a unit is about never changes once it is written", Rows, unitStays},
		{"I-M10", "on each login our deals add up to what is done, plus what is in doubt and exists", Deals | Rows, conserved},
		{"I-M12", "a payment is taken once and as its deposit promises: no unit and no deposit twice, without people nothing but what was to be paid, in time, and nothing is called for after a refund or dispute is known", Rows, takenOnce},
	}
}

func oneDeal(v *view) {
	for _, ref := range v.m.marks {
		n, last := 0, -1
		for _, i := range v.m.dealsBy[ref] {
			if !v.w.Deals[i].Gone {
				n, last = n+1, i
			}
		}
		row, s := v.unit(ref)
		if n < 2 || (s == nil && !v.claimsToBeOurs(ref)) {
			continue
		}
		d := &v.w.Deals[last]
		v.faulted[account{d.Server, d.Login}] = true
		v.find(v.ids(row), "%d deals of ours carry the reference %s, the last one %d on login %d over %s", n, ref, d.Ticket, d.Login, d.Amount)
	}
}

// claimsToBeOurs tells that a text has the form of a reference: several deals without a comment are none of a unit.
func (v *view) claimsToBeOurs(ref string) bool {
	return len(ref) == 22 && ref[3] == ':' && remainder([]byte(ref[:20])) == uint(place(ref[20])<<5|place(ref[21]))
}

func place(c byte) int {
	for i := range len(alphabet) {
		if alphabet[i] == c {
			return i
		}
	}
	return -1
}

// ids is the row as a list; none for -1.
func (v *view) ids(row int) []credit.ID {
	if row < 0 {
		return nil
	}
	return []credit.ID{v.w.Rows[row].Credit.ID}
}

func rightMoney(v *view) {
	if v.w.has(Calls) {
		for i := v.m.calls; i < len(v.w.Calls); i++ {
			c := &v.w.Calls[i]
			if row, s := v.unit(c.Reference); s != nil && (c.Login != s.login || c.Server != s.identity || !same(c.Amount, v.amountOf(row, s))) {
				v.faulted[account{c.Server, c.Login}], v.faulted[account{s.identity, s.login}] = true, true
				v.find(v.ids(row), "a call for %s on login %d of %s over %s, its unit is login %d of %s over %s",
					c.Reference, c.Login, c.Server, c.Amount, s.login, s.identity, v.amountOf(row, s))
			}
		}
	}
	if !v.w.has(Deals) {
		return
	}
	for i := v.m.deals; i < len(v.w.Deals); i++ {
		d := &v.w.Deals[i]
		if d.Altered || d.Dealer != v.w.Dealer {
			continue
		}
		row, s := v.unit(mark(d))
		if s == nil || (d.Login == s.login && d.Server == s.identity && d.Action == 2 && same(d.Amount, v.amountOf(row, s))) {
			continue
		}
		v.faulted[account{d.Server, d.Login}], v.faulted[account{s.identity, s.login}] = true, true
		v.find(v.ids(row), "deal %d under %s is on login %d of %s with action %d over %s, its unit is login %d of %s, action 2, %s",
			d.Ticket, mark(d), d.Login, d.Server, d.Action, d.Amount, s.login, s.identity, v.amountOf(row, s))
	}
}

// amountOf is what the deal of a unit must have: the row's own amount, or what was remembered of it.
func (v *view) amountOf(row int, s *seen) credit.Amount {
	if row < 0 {
		return s.amount
	}
	return signed(s.kind, v.w.Rows[row].Credit.Amount)
}

func doneHasDeal(v *view) {
	type place struct {
		identity string
		ticket   uint64
	}
	holder := make(map[place]credit.ID, len(v.w.Rows))
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		if c.Ticket != 0 {
			if other, taken := holder[place{c.Identity, c.Ticket}]; taken {
				v.find([]credit.ID{other, c.ID}, "deal %d of %s is on two rows", c.Ticket, c.Identity)
			}
			holder[place{c.Identity, c.Ticket}] = c.ID
		}
		if (c.State == "done") != (c.Ticket != 0) {
			v.row(i, "credit %d is %s with the ticket %d", c.ID, c.State, c.Ticket)
			continue
		}
		if c.State == "done" {
			v.doneRow(i)
		}
	}
}

// doneRow compares a done row with the deal that its last move verified, and with MT5's own.
func (v *view) doneRow(i int) {
	r, s := &v.w.Rows[i], v.seen[i]
	c := &r.Credit
	last := lastMoveTo(r.History, "done")
	if last == nil || last.Evidence == nil || last.Evidence.Deal == nil {
		v.row(i, "credit %d is done, and no read of its deal is in its history", c.ID)
		return
	}
	adopted := last.By == "two people"
	read := last.Evidence.Deal
	if read.Ticket != c.Ticket || read.Login != s.login || read.Action != 2 || !same(read.Amount, v.amountOf(i, s)) || (!adopted && read.Comment != s.reference) {
		v.row(i, "credit %d is done with deal %d, and what was read of it is deal %d on login %d, action %d, %s, comment %q",
			c.ID, c.Ticket, read.Ticket, read.Login, read.Action, read.Amount, read.Comment)
		return
	}
	if !v.w.has(Deals) {
		return
	}
	at, known := v.m.ticket[ticketKey{s.identity, c.Ticket}]
	if !known {
		v.fault(s)
		v.row(i, "credit %d is done with deal %d, which MT5 never made", c.ID, c.Ticket)
		return
	}
	d := &v.w.Deals[at]
	if d.Gone || v.m.reused[ticketKey{s.identity, c.Ticket}] || v.faulted[account{s.identity, s.login}] {
		return // of a server that was restored, the deal may have been the earlier one with the ticket
	}
	if !d.Altered && (d.Login != s.login || d.Action != 2 || !same(d.Amount, v.amountOf(i, s))) {
		v.fault(s)
		v.row(i, "credit %d is done with deal %d, which MT5 has on login %d with action %d over %s", c.ID, c.Ticket, d.Login, d.Action, d.Amount)
		return
	}
	for _, j := range v.m.dealsBy[s.reference] {
		if o := &v.w.Deals[j]; !o.Gone && mark(d) != s.reference {
			v.fault(s)
			v.row(i, "credit %d is done with deal %d, and deal %d was made for it too", c.ID, c.Ticket, o.Ticket)
		}
	}
}

func (v *view) fault(s *seen) { v.faulted[account{s.identity, s.login}] = true }

func lastMoveTo(h []credit.Entry, to credit.State) *credit.Entry {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].To == to && h[i].From != to {
			return &h[i]
		}
	}
	return nil
}

func failedHasNone(v *view) {
	for i := range v.w.Rows {
		c, s := &v.w.Rows[i].Credit, v.seen[i]
		if c.State != "failed" || !s.joined || c.Restored || len(v.w.Restores) > 0 {
			continue // an older store may say failed of what was tried again after it
		}
		for _, j := range v.m.dealsBy[s.reference] {
			if d := &v.w.Deals[j]; !d.Gone && !d.Foreign {
				v.fault(s)
				v.row(i, "credit %d is failed, and MT5 made deal %d for it", c.ID, d.Ticket)
			}
		}
	}
}

// unitStays compares a row with what it was, with its unit's reference and with its deposit.
func unitStays(v *view) {
	for i := range v.w.Rows {
		c, s := &v.w.Rows[i].Credit, v.seen[i]
		if c.Kind != s.kind || c.Unit != s.unit || !same(c.Paid, s.paid) {
			v.row(i, "credit %d was %s of %v over %s, now it is %s of %v over %s", c.ID, s.kind, s.unit, s.paid, c.Kind, c.Unit, c.Paid)
		}
		if !s.joined {
			continue
		}
		if c.Deposit != s.deposit || c.Identity != s.identity || c.Login != s.login {
			v.row(i, "credit %d was for deposit %s, login %d of %s, now for deposit %s, login %d of %s",
				c.ID, s.deposit, s.login, s.identity, c.Deposit, c.Login, c.Identity)
		}
		if string(c.Reference) != s.reference {
			v.row(i, "credit %d has the reference %s, its unit gives %s", c.ID, c.Reference, s.reference)
		}
		if now := signed(s.kind, c.Amount); !same(now, s.amount) {
			if !c.Fixed || c.Attempt > 0 {
				v.row(i, "credit %d was over %s, now it is over %s", c.ID, s.amount, now)
			}
			s.amount = now
		}
		v.likeDeposit(i)
	}
}

// likeDeposit sees that the deposit alone decided login and amount.
func (v *view) likeDeposit(i int) {
	c := &v.w.Rows[i].Credit
	at, ok := v.codes[c.Deposit]
	if !ok {
		if !v.w.Part && v.w.has(Deposits) {
			v.row(i, "credit %d is for deposit %s, which does not exist", c.ID, c.Deposit)
		}
		return
	}
	d := &v.w.Deposits[at]
	less := c.Fixed && c.Amount.Currency() == d.Credited.Currency() && c.Amount.Sign() > 0 && fine(c.Amount).Cmp(fine(d.Credited)) <= 0
	if d.Login != c.Login || d.Identity != c.Identity || d.Client != c.Client || (!less && !same(c.Amount, d.Credited)) {
		v.row(i, "credit %d is login %d of %s, client %s, %s; its deposit says login %d of %s, client %s, %s",
			c.ID, c.Login, c.Identity, c.Client, c.Amount, d.Login, d.Identity, d.Client, d.Credited)
	}
}

// conserved adds up each login on both sides.
func conserved(v *view) {
	for _, a := range v.m.accounts {
		if v.faulted[a] {
			continue
		}
		made, owed := new(big.Int), new(big.Int)
		var rows []credit.ID
		for _, j := range v.m.dealsOn[a] {
			d := &v.w.Deals[j]
			if d.Gone || d.Altered {
				continue
			}
			row, _ := v.unit(mark(d))
			if row < 0 && (d.Foreign || v.w.restored(j, func(r Restore) int { return r.Deals })) {
				continue // the store that made it is not this one
			}
			made.Add(made, fine(d.Amount))
			if row >= 0 && v.accounts(row, d) {
				owed.Add(owed, fine(v.amountOf(row, v.seen[row])))
			} else {
				rows = append(rows, v.ids(row)...)
			}
		}
		if made.Cmp(owed) != 0 {
			v.find(rows, "login %d of %s has deals of ours over %s, its rows account for %s (in 10^-18 of its currency)", a.login, a.identity, made, owed)
		}
	}
}

// accounts tells that the row explains the deal: it is done with it, or in doubt about it.
func (v *view) accounts(row int, d *Deal) bool {
	c := &v.w.Rows[row].Credit
	switch c.State {
	case "done":
		return c.Ticket == d.Ticket
	case "claimed", "unknown":
		return true
	case "cancelled":
		return false
	default:
		return d.Foreign || c.Restored || len(v.w.Restores) > 0
	}
}

// takenOnce sees that a payment makes one unit a part, a deposit one unheld row, and a refund an end.
func takenOnce(v *view) {
	taken := make(map[string]credit.ID, len(v.w.Rows))
	for i := range v.w.Rows {
		c, s := &v.w.Rows[i].Credit, v.seen[i]
		if first := v.byUnit[unitKey{c.Kind, c.Unit}]; first != i {
			v.find([]credit.ID{v.w.Rows[first].Credit.ID, c.ID}, "%s part %q has two rows", c.Unit.Payment, c.Unit.Part)
		}
		if s.joined && moving(c.State) && !s.people {
			if other, ok := taken[c.Deposit]; ok {
				v.find([]credit.ID{other, c.ID}, "deposit %s is credited by two rows, and nobody released the second", c.Deposit)
			}
			taken[c.Deposit] = c.ID
		}
		v.asPromised(i)
		v.afterReversal(i)
	}
}

// asPromised sees that what goes on without people was paid as the deposit wanted; I-M9 compares what is credited.
func (v *view) asPromised(i int) {
	c, s := &v.w.Rows[i].Credit, v.seen[i]
	at, known := v.codes[c.Deposit]
	if !known || !s.joined || !moving(c.State) || s.people {
		return
	}
	d := &v.w.Deposits[at]
	switch {
	case !same(c.Paid, d.Paid):
		v.row(i, "credit %d goes on by itself: %s was paid, and deposit %s wants %s", c.ID, c.Paid, d.Code, d.Paid)
	case c.Provider != d.Provider:
		v.row(i, "credit %d goes on by itself: it came from %s, and deposit %s names %s", c.ID, c.Provider, d.Code, d.Provider)
	case c.PaidAt.After(d.ExpiresAt):
		v.row(i, "credit %d goes on by itself: it was paid after deposit %s had expired", c.ID, d.Code)
	case !d.ClosedAt.IsZero() && c.PaidAt.After(d.ClosedAt):
		v.row(i, "credit %d goes on by itself: it was paid after deposit %s was closed", c.ID, d.Code)
	}
}

// moving tells that a row of the state pays, has paid or may have paid.
func moving(s credit.State) bool {
	return s == "pending" || s == "claimed" || s == "unknown" || s == "done"
}

// afterReversal sees that no new claim follows a refund or dispute that the store knew.
func (v *view) afterReversal(i int) {
	c := &v.w.Rows[i].Credit
	p := payment{c.Unit.ProviderKind, c.Unit.Account, c.Unit.Payment}
	for _, e := range v.newClaims(i) {
		late := v.m.reversed[p]
		if !v.m.began && v.w.OneClock {
			for j := range v.w.Events {
				ev := &v.w.Events[j]
				if v.reversed[p] && (payment{ev.Kind, ev.Account, ev.Facts.Payment}) == p &&
					(ev.Facts.Effect == "refund" || ev.Facts.Effect == "dispute") && e.At.After(ev.ReceivedAt.Add(slack)) {
					late = true
				}
			}
		}
		if late {
			v.row(i, "credit %d was claimed although a refund or dispute of payment %s was known", c.ID, c.Unit.Payment)
		}
	}
}
