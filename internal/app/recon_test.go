package app_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
	"creditonce/mt5/fakemt5"
	"creditonce/recon"
)

// settled lets the rig's provider have statements.
func settled(text string) string {
	text = strings.Replace(text, "secrets: [{file: secret}]}", "secrets: [{file: secret}], settlement: {format: stripe, usual_delay: 48h}}", 1)
	return text + "schedules: {reconcile: \"0 0 29 2 *\"}\n" // a test compares when it wants to: at a quarter past, the service would too
}

// books is a rig on the morning after: every day on which something happened is over.
type books struct {
	*rig
	admin.Reconciliation

	day  recon.Day
	next time.Time
}

func newBooks(t *testing.T) *books {
	r := newRig(t, settled)
	r.start()
	r.people()
	r.account("client-1")
	return &books{rig: r}
}

// close ends the business day: it is past the hours in which the lists of the providers come late, at whatever time of day the test runs, and
// nothing of the day is overdue.
func (b *books) close() {
	b.day = recon.DayOf(time.Now(), time.UTC)
	_, until := b.day.Bounds(time.UTC)
	b.next = until.Add(13 * time.Hour)
	b.Reconciliation = b.service.Recon(func() time.Time { return b.next })
}

// paid has a deposit of the client credited and returns the payment's id.
func (b *books) paid(amount string, minor int64, key string) string {
	b.t.Helper()
	code := b.deposit("client-1", amount, key)
	p := b.payment(code, minor)
	if status := b.send(b.maker.EventIntentSucceeded(p)); status != 200 {
		b.t.Fatalf("the event was answered %d", status)
	}
	b.awaitState(code, "done")
	return p.ID
}

// statement is the provider's file of the payments: each with a fee of 1.00, and the payout.
func (b *books) statement(payments map[string]string) string {
	// No payment of the test is older than the first statement, and none of its lines is of the day before.
	begun, _ := recon.DayOf(time.Now(), time.UTC).Bounds(time.UTC)
	at := time.Now().Add(-time.Minute).UTC().Format("2006-01-02 15:04:05")
	if first := begun.Format("2006-01-02 15:04:05"); at < first {
		at = first
	}
	rows := "balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id," +
		"automatic_payout_id,automatic_payout_effective_at_utc\n"
	sum, n := credit.Amount{}, 0
	for id, gross := range payments {
		g, err := credit.ParseAmount(gross, "USD", 2)
		if err != nil {
			b.t.Fatal(err)
		}
		fee, err := credit.Minor(-100, "USD", 2)
		if err != nil {
			b.t.Fatal(err)
		}
		net, err := g.Add(fee)
		if err != nil {
			b.t.Fatal(err)
		}
		if sum, err = sum.Add(net); err != nil {
			b.t.Fatal(err)
		}
		n++
		rows += fmt.Sprintf("txn_%s,%s,%s,usd,%s,1.00,%s,charge,ch_%d,ch_%d,%s,po_1,%s\n", id, at, at, g.Decimal(), net.Decimal(), n, n, id, at)
	}
	return rows + fmt.Sprintf("txn_p,%s,%s,usd,-%s,0.00,-%s,payout,po_1,,,po_1,%s\n", at, at, sum.Decimal(), sum.Decimal(), at)
}

func (b *books) takeIn(text string) (recon.Imported, bool) {
	b.t.Helper()
	got, err := b.Import(b.t.Context(), person("ada"), admin.ImportWish{Provider: "stripe", Name: "payouts.csv"}, strings.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	return got.Statement, got.Before
}

func (b *books) compare() recon.Run {
	b.t.Helper()
	run, err := b.Reconcile(b.t.Context(), person("ada"), b.day, b.day)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

func (b *books) open(kind credit.TaskKind) []credit.Task {
	b.t.Helper()
	tasks, err := b.service.Desk().Tasks(b.t.Context(), person("ada"), desk.TaskQuery{Limit: 100})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []credit.Task
	for _, t := range tasks {
		if t.IsOpen() && t.Kind == kind {
			out = append(out, t)
		}
	}
	return out
}

func TestReconcile_ThreeListsFromProviderStoreAndMT5(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	first, second := b.paid("500.00", 50000, "key-one-0001"), b.paid("20.00", 2000, "key-two-0002")
	unpaid := b.paid("7.00", 700, "key-three-03") // credited, not settled yet
	made, err := b.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: login, Action: 2, Amount: "11.00", Comment: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	text := b.statement(map[string]string{first: "500.00", second: "21.00", "pi_lost": "42.00"})
	im, before := b.takeIn(text)
	if before || im.Stored != 4 || len(im.Statement.Problems) != 0 {
		t.Fatalf("imported %+v, before %t", im, before)
	}
	if again, before := b.takeIn(text); !before || again.ID != im.ID {
		t.Fatalf("the same file again: %+v, before %t", again, before)
	}
	run := b.compare()
	if run.State != recon.RunComplete {
		t.Fatalf("incomplete: %v", run.Reasons())
	}
	want := map[recon.Class]int{recon.WrongAmount: 1, recon.SettledWithoutCredit: 1, recon.DealWithoutReference: 1, recon.Waiting: 1}
	for _, class := range recon.Classes() {
		if class != recon.Matched && run.Outcome.Classes[class] != want[class] {
			t.Errorf("%d items are %s, want %d", run.Outcome.Classes[class], class, want[class])
		}
	}
	if tasks := b.open(credit.TaskDealWithoutReference); len(tasks) != 1 || !strings.HasSuffix(tasks[0].Entity, fmt.Sprint(made.Ticket)) {
		t.Errorf("tasks about the deal %d: %+v", made.Ticket, tasks)
	}
	if tasks := b.open(credit.TaskSettledWithoutCredit); len(tasks) != 1 || !strings.Contains(tasks[0].Entity, "pi_lost") {
		t.Errorf("tasks about the lost payment: %+v", tasks)
	}
	wrong := b.open(credit.TaskWrongAmount)[0]
	shown, err := b.Difference(t.Context(), person("ada"), recon.Key{Class: recon.WrongAmount, Entity: wrong.Entity}, 120)
	if err != nil || shown == nil {
		t.Fatalf("the task %+v shows %+v, %v", wrong, shown, err)
	}
	for _, want := range []string{"Wrong amount", "Provider", "Our row", "MT5", second, "21.00 USD", "20.00 USD", "deal/", "\u2260"} {
		if !strings.Contains(shown.Text, want) {
			t.Errorf("%q is not in\n%s", want, shown.Text)
		}
	}
	if none, err := b.Difference(t.Context(), person("ada"), recon.Key{Class: recon.WrongAmount, Entity: "credit/99"}, 0); err != nil || none != nil {
		t.Errorf("a difference that never was: %+v, %v", none, err)
	}
	again := b.compare()
	if again.Digest == "" || again.Findings != run.Findings || len(b.open(credit.TaskWrongAmount)) != 1 {
		t.Errorf("a second run found %d items where the first found %d", again.Findings, run.Findings)
	}
	// The next day's statement has the rest; a person takes the deal by hand back at MT5.
	if err := b.faults.DeleteDeal(t.Context(), made.Ticket); err != nil {
		t.Fatal(err)
	}
	b.takeIn(strings.ReplaceAll(b.statement(map[string]string{unpaid: "7.00"}), "po_1", "po_2"))
	last := b.compare()
	if last.Outcome.Classes[recon.Waiting] != 0 || last.Outcome.Classes[recon.DealWithoutReference] != 0 || len(b.open(credit.TaskDealWithoutReference)) != 0 {
		t.Errorf("the explained differences are still there: %v", last.Outcome.Classes)
	}
	if _, err := b.Sign(t.Context(), person("ada"), run.ID, ""); !errors.Is(err, credit.ErrRefused) || !strings.Contains(err.Error(), fmt.Sprintf("run %d has compared", last.ID)) {
		t.Errorf("a run that a newer one stands for was signed: %v", err)
	}
	b.reports(last)
}

// reports prints the run in every form, and signs it.
func (b *books) reports(run recon.Run) {
	b.t.Helper()
	for _, format := range admin.ReportFormats() {
		var out bytes.Buffer
		r, err := b.Report(b.t.Context(), person("ada"), admin.ReportWish{Day: b.day, Format: format})
		if err == nil {
			err = r.Write(&out)
		}
		if err != nil || r.Run.ID != run.ID || out.Len() == 0 {
			b.t.Errorf("report as %s of run %d: %v, %d bytes", format, r.Run.ID, err, out.Len())
		}
		if format != "xlsx" && format != "totals-csv" && !strings.Contains(out.String(), "pi_lost") {
			b.t.Errorf("the report as %s does not name the lost payment:\n%s", format, out.String())
		}
	}
	signed, err := b.Sign(b.t.Context(), person("ada"), run.ID, "two differences")
	if err != nil || signed.SignOff == nil || signed.SignOff.By != "ada" || signed.SignOff.Note != "two differences" {
		b.t.Errorf("signed %+v, %v", signed.SignOff, err)
	}
	if _, err := b.Sign(b.t.Context(), person("abe"), run.ID, "again"); !errors.Is(err, credit.ErrRefused) {
		b.t.Errorf("signed twice: %v", err)
	}
}

func TestReconcile_WhatCannotBeReadMakesTheRunIncompleteAndExplainsNothing(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	first := b.paid("500.00", 50000, "key-one-0001")
	if _, err := b.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: login, Action: 2, Amount: "11.00", Comment: "by hand"}); err != nil {
		t.Fatal(err)
	}
	b.close()
	if run := b.compare(); run.State != recon.RunIncomplete || len(run.Reasons()) != 1 || !strings.Contains(run.Reasons()[0], "recon import FILE --provider stripe") {
		t.Fatalf("without a statement: %s, %v", run.State, run.Reasons())
	}
	if len(b.open(credit.TaskReconIncomplete)) != 1 {
		t.Fatal("nobody was told of the incomplete run")
	}
	b.takeIn(b.statement(map[string]string{first: "500.00"}))
	if run := b.compare(); run.State != recon.RunComplete || len(b.open(credit.TaskReconIncomplete)) != 0 || len(b.open(credit.TaskDealWithoutReference)) != 1 {
		t.Fatalf("with all lists: %s, %v", run.State, run.Reasons())
	}
	if err := b.mt5.Close(); err != nil {
		t.Fatal(err)
	}
	run := b.compare()
	if run.State != recon.RunIncomplete || run.Outcome.Classes[recon.DoneWithoutDeal] != 0 || run.Outcome.Deals != 0 {
		t.Errorf("without MT5: %s, %v", run.State, run.Outcome.Classes)
	}
	if len(b.open(credit.TaskDealWithoutReference)) != 1 || len(b.open(credit.TaskReconIncomplete)) != 1 {
		t.Error("an incomplete run closed a task, or nobody was told")
	}
	if _, err := b.Sign(t.Context(), person("ada"), run.ID, ""); !errors.Is(err, credit.ErrRefused) {
		t.Errorf("an incomplete run was signed: %v", err)
	}
}

func TestReconcile_RefusesWhoMayNotAndDaysThatAreNotOver(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.close()
	if _, err := b.Reconcile(t.Context(), person("nobody"), b.day, b.day); !errors.Is(err, credit.ErrRefused) {
		t.Errorf("somebody unknown: %v", err)
	}
	if _, err := b.Reconcile(t.Context(), person("ada"), b.day.Next().Next(), b.day.Next().Next()); !errors.Is(err, credit.ErrRefused) {
		t.Errorf("a day that is not over: %v", err)
	}
	for name, text := range map[string]string{"another provider": "adyen", "no statement at all": "stripe"} {
		if _, err := b.Import(t.Context(), person("ada"), admin.ImportWish{Provider: text, Name: "x.csv"}, strings.NewReader("a,b\n1,2\n")); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := b.Statements(t.Context(), person("ada"), "stripe", 0, 10); err != nil || len(list) != 0 {
		t.Errorf("a refused file left %v, %v", list, err)
	}
}
