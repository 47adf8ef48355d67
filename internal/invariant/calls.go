package invariant

import (
	"time"

	"creditonce/credit"
)

// slack is how far two times of one clock may disagree with the order of their commits: each is taken before its
// transaction waits for its turn.
const slack = 5 * time.Second

func callRules() []Invariant {
	return []Invariant{
		{"I-M6", "at most one balance call is under way on a login and on a connection", Calls, oneCall},
		{"I-M7", "a call is sent for a row that its process has claimed, within the deadline", Calls | Rows, inTime},
		{"I-M8", "absent, and that nothing was sent, rest on evidence that is stored and holds", Rows, evidenceHolds},
		{"I-S5", "a conflict, a second deal or a late answer stops claims on its login", Rows | Tasks, doubtBlocks},
		{"I-O1", "no claim and no call while the mode, the disk, the clock, the pins or another instance forbid it", Rows | Settings, allowed},
	}
}

// newClaims are the entries of a row that claimed it and that no earlier world had.
func (v *view) newClaims(i int) (out []credit.Entry) {
	for _, e := range v.w.Rows[i].History[v.seen[i].from:] {
		if e.From == "pending" && e.To == "claimed" {
			out = append(out, e)
		}
	}
	return out
}

// judged tells that a call is of this store and not from before the newest restore.
func (v *view) judged(i int) bool {
	return !v.w.Calls[i].Foreign && !v.w.restored(i, func(r Restore) int { return r.Calls })
}

func claimedFirst(v *view) {
	if v.w.has(Calls) {
		for i := v.m.calls; i < len(v.w.Calls); i++ {
			if v.judged(i) {
				v.callClaimed(i)
			}
		}
	}
	if !v.w.has(Deals) {
		return
	}
	for i := v.m.deals; i < len(v.w.Deals); i++ {
		d := &v.w.Deals[i]
		if d.Dealer != v.w.Dealer || d.Foreign || v.w.restored(i, func(r Restore) int { return r.Deals }) {
			continue
		}
		row, s := v.unit(mark(d))
		switch {
		case s == nil:
			v.faulted[account{d.Server, d.Login}] = true
			v.find(nil, "deal %d of ours on login %d over %s, comment %q, belongs to no unit", d.Ticket, d.Login, d.Amount, d.Comment)
		case row >= 0 && s.claims == 0 && len(v.w.Restores) == 0:
			v.fault(s)
			v.row(row, "deal %d was made for a row that was never claimed", d.Ticket)
		}
	}
}

// callClaimed sees that the n-th call of a unit has n claims before it.
func (v *view) callClaimed(i int) {
	c := &v.w.Calls[i]
	row, s := v.unit(c.Reference)
	if s == nil || row < 0 {
		v.faulted[account{c.Server, c.Login}] = true
		v.find(nil, "a call for %q on login %d over %s belongs to no unit", c.Reference, c.Login, c.Amount)
		return
	}
	n := 0
	for _, j := range v.m.callsBy[c.Reference] {
		if j <= i && v.judged(j) {
			n++
		}
	}
	claims := s.claims
	if v.w.OneClock && len(v.w.Restores) == 0 && !c.Sent.At.IsZero() {
		claims = 0
		for _, e := range v.w.Rows[row].History {
			if e.From == "pending" && e.To == "claimed" && !e.At.After(c.Sent.At) {
				claims++
			}
		}
	}
	if n > claims {
		v.fault(s)
		v.row(row, "call %d for %s was sent after %d claims", n, c.Reference, claims)
	}
}

func oneCall(v *view) {
	w, m := v.w, v.m
	over := make(map[string]bool, len(w.Processes))
	for _, p := range w.Processes {
		over[p.ID] = p.Over
	}
	live := m.live[:0]
	onLogin := make(map[account]int, 2)
	for _, i := range m.live {
		c := &w.Calls[i]
		if c.Ended.Process != "" || c.Process == "" || over[c.Process] || c.Foreign {
			continue
		}
		live = append(live, i)
		a := account{c.Server, c.Login}
		if _, twice := onLogin[a]; twice {
			v.find(nil, "two balance calls are under way on login %d of %s", c.Login, c.Server)
		}
		onLogin[a] = i
	}
	m.live = live
	for i := m.calls; i < len(w.Calls); i++ {
		c := &w.Calls[i]
		for _, j := range m.callsFrom[c.Process] {
			o := &w.Calls[j]
			shared := (o.Server == c.Server && o.Login == c.Login) || (o.Conn != "" && o.Conn == c.Conn)
			if j < i && shared && o.Ended.Process == c.Sent.Process && o.Ended.Process != "" && o.Ended.Boot > c.Sent.Boot {
				v.find(nil, "a call for %s on login %d was sent while that for %s had not ended", c.Reference, c.Login, o.Reference)
			}
		}
	}
}

func inTime(v *view) {
	for i := v.m.calls; i < len(v.w.Calls); i++ {
		c := &v.w.Calls[i]
		row, s := v.unit(c.Reference)
		if !v.judged(i) || row < 0 {
			continue
		}
		if c.Deadline > 0 && c.Sent.Process != "" && c.Sent.Boot >= c.Deadline {
			v.row(row, "the call for %s was sent at %s, its deadline was %s", c.Reference, c.Sent.Boot, c.Deadline)
		}
		if c.Process == "" || s.claims == 0 {
			continue
		}
		if !claimedBy(v.w.Rows[row].History, c.Process) {
			v.row(row, "process %s sent a call for %s and never claimed it", c.Process, c.Reference)
			continue
		}
		if r := &v.w.Rows[row].Credit; v.w.Stepwise && v.m.began && (r.State != "claimed" || r.LeaseUntil.Process != c.Process) {
			v.row(row, "process %s sent a call for %s while the row was %s", c.Process, c.Reference, r.State)
		}
	}
}

func claimedBy(h []credit.Entry, process string) bool {
	for i := range h {
		if h[i].To == "claimed" && h[i].Evidence != nil && h[i].Evidence.Process == process {
			return true
		}
	}
	return false
}

// evidenceHolds judges what puts money in play again, or closes a row without it.
func evidenceHolds(v *view) {
	for i := range v.w.Rows {
		h := v.w.Rows[i].History
		for n := v.seen[i].from; n < len(h); n++ {
			e := &h[n]
			switch {
			case e.From == "unknown" && e.To == "pending" && e.By == "resolver":
				v.absence(i, n)
			case e.To == "cancelled" && e.From != "cancelled" && v.w.Rows[i].Credit.Login != 0:
				v.closing(i, n)
			}
		}
		if s := v.seen[i]; s.joined && v.w.has(Calls) && s.unsent > 0 && len(v.w.Restores) == 0 {
			arrived := 0
			for _, j := range v.m.callsBy[s.reference] {
				if !v.w.Calls[j].Foreign {
					arrived++
				}
			}
			if arrived > s.claims-s.unsent {
				v.row(i, "%d calls for %s arrived; of its %d claims %d were put down as not sent", arrived, s.reference, s.claims, s.unsent)
			}
		}
	}
}

// absence judges the verdict of history entry n: two complete looks of one process, both after the quarantine, far enough
// apart, and no call under way.
func (v *view) absence(i, n int) {
	h := v.w.Rows[i].History
	e := &h[n]
	if e.Evidence == nil || e.Evidence.Look == nil || e.Evidence.Before == nil {
		v.row(i, "credit %d was put back to pending on no evidence", v.w.Rows[i].Credit.ID)
		return
	}
	second, first := e.Evidence.Look, *e.Evidence.Before
	if !second.Complete || second.Verdict != "absent" || second.Control == "" {
		v.row(i, "the second look of the absence was %s, complete %t, control %q", second.Verdict, second.Complete, second.Control)
	}
	if !storedLook(h[:n], first) {
		v.row(i, "the first look of the absence, begun at %s, is no complete one that was stored", first.Boot)
	}
	apart, quarantine := v.w.SecondLook, v.w.Quarantine
	if len(v.w.Processes) > 0 && !v.knows(first.Process) {
		apart, quarantine = 0, 0 // of an earlier process, whose configuration may have been another
	}
	if first.Process != second.Started.Process || second.Started.Boot-first.Boot < apart {
		v.row(i, "the looks of the absence were begun at %s and %s, %s must lie between them in one process", first.Boot, second.Started.Boot, apart)
	}
	if from := v.quarantineFrom(h[:n], second.Started); first.Boot < from+quarantine {
		v.row(i, "the first look of the absence was begun at %s, the quarantine of %s counted from %s", first.Boot, quarantine, from)
	}
	v.noLiveCall(i, second.Started)
}

// storedLook tells that a complete look that saw nothing, begun at the mark, stands in the history.
func storedLook(h []credit.Entry, at credit.Mark) bool {
	for i := range h {
		if ev := h[i].Evidence; ev != nil && ev.Look != nil && ev.Look.Started.Process == at.Process && ev.Look.Started.Boot == at.Boot {
			if ev.Look.Complete && ev.Look.Verdict == "absent" {
				return true // a person's look may have begun at the very same moment
			}
		}
	}
	return false
}

func (v *view) knows(process string) bool {
	for _, p := range v.w.Processes {
		if p.ID == process {
			return true
		}
	}
	return false
}

// quarantineFrom is the latest moment before the look, on its process's own clock, from which Q counts: the process's start,
// the end of each call that it saw, a fence.
func (v *view) quarantineFrom(h []credit.Entry, look credit.Mark) time.Duration {
	var from time.Duration
	for _, p := range v.w.Processes {
		if p.ID == look.Process {
			from = max(from, p.Started)
		}
	}
	fences := v.w.Fences
	if r := v.w.Settings.Restore; r != nil {
		fences = append([]credit.Mark{r.Mark}, fences...)
	}
	for _, f := range fences {
		if f.Process == look.Process && f.Boot <= look.Boot {
			from = max(from, f.Boot)
		}
	}
	for i := range h {
		if ev := h[i].Evidence; ev != nil && ev.Call != nil && ev.Call.Ended.Process == look.Process {
			from = max(from, ev.Call.Ended.Boot)
		}
	}
	return from
}

func (v *view) noLiveCall(i int, at credit.Mark) {
	if !v.w.has(Calls) || !v.seen[i].joined {
		return
	}
	for _, j := range v.m.callsBy[v.seen[i].reference] {
		c := &v.w.Calls[j]
		if c.Process == at.Process && c.Sent.Boot <= at.Boot && (c.Ended.Process == "" || c.Ended.Boot > at.Boot) {
			v.row(i, "the absence of %s was decided while its call was under way", c.Reference)
		}
	}
}

// closing judges that two people closed a row with a login: on proof that MT5 has no deal, or no such login.
func (v *view) closing(i, n int) {
	denied := 0
	h := v.w.Rows[i].History
	for k := n - 1; k >= 0; k-- {
		ev := h[k].Evidence
		if ev == nil || ev.Look == nil {
			continue
		}
		if ev.Look.Proven {
			return
		}
		if ev.Look.Denied {
			denied++
		}
	}
	if denied < 2 {
		v.row(i, "credit %d was closed without a deal, and nothing proves that MT5 has none", v.w.Rows[i].Credit.ID)
	}
}

func doubtBlocks(v *view) {
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		a := account{c.Identity, c.Login}
		for _, e := range v.newClaims(i) {
			stops := v.m.blocked[a]
			if !v.m.began && v.w.OneClock {
				stops = v.blockedAt(a, e.At)
			}
			for _, s := range stops {
				if !s.late || s.row != c.ID { // looks after its own late answer have cleared the row
					v.row(i, "credit %d was claimed on login %d of %s although %s there", c.ID, c.Login, c.Identity, s.why)
				}
			}
		}
	}
}

// stop is a reason why nothing may be claimed on a login.
type stop struct {
	why  string
	row  credit.ID // that it is about
	late bool      // a late answer
}

// blockedAt says what was in doubt on a login at a moment, by the times of its tasks.
func (v *view) blockedAt(a account, at time.Time) (out []stop) {
	for j := range v.w.Tasks {
		t := &v.w.Tasks[j]
		id := rowOf(t.Entity)
		row, ok := v.byID[id]
		if !ok || t.Kind == "held" { // what a row was held for when its task was open is not stored
			continue
		}
		c := &v.w.Rows[row].Credit
		if (account{c.Identity, c.Login}) != a || at.Before(t.OpenedAt.Add(slack)) || (!t.ClosedAt.IsZero() && at.After(t.ClosedAt.Add(-slack))) {
			continue
		}
		if why := doubt(t.Kind, c); why != "" {
			out = append(out, stop{why, id, t.Kind == "late_answer"})
		}
	}
	return out
}

func allowed(v *view) {
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		for _, e := range v.newClaims(i) {
			closed := v.m.began && v.m.mode != "live" && v.w.Settings.Mode != "live"
			if !v.m.began && v.w.OneClock && v.w.Settings.Mode != "live" && e.At.After(v.w.Settings.ModeAt.Add(slack)) {
				closed = true
			}
			if closed {
				v.row(i, "credit %d was claimed in mode %s", c.ID, v.w.Settings.Mode)
			}
		}
	}
	if !v.w.has(Calls) {
		return
	}
	for i := v.m.calls; i < len(v.w.Calls); i++ {
		if c := &v.w.Calls[i]; c.Forbidden != "" && !c.Foreign {
			row, _ := v.unit(c.Reference)
			v.find(v.ids(row), "a call for %s was sent although %s", c.Reference, c.Forbidden)
		}
	}
}
