package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
	"creditonce/recon"
)

// byHand is a deal that a dealer makes by hand.
func (b *books) byHand(amount, comment string) fakemt5.JournalEntry {
	b.t.Helper()
	made, err := b.faults.AddDeal(b.t.Context(), fakemt5.ManualDeal{Login: login, Action: 2, Amount: amount, Comment: comment})
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

// notesOf are the notes on the list of deals.
func notesOf(run recon.Run) string {
	for _, s := range run.Sources {
		if s.List == recon.ListDeals {
			return strings.Join(s.Notes, "\n")
		}
	}
	return ""
}

func TestReconcile_ALoginThatMT5DoesNotHaveAnyMoreExplainsNothingAndStopsNothing(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	payments := map[string]string{}
	for i := range 6 {
		payments[b.paid("10.00", 1000, fmt.Sprintf("key-gone-%04d", i))] = "10.00"
	}
	b.byHand("44.00", "by hand")
	b.close()
	b.takeIn(b.statement(payments))
	if run := b.compare(); run.State != recon.RunComplete || len(b.open(credit.TaskDealWithoutReference)) != 1 {
		t.Fatalf("before: %s, %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	if err := b.faults.RemoveAccount(t.Context(), login); err != nil {
		t.Fatal(err)
	}
	run := b.compare()
	if run.State != recon.RunComplete || run.Outcome.Classes[recon.DoneWithoutDeal] != 0 || run.Outcome.Classes[recon.Matched] != 6 {
		t.Errorf("%s: %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	if len(b.open(credit.TaskDealWithoutReference)) != 1 {
		t.Error("the task about a deal of the login was closed although nobody looked")
	}
	want := fmt.Sprintf("login %d is not at MT5 any more (archived, or outside the manager's groups); its 6 credits were not compared", uint64(login))
	if notes := notesOf(run); !strings.HasPrefix(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
	status, err := b.service.Desk().Status(t.Context(), person("ada"))
	if err != nil || status.Settings.Mode == credit.ModeHold || len(b.open(credit.TaskInvariant)) != 0 {
		t.Errorf("mode %s (%s), %v", status.Settings.Mode, status.Settings.ModeReason, err)
	}
}

func TestReconcile_ADealThatMT5StillHasIsNotGone(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	payments := map[string]string{b.paid("10.00", 1000, "key-still-0001"): "10.00"}
	moved, deleted := b.byHand("33.00", "by hand"), b.byHand("12.00", "by hand")
	b.close()
	b.takeIn(b.statement(payments))
	if run := b.compare(); run.State != recon.RunComplete || len(b.open(credit.TaskDealWithoutReference)) != 2 {
		t.Fatalf("before: %s, %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	long := time.Now().AddDate(0, 0, -60).UnixMilli()
	if _, err := b.faults.EditDeal(t.Context(), fakemt5.DealEdit{Ticket: moved.Ticket, TimeMsc: &long}); err != nil {
		t.Fatal(err)
	}
	if err := b.faults.DeleteDeal(t.Context(), deleted.Ticket); err != nil {
		t.Fatal(err)
	}
	b.compare()
	run := b.compare() // a second run says nothing more
	left := b.open(credit.TaskDealWithoutReference)
	if run.State != recon.RunComplete || len(left) != 1 || !strings.HasSuffix(left[0].Entity, fmt.Sprint(moved.Ticket)) {
		t.Fatalf("%s, %v; open are %+v", run.State, run.Outcome.Classes, left)
	}
	notes := left[0].Notes
	if len(notes) != 1 || notes[0].By != recon.Reconciler || !strings.Contains(notes[0].Text, "the deal is still at MT5: dated 20") ||
		!strings.Contains(notes[0].Text, fmt.Sprintf("on login %d", uint64(login))) {
		t.Errorf("the notes are %+v", notes)
	}
	// A server that says nothing of the deal has not said that it is gone.
	if err := b.faults.DeleteDeal(t.Context(), moved.Ticket); err != nil {
		t.Fatal(err)
	}
	rule, err := b.faults.Fault(t.Context(), fakemt5.Rule{Where: "deal/get", Kind: fakemt5.HTTPStatus, Status: 500})
	if err != nil {
		t.Fatal(err)
	}
	if run := b.compare(); run.State != recon.RunComplete || len(b.open(credit.TaskDealWithoutReference)) != 1 {
		t.Fatalf("%s, %v: closed without an answer", run.State, run.Reasons())
	}
	if err := b.faults.ClearFault(t.Context(), rule.ID); err != nil {
		t.Fatal(err)
	}
	if run := b.compare(); run.State != recon.RunComplete || len(b.open(credit.TaskDealWithoutReference)) != 0 {
		t.Errorf("%s, %v: still open", run.State, run.Reasons())
	}
}
