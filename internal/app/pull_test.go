package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/internal/desk"
	"creditonce/webhook"
	"creditonce/webhook/fakepsp"
)

const listKey = "rk_test_51ListKeyThatMustNeverBeShown"

// pulling is a rig whose provider also lists its events.
type pulling struct {
	*rig
	psp *fakepsp.Control
}

func newPulling(t *testing.T) *pulling {
	t.Helper()
	fake, err := fakepsp.Start(t.Context(), fakepsp.Config{
		URL: "https://127.0.0.1:1/webhooks/none", Secrets: []string{secret}, Journal: filepath.Join(t.TempDir(), "provider.jsonl"), Control: "127.0.0.1:0",
		Seed: 1, Now: time.Now, API: fakepsp.APIConfig{Listen: "127.0.0.1:0", Keys: []string{listKey}, Account: "acct_rig"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	p := &pulling{psp: fakepsp.NewControl(fake.ControlAddr())}
	p.rig = newRig(t, func(text string) string {
		return strings.Replace(text, "secrets: [{file: secret}]}",
			fmt.Sprintf(`secrets: [{file: secret}], api_key: {file: list-key}, api_url: "http://%s", pull_every: 300ms}`, fake.APIAddr()), 1)
	})
	p.file("list-key", listKey+"\n")
	return p
}

// lost lets the deposit be paid, and no webhook ever tells of it.
func (p *pulling) lost(code string, minor int64) fakepsp.Payment {
	p.t.Helper()
	payment, err := p.psp.Pay(p.t.Context(), fakepsp.PaymentRequest{Code: code, Amount: minor, Currency: "usd", Delivery: fakepsp.Delivery{Lost: true}})
	if err != nil {
		p.t.Fatal(err)
	}
	return payment
}

func (p *pulling) status() desk.Status {
	p.t.Helper()
	s, err := p.service.Desk().Status(p.t.Context(), person("ada"))
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// awaitPull waits until the pull of the provider is as ok wants it.
func (p *pulling) awaitPull(ok func(credit.Pulled) bool) credit.Pulled {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	for {
		s := p.status()
		if pulled := s.Settings.PullOf("stripe"); ok(pulled) {
			return pulled
		}
		select {
		case <-tick.C:
		case <-end.C:
			p.t.Fatalf("pulls %+v\n%s", s.Settings.Pulls, p.log)
		}
	}
}

// rounds waits until so many more pulls were complete.
func (p *pulling) rounds(n int) {
	p.t.Helper()
	for range n {
		last := p.status().Settings.PullOf("stripe").At
		p.awaitPull(func(now credit.Pulled) bool { return now.At.After(last) })
	}
}

func TestPull_PaymentWhoseWebhookNeverCameIsCreditedOnceAndSaysHowItCame(t *testing.T) {
	t.Parallel()
	p := newPulling(t)
	p.start()
	p.people()
	p.account("client-1")
	code := p.deposit("client-1", "50.00", "key-1")
	payment := p.lost(code, 5000)
	p.awaitState(code, "done")
	pulled := p.awaitPull(func(now credit.Pulled) bool { return now.Missed > 0 && now.Problem == "" })
	if pulled.Missed != 2 { // the session and the intent; the charge is not asked for
		t.Errorf("%d events missed", pulled.Missed)
	}
	// The webhook comes after all, a second pull too: nothing more happens.
	events, err := p.psp.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if status := p.send(e); status != 200 {
			t.Errorf("answered %d", status)
		}
	}
	p.rounds(3)
	if ours := p.ours(); len(ours) != 1 {
		t.Errorf("deals %v", ours)
	}
	found, err := p.service.Desk().Events(t.Context(), person("ada"), 0, 10)
	if err != nil || len(found) != 3 {
		t.Fatalf("%d events, %v", len(found), err)
	}
	how := map[string]int{}
	for _, e := range found {
		if how[e.Headers[webhook.SourceHeader]]++; e.Facts.Payment != payment.ID {
			t.Errorf("event %+v", e)
		}
	}
	if how[webhook.Pulled] != 2 || how[""] != 1 {
		t.Errorf("events came %v", how)
	}
}

func TestPull_KeyRevoked_OneTaskThatSaysWhatToDoAndNoKeyInTheLog(t *testing.T) {
	t.Parallel()
	p := newPulling(t)
	p.start()
	p.people()
	p.awaitPull(func(now credit.Pulled) bool { return !now.At.IsZero() })
	if _, err := p.psp.SetAPI(t.Context(), fakepsp.APIFaults{Revoked: true}); err != nil {
		t.Fatal(err)
	}
	line := p.await("task opened", func(l map[string]any) bool { return l["task"] == string(credit.TaskPull) })
	if !strings.Contains(fmt.Sprint(line["next"]), "restricted key") || line["entity"] != "provider/stripe" {
		t.Errorf("task %v", line)
	}
	p.awaitPull(func(now credit.Pulled) bool { return strings.Contains(now.Problem, "api_key_expired") })
	if _, err := p.psp.SetAPI(t.Context(), fakepsp.APIFaults{}); err != nil {
		t.Fatal(err)
	}
	p.await("task closed", func(l map[string]any) bool { return l["task"] == string(credit.TaskPull) })
	if text := p.log.String(); strings.Contains(text, listKey) || strings.Contains(text, "rk_test") || strings.Contains(text, "created%5B") {
		t.Error("the log shows the key or an address with its query")
	}
}

func TestPull_KeyOfAnotherAccount_TakesNothingIn(t *testing.T) {
	t.Parallel()
	p := newPulling(t)
	if _, err := p.psp.SetAPI(t.Context(), fakepsp.APIFaults{Shown: "acct_another"}); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.people()
	p.account("client-1")
	p.lost(p.deposit("client-1", "50.00", "key-1"), 5000)
	p.await("task opened", func(l map[string]any) bool { return l["task"] == string(credit.TaskPull) })
	if s := p.status(); s.Totals.Events != 0 {
		t.Errorf("%d events were taken in", s.Totals.Events)
	}
}

// The drill of H20 with a provider that lists: nothing is sent again, and the gap is closed by the pull alone.
func TestH20_DrillWithThePull(t *testing.T) {
	t.Parallel()
	p := newPulling(t)
	p.start()
	p.people()
	p.account("client-1")
	var codes []string
	for i := range 55 {
		codes = append(codes, p.deposit("client-1", fmt.Sprintf("%d.00", 10+i), fmt.Sprintf("key-%d", i)))
	}
	pay := func(from, to int) {
		for i := from; i < to; i++ {
			p.lost(codes[i], int64(100*(10+i)))
		}
	}
	pay(0, 5)
	p.awaitCounts(credit.Done, 5)
	p.halt()
	backup := filepath.Join(p.dir, "backup.db")
	if _, err := app.Backup(t.Context(), p.load(), backup); err != nil {
		t.Fatal(err)
	}
	p.start()
	pay(5, 55)
	p.awaitCounts(credit.Done, 55)
	p.halt()
	if _, err := app.Restore(t.Context(), p.load(), app.RestoreWish{From: backup, By: "root", Reason: "drill"}); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.await("the gap of provider stripe is pulled", func(map[string]any) bool { return true })
	if s := p.status(); len(s.Settings.OpenGaps()) != 0 || s.Totals.Rows[credit.Done]+s.Totals.Rows[credit.Unknown] != 55 {
		t.Errorf("gaps %+v, rows %v", s.Settings.OpenGaps(), s.Totals.Rows)
	}
	p.awaitCounts(credit.Done, 55)
	p.agree(p.submit(desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}).Proposal)
	p.rounds(2)
	for reference, deals := range p.ours() {
		if len(deals) != 1 {
			t.Errorf("%s has %d deals", reference, len(deals))
		}
	}
	if n := len(p.ours()); n != 55 {
		t.Errorf("%d payments have a deal, want 55", n)
	}
	if s := p.status(); s.Totals.Rows[credit.Done] != 55 || s.Totals.OpenTasks != 0 || s.Settings.Mode != credit.ModeLive {
		t.Errorf("mode %s, rows %v, tasks %v", s.Settings.Mode, s.Totals.Rows, s.Tasks)
	}
}
