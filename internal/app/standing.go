package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"time"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/store"
)

// machineFiles hold the machine's id (machine-id(5)); the first that is there counts.
var machineFiles = [...]string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

// machine is a digest of this machine's id, which itself is not to be shown; empty where it has none (many containers).
func machine() string {
	for _, path := range machineFiles {
		b, err := os.ReadFile(path)
		if id := bytes.TrimSpace(b); err == nil && len(id) > 0 {
			sum := sha256.Sum256(append([]byte("creditonce machine "), id...))
			return hex.EncodeToString(sum[:16])
		}
	}
	return ""
}

// guard makes the store watch that it is the one that the last claims were made on.
func guard(c *config.Config, clock credit.Clock) *store.Guard {
	return &store.Guard{Witness: c.Store.Witness, Machine: machine(), Booted: clock.Now().Add(-clock.Boot()), Now: clock.Now()}
}

// IsForeignWitness tells that the store cannot be made or used because of its witness: a restart cannot help.
func IsForeignWitness(err error) bool {
	var foreign *store.WitnessError
	return errors.As(err, &foreign)
}

// sayStanding tells, once, what speaks against claims.
func (a *App) sayStanding(st store.Standing) {
	switch {
	case st.Doubt != "":
		a.log.Error().Str("reason", st.Doubt).Msg("the store is in doubt: nothing is called until a restore or a takeover")
	case st.Wait != "":
		a.log.Warn().Str("reason", st.Wait).Msg("no claim before the quarantine")
	}
}

// claimsFrom is when the lanes may claim, on the boot clock.
func (a *App) claimsFrom() time.Duration {
	if a.store.Standing().Wait == "" {
		return 0
	}
	return a.process.Started + a.timing.Quarantine
}

// fileEvery is how often a store that nobody writes to is looked after.
const fileEvery = time.Minute

// seeFile stops the service where the store's path leads to another file than the one that is open.
func (a *App) seeFile(ctx context.Context) error {
	for a.clock.Wait(ctx, a.clock.Boot()+fileEvery, nil) == nil {
		if err := a.store.SeeFile(ctx); errors.Is(err, credit.ErrStopped) {
			return err
		}
	}
	return nil
}
