package app_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/internal/desk"
	"creditonce/store"
)

// storeFile is where the rig's service keeps its store.
func (r *rig) storeFile() string { return filepath.Join(r.dir, "data", "creditonce.db") }

func (r *rig) read(path string) []byte {
	r.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// credited lets a payment through to its deal.
func (r *rig) credited(key string) {
	r.t.Helper()
	code := r.deposit("client-1", "20.00", key)
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000))); status != http.StatusOK {
		r.t.Fatalf("answered %d", status)
	}
	r.awaitState(code, "done")
}

// H20: an older store file is put back by hand: the service starts, takes webhooks, and calls nothing until people end it.
func TestH20_ServeOnAnOlderFileTakesWebhooksAndCallsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	r.credited("k1")
	r.halt()
	old := r.read(r.storeFile())
	r.start()
	r.credited("k2")
	r.credited("k2b") // one claim behind could be a crash before a commit, which costs the quarantine alone
	r.halt()
	if err := os.WriteFile(r.storeFile(), old, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	calls := len(r.ours())
	code := r.deposit("client-1", "30.00", "k3")
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 3000))); status != http.StatusOK {
		t.Fatalf("a webhook was answered %d", status)
	}
	status, err := r.service.Desk().Status(t.Context(), person("ada"))
	if err != nil || status.Settings.Mode != credit.ModeHold || status.Settings.Doubt == nil || status.Totals.Rows[credit.Pending] != 1 {
		t.Fatalf("status %+v, %v", status, err)
	}
	tasks, err := r.service.Desk().Tasks(t.Context(), person("ada"), desk.TaskQuery{OpenOnly: true})
	if err != nil || len(tasks) != 1 || tasks[0].Kind != credit.TaskDoubt {
		t.Errorf("tasks %+v, %v", tasks, err)
	}
	_, err = r.service.Desk().Submit(t.Context(), person("ada"), desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}, "go on")
	var refused *credit.RefusedError
	if !errors.As(err, &refused) || refused.Code != "doubt" {
		t.Errorf("release: %v", err)
	}
	if got := len(r.ours()); got != calls {
		t.Errorf("%d deals, before %d", got, calls)
	}
	if n := strings.Count(r.log.String(), "the store is in doubt"); n != 1 {
		t.Errorf("%d log lines say so", n)
	}
}

// A witness that is missing costs the quarantine once, and nothing else.
func TestWitness_MissingWaitsForTheQuarantineAndGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	r.credited("k1")
	r.halt()
	if err := os.RemoveAll(filepath.Join(r.dir, "data-witness")); err != nil {
		t.Fatal(err)
	}
	r.start()
	began := time.Now()
	r.credited("k2")
	if waited := time.Since(began); waited < 500*time.Millisecond {
		t.Errorf("it claimed after %s", waited)
	}
	r.halt()
	r.start()
	r.credited("k3")
	if n := strings.Count(r.log.String(), "no claim before the quarantine"); n != 1 {
		t.Errorf("%d starts waited", n)
	}
}

// H21: a file put over the open one ends the service, with a message that says what happened.
func TestH21_ServeEndsWhenItsFileIsReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	r.credited("k1")
	other := r.storeFile() + ".other"
	if err := os.WriteFile(other, r.read(r.storeFile()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, r.storeFile()); err != nil {
		t.Fatal(err)
	}
	if status := r.send(r.maker.EventIntentSucceeded(r.payment("nobody's", 2000))); status/100 == 2 {
		t.Errorf("a webhook was acknowledged with %d", status)
	}
	err := <-r.done
	r.stop = nil
	var moved *store.MovedError
	if !errors.As(err, &moved) || !errors.Is(err, credit.ErrStopped) {
		t.Errorf("it ended with %v", err)
	}
}

// copyOver writes a file's content into another, as cp does.
func copyOver(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// H21: two instances on copies of one store do not both pay: the copy starts in hold, whoever sends it the payment.
func TestH21_TwoInstancesOnCopiesDoNotBothPay(t *testing.T) {
	t.Parallel()
	first := newRig(t)
	first.start()
	first.people()
	first.account("client-1")
	first.credited("k1")
	code := first.deposit("client-1", "40.00", "k2") // both copies know it
	first.halt()
	second := &rig{t: t, dir: t.TempDir(), mt5: first.mt5, faults: first.faults, maker: first.maker, log: newLogLines()}
	for _, name := range []string{"secret", "password", "config.yaml", "mt5-ca.pem", "data/creditonce.db", "data-witness/claims"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(second.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		second.file(name, string(first.read(filepath.Join(first.dir, name))))
	}
	first.start()
	second.start()
	paid := first.maker.EventIntentSucceeded(first.payment(code, 4000))
	for _, r := range []*rig{second, first, second} {
		if status := r.send(paid); status != http.StatusOK {
			t.Fatalf("answered %d", status)
		}
	}
	first.awaitState(code, "done")
	s, err := second.service.Desk().Status(t.Context(), person("ada"))
	if err != nil || s.Settings.Doubt == nil || s.Settings.Mode != credit.ModeHold || s.Totals.Rows[credit.Claimed] != 0 {
		t.Errorf("the copy: %+v, %v", s.Settings, err)
	}
	for reference, deals := range first.ours() {
		if len(deals) != 1 {
			t.Errorf("%s has %d deals", reference, len(deals))
		}
	}
}

// H26: a configuration that leads the store to another MT5 server, or another merchant, is refused at the start.
func TestH26_AStoreIsNotLedToAnotherServerOrMerchant(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"identity: Rig-MT5", "identity: Other-MT5"}, {"account: acct_rig", "account: acct_other"}} {
		r := newRig(t)
		r.start()
		r.account("client-1")
		r.halt()
		text := string(r.read(filepath.Join(r.dir, "config.yaml")))
		r.file("config.yaml", strings.Replace(text, c[0], c[1], 1))
		_, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()})
		var pin *app.PinError
		if !errors.As(err, &pin) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}
