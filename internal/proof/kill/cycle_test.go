package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"creditonce/internal/proof/arena"
	"creditonce/internal/proof/faultproxy"
	"creditonce/internal/stage"
)

// life is a world in the middle of a cycle.
type life struct {
	*arena.World
	seen           tally
	maker, checker arena.Person // nobody where the machine has no accounts for them
}

// tally counts what really happened, by name.
type tally map[string]int

// perLife is how many deposits may begin in a cycle: about as many as a long one of a quick machine would.
const perLife = 40

// run plays one life of the program: it starts, works, and meets the fault. The program is not running when it returns.
func (w life) run(ctx context.Context, c cycle) error {
	w.Note("%s", c)
	w.Allow(perLife)
	if err := w.Line.Set(c.line); err != nil {
		return err
	}
	for _, r := range c.mt5 {
		if _, err := w.MT5.Fault(ctx, r); err != nil {
			return err
		}
	}
	switch c.fault {
	case olderFile:
		return w.putOlderBack(ctx, c)
	case restored:
		return w.restore(ctx, c)
	case secondInstance:
		return w.runTwice(ctx, c)
	case backupAt:
		if c.other || w.maker.ID == "" {
			return w.backUpAlone(ctx, c)
		}
		return w.interrupted(ctx, c)
	case importAt, runAt, approveAt:
		return w.interrupted(ctx, c)
	case migrateAt:
		return w.raise(ctx, c)
	default:
	}
	point := ""
	switch c.fault {
	case killAt:
		point = fmt.Sprintf("kill@%s#%d", c.at, c.nth)
	case pauseAt:
		point = fmt.Sprintf("stop@%s#%d", c.at, c.nth)
	default:
	}
	if err := w.Start(ctx, arena.Life{Point: point}); err != nil {
		return err
	}
	err := w.meet(ctx, c)
	if n := w.Line.Struck(); n > 0 {
		w.seen["line "+string(c.line.Kind)]++
	}
	rules, errFaults := w.MT5.Faults(ctx)
	for _, r := range rules {
		if r.Hits > 0 {
			w.seen["MT5 "+string(r.Kind)]++
		}
	}
	return errors.Join(err, errFaults, w.MT5.ClearFaults(ctx))
}

// meet lets the fault happen.
func (w life) meet(ctx context.Context, c cycle) error {
	switch c.fault {
	case killAt:
		return w.dieAt(ctx, c)
	case pauseAt:
		return w.pauseAt(ctx, c)
	default:
	}
	if err := arena.Pause(ctx, c.load); err != nil {
		return err
	}
	if !w.Serve.Running() {
		return fmt.Errorf("serve ended by itself with exit code %d:\n%s", w.Serve.Code(), w.Serve.Last())
	}
	switch c.fault {
	case pauseIt:
		if err := errors.Join(w.Signal(syscall.SIGSTOP), arena.Pause(ctx, c.pause), w.Signal(syscall.SIGCONT), arena.Pause(ctx, c.load)); err != nil {
			return err
		}
		w.seen[string(c.fault)]++
		return w.Stop()
	case starve:
		if err := stage.Starve(w.Serve.Process()); err != nil {
			return err
		}
		w.Allow(perLife) // something must be written, or nothing fails
		return w.endsByItself(ctx, c)
	case fillDisk:
		return w.fill(ctx, c)
	case killAnywhere, killAt, pauseAt, backupAt, importAt, runAt, approveAt, migrateAt, olderFile, restored, secondInstance:
	}
	w.Serve.Kill()
	w.seen[string(c.fault)]++
	return nil
}

// reach is how long a program may take until it passes a boundary often enough: an unknown row is looked at within a
// second, an absent one after the quarantine.
const reach = 5 * time.Second

// dieAt waits for the program to kill itself. One that never gets there is killed.
func (w life) dieAt(ctx context.Context, c cycle) error {
	if _, err := w.Serve.Wait(ctx, reach); err == nil {
		if code := w.Serve.Code(); code != -1 {
			return fmt.Errorf("serve ended with exit code %d, not at its fault point:\n%s", code, w.Serve.Last())
		}
		w.seen[c.at]++
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.Note("%s was not passed %d times", c.at, c.nth)
	w.Serve.Kill()
	w.seen["not reached: "+c.at]++
	return nil
}

// pauseAt waits for the program to stop itself, and lets it go on after the pause. To whoever it talks with, and to its own
// clock, the pause is time that passed between two instructions.
func (w life) pauseAt(ctx context.Context, c cycle) error {
	if !arena.Until(ctx, reach, func(context.Context) bool { return stopped(w.Serve.Process().Pid) }) {
		w.seen["not stopped: "+c.at]++
		w.Serve.Kill() // it may get there yet, and could not end in order then
		return ctx.Err()
	}
	w.seen[string(c.fault)]++
	err := errors.Join(arena.Pause(ctx, c.pause), w.Signal(syscall.SIGCONT), arena.Pause(ctx, c.load))
	if err != nil {
		return err
	}
	return w.Stop()
}

// stopped tells that a process is stopped by a signal: the state in its line is T (proc_pid_stat(5)).
func stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, ok := strings.Cut(string(text), ") ")
	return ok && strings.HasPrefix(after, "T")
}

// endsByItself waits for a program whose store cannot be written: after a commit error nothing of the process may be
// relied on, so it must end, and not with success.
func (w life) endsByItself(ctx context.Context, c cycle) error {
	code, err := w.Serve.Wait(ctx, 20*time.Second)
	if err != nil {
		return err
	}
	if code != 1 {
		return fmt.Errorf("serve ended with exit code %d after its store could not be written, not 1:\n%s", code, w.Serve.Last())
	}
	w.seen[string(c.fault)]++
	return nil
}

// fill takes every free byte of the store's file system, for as long as the load of the cycle lasts. The program may go on
// and refuse, or end; it must not lose anything, which the journals will show.
func (w life) fill(ctx context.Context, c cycle) error {
	ballast := w.Path("store", "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		return err
	}
	_, full := io.Copy(f, endless{})
	if err := errors.Join(f.Close(), arena.Pause(ctx, c.load+time.Second)); err != nil {
		return err
	}
	if !errors.Is(full, syscall.ENOSPC) {
		return fmt.Errorf("fill the disk: %w", full)
	}
	switch code := w.Serve.Code(); {
	case w.Serve.Running():
		w.seen["served on a full disk"]++
		w.Serve.Kill()
	case code == 1:
		w.seen["ended on a full disk"]++
	default:
		return fmt.Errorf("serve ended with exit code %d on a full disk:\n%s", code, w.Serve.Last())
	}
	w.seen[string(c.fault)]++
	return os.Remove(ballast)
}

// endless are bytes without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// smallDisk is a file system of the store's own that is soon full. It returns what unmounts it, or why there is none.
func smallDisk(at string) (unmount func() error, err error) {
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=96m,mode=0700"); err != nil {
		return nil, fmt.Errorf("mount a small file system: %w", err)
	}
	return func() error { return syscall.Unmount(at, syscall.MNT_DETACH) }, nil
}

// settleTime is how long nothing may change after the last fault while something is not at rest.
const settleTime = 30 * time.Second

// settle ends every fault and the load, and waits until everything has come to rest. A store that is in doubt calls nothing
// more: there it is enough that whatever was going to happen has happened, and that every event has come again.
func settle(ctx context.Context, w *arena.World, older bool, stopLoad func() error) error {
	w.Note("no more faults")
	limit, doubts := settleTime, w.Doubts()
	if err := errors.Join(w.Line.Set(faultproxy.Fault{}), w.MT5.ClearFaults(ctx), w.Start(ctx, arena.Life{}), stopLoad()); err != nil {
		return err
	}
	if w.Doubts() > doubts {
		limit = timing.Quarantine + 3*time.Second
	}
	if older {
		if err := w.ResendAll(ctx); err != nil {
			return err
		}
	}
	if open := w.Rest(ctx, limit); open != "" {
		w.Note("not everything has come to rest: %s", open)
	}
	return w.Stop()
}
