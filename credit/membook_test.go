package credit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

type loginKey struct {
	server string
	login  uint64
}

type storedAnswer struct {
	answer Answer
	hash   []byte
}

// memBook is an engine of maps under one mutex: every verb is one transaction, decides with the domain's own
// functions and writes all of it or nothing. It holds the unique rules that the domain counts on.
type memBook struct {
	mu       sync.Mutex
	settings Settings
	rows     map[ID]Credit
	history  map[ID][]Entry
	deposits map[string]Deposit
	accounts map[loginKey]Account
	anchors  map[loginKey]Anchor // by identity and login
	answers  map[IdempotencyKey]storedAnswer
	events   []Event
	tasks    []Task
	lowSpace bool
	fault    func(verb string) error // before anything is read; nil: none
}

func newMemBook() *memBook {
	return &memBook{
		settings: Settings{StoreID: "mem", Environment: "live", Mode: ModeLive},
		rows:     map[ID]Credit{}, history: map[ID][]Entry{}, deposits: map[string]Deposit{},
		accounts: map[loginKey]Account{}, anchors: map[loginKey]Anchor{}, answers: map[IdempotencyKey]storedAnswer{},
	}
}

// begin locks the book for one transaction.
func (b *memBook) begin(verb string) (end func(), err error) {
	b.mu.Lock()
	if b.fault != nil {
		if err := b.fault(verb); err != nil {
			b.mu.Unlock()
			return nil, err
		}
	}
	return b.mu.Unlock, nil
}

func (b *memBook) sorted() []Credit {
	return slices.SortedFunc(maps.Values(b.rows), func(x, y Credit) int { return cmp.Compare(x.ID, y.ID) })
}

// write checks every unique rule first and writes only then.
func (b *memBook) write(ch Changes) (opened, closed []Task, err error) {
	for i, rc := range ch.Rows {
		if err := b.admits(rc, ch.Rows[:i]); err != nil {
			return nil, nil, err
		}
	}
	for _, rc := range ch.Rows {
		b.rows[rc.After.ID] = rc.After
		b.history[rc.After.ID] = append(b.history[rc.After.ID], rc.Entries...)
	}
	if ch.Event != nil {
		b.events = append(b.events, *ch.Event)
	}
	if ch.Deposit != nil {
		b.deposits[ch.Deposit.Code] = *ch.Deposit
	}
	if ch.Account != nil {
		b.accounts[loginKey{ch.Account.Server, ch.Account.Login}] = *ch.Account
	}
	for _, c := range ch.Close {
		if i := b.open(c.Key); i >= 0 {
			b.tasks[i].ClosedAt, b.tasks[i].ClosedBy, b.tasks[i].Reason = c.At, c.By, c.Reason
			closed = append(closed, b.tasks[i])
		}
	}
	for _, t := range ch.Open {
		if b.open(t.Key()) < 0 {
			t.ID = TaskID(len(b.tasks) + 1)
			b.tasks = append(b.tasks, t)
			opened = append(opened, t)
		}
	}
	return opened, closed, nil
}

func (b *memBook) admits(rc RowChange, beside []RowChange) error {
	stored, exists := b.rows[rc.After.ID]
	if exists != (rc.Before != nil) {
		return fmt.Errorf("row %d: exists %v, before %v", rc.After.ID, exists, rc.Before != nil)
	}
	if exists && stored.Head != rc.Before.Head {
		return fmt.Errorf("row %d: changed since it was read", rc.After.ID)
	}
	all := b.sorted()
	for _, other := range beside {
		all = append(all, other.After)
	}
	for _, r := range all {
		if r.ID == rc.After.ID {
			continue
		}
		switch {
		case r.Kind == rc.After.Kind && r.Unit == rc.After.Unit:
			return &DuplicateError{"credit by unit", uint64(r.ID)}
		case r.Reference != "" && r.Reference == rc.After.Reference:
			return &DuplicateError{"credit by reference", uint64(r.ID)}
		case r.Ticket != 0 && r.Identity == rc.After.Identity && r.Ticket == rc.After.Ticket:
			return &DuplicateError{"credit by deal", uint64(r.ID)}
		}
	}
	return nil
}

func (b *memBook) open(k TaskKey) int {
	return slices.IndexFunc(b.tasks, func(t Task) bool { return t.Key() == k && t.IsOpen() })
}

func (b *memBook) reversed(u Unit) bool {
	return slices.ContainsFunc(b.events, func(e Event) bool {
		return (e.Facts.Effect == EffectRefund || e.Facts.Effect == EffectDispute) &&
			e.Kind == u.ProviderKind && e.Account == u.Account && e.Facts.Payment == u.Payment
	})
}

func (b *memBook) dayTotal(server string, login uint64, now time.Time) Amount {
	var total Amount
	for _, r := range b.sorted() {
		counts := r.State == Pending || r.State == Claimed || r.State == Unknown || r.State == Done
		if r.Server == server && r.Login == login && counts && r.PendingAt.Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
			total, _ = total.Add(r.Amount)
		}
	}
	return total
}

func (b *memBook) depositAndAccount(code string) (*Deposit, *Account) {
	d, ok := b.deposits[code]
	if !ok {
		return nil, nil
	}
	return &d, b.account(d.Server, d.Login)
}

func (b *memBook) account(server string, login uint64) *Account {
	if a, ok := b.accounts[loginKey{server, login}]; ok {
		return &a
	}
	return nil
}

// Accept implements IntakeBook.
func (b *memBook) Accept(_ context.Context, e Event, rules IntakeRules) (Receipt, error) {
	end, err := b.begin("accept")
	if err != nil {
		return Receipt{}, err
	}
	defer end()
	found := b.intakeFound(e.Needs(), rules)
	ch, err := TakeIn(e, found, rules)
	if err != nil {
		return Receipt{}, err
	}
	if ch.Event == nil {
		return Receipt{Event: found.Prior.ID, Repeat: true}, nil
	}
	opened, closed, err := b.write(ch)
	return Receipt{Event: ch.Event.ID, Rows: ch.Rows, Opened: opened, Closed: closed}, err
}

func (b *memBook) intakeFound(n IntakeNeeds, rules IntakeRules) IntakeFound {
	f := IntakeFound{Settings: b.settings, NextRow: ID(len(b.rows) + 1), NextEvent: EventID(len(b.events) + 1)}
	for _, e := range b.events {
		if e.Provider != n.Provider || e.MessageKey != n.MessageKey {
			continue
		}
		if f.Prior == nil {
			prior := e
			f.Prior = &prior
		}
		f.Variant = f.Variant || e.Digest == n.Digest
	}
	if n.Payment != "" {
		for _, r := range b.sorted() {
			if r.Unit.ProviderKind == n.Kind && r.Unit.Account == n.Account && r.Unit.Payment == n.Payment {
				f.Rows = append(f.Rows, r)
			}
		}
		f.Reversed = b.reversed(Unit{ProviderKind: n.Kind, Account: n.Account, Payment: n.Payment})
	}
	if f.Deposit, f.Account = b.depositAndAccount(n.Code); f.Deposit != nil {
		f.DayTotal = b.dayTotal(f.Deposit.Server, f.Deposit.Login, rules.Now)
	}
	return f
}

// MakeDeposit is the portal's verb.
func (b *memBook) MakeDeposit(n NewDeposit, rules DepositRules) (DepositOutcome, error) {
	end, err := b.begin("deposit")
	if err != nil {
		return DepositOutcome{}, err
	}
	defer end()
	d := n.Deposit
	f := DepositFound{Settings: b.settings, Account: b.account(d.Server, d.Login), Reversed: map[ID]bool{}, DayTotal: b.dayTotal(d.Server, d.Login, rules.Now)}
	if s, ok := b.answers[n.Key]; ok {
		f.Answer, f.Hash = &s.answer, s.hash
	}
	if old, ok := b.deposits[d.Code]; ok {
		f.Existing = &old
	}
	for _, r := range b.sorted() {
		if r.State == Held && !r.Joined() && r.Code == d.Code {
			f.Waiting = append(f.Waiting, r)
			f.Reversed[r.ID] = b.reversed(r.Unit)
		}
	}
	slices.SortStableFunc(f.Waiting, func(x, y Credit) int { return x.PaidAt.Compare(y.PaidAt) })
	out, err := OpenDeposit(n, f, rules)
	if err != nil || !out.Store {
		return out, err
	}
	if _, _, err := b.write(out.Changes); err != nil {
		return DepositOutcome{}, err
	}
	b.answers[n.Key] = storedAnswer{out.Answer, n.InputHash}
	return out, nil
}

// PutAccount is the verb that registers a login.
func (b *memBook) PutAccount(a Account, actor string, now time.Time) error {
	end, err := b.begin("account")
	if err != nil {
		return err
	}
	defer end()
	f := AccountFound{Prior: b.account(a.Server, a.Login)}
	for _, r := range b.sorted() {
		if r.Server == a.Server && r.Login == a.Login && (r.State == Pending || r.State.Open()) {
			f.Open = append(f.Open, r)
		}
	}
	ch, err := ChangeAccount(a, f, actor, now)
	if err != nil {
		return err
	}
	_, _, err = b.write(ch)
	return err
}

// check verifies every history and the rules that hold at any moment.
func (b *memBook) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.sorted() {
		if err := CheckChain(r, b.history[r.ID]); err != nil {
			t.Errorf("%v", err)
		}
		if (r.State == Held) != (len(r.Holds) > 0) {
			t.Errorf("credit %d is %s with holds %v", r.ID, r.State, r.Holds)
		}
		if r.State == Done && r.Ticket == 0 {
			t.Errorf("credit %d is done without a ticket", r.ID)
		}
	}
}
