package recon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// paired is a row with what MT5's side makes of it, or deals alone, where no row has them.
type paired struct {
	Row   Row // ID 0: no row
	Deals []Deal

	class Class // of MT5's side; empty: nothing is to be said
	why   string
	at    time.Time
	off   sums
	given bool // the client has the money: the row is done, or its own deal is there
}

// settleAfter is how long a row that is not done may have its deal before a person hears of it here: until then the resolver settles it.
const settleAfter = 24 * time.Hour

// sighting is what MT5 has for a row.
type sighting struct {
	own     []Deal // by ticket, or by reference and on no other row
	taken   []taken
	damaged []Deal // carry what may be a damaged copy of the reference
}

// taken is a deal that carries the row's reference, and another row has its ticket.
type taken struct {
	deal Deal
	by   credit.ID
}

func byTicket(a, b Deal) int {
	return cmp.Or(cmp.Compare(a.Ticket, b.Ticket), cmp.Compare(a.Login, b.Login), a.At.Compare(b.At), strings.Compare(a.Comment, b.Comment),
		cmp.Compare(a.Action, b.Action), byAmount(a.Amount, b.Amount))
}

// judge is the verdict of MT5's side on one row; it adds what both sides say to the roll-forward.
func (m *matcher) judge(row Row, s sighting) paired {
	p := paired{Row: row, given: row.State == credit.Done}
	p.Deals = slices.Concat(s.own, s.damaged)
	for _, t := range s.taken {
		p.Deals = append(p.Deals, t.deal)
	}
	slices.SortFunc(p.Deals, byTicket)
	mine := slices.Concat(s.own, s.damaged)
	if len(mine) == 0 && !m.asked(&row) {
		return p
	}
	if len(mine) == 0 && m.rules.Unseen[row.Identity][row.Login] {
		m.unseen.count(&row)
		return p
	}
	if row.State == credit.Done {
		m.out.Asked[row.Identity]++
	}
	var redated []string
	p.at, redated = m.momentAt(&row, mine)
	var f finding
	m.compare(&f, &row, s)
	m.byState(&f, &p, s)
	m.book(&p, mine, f.class != "")
	if p.class = f.class; p.class == "" && row.State == credit.Done {
		f.note(Matched, agreed)
		p.class = Matched
	}
	f.why = append(f.why, redated...)
	if !m.counted(p.at) {
		p.class, p.off = "", nil
	}
	p.why = f.sentence()
	return p
}

// doneAfter is how much later than its row became done a deal may be dated: both clocks are set, and that of MT5 may be an hour off where nobody
// has said which rule it follows.
const doneAfter = time.Hour

// momentAt is when a row and its deals count: at the latest of them. A credit is done once the deal that it has recorded has been seen: dated
// later, that deal has got another time since, and must not take what is wrong with the row out of the days that are compared; nor must a
// deal that is dated after the lists were read. redated says so.
func (m *matcher) momentAt(row *Row, mine []Deal) (at time.Time, redated []string) {
	for i := range mine {
		d := &mine[i]
		bound, than := m.rules.Read, "the lists were read"
		if row.State == credit.Done && d.Ticket == row.Ticket {
			bound, than = row.UpdatedAt, "the credit was done"
		}
		if !d.At.After(bound.Add(doneAfter)) {
			at = latest(at, d.At)
			continue
		}
		at = latest(at, row.Moment())
		redated = append(redated, fmt.Sprintf("deal %d is dated %s, later than %s (%s)", d.Ticket, timeOf(d.At), than, timeOf(bound)))
	}
	if len(mine) == 0 {
		at = row.Moment()
	}
	return at, redated
}

// asked tells that a done row must have a deal in the list, if MT5 has its login.
func (m *matcher) asked(row *Row) bool {
	from, complete := m.rules.DealsFrom[row.Identity]
	return row.State == credit.Done && row.Identity != "" && complete && !row.Trace.Add(-time.Hour).Before(from)
}

// compare finds what is wrong with the deals of a row, whatever its state.
func (m *matcher) compare(f *finding, row *Row, s sighting) {
	if n := len(s.own) + len(s.taken); n > 1 {
		f.note(DuplicateReference, "credit %d has %d deals: %s", row.ID, n, tickets(s))
	}
	for i := range s.own {
		m.compareOne(f, row, &s.own[i])
	}
	for i := range s.damaged {
		d := &s.damaged[i]
		f.note(DamagedReference, "deal %d has the comment %q, which may be a damaged copy of the reference %s of credit %d", d.Ticket, d.Comment, row.Reference, row.ID)
	}
}

func tickets(s sighting) string {
	var out []string
	for _, d := range s.own {
		out = append(out, fmt.Sprint(d.Ticket))
	}
	for _, t := range s.taken {
		out = append(out, fmt.Sprintf("%d, which is recorded on credit %d", t.deal.Ticket, t.by))
	}
	return strings.Join(out, ", ")
}

func (m *matcher) compareOne(f *finding, row *Row, d *Deal) {
	if d.Login != row.Login {
		f.note(WrongLogin, "deal %d is on login %d, credit %d wants login %d", d.Ticket, d.Login, row.ID, row.Login)
	}
	if d.Action != credit.ActionBalance {
		return // it moves no balance, so there is no amount to compare
	}
	want, got := moneyOf(row.Kind.Signed(row.Amount)), moneyOf(d.Amount)
	switch {
	case !want.set || !got.set:
		f.note(WrongAmount, "deal %d has %s, credit %d wants %s", d.Ticket, got, row.ID, want)
	case want.currency != got.currency:
		f.note(WrongCurrency, "deal %d has %s, credit %d wants %s", d.Ticket, got, row.ID, want)
	case got.same(want):
	case got.minus(want).within(m.tolerance[want.currency]):
		f.note(MatchedWithin, "deal %d has %s, credit %d wants %s, which is within the tolerance", d.Ticket, got, row.ID, want)
	default:
		f.note(WrongAmount, "deal %d has %s, credit %d wants %s", d.Ticket, got, row.ID, want)
	}
}

// byState finds what does not fit the row's state.
func (m *matcher) byState(f *finding, p *paired, s sighting) {
	row, balance := &p.Row, balanceDeal(s.own)
	if balance == nil && len(s.damaged) == 0 && row.State == credit.Done {
		what := "MT5 has no deal for it"
		if len(s.own) > 0 {
			what = fmt.Sprintf("deal %d with its reference has action %d, which does not move the balance", s.own[0].Ticket, s.own[0].Action)
		} else if len(s.taken) > 0 {
			what = fmt.Sprintf("deal %d with its reference is recorded on credit %d", s.taken[0].deal.Ticket, s.taken[0].by)
		}
		f.note(DoneWithoutDeal, "credit %d is done over %s, and %s", row.ID, row.Amount, what)
	}
	if len(s.own) == 0 {
		return
	}
	d := &s.own[0]
	p.given = p.given || balance != nil
	switch row.State {
	case credit.Done:
	case credit.Failed:
		f.note(FailedButDeal, "credit %d failed, and deal %d over %s is there", row.ID, d.Ticket, d.Amount)
	case credit.Cancelled:
		f.note(CancelledButDeal, "credit %d was closed without a deal, and deal %d over %s is there", row.ID, d.Ticket, d.Amount)
	case credit.New, credit.Held, credit.Pending, credit.Claimed, credit.Unknown:
		if d.At.Add(settleAfter).Before(m.rules.Read) {
			f.note(DealWithoutRow, "credit %d is %s, and its deal %d over %s has been there for more than a day; run `creditonce resolve %d`",
				row.ID, row.State, d.Ticket, d.Amount, row.ID)
		}
	}
}

func balanceDeal(deals []Deal) *Deal {
	for i := range deals {
		if deals[i].Action == credit.ActionBalance {
			return &deals[i]
		}
	}
	return nil
}

// book adds the row and its deals to MT5's roll-forward, and notes what they differ by. A row that is about to be settled, and of which
// nothing is told, counts as its deal says.
func (m *matcher) book(p *paired, mine []Deal, told bool) {
	row := &p.Row
	b := bucketOf(row.Kind)
	var theirs sums
	for i := range mine {
		if d := &mine[i]; d.Action == credit.ActionBalance {
			v := moneyOf(d.Amount)
			theirs.add(v)
			m.rolls.add(move{SideMT5, row.Provider, true, b, v, p.at})
		}
	}
	var ours sums
	switch {
	case row.State == credit.Done:
		ours.add(moneyOf(row.Kind.Signed(row.Amount)))
	case !told:
		ours = slices.Clone(theirs)
	}
	for _, v := range ours {
		m.rolls.add(move{SideMT5, row.Provider, false, b, v, p.at})
	}
	p.off = difference(theirs, ours)
}

// difference is theirs minus ours by currency: of the currencies of ours first.
func difference(theirs, ours sums) sums {
	var out sums
	for _, v := range ours {
		out.add(v.neg())
	}
	for _, v := range theirs {
		out.add(v)
	}
	return out
}

// alone is the verdict on deals that no row has.
func (m *matcher) alone(class Class, deals []Deal, why string) paired {
	p := paired{Deals: deals, class: class, why: why}
	for i := range deals {
		p.at = latest(p.at, deals[i].At)
	}
	for i := range deals {
		if d := &deals[i]; d.Action == credit.ActionBalance {
			v := moneyOf(d.Amount)
			m.rolls.add(move{SideMT5, "", true, aloneBucket(d, v), v, p.at})
			p.off.add(v)
		}
	}
	return p
}

// aloneBucket is the movement that a deal without a row is: what its reference says, else what its sign does.
func aloneBucket(d *Deal, v money) bucket {
	if r := referenceOf(d); r != "" {
		switch string(r[:4]) {
		case "dep:":
			return credited
		case "ref:":
			return refunded
		case "cbk:", "cbr:":
			return chargedBack
		default:
			return withdrawn
		}
	}
	if v.sign() < 0 {
		return withdrawn
	}
	return credited
}

func (p *packer) paired(v *paired) {
	p.row(&v.Row)
	p.number(uint64(len(v.Deals)))
	for i := range v.Deals {
		p.deal(&v.Deals[i])
	}
	p.number(uint64(gravity[v.class]))
	p.word(v.why)
	p.time(v.at)
	p.number(uint64(len(v.off)))
	for _, o := range v.off {
		p.money(o)
	}
	if v.given {
		p.number(1)
	} else {
		p.number(0)
	}
}

func (u *unpacker) paired() paired {
	v := paired{Row: u.row()}
	if n := u.count(); n > 0 {
		v.Deals = make([]Deal, n)
		for i := range v.Deals {
			v.Deals[i] = u.deal()
		}
	}
	switch n := u.number(); {
	case n > uint64(len(gravity)):
		u.fail()
	case n > 0:
		v.class = Classes()[n-1]
	}
	v.why, v.at = u.word(), u.time()
	for range u.count() {
		v.off = append(v.off, u.money())
	}
	v.given = u.number() == 1
	return v
}
