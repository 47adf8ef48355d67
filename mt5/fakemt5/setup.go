package fakemt5

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"
)

const defaultAge = 90 * 24 * time.Hour

// populate brings the world's groups and accounts into the book. What the journal
// already knows keeps its money and only takes over the attributes.
func (b *book) populate(w World) error {
	for _, g := range w.Groups {
		if err := b.putGroup(g); err != nil {
			return err
		}
	}
	seen := map[uint64]bool{}
	for _, a := range w.Accounts {
		if seen[a.Login] {
			return fmt.Errorf("account %d is listed twice", a.Login)
		}
		seen[a.Login] = true
		if err := b.putAccount(a); err != nil {
			return err
		}
	}
	return nil
}

// putGroup adds a group or changes it. Digits of a group with accounts stay as they are.
func (b *book) putGroup(g Group) error {
	if err := g.validate(); err != nil {
		return err
	}
	if g.Permissions == 0 {
		g.Permissions = 2
	}
	b.trade.Lock()
	defer b.trade.Unlock()
	b.mu.RLock()
	old, exists := b.groups[g.Name]
	used := false
	for _, a := range b.accounts {
		used = used || a.Group == g.Name
	}
	b.mu.RUnlock()
	if exists && used && old.Digits != g.Digits {
		return fmt.Errorf("group %q: it has accounts, its digits stay %d", g.Name, old.Digits)
	}
	if exists && old == g {
		return nil
	}
	return b.commit(line{Event: eventGroup, Group: &g})
}

// putAccount adds an account with its opening and seeded deals, or changes the
// attributes of one that exists. One that was removed comes back with its history.
func (b *book) putAccount(a Account) error {
	if err := a.validate(); err != nil {
		return err
	}
	b.trade.Lock()
	defer b.trade.Unlock()
	b.mu.RLock()
	group, known := b.groups[a.Group]
	var current Group
	old, exists := b.accounts[a.Login]
	history := len(b.byLogin[a.Login])
	if exists {
		current = b.groups[old.Group]
	}
	b.mu.RUnlock()
	if !known {
		return fmt.Errorf("account %d: unknown group %q", a.Login, a.Group)
	}
	if a.Registration == 0 {
		a.Registration = floorSecond(b.wall.serverMsc(b.wall.utc().Add(-defaultAge)))
		if exists {
			a.Registration = old.Registration
		}
	}
	if exists && history > 0 && current.Digits != group.Digits {
		return fmt.Errorf("account %d: it has deals, its currency keeps %d digits", a.Login, current.Digits)
	}
	if exists && reflect.DeepEqual(old.Account, a) {
		return nil
	}
	lines := []line{{Event: eventAccount, Account: &a}}
	if !exists && history == 0 {
		lines = append(lines, b.openingDeals(a, group)...)
		lines = append(lines, b.seedLines(seedPlan{
			login: a.Login, group: group, count: a.SeedDeals, number: a.SeedNumber, balance: a.Balance,
			from: time.Unix(a.Registration+1, 0), to: time.UnixMilli(b.wall.serverMsc(b.wall.utc())),
		}, uint64(len(lines)-1))...)
	}
	return b.commit(lines...)
}

// removeAccount makes a login unknown; its deals stay in the history.
func (b *book) removeAccount(login uint64) error {
	b.trade.Lock()
	defer b.trade.Unlock()
	if _, ok := b.find(login); !ok {
		return fmt.Errorf("unknown login %d", login)
	}
	return b.commit(line{Event: eventRemove, JournalEntry: &JournalEntry{Login: login}})
}

// openingDeals are the deals that explain the money an account has from the start.
func (b *book) openingDeals(a Account, g Group) []line {
	var lines []line
	for _, o := range []struct {
		action  int
		minor   int64
		comment string
	}{{actionBalance, a.Balance, "opening balance"}, {actionCredit, a.Credit, "opening credit"}} {
		if o.minor == 0 || a.NoHistory {
			continue
		}
		e := b.entry(a.Login, g, o.action, o.minor, a.Registration*1000)
		e.Ticket += uint64(len(lines))
		e.Comment, e.Source = o.comment, SourceSeed
		lines = append(lines, line{Event: eventDeal, JournalEntry: &e})
	}
	return lines
}

// entry is a deal with the next ticket, at a server time.
func (b *book) entry(login uint64, g Group, action int, minor, msc int64) JournalEntry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return JournalEntry{
		Ticket: b.nextTicket, Login: login, Action: action, Minor: minor,
		Amount: formatMinor(minor, g.Digits), Digits: g.Digits, Currency: g.Currency,
		ServerMsc: msc, ServerTime: serverText(msc), UTC: b.wall.utcOfServerMsc(msc),
	}
}

// seedPlan asks for count trading deals of one login, spread evenly from..to in
// server time. The same number always gives the same deals.
type seedPlan struct {
	login    uint64
	group    Group
	count    int
	number   uint64
	balance  int64 // before the first deal; the deals never take it below zero
	from, to time.Time
}

// seedLines makes the deals; ahead is how many tickets the same commit uses before.
func (b *book) seedLines(p seedPlan, ahead uint64) []line {
	rng := rand.New(rand.NewPCG(p.number, p.login))
	symbols := []string{"EURUSD", "GBPUSD", "XAUUSD", "USDJPY"}
	unit := pow10(p.group.Digits)
	span := max(p.to.UnixMilli()-p.from.UnixMilli(), 0)
	lines := make([]line, 0, p.count)
	var position uint64
	for i := range p.count {
		msc := p.from.UnixMilli() + span*int64(i)/int64(p.count)
		e := b.entry(p.login, p.group, rng.IntN(2), 0, msc)
		e.Ticket += ahead + uint64(i)
		e.Source = SourceSeed
		e.Trade = &Trade{
			Symbol: symbols[rng.IntN(len(symbols))], Entry: i % 2,
			Volume: uint64(1+rng.IntN(50)) * 100, Price: 100_000 + rng.Int64N(50_000),
		}
		if e.Trade.Entry == 0 {
			position = e.Ticket
		} else {
			e.Minor = rng.Int64N(400*unit) - 200*unit
			if p.balance+e.Minor < 0 {
				e.Minor = -e.Minor
			}
			e.Amount = formatMinor(e.Minor, p.group.Digits)
		}
		e.Trade.Position = position
		p.balance += e.Minor
		lines = append(lines, line{Event: eventDeal, JournalEntry: &e})
	}
	return lines
}

// seedDeals adds count trading deals to an account over the last span of time.
func (b *book) seedDeals(login uint64, count int, number uint64, over time.Duration) ([]uint64, error) {
	if count < 1 || count > 100_000 {
		return nil, fmt.Errorf("count %d is outside 1..100000", count)
	}
	if over < 0 {
		return nil, errors.New("the span is negative")
	}
	b.trade.Lock()
	defer b.trade.Unlock()
	v, ok := b.find(login)
	if !ok {
		return nil, fmt.Errorf("unknown login %d", login)
	}
	now := b.wall.utc()
	lines := b.seedLines(seedPlan{
		login: login, group: v.group, count: count, number: number, balance: v.balance,
		from: time.UnixMilli(b.wall.serverMsc(now.Add(-over))), to: time.UnixMilli(b.wall.serverMsc(now)),
	}, 0)
	if err := b.commit(lines...); err != nil {
		return nil, err
	}
	tickets := make([]uint64, len(lines))
	for i, l := range lines {
		tickets[i] = l.Ticket
	}
	return tickets, nil
}
