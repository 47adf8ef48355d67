package credit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// reducedText is what the real lane and the model must agree on: everything of a row but the ages of its moments.
func reducedText(f modelFile, rt *rowTable) string {
	c := f.row
	rt.marks(&c, func(m Mark, _ time.Duration) Mark {
		if m.Process != "" {
			m = Mark{Process: modelProcess}
		}
		return m
	}, 0)
	c = rt.canonical(c)
	c.LeaseUntil.Boot, c.PaidAt, c.DepositAt = 0, time.Time{}, time.Time{}
	rt.marks(&c, func(m Mark, _ time.Duration) Mark { return Mark{Process: m.Process} }, 0)
	if c.Token != "" {
		c.Token = "token"
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	var tasks []string
	for _, k := range modelTasks {
		if f.has(k) {
			tasks = append(tasks, string(k))
		}
	}
	return fmt.Sprintf("%s %v", text, tasks)
}

// lived is what a row was in the real world, each content once in a row.
func lived(notes []Note, id ID, rt *rowTable) []string {
	var out []string
	var f modelFile
	seen := func() {
		if f.row.ID == 0 {
			return
		}
		if now := reducedText(f, rt); len(out) == 0 || out[len(out)-1] != now {
			out = append(out, now)
		}
	}
	for _, n := range notes {
		switch {
		case n.What == "row moved" && n.Row.ID == id:
			seen()
			f.row = *n.Row
		case n.What == "task opened" && n.Task.Entity == RowEntity(id):
			f.tasks |= taskBit(n.Task.Kind)
		case n.What == "task closed" && n.Task.Entity == RowEntity(id):
			f.tasks &^= taskBit(n.Task.Kind)
		}
	}
	seen()
	return out
}

// The model's steps are the lane's: one scripted session each, through the real loops on their real clock and through the
// model's steps, and the row goes through the very same contents.
func TestModel_StepsAreThoseOfTheRealLoops(t *testing.T) {
	lost := CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
	absent := []string{"looks at payment one: no deal", "decides on its look"}
	absentTwice := slices.Concat(threeTicks, absent, []string{"Three minutes go by"}, absent)
	executed := []string{"MT5 executes", "MT5 shows"}
	for name, c := range map[string]struct {
		scene modelScene
		set   func(w *world) // before the loops run
		lives time.Duration
		steps []string
	}{
		"credited": {
			lives: time.Second,
			steps: slices.Concat(uptoTheCall, executed, []string{"that payment one is applied", "reads the deal of payment one back"}),
		},
		"refused": {
			set: func(w *world) {
				w.mt5.balance = func(int, Call) CallResult { return CallResult{Outcome: OutcomeRefused, Code: "10019"} }
			},
			lives: time.Second,
			steps: slices.Concat(uptoTheCall, []string{"MT5 drops", "MT5 refuses the call"}),
		},
		"reply lost after applying, found": {
			set: func(w *world) {
				w.mt5.balance = func(_ int, c Call) CallResult { w.mt5.apply(c); return lost }
			},
			lives: time.Minute,
			steps: slices.Concat(uptoTheCall, executed, []string{"gets no answer", "finds something"}),
		},
		"never applied, issued again": {
			set: func(w *world) {
				w.mt5.balance = func(n int, c Call) CallResult {
					if n == 1 {
						return lost
					}
					return w.mt5.apply(c)
				}
			},
			lives: time.Hour,
			steps: slices.Concat(uptoTheCall, []string{"MT5 drops", "gets no answer"}, absentTwice, uptoTheCall, executed,
				[]string{"that payment one is applied", "reads the deal of payment one back"}),
		},
		"never applied twice, handed over": {
			set: func(w *world) {
				w.mt5.balance = func(int, Call) CallResult { return lost }
			},
			lives: 50 * time.Minute,
			steps: slices.Concat(uptoTheCall, []string{"MT5 drops", "gets no answer"}, absentTwice, uptoTheCall,
				[]string{"MT5 drops", "gets no answer"}, absentTwice),
		},
		"a success that cannot be verified, found": {
			set: func(w *world) {
				w.mt5.deal = func(Deal, bool) (Deal, error) { return Deal{}, ErrNotFound }
			},
			lives: time.Minute,
			steps: slices.Concat(uptoTheCall, []string{"MT5 executes", "that payment one is applied", "reads the deal of payment one back", "MT5 shows", "finds something"}),
		},
		"an answer after the lease": {
			set: func(w *world) {
				w.mt5.balance = func(_ int, c Call) CallResult {
					r := w.mt5.apply(c)
					time.Sleep(3 * time.Minute)
					return r
				}
			},
			lives: 10 * time.Minute,
			steps: slices.Concat(uptoTheCall, executed, []string{
				"Three minutes go by", "ends a lease", "that payment one is applied", "reads the deal of payment one back", "finds something",
			}),
		},
		"no byte was sent": {
			set: func(w *world) {
				w.mt5.balance = func(n int, c Call) CallResult {
					if n == 1 {
						return CallResult{Outcome: OutcomeNotSent, Detail: "dial refused"}
					}
					return w.mt5.apply(c)
				}
			},
			lives: time.Minute,
			steps: slices.Concat(upToTheClaim, []string{"Three minutes go by", "sends nothing for payment one"}, uptoTheCall, executed,
				[]string{"that payment one is applied", "reads the deal of payment one back"}),
		},
		"a look-alike made by hand": {
			scene: modelScene{hand: true},
			set: func(w *world) {
				w.mt5.add(testLogin, ActionBalance, usd(50000), "by hand")
			},
			lives: time.Second,
			steps: []string{"by hand", "shows the deal made by hand", "takes up payment one", "looks before the call of payment one"},
		},
		"the account is another one": {
			scene: modelScene{account: true},
			set: func(w *world) {
				w.mt5.account = func(st AccountState) (AccountState, error) { st.Refusal = "group"; return st, nil }
			},
			lives: time.Second,
			steps: []string{"another account", "takes up payment one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene := c.scene
			scene.units = 1
			m := newModel(scene)
			y := &modelStory{t: t, m: m, at: m.first()}
			y.then("takes in payment one")
			y.then(c.steps...)
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				if c.set != nil {
					c.set(w)
				}
				w.start()
				w.pass(c.lives)
				real := lived(w.see.notes, id, m.rows)
				if !slices.Equal(real, y.rows) {
					t.Errorf("the real row was\n  %s\nthe model's\n  %s", strings.Join(real, "\n  "), strings.Join(y.rows, "\n  "))
				}
			})
		})
	}
}
