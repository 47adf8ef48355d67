package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"strconv"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
)

// permit is how the probe takes what two people agreed on, at the moment when it knows that it needs that: from the
// service that has the store open, else in the store's file. It is nil where no proposal is named.
func (o ProbeOptions) permit(running bool) func(context.Context) error {
	if o.Permit == 0 {
		return nil
	}
	claim := desk.PermitClaim{Server: o.Server, Identity: o.Config.MT5.Servers[o.Server].Identity, Login: o.Login}
	return func(ctx context.Context) error {
		if running {
			return o.askPermit(ctx, claim)
		}
		return o.takePermit(ctx, claim)
	}
}

func (o ProbeOptions) askPermit(ctx context.Context, c desk.PermitClaim) error {
	_, err := admin.NewClient(o.Config.Admin.Socket).UsePermit(ctx, strconv.FormatUint(o.Permit, 10), admin.PermitClaim(c))
	var p *admin.Problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p) && p.Code == "nobody":
		return credit.Refuse(p.Code, "%s; while the service runs it gives the permit to a person of the store alone: run the probe from a person's account, or stop the service first", p.Detail)
	case errors.As(err, &p) && (p.Status == http.StatusForbidden || p.Status == http.StatusNotFound):
		return credit.Refuse(p.Code, "%s", p.Detail)
	}
	return fmt.Errorf("ask the service for the permit of proposal %d: %w", o.Permit, err)
}

// account is the unix account of this process.
func account() (desk.Actor, error) {
	who, err := user.Current()
	if err != nil {
		return desk.Actor{}, fmt.Errorf("find whose account this is: %w", err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return desk.Actor{}, fmt.Errorf("read the number of account %s: %w", who.Username, err)
	}
	return desk.Actor{User: who.Username, UID: uint32(uid)}, nil
}

func (o ProbeOptions) takePermit(ctx context.Context, c desk.PermitClaim) (err error) {
	if _, err := os.Stat(StorePath(o.Config.DataDir)); errors.Is(err, os.ErrNotExist) {
		return credit.Refuse("no_permit", "there is no store yet, so nobody has permitted anything; start the service, and see: creditonce mt5 permit --help")
	}
	who, err := account()
	if err != nil {
		return err
	}
	a := &App{cfg: o.Config, clock: systemClock{}}
	defer func() { err = errors.Join(err, a.teardown.run(context.WithoutCancel(ctx))) }()
	if err := a.openStore(ctx); err != nil {
		return err
	}
	_, err = desk.UsePermitAlone(ctx, a.store, a.clock.Now(), who, desk.ProposalID(o.Permit), c)
	if errors.Is(err, credit.ErrNotFound) { // of the login it would mean something else
		return credit.Refuse("no_permit", "%s", err)
	}
	return err
}
