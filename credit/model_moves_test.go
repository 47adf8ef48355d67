package credit

// The classes of what happens: what the service and MT5 do by themselves, what the outside brings, faults, people.
const (
	byItself uint8 = iota
	byEvent
	byFault
	byPeople
)

// modelEdge is one thing that happens, and the world after it.
type modelEdge struct {
	to    modelState
	class uint8
	text  string // with {i} for the instance, {p} for the payment, {s} for the state that the row has then
	i, u  uint8
	row   modelRow
}

// modelNext collects what may happen next.
type modelNext struct {
	m     *model
	s     *modelState
	edges []modelEdge
}

func (x *modelNext) add(to modelState, class uint8, text string, i, u int, row modelRow) {
	x.edges = append(x.edges, modelEdge{to: to, class: class, text: text, i: uint8(i), u: uint8(u), row: row})
}

// breach notes the first thing that is wrong, where the search wants to know of it.
func (x *modelNext) breach(t *modelState, what uint8) {
	if t.broken == 0 && x.m.wants>>what&1 == 1 {
		t.broken = what
	}
}

// put gives the row its new content and judges it against what MT5 really has.
func (x *modelNext) put(t *modelState, i, u int, step modelStep) {
	m := x.m
	t.at[i].rows[u] = step.row
	row := &m.rows.of(step.row).row
	mine := func(slot int) bool { return row.Ticket == ticketOf(u, slot) && t.requests[u][slot].executed() }
	if row.State == Done && row.Ticket != handTicket && !mine(0) && !mine(1) {
		x.breach(t, doneWithoutDeal)
	}
	if step.unproven != "" {
		x.breach(t, repeatedUnproven)
	}
}

func (m *model) next(s *modelState, edges []modelEdge) []modelEdge {
	x := modelNext{m: m, s: s, edges: edges}
	for i := range s.at {
		if !s.at[i].alive {
			continue
		}
		x.intake(i)
		x.worker(i)
		x.keeper(i)
		x.looker(i)
		if m.people {
			x.people(i)
		}
		x.modes(i)
		x.restoring(i)
		x.crash(i)
	}
	x.stores()

	x.outside()
	x.mt5()
	x.time()
	return x.edges
}

// env is what a decision about the unit's row is shown.
func (x *modelNext) env(i, u int) modelEnv {
	in := &x.s.at[i]
	env := modelEnv{settings: in.settings, deposit: in.deposit, moved: in.moved, started: in.started, waits: in.waits}
	if n := in.rows[1-u]; n != 0 {
		other := &x.m.rows.of(n).row
		env.other, env.taken = other.Ticket, x.m.oneDeposit && other.Joined() && !other.Further
		if !x.m.otherLogin {
			env.stopped = x.m.rows.of(n).stops
		}
		env.further = x.m.oneDeposit && other.Further
		env.busy = other.State.Open() && !x.m.otherLogin && !x.m.off.oneOpen
	}
	return env
}

func (x *modelNext) key(what string, i, u int, env modelEnv) modelKey {
	return modelKey{what: what, unit: u, row: x.s.at[i].rows[u], env: env}
}

func (x *modelNext) mode(i int) Mode { return x.m.settings.kept[x.s.at[i].settings].Mode }

// calling tells that the instance has a call for the unit under way.
func (x *modelNext) calling(i, u int) bool {
	w := &x.s.at[i].work
	return w.step >= workClaimed && int(w.unit) == u && !x.m.off.guard
}

// intake: the provider delivers the payment, or delivers it again.
func (x *modelNext) intake(i int) {
	m, s := x.m, x.s
	for u := range m.units {
		again := s.events[u] > 0
		switch {
		case s.at[i].rows[u] != 0, // a repeat changes nothing
			m.before>>u&1 == 0 && !s.live,
			m.noResend && again && i == 0:
			continue
		}
		env := x.env(i, u)
		env.old = s.old>>u&1 == 1
		k := x.key("accept", i, u, env)
		step := m.once(k, func(k modelKey) modelStep { return m.accept(k, u) })
		t := *s
		t.events[u] = min(s.events[u]+1, 2)
		x.put(&t, i, u, step)
		x.add(t, byEvent, "{i} takes in payment {p}: it is {s}", i, u, step.row)
	}
}

// idle ends the worker's turn.
func (t *modelState) idle(i int) {
	w := &t.at[i].work
	if w.step >= workSent && t.requests[w.unit][w.slot].is == reqDropped {
		t.requests[w.unit][w.slot] = modelRequest{}
	}
	*w = modelWorker{}
}

// worker: the lane's turn with one row, up to each point where other things may happen in between.
func (x *modelNext) worker(i int) {
	s := x.s
	w := &s.at[i].work
	u := int(w.unit)
	switch w.step {
	case workIdle:
		for u := range x.m.units {
			x.take(i, u)
		}
	case workAsked:
		x.lookFirst(i, u)
	case workLooked:
		x.claim(i, u)
	case workClaimed:
		if w.age > w.deadline && !x.m.off.deadline {
			x.record(i, u, OutcomeNotSent, 0, byItself, "{i} sends nothing for payment {p}: the send deadline is over; the row is {s}")
			return
		}
		t := *s
		t.at[i].work.step = workChecked
		x.add(t, byItself, "{i} checks the send deadline of payment {p}", i, u, 0)
	case workChecked:
		x.send(i, u)
	case workSent:
		x.answer(i, u)
	case workAnswered:
		x.record(i, u, OutcomeApplied, ticketOf(u, int(w.slot)), byItself, "{i} reads the deal of payment {p} back: the row is {s}")
	}
}

func (x *modelNext) take(i, u int) {
	m, s := x.m, x.s
	n := s.at[i].rows[u]
	if n == 0 || m.rows.of(n).row.State != Pending || x.mode(i) != ModeLive {
		return
	}
	if in := &s.at[i]; in.waits && m.process(in.started).Started+m.timing.Quarantine > modelBoot {
		return // as Lane.round does; the claim checks it again
	}
	env := x.env(i, u)
	env.changed = s.account > 0
	step := m.once(x.key("take", i, u, env), m.take)
	t := *s
	x.put(&t, i, u, step)
	switch {
	case step.reached:
		t.at[i].work = modelWorker{step: workAsked, unit: uint8(u), was: n}
		x.add(t, byItself, "{i} takes up payment {p}: MT5's account is as it should be", i, u, step.row)
	case step.row != n:
		x.add(t, byItself, "{i} takes up payment {p} and gets no further: the row is {s}", i, u, step.row)
	}
}

func (x *modelNext) lookFirst(i, u int) {
	m, s := x.m, x.s
	w := s.at[i].work
	env := x.env(i, u)
	env.asked, env.changed, env.seen = w.age, s.account > 0, m.shown(s, u)
	if m.off.lookFirst {
		env.seen, env.changed = 0, false
	}
	k := x.key("look first", i, u, env)
	k.was = w.was
	x.lookedFirst(i, u, m.once(k, m.lookFirst), s, byItself, "{i} looks before the call of payment {p}")
	if hidden := env.seen &^ 0xf; s.staleLooks > 0 && hidden != env.seen {
		k.env.seen = hidden
		t := *s
		t.staleLooks--
		x.lookedFirst(i, u, m.once(k, m.lookFirst), &t, byFault, "{i} looks before the call of payment {p}, and MT5 hides deals that it showed")
	}
}

func (x *modelNext) lookedFirst(i, u int, step modelStep, from *modelState, class uint8, text string) {
	t := *from
	x.put(&t, i, u, step)
	if step.reached {
		t.at[i].work.step, t.at[i].work.age = workLooked, step.asked
		x.add(t, class, text+": no deal", i, u, step.row)
		return
	}
	t.idle(i)
	x.add(t, class, text+": the row is {s}", i, u, step.row)
}

func (x *modelNext) claim(i, u int) {
	m, s := x.m, x.s
	w := s.at[i].work
	env := x.env(i, u)
	env.asked = w.age
	k := x.key("claim", i, u, env)
	k.was = w.was
	step := m.once(k, m.claim)
	t := *s
	x.put(&t, i, u, step)
	if !step.reached {
		t.idle(i)
		x.add(t, byItself, "{i} does not claim payment {p}: the row is {s}", i, u, step.row)
		return
	}
	t.at[i].work = modelWorker{step: workClaimed, unit: uint8(u), was: step.row, deadline: step.deadline}
	if s.hand.is == handLong && int(s.hand.unit) == u {
		x.breach(&t, paidBesideHand)
	}
	if s.account == 2 {
		x.breach(&t, wrongAccount)
	}
	if c := step.call; c.Login != m.payments[u].login || !c.Amount.Equal(usd(50000)) || c.Reference != m.payments[u].reference {
		x.breach(&t, wrongCall)
	}
	if i == 0 && s.backup.taken {
		t.claims = min(t.claims+1, 2)
	}
	x.add(t, byItself, "{i} claims payment {p}", i, u, step.row)
}

// send: the bytes leave. What held when the deadline was checked may not hold any more.
func (x *modelNext) send(i, u int) {
	m, s := x.m, x.s
	w := s.at[i].work
	if m.atTheWrite && w.age > w.deadline && !m.off.deadline {
		x.record(i, u, OutcomeNotSent, 0, byItself, "{i} sends nothing for payment {p}: the write finds the deadline over; the row is {s}")
		return
	}
	for k, r := range s.requests[u] {
		if r.is != reqNone {
			continue
		}
		t := *s
		t.requests[u][k] = modelRequest{reqUnderWay, 1}
		t.at[i].work.step, t.at[i].work.slot = workSent, uint8(k)
		x.add(t, byItself, "{i} sends the call of payment {p}", i, u, 0)
		return
	}
}

func (x *modelNext) answer(i, u int) {
	m, s := x.m, x.s
	slot := s.at[i].work.slot
	r := s.requests[u][slot]
	if !m.sureAnswer {
		x.record(i, u, OutcomeUnknown, 0, byItself, "{i} gets no answer about payment {p}: the row is {s}")
	}
	if r.is == reqDropped {
		x.record(i, u, OutcomeRefused, 0, byItself, "MT5 refuses the call of payment {p} by {i}: the row is {s}")
	} else if s.falseRefusals > 0 {
		x.record(i, u, OutcomeRefused, 0, byFault, "MT5 answers {i} with a refusal that is not true; the row of payment {p} is {s}")
	}
	t := *s
	t.at[i].work.step = workAnswered
	if r.executed() {
		x.add(t, byItself, "MT5 answers {i} that payment {p} is applied", i, u, 0)
	} else if m.falseSuccess {
		x.add(t, byFault, "MT5 answers {i} that payment {p} is applied, which is not true", i, u, 0)
	}
}

// record writes how the call ended.
func (x *modelNext) record(i, u int, outcome Outcome, ticket uint64, class uint8, text string) {
	m, s := x.m, x.s
	env := x.env(i, u)
	env.outcome, env.ticket, env.seen = outcome, ticket, m.shown(s, u)
	k := x.key("record", i, u, env)
	k.was = s.at[i].work.was
	step := m.once(k, m.record)
	t := *s
	if class == byFault {
		t.falseRefusals--
	}
	x.put(&t, i, u, step)
	t.idle(i)
	x.add(t, class, text, i, u, step.row)
}

// keeper ends leases and grace times.
func (x *modelNext) keeper(i int) {
	m, s := x.m, x.s
	for u := range m.units {
		n := s.at[i].rows[u]
		if n == 0 {
			continue
		}
		row := &m.rows.of(n).row
		waits := row.State == Held && !row.NextAt.IsZero()
		over := row.State == Claimed && row.LeaseUntil.Boot < modelBoot && (!m.sureAnswer || s.at[i].work.step < workSent)
		if !waits && !over {
			continue
		}
		step := m.once(x.key("sweep", i, u, x.env(i, u)), m.sweep)
		if step.row == n {
			continue
		}
		t := *s
		x.put(&t, i, u, step)
		x.add(t, byItself, "{i} ends a lease or a grace time of payment {p}: the row is {s}", i, u, step.row)
	}
}

// looker: the loop that looks at unknown rows, and people who look by hand at rows that no loop looks at. A look that sees
// no deal is decided on later: anything may happen in between.
func (x *modelNext) looker(i int) {
	m, s := x.m, x.s
	in := &s.at[i]
	if in.look.unit > 0 {
		x.verdict(i, int(in.look.unit-1), VerdictAbsent, 0, in.look.age, in.look.byHand, s, byItself, "{i} decides on its look at payment {p}: the row is {s}")
		return
	}
	for u := range m.units {
		n := in.rows[u]
		if n == 0 {
			continue
		}
		row := &m.rows.of(n).row
		byHand := m.people && row.Joined() && (row.State == Held || row.State == Failed)
		if row.State != Unknown && !byHand {
			continue
		}
		env := x.env(i, u)
		env.seen = m.shown(s, u)
		x.look(i, u, env, byHand, s, byItself, "{i} looks at payment {p}")
		if hidden := env.seen &^ 0xf; s.staleLooks > 0 && hidden != env.seen {
			env.seen = hidden
			t := *s
			t.staleLooks--
			x.look(i, u, env, byHand, &t, byFault, "{i} looks at payment {p}, and MT5 hides deals that it showed")
		}
	}
}

func (x *modelNext) look(i, u int, env modelEnv, byHand bool, from *modelState, class uint8, text string) {
	saw := x.m.once(x.key("see", i, u, env), x.m.see)
	if saw.verdict != VerdictAbsent {
		x.verdict(i, u, saw.verdict, saw.ticket, 0, byHand, from, class, text+" and finds something: the row is {s}")
		return
	}
	t := *from
	t.at[i].look = modelLook{unit: uint8(u + 1), byHand: byHand}
	x.add(t, class, text+": no deal", i, u, 0)
}

func (x *modelNext) verdict(i, u int, v Verdict, ticket uint64, age uint8, byHand bool, from *modelState, class uint8, text string) {
	m := x.m
	env := x.env(i, u)
	env.verdict, env.ticket, env.asked, env.live = v, ticket, age, x.calling(i, u)
	if byHand {
		env.act = "by hand"
	}
	n := from.at[i].rows[u]
	step := modelStep{row: n}
	if n != 0 {
		step = m.once(x.key("decide on a look", i, u, env), func(k modelKey) modelStep { return m.looked(k, byHand) })
	}
	t := *from
	if v == VerdictAbsent {
		t.at[i].look = modelLook{}
	} else if step.row == n {
		return
	}
	if n != 0 {
		x.put(&t, i, u, step)
		if m.rows.of(n).row.State == Unknown && m.rows.of(step.row).row.State == Pending && !x.toBeMoved(i) {
			for _, r := range from.requests[u] {
				if r.is == reqUnderWay || r.executed() {
					x.breach(&t, repeatedTooEarly)
				}
			}
		}
	}
	x.add(t, class, text, i, u, step.row)
}

// toBeMoved tells that nothing is claimed before a restore or takeover has made every row unknown that is pending now: a
// row that becomes pending meanwhile is not repeated by that.
func (x *modelNext) toBeMoved(i int) bool {
	s := x.m.settings.kept[x.s.at[i].settings]
	return s.Doubt != nil || (s.Restore != nil && s.Restore.MovedAt.IsZero())
}

// crash: the process ends and the next one starts.
func (x *modelNext) crash(i int) {
	in := &x.s.at[i]
	if x.s.crashes == 0 || (in.work.step == workIdle && in.look.unit == 0) {
		return
	}
	t := *x.s
	t.crashes--
	t.idle(i)
	x.start(&t, i)
	x.add(t, byFault, "{i} is killed and starts again", i, 0, 0)
}

// start is a process start over the store of the instance.
func (x *modelNext) start(t *modelState, i int) {
	in := &t.at[i]
	in.look, in.started, in.waits, in.settings = modelLook{}, 0, false, x.m.settings.carriedOver(in.settings)
	for u, n := range in.rows {
		if n == 0 {
			continue
		}
		k := modelKey{what: "start", row: n, env: modelEnv{settings: in.settings}}
		x.put(t, i, u, x.m.once(k, x.m.restart))
	}
}
