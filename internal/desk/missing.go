package desk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"creditonce/credit"
)

// MissingError says that what somebody asked for does not exist. It is a credit.ErrNotFound.
type MissingError struct {
	Subject string // "credit/99"
}

// lists are the commands that show what does exist, by the kind of a subject.
var lists = map[string]string{
	"credit": "credits list", "event": "events list", "task": "tasks list --all", "deposit": "deposits list", "account": "accounts list",
	"proposal": "proposals list --all", "person": "people list", "key": "keys list", "run": "recon list", "statement": "recon statements",
}

// Error implements error.
func (e *MissingError) Error() string {
	head, id, _ := strings.Cut(e.Subject, "/")
	return fmt.Sprintf("%s %s does not exist; creditonce %s shows which do", head, clipped(id), lists[head])
}

// Unwrap makes errors.Is(err, credit.ErrNotFound) true.
func (e *MissingError) Unwrap() error { return credit.ErrNotFound }

// Missing says of a "not found" what it is that does not exist. Other errors stay as they are.
func Missing(err error, subject string) error {
	if errors.Is(err, credit.ErrNotFound) {
		return &MissingError{subject}
	}
	return err
}

func proposalSubject(id ProposalID) string { return fmt.Sprintf("proposal/%d", id) }

// unknownServer refuses a label that no MT5 server of the configuration has.
func unknownServer(label string, rules credit.DepositRules) error {
	known := servers(rules)
	slices.Sort(known)
	return credit.Refuse("unknown_server", "the configuration has no MT5 server %q; it has: %s", label, strings.Join(known, ", "))
}
