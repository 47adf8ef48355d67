package cli

import (
	"errors"
	"fmt"
)

// The exit codes of every command, as `creditonce help exit-codes` explains them.
const (
	ExitDone      = 0  // the command did what it says
	ExitFailed    = 1  // it could not
	ExitUsage     = 2  // the command line, or a file that it names, is wrong; nothing was done
	ExitFound     = 3  // it ran to the end and found something a person must look at
	ExitNoAnswer  = 4  // MT5, the provider or the service gave no complete answer
	ExitRefused   = 5  // a rule forbids it
	ExitBadConfig = 78 // the configuration is wrong (EX_CONFIG of sysexits.h); a restart cannot help
)

const exitCodesHelp = `Every command ends with one of these codes:

   0  done
   1  failed: the message says why
   2  usage: the command line, or a file that it names, is wrong; nothing was done
   3  found something: it ran to the end, and a person must look at what it printed
   4  no complete answer: MT5, the provider or the service could not be asked
   5  refused: a rule forbids it (a person's own approval, a mode that holds)
  78  bad configuration: creditonce check lists every fault; a restart cannot help
      (systemd: RestartPreventExitStatus=78)
`

// exitError is an error that decides the exit code. Err may be nil when everything was already printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith makes the command end with code and print err, which may be nil.
func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

// usagef is a command line that is wrong.
func usagef(format string, args ...any) error {
	return exitWith(ExitUsage, fmt.Errorf(format, args...))
}

// codeOf gives the exit code of a command's error; an error that decides none failed.
func codeOf(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.code
	default:
		return ExitFailed
	}
}
