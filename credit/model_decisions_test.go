package credit

import (
	"context"
	"slices"
	"time"
)

// model is one search: a scene, the product's timing on the model's scale, and every decision made so far.
type model struct {
	modelScene
	timing        Timing
	rows          *rowTable
	settings      *settingsTable
	made          map[modelKey]modelStep
	settledBefore map[modelSettling]modelSettings
	pairs         map[modelPair][2]modelRow
	payments      [2]modelUnit
	wants         uint32 // bits of modelBreaches that are looked for
}

// modelUnit is one payment.
type modelUnit struct {
	event     Event // as it comes before any restore
	code      string
	login     uint64
	reference Reference
}

var modelPeople = People{Actor: "anna, confirmed by ben", Proposal: 1, Reason: "agreed", At: noon}

func newModel(scene modelScene) *model {
	if scene.quarantine == 0 {
		scene.quarantine = 3
	}
	scene.slowLook = max(scene.slowLook, 1)
	m := &model{modelScene: scene, timing: DefaultTiming(), made: map[modelKey]modelStep{}, pairs: map[modelPair][2]modelRow{}, settledBefore: map[modelSettling]modelSettings{}, wants: ^uint32(0)}
	m.timing.Quarantine = time.Duration(scene.quarantine) * modelTick
	m.timing.TaskAfter, m.timing.UnsentRetries = 2*modelTick, 2
	if scene.off.quarantine {
		m.timing.Quarantine = 1
	}
	if scene.off.secondLook {
		m.timing.SecondLook = 0
	}
	if scene.off.freshFor {
		m.timing.FreshFor = 1000 * time.Hour
	}
	m.rows, m.settings = newRowTable(m.timing), &settingsTable{byText: map[string]modelSettings{}}
	m.settings.longest = m.rows.longest()
	for u := range m.payments {
		m.payments[u] = m.unit(u)
	}
	return m
}

func (m *model) unit(u int) modelUnit {
	code := codeOf(u + 1)
	if m.oneDeposit {
		code = codeOf(1)
	}
	paid := noon.Add(-time.Hour)
	if m.before>>u&1 == 1 {
		paid = noon.Add(-20 * time.Hour)
	}
	login := testLogin
	if m.otherLogin {
		login += uint64(u)
	}
	e := paidEvent(u+1, paid, code, usd(50000))
	reference := NewReference("live", testIdentity, KindDeposit, Unit{ProviderKind: e.Kind, Account: e.Account, Payment: e.Facts.Payment})
	return modelUnit{event: e, code: code, login: login, reference: reference}
}

// seenAll are the bits of the deals that MT5 shows on the unit's login: two a unit, and the one made by hand.
func (m *model) shown(s *modelState, u int) uint8 {
	var seen uint8
	for v := range m.units {
		for k, r := range s.requests[v] {
			if r.is == reqVisible && m.payments[v].login == m.payments[u].login {
				seen |= 1 << (2*v + k)
			}
		}
	}
	if s.hand.is >= handVisible && m.payments[s.hand.unit].login == m.payments[u].login {
		seen |= 1 << (4 + s.hand.unit)
	}
	return seen
}

func ticketOf(u, slot int) uint64 { return uint64(1001 + 2*u + slot) }

// deals are the deals of a bit set.
func (m *model) deals(seen uint8) []Deal {
	var out []Deal
	for bit := range 6 {
		if seen>>bit&1 == 0 {
			continue
		}
		d := Deal{
			Ticket: uint64(1001 + bit), Login: m.payments[bit/2%2].login, Action: ActionBalance, Amount: usd(50000),
			Comment: string(m.payments[bit/2%2].reference), Dealer: 77, ServerTime: modelNow.Unix(),
		}
		if m.noComments {
			d.Comment = ""
		}
		if bit >= 4 {
			d.Ticket, d.Login, d.Comment = handTicket, m.payments[bit-4].login, "deposit by hand"
		}
		out = append(out, d)
	}
	return out
}

// deal is the deal with the ticket.
func (m *model) deal(ticket uint64) Deal {
	all := m.deals(0x3f)
	i := slices.IndexFunc(all, func(d Deal) bool { return d.Ticket == ticket })
	if i < 0 {
		return Deal{}
	}
	return all[i]
}

// storedSettings are the settings as the store has them, and as a decision is shown them.
func (m *model) storedSettings(k modelKey) Settings { return m.settings.kept[k.env.settings] }

// clientAccount is what the portal registered for the unit's login.
func (m *model) clientAccount(login uint64, moved bool) *Account {
	a := Account{Server: testServer, Identity: testIdentity, Login: login, Client: "client-1", Currency: "USD", Digits: 2, CreatedAt: modelNow, UpdatedAt: modelNow}
	if moved {
		a.Client = "client-2"
	}
	return &a
}

// depositOf is the deposit that the unit's payment names; taken by the other row, by its own, or by none.
func (m *model) depositOf(u int, k modelKey) *Deposit {
	if !k.env.deposit {
		return nil
	}
	d := m.plainDeposit(u)
	row := m.rows.of(k.row).row
	switch {
	case k.env.taken:
		d.Credit = ID(2 - u)
	case k.row != 0 && row.Joined() && !row.Further:
		d.Credit = row.ID
	}
	return &d
}

func (m *model) plainDeposit(u int) Deposit {
	n, _ := wish(modelNow, m.payments[u].code, usd(50000), m.payments[u].login)
	d := n.Deposit
	d.Identity, d.CreatedAt = testIdentity, modelNow.Add(-30*time.Hour)
	return d
}

// book is the store of the row that the decision is about.
func (m *model) book(k modelKey) *rowBook {
	b := &rowBook{file: *m.rows.of(k.row), d: m.dossier(k, k.row), holders: map[uint64]ID{}, stopped: k.env.stopped}
	if k.env.other != 0 {
		b.holders[k.env.other] = 3 - b.file.row.ID
	}
	return b
}

// dossier is what a decision about row n is shown, save its tasks.
func (m *model) dossier(k modelKey, n modelRow) Dossier {
	row := m.rows.of(n).row
	d := Dossier{Row: row, Settings: m.storedSettings(k)}
	if row.ID == 0 {
		return d
	}
	u := int(row.ID - 1)
	d.Account, d.Deposit = m.clientAccount(m.payments[u].login, k.env.moved), m.depositOf(u, k)
	if k.env.busy {
		d.Busy = []ID{3 - row.ID}
	}
	return d
}

func (m *model) guard(k modelKey) Guard {
	return Guard{
		Process: m.process(k.env.started), Timing: m.timing, Live: k.env.live,
		Now: Mark{Process: modelProcess, Boot: modelBoot, At: modelNow}, Schedule: modelNow,
	}
}

// decided writes what people decided.
func (m *model) decided(b *rowBook, row Credit, dec Decision, err error) modelStep {
	if err == nil {
		_, err = b.write(row, dec)
	}
	return m.ended(b, err)
}

// act is what people decide about a row.
func (m *model) act(k modelKey) modelStep {
	b := m.book(k)
	d, _ := b.Dossier(context.Background(), 0)
	g, deal := m.guard(k), m.deal(k.env.ticket)
	var dec Decision
	var err error
	switch k.env.act {
	case "retry":
		if d.Row.State == Unknown {
			dec, err = RetryUnknown(d, modelPeople, g)
		} else {
			dec, err = RetryFailed(d, modelPeople, g)
		}
	case "close":
		dec, err = CloseWithoutDeal(d, modelPeople, g)
	case "adopt":
		dec, err = Adopt(d, modelPeople, g, deal, b.holders[deal.Ticket], deal.Comment)
	case "not this":
		dec, err = NotThisDeal(d, modelPeople, g, deal, b.holders[deal.Ticket])
	case "settled":
		for _, kind := range []TaskKind{TaskLateAnswer, TaskSecondDeal, TaskOwnership} {
			if !b.file.has(kind) {
				continue
			}
			c, refused := CloseTask(Task{Kind: kind, Entity: RowEntity(d.Row.ID)}, &d.Row, modelPeople)
			if err = refused; err == nil {
				dec.Close = append(dec.Close, c)
			}
		}
	case "release":
		dec, err = Release(d, modelPeople, g, m.intakeRules(), Amount{}, d.Row.Amount)
	}
	return m.decided(b, d.Row, dec, err)
}

func (m *model) intakeRules() IntakeRules {
	return IntakeRules{Now: modelNow, Schedule: modelNow, HeldGrace: m.timing.HeldGrace}
}

// accept takes the unit's event in where the store has no row of it.
func (m *model) accept(k modelKey, u int) modelStep {
	s := m.storedSettings(k)
	if m.off.cutover {
		s.Mode, s.CutoverAt = ModeLive, time.Time{}
	}
	found := IntakeFound{Settings: s, NextRow: ID(u + 1), NextEvent: 1}
	if found.Deposit = m.depositOf(u, k); found.Deposit != nil {
		found.Account = m.clientAccount(m.payments[u].login, k.env.moved)
	}
	e := m.payments[u].event
	if s.Restore != nil && !k.env.old && m.before>>u&1 == 0 {
		e.Facts.OccurredAt = modelNow.Add(-time.Minute)
	}
	ch, err := TakeIn(e, found, m.intakeRules())
	if err != nil || len(ch.Rows) != 1 {
		panic(err)
	}
	f := modelFile{row: ch.Rows[0].After}
	f.change(ch)
	return modelStep{row: m.rows.keep(f)}
}

// modelPair is a decision about both rows of a store.
type modelPair struct {
	what     string
	rows     [2]modelRow
	settings modelSettings
	moved    bool
}

// both makes a decision about both rows of a store, or finds it where it was made before.
func (m *model) both(what string, in *modelInstance, decide func([2]modelRow, modelSettings, bool) [2]modelRow) [2]modelRow {
	k := modelPair{what, in.rows, in.settings, in.moved}
	out, ok := m.pairs[k]
	if !ok {
		out = decide(in.rows, in.settings, in.moved)
		m.pairs[k] = out
	}
	return out
}

// join makes the deposit that waiting rows name, and returns both rows of the store.
func (m *model) join(rows [2]modelRow, n modelSettings, moved bool) [2]modelRow {
	found := DepositFound{Settings: m.settings.kept[n], Account: m.clientAccount(m.payments[0].login, moved), Reversed: map[ID]bool{}}
	wanted, rules := wish(modelNow, m.payments[0].code, usd(50000), m.payments[0].login)
	for _, r := range rows {
		if row := m.rows.of(r).row; r != 0 && row.State == Held && !row.Joined() && row.Code == wanted.Deposit.Code {
			found.Waiting = append(found.Waiting, row)
		}
	}
	out, err := OpenDeposit(wanted, found, rules)
	if err != nil { // the login is another client's: the portal gets no deposit
		return rows
	}
	for _, rc := range out.Changes.Rows {
		f := *m.rows.of(rows[rc.After.ID-1])
		f.row = rc.After
		f.change(out.Changes)
		rows[rc.After.ID-1] = m.rows.keep(f)
	}
	return rows
}

// register gives the login to another client in the store.
func (m *model) register(rows [2]modelRow, _ modelSettings, _ bool) [2]modelRow {
	found := AccountFound{Prior: m.clientAccount(m.payments[0].login, false)}
	for _, r := range rows {
		if row := m.rows.of(r).row; r != 0 && row.Login == found.Prior.Login && (row.State == Pending || row.State.Open()) {
			found.Open = append(found.Open, row)
		}
	}
	ch, err := ChangeAccount(*m.clientAccount(m.payments[0].login, true), found, "portal", modelNow)
	if err != nil {
		panic(err)
	}
	for i, r := range rows {
		f := *m.rows.of(r)
		if r == 0 {
			continue
		}
		for _, rc := range ch.Rows {
			if rc.After.ID == f.row.ID {
				f.row = rc.After
			}
		}
		f.change(ch)
		rows[i] = m.rows.keep(f)
	}
	return rows
}
