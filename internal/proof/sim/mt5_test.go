package sim

import (
	"strings"
	"time"

	"creditonce/credit"
)

// deal is a deal as the server has it, with what nobody there knows: which payment it was made for.
type deal struct {
	credit.Deal
	want    credit.Reference // of our call; empty: made by people
	visible time.Duration    // not shown before
	gone    bool             // lost by a restore of the server
	place   int              // in the world's list
}

// order is one balance call that reached the server's side of the wire.
type order struct {
	credit.Call
	sent  time.Duration
	place int   // in the world's list of calls
	deal  *deal // once executed
	lost  bool  // by a restore of the server
}

// mt5Server is the server. Its journal is the truth about money.
type mt5Server struct {
	s        *sim
	deals    []*deal // every one that was ever made, in order
	orders   []*order
	ticket   uint64
	offset   time.Duration // its own clock minus UTC
	archived map[uint64]bool
	pages    map[uint64]int // of the login's history
	downTill time.Duration
	lateMost time.Duration // longest time from write to execution
	hideMost time.Duration // longest time from execution to visible
}

func newServer(s *sim) *mt5Server {
	m := &mt5Server{s: s, ticket: 1000, archived: map[uint64]bool{}, pages: map[uint64]int{}}
	m.offset = time.Duration(s.rng.IntN(27)-12) * time.Hour
	// Q must exceed both together (design §7): the bound that the protocol rests on.
	q := s.timing.Quarantine
	m.lateMost, m.hideMost = s.between(q/10, q*6/10), s.between(q/20, q*35/100)
	for _, login := range logins {
		if s.strikes(slowLooks) {
			m.pages[login] = 1 + s.rng.IntN(120)
		}
	}
	return m
}

func (m *mt5Server) serverTime() int64 { return m.s.begun.Add(m.s.now + m.offset).Unix() }

// make executes an operation.
func (m *mt5Server) make(login uint64, amount credit.Amount, comment string, by uint64) *deal {
	m.ticket++
	d := &deal{Deal: credit.Deal{
		Ticket: m.ticket, Login: login, Action: credit.ActionBalance, Amount: amount, Comment: comment, Dealer: by, ServerTime: m.serverTime(),
	}, visible: m.s.now}
	if by == dealer {
		d.want = credit.Reference(comment)
	}
	if m.s.strikes(dealHidden) {
		d.visible += m.s.between(0, m.hideMost)
		m.s.count(dealWasHidden)
	}
	m.deals = append(m.deals, d)
	m.s.dealMade(d)
	return d
}

// execute is the moment at which an order becomes a deal.
func (m *mt5Server) execute(o *order) {
	if o.lost {
		return
	}
	if m.s.now-o.sent > callTimeout {
		m.s.count(executedLate)
	}
	o.deal = m.make(o.Login, o.Amount, string(o.Reference), dealer)
	w := m.s.world()
	if n := len(w.Restores); n > 0 && o.place < w.Restores[n-1].Calls {
		w.Deals[o.deal.place].Foreign = true // sent by the store that an older file has replaced
	}
	if m.s.strikes(dealCommentCut) {
		o.deal.Comment = m.alter(o.deal.Comment)
		d := &w.Deals[o.deal.place]
		d.Comment, d.Altered = o.deal.Comment, true
		m.s.count(commentWasAltered)
	}
	m.s.note("mt5: deal %d on %d over %s, comment %q", o.deal.Ticket, o.Login, o.Amount, o.deal.Comment)
}

// alter is what gateways and plugins do to comments.
func (m *mt5Server) alter(text string) string {
	switch m.s.rng.IntN(4) {
	case 0:
		return text[:len(text)-1-m.s.rng.IntN(8)]
	case 1:
		return strings.ToLower(text)
	case 2:
		return "web " + text
	default:
		b := []byte(text)
		b[6+m.s.rng.IntN(14)] ^= 1
		return string(b)
	}
}

// shown lists the login's deals that the server shows at a moment, by ticket.
func (m *mt5Server) shown(login uint64, at time.Duration) []*deal {
	var out []*deal
	for _, d := range m.deals {
		if d.Login == login && !d.gone && d.visible <= at {
			out = append(out, d)
		}
	}
	return out
}

// restore is a restore of the server from its own backup: the newest deals are gone, and their tickets are used again.
func (m *mt5Server) restore() {
	lost := 0
	for i := len(m.deals) - 1; i >= 0 && lost < 3; i-- {
		if d := m.deals[i]; !d.gone {
			d.gone = true
			m.s.world().Deals[d.place].Gone = true
			m.ticket = min(m.ticket, d.Ticket-1)
			lost++
		}
	}
	for _, o := range m.orders {
		o.lost = o.lost || o.deal == nil
	}
	m.s.note("mt5: the server was restored, %d deals are gone", lost)
	if lost > 0 {
		m.s.count(mt5WasRestored)
	}
}
