package credit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// intakeCase is one decision about one event, with the deposit open and everything right unless changed.
type intakeCase struct {
	event Event
	found IntakeFound
	rules IntakeRules
}

func newIntakeCase() intakeCase {
	row := joinedRow(Held)
	d := depositOf(row)
	d.Credit, d.CreatedAt = 0, noon.Add(-time.Hour)
	return intakeCase{
		event: paidEvent(1, noon, d.Code, usd(50000)),
		found: IntakeFound{
			Settings: Settings{Environment: "live", Mode: ModeLive}, NextRow: 7, NextEvent: 3, Deposit: &d,
			Account: &Account{Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2},
		},
		rules: IntakeRules{Now: noon.Add(time.Second), HeldGrace: 10 * time.Minute},
	}
}

// waiting is a row born before its deposit.
func waiting(t *testing.T, id ID, code string, at time.Time) Credit {
	t.Helper()
	filled := joinedRow(New)
	filled.ID, filled.Unit.Payment, filled.PaidAt, filled.Code = id, paymentOf(int(id)), at, code
	filled.Deposit, filled.Reference, filled.Server, filled.Identity, filled.Login, filled.Client = "", "", "", "", 0, ""
	filled.Amount, filled.DepositAt = Amount{}, time.Time{}
	row, _, err := Apply(Credit{ID: id}, born(at, "stripe-eu", 1, []Hold{HoldNoDeposit}, at.Add(10*time.Minute), func(c *Credit) { *c = filled }))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func (c intakeCase) takeIn(t *testing.T) Changes {
	t.Helper()
	before := must(json.Marshal([]any{c.event, c.found, c.rules}))
	ch, err := TakeIn(c.event, c.found, c.rules)
	if err != nil {
		t.Fatalf("take in: %v", err)
	}
	again, err := TakeIn(c.event, c.found, c.rules)
	if err != nil || string(must(json.Marshal(again))) != string(must(json.Marshal(ch))) {
		t.Errorf("a second decision on the same input differs: %v", err)
	}
	if after := must(json.Marshal([]any{c.event, c.found, c.rules})); string(after) != string(before) {
		t.Errorf("the decision changed its input from %s to %s", before, after)
	}
	return ch
}

func kindsOf(tasks []Task) string {
	var out []string
	for _, t := range tasks {
		if !slices.Contains(out, string(t.Kind)) {
			out = append(out, string(t.Kind))
		}
	}
	return strings.Join(out, ", ")
}

func holdsOf(c Credit) string {
	var out []string
	for _, h := range c.Holds {
		out = append(out, string(h))
	}
	return strings.Join(out, ", ")
}

func TestTakeIn_PaidPartWithItsDepositBecomesPendingWithEverythingFromTheDeposit(t *testing.T) {
	t.Parallel()
	c := newIntakeCase()
	c.event.Facts.OccurredAt = noon.Add(123456789)
	ch := c.takeIn(t)
	if len(ch.Rows) != 1 || ch.Rows[0].Before != nil || len(ch.Open) != 0 {
		t.Fatalf("changes %+v", ch)
	}
	row, d := ch.Rows[0].After, *c.found.Deposit
	want := Credit{
		ID: 7, Kind: KindDeposit, Unit: Unit{ProviderKind: "stripe", Account: "acct_1", Payment: "pi_1"}, State: Pending,
		Provider: "stripe-eu", Paid: usd(50000), PaidAt: noon.Add(123456 * time.Microsecond), Code: d.Code,
		Deposit: d.Code, DepositAt: d.CreatedAt, Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1",
		Amount: usd(50000), Reference: NewReference("live", testIdentity, KindDeposit, row.Unit),
		PendingAt: c.rules.Now, CreatedAt: c.rules.Now, UpdatedAt: c.rules.Now, NextAt: c.rules.Now, Entries: 1, Head: row.Head,
	}
	if got, want := string(must(json.Marshal(row))), string(must(json.Marshal(want))); got != want {
		t.Errorf("row %s\nwant %s", got, want)
	}
	if ch.Deposit == nil || ch.Deposit.Credit != 7 {
		t.Errorf("the deposit is not taken by row 7: %+v", ch.Deposit)
	}
	if ch.Event == nil || ch.Event.ID != 3 || !slices.Equal(ch.Event.Rows, []ID{7}) {
		t.Errorf("event %+v, want id 3 about row 7", ch.Event)
	}
}

func TestTakeIn_ARowIsDueOnTheScheduleAndNotOnTheWallClock(t *testing.T) {
	t.Parallel()
	c := newIntakeCase()
	c.rules.Schedule = noon.Add(-year)
	if row := c.takeIn(t).Rows[0].After; !row.NextAt.Equal(c.rules.Schedule) || !row.CreatedAt.Equal(c.rules.Now) {
		t.Errorf("next at %v, created at %v", row.NextAt, row.CreatedAt)
	}
	c.found.Deposit = nil
	if row := c.takeIn(t).Rows[0].After; !row.NextAt.Equal(c.rules.Schedule.Add(10 * time.Minute)) {
		t.Errorf("grace until %v", row.NextAt)
	}
}

func TestTakeIn_BirthChecks(t *testing.T) {
	t.Parallel()
	limit := func(cents int64) map[string]Amount { return map[string]Amount{"USD": usd(cents)} }
	for name, tc := range map[string]struct {
		change func(c *intakeCase)
		holds  string
		tasks  string
	}{
		"no deposit":                 {func(c *intakeCase) { c.found.Deposit, c.found.Account = nil, nil }, "no_deposit", ""},
		"no code":                    {func(c *intakeCase) { c.event.Facts.Code, c.found.Deposit = "", nil }, "no_deposit", ""},
		"paid at the expiry":         {func(c *intakeCase) { c.found.Deposit.ExpiresAt = noon }, "", ""},
		"paid after the expiry":      {func(c *intakeCase) { c.found.Deposit.ExpiresAt = noon.Add(-1) }, "expired", "held"},
		"received late, paid before": {func(c *intakeCase) { c.rules.Now = noon.Add(year) }, "", ""},
		"paid after it was closed":   {func(c *intakeCase) { c.found.Deposit.ClosedAt = noon.Add(-time.Second) }, "closed", "held"},
		"closed after it was paid":   {func(c *intakeCase) { c.found.Deposit.ClosedAt = noon.Add(time.Second) }, "", ""},
		"other provider":             {func(c *intakeCase) { c.found.Deposit.Provider = "coinbase" }, "provider", "held"},
		"second part":                {func(c *intakeCase) { c.found.Deposit.Credit = 2 }, "second_part", "held"},
		"less":                       {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(49999) }, "amount", "held"},
		"more":                       {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(50001) }, "amount", "held"},
		"same in another exponent":   {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = amount("500", "USD", 0) }, "", ""},
		"other currency":             {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = amount("500.00", "EUR", 2) }, "currency", "held"},
		"login of another client":    {func(c *intakeCase) { c.found.Account.Client = "client-2" }, "ownership", "held"},
		"login not registered":       {func(c *intakeCase) { c.found.Account = nil }, "ownership", "held"},
		"account of other digits":    {func(c *intakeCase) { c.found.Account.Digits = 3 }, "account", "held"},
		"account in cents":           {func(c *intakeCase) { c.found.Account.Currency = "USC" }, "account", "held"},
		"limit reached exactly":      {func(c *intakeCase) { c.rules.DayLimits, c.found.DayTotal = limit(70000), usd(20000) }, "", ""},
		"limit without a total":      {func(c *intakeCase) { c.rules.DayLimits = limit(50000) }, "", ""},
		"over the limit":             {func(c *intakeCase) { c.rules.DayLimits, c.found.DayTotal = limit(69999), usd(20000) }, "limit", "held"},
		"over the limit alone":       {func(c *intakeCase) { c.rules.DayLimits = limit(49999) }, "limit", "held"},
		"limit of another currency":  {func(c *intakeCase) { c.rules.DayLimits = map[string]Amount{"EUR": usd(1)} }, "", ""},
		"total that cannot be added": {func(c *intakeCase) { c.rules.DayLimits, c.found.DayTotal = limit(99999999), amount("1", "USD", 0) }, "limit", "held"},
		"refund known":               {func(c *intakeCase) { c.found.Reversed = true }, "reversal", "held"},
		"two codes":                  {func(c *intakeCase) { c.event.Facts.CodesClash = true }, "code, no_deposit", "held"},
		"observe mode":               {func(c *intakeCase) { c.found.Settings.Mode = ModeObserve }, "pre_cutover", ""},
		"hold mode":                  {func(c *intakeCase) { c.found.Settings.Mode, c.found.Settings.CutoverAt = ModeHold, noon }, "", ""},
		"hold mode before go-live":   {func(c *intakeCase) { c.found.Settings.Mode = ModeHold }, "pre_cutover", ""},
		"hold mode of a demo":        {func(c *intakeCase) { c.found.Settings.Mode, c.found.Settings.Demo = ModeHold, true }, "", ""},
		"paid before the cut-over":   {func(c *intakeCase) { c.found.Settings.CutoverAt = noon.Add(1) }, "pre_cutover", ""},
		"paid at the cut-over":       {func(c *intakeCase) { c.found.Settings.CutoverAt = noon }, "", ""},
		"pre-cutover, no deposit":    {func(c *intakeCase) { c.found.Settings.Mode = ModeObserve; c.found.Deposit = nil }, "no_deposit, pre_cutover", ""},
		"no deposit, refund known":   {func(c *intakeCase) { c.found.Deposit, c.found.Reversed = nil, true }, "no_deposit, reversal", "held"},
		"many reasons at once": {func(c *intakeCase) {
			c.event.Facts.Parts[0].Amount, c.found.Reversed = usd(1), true
			c.found.Deposit.Provider, c.found.Deposit.ExpiresAt = "x", noon.Add(-time.Hour)
		}, "amount, expired, provider, reversal", "held"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newIntakeCase()
			tc.change(&c)
			ch := c.takeIn(t)
			if len(ch.Rows) != 1 {
				t.Fatalf("%d rows", len(ch.Rows))
			}
			row := ch.Rows[0].After
			if got := holdsOf(row); got != tc.holds || (row.State == Pending) != (tc.holds == "") {
				t.Errorf("%s held for %q, want %q", row.State, got, tc.holds)
			}
			if got := kindsOf(ch.Open); got != tc.tasks {
				t.Errorf("tasks %q, want %q", got, tc.tasks)
			}
			if graced := !row.NextAt.IsZero() && row.State == Held; graced != (tc.holds == "no_deposit") {
				t.Errorf("next at %v with holds %q", row.NextAt, tc.holds)
			}
			noDeposit := row.HasHold(HoldNoDeposit)
			if noDeposit == row.Joined() || noDeposit == (row.Login != 0) || noDeposit == row.Amount.IsSet() || noDeposit == (row.Reference != "") {
				t.Errorf("row without a deposit %v, yet login %d, amount %s, reference %q", noDeposit, row.Login, row.Amount, row.Reference)
			}
			if taken := ch.Deposit != nil; taken != (row.Joined() && !row.HasHold(HoldSecondPart)) {
				t.Errorf("deposit taken %v with holds %q", taken, tc.holds)
			}
		})
	}
}

func TestTakeIn_EventsThatMakeNoRowMakeOneTask(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(c *intakeCase)
		kind   TaskKind
		entity string
	}{
		"test event, live store": {func(c *intakeCase) { c.event.Facts.Live = false }, TaskEnvironment, "environment/stripe-eu"},
		"live event, test store": {func(c *intakeCase) { c.found.Settings.Environment = "test" }, TaskEnvironment, "environment/stripe-eu"},
		"other merchant":         {func(c *intakeCase) { c.event.Facts.Merchant = "acct_9" }, TaskMerchant, "merchant/stripe-eu/acct_9"},
		"unreadable":             {func(c *intakeCase) { c.event.Facts = Facts{Effect: EffectUnreadable, Problem: "no object"} }, TaskUnreadable, "event/3"},
		"unknown type":           {func(c *intakeCase) { c.event.Facts.Effect, c.event.Facts.Type = EffectUnknown, "x.y" }, TaskUnknownType, "type/stripe/x.y"},
		"paid, no payment":       {func(c *intakeCase) { c.event.Facts.Payment = "" }, TaskPaidWithoutUnit, "event/3"},
		"paid, no part":          {func(c *intakeCase) { c.event.Facts.Parts = nil }, TaskPaidWithoutUnit, "event/3"},
		"zero":                   {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(0) }, TaskUnreadable, "event/3"},
		"negative":               {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = usd(-50000) }, TaskUnreadable, "event/3"},
		"no amount":              {func(c *intakeCase) { c.event.Facts.Parts[0].Amount = Amount{} }, TaskUnreadable, "event/3"},
		"refund, no row":         {func(c *intakeCase) { c.event.Facts.Effect = EffectRefund }, TaskRefund, "payment/stripe/acct_1/pi_1"},
		"dispute, no row":        {func(c *intakeCase) { c.event.Facts.Effect = EffectDispute }, TaskDispute, "payment/stripe/acct_1/pi_1"},
		"refund, no payment":     {func(c *intakeCase) { c.event.Facts.Effect, c.event.Facts.Payment = EffectRefund, "" }, TaskRefund, "event/3"},
		"test refund":            {func(c *intakeCase) { c.event.Facts.Effect, c.event.Facts.Live = EffectRefund, false }, TaskEnvironment, "environment/stripe-eu"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newIntakeCase()
			tc.change(&c)
			ch := c.takeIn(t)
			if len(ch.Rows) != 0 || ch.Deposit != nil || ch.Event == nil || len(ch.Open) != 1 {
				t.Fatalf("%d rows, deposit %v, event %v, %d tasks; want the event and one task", len(ch.Rows), ch.Deposit, ch.Event, len(ch.Open))
			}
			got := ch.Open[0]
			if got.Kind != tc.kind || got.Entity != tc.entity {
				t.Errorf("task %s about %q, want %s about %q", got.Kind, got.Entity, tc.kind, tc.entity)
			}
			if got.Summary == "" || got.Next == "" || len(got.Records) == 0 || !got.OpenedAt.Equal(c.rules.Now) {
				t.Errorf("task says %+v", got)
			}
		})
	}
}

func TestTakeIn_KnownTypeThatMovesNoMoneyIsStoredAndQuiet(t *testing.T) {
	t.Parallel()
	c := newIntakeCase()
	c.event.Facts.Effect = EffectNone
	if ch := c.takeIn(t); ch.Event == nil || len(ch.Rows)+len(ch.Open) != 0 {
		t.Errorf("changes %+v", ch)
	}
	c.event.Facts.Effect = "no such effect"
	if _, err := TakeIn(c.event, c.found, c.rules); err == nil {
		t.Error("an effect that no adapter may send is taken in")
	}
}

func TestTakeIn_SameKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(e *Event)
		variant bool
		loud    bool
	}{
		"same bytes":          {change: func(*Event) {}},
		"other bytes":         {change: func(e *Event) { e.Digest = "d2" }},
		"other receipt time":  {change: func(e *Event) { e.ReceivedAt = noon.Add(time.Hour) }},
		"other event time":    {change: func(e *Event) { e.Digest, e.Facts.OccurredAt = "d2", noon.Add(time.Hour) }},
		"other exponent":      {change: func(e *Event) { e.Digest = "d2"; e.Facts.Parts[0].Amount = amount("500", "USD", 0) }},
		"other type":          {change: func(e *Event) { e.Facts.Type = "y" }, loud: true},
		"other effect":        {change: func(e *Event) { e.Facts.Effect = EffectRefund }, loud: true},
		"other payment":       {change: func(e *Event) { e.Facts.Payment = "pi_2" }, loud: true},
		"other part":          {change: func(e *Event) { e.Facts.Parts[0].ID = "x" }, loud: true},
		"more parts":          {change: func(e *Event) { e.Facts.Parts = append(e.Facts.Parts, Part{"x", usd(1)}) }, loud: true},
		"other amount":        {change: func(e *Event) { e.Facts.Parts[0].Amount = usd(1) }, loud: true},
		"other currency":      {change: func(e *Event) { e.Facts.Parts[0].Amount = amount("500.00", "EUR", 2) }, loud: true},
		"other status":        {change: func(e *Event) { e.Facts.Status = "processing" }, loud: true},
		"other code":          {change: func(e *Event) { e.Facts.Code = codeOf(9) }, loud: true},
		"codes clash now":     {change: func(e *Event) { e.Facts.CodesClash = true }, loud: true},
		"other mode":          {change: func(e *Event) { e.Facts.Live = false }, loud: true},
		"moved amount":        {change: func(e *Event) { e.Facts.Moved = usd(1) }, loud: true},
		"variant seen before": {change: func(e *Event) { e.Facts.Code = codeOf(9) }, variant: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newIntakeCase()
			prior := c.event
			prior.ID, prior.Facts.Parts = 1, slices.Clone(prior.Facts.Parts)
			c.found.Prior, c.found.Variant = &prior, tc.variant
			tc.change(&c.event)
			ch := c.takeIn(t)
			if !tc.loud {
				if ch.Event != nil || len(ch.Rows)+len(ch.Open)+len(ch.Close) != 0 || ch.Deposit != nil {
					t.Errorf("a repeat writes %+v", ch)
				}
				return
			}
			if ch.Event == nil || ch.Event.Variant != c.event.Digest || len(ch.Rows) != 0 || kindsOf(ch.Open) != string(TaskEventDiffers) {
				t.Errorf("changes %+v; want the event as evidence and one task", ch)
			}
			if len(ch.Open) == 1 && (ch.Open[0].Entity != "event/stripe-eu/evt_paid_1" || len(ch.Open[0].Records) != 2) {
				t.Errorf("task %+v, want both sides", ch.Open[0])
			}
		})
	}
}

func TestTakeIn_SeveralPartsMakeSeveralRowsAndTheFirstTakesTheDeposit(t *testing.T) {
	t.Parallel()
	c := newIntakeCase()
	c.event.Facts.Parts = []Part{{"a", usd(50000)}, {"b", usd(50000)}, {"c", usd(0)}, {"a", usd(50000)}}
	ch := c.takeIn(t)
	if len(ch.Rows) != 2 {
		t.Fatalf("%d rows, want 2", len(ch.Rows))
	}
	first, second := ch.Rows[0].After, ch.Rows[1].After
	if first.State != Pending || holdsOf(second) != "second_part" || ch.Deposit.Credit != first.ID || second.ID != first.ID+1 {
		t.Errorf("rows %s (%d) and %s %q (%d), deposit taken by %d", first.State, first.ID, second.State, holdsOf(second), second.ID, ch.Deposit.Credit)
	}
	if first.Reference == second.Reference || first.Unit == second.Unit {
		t.Error("two parts share a unit or a reference")
	}
	if got := kindsOf(ch.Open); got != "held, unreadable" {
		t.Errorf("tasks %q", got)
	}
	if !slices.Equal(ch.Event.Rows, []ID{7, 8}) {
		t.Errorf("event is about %v", ch.Event.Rows)
	}
}
