package credit

import "fmt"

// delay is why a pending row gets no further for now, and what a person can do about it once that has lasted.
type delay struct{ reason, next string }

// fromMT5 is for what MT5 did not answer.
func fromMT5(reason string) delay {
	return delay{reason, "see that MT5 and the account can be reached; then the row goes on by itself"}
}

// unseen is for a look that shows too little to say that there is no deal.
func unseen(reason string) delay {
	d := fromMT5("no complete look: " + reason)
	d.next += ". " + deletedHint
	return d
}

// tooSlow is for a look that never ends while the account check is fresh.
func tooSlow() delay {
	return delay{"the look takes longer than the account check stays fresh", "see why MT5 answers so slowly; then the row goes on by itself"}
}

// behind is for a row whose login has another one that is not settled.
func behind(other ID) delay {
	return delay{fmt.Sprintf("credit %d of the same login is not settled", other),
		fmt.Sprintf("see what credit %d waits for (creditonce credits show %d), and settle that; then this row goes on by itself", other, other)}
}

// stoppedBy is for a row on whose login something is in doubt; the reason names the task.
func stoppedBy(reason string) delay {
	return delay{reason, "do what that task asks for, and close it; then this row goes on by itself"}
}

// tooFull is for a store whose disk has less room than the floor for claims.
func tooFull() delay {
	return delay{"the disk is too full to claim", "make room on the disk of the store, or raise space.max_store (creditonce status says how much room is left, and from where on payments are claimed); " +
		"then the row goes on by itself"}
}

// deletedHint is for looks that wait for a deal which MT5 showed before: deleted there, it is waited for until people say so.
const deletedHint = "If it says of a deal that it is not shown, see whether that was deleted at MT5; two people say so with: creditonce deal-gone"
