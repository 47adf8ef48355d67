package credit

import (
	"fmt"
	"slices"
	"time"
)

// IntakeRules are the arguments of an intake decision that the store does not hold. Now is UTC. Schedule is the same
// moment on the scale of NextAt, see [Process.Schedule]; zero stands for Now.
type IntakeRules struct {
	Now       time.Time
	Schedule  time.Time
	HeldGrace time.Duration
	DayLimits map[string]Amount // per login and UTC day, by account currency; a currency without one has no limit
	Servers   []string          // labels of the MT5 servers that have lanes: a deposit on another is held; empty: all have
}

// schedule is when a row of this decision is due that must not wait.
func (r IntakeRules) schedule() time.Time {
	if r.Schedule.IsZero() {
		return r.Now
	}
	return r.Schedule
}

// IntakeNeeds names what TakeIn must be shown. Found belongs to exactly these keys.
type IntakeNeeds struct {
	Provider   string // config label: scope of the message key
	MessageKey string
	Digest     string
	Kind       string // provider kind, merchant account and payment: scope of the rows
	Account    string
	Payment    string    // empty: no rows
	Code       string    // empty: no deposit
	PaidAt     time.Time // UTC; as the event says
}

// Needs lists what a decision about the event must be shown.
func (e Event) Needs() IntakeNeeds {
	return IntakeNeeds{
		Provider: e.Provider, MessageKey: e.MessageKey, Digest: e.Digest,
		Kind: e.Kind, Account: e.Account, Payment: e.Facts.Payment, Code: e.Facts.Code, PaidAt: e.Facts.OccurredAt,
	}
}

// IntakeFound is what the store has under an event's needs, read in the deciding transaction.
type IntakeFound struct {
	Settings  Settings
	NextRow   ID // the id that the next new row gets; further ones count up
	NextEvent EventID
	Prior     *Event   // first event with the message key
	Variant   bool     // an event with the message key and this very digest is stored already
	Rows      []Credit // every row of the payment, by part
	Reversed  bool     // a refund or dispute of the payment is stored
	Deposit   *Deposit
	Account   *Account // of the deposit's login
	DayTotal  Amount   // of the deposit's login in the UTC day of Now: rows that became pending; unset: none
	Around    []Credit // of the deposit's login: rows that became pending since [IntakeNeeds.ComparedSince]
	Entered   []Credit // rows that people entered with the payment's id as the bank's reference, see [BankKey]
}

// RowChange is one row as it was and as it is to be, with its new history.
type RowChange struct {
	Before  *Credit // nil: a new row
	After   Credit
	Entries []Entry
}

// Changes is everything one decision wants written, in one transaction.
type Changes struct {
	Event   *Event // appended as NextEvent
	Rows    []RowChange
	Deposit *Deposit // inserted, or changed where the code exists
	Account *Account // inserted or changed
	Open    []Task
	Close   []TaskClose // before Open: a task may end and another with its key begin
}

// Receipt is the answer to an accepted event.
type Receipt struct {
	Event  EventID // the stored event; of a repeat, the first one with its message key
	Repeat bool    // the message key was known with equal facts: nothing was written
	Rows   []RowChange
	Opened []Task
	Closed []Task
}

// TakeIn decides what a verified event changes (design §5). It is pure; a nil Changes.Event means that the event
// is a repeat and nothing is to be written.
func TakeIn(e Event, found IntakeFound, rules IntakeRules) (Changes, error) {
	e.ID = found.NextEvent
	if found.Prior != nil {
		return takeRepeat(e, found, rules), nil
	}
	in := intake{event: e, found: found, rules: rules, actor: e.Provider}
	if in.refusedByPins() {
		return in.finish(), nil
	}
	if err := in.act(); err != nil {
		return Changes{}, err
	}
	return in.finish(), nil
}

// act does what the event's facts ask for.
func (in *intake) act() error {
	e := in.event
	switch e.Facts.Effect {
	case EffectPaid:
		if err := in.paid(); err != nil {
			return fmt.Errorf("take in event %s of %s: %w", e.MessageKey, e.Provider, err)
		}
	case EffectRefund, EffectDispute:
		if err := in.reversed(); err != nil {
			return fmt.Errorf("take in event %s of %s: %w", e.MessageKey, e.Provider, err)
		}
	case EffectUnreadable:
		in.open(in.eventTask(TaskUnreadable, "a verified event cannot be read: "+e.Facts.Problem,
			"read the stored body; replay the event once the cause is mended"))
	case EffectUnknown:
		t := in.eventTask(TaskUnknownType, fmt.Sprintf("events of type %q are stored and not acted on", e.Facts.Type),
			"decide whether this type says anything about money")
		t.Entity = "type/" + e.Kind + "/" + e.Facts.Type
		in.open(t)
	case EffectNone:
	default:
		return fmt.Errorf("take in event %s: effect %q: %w", e.MessageKey, e.Facts.Effect, ErrInvalid)
	}
	return nil
}

// intake collects the changes of one event.
type intake struct {
	event  Event
	found  IntakeFound
	rules  IntakeRules
	actor  string // whom the rows' history names: the provider's label, or the people who act
	replay bool   // the event was stored before and is run again
	out    Changes
	taken  Amount // added to the login's day by rows of this very transaction
	built  int    // new rows so far
	linked []ID   // rows that the event is about
}

func (in *intake) open(t Task) {
	t.OpenedAt = instant(in.rules.Now)
	in.out.Open = append(in.out.Open, t)
}

func (in *intake) finish() Changes {
	e := in.event
	slices.Sort(in.linked)
	e.Rows = slices.Compact(in.linked)
	e.ReceivedAt = instant(e.ReceivedAt)
	in.out.Event = &e
	return in.out
}

// refusedByPins turns away events that belong to another environment or merchant: stored, one task, no row.
func (in *intake) refusedByPins() bool {
	f := in.event.Facts
	if f.Effect == EffectUnreadable {
		return false // nothing in it can be trusted, its environment included
	}
	if f.Live != (in.found.Settings.Environment == "live") {
		kind := map[bool]string{true: "live", false: "test"}[f.Live]
		t := in.eventTask(TaskEnvironment, fmt.Sprintf("a %s-mode event arrived at a store for %s money", kind, in.found.Settings.Environment),
			"check which endpoint and secret the provider's dashboard uses")
		t.Entity = "environment/" + in.event.Provider
		in.open(t)
		return true
	}
	if f.Merchant != "" && f.Merchant != in.event.Account {
		t := in.eventTask(TaskMerchant, "an event names another merchant account: "+clip(f.Merchant),
			"check which account sends to this endpoint")
		t.Entity = "merchant/" + in.event.Provider + "/" + f.Merchant
		in.open(t)
		return true
	}
	return false
}

// paid makes or joins one row for every paid part.
func (in *intake) paid() error {
	f := in.event.Facts
	if f.Payment == "" || len(f.Parts) == 0 {
		in.open(in.eventTask(TaskPaidWithoutUnit, "an event says paid and names no payment",
			"find the payment in the provider's dashboard; nothing was credited"))
		return nil
	}
	for i, part := range f.Parts {
		if slices.ContainsFunc(f.Parts[:i], func(p Part) bool { return p.ID == part.ID }) {
			in.open(in.eventTask(TaskUnreadable, "an event names one part of a payment twice",
				"look at the payment in the provider's dashboard; the part was taken once"))
			continue
		}
		if part.Amount.Sign() <= 0 {
			in.open(in.eventTask(TaskUnreadable, "an event says paid with the amount "+part.Amount.String(),
				"look at the payment in the provider's dashboard; nothing was credited"))
			continue
		}
		row := in.rowOf(part.ID)
		var err error
		if row == nil {
			err = in.bornRow(part)
		} else {
			err = in.secondEvent(*row, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *intake) rowOf(part string) *Credit {
	for i, r := range in.found.Rows {
		if r.Kind == KindDeposit && r.Unit.Part == part {
			return &in.found.Rows[i]
		}
	}
	return nil
}

// bornRow makes the row of a part that is seen for the first time.
func (in *intake) bornRow(part Part) error {
	e, now := in.event, in.rules.Now
	draft := Credit{
		ID: in.found.NextRow + ID(in.built), Kind: KindDeposit,
		Unit:     Unit{ProviderKind: e.Kind, Account: e.Account, Payment: e.Facts.Payment, Part: part.ID},
		Provider: e.Provider, Paid: part.Amount, PaidAt: instant(e.Facts.OccurredAt), Code: e.Facts.Code,
	}
	in.built++
	holds := in.birthHolds(draft)
	restore := in.found.Settings.Restore
	older := restore != nil && draft.PaidAt.Before(restore.At)
	d := in.found.Deposit
	if e.Facts.CodesClash {
		d, holds = nil, withHolds(holds, HoldCode)
	}
	if d == nil {
		holds = withHolds(holds, HoldNoDeposit)
	} else {
		holds = withHolds(holds, in.joining().checks(draft, *d)...)
		writeDeposit(&draft, *d, in.joining().reference(draft, *d))
		draft.Further = isFurther(holds)
	}
	id := draft.ID
	switch {
	case older:
		draft.Restored, draft.Restore = true, restore.Number
		holds = withoutHolds(holds, HoldLimit) // it counts in the day that it was paid in, if it was
		if d != nil && len(holds) == 0 {
			t := bornInDoubt(now, in.actor, e.ID, *restore, in.rules.schedule(), func(c *Credit) { *c = draft; c.ID = id })
			return in.apply(Credit{ID: id}, nil, t, d)
		}
		holds = withHolds(holds, HoldRestored)
	case in.found.Settings.restoring():
		draft.Restore = restore.Number
		holds = withHolds(holds, HoldRestored)
	}
	var next time.Time
	switch {
	case len(holds) == 0:
		next = in.rules.schedule()
	case waitsForDeposit(holds, draft.Restored):
		next = in.rules.schedule().Add(in.rules.HeldGrace)
	}
	t := born(now, in.actor, e.ID, holds, next, func(c *Credit) { *c = draft; c.ID = id })
	return in.apply(Credit{ID: id}, nil, t, d)
}

// birthHolds are the reasons that do not depend on a deposit.
func (in *intake) birthHolds(row Credit) []Hold {
	var holds []Hold
	s := in.found.Settings
	before := row.PaidAt.Before(s.CutoverAt) || (in.replay && in.event.ReceivedAt.Before(s.CutoverAt))
	if s.beforeGoLive() || (!s.CutoverAt.IsZero() && before) {
		holds = append(holds, HoldPreCutover)
	}
	if in.found.Reversed {
		holds = append(holds, HoldReversal)
	}
	if slices.ContainsFunc(in.found.Entered, func(o Credit) bool { return o.State != Cancelled }) {
		holds = append(holds, HoldEnteredTwice)
	}
	return holds
}

// ownHolds are the reasons that a person must look at for this row. A row that only waits for the release after a restore
// has none for that: the one task about the store stands for all of them.
func ownHolds(holds []Hold, restored bool) []Hold {
	if restored {
		return holds
	}
	return withoutHolds(holds, HoldRestored)
}

// waitsForDeposit tells that nothing but the deposit record is missing: a task only after the grace time. restored is the
// row's Restored.
func waitsForDeposit(holds []Hold, restored bool) bool {
	own := ownHolds(holds, restored)
	return len(own) == 1 && own[0] == HoldNoDeposit
}

// wantsTask tells that a person must see the held row now. Rows from before the cut-over get no task each.
func wantsTask(holds []Hold, restored bool) bool {
	return len(ownHolds(holds, restored)) > 0 && !waitsForDeposit(holds, restored) && !slices.Contains(holds, HoldPreCutover)
}

// secondEvent joins a further event about a payment that has its row. It may bring the deposit code; what
// disagrees stops a row that is not under way and opens a task.
func (in *intake) secondEvent(row Credit, part Part) error {
	e := in.event
	in.linked = append(in.linked, row.ID)
	codeDiffers := e.Facts.CodesClash || (e.Facts.Code != "" && row.Code != "" && e.Facts.Code != row.Code)
	var stop []Hold
	if !row.Paid.Equal(part.Amount) {
		stop = append(stop, HoldAmount)
	}
	if codeDiffers {
		stop = append(stop, HoldCode)
	}
	if len(stop) > 0 {
		t := in.eventTask(TaskPaymentDiffers, "two events about one payment disagree",
			"compare the events with the provider's dashboard before anything moves")
		t.Entity = in.paymentEntity()
		t.Records = []Record{rowRecord(row), factsRecord("this event", e.Facts)}
		in.open(t)
	}
	brings := e.Facts.Code != "" && !e.Facts.CodesClash && row.Code == "" && row.State == Held
	switch {
	case brings && in.found.Deposit != nil:
		return in.join(row, *in.found.Deposit, stop...)
	case brings:
		return in.apply(row, &row, coded(in.rules.Now, in.actor, e.ID, e.Facts.Code, stop...), nil)
	case len(stop) > 0:
		return in.stop(row, "another event of the payment disagrees", stop...)
	}
	return nil
}

// join gives a held row its deposit. known are reasons to hold that the caller has found beside the checks.
func (in *intake) join(row Credit, d Deposit, known ...Hold) error {
	j := in.joining()
	found := withHolds(j.checks(row, d), known...)
	t := joined(in.rules.Now, in.actor, in.event.ID, d, j.reference(row, d), found, in.rules.schedule())
	return in.apply(row, &row, t, &d)
}

// stop holds a row that is not under way; a row beyond that is left to the task.
func (in *intake) stop(row Credit, reason string, holds ...Hold) error {
	known := in.replay && len(withoutHolds(holds, row.Holds...)) == 0
	if known || (row.State != Pending && row.State != Held) {
		return nil
	}
	return in.apply(row, &row, stopped(in.rules.Now, ByIntake, in.actor, reason, eventEvidence(in.event.ID), holds...), nil)
}

// reversed stores a refund or dispute: one task a payment and kind, and a pending row is stopped.
func (in *intake) reversed() error {
	f := in.event.Facts
	kind, word := TaskRefund, "refund"
	if f.Effect == EffectDispute {
		kind, word = TaskDispute, "dispute"
	}
	t := in.eventTask(kind, "the provider reports a "+word+" of a payment",
		"decide what happens to the money on the account; creditonce takes nothing back by itself")
	t.Entity = in.paymentEntity()
	t.Records = []Record{factsRecord("provider", f)}
	for _, row := range in.found.Rows {
		t.Records = append(t.Records, rowRecord(row))
	}
	in.open(t)
	for _, row := range in.found.Rows {
		in.linked = append(in.linked, row.ID)
		if err := in.stop(row, "a "+word+" of the payment is known", HoldReversal); err != nil {
			return err
		}
	}
	return nil
}

func (in *intake) joining() *joining {
	return &joining{
		settings: in.found.Settings, rules: in.rules, account: in.found.Account,
		dayTotal: in.found.DayTotal, taken: &in.taken, deposit: in.out.Deposit, around: in.found.Around,
	}
}

// apply makes the transition and collects the row, its tasks and the deposit that it took.
func (in *intake) apply(row Credit, before *Credit, t Transition, d *Deposit) error {
	after, entry, err := Apply(row, t)
	if err != nil {
		return err
	}
	if before != nil {
		b := *before
		before = &b
	}
	in.out.Rows = append(in.out.Rows, RowChange{Before: before, After: after, Entries: []Entry{entry}})
	in.linked = append(in.linked, after.ID)
	if d != nil {
		if taken := in.joining().taking(after, *d); taken != nil {
			in.out.Deposit = taken
		}
	}
	if after.State == Pending {
		if in.taken, err = in.taken.Add(after.Amount); err != nil {
			return err
		}
	}
	open, closing := rowTasks(row, after, entry)
	in.out.Open = append(in.out.Open, open...)
	in.out.Close = append(in.out.Close, closing...)
	return nil
}

// paymentEntity names what a task about a whole payment is about; the event itself where it names no payment.
func (in *intake) paymentEntity() string {
	if in.event.Facts.Payment == "" {
		return fmt.Sprintf("event/%d", in.event.ID)
	}
	return "payment/" + in.event.Kind + "/" + in.event.Account + "/" + in.event.Facts.Payment
}

func (in *intake) eventTask(kind TaskKind, summary, next string) Task {
	return Task{
		Kind: kind, Entity: fmt.Sprintf("event/%d", in.event.ID), Summary: summary, Next: next,
		Records: []Record{factsRecord("provider", in.event.Facts)},
	}
}
