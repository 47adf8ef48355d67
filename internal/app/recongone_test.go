package app_test

import (
	"fmt"
	"strings"
	"testing"

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
