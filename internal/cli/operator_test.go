package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/internal/admin"
	"creditonce/mt5/fakemt5"
)

func TestLookAlike_IsAdoptedByTwoPeopleAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.calm()
	f.register()
	byHand, err := f.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: desktopLogin, Action: 2, Amount: "500.00", Comment: "card, by hand", Dealer: 1000})
	if err != nil {
		t.Fatal(err)
	}
	id := f.pay(f.deposit("500.00"), 50000)
	if v := f.awaitState(id, "held"); strings.Join(v.Credit.Holds, ",") != "look_alike" || len(v.Tasks) != 1 {
		t.Fatalf("held as %+v", v)
	}
	if out := f.ok("carl", "credits", "candidates", id); !strings.Contains(out, "card, by hand") {
		t.Fatalf("candidates:\n%s", out)
	}
	ticket := strconv.FormatUint(byHand.Ticket, 10)
	f.refused(ExitRefused, "role", "carl", "adopt-deal", id, ticket, "--comment", "card, by hand", "--reason", "by hand")
	f.refused(ExitRefused, "comment", "anna", "adopt-deal", id, ticket, "--reason", "by hand")
	text := f.ok("anna", "adopt-deal", id, ticket, "--comment", "card, by hand", "--reason", "by hand on Friday")
	for _, says := range []string{"proposed: credit.adopt", "hash", "checker", "until", "creditonce proposals confirm 3 --hash "} {
		if !strings.Contains(text, says) {
			t.Errorf("the proposal does not say %q:\n%s", says, text)
		}
	}
	f.refused(ExitUsage, "nothing was done", "ben", "proposals", "confirm", "3", "--reason", "seen")
	f.refused(ExitRefused, "another hash", "ben", "proposals", "confirm", "3", "--hash", "000000000000", "--reason", "seen")
	out := f.ok("ben", "proposals", "confirm", "3", "--yes", "--reason", "seen")
	if !strings.Contains(out, "done: credit "+id+" is done") {
		t.Errorf("confirmed:\n%s", out)
	}
	v := f.credit(id)
	if v.Credit.State != "done" || v.Credit.Ticket != ticket || len(v.Tasks) != 0 || len(f.deals()) != 0 {
		t.Fatalf("ended as %+v, deals %v", v, f.deals())
	}
	f.refused(ExitRefused, "used", "ben", "proposals", "confirm", "3", "--yes", "--reason", "again")
}

func TestLookAlike_ThatIsAnotherPaymentIsSkippedAndTheCreditIsPaid(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	bonus, err := f.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: desktopLogin, Action: 2, Amount: "75.00", Comment: "gift", Dealer: 1000})
	if err != nil {
		t.Fatal(err)
	}
	id := f.pay(f.deposit("75.00"), 7500)
	f.awaitState(id, "held")
	f.agree("anna", "ben", "not-this-deal", id, strconv.FormatUint(bonus.Ticket, 10), "--reason", "a gift")
	if f.credit(id).Credit.State == "held" {
		f.agree("anna", "ben", "credits", "release", id, "--reason", "the deal was a gift")
	}
	v := f.awaitState(id, "done")
	if n := f.deals()[v.Credit.Reference]; n != 1 || len(v.Credit.NotDeals) != 1 {
		t.Fatalf("%d deals of %+v", n, v.Credit)
	}
}

func TestAmountThatDiffers_IsReleasedForWhatWasReceived(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	code := f.deposit("100.00")
	id := f.pay(code, 9000)
	f.awaitState(id, "held")
	if shown := f.shown(code); !strings.HasSuffix(shown, "paid 100.00 USD, credited 100.00 USD") {
		t.Errorf("before anybody decided the return page shows %q", shown)
	}
	f.agree("anna", "ben", "credits", "release", id, "--reason", "the client paid less")
	if v := f.awaitState(id, "done"); v.Credit.Amount.String() != "90.00 USD" {
		t.Fatalf("credited %+v", v.Credit)
	}
	// The portal shows what was received and credited, not what was asked for.
	if shown := f.shown(code); shown != "credited: paid 90.00 USD, credited 90.00 USD" {
		t.Errorf("the return page shows %q", shown)
	}
}

func TestPaymentWithoutDeposit_IsClosedWithoutADeal(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.calm()
	id := f.pay("nobody-knows-this-code-0001", 1200)
	f.agree("anna", "ben", "close-without-deal", id, "--reason", "refunded at the provider")
	if v := f.awaitState(id, "cancelled"); len(v.Tasks) != 0 || len(f.deals()) != 0 {
		t.Fatalf("ended as %+v", v)
	}
}

func TestRefusedByMT5_IsRetriedByOnePersonAndPaidOnce(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	if _, err := f.faults.Fault(t.Context(), fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.RefuseCode, Code: 10006, Count: 1}); err != nil {
		t.Fatal(err)
	}
	id := f.pay(f.deposit("30.00"), 3000)
	f.awaitState(id, "failed")
	f.refused(ExitUsage, "no --reason", "carl", "credits", "retry", id)
	f.refused(ExitRefused, "role", "dora", "credits", "retry", id, "--reason", "again")
	f.ok("carl", "credits", "retry", id, "--reason", "the dealer was away")
	v := f.awaitState(id, "done")
	if n := f.deals()[v.Credit.Reference]; n != 1 {
		t.Fatalf("%d deals", n)
	}
}

func TestBankWire_IsPreparedByOneConfirmedByAnotherAndCreditedOnce(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	f.agree("anna", "ben", "deposit", "manual", "--client", "client-1", "--server", "main", "--login", "500123", "--amount", "250.00", "--currency", "USD",
		"--bank-reference", "F-17", "--received-at", time.Now().UTC().Format(time.RFC3339), "--reason", "wire")
	v := f.awaitState("1", "done")
	if v.Credit.Amount.String() != "250.00 USD" || f.deals()[v.Credit.Reference] != 1 {
		t.Fatalf("ended as %+v, deals %v", v.Credit, f.deals())
	}
}

func TestObservingStore_GoesLiveAndPaysOnlyWhatCameAfter(t *testing.T) {
	t.Parallel()
	f := newOffice(t, false)
	f.register()
	before := f.pay(f.deposit("10.00"), 1000)
	if v := f.credit(before); v.Credit.State != "held" || strings.Join(v.Credit.Holds, ",") != "pre_cutover" {
		t.Fatalf("before the cut-over: %+v", v.Credit)
	}
	if out := f.agree("anna", "ben", "go-live", "--reason", "two weeks were right"); !strings.Contains(out, "the mode is live") {
		t.Errorf("go-live:\n%s", out)
	}
	// the provider dates payments in whole seconds: one of the second of the commit counts as before it
	next := time.NewTimer(1100 * time.Millisecond)
	<-next.C
	after := f.pay(f.deposit("20.00"), 2000)
	f.awaitState(after, "done")
	f.refused(ExitRefused, "from before go-live", "anna", "credits", "release", before, "--reason", "pay it too")
	if v := f.credit(before); v.Credit.State != "held" || len(f.deals()) != 1 {
		t.Fatalf("paid twice: %+v, deals %v", v.Credit, f.deals())
	}
}

func TestHold_StopsClaimsAtOnceAndTakesTwoToEnd(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	f.refused(ExitRefused, "role", "dora", "hold", "--reason", "maintenance")
	f.ok("carl", "hold", "--reason", "maintenance")
	if out := f.ok("dora", "status"); !strings.Contains(out, "hold: nothing is claimed (maintenance) by carl") {
		t.Errorf("status:\n%s", out)
	}
	id := f.pay(f.deposit("40.00"), 4000)
	f.ok("carl", "credits", "resolve", id)
	if v := f.credit(id); v.Credit.State != "pending" || len(f.deals()) != 0 {
		t.Fatalf("on hold: %+v", v.Credit)
	}
	f.agree("anna", "ben", "release", "--reason", "it is over")
	f.awaitState(id, "done")
}

func TestOwnProposal_IsRefusedUnderEveryAccount(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.agree("anna", "ben", "people", "change", "ben", "--role", "admin", "--role", "maker", "--role", "checker", "--reason", "both for the test")
	id := f.pay("nobody-knows-this-code-0002", 1200)
	p := f.propose("ben", "close-without-deal", id, "--reason", "refunded")
	for _, user := range []string{"ben", "benx"} {
		f.refused(ExitRefused, "another person must confirm", user, "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "mine")
	}
	if f.credit(id).Credit.State != "held" {
		t.Fatal("one person closed it")
	}
}

func TestMovedProposal_IsRefused(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.calm()
	f.register()
	f.ok("carl", "hold", "--reason", "so that it waits")
	id := f.pay(f.deposit("60.00"), 5900)
	p := f.propose("anna", "credits", "release", id, "--reason", "paid less")
	f.agree("anna", "ben", "close-without-deal", f.pay("nobody-knows-this-code-0003", 100), "--reason", "another one")
	f.agree("anna", "ben", "release", "--reason", "the mode is part of what was seen")
	f.refused(ExitRefused, "moved on", "ben", "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "seen")
	if len(f.deals()) != 0 {
		t.Fatal("it was done all the same")
	}
}

func TestTwoConfirmationsAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.calm()
	id := f.pay("nobody-knows-this-code-0004", 1200)
	p := f.propose("anna", "close-without-deal", id, "--reason", "refunded")
	var wg sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		wg.Go(func() {
			codes[i] = f.as([]string{"ben", "benx"}[i%2], "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "seen").code
		})
	}
	wg.Wait()
	done, refused := 0, 0
	for _, code := range codes {
		switch code {
		case ExitDone:
			done++
		case ExitRefused:
			refused++
		}
	}
	if done != 1 || refused != len(codes)-1 {
		t.Fatalf("exit codes %v, want one 0 and the others %d", codes, ExitRefused)
	}
}

func TestPersonRemovedBetween_MayNeitherConfirmNorHaveProposed(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.agree("anna", "ben", "people", "add", "eve", "--name", "Eve Ho", "--user", "eve", "--role", "maker", "--role", "checker", "--reason", "joins")
	first, second := f.pay("nobody-knows-this-code-0005", 1200), f.pay("nobody-knows-this-code-0006", 1300)
	hers := f.propose("eve", "close-without-deal", first, "--reason", "refunded")
	annas := f.propose("anna", "close-without-deal", second, "--reason", "refunded")
	f.agree("anna", "ben", "people", "change", "eve", "--disabled", "--reason", "has left")
	f.refused(ExitRefused, "disabled", "ben", "proposals", "confirm", hers.ID, "--hash", hers.Digest, "--reason", "seen")
	f.refused(ExitRefused, "eve is disabled", "eve", "proposals", "confirm", annas.ID, "--hash", annas.Digest, "--reason", "seen")
	f.refused(ExitRefused, "disabled", "eve", "status")
	f.agree("anna", "ben", "people", "change", "eve", "--disabled=false", "--reason", "is back")
	f.refused(ExitRefused, "counts no more: its proposer eve was disabled", "ben", "proposals", "confirm", hers.ID, "--hash", hers.Digest, "--reason", "seen")
	if shown := f.ok("ben", "proposals", "show", hers.ID); !strings.Contains(shown, "voided") {
		t.Errorf("it is shown as %s", shown)
	}
}

func TestStranger_SeesNothingAndKeysReachNothing(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	for _, line := range []string{"status", "credits list", "tasks list", "people list", "keys list", "audit list", "events list", "find x", "proposals list"} {
		f.refused(ExitRefused, "belongs to no person", "eve", strings.Fields(line)...)
	}
	f.refused(ExitRefused, "nobody", "eve", "hold", "--reason", "mischief")
	for _, path := range []string{"/v1/status", "/v1/tasks", "/v1/acts", "/v1/people", "/v1/proposals", "/v1/keys", "/v1/audit"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			for _, key := range []string{desktopKey, depositKey} {
				if status, _ := f.call(method, path, key, ""); status != http.StatusNotFound {
					t.Errorf("the portal's listener answers %s %s with %d", method, path, status)
				}
			}
		}
	}
}

func TestServicesOwnSocket_HasModeOwnerAndSaysWhere(t *testing.T) {
	t.Parallel()
	f := newOffice(t, false)
	if want := filepath.Join(f.dir, "data", "admin.sock"); f.own != want {
		t.Fatalf("serving names %q, want %q", f.own, want)
	}
	info, err := os.Stat(f.own)
	if err != nil || info.Mode().Perm() != 0o660 || info.Mode().Type() != os.ModeSocket {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	// over it the kernel says who calls: the user that runs this test, whom the store does not know
	got := f.as("root", "status", "--socket", f.own)
	if got.code != ExitRefused || !strings.Contains(got.stderr, "belongs to no person") {
		t.Fatalf("%+v", got)
	}
	got = f.as("root", "status", "--config", filepath.Join(f.dir, "config.yaml"))
	if got.code != ExitRefused {
		t.Fatalf("found by the configuration: %+v", got)
	}
}

func TestNoService_IsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	path := firm(t, "")
	got := run("status", "--config", path)
	for _, says := range []string{filepath.Join(filepath.Dir(path), "store", "admin.sock"), "no service answers", "creditonce serve", "--socket"} {
		if got.code != ExitNoAnswer || got.stdout != "" || !strings.Contains(got.stderr, says) {
			t.Fatalf("%+v, want %q", got, says)
		}
	}
	got = run("tasks", "list", "--socket", "/nonexistent/admin.sock", "-o", "json")
	if got.code != ExitNoAnswer || !strings.HasPrefix(got.stderr, "{") || !strings.Contains(got.stderr, `"unreachable"`) {
		t.Fatalf("%+v", got)
	}
	if got = run("status"); got.code != ExitBadConfig || !strings.Contains(got.stderr, "CREDITONCE_SOCKET") {
		t.Fatalf("%+v", got)
	}
}

func TestKeyOfTheStore_CountsAtOnceAndIsRevoked(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	var out admin.Outcome
	f.read(f.ok("anna", "keys", "new", "--propose", "--name", "shop", "--scope", "deposits:read", "--reason", "the shop", "-o", "json"), &out)
	list := func() int { status, _ := f.call(http.MethodGet, "/v1/deposits", out.Secret, ""); return status }
	if status := list(); status != http.StatusUnauthorized {
		t.Fatalf("the key is valid before it was confirmed: %d", status)
	}
	f.ok("ben", "proposals", "confirm", out.Proposal.ID, "--yes", "--reason", "agreed")
	if status := list(); status != http.StatusOK {
		t.Fatalf("the confirmed key answers %d", status)
	}
	f.agree("anna", "ben", "keys", "revoke", "shop", "--reason", "it leaked")
	if status := list(); status != http.StatusUnauthorized {
		t.Fatalf("the revoked key answers %d", status)
	}
	f.refused(ExitRefused, "configuration", "anna", "keys", "revoke", "deposits", "--reason", "it leaked")
}

func TestTask_IsNotedAssignedAndClosed(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	id := f.pay(f.deposit("100.00"), 9000)
	task := f.awaitState(id, "held").Tasks
	if len(task) != 1 {
		t.Fatalf("tasks %+v", task)
	}
	f.ok("carl", "tasks", "note", task[0].ID, "--text", "asked the client")
	f.ok("carl", "tasks", "assign", task[0].ID, "--person", "anna")
	out := f.ok("dora", "tasks", "show", task[0].ID)
	for _, says := range []string{"asked the client", "note of carl", "assigned to", "anna", "credits show " + id} {
		if !strings.Contains(out, says) {
			t.Errorf("the task does not show %q:\n%s", says, out)
		}
	}
	if out := f.ok("dora", "tasks", "list", "--assigned", "anna", "-o", "csv"); strings.Count(out, "\n") != 2 {
		t.Errorf("csv:\n%s", out)
	}
}

func TestWebhookReplay_EndsInTheSameCredit(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	id := f.pay(f.deposit("15.00"), 1500)
	v := f.awaitState(id, "done")
	f.ok("carl", "webhook", "replay", "1", "--reason", "to be sure")
	if after := f.credit(id); after.Credit.Ticket != v.Credit.Ticket || f.deals()[v.Credit.Reference] != 1 {
		t.Fatalf("after the replay: %+v, deals %v", after.Credit, f.deals())
	}
	if out := f.ok("dora", "audit", "list"); !strings.Contains(out, "did webhook.replay") {
		t.Errorf("audit:\n%s", out)
	}
}

func TestNewest_BeginsWithWhatCameLast(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	for i := range int64(3) {
		f.awaitState(f.pay(f.deposit(strconv.FormatInt(10+i, 10)+".00"), 1000+100*i), "done")
	}
	var oldest, newest struct{ Items []admin.Event }
	f.read(f.ok("carl", "events", "list", "-o", "json"), &oldest)
	f.read(f.ok("carl", "events", "list", "--newest", "--limit", "2", "-o", "json"), &newest)
	if n := len(oldest.Items); n != 3 || len(newest.Items) != 2 || newest.Items[0].ID != oldest.Items[2].ID || newest.Items[1].ID != oldest.Items[1].ID {
		t.Errorf("oldest first %+v, newest %+v", oldest, newest)
	}
	f.read(f.ok("carl", "events", "list", "--newest", "--limit", "0", "-o", "json"), &newest)
	if len(newest.Items) != 3 || newest.Items[2].ID != oldest.Items[0].ID {
		t.Errorf("all of them: %+v", newest)
	}
	var acts struct{ Items []admin.AuditEntry }
	f.ok("carl", "hold", "--reason", "the last one")
	f.read(f.ok("carl", "audit", "list", "--newest", "--limit", "1", "-o", "json"), &acts)
	if len(acts.Items) != 1 || acts.Items[0].Kind != "mode.hold" {
		t.Errorf("audit: %+v", acts)
	}
	f.refused(ExitUsage, "give one of them", "carl", "events", "list", "--newest", "--after", "1")
}

func TestDepositsShow_TellsTheHistoryOfItsCredit(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	code := f.deposit("10.00")
	if text := f.ok("dora", "deposits", "show", code); strings.Contains(text, "history") {
		t.Errorf("nothing was paid yet:\n%s", text)
	}
	id := f.pay(code, 1000)
	f.awaitState(id, "done")
	text := f.ok("dora", "deposits", "show", code)
	for _, says := range []string{"credits show " + id, "its history", "born", "done"} {
		if !strings.Contains(text, says) {
			t.Errorf("no %q in\n%s", says, text)
		}
	}
	var v admin.DepositDetail
	f.read(f.ok("dora", "deposits", "show", code, "-o", "json"), &v)
	if len(v.History) < 3 || v.Credit == nil || len(v.History) != len(f.credit(id).History) {
		t.Errorf("%+v", v)
	}
}

// A store in which much waits is counted whole, not up to the first page.
func TestStatus_CountsEverythingThatIsOpen(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	const n = 3
	for i := range n {
		f.pay("nobody-knows-this-code-"+strconv.Itoa(i), 1200)
	}
	var s admin.Status
	f.read(f.ok("carl", "status", "-o", "json"), &s)
	if s.Credits["held"] != n {
		t.Fatalf("held %+v", s.Credits)
	}
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.OpenTasks < n { // a row without a deposit gets its task after a grace
		select {
		case <-tick.C:
			f.read(f.ok("carl", "status", "-o", "json"), &s)
		case <-end.C:
			t.Fatalf("status %+v", s)
		}
	}
	sum := 0
	for _, k := range s.TasksByKind {
		sum += k.Open
	}
	if sum != s.OpenTasks || len(s.TasksByKind) != 1 || s.TasksByKind[0].Oldest.IsZero() {
		t.Errorf("%d tasks, by kind %+v", s.OpenTasks, s.TasksByKind)
	}
}

// shown is what the portal's API tells of a deposit.
func (f *office) shown(code string) string {
	f.t.Helper()
	type money struct{ Amount, Currency string }
	var d struct {
		State          string
		Paid, Credited money
	}
	status, body := f.call(http.MethodGet, "/v1/deposits/"+code, depositKey, "")
	f.read(string(body), &d)
	if status != http.StatusOK {
		f.t.Fatalf("deposit %s: %d %s", code, status, body)
	}
	return fmt.Sprintf("%s: paid %s %s, credited %s %s", d.State, d.Paid.Amount, d.Paid.Currency, d.Credited.Amount, d.Credited.Currency)
}
