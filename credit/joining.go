package credit

import "slices"

// joining is the meeting of a row and its deposit: the checks that design §5.3 calls birth checks.
type joining struct {
	settings Settings
	rules    IntakeRules
	account  *Account
	dayTotal Amount
	taken    *Amount
	deposit  *Deposit // as changed earlier in the same transaction; nil where untouched
	around   []Credit // rows of the login that may be the payment by another way
}

// checks returns the reasons to hold the row once the deposit has joined. The order does not matter.
func (j *joining) checks(row Credit, d Deposit) []Hold {
	var holds []Hold
	add := func(bad bool, h Hold) {
		if bad {
			holds = append(holds, h)
		}
	}
	if j.deposit != nil && j.deposit.Code == d.Code {
		d = *j.deposit
	}
	add(d.Credit != 0 && d.Credit != row.ID, HoldSecondPart)
	add(d.Provider != row.Provider, HoldProvider)
	add(row.PaidAt.After(d.ExpiresAt), HoldExpired)
	add(!d.ClosedAt.IsZero() && row.PaidAt.After(d.ClosedAt), HoldClosed)
	if row.Paid.Currency() != d.Paid.Currency() {
		add(true, HoldCurrency)
	} else {
		add(!row.Paid.Equal(d.Paid), HoldAmount)
	}
	add(j.account == nil || j.account.Client != d.Client, HoldOwnership)
	add(j.account != nil && (j.account.Currency != d.Credited.Currency() || j.account.Digits != d.Credited.Exponent()), HoldAccount)
	add(len(j.rules.Servers) > 0 && !slices.Contains(j.rules.Servers, d.Server), HoldServer)
	add(j.overLimit(d.Credited), HoldLimit)
	add(twinOf(row, d.Credited, j.around) != nil, HoldEnteredTwice)
	return holds
}

// overLimit tells whether the amount takes the login over its limit of the UTC day.
func (j *joining) overLimit(a Amount) bool {
	limit, ok := j.rules.DayLimits[a.Currency()]
	if !ok {
		return false
	}
	total, err := j.dayTotal.Add(*j.taken)
	if err == nil {
		total, err = total.Add(a)
	}
	if err != nil {
		return true // amounts that cannot be added are no reason to let one through
	}
	over, err := total.Cmp(limit)
	return err != nil || over > 0
}

// reference derives the row's reference for the deposit's MT5 server.
func (j *joining) reference(row Credit, d Deposit) Reference {
	return NewReference(j.settings.Environment, d.Identity, row.Kind, row.Unit)
}

// taking returns the deposit as taken by the row, or nil where another row has it.
func (j *joining) taking(row Credit, d Deposit) *Deposit {
	if j.deposit != nil && j.deposit.Code == d.Code {
		d = *j.deposit
	}
	if d.Credit != 0 || !row.Joined() {
		return nil
	}
	d.Credit = row.ID
	return &d
}

// rowTasks opens and closes the tasks that follow from a row's move, which the history entry tells.
func rowTasks(before, after Credit, move Entry) (open []Task, closing []TaskClose) {
	actor, now := move.Actor, move.At
	entity := RowEntity(after.ID)
	if before.State == Held && after.State == Held && waitsForDeposit(before.Holds, before.Restored) && !waitsForDeposit(after.Holds, after.Restored) {
		// The task of a grace time that is over says that the deposit record is missing and that nothing else is.
		closing = append(closing, TaskClose{Key: TaskKey{TaskHeld, entity}, By: actor, At: now, Reason: "the row waits for something else now"})
	}
	if after.State == Held && wantsTask(after.Holds, after.Restored) {
		open = append(open, Task{
			Kind: TaskHeld, Entity: entity, OpenedAt: now,
			Summary: "payment " + after.Unit.Payment + " waits: " + holdText(after.Holds),
			Next:    "look at the records; release the row, adopt a deal or close it",
			Records: []Record{rowRecord(after)},
		}.stopping(after))
	}
	if after.State == Failed && before.State != Failed {
		open = append(open, Task{
			Kind: TaskFailed, Entity: entity, OpenedAt: now,
			Summary: "the operation on login " + loginText(after.Login) + " failed: " + move.Reason,
			Next:    "mend the cause at MT5 and ask for a retry, or close the row",
			Records: []Record{rowRecord(after)},
		})
	}
	leaving := map[State][]TaskKind{
		Held: {TaskHeld}, Failed: {TaskFailed}, Pending: {TaskStuck},
		Unknown: {TaskNoAnswer, TaskConflict, TaskHandedOver},
	}
	if before.State != after.State {
		for _, kind := range leaving[before.State] {
			closing = append(closing, TaskClose{Key: TaskKey{kind, entity}, By: actor, At: now, Reason: "the row became " + string(after.State)})
		}
	}
	switch after.State {
	case Done, Failed, Cancelled, Held:
		closing = append(closing, TaskClose{Key: TaskKey{TaskUnsent, entity}, By: actor, At: now, Reason: "the row became " + string(after.State)})
	case New, Pending, Claimed, Unknown:
	}
	return open, closing
}
