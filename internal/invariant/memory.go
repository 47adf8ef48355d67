package invariant

import (
	"strings"

	"creditonce/credit"
)

// memory is what a Checker keeps from one world to the next.
type memory struct {
	began    bool
	restores int
	rows     map[credit.ID]*seen
	units    map[string]*seen // by reference; also of rows that a restore took away

	sent, calls, deals, log int      // so many elements have been judged
	unanswered              []int    // deliveries without an answer so far
	marks                   []string // references of our deals, in the order of the first deal
	dealsBy                 map[string][]int
	callsBy                 map[string][]int // by reference
	callsFrom               map[string][]int // by process
	callsOn                 map[string][]int // by connection
	ticket                  map[ticketKey]int
	reused                  map[ticketKey]bool // tickets of deals that are gone, which MT5 has given again
	accounts                []account          // with deals of ours, in the order of the first
	dealsOn                 map[account][]int
	live                    []int // calls that had not ended

	events    []eventMark
	eventKeys map[messageKey]int // position of the first event
	authentic map[messageKey]bool
	nameless  map[string]bool // providers that sent something authentic without a known key
	expected  []ExpectedUnit
	basis     [2]int // numbers of events and deposits that expected is made of

	mode     credit.Mode
	blocked  map[account][]stop
	reversed map[payment]bool
}

type ticketKey struct {
	server string
	ticket uint64
}

type messageKey struct{ provider, key string }

type eventMark struct {
	id     credit.EventID
	key    string
	digest string
}

// seen is what a row was when it was last looked at, and what its judged entries say.
type seen struct {
	kind      credit.Kind
	unit      credit.Unit
	paid      credit.Amount
	joined    bool
	deposit   string
	identity  string
	login     uint64
	amount    credit.Amount // as a deal has it, signed
	reference string        // as the unit gives it

	entries int    // judged
	head    string // digest of the last judged one
	state   credit.State
	claims  int
	unsent  int  // calls that were said not to have left
	people  bool // two people released it or adopted a deal
	from    int  // History[from:] is new in this world
}

func newMemory() memory {
	return memory{
		rows: map[credit.ID]*seen{}, units: map[string]*seen{},
		dealsBy: map[string][]int{}, callsBy: map[string][]int{}, callsFrom: map[string][]int{}, callsOn: map[string][]int{},
		ticket: map[ticketKey]int{}, reused: map[ticketKey]bool{}, dealsOn: map[account][]int{},
		eventKeys: map[messageKey]int{}, authentic: map[messageKey]bool{}, nameless: map[string]bool{},
	}
}

func newView(w *World, m *memory) *view {
	v := &view{
		w: w, m: m, env: w.Environment, byID: make(map[credit.ID]int, len(w.Rows)), byRef: make(map[string]int, len(w.Rows)),
		byUnit: make(map[unitKey]int, len(w.Rows)), open: make(map[credit.TaskKey]int, len(w.Tasks)), tasksOf: map[credit.ID]int{},
		codes: make(map[string]int, len(w.Deposits)), blocked: map[account][]stop{}, reversed: map[payment]bool{}, faulted: map[account]bool{},
	}
	if v.env == "" {
		v.env = w.Settings.Environment
	}
	if len(w.Restores) > m.restores { // another store: only what happened outside of it is remembered
		m.restores = len(w.Restores)
		m.rows, m.events, m.basis = map[credit.ID]*seen{}, nil, [2]int{}
		m.eventKeys = map[messageKey]int{}
		m.blocked, m.reversed, m.began = nil, nil, false
	}
	v.indexStore()
	v.indexJournals()
	return v
}

func (v *view) indexStore() {
	for i, d := range v.w.Deposits {
		v.codes[d.Code] = i
	}
	v.seen = make([]*seen, len(v.w.Rows))
	for i := range v.w.Rows {
		v.seen[i] = v.see(&v.w.Rows[i])
		c := &v.w.Rows[i].Credit
		v.byID[c.ID] = i
		if _, twice := v.byUnit[unitKey{c.Kind, c.Unit}]; !twice {
			v.byUnit[unitKey{c.Kind, c.Unit}] = i
		}
		if s := v.seen[i]; s.joined {
			v.byRef[s.reference] = i
			v.m.units[s.reference] = s
		}
	}
	for i := range v.w.Tasks {
		if t := &v.w.Tasks[i]; t.ClosedAt.IsZero() {
			v.openTask(t, i)
		}
	}
	for i := range v.w.Events {
		e := &v.w.Events[i]
		if (e.Facts.Effect == credit.EffectRefund || e.Facts.Effect == credit.EffectDispute) && e.Facts.Payment != "" {
			v.reversed[payment{e.Kind, e.Account, e.Facts.Payment}] = true
		}
		if k := (messageKey{e.Provider, e.MessageKey}); i >= len(v.m.events) {
			if _, known := v.m.eventKeys[k]; !known {
				v.m.eventKeys[k] = i
			}
		}
	}
}

// openTask indexes an open task and the doubt that it may stand for.
func (v *view) openTask(t *credit.Task, i int) {
	v.open[credit.TaskKey{Kind: t.Kind, Entity: t.Entity}] = i
	id := rowOf(t.Entity)
	if id == 0 {
		return
	}
	v.tasksOf[id]++
	at, ok := v.byID[id]
	if !ok {
		return
	}
	c := &v.w.Rows[at].Credit
	if why := doubt(t.Kind, c); why != "" && c.Login != 0 {
		a := account{c.Identity, c.Login}
		v.blocked[a] = append(v.blocked[a], stop{why, id, t.Kind == "late_answer"})
	}
}

// see returns what is remembered of a row, and puts down what it sees for the first time.
func (v *view) see(r *Row) *seen {
	c := &r.Credit
	s := v.m.rows[c.ID]
	if s == nil {
		s = &seen{kind: c.Kind, unit: c.Unit, paid: c.Paid}
		v.m.rows[c.ID] = s
	}
	if !s.joined && c.Deposit != "" {
		s.joined, s.deposit, s.identity, s.login = true, c.Deposit, c.Identity, c.Login
		s.amount = signed(s.kind, c.Amount)
		s.reference = reference(v.env, s.identity, s.kind, s.unit)
	}
	s.from = min(s.entries, len(r.History))
	for _, e := range r.History[s.from:] {
		s.people = s.people || (e.From == "held" && e.By == "two people" && e.Move != "freed")
		switch {
		case e.From == credit.Pending && e.To == credit.Claimed:
			s.claims++
		case e.From == credit.Unknown && e.To == credit.Pending && (e.Evidence == nil || e.Evidence.Look == nil):
			s.unsent++
		}
	}
	return s
}

// indexJournals notes the calls and deals that are new.
func (v *view) indexJournals() {
	w, m := v.w, v.m
	for i := min(m.calls, len(w.Calls)); i < len(w.Calls); i++ {
		c := &w.Calls[i]
		m.callsBy[c.Reference] = append(m.callsBy[c.Reference], i)
		if c.Process != "" {
			m.callsFrom[c.Process] = append(m.callsFrom[c.Process], i)
		}
		if c.Conn != "" {
			m.callsOn[c.Conn] = append(m.callsOn[c.Conn], i)
		}
		m.live = append(m.live, i)
	}
	for i := min(m.deals, len(w.Deals)); i < len(w.Deals); i++ {
		d := &w.Deals[i]
		k := ticketKey{d.Server, d.Ticket}
		if before, ok := m.ticket[k]; ok && w.Deals[before].Gone {
			m.reused[k] = true
		}
		m.ticket[k] = i
		if d.Dealer != w.Dealer {
			continue
		}
		ref := mark(d)
		if len(m.dealsBy[ref]) == 0 {
			m.marks = append(m.marks, ref)
		}
		m.dealsBy[ref] = append(m.dealsBy[ref], i)
		a := account{d.Server, d.Login}
		if len(m.dealsOn[a]) == 0 {
			m.accounts = append(m.accounts, a)
		}
		m.dealsOn[a] = append(m.dealsOn[a], i)
	}
	for i := min(m.sent, len(w.Sent)); i < len(w.Sent); i++ {
		d := &w.Sent[i]
		switch {
		case !d.Signed && !d.Pulled:
		case d.MessageKey == "":
			m.nameless[d.Provider] = true
		default:
			m.authentic[messageKey{d.Provider, d.MessageKey}] = true
		}
		m.unanswered = append(m.unanswered, i)
	}
}

// remember keeps what has been judged.
func (v *view) remember() {
	w, m := v.w, v.m
	m.began = true
	m.sent, m.calls, m.deals, m.log = len(w.Sent), len(w.Calls), len(w.Deals), len(w.Log)
	m.mode, m.blocked, m.reversed = w.Settings.Mode, v.blocked, v.reversed
	for i, s := range v.seen {
		s.entries = len(w.Rows[i].History)
	}
	for i := len(m.events); i < len(w.Events); i++ {
		e := &w.Events[i]
		m.events = append(m.events, eventMark{e.ID, e.MessageKey, e.Digest})
	}
}

// mark is the reference under which a deal was made.
func mark(d *Deal) string {
	if d.Reference != "" {
		return d.Reference
	}
	return d.Comment
}

// unit is what is known of the unit with a reference: its row, or -1 where the store has none any more.
func (v *view) unit(ref string) (row int, s *seen) {
	if i, ok := v.byRef[ref]; ok {
		return i, v.seen[i]
	}
	return -1, v.m.units[ref]
}

// rowOf reads the row's number from a task's entity; 0 where it is about something else.
func rowOf(entity string) credit.ID {
	text, ok := strings.CutPrefix(entity, "credit/")
	if !ok || text == "" || len(text) > 19 {
		return 0
	}
	var n uint64
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0
		}
		n = n*10 + uint64(text[i]-'0')
	}
	return credit.ID(n)
}
