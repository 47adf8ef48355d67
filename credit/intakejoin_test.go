package credit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestH41_LimitOfTheDayAddsUpOverPayments(t *testing.T) {
	t.Parallel()
	c := newIntakeCase()
	c.rules.DayLimits = map[string]Amount{"USD": usd(100000)}
	c.found.DayTotal = usd(50000)
	for i, want := range []string{"", "limit"} {
		row := c.takeIn(t).Rows[0].After
		if holdsOf(row) != want {
			t.Errorf("payment %d of the day: %q, want %q", i+1, holdsOf(row), want)
		}
		c.found.DayTotal = must(c.found.DayTotal.Add(row.Amount))
		c.event = paidEvent(i+2, noon, codeOf(1), usd(50000))
	}
}

func TestTakeIn_SecondEventOfOnePayment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		row    func(t *testing.T) Credit
		change func(c *intakeCase)
		state  State
		holds  string
		tasks  string
		moves  int
	}{
		"agrees, row pending":                 {row: rowIn(Pending), state: Pending},
		"agrees, without the code":            {row: rowIn(Pending), change: func(c *intakeCase) { c.event.Facts.Code, c.found.Deposit = "", nil }, state: Pending},
		"agrees, row done":                    {row: rowIn(Done), state: Done},
		"brings the code":                     {row: codeless, state: Pending, moves: 1},
		"brings a code without a deposit yet": {row: codeless, change: func(c *intakeCase) { c.found.Deposit = nil }, state: Held, holds: "no_deposit", moves: 1},
		"brings the code of a taken deposit":  {row: codeless, change: func(c *intakeCase) { c.found.Deposit.Credit = 99 }, state: Held, holds: "second_part", tasks: "held", moves: 1},
		"brings the code, refund known":       {row: reversedCodeless, state: Held, holds: "reversal", tasks: "held", moves: 1},
		"other amount, row pending":           {row: rowIn(Pending), change: func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(1) }, state: Held, holds: "amount", tasks: "payment_differs, held", moves: 1},
		"other currency, row pending":         {row: rowIn(Pending), change: func(c *intakeCase) { c.event.Facts.Parts[0].Amount = amount("500.00", "EUR", 2) }, state: Held, holds: "amount", tasks: "payment_differs, held", moves: 1},
		"other code, row pending":             {row: rowIn(Pending), change: func(c *intakeCase) { c.event.Facts.Code = codeOf(9) }, state: Held, holds: "code", tasks: "payment_differs, held", moves: 1},
		"codes clash, row pending":            {row: rowIn(Pending), change: func(c *intakeCase) { c.event.Facts.CodesClash = true }, state: Held, holds: "code", tasks: "payment_differs, held", moves: 1},
		"other amount, row claimed":           {row: rowIn(Claimed), change: func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(1) }, state: Claimed, tasks: "payment_differs"},
		"other amount, row done":              {row: rowIn(Done), change: func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(1) }, state: Done, tasks: "payment_differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newIntakeCase()
			row := tc.row(t)
			row.Unit.Payment = "pi_1"
			c.found.Rows = []Credit{row}
			c.event.MessageKey = "evt_other"
			if tc.change != nil {
				tc.change(&c)
			}
			ch := c.takeIn(t)
			if len(ch.Rows) != tc.moves {
				t.Fatalf("%d rows changed, want %d", len(ch.Rows), tc.moves)
			}
			if tc.moves > 0 {
				row = ch.Rows[0].After
			}
			if row.State != tc.state || (tc.holds != "" && holdsOf(row) != tc.holds) {
				t.Errorf("%s, %q; want %s, %q", row.State, holdsOf(row), tc.state, tc.holds)
			}
			if got := kindsOf(ch.Open); got != tc.tasks {
				t.Errorf("tasks %q, want %q", got, tc.tasks)
			}
			if !slices.Equal(ch.Event.Rows, []ID{row.ID}) {
				t.Errorf("event is about %v, want %d", ch.Event.Rows, row.ID)
			}
		})
	}
}

func rowIn(s State) func(t *testing.T) Credit { return func(*testing.T) Credit { return joinedRow(s) } }

func codeless(t *testing.T) Credit { return waiting(t, 1, "", noon) }

func reversedCodeless(t *testing.T) Credit {
	row, _, err := Apply(codeless(t), stopped(noon, ByIntake, "stripe-eu", "refund", nil, HoldReversal))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func TestTakeIn_ReversalStopsWhatIsNotUnderWayAndLeavesTheRestToItsTask(t *testing.T) {
	t.Parallel()
	for state, want := range map[State]struct {
		state State
		tasks string
	}{
		Pending: {Held, "refund, held"}, Held: {Held, "refund, held"},
		Claimed: {Claimed, "refund"}, Unknown: {Unknown, "refund"}, Done: {Done, "refund"}, Failed: {Failed, "refund"}, Cancelled: {Cancelled, "refund"},
	} {
		c := newIntakeCase()
		c.event = reversalEvent(1, noon, EffectRefund)
		row := joinedRow(state)
		c.found.Rows = []Credit{row}
		ch := c.takeIn(t)
		if len(ch.Rows) > 0 {
			row = ch.Rows[0].After
		}
		if row.State != want.state || kindsOf(ch.Open) != want.tasks {
			t.Errorf("%s: becomes %s with tasks %q; want %s, %q", state, row.State, kindsOf(ch.Open), want.state, want.tasks)
		}
		if (row.State == Held) != row.HasHold(HoldReversal) {
			t.Errorf("%s: held for %q", state, holdsOf(row))
		}
		if len(ch.Open[0].Records) != 2 {
			t.Errorf("%s: the task shows %d records, want the event and the row", state, len(ch.Open[0].Records))
		}
	}
}

func TestTakeIn_UnknownTypesShareOneTaskAType(t *testing.T) {
	t.Parallel()
	w := newMemBook()
	rules := IntakeRules{Now: noon, HeldGrace: time.Minute}
	for i := range 6 {
		e := event(fmt.Sprintf("evt_%d", i), i, Facts{Effect: EffectUnknown, Type: fmt.Sprintf("new.type.%d", i%2)})
		if _, err := w.Accept(t.Context(), e, rules); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.events) != 6 || len(w.tasks) != 2 {
		t.Errorf("%d events and %d tasks, want 6 and 2", len(w.events), len(w.tasks))
	}
}
