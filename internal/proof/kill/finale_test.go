package kill

import (
	"context"
	"errors"
	"fmt"
	"os"

	"creditonce/internal/app"
	"creditonce/internal/proof/arena"
)

// putOlderBack puts back the store file of before the cycle's load, by hand: over the present file, or, the other way, in
// its place under its name.
func (w life) putOlderBack(ctx context.Context, c cycle) error {
	path, older := app.StorePath(w.Path("store")), w.Path("older.db")
	if err := copyFile(older, path); err != nil {
		return err
	}
	if err := errors.Join(w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load)); err != nil {
		return err
	}
	w.Serve.Kill()
	var err error
	if c.other {
		beside := path + ".older" // a rename does not cross file systems
		err = errors.Join(copyFile(beside, older), os.Rename(beside, path))
	} else {
		err = copyFile(path, older)
	}
	w.seen[string(c.fault)]++
	return errors.Join(err, w.PutBack(ctx, false))
}

// restore makes a backup, lets the program work on, and puts the backup back by the command, which is killed first at a
// boundary; the other way, somewhere in the middle before that. What a restore has in its way must be gone when it is run again.
func (w life) restore(ctx context.Context, c cycle) error {
	backup := w.Path("backup.db")
	err := errors.Join(w.Command(ctx, "backup", backup), w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load))
	if err != nil {
		return err
	}
	w.Serve.Kill()
	put := []string{"restore", "--from", backup, "--reason", "the kill harness", "--yes"}
	if c.other {
		short, cancel := context.WithTimeout(ctx, c.load/8)
		if err := w.Command(short, put...); err != nil {
			w.seen["restore killed"]++
		}
		cancel()
	}
	if err := w.killedCommand(ctx, c, put...); err != nil {
		return err
	}
	w.seen[string(c.fault)]++
	return errors.Join(w.Command(ctx, put...), w.PutBack(ctx, true))
}

// runTwice lets a second instance run on a copy of the store, beside the first, for longer than a quarantine; the other way,
// the witness was copied along.
func (w life) runTwice(ctx context.Context, c cycle) error {
	if err := errors.Join(w.Start(ctx, arena.Life{}), arena.Pause(ctx, c.load)); err != nil {
		return err
	}
	w.Serve.Kill()
	err := os.Mkdir(w.Path("store2"), 0o700)
	err = errors.Join(err, copyFile(app.StorePath(w.Path("store2")), app.StorePath(w.Path("store"))))
	if c.other {
		err = errors.Join(err, os.CopyFS(w.Path("store2-witness"), os.DirFS(w.Path("store-witness"))))
	}
	config, errConfig := w.SecondConfig("store2")
	if err := errors.Join(err, errConfig); err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	before := w.Doubts()
	second, err := w.Launch(ctx, arena.Life{Config: config})
	if second != nil {
		defer second.Kill()
	}
	err = errors.Join(err, w.Start(ctx, arena.Life{}), arena.Pause(ctx, timing.Quarantine+c.load))
	if err != nil {
		return err
	}
	if !second.Running() {
		return fmt.Errorf("the second instance ended with code %d:\n%s", second.Code(), second.Last())
	}
	if w.Doubts() == before {
		return errors.New("the second instance works on its copy as if it were the store")
	}
	w.Serve.Kill()
	w.seen[string(c.fault)]++
	return nil
}

// copyFile writes the content of one file over another, as cp does.
func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
