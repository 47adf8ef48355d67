package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
	"creditonce/mt5/fakemt5"
	"creditonce/recon"
)

func (b *books) runs() []recon.Run {
	b.t.Helper()
	runs, err := b.Runs(b.t.Context(), person("ada"), 0, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return runs
}

func (b *books) hour() {
	b.t.Helper()
	if err := b.service.ReconcileDue(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func TestReconcileDaily_MissedDaysAreMadeUpAndNothingIsDoneTwice(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	first := b.paid("500.00", 50000, "key-one-0001")
	b.close()
	today := recon.DayOf(time.Now(), time.UTC)
	from, until := today.Bounds(time.UTC)
	b.next = until.Add(time.Hour) // the lists of the providers come late
	b.hour()
	if runs := b.runs(); len(runs) != 0 {
		t.Fatalf("a day was compared %s after its end: %+v", b.next.Sub(until), runs)
	}
	b.next = until.Add(5 * time.Hour)
	b.hour()
	b.hour() // no statement yet: each hour tries again
	if runs := b.runs(); len(runs) != 2 || runs[0].State != recon.RunIncomplete || runs[0].First != today || runs[0].By != recon.BySchedule || !runs[0].From.Equal(from) {
		t.Fatalf("without a statement: %+v", runs)
	}
	b.next = until.Add(75 * time.Hour) // the host was down for three days
	if _, before := b.takeIn(b.statement(map[string]string{first: "500.00"})); before {
		t.Fatal("imported before")
	}
	b.hour()
	runs := b.runs()
	if runs[0].State != recon.RunComplete || runs[0].First != today || runs[0].Last != today.Next().Next() {
		t.Fatalf("three days were missed, compared were %s to %s: %s, %v", runs[0].First, runs[0].Last, runs[0].State, runs[0].Reasons())
	}
	b.next = b.next.Add(48 * time.Hour)
	b.hour()
	missed := b.runs()
	if len(missed) != len(runs)+1 || missed[0].First != runs[0].Last.Next() || missed[0].Last != runs[0].Last.Next().Next() {
		t.Fatalf("two days were missed, compared were %s to %s", missed[0].First, missed[0].Last)
	}
	if missed[0].State != recon.RunIncomplete { // no statement reaches so far
		t.Fatalf("%s: %+v", missed[0].State, missed[0].Sources)
	}
	b.hour()
	if again := b.runs(); again[0].First != missed[0].First {
		t.Errorf("an incomplete run counted: the next one began at %s", again[0].First)
	}
	if tasks := b.open(credit.TaskReconOverdue); len(tasks) != 1 || !strings.Contains(tasks[0].Summary, "no complete reconciliation since") {
		t.Errorf("two days without a complete run: %+v", tasks)
	}
}

// H18: an administrator deletes a deal, or changes it, long after it was verified.
func TestH18_ADealThatIsDeletedOrChangedLaterBecomesATask(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	payments := map[string]string{b.paid("10.00", 1000, "key-gone-0001"): "10.00", b.paid("20.00", 2000, "key-edit-0002"): "20.00", b.paid("30.00", 3000, "key-kept-0003"): "30.00"}
	b.close()
	b.takeIn(b.statement(payments))
	for _, deals := range b.ours() {
		var err error
		switch d := deals[0]; d.Amount {
		case "10.00":
			err = b.faults.DeleteDeal(t.Context(), d.Ticket)
		case "20.00":
			amount := "200.00"
			_, err = b.faults.EditDeal(t.Context(), fakemt5.DealEdit{Ticket: d.Ticket, Amount: &amount})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := b.compare()
	if run.State != recon.RunComplete || run.Outcome.Classes[recon.DoneWithoutDeal] != 1 || run.Outcome.Classes[recon.WrongAmount] != 1 || run.Differences() != 2 {
		t.Errorf("%s: %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	if len(b.open(credit.TaskDoneWithoutDeal)) != 1 || len(b.open(credit.TaskWrongAmount)) != 1 {
		t.Error("a person was not asked about each")
	}
}

// H19: an MT5 server that was restored has lost its newest deals. Nothing is paid again, and nothing more is paid at all.
func TestH19_ManyDealsGoneAtOnceStopPayments(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]int{"all but the newest": 5, "the newest deal of the login among them": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manyGone(t, gone)
		})
	}
}

func manyGone(t *testing.T, gone int) {
	b := newBooks(t)
	payments := map[string]string{}
	for i := range 6 {
		payments[b.paid("10.00", 1000, fmt.Sprintf("key-many-%04d", i))] = "10.00"
	}
	kept := b.ours()
	b.close()
	b.takeIn(b.statement(payments))
	if run := b.compare(); run.State != recon.RunComplete || run.Differences() != 0 {
		t.Fatalf("before: %s, %v", run.State, run.Outcome.Classes)
	}
	tickets := []uint64{}
	for _, deals := range kept {
		tickets = append(tickets, deals[0].Ticket)
	}
	slices.Sort(tickets)
	for _, ticket := range tickets[:gone] {
		if err := b.faults.DeleteDeal(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
	}
	run := b.compare()
	if run.State != recon.RunComplete || run.Outcome.Classes[recon.DoneWithoutDeal] != gone {
		t.Fatalf("after: %s, %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	status, err := b.service.Desk().Status(t.Context(), person("ada"))
	if err != nil {
		t.Fatal(err)
	}
	if status.Settings.Mode != credit.ModeHold || len(b.open(credit.TaskInvariant)) != 1 || len(b.open(credit.TaskDoneWithoutDeal)) != gone {
		t.Errorf("mode %s (%s) after %d deals were gone", status.Settings.Mode, status.Settings.ModeReason, gone)
	}
	// Two people have looked and release the mode: what they were told of does not stop the service again.
	b.agree(b.submit(desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}).Proposal)
	b.compare()
	if status, err = b.service.Desk().Status(t.Context(), person("ada")); err != nil || status.Settings.Mode != credit.ModeLive {
		t.Errorf("after the release and another run: mode %s (%s), %v", status.Settings.Mode, status.Settings.ModeReason, err)
	}
	if n := len(b.ours()); n > len(kept) {
		t.Errorf("%d references have deals at MT5, %d had before", n, len(kept))
	}
}

// A firm imports its first statement after some weeks: what was settled before stands in statements that nobody has.
func TestReconcile_PaymentsOfBeforeTheFirstStatementAreNotLate(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.paid("500.00", 50000, "key-old-00001")
	b.close()
	b.next = time.Now().Add(20 * 24 * time.Hour)
	b.day = recon.DayOf(b.next, time.UTC).Prev()
	later := b.next.Add(-48 * time.Hour).UTC().Format("2006-01-02 15:04:05")
	text := strings.Split(b.statement(map[string]string{"pi_new": "42.00"}), "\n")
	now := strings.Split(text[1], ",")[1]
	b.takeIn(strings.ReplaceAll(strings.Join(text, "\n"), now, later))
	run := b.compare()
	if run.State != recon.RunComplete || run.Outcome.Classes[recon.Late] != 0 || run.Outcome.Classes[recon.SettledWithoutCredit] != 1 {
		t.Errorf("%s: %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
}

// What people have accepted is no news: the run says so and ends as a clean one, until the difference shows something else.
func TestReconcile_WhatPeopleAcceptedIsNoNews(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	first := b.paid("500.00", 50000, "key-one-0001")
	made, err := b.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: login, Action: 2, Amount: "11.00", Comment: "bonus"})
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	b.takeIn(b.statement(map[string]string{first: "500.00"}))
	if run := b.compare(); run.News() != 1 || admin.VerdictOf(run) != admin.VerdictDifferences {
		t.Fatalf("first: %d, %s", run.News(), admin.VerdictOf(run))
	}
	task := b.open(credit.TaskDealWithoutReference)[0]
	b.submit(desk.Act{Kind: desk.CloseTask, Subject: fmt.Sprintf("task/%d", task.ID)})
	if run := b.compare(); run.Differences() != 1 || run.News() != 0 || admin.VerdictOf(run) != admin.VerdictClean || len(b.open(credit.TaskDealWithoutReference)) != 0 {
		t.Errorf("accepted: %d differences, %d news, %s", run.Differences(), run.News(), admin.VerdictOf(run))
	}
	amount := "12.00"
	if _, err := b.faults.EditDeal(t.Context(), fakemt5.DealEdit{Ticket: made.Ticket, Amount: &amount}); err != nil {
		t.Fatal(err)
	}
	if run := b.compare(); run.News() != 1 || len(b.open(credit.TaskDealWithoutReference)) != 1 {
		t.Errorf("changed: %d news, %d open tasks", run.News(), len(b.open(credit.TaskDealWithoutReference)))
	}
}

// In the first weeks statements settle what the flow before was paid: a row that is held as pre-cutover is no difference, and has no task.
func TestReconcile_WhatIsHeldAsPreCutoverIsNoDifference(t *testing.T) {
	t.Parallel()
	r := newRig(t, settled, notDemo) // a new store observes
	r.start()
	r.people()
	r.account("client-1")
	b := &books{rig: r}
	code := b.deposit("client-1", "500.00", "key-before-01")
	p := b.payment(code, 50000)
	if status := b.send(b.maker.EventIntentSucceeded(p)); status != 200 {
		t.Fatalf("the event was answered %d", status)
	}
	b.close()
	b.takeIn(b.statement(map[string]string{p.ID: "500.00"}))
	if run := b.compare(); run.State != recon.RunComplete || run.Differences() != 0 || run.Outcome.Rows != 1 {
		t.Errorf("%s: %v, %v", run.State, run.Outcome.Classes, run.Reasons())
	}
	b.takeIn(strings.ReplaceAll(strings.ReplaceAll(b.statement(map[string]string{"pi_lost": "42.00"}), "_1,", "_2,"), "po_1", "po_2"))
	if run := b.compare(); run.Outcome.Classes[recon.SettledWithoutCredit] != 1 {
		t.Errorf("a payment that nobody knows: %v", run.Outcome.Classes)
	}
}
