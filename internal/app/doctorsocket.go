package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"creditonce/internal/admin"
)

// socket checks the way of the operators' commands: its place, who may open it, and whether a running service answers.
func (d *doctor) socket(ctx context.Context) {
	const name = "operators' socket"
	path, group := d.c.Admin.Socket, d.c.Admin.Group
	if !admin.Supported() {
		d.check(true, name, "this system does not name the user at the other end of a socket, so there is none and operators' commands do not work here", "")
		return
	}
	if _, err := os.Stat(d.c.DataDir); errors.Is(err, os.ErrNotExist) && filepath.Dir(path) == filepath.Clean(d.c.DataDir) {
		d.check(true, name, path+" is not there yet; serve makes it", "")
		return
	}
	state, err := admin.Examine(path, group)
	if err != nil {
		d.check(false, name, err.Error(), "mend it as the line above says; admin.socket and admin.group of "+d.file+" name the socket and its group")
		return
	}
	who := fmt.Sprintf("%s has mode %04o; user %s and the members of group %s may open it", path, state.Mode, state.User, state.Group)
	switch {
	case !state.Exists && d.running:
		d.check(false, name, "a service has the store, and there is no socket "+path,
			"does the service run with this configuration? Its log line \"serving\" names its socket; else restart it")
	case !state.Exists:
		d.check(true, name, path+" is not there; no service runs, and serve makes it", "")
	default:
		d.answers(ctx, name, path, who)
	}
}

// answers asks the service behind the socket who we are: every answer is one.
func (d *doctor) answers(ctx context.Context, name, path, who string) {
	me, err := admin.NewClient(path).Who(ctx)
	var told *admin.Problem
	var away *admin.UnreachableError
	switch {
	case err == nil:
		d.check(true, name, fmt.Sprintf("%s; the service answers, and you are %s to it", who, me.ID), "")
	case errors.As(err, &told):
		d.check(true, name, who+"; the service answers: "+told.Detail, "")
	case errors.As(err, &away) && away.Denied():
		d.check(false, name, err.Error(), "run as the service's user, or become a member of the socket's group")
	case d.running:
		d.check(false, name, err.Error(), "see the service's log, or restart it")
	default:
		d.check(true, name, path+" was left by a service that has ended; the next start replaces it", "")
	}
}
