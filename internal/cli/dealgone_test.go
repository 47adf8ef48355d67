package cli

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"creditonce/internal/admin"
	"creditonce/mt5/fakemt5"
)

// awaitTask waits until the credit has an open task of the kind, and returns it.
func (f *office) awaitTask(id, kind string) admin.Task {
	f.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		for _, task := range f.credit(id).Tasks {
			if task.Kind == kind {
				return task
			}
		}
		<-tick.C
	}
	f.t.Fatalf("credit %s never had a task %s\n%s", id, kind, f.log())
	return admin.Task{}
}

// deleteDeal deletes a deal at MT5, as its administrator can.
func (f *office) deleteDeal(ticket string) {
	f.t.Helper()
	n, err := strconv.ParseUint(ticket, 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.faults.DeleteDeal(f.t.Context(), n); err != nil {
		f.t.Fatal(err)
	}
}

// A bonus that the dealing desk deletes again stops the login, until two people say that it was deleted.
func TestDealDeletedAtMT5_StopsTheLoginUntilTwoPeopleSaySo(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	held := f.pay(f.deposit("100.00"), 9000)
	f.awaitState(held, "held")
	bonus, err := f.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: desktopLogin, Action: 2, Amount: "5.00", Comment: "bonus"})
	if err != nil {
		t.Fatal(err)
	}
	f.ok("carl", "credits", "resolve", held) // looks see the bonus
	f.deleteDeal(fmt.Sprint(bonus.Ticket))
	id := f.pay(f.deposit("40.00"), 4000)
	task, ticket, login := f.awaitTask(id, "stuck"), fmt.Sprint(bonus.Ticket), fmt.Sprint(desktopLogin)
	if !strings.Contains(task.Summary, "deal "+ticket) || !strings.Contains(task.Next, "creditonce deal-gone") {
		t.Errorf("the task says %q, %q", task.Summary, task.Next)
	}
	f.refused(ExitUsage, "no --server", "anna", "deal-gone", login, ticket, "--reason", "deleted")
	f.refused(ExitRefused, "rely on deal "+ticket, "anna", "deal-gone", login, "9999999", "--server", "main", "--reason", "deleted")
	f.refused(ExitRefused, "role", "carl", "deal-gone", login, ticket, "--server", "main", "--reason", "deleted")
	said := f.agree("anna", "ben", "deal-gone", login, ticket, "--server", "main", "--reason", "a mistaken bonus")
	if !strings.Contains(said, "looks of login "+login+" on main do not wait for deal "+ticket) {
		t.Errorf("the confirmation says %s", said)
	}
	paid := f.awaitState(id, "done")
	if len(paid.Tasks) != 0 || f.deals()[paid.Credit.Reference] != 1 {
		t.Errorf("ended as %+v", paid)
	}

	f.deleteDeal(paid.Credit.Ticket)
	f.refused(ExitRefused, "paid credit "+id, "anna", "deal-gone", login, paid.Credit.Ticket, "--server", "main", "--reason", "I insist")
}

// The way out that the refusal names: what waits is held, booked by hand and adopted, and looks rely on that deal.
func TestPaidDealDeletedAtMT5_IsLeftBehindByAdoptingANewerOne(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	first := f.awaitState(f.pay(f.deposit("40.00"), 4000), "done")
	f.deleteDeal(first.Credit.Ticket)
	waiting := f.pay(f.deposit("50.00"), 5000)
	f.ok("carl", "credits", "hold", waiting, "--reason", "deal deleted at MT5")
	f.calm()
	byHand, err := f.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: desktopLogin, Action: 2, Amount: "50.00", Comment: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	f.agree("anna", "ben", "adopt-deal", waiting, fmt.Sprint(byHand.Ticket), "--comment", "by hand", "--reason", "booked by hand")
	f.awaitState(waiting, "done")
	f.awaitState(f.pay(f.deposit("60.00"), 6000), "done")
}
