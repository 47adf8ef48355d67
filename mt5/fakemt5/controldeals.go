package fakemt5

import (
	"errors"
	"fmt"
)

// ManualDeal is a deal that somebody books by hand, as in a manager terminal.
type ManualDeal struct {
	Login  uint64 `json:"login"`
	Action int    `json:"action"` // 2 and above; trading deals come from Seed
	// Amount is signed decimal text in the account's currency.
	Amount  string `json:"amount"`
	Comment string `json:"comment,omitempty"` // cut like any other
	Dealer  uint64 `json:"dealer,omitempty"`
	// TimeMsc is the server's wall clock in milliseconds; now when 0.
	TimeMsc int64 `json:"time_msc,omitempty"`
	// Ticket is given by the server when 0.
	Ticket uint64 `json:"ticket,omitempty"`
	// Detached writes the deal without moving the balance (mt5-webapi.md §6, DealAdd).
	Detached     bool     `json:"detached,omitempty"`
	VisibleAfter Duration `json:"visible_after,omitempty"`
}

const lastAction = 20 // SO_COMPENSATION_CREDIT, mt5-webapi.md §5

func (s *Server) ctlAddDeal(d ManualDeal) (JournalEntry, error) {
	if d.Action < actionBalance || d.Action > lastAction {
		return JournalEntry{}, fmt.Errorf("deal: action %d is outside 2..%d", d.Action, lastAction)
	}
	if d.VisibleAfter < 0 || d.TimeMsc < 0 || d.Ticket > 1<<62 {
		return JournalEntry{}, errors.New("deal: time_msc, visible_after or ticket is out of range")
	}
	return s.book.addManual(d)
}

// addManual books a deal without the limits of a balance operation.
func (b *book) addManual(d ManualDeal) (JournalEntry, error) {
	b.trade.Lock()
	defer b.trade.Unlock()
	v, ok := b.find(d.Login)
	if !ok {
		return JournalEntry{}, fmt.Errorf("deal: unknown login %d", d.Login)
	}
	minor, err := parseMinor(d.Amount, v.group.Digits)
	if err != nil {
		return JournalEntry{}, fmt.Errorf("deal: amount %q: %w", d.Amount, err)
	}
	now := b.wall.utc()
	if d.TimeMsc == 0 {
		d.TimeMsc = b.wall.serverMsc(now)
	}
	e := b.entry(d.Login, v.group, d.Action, minor, d.TimeMsc)
	if d.Ticket != 0 {
		if _, taken := b.deal(d.Ticket); taken {
			return JournalEntry{}, fmt.Errorf("deal: ticket %d exists", d.Ticket)
		}
		e.Ticket = d.Ticket
	}
	e.Comment, e.Dealer, e.Source, e.Detached = cutComment(d.Comment), d.Dealer, SourceManual, d.Detached
	if d.VisibleAfter > 0 {
		e.VisibleFrom = now.Add(d.VisibleAfter.std())
	}
	return e, b.commit(line{Event: eventDeal, JournalEntry: &e})
}

// DealEdit changes a deal as a manager may; absent fields stay. The balance does not
// follow (mt5-webapi.md Traps 17) and ModifyFlags becomes non-zero.
type DealEdit struct {
	Ticket  uint64  `json:"ticket"`
	Login   *uint64 `json:"login,omitempty"`
	Action  *int    `json:"action,omitempty"`
	Amount  *string `json:"amount,omitempty"`
	Comment *string `json:"comment,omitempty"`
	Dealer  *uint64 `json:"dealer,omitempty"`
	TimeMsc *int64  `json:"time_msc,omitempty"`
}

func (s *Server) ctlEditDeal(d DealEdit) (JournalEntry, error) {
	b := s.book
	b.trade.Lock()
	defer b.trade.Unlock()
	e, ok := b.deal(d.Ticket)
	if !ok {
		return JournalEntry{}, fmt.Errorf("edit deal: unknown ticket %d", d.Ticket)
	}
	if err := d.change(&e, b); err != nil {
		return JournalEntry{}, fmt.Errorf("edit deal %d: %w", d.Ticket, err)
	}
	e.ModifyFlags |= 1
	return e, b.commit(line{Event: eventEdit, JournalEntry: &e})
}

func (d DealEdit) change(e *JournalEntry, b *book) error {
	if d.Login != nil {
		v, ok := b.find(*d.Login)
		if !ok || v.group.Digits != e.Digits {
			return fmt.Errorf("login %d is unknown or of other digits", *d.Login)
		}
		e.Login, e.Currency = *d.Login, v.group.Currency
	}
	if d.Action != nil {
		if *d.Action < 0 || *d.Action > lastAction {
			return fmt.Errorf("action %d is outside 0..%d", *d.Action, lastAction)
		}
		e.Action = *d.Action
	}
	if d.Amount != nil {
		minor, err := parseMinor(*d.Amount, e.Digits)
		if err != nil {
			return fmt.Errorf("amount %q: %w", *d.Amount, err)
		}
		e.Minor, e.Amount = minor, formatMinor(minor, e.Digits)
	}
	if d.Comment != nil {
		e.Comment = cutComment(*d.Comment)
	}
	if d.Dealer != nil {
		e.Dealer = *d.Dealer
	}
	if d.TimeMsc != nil {
		e.ServerMsc, e.ServerTime, e.UTC = *d.TimeMsc, serverText(*d.TimeMsc), b.wall.utcOfServerMsc(*d.TimeMsc)
	}
	return nil
}

// deleteDeal takes a deal out of the history; the balance does not follow.
func (b *book) deleteDeal(ticket uint64) error {
	b.trade.Lock()
	defer b.trade.Unlock()
	e, ok := b.deal(ticket)
	if !ok {
		return fmt.Errorf("delete deal: unknown ticket %d", ticket)
	}
	return b.commit(line{Event: eventDelete, JournalEntry: &e})
}

// ctlDeals lists the deals of a login, or of all for 0, visible or not.
func (s *Server) ctlDeals(login uint64) ([]JournalEntry, error) {
	if login != 0 {
		rows, _ := s.book.dealsIn(allTime(login))
		return rows, nil
	}
	out := []JournalEntry{}
	for _, v := range s.book.list() {
		rows, _ := s.book.dealsIn(allTime(v.Login))
		out = append(out, rows...)
	}
	return out, nil
}

// Seed asks for trading deals on a login, spread over the time before now. The same
// Number gives the same deals.
type Seed struct {
	Login  uint64   `json:"login"`
	Count  int      `json:"count"`
	Number uint64   `json:"number,omitempty"`
	Over   Duration `json:"over,omitempty"`
}

// Tickets are the deals that a call made.
type Tickets struct {
	Tickets []uint64 `json:"tickets"`
}

func (s *Server) ctlSeed(in Seed) (Tickets, error) {
	tickets, err := s.book.seedDeals(in.Login, in.Count, in.Number, in.Over.std())
	return Tickets{tickets}, err
}

// AccountChange changes an account that exists; absent fields stay.
type AccountChange struct {
	Login  uint64  `json:"login"`
	Group  *string `json:"group,omitempty"`
	Margin *int64  `json:"margin,omitempty"`
	Rights *uint64 `json:"rights,omitempty"`
	Name   *string `json:"name,omitempty"`
}

func (s *Server) ctlChangeAccount(c AccountChange) (AccountState, error) {
	v, ok := s.book.find(c.Login)
	if !ok {
		return AccountState{}, fmt.Errorf("change account: unknown login %d", c.Login)
	}
	a := v.Account
	if c.Group != nil {
		a.Group = *c.Group
	}
	if c.Margin != nil {
		a.Margin = *c.Margin
	}
	if c.Rights != nil {
		a.Rights = c.Rights
	}
	if c.Name != nil {
		a.Name = *c.Name
	}
	return s.ctlPutAccount(a)
}
