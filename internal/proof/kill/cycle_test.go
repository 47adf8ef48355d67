package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"creditonce/internal/proof/faultproxy"
	"creditonce/internal/stage"
)

// tally counts what really happened, by name.
type tally map[string]int

// run plays one life of the program: it starts, works, and meets the fault. The program is not running when it returns.
func (w *world) run(ctx context.Context, c cycle, seen tally) error {
	w.note("%s", c)
	if err := w.line.Set(c.line); err != nil {
		return err
	}
	for _, r := range c.mt5 {
		if _, err := w.mt5.Fault(ctx, r); err != nil {
			return err
		}
	}
	point := ""
	if c.fault == killAt {
		point = fmt.Sprintf("kill@%s#%d", c.at, c.nth)
	}
	if err := w.start(ctx, point); err != nil {
		return err
	}
	err := w.meet(ctx, c, seen)
	if n := w.line.Struck(); n > 0 {
		seen["line "+string(c.line.Kind)]++
	}
	rules, errFaults := w.mt5.Faults(ctx)
	for _, r := range rules {
		if r.Hits > 0 {
			seen["MT5 "+string(r.Kind)]++
		}
	}
	return errors.Join(err, errFaults, w.mt5.ClearFaults(ctx))
}

// meet lets the fault happen.
func (w *world) meet(ctx context.Context, c cycle, seen tally) error {
	if c.fault == killAt {
		return w.dieAt(ctx, c, seen)
	}
	if err := pause(ctx, c.load); err != nil {
		return err
	}
	if !w.serve.Running() {
		return fmt.Errorf("serve ended by itself with exit code %d:\n%s", w.serve.Code(), w.serve.Last())
	}
	switch c.fault {
	case pauseIt:
		if err := errors.Join(w.signal(syscall.SIGSTOP), pause(ctx, c.pause), w.signal(syscall.SIGCONT), pause(ctx, c.load)); err != nil {
			return err
		}
		seen[string(c.fault)]++
		return w.stop()
	case starve:
		if err := stage.Starve(w.serve.Process()); err != nil {
			return err
		}
		return w.endsByItself(ctx, c, seen)
	case fillDisk:
		return w.fill(ctx, c, seen)
	case killAnywhere, killAt:
	}
	w.serve.Kill()
	seen[string(c.fault)]++
	return nil
}

// reach is how long a program may take until it passes a boundary often enough: an unknown row is looked at within a
// second, an absent one after the quarantine.
const reach = 5 * time.Second

// dieAt waits for the program to kill itself. One that never gets there is killed.
func (w *world) dieAt(ctx context.Context, c cycle, seen tally) error {
	if _, err := w.serve.Wait(ctx, reach); err == nil {
		if code := w.serve.Code(); code != -1 {
			return fmt.Errorf("serve ended with exit code %d, not at its fault point:\n%s", code, w.serve.Last())
		}
		seen[c.at]++
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.note("%s was not passed %d times", c.at, c.nth)
	w.serve.Kill()
	seen["not reached: "+c.at]++
	return nil
}

// endsByItself waits for a program whose store cannot be written: after a commit error nothing of the process may be
// relied on, so it must end, and not with success.
func (w *world) endsByItself(ctx context.Context, c cycle, seen tally) error {
	code, err := w.serve.Wait(ctx, 20*time.Second)
	if err != nil {
		return err
	}
	if code != 1 {
		return fmt.Errorf("serve ended with exit code %d after its store could not be written, not 1:\n%s", code, w.serve.Last())
	}
	seen[string(c.fault)]++
	return nil
}

// fill takes every free byte of the store's file system, for as long as the load of the cycle lasts. The program may go on
// and refuse, or end; it must not lose anything, which the journals will show.
func (w *world) fill(ctx context.Context, c cycle, seen tally) error {
	ballast := w.path("store", "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		return err
	}
	_, full := io.Copy(f, endless{})
	if err := errors.Join(f.Close(), pause(ctx, c.load+time.Second)); err != nil {
		return err
	}
	if !errors.Is(full, syscall.ENOSPC) {
		return fmt.Errorf("fill the disk: %w", full)
	}
	switch code := w.serve.Code(); {
	case w.serve.Running():
		seen["served on a full disk"]++
		w.serve.Kill()
	case code == 1:
		seen["ended on a full disk"]++
	default:
		return fmt.Errorf("serve ended with exit code %d on a full disk:\n%s", code, w.serve.Last())
	}
	seen[string(c.fault)]++
	return os.Remove(ballast)
}

// endless are bytes without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// smallDisk is a file system of the store's own that is soon full. It returns what unmounts it, or why there is none.
func smallDisk(at string) (unmount func() error, err error) {
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=40m,mode=0700"); err != nil {
		return nil, fmt.Errorf("mount a small file system: %w", err)
	}
	return func() error { return syscall.Unmount(at, syscall.MNT_DETACH) }, nil
}

// settleTime bounds how long everything may take to come to rest after the last fault.
const settleTime = 40 * time.Second

// settle ends every fault and the load, and waits until every event is delivered and every deposit is at rest: credited, or
// in front of a person. What is not at rest then is for the comparison to judge.
func (w *world) settle(ctx context.Context, stopLoad func() error) error {
	w.note("no more faults")
	if err := errors.Join(w.line.Set(faultproxy.Fault{}), w.mt5.ClearFaults(ctx), w.start(ctx, ""), stopLoad()); err != nil {
		return err
	}
	rests := map[string]bool{}
	rest := until(ctx, settleTime, func(ctx context.Context) bool {
		if !w.serve.Running() {
			return true
		}
		if st, err := w.psp.Status(ctx); err != nil || st.Outstanding > 0 {
			return false
		}
		return w.atRest(ctx, rests)
	})
	if !rest {
		w.note("not everything has come to rest")
	}
	return w.stop()
}

// atRest tells that every deposit is. rests holds those that were seen at rest before.
func (w *world) atRest(ctx context.Context, rests map[string]bool) bool {
	all := true
	for _, d := range w.deposits {
		if rests[d.code] {
			continue
		}
		switch w.portal.state(ctx, d.code) {
		case "credited", "review":
			rests[d.code] = true
		default:
			all = false
		}
	}
	return all
}
