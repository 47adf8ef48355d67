package credit

import (
	"errors"
	"fmt"
)

// The few codes of the domain. Each is defined once, here; adapters wrap them and edges match them with
// errors.Is. Anything that is none of them is internal: logged with its chain, never shown to the public.
var (
	// ErrNotFound says that no such record exists.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate says that a unique rule is held by another record; see [DuplicateError].
	ErrDuplicate = errors.New("already taken")
	// ErrConflict says that the row is no longer in the state the caller decided on. Nothing was written.
	ErrConflict = errors.New("state has moved on")
	// ErrMismatch says that an idempotency key came back with another input.
	ErrMismatch = errors.New("same key, other input")
	// ErrInvalid says that an input cannot be understood. Nothing was written.
	ErrInvalid = errors.New("invalid")
	// ErrRefused says that an input was understood and is not allowed; see [RefusedError].
	ErrRefused = errors.New("refused")
	// ErrBusy says that the store takes nothing now (full queue, space below the floor, shutting down) and
	// that the same call may succeed later. Nothing was written.
	ErrBusy = errors.New("busy, try again later")
	// ErrImpossible says that a decision or a record is one that cannot be: a fault of this program, or damage. Nothing
	// was written; the service claims nothing more until people have looked (design §12).
	ErrImpossible = errors.New("this cannot be")
	// ErrStopped says that the store met a commit error and serves no more: whether the last transaction is
	// on disk is unknown, so the process must end and look again after its next start.
	ErrStopped = errors.New("store stopped after a commit error")
)

// DuplicateError names the unique rule that an insert would break and, where the engine knows it, the holder.
type DuplicateError struct {
	Rule   string // name of the rule as the engine's registry has it
	Holder uint64 // id of the row that holds the key; 0 where unknown
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s: already held by %d", e.Rule, e.Holder)
}

// Unwrap makes errors.Is(err, ErrDuplicate) true.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// RefusedError carries a stable code for machines and a sentence for people. Neither holds a secret.
type RefusedError struct {
	Code   string // stable, snake case, part of the public API
	Detail string // one sentence: what is wrong and what to do
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Code + ": " + e.Detail }

// Unwrap makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// Refuse builds a RefusedError.
func Refuse(code, format string, args ...any) error {
	return &RefusedError{Code: code, Detail: fmt.Sprintf(format, args...)}
}
