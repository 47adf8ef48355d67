package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// operation is one caller's share of a batch. run reads, decides and stages; it may run more than once.
type operation struct {
	run    func(*writer) error
	intake bool         // brings new work in: refused while the disk is too full
	alone  func() error // instead of run: called between batches, while no transaction is open
	err    error        // of the last run
	done   chan error

	claims  uint64 // made in the last run, and decisions of people
	decided bool   // people decided about a row in the last run
	testify bool   // the last run wants the witness written
}

// committer owns all writes of an open store. One goroutine drains what has arrived into one transaction; there
// is no delay and no timer, so a batch is as large as what arrived during the commit before.
type committer struct {
	bolt  *bolt.DB
	space func() room
	most  int // operations in one transaction
	hook  func(put int) error
	memo  settingsMemo

	unmoved func() error          // an error once the store's path leads to another file
	witness *witness              // nil: none is kept
	owes    bool                  // people's decisions are committed, and the witness could not be told so yet
	mute    atomic.Pointer[error] // why the witness could not be written when it was tried last; nil: it could

	mu      sync.RWMutex // guards closing against sends to a closed queue
	closing bool
	queue   chan *operation
	ended   chan struct{}

	stopped atomic.Pointer[error]
	failed  chan error
	stats   counts
}

// counts are what the committer did since it was opened.
type counts struct{ batches, commits, operations, reruns, panics, refused atomic.Uint64 }

func newCommitter(b *bolt.DB, space func() room, queue, most int) *committer {
	return &committer{
		bolt: b, space: space, most: most,
		queue: make(chan *operation, queue), ended: make(chan struct{}), failed: make(chan error, 1),
	}
}

// do queues the operation and waits for its verdict. ctx counts until it is queued and not any more after that:
// what is queued will happen, and a caller that went away could not know whether it did.
func (c *committer) do(ctx context.Context, op *operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.stopError(); err != nil {
		return err
	}
	op.done = make(chan error, 1)
	if err := c.enqueue(op); err != nil {
		c.stats.refused.Add(1)
		return err
	}
	return <-op.done
}

func (c *committer) enqueue(op *operation) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closing {
		return fmt.Errorf("the store is closing: %w", credit.ErrBusy)
	}
	select {
	case c.queue <- op:
		return nil
	default:
		return fmt.Errorf("the store's queue is full: %w", credit.ErrBusy)
	}
}

// loop runs until the queue is closed and empty. Should a caller's function end this goroutine (runtime.Goexit, as
// a test's FailNow does), the store stops as after a commit error, and nobody waits for ever.
func (c *committer) loop() {
	ownThread()
	debug.SetPanicOnFault(true) // a page that leads out of the file is an error of the operation, or of the commit
	var batch []*operation
	left := true
	defer close(c.ended)
	defer func() {
		if left {
			c.stop(errors.New("an operation ended the committer's goroutine"))
			answer(batch, c.stopError())
			for op := range c.queue {
				answer([]*operation{op}, c.stopError())
			}
		}
	}()
	for first := range c.queue {
		var alone *operation
		batch, alone = c.drain(first)
		c.commit(batch)
		if alone != nil {
			batch = []*operation{alone}
			alone.done <- c.runAlone(alone)
		}
	}
	left = false
}

// drain takes what has arrived, up to the cap or to an operation that wants to be alone.
func (c *committer) drain(first *operation) (batch []*operation, alone *operation) {
	for op := first; ; {
		if op.alone != nil {
			return batch, op
		}
		batch = append(batch, op)
		if len(batch) >= c.most {
			return batch, nil
		}
		var ok bool
		select {
		case op, ok = <-c.queue:
			if !ok {
				return batch, nil
			}
		default:
			return batch, nil
		}
	}
}

func (c *committer) runAlone(op *operation) error {
	if err := c.stopError(); err != nil {
		return err
	}
	return op.alone()
}

// commit runs the batch in one transaction and answers everybody. An operation that fails before it has written
// gets its error. One that fails after its first write takes the transaction down: it is rolled back, and the
// others run again without it, since what they read may have been the failed one's.
func (c *committer) commit(batch []*operation) {
	if len(batch) == 0 {
		return
	}
	c.stats.batches.Add(1)
	c.stats.operations.Add(uint64(len(batch)))
	r := c.space()
	batch = c.refuseIntake(batch, r)
	for len(batch) > 0 {
		poison, err := c.try(batch, r)
		if err != nil {
			c.stop(err)
			answer(batch, c.stopError())
			return
		}
		if poison < 0 {
			break
		}
		c.stats.reruns.Add(1)
		batch[poison].done <- batch[poison].err
		batch = append(batch[:poison:poison], batch[poison+1:]...)
	}
	for _, op := range batch {
		op.done <- op.err
	}
}

func (c *committer) refuseIntake(batch []*operation, r room) []*operation {
	if !r.refuseIntake {
		return batch
	}
	var rest []*operation
	for _, op := range batch {
		if op.intake {
			c.stats.refused.Add(1)
			op.done <- fmt.Errorf("the disk has less room than the floor for intake: %w", credit.ErrBusy)
			continue
		}
		rest = append(rest, op)
	}
	return rest
}

// try makes one transaction of the batch. poison is the operation that failed after it had written, or -1; err
// says that the transaction could not be begun, rolled back or committed.
func (c *committer) try(batch []*operation, r room) (poison int, err error) {
	if err := c.stopError(); err != nil {
		return -1, err
	}
	tx, err := c.bolt.Begin(true)
	if err != nil {
		return -1, fmt.Errorf("begin a write transaction: %w", err)
	}
	ended := false
	defer func() {
		if !ended { // the goroutine is being ended: leave no lock behind
			_ = tx.Rollback()
		}
	}()
	wrote := false
	for i, op := range batch {
		w := newWriter(tx, r.stopClaims, &c.memo)
		w.beforeOp, w.tight = c.hook, r.tight
		op.err = c.run(op, w)
		op.claims, op.decided, op.testify = w.claims, w.decided, w.testify
		if op.err != nil && w.dirty {
			ended = true
			if err := tx.Rollback(); err != nil {
				return -1, fmt.Errorf("roll back: %w", err)
			}
			return i, nil
		}
		wrote = wrote || w.dirty
	}
	ended = true
	if poison, err := c.beforeCommit(tx, batch, wrote); poison >= 0 || err != nil {
		if back := tx.Rollback(); back != nil {
			return -1, errors.Join(err, fmt.Errorf("roll back: %w", back))
		}
		return poison, err
	}
	if !wrote || commitLeftOut() { // nothing but repeats and refusals: their verdicts rest on what is committed already
		if err := tx.Rollback(); err != nil {
			return -1, fmt.Errorf("end a transaction without writes: %w", err)
		}
		return -1, nil
	}
	if err := commitTx(tx); err != nil {
		return -1, err
	}
	c.stats.commits.Add(1)
	c.confirm(batch)
	return -1, nil
}

// confirm tells the witness that what people decided is committed: no later start may take a file without it for one whose
// last commit did not come through. Should it fail, the witness stays one batch ahead, and is told with the next commit.
func (c *committer) confirm(batch []*operation) {
	decided := slices.ContainsFunc(batch, func(op *operation) bool { return op.err == nil && op.decided })
	if c.owes = c.owes || decided; !c.owes || c.witness == nil || c.witness.last == nil {
		return
	}
	now := *c.witness.last
	now.From = now.To
	err := c.tell(now)
	c.owes = err != nil
	var stranger *strangerError
	if errors.As(err, &stranger) {
		c.stop(err)
	}
}

// beforeCommit sees that the file is still the one at the path, and puts on the witness what the batch claims. A witness that
// cannot be written undoes the batch: poison is an operation that claims, and the others run again without it.
func (c *committer) beforeCommit(tx *bolt.Tx, batch []*operation, wrote bool) (poison int, err error) {
	defer func() {
		if p := recover(); p != nil { // over a page that cannot be read
			poison, err = -1, panicError(p)
		}
	}()
	if wrote && c.unmoved != nil {
		if err := c.unmoved(); err != nil {
			return -1, err
		}
	}
	if c.witness == nil {
		return -1, nil
	}
	claims, first := uint64(0), -1
	for i, op := range batch {
		if op.err == nil && (op.claims > 0 || op.testify) {
			claims += op.claims
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return -1, nil
	}
	err = c.testify(tx, claims)
	var stranger *strangerError
	if err == nil || errors.As(err, &stranger) {
		return -1, err
	}
	batch[first].err = fmt.Errorf("%w: %w", credit.ErrBusy, err)
	return first, nil
}

// testify writes the witness for a batch that makes so many claims.
func (c *committer) testify(tx *bolt.Tx, claims uint64) error {
	s, err := readSettings(tx)
	if err != nil {
		return err
	}
	to, err := readClaims(tx)
	if err != nil {
		return err
	}
	return c.tell(testimony{Store: s.StoreID, Instance: s.Instance, From: to - claims, To: to})
}

// run lets one operation decide and then apply. A panic in it is its error: no stack, which may hold data.
func (c *committer) run(op *operation, w *writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.stats.panics.Add(1)
			err = panicError(p)
		}
	}()
	if err := op.run(w); err != nil {
		return err
	}
	return w.apply()
}

// errPanicked marks an operation that panicked.
var errPanicked = fmt.Errorf("the operation panicked: %w", credit.ErrImpossible)

func panicError(p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("%w: %w", errPanicked, err)
	}
	return fmt.Errorf("%w: %v", errPanicked, p)
}

// commitTx commits. A panic inside bbolt (its strict check, a damaged page) is a commit error like any other.
func commitTx(tx *bolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("commit: %w", panicError(p))
			defer func() { _ = recover() }() // the transaction may be beyond a rollback
			_ = tx.Rollback()
		}
	}()
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// stop ends the store's service for good: every later call is ErrStopped.
func (c *committer) stop(cause error) {
	err := fmt.Errorf("%w: %w", credit.ErrStopped, cause)
	if c.stopped.CompareAndSwap(nil, &err) {
		c.failed <- err
		close(c.failed)
	}
}

// stopError is nil while the store serves.
func (c *committer) stopError() error {
	if err := c.stopped.Load(); err != nil {
		return *err
	}
	return nil
}

// answer gives the error to everybody in the batch who has no answer yet.
func answer(batch []*operation, err error) {
	for _, op := range batch {
		select {
		case op.done <- err:
		default:
		}
	}
}

// close takes no more operations, waits until what is queued is answered, or until ctx ends.
func (c *committer) close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		close(c.queue)
	}
	c.mu.Unlock()
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the store still writes: %w", ctx.Err())
	}
}
