package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/internal/desk"
	"creditonce/webhook/fakepsp"
)

// drill is a firm that backs its store up, takes 50 payments, and loses the store.
type drill struct {
	*rig
	backup string
	events []fakepsp.Event // of all payments, in order
	codes  []string
}

const drilled = 50

// newDrill makes 50 deposits, lets five be paid, backs up, and lets the other 45 be paid and credited.
func newDrill(t *testing.T) *drill {
	t.Helper()
	d := &drill{rig: newRig(t)}
	d.start()
	d.people()
	d.account("client-1")
	for i := range drilled {
		code := d.deposit("client-1", fmt.Sprintf("%d.00", 10+i), fmt.Sprintf("key-%d", i))
		d.codes = append(d.codes, code)
		d.events = append(d.events, d.maker.EventIntentSucceeded(d.payment(code, int64(100*(10+i)))))
	}
	d.deliver(0, 5)
	d.awaitState(d.codes[4], "done")
	d.halt()
	d.backup = filepath.Join(d.dir, "backup.db")
	if b, err := app.Backup(t.Context(), d.load(), d.backup); err != nil || b.Credits["done"]+b.Credits["pending"] != 5 {
		t.Fatalf("%+v, %v", b, err)
	}
	d.start()
	d.deliver(5, drilled)
	d.awaitCounts(credit.Done, drilled)
	d.halt()
	return d
}

func (d *drill) deliver(from, to int) {
	d.t.Helper()
	for _, e := range d.events[from:to] {
		if status := d.send(e); status != http.StatusOK {
			d.t.Fatalf("answered %d", status)
		}
	}
}

// awaitCounts waits until so many rows are in the state.
func (r *rig) awaitCounts(state credit.State, n int) {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	const stuck = 2 * time.Minute // without any change: one login takes its payments one by one, however slow a busy machine makes each
	end, before := time.NewTimer(stuck), ""
	defer end.Stop()
	for {
		s, err := r.service.Desk().Status(r.t.Context(), person("ada"))
		if err != nil {
			r.t.Fatal(err)
		}
		if s.Totals.Rows[state] >= n {
			return
		}
		if now := fmt.Sprint(s.Totals); now != before {
			before = now
			end.Reset(stuck)
		}
		select {
		case <-tick.C:
		case <-end.C:
			r.t.Fatalf("%v, want %d %s", s.Totals.Rows, n, state)
		}
	}
}

// wantOneDealEach sees that every payment of the drill has one deal at MT5, and no payment two.
func (d *drill) wantOneDealEach(more int) {
	d.t.Helper()
	ours := d.ours()
	for reference, deals := range ours {
		if len(deals) != 1 {
			d.t.Errorf("%s has %d deals", reference, len(deals))
		}
	}
	if len(ours) != drilled+more {
		d.t.Errorf("%d payments have a deal, want %d", len(ours), drilled+more)
	}
}

func (d *drill) wantRefused(code string) {
	d.t.Helper()
	out, err := d.service.Desk().Submit(d.t.Context(), person("ada"), desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}, "go on")
	if err == nil { // what passes with time is a proposal that cannot be confirmed yet
		_, err = d.service.Desk().Confirm(d.t.Context(), person("abe"), out.Proposal.ID, out.Proposal.Digest, "agreed")
	}
	var refused *credit.RefusedError
	if !errors.As(err, &refused) || refused.Code != code {
		d.t.Errorf("release: %v, want %s", err, code)
	}
}

// H20: backup, 45 payments, restore by the command: what was credited since is found at MT5, every lost event comes back when
// the provider sends it again, and nothing is credited twice.
func TestH20_DrillWithTheCommand(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	r, err := app.Restore(t.Context(), d.load(), app.RestoreWish{From: d.backup, By: "root", Reason: "drill"})
	if err != nil || r.Present == nil || r.Present.Credits["done"] != drilled || r.Kept == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	d.start()
	d.wantRefused("quarantine")
	d.deliver(0, drilled) // the provider sends everything again, what the backup knows too
	d.awaitCounts(credit.Done, drilled)
	d.wantOneDealEach(0)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s, _ := d.service.Desk().Status(t.Context(), person("ada")); s.Quarantine > 0; s, _ = d.service.Desk().Status(t.Context(), person("ada")) {
		<-tick.C
	}
	d.wantRefused("gap")
	// A provider's time is in whole seconds, so only now a payment is sure to be younger than the restore.
	late := d.deposit("client-1", "7.00", "after")
	if status := d.send(d.maker.EventIntentSucceeded(d.payment(late, 700))); status != http.StatusOK { // paid after the restore
		t.Fatalf("answered %d", status)
	}
	d.submit(desk.Act{Kind: desk.GapChecked, Subject: "provider/stripe"})
	d.agree(d.submit(desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}).Proposal)
	d.awaitCounts(credit.Done, drilled+1) // what came between restore and release went on by itself
	d.credited("live again")
	d.wantOneDealEach(2)
	s, err := d.service.Desk().Status(t.Context(), person("ada"))
	for ; err == nil && s.Settings.Restore.FreedAt.IsZero() && t.Context().Err() == nil; s, err = d.service.Desk().Status(t.Context(), person("ada")) {
		<-tick.C
	}
	if err != nil || s.Settings.Mode != credit.ModeLive || s.Totals.OpenTasks != 0 {
		t.Errorf("status %+v, restore %+v, %v", s, s.Settings.Restore, err)
	}
}

// H20: the same by hand: the service notices, holds, and nothing is credited twice however often events come.
func TestH20_DrillByHandAndTakeover(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	if err := copyOver(d.backup, d.storeFile()); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.wantRefused("doubt")
	d.deliver(0, drilled)
	d.wantOneDealEach(0)
	d.agree(d.submit(desk.Act{Kind: desk.TakeOver, Subject: "mode", Params: map[string]string{"fenced": "password"}}).Proposal)
	d.awaitCounts(credit.Done, drilled)
	d.wantOneDealEach(0)
	d.halt()
	d.start() // the takeover has new pins and a new witness
	s, err := d.service.Desk().Status(t.Context(), person("ada"))
	if err != nil || s.Settings.Doubt != nil || s.Settings.Restore == nil || s.Settings.Restore.Kind != credit.FromCopy {
		t.Fatalf("settings %+v, %v", s.Settings, err)
	}
	d.submit(desk.Act{Kind: desk.GapChecked, Subject: "provider/stripe"})
	d.agree(d.submit(desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}).Proposal)
	d.credited("live again")
	d.wantOneDealEach(1)
}
