package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/internal/desk"
)

// stops are the reasons that status tells.
func (r *rig) stops() []admin.Stop {
	r.t.Helper()
	st, err := r.service.Desk().Status(r.t.Context(), person("ada"))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.service.StopsShown(st.Settings)
}

// awaitStops waits until status tells exactly these reasons, by key.
func (r *rig) awaitStops(keys ...string) (out []admin.Stop) {
	r.t.Helper()
	r.until("the stops are "+strings.Join(keys, ","), func() bool {
		out = r.stops()
		return slices.EqualFunc(out, keys, func(s admin.Stop, key string) bool { return s.Key == key })
	})
	return out
}

// until waits for something of a running service; its log lines are the clock.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			r.t.Fatalf("%s: not yet; status tells %+v", what, r.stops())
		}
	}
}

// standstillTasks are the tasks of that kind, all or the open ones.
func (r *rig) standstillTasks(open bool) (out []credit.Task) {
	r.t.Helper()
	tasks, err := r.service.Desk().Tasks(r.t.Context(), person("ada"), desk.TaskQuery{OpenOnly: open, Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(tasks, func(t credit.Task) bool { return t.Kind != credit.TaskStandstill })
}

// A witness that cannot be written stops every claim: status says so at once, people get one task however many payments wait, MT5 is not asked
// for nothing, and all of it ends by itself.
func TestWitnessThatCannotBeWritten_IsOneTaskAndEndsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	r.credited("k1")
	r.awaitStops()
	path := filepath.Join(r.dir, "data-witness", "claims")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // whoever runs the test, nobody can write into it
		t.Fatal(err)
	}
	var codes []string
	for _, key := range []string{"k2", "k3", "k4"} {
		code := r.deposit("client-1", "30.00", key+"-standstill")
		if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 3000))); status != http.StatusOK {
			t.Fatalf("a webhook was answered %d", status)
		}
		codes = append(codes, code)
	}
	stop := r.awaitStops("witness")[0]
	if stop.Server != "" || stop.Since.IsZero() || !strings.Contains(stop.Why, "the witness of the store cannot be written") || !strings.Contains(stop.Next, path) {
		t.Errorf("%+v", stop)
	}
	r.until("people have a task", func() bool { return len(r.standstillTasks(true)) == 1 })
	if task := r.standstillTasks(true)[0]; task.Entity != "standstill/witness" || !strings.HasPrefix(task.Summary, "nothing is credited: the witness") || task.Next != stop.Next {
		t.Errorf("%+v", task)
	}
	if deals := len(r.ours()); deals != 1 {
		t.Errorf("%d references have deals", deals)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	r.until("all are credited", func() bool { return len(r.ours()) == 1+len(codes) })
	r.awaitStops()
	r.until("its task is closed", func() bool { return len(r.standstillTasks(true)) == 0 })
	if all := r.standstillTasks(false); len(all) != 1 {
		t.Errorf("%d tasks of standstills", len(all))
	}
	if n := strings.Count(r.log.String(), "row could not be worked"); n > 3 { // what was under way when it began
		t.Errorf("%d rows were taken up for nothing", n)
	}
}

// Too little room stops claims and then intake; it is one task, and status says what to do.
func TestDiskFloor_IsOneTaskAndStatusSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	r.credited("k1")
	r.halt()
	r.tune = func(c *config.Config) { c.Space.StopClaimsBelow, c.Space.RefuseIntakeBelow = 1<<60, 1<<59 }
	r.start()
	stop := r.awaitStops("disk")[0]
	if !strings.Contains(stop.Why, "space.stop_claims_below") || !strings.Contains(stop.Why, "webhooks are refused") || !strings.Contains(stop.Next, "space.max_store") {
		t.Errorf("%+v", stop)
	}
	r.until("people have a task", func() bool { return len(r.standstillTasks(true)) == 1 })
	r.halt()
	r.tune = nil
	r.start()
	r.credited("k2")
	r.awaitStops()
	r.until("its task is closed", func() bool { return len(r.standstillTasks(true)) == 0 })
}

// An MT5 server that cannot be reached is told with its reason; the logins of other servers are not concerned.
func TestMT5Away_IsToldWithItsReason(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	code := r.deposit("client-1", "30.00", "k1-standstill")
	r.awaitStops()
	if err := r.mt5.Close(); err != nil {
		t.Fatal(err)
	}
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 3000))); status != http.StatusOK { // an idle session is asked now and then only
		t.Fatalf("a webhook was answered %d", status)
	}
	stop := r.awaitStops("mt5/main")[0]
	if stop.Server != "main" || stop.Since.IsZero() {
		t.Errorf("%+v", stop)
	}
	r.until("the reason is why no session opens", func() bool { return strings.Contains(r.stops()[0].Why, "connect") })
	if _, err := r.service.Desk().Submit(t.Context(), person("ada"), desk.Act{Kind: desk.HoldMode, Subject: "mode"}, "maintenance"); err != nil {
		t.Fatal(err)
	}
	if all := r.awaitStops("mode", "mt5/main"); !strings.Contains(all[0].Why, "maintenance") {
		t.Errorf("%+v", all)
	}
}
