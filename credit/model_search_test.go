package credit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// modelResult is what a search found.
type modelResult struct {
	states int
	edges  int
	depth  int
	broken string   // the property that broke; empty: none
	story  []string // the shortest way there
	stuck  int      // states from which some row never gets to its end or to a person
	cut    bool     // the search met its bound
	took   time.Duration
}

// modelSearch holds every state, in the order in which they were found: breadth first, so that the first way to each is
// a shortest one.
type modelSearch struct {
	m      *model
	index  map[modelState]int32
	states []modelState
	from   []int32
	what   []modelLabel
	links  []modelLink
}

// modelLabel is an edge's text, without the world after it.
type modelLabel struct {
	text string
	row  modelRow
	i, u uint8
}

// modelLink is an edge, for looking back.
type modelLink struct {
	from, to int32
	class    uint8
}

func (m *model) first() modelState {
	s := modelState{
		crashes: m.crashes, falseRefusals: m.falseRefusals, staleLooks: m.staleLooks, suspensions: m.suspensions,
		stayHidden: m.stayHidden, restores: m.restores, live: !m.observe, deposit: !m.lateDeposit,
	}
	if m.copied {
		s.copies = 1
	}
	settings := Settings{StoreID: "model", Environment: "live", Mode: ModeLive, CutoverAt: modelCutover, Pins: []Pin{{Name: "provider/stripe-eu", Value: "stripe acct_1"}}}
	if m.observe {
		settings.Mode, settings.CutoverAt = ModeObserve, time.Time{}
	}
	s.at[0] = modelInstance{alive: true, settings: m.settings.keep(settings), deposit: !m.lateDeposit, started: uint8(m.rows.longest() / modelTick)}
	return s
}

// search goes through every state that can be reached, up to most. It ends at the first breach.
func (m *model) search(most int, liveness bool) modelResult {
	return m.searchFrom(m.first(), most, liveness)
}

// searchFrom is search from any state.
func (m *model) searchFrom(first modelState, most int, liveness bool) modelResult {
	began := time.Now()
	z := &modelSearch{m: m, index: map[modelState]int32{}}
	z.index[first] = 0
	z.states, z.from, z.what = []modelState{first}, []int32{-1}, []modelLabel{{}}
	out := modelResult{}
	var edges []modelEdge
	for at := 0; at < len(z.states); at++ {
		if len(z.states) > most {
			out.cut = true
			break
		}
		s := z.states[at]
		edges = m.next(&s, edges[:0])
		for e := range edges {
			out.edges++
			n, seen := z.index[edges[e].to]
			if !seen {
				n = z.remember(at, &edges[e])
			}
			if liveness {
				z.links = append(z.links, modelLink{int32(at), n, edges[e].class})
			}
			if !seen && edges[e].to.broken != 0 {
				out.broken, out.story = modelBreaches[edges[e].to.broken], z.story(n)
				out.states, out.depth, out.took = len(z.states), len(out.story), time.Since(began)
				return out
			}
		}
	}
	out.states, out.depth = len(z.states), len(z.way(int32(len(z.states)-1)))
	if liveness && !out.cut {
		out.stuck, out.story = z.stuck()
	}
	out.took = time.Since(began)
	return out
}

func (z *modelSearch) remember(from int, e *modelEdge) int32 {
	n := int32(len(z.states))
	z.index[e.to] = n
	z.states, z.from = append(z.states, e.to), append(z.from, int32(from))
	z.what = append(z.what, modelLabel{e.text, e.row, e.i, e.u})
	return n
}

func (z *modelSearch) way(n int32) []int32 {
	var out []int32
	for ; n > 0; n = z.from[n] {
		out = append([]int32{n}, out...)
	}
	return out
}

// story tells the way to a state in numbered sentences.
func (z *modelSearch) story(n int32) []string {
	var out []string
	for _, at := range z.way(n) {
		out = append(out, fmt.Sprintf("%2d. %s.", len(out)+1, z.m.tell(z.what[at])))
	}
	return out
}

func (m *model) tell(l modelLabel) string {
	state := ""
	if l.row != 0 {
		f := m.rows.of(l.row)
		state = string(f.row.State)
		for _, h := range f.row.Holds {
			state += " " + string(h)
		}
		for _, k := range modelTasks {
			if f.has(k) {
				state += ", with a task (" + string(k) + ")"
			}
		}
	}
	text := strings.NewReplacer("{i}", [2]string{"the service", "the copy"}[l.i], "{p}", [2]string{"one", "two"}[l.u], "{s}", state).Replace(l.text)
	return strings.ToUpper(text[:1]) + text[1:]
}

// attended tells that every row of every store is at its end, waits for people with a task that says so, or waits behind
// such a row; rows from before the cut-over need no task.
func (z *modelSearch) attended(s *modelState) bool {
	for i := range s.at {
		in := &s.at[i]
		if !in.alive {
			continue
		}
		for u := range z.m.units {
			if in.rows[u] == 0 {
				if s.events[u] > 0 && !z.m.noResend {
					return false // acknowledged, and not here
				}
				continue
			}
			if !z.m.cared(z.m.rows.of(in.rows[u]), z.m.settings.kept[in.settings]) {
				return false
			}
		}
	}
	return true
}

// cared tells that the row is at its end or that people are asked about it.
func (m *model) cared(f *modelFile, s Settings) bool {
	switch f.row.State {
	case Done, Cancelled:
		return true
	case Held:
		return f.has(TaskHeld) || f.row.HasHold(HoldPreCutover) || (s.Mode == ModeHold && f.row.HasHold(HoldRestored))
	case Failed:
		return f.has(TaskFailed)
	case Unknown:
		return f.has(TaskNoAnswer) || f.has(TaskConflict) || f.has(TaskHandedOver)
	case Pending:
		return f.has(TaskStuck) || s.Mode != ModeLive
	case New, Claimed:
	}
	return false
}

// finished tells that every row of every store is at its end.
func (z *modelSearch) finished(s *modelState) bool {
	for i := range s.at {
		for u, n := range s.at[i].rows {
			if s.at[i].alive && n == 0 && u < z.m.units && s.events[u] > 0 && !z.m.noResend {
				return false
			}
			if s.at[i].alive && n != 0 && !z.m.rows.of(n).row.State.Terminal() {
				return false
			}
		}
	}
	return true
}

// stuck counts the states that no row gets out of: by itself to its end or to a person, and with people to its end.
func (z *modelSearch) stuck() (int, []string) {
	alone := z.leadsTo(z.attended, 1<<byItself|1<<byEvent)
	ends := []bool(nil)
	if z.m.people {
		ends = z.leadsTo(z.finished, 1<<byItself|1<<byEvent|1<<byPeople)
	}
	count, first := 0, int32(-1)
	for n := range z.states {
		if alone[n] && (ends == nil || ends[n] || z.outOfReach(&z.states[n])) {
			continue
		}
		count++
		if first < 0 {
			first = int32(n)
		}
	}
	if first < 0 {
		return 0, nil
	}
	story := z.story(first)
	for u, n := range z.states[first].at[0].rows {
		if n != 0 {
			story = append(story, fmt.Sprintf("    and from there payment %d stays %s (ends alone: %v)", u+1, z.m.tell(modelLabel{text: "{s}", row: n}), alone[first]))
		}
	}
	return count, story
}

// outOfReach tells of worlds in which people cannot end every row: MT5 has a deal made by hand for a payment whose row they
// do not close, and cannot adopt any more.
func (z *modelSearch) outOfReach(s *modelState) bool { return s.hand.is != handNone }

// leadsTo marks the states from which a wanted one can be reached by edges of the classes.
func (z *modelSearch) leadsTo(wanted func(*modelState) bool, classes uint8) []bool {
	head := make([]int32, len(z.states))
	for i := range head {
		head[i] = -1
	}
	next := make([]int32, len(z.links))
	for i, l := range z.links {
		next[i], head[l.to] = head[l.to], int32(i)
	}
	good := make([]bool, len(z.states))
	var open []int32
	for n := range z.states {
		if wanted(&z.states[n]) {
			good[n], open = true, append(open, int32(n))
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for l := head[at]; l >= 0; l = next[l] {
			if from := z.links[l].from; classes>>z.links[l].class&1 == 1 && !good[from] {
				good[from], open = true, append(open, from)
			}
		}
	}
	return good
}

// tellResult logs what the search did.
func (r modelResult) log(t *testing.T) {
	t.Helper()
	t.Logf("%d states, %d edges, depth %d, %v", r.states, r.edges, r.depth, r.took.Round(time.Millisecond))
}
