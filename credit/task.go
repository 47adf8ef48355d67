package credit

import (
	"fmt"
	"time"
)

// TaskID numbers tasks.
type TaskID uint64

// TaskKind says what kind of difference a person must look at.
type TaskKind string

// The kinds of tasks that the deposit path opens.
const (
	TaskHeld            TaskKind = "held"              // a row waits for a person
	TaskFailed          TaskKind = "failed"            // MT5 refused the operation
	TaskNoAnswer        TaskKind = "no_answer"         // an unknown row, and no complete look for too long
	TaskConflict        TaskKind = "conflict"          // MT5 has something different under our reference, or a look-alike
	TaskHandedOver      TaskKind = "handed_over"       // absent, but a further call needs a person
	TaskStuck           TaskKind = "stuck"             // a pending row that could not be looked up or checked for too long
	TaskUnsent          TaskKind = "unsent"            // calls that never left this machine
	TaskSecondDeal      TaskKind = "second_deal"       // a re-issued row has two deals
	TaskRefund          TaskKind = "refund"            // a refund is known for a payment
	TaskDispute         TaskKind = "dispute"           // a dispute is known for a payment
	TaskEnvironment     TaskKind = "environment"       // a test event on a live store, or the other way round
	TaskMerchant        TaskKind = "merchant"          // an event that names another merchant account
	TaskUnreadable      TaskKind = "unreadable"        // verified, but nobody can read it
	TaskUnknownType     TaskKind = "unknown_type"      // a type of event that we do not know
	TaskEventDiffers    TaskKind = "event_differs"     // the same message key with other facts
	TaskPaymentDiffers  TaskKind = "payment_differs"   // two events about one payment disagree
	TaskOwnership       TaskKind = "ownership"         // a login changed its client while a call may be under way
	TaskLateAnswer      TaskKind = "late_answer"       // a call answered after its attempt was over
	TaskPaidWithoutUnit TaskKind = "paid_without_unit" // paid, but nothing says which payment
	TaskDoubt           TaskKind = "doubt"             // the store may not be the one that the last calls were made from
	TaskInvariant       TaskKind = "invariant"         // the store holds something that cannot be
	TaskRestored        TaskKind = "restored"          // the store was restored or taken over, and waits for its release
	TaskPull            TaskKind = "pull"              // a provider's list of events cannot be pulled
	TaskPullGap         TaskKind = "pull_gap"          // a window is older than the provider lists
	TaskStandstill      TaskKind = "standstill"        // nothing is credited, on every login or on those of one MT5 server; closes when that is over
)

// The kinds of tasks that reconciliation opens. Those of the first group are named after the class of the difference (design §10); each closes
// by itself when a complete run does not show the difference any more, and opens again when it comes back.
const (
	TaskDuplicateReference   TaskKind = "duplicate_reference"
	TaskWrongLogin           TaskKind = "wrong_login"
	TaskWrongAmount          TaskKind = "wrong_amount"
	TaskWrongCurrency        TaskKind = "wrong_currency"
	TaskFailedButDeal        TaskKind = "failed_but_deal"
	TaskCancelledButDeal     TaskKind = "cancelled_but_deal"
	TaskDealWithoutRow       TaskKind = "deal_without_row"
	TaskDamagedReference     TaskKind = "damaged_reference"
	TaskDoneWithoutDeal      TaskKind = "done_without_deal"
	TaskSettledWithoutCredit TaskKind = "settled_without_credit"
	TaskDealWithoutReference TaskKind = "deal_without_reference"
	TaskReversalMissing      TaskKind = "reversal_missing"
	TaskCancelledNotRefunded TaskKind = "cancelled_not_refunded"
	TaskPayoutDifference     TaskKind = "payout_difference"
	TaskLate                 TaskKind = "late" // credited, and not settled in the provider's usual time

	TaskReconIncomplete TaskKind = "recon_incomplete" // a run could not read a list; closes with the next complete run
	TaskReconOverdue    TaskKind = "recon_overdue"    // no complete run for too long; closes with the next one
	TaskReconMany       TaskKind = "recon_many"       // a run has more differences than get tasks; closes with the next complete one that has fewer
	TaskReconChanged    TaskKind = "recon_changed"    // what a signed report counted is another sum now; closes when a run finds nothing changed in the newest signed one
	TaskStatement       TaskKind = "statement"        // a statement has rows that a person must look at
)

// TaskKinds lists every kind of task.
func TaskKinds() []TaskKind {
	return []TaskKind{
		TaskHeld, TaskFailed, TaskNoAnswer, TaskConflict, TaskHandedOver, TaskStuck, TaskUnsent, TaskSecondDeal, TaskRefund, TaskDispute, TaskEnvironment,
		TaskInvariant, TaskMerchant, TaskUnreadable, TaskUnknownType, TaskEventDiffers, TaskPaymentDiffers, TaskOwnership, TaskLateAnswer, TaskPaidWithoutUnit, TaskDoubt,
		TaskRestored, TaskPull, TaskPullGap, TaskStandstill,
		TaskDuplicateReference, TaskWrongLogin, TaskWrongAmount, TaskWrongCurrency, TaskFailedButDeal, TaskCancelledButDeal, TaskDealWithoutRow,
		TaskDamagedReference, TaskDoneWithoutDeal, TaskSettledWithoutCredit, TaskDealWithoutReference, TaskReversalMissing, TaskCancelledNotRefunded,
		TaskPayoutDifference, TaskLate, TaskReconIncomplete, TaskReconOverdue, TaskReconMany, TaskReconChanged, TaskStatement,
	}
}

// Record is one side of a discrepancy: where it comes from and its fields, in the order to show them.
type Record struct {
	Source string  `json:"source"` // "provider", "row", "deposit", "mt5", "run", "statement"
	Fields []Field `json:"fields"`
}

// Field is one named value of a record, as text.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Task is one discrepancy for a person. At most one task with a key is open at any time.
type Task struct {
	ID       TaskID    `json:"id"`
	Kind     TaskKind  `json:"kind"`
	Entity   string    `json:"entity"` // "credit/17", "payment/stripe/acct_1/pi_1", "event/4"
	Summary  string    `json:"summary"`
	Next     string    `json:"next"` // what the person can do
	Records  []Record  `json:"records,omitempty"`
	OpenedAt time.Time `json:"opened_at"`
	ClosedAt time.Time `json:"closed_at,omitzero"`
	ClosedBy string    `json:"closed_by,omitempty"`
	Reason   string    `json:"reason,omitempty"`

	// Identity and Login name the login of an MT5 server on which nothing is claimed as long as the task is open
	// (invariant I-S5): what happened on it is in doubt. Without them the task stops nothing.
	Identity string `json:"identity,omitempty"`
	Login    uint64 `json:"login,string,omitempty"`

	Assigned string     `json:"assigned,omitempty"` // id of the person who looks at it
	Notes    []TaskNote `json:"notes,omitempty"`    // oldest first
}

// TaskNote is what a person wrote on a task.
type TaskNote struct {
	At   time.Time `json:"at"` // UTC
	By   string    `json:"by"` // the person's id
	Text string    `json:"text"`
}

// Key is the discrepancy key: kind and entity.
func (t Task) Key() TaskKey { return TaskKey{t.Kind, t.Entity} }

// IsOpen tells that nobody and nothing has closed the task.
func (t Task) IsOpen() bool { return t.ClosedAt.IsZero() }

// StopsLogin tells that an open task of the kind about the row stops claims on the row's login: what happened there is in
// doubt.
func StopsLogin(kind TaskKind, c Credit) bool {
	switch kind {
	case TaskConflict, TaskSecondDeal, TaskLateAnswer:
		return true
	case TaskHeld:
		return c.HasHold(HoldConflict)
	default:
		return false
	}
}

// stopping returns the task with the login that it stops, if it stops one.
func (t Task) stopping(c Credit) Task {
	if StopsLogin(t.Kind, c) {
		t.Identity, t.Login = c.Identity, c.Login
	}
	return t
}

// TaskKey names a discrepancy.
type TaskKey struct {
	Kind   TaskKind
	Entity string
}

// RowEntity is the entity text of a credit row.
func RowEntity(id ID) string { return fmt.Sprintf("credit/%d", id) }

// TaskClose closes the open task with the key, if there is one.
type TaskClose struct {
	Key    TaskKey
	By     string
	Reason string
	At     time.Time
}
