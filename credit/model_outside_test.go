package credit

import "time"

// people: what people decide about rows, each as its gates allow it. They know what they see at MT5 and what they did by
// hand there, and they do not close a payment that they paid by hand.
func (x *modelNext) people(i int) {
	m, s := x.m, x.s
	for u := range m.units {
		n := s.at[i].rows[u]
		if n == 0 {
			continue
		}
		row := &m.rows.of(n).row
		byHand := s.hand.is != handNone && int(s.hand.unit) == u
		if x.m.rows.of(n).stops != 0 {
			x.act(i, u, "settled", 0, "a person closes what is settled about payment {p} at {i}")
		}
		ended := s.closed>>u&1 == 1 // people remember what they closed, though a backup may not
		if !ended && (row.State == Failed || row.State == Unknown) {
			x.act(i, u, "retry", 0, "people ask {i} to try payment {p} again: the row is {s}")
		}
		if !ended && row.State == Held {
			x.act(i, u, "release", 0, "two people release payment {p} at {i}: the row is {s}")
		}
		if row.State != Held && row.State != Unknown && row.State != Failed {
			continue
		}
		if !byHand {
			x.act(i, u, "close", 0, "two people close payment {p} at {i} without a deal: the row is {s}")
		}
		if row.State == Failed {
			continue
		}
		own := false
		for _, r := range s.requests[u] {
			own = own || r.is == reqVisible
		}
		if s.hand.is >= handVisible && byHand && !own {
			x.act(i, u, "adopt", handTicket, "two people adopt the deal made by hand for payment {p} at {i}: the row is {s}")
		} else if s.hand.is >= handVisible && !byHand {
			x.act(i, u, "not this", handTicket, "two people note at {i} that the deal made by hand is not payment {p}: the row is {s}")
		}
		for v := range m.units {
			for k, r := range s.requests[v] {
				switch {
				case r.is != reqVisible:
				case v == u:
					x.act(i, u, "adopt", ticketOf(v, k), "two people adopt the deal that MT5 shows for payment {p} at {i}: the row is {s}")
				case m.mistaken:
					x.act(i, u, "adopt", ticketOf(v, k), "two people adopt the other payment's deal for payment {p} at {i}: the row is {s}")
				}
			}
		}
	}
}

func (x *modelNext) act(i, u int, act string, ticket uint64, text string) {
	m, s := x.m, x.s
	env := x.env(i, u)
	env.act, env.ticket, env.live = act, ticket, x.calling(i, u)
	n := s.at[i].rows[u]
	step := m.once(x.key("people", i, u, env), m.act)
	if step.row == n {
		return
	}
	t := *s
	x.put(&t, i, u, step)
	switch after := m.rows.of(step.row).row; {
	case after.State == Cancelled || after.Ticket == handTicket:
		t.closed |= 1 << u
		for _, r := range s.requests[u] {
			if r.executed() {
				x.breach(&t, paidAfterClosing)
			}
		}
	case after.State == Pending || after.Grants > 0:
		t.released |= 1 << u
	}
	x.add(t, byPeople, text, i, u, step.row)
}

// modes: what people decide about the whole service.
func (x *modelNext) modes(i int) {
	if t := *x.s; x.settled(&t, i, "go live", byPeople, "two people let {i} go live", func(s Settings, _ Guard) (Settings, error) {
		return GoLive(s, modelPeople, time.Time{})
	}) {
		t.live = true
		x.edges[len(x.edges)-1].to = t
	}
	t := *x.s
	x.settled(&t, i, "release", byPeople, "two people release the mode of {i}", func(s Settings, g Guard) (Settings, error) {
		return ReleaseMode(s, modelPeople, g)
	})
	if x.m.off.fence || !x.s.at[1-i].alive { // the fence comes before the takeover
		x.older(&t)
		x.settled(&t, i, "take over", byPeople, "two people take {i} over", func(s Settings, g Guard) (Settings, error) {
			change, err := TakeOver(s, modelPeople, g, "password changed", "new", nil)
			return change.Settings, err
		})
	}
}

// modelSettling is a decision about the settings.
type modelSettling struct {
	what    string
	before  modelSettings
	started uint8
}

// settled makes a decision about the settings, or finds it, and adds what it leads to.
func (x *modelNext) settled(t *modelState, i int, what string, class uint8, text string, decide func(Settings, Guard) (Settings, error)) bool {
	m, in := x.m, &t.at[i]
	k := modelSettling{what, in.settings, in.started}
	after, ok := m.settledBefore[k]
	if !ok {
		after = in.settings
		if s, err := decide(m.settings.kept[in.settings], m.guard(modelKey{env: modelEnv{started: in.started}})); err == nil {
			after = m.settings.keep(s)
		}
		m.settledBefore[k] = after
	}
	if after == in.settings {
		return false
	}
	in.settings = after
	x.add(*t, class, text, i, 0, 0)
	return true
}

// outside: deposits, owners, accounts at MT5 and deals made by hand.
func (x *modelNext) outside() {
	m, s := x.m, x.s
	if m.lateDeposit && !s.deposit {
		t := *s
		t.deposit = true
		for i := range t.at {
			if in := &t.at[i]; in.alive {
				rows := m.both("join", in, m.join)
				for u := range rows {
					x.put(&t, i, u, modelStep{row: rows[u]})
				}
				in.deposit = true
			}
		}
		x.add(t, byEvent, "the portal makes the deposit", 0, 0, 0)
	}
	if m.owner && s.at[0].alive && !s.at[0].moved {
		t := *s
		t.at[0].rows, t.at[0].moved = m.both("register", &t.at[0], m.register), true
		x.add(t, byFault, "the portal registers another client for the login", 0, 0, 0)
	}
	if m.account && s.account == 0 {
		t := *s
		t.account = 1
		x.add(t, byFault, "MT5 makes another account of the login", 0, 0, 0)
	}
	x.madeByHand()
}

// madeByHand: somebody pays a payment by hand, without the reference: in place of the service, or as the flow before.
func (x *modelNext) madeByHand() {
	m, s := x.m, x.s
	if !m.hand || s.hand.is != handNone {
		return
	}
	for u := range m.units {
		known := s.events[u] > 0
		if m.observe {
			known = m.before>>u&1 == 1
		}
		for _, r := range s.requests[u] {
			known = known && !r.executed()
		}
		if !known || s.closed>>u&1 == 1 {
			continue
		}
		t := *s
		t.hand = modelHand{is: handHidden, unit: uint8(u), left: 1}
		x.add(t, byEvent, "somebody makes a deal for payment {p} by hand, without the reference", 0, u, 0)
	}
}

// mt5 executes what is under way, or drops it, and shows what is hidden.
func (x *modelNext) mt5() {
	m, s := x.m, x.s
	for u := range m.units {
		for k, r := range s.requests[u] {
			switch r.is {
			case reqUnderWay:
				x.executes(u, k)
				t := *s
				t.requests[u][k] = modelRequest{}
				for i := range s.at {
					if w := &s.at[i].work; s.at[i].alive && w.step >= workSent && int(w.unit) == u && int(w.slot) == k {
						t.requests[u][k] = modelRequest{is: reqDropped}
					}
				}
				x.add(t, byItself, "MT5 drops the call of payment {p}", 0, u, 0)
			case reqHidden:
				t := *s
				t.requests[u][k] = modelRequest{is: reqVisible}
				x.add(t, byItself, "MT5 shows the deal of payment {p}", 0, u, 0)
			}
		}
	}
	if s.hand.is == handHidden {
		t := *s
		t.hand.is, t.hand.left = handVisible, 0
		x.add(t, byItself, "MT5 shows the deal made by hand", 0, 0, 0)
	}
}

func (x *modelNext) executes(u, k int) {
	m, t := x.m, *x.s
	t.requests[u][k] = modelRequest{reqHidden, 1}
	deals := 0
	for _, r := range t.requests[u] {
		if r.executed() {
			deals++
		}
	}
	switch {
	case deals > 1:
		x.breach(&t, twoDeals)
	case m.before>>u&1 == 1:
		x.breach(&t, paidBefore)
	case t.closed>>u&1 == 1:
		x.breach(&t, paidAfterClosing)
	case m.oneDeposit && t.released == 0:
		for _, r := range t.requests[1-u] {
			if r.executed() {
				x.breach(&t, depositTwice)
			}
		}
	}
	x.add(t, byItself, "MT5 executes the call of payment {p}", 0, u, 0)
}

// time: a tick goes by, unless something must happen before it.
func (x *modelNext) time() {
	s := x.s
	urgent, hidden := s.hand.is == handHidden && s.hand.left == 0, false
	for u := range s.requests {
		for _, r := range s.requests[u] {
			if r.left == 0 && r.is == reqUnderWay {
				urgent = true
			}
			hidden = hidden || (r.left == 0 && r.is == reqHidden)
		}
	}
	for i := range s.at { // a look ends some time: nobody holds one for long
		urgent = urgent || (s.at[i].look.unit > 0 && s.at[i].look.age >= x.m.slowLook)
	}
	switch {
	case !urgent && !hidden:
		x.add(x.tick(-1), byItself, "three minutes go by", 0, 0, 0)
		if s.suspensions > 0 {
			t := x.tick(0)
			t.suspensions--
			x.add(t, byFault, "three minutes go by while the machine of {i} is suspended", 0, 0, 0)
		}
	case !urgent && s.stayHidden > 0:
		t := x.tick(-1)
		t.stayHidden--
		x.add(t, byFault, "three minutes go by, and MT5 still hides a deal that it should show", 0, 0, 0)
	}
}

// tick makes everything older. The suspended instance's clock goes on too; where that rule is off, it stands still.
func (x *modelNext) tick(suspended int) modelState {
	m, t := x.m, *x.s
	for u := range t.requests {
		for k := range t.requests[u] {
			t.requests[u][k].left -= min(t.requests[u][k].left, 1)
		}
	}
	t.hand.left -= min(t.hand.left, 1)
	if t.hand.is == handVisible {
		t.hand.is = handLong
	}
	if t.account == 1 {
		t.account = 2
	}
	for i := range t.at {
		in := &t.at[i]
		if !in.alive || (i == suspended && m.off.bootClock) {
			continue
		}
		in.started = min(in.started+1, uint8(m.rows.longest()/modelTick))
		if in.work.step != workIdle {
			in.work.age = 1 // older evidence and later calls are no better
		}
		if in.look.unit > 0 {
			in.look.age = min(in.look.age+1, uint8(m.rows.longest()/modelTick))
		}
		in.settings = m.settings.older(in.settings)
		for u, n := range in.rows {
			if n != 0 {
				in.rows[u] = m.once(modelKey{what: "tick", row: n}, func(k modelKey) modelStep { return modelStep{row: m.rows.older(k.row)} }).row
			}
		}
	}
	return t
}
