package app

import (
	"context"
	"errors"
	"fmt"
)

// teardown is what must be undone, by name, in the reverse order of its making. Every step runs, whatever the
// others say.
type teardown struct {
	steps []step
}

type step struct {
	name string
	undo func(context.Context) error
}

func (t *teardown) add(name string, undo func(context.Context) error) {
	t.steps = append(t.steps, step{name, undo})
}

// run undoes everything once and joins the errors with the steps' names.
func (t *teardown) run(ctx context.Context) error {
	var errs []error
	for i := len(t.steps) - 1; i >= 0; i-- {
		if err := t.steps[i].undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.steps[i].name, err))
		}
	}
	t.steps = nil
	return errors.Join(errs...)
}
