package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/mt5"
	"creditonce/mt5/probe"
	"creditonce/store"
)

// patience is how long a probe waits for a deal to show.
const patience = time.Minute

// ProbeOptions are what a probe may do, and to what.
type ProbeOptions struct {
	Config       *config.Config
	Server       string // label
	Login        uint64
	Groups       []string      // masks of test groups beside the configured ones
	Permit       uint64        // number of the proposal whose permit lets a login outside the test groups be probed; 0: none may be
	Operate      bool          // balance operations of the smallest amount are allowed
	Operations   int           // pairs of an operation and its reversal
	Overdraw     bool          // also try to take more than the balance
	UnknownLogin uint64        // 0: one is made up
	Sessions     int           // how many sessions are tried at once
	Pace         time.Duration // least time between two requests
	Program      string        // this program's version
	Say          func(text string)
}

// ProbeResult is what a probe found, as the two files of its report and as what a person must know at once.
type ProbeResult struct {
	Markdown    []byte
	JSON        []byte
	Attention   []string // to be done by hand, now
	Differences []string
	// Stored tells that the store holds it. Else Running tells that a service has the store open, and NotStored why.
	Stored, Running bool
	NotStored       error
}

// ProbeRefusedError says that a rule forbids the probe; nothing was changed.
type ProbeRefusedError struct{ cause error }

// Error implements error.
func (e *ProbeRefusedError) Error() string { return e.cause.Error() }

// ServerConfigError says that the configuration of an MT5 server does not fit the server: it calls itself by another name, or
// refuses the manager.
type ServerConfigError struct{ cause error }

// Error implements error.
func (e *ServerConfigError) Error() string { return e.cause.Error() }

// Probe asks an MT5 server what no document settles, on one login in a test group or one that two people permitted, and keeps the answer in the store where
// no service has it open. A result comes also with an error, where something had been asked by then; its Markdown is
// nil where nothing had.
func Probe(ctx context.Context, o ProbeOptions) (ProbeResult, error) {
	s := o.Config.MT5.Servers[o.Server]
	running, err := isRunning(ctx, o.Config)
	if err != nil {
		return ProbeResult{}, err
	}
	server, err := mt5Server(o.Server, s, credit.Learned{}, systemClock{}, unheard())
	if err != nil {
		return ProbeResult{}, err
	}
	report, err := probe.Run(ctx, probeOptions(o, server, running))
	if err != nil {
		err = probeError(err)
	}
	if err != nil && len(report.Findings) == 0 {
		return ProbeResult{}, err
	}
	result, failed := probeResult(report)
	result.Running = running
	if failed != nil || err != nil || running {
		return result, errors.Join(err, failed)
	}
	result.NotStored = storeProbe(ctx, o.Config, learnedOf(report))
	result.Stored = result.NotStored == nil
	return result, nil
}

func probeOptions(o ProbeOptions, server *mt5.Server, running bool) probe.Options {
	c, s := o.Config, o.Config.MT5.Servers[o.Server]
	p := probe.Options{
		Server: server, Label: o.Server, Program: o.Program, Manager: s.Login, Login: o.Login, Identity: s.Identity,
		Masks: append(append([]string{}, s.ProbeGroups...), o.Groups...), Currencies: s.Currencies, Configured: s.Sessions,
		Operate: o.Operate, Operations: o.Operations, Overdraw: o.Overdraw, UnknownLogin: o.UnknownLogin, Sessions: o.Sessions,
		NoSessions: "--sessions is below 2", Quarantine: c.Credit.Quarantine, LongestAct: longestCall(c, s), Patience: patience, Pace: o.Pace,
		Clock: systemClock{}, Rand: rand.Reader, Say: o.Say, Permit: o.permit(running),
	}
	if c.Environment == config.Live {
		p.LiveMasks = s.Groups // where clients' money may be booked
	}
	if running {
		p.Sessions, p.NoSessions = 0, "the service runs, and one session too many could end one of its own: probe while it is stopped"
	}
	if p.UnknownLogin == 0 {
		p.UnknownLogin = madeUpLogin
	}
	return p
}

// madeUpLogin is above what brokers give; user/get says whether it exists before anything relies on it.
const madeUpLogin = 4_190_000_007

func probeResult(r probe.Report) (ProbeResult, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return ProbeResult{}, fmt.Errorf("write the report: %w", err)
	}
	out := ProbeResult{Markdown: []byte(r.Markdown()), JSON: append(text, '\n'), Attention: r.Attention}
	for _, f := range r.Differences() {
		out.Differences = append(out.Differences, fmt.Sprintf("%s: %s; what to do: %s", f.ID, f.Answer, f.Next))
	}
	return out, nil
}

// probeError sorts the reasons why a probe did not run.
func probeError(err error) error {
	var group *probe.GroupError
	switch {
	case errors.As(err, &group), errors.Is(err, credit.ErrRefused):
		return &ProbeRefusedError{err}
	case isServerConfig(err):
		return &ServerConfigError{err}
	}
	return err
}

func isServerConfig(err error) bool {
	var identity *mt5.IdentityError
	var login *mt5.LoginError
	return errors.As(err, &identity) || errors.As(err, &login)
}

// IsUnknownLogin tells whether the error says that MT5 does not know the login.
func IsUnknownLogin(err error) bool { return errors.Is(err, credit.ErrNotFound) }

// isRunning tells whether a service has the store open. A store that is not there yet is no error.
func isRunning(ctx context.Context, c *config.Config) (bool, error) {
	path := StorePath(c.DataDir)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	db, err := store.Open(path, store.Options{})
	switch {
	case IsRunning(err):
		return true, nil
	case errors.Is(err, fs.ErrPermission):
		return isServed(ctx, c, err)
	case err != nil:
		return false, fmt.Errorf("open the store: %w", err)
	}
	return false, db.Close(ctx)
}

// isServed tells of a store that this account may not open whether a service has it: then the socket answers.
func isServed(ctx context.Context, c *config.Config, denied error) (bool, error) {
	_, err := admin.NewClient(c.Admin.Socket).Who(ctx)
	var away *admin.UnreachableError
	if !errors.As(err, &away) {
		return true, nil
	}
	return false, &AccountError{fmt.Errorf("this account may not open the store (%w), and no service answers it (%w); run the probe as the service's user, or, beside a running service, from the account of a person who may open its socket", denied, away)}
}

// AccountError says that the account that runs the command may not do it, and which may.
type AccountError struct{ cause error }

// Error implements error.
func (e *AccountError) Error() string { return e.cause.Error() }

// EveryGroup tells whether a mask names every group, so that it sets no limit.
func EveryGroup(mask string) bool { return probe.RefusedMask(mask) }
