package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"creditonce/internal/proof/faultpoints"
)

// Person is one of the two people of a world, with an account of this machine.
type Person struct {
	ID, Account string
	uid         uint32
}

// FindPeople finds accounts for two people: one prepares what takes two, and the other confirms it. An error says why this
// machine has none; then nobody can act, and only what the machine's owner does alone can be tried.
func FindPeople() (maker, checker Person, err error) {
	if os.Geteuid() != 0 {
		return maker, checker, errors.New("commands can be run as other users by root alone")
	}
	maker, errMaker := holder("ada", "daemon")
	checker, errChecker := holder("ben", "nobody")
	if err := errors.Join(errMaker, errChecker); err != nil {
		return Person{}, Person{}, err
	}
	return maker, checker, nil
}

func holder(id, account string) (Person, error) {
	found, err := user.Lookup(account)
	if err != nil {
		return Person{}, err
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return Person{}, fmt.Errorf("account %s: %w", account, err)
	}
	return Person{ID: id, Account: account, uid: uint32(uid)}, nil
}

// Employ lets root name the two people of the store. The program must be running.
func (w *World) Employ(ctx context.Context, maker, checker Person) error {
	return w.Command(ctx, "people", "bootstrap",
		maker.ID+":Ada Maker:"+maker.Account+":admin,operator,maker", checker.ID+":Ben Checker:"+checker.Account+":admin,operator,checker",
		"--reason", "the first start")
}

// Refused is the exit code of a command that came to its end without success.
type Refused struct {
	Code int // as `creditonce help exit-codes` lists them; -1: a signal ended it
	Said string
}

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("exit code %d: %s", r.Code, r.Said) }

// As runs a command of the program as a person, over the socket of the first instance, and returns what it printed. A command
// that ends without success is a *Refused.
func (w *World) As(ctx context.Context, p Person, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.o.Plain, append(args, "--socket", w.socket("store"))...)
	// The group is this process's own, to which the socket belongs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: uint32(os.Getegid())}}
	cmd.Dir = "/"
	return w.finish(cmd, p.ID, args)
}

// CommandAt runs a command on the first instance's store, with the fault points and one of them: see package faultpoints.
func (w *World) CommandAt(ctx context.Context, point string, args ...string) error {
	cmd := exec.CommandContext(ctx, w.o.Tagged, append(args, "--config", w.Path("config.yaml"))...)
	cmd.Env = append(os.Environ(), faultpoints.Variable+"="+point)
	_, err := w.finish(cmd, "root", args)
	return err
}

func (w *World) finish(cmd *exec.Cmd, who string, args []string) ([]byte, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = &Refused{exit.ExitCode(), string(exit.Stderr)}
	}
	w.Note("%s: creditonce %q: %v\n%s", who, args, err, out)
	if err != nil {
		err = fmt.Errorf("%s: creditonce %s: %w", who, args[0], err)
	}
	return out, err
}

// Wire is a bank wire that people enter: one deposit that no provider tells of.
type Wire struct {
	Account
	Amount, Bank string
	deposit      *deposit
}

// Expect makes up a wire. No other deposit of the world credits its amount.
func (w *World) Expect() Wire {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := len(w.deposits)
	d := &deposit{index: i, way: wired, Account: AccountAt(i % AccountCount), minor: lowest + int64(i)}
	w.deposits = append(w.deposits, d)
	return Wire{d.Account, d.amount(), fmt.Sprintf("F-%06d", i), d}
}

// Entered notes under which code the store has a wire: from then on it must come to rest with one row.
func (w *World) Entered(x Wire, code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.deposit.code, x.deposit.payments, x.deposit.made = code, []string{x.Bank}, true
}
