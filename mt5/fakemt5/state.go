package fakemt5

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// book holds groups, accounts and deals. Everything that changes them goes through
// trade, one at a time, and reaches the journal before it reaches the memory; reads
// share mu and never wait for the disk.
type book struct {
	wall         *wallClock
	journal      *journal
	visibleAfter time.Duration

	trade sync.Mutex // serialises changes; taken before mu
	mu    sync.RWMutex

	groups     map[string]Group
	accounts   map[uint64]*account
	deals      map[uint64]*JournalEntry
	byLogin    map[uint64][]*JournalEntry // oldest first: by time, then ticket
	nextTicket uint64
}

// account is an Account as it stands now. Its Balance and Credit are those of the
// opening; balance and credit are the current ones.
type account struct {
	Account
	balance, credit int64
	active          bool // a deal since the start of the server
}

func newBook(wall *wallClock, j *journal, first uint64, visibleAfter time.Duration) *book {
	return &book{
		wall: wall, journal: j, visibleAfter: visibleAfter, nextTicket: first,
		groups: map[string]Group{}, accounts: map[uint64]*account{},
		deals: map[uint64]*JournalEntry{}, byLogin: map[uint64][]*JournalEntry{},
	}
}

// replay restores the state from the lines of an existing journal.
func (b *book) replay(lines []line) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range lines {
		if err := b.apply(l); err != nil {
			return fmt.Errorf("replay journal line %d: %w", l.Seq, err)
		}
	}
	for _, a := range b.accounts {
		a.active = false
	}
	return nil
}

// commit journals the lines and then applies them. The caller holds trade.
func (b *book) commit(lines ...line) error {
	if err := b.journal.append(lines...); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range lines {
		if err := b.apply(l); err != nil {
			return err
		}
	}
	return nil
}

// apply changes the memory as one line says. The caller holds mu.
func (b *book) apply(l line) error {
	switch l.Event {
	case eventGroup:
		if l.Group == nil {
			return errors.New("group line without a group")
		}
		b.groups[l.Group.Name] = *l.Group
		return nil
	case eventAccount:
		if l.Account == nil {
			return errors.New("account line without an account")
		}
		return b.applyAccount(*l.Account)
	}
	if l.JournalEntry == nil {
		return fmt.Errorf("event %q without its data", l.Event)
	}
	switch l.Event {
	case eventDeal:
		return b.applyDeal(*l.JournalEntry)
	case eventEdit:
		b.dropDeal(l.Ticket)
		b.insertDeal(*l.JournalEntry)
	case eventDelete:
		b.dropDeal(l.Ticket)
	case eventRemove:
		delete(b.accounts, l.Login)
	case eventFix:
		a := b.accounts[l.Login]
		if a == nil {
			return fmt.Errorf("fix of unknown login %d", l.Login)
		}
		if l.Action == actionCredit {
			a.credit = l.Minor
		} else {
			a.balance = l.Minor
		}
	default:
		return fmt.Errorf("unknown event %q", l.Event)
	}
	return nil
}

// applyAccount makes the account or changes its attributes; money comes from deals,
// and from the opening values only for an account without history.
func (b *book) applyAccount(a Account) error {
	if old := b.accounts[a.Login]; old != nil {
		old.Account = a
		return nil
	}
	made := &account{Account: a}
	if a.NoHistory {
		made.balance, made.credit = a.Balance, a.Credit
	}
	for _, d := range b.byLogin[a.Login] {
		if balance, credit := d.moves(); !d.Detached {
			made.balance += balance
			made.credit += credit
		}
	}
	b.accounts[a.Login] = made
	return nil
}

func (b *book) applyDeal(e JournalEntry) error {
	a := b.accounts[e.Login]
	if a == nil {
		return fmt.Errorf("deal %d of unknown login %d", e.Ticket, e.Login)
	}
	if b.deals[e.Ticket] != nil {
		return fmt.Errorf("deal %d exists already", e.Ticket)
	}
	if !e.Detached {
		balance, credit := e.moves()
		a.balance += balance
		a.credit += credit
	}
	a.active = a.active || e.Source != SourceSeed
	b.insertDeal(e)
	return nil
}

// moves is what the deal does to balance and credit.
func (e JournalEntry) moves() (balance, credit int64) {
	if e.Action == actionCredit {
		return 0, e.Minor
	}
	if e.Trade != nil {
		return e.Minor + e.Trade.Commission, 0
	}
	return e.Minor, 0
}

func dealOrder(a, b *JournalEntry) int {
	return cmp.Or(cmp.Compare(a.ServerMsc, b.ServerMsc), cmp.Compare(a.Ticket, b.Ticket))
}

func (b *book) insertDeal(e JournalEntry) {
	d := &e
	b.deals[d.Ticket] = d
	list := b.byLogin[d.Login]
	at, _ := slices.BinarySearchFunc(list, d, dealOrder)
	b.byLogin[d.Login] = slices.Insert(list, at, d)
	if d.Ticket >= b.nextTicket {
		b.nextTicket = d.Ticket + 1
	}
}

func (b *book) dropDeal(ticket uint64) {
	d := b.deals[ticket]
	if d == nil {
		return
	}
	delete(b.deals, ticket)
	b.byLogin[d.Login] = slices.DeleteFunc(b.byLogin[d.Login], func(o *JournalEntry) bool { return o == d })
}

// view is an account with its group, copied so that it can be read without a lock.
type view struct {
	account
	group Group
}

// find returns the account and its group.
func (b *book) find(login uint64) (view, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	a := b.accounts[login]
	if a == nil {
		return view{}, false
	}
	return view{*a, b.groups[a.Group]}, true
}

// list returns all accounts in order of login.
func (b *book) list() []view {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make([]view, 0, len(b.accounts))
	for _, a := range b.accounts {
		all = append(all, view{*a, b.groups[a.Group]})
	}
	slices.SortFunc(all, func(x, y view) int { return cmp.Compare(x.Login, y.Login) })
	return all
}

func (b *book) groupList() []Group {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make([]Group, 0, len(b.groups))
	for _, g := range b.groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(x, y Group) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// window asks for the deals of a login with from <= time <= to in server seconds that
// are visible at now; rows before offset and after limit are only counted.
type window struct {
	login         uint64
	from, to      int64
	now           time.Time
	offset, limit int
}

const allRows = int(^uint(0) >> 1)

// dealsIn returns the rows asked for, oldest first, and how many the window has.
func (b *book) dealsIn(w window) (rows []JournalEntry, total int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := b.byLogin[w.login]
	first, _ := slices.BinarySearchFunc(list, w.from, func(d *JournalEntry, from int64) int {
		return cmp.Compare(floorSecond(d.ServerMsc), from)
	})
	for _, d := range list[first:] {
		if floorSecond(d.ServerMsc) > w.to {
			break
		}
		if d.VisibleFrom.After(w.now) {
			continue
		}
		if total >= w.offset && len(rows) < w.limit {
			rows = append(rows, *d)
		}
		total++
	}
	return rows, total
}

func floorSecond(msc int64) int64 {
	s := msc / 1000
	if msc%1000 < 0 {
		s--
	}
	return s
}

// deal returns a deal by ticket, visible or not.
func (b *book) deal(ticket uint64) (JournalEntry, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	d := b.deals[ticket]
	if d == nil {
		return JournalEntry{}, false
	}
	return *d, true
}

// historySums adds up what the deals of a login say balance and credit should be.
func (b *book) historySums(login uint64) (balance, credit int64) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, d := range b.byLogin[login] {
		m, c := d.moves()
		balance, credit = balance+m, credit+c
	}
	return balance, credit
}
