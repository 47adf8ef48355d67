package app_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"creditonce/internal/app"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

func TestSignedWebhookBecomesOneVerifiedDeal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "500.00", "k1")
	p := r.payment(code, 50000)
	for _, e := range []fakepsp.Event{r.maker.EventSessionCompleted(p, "paid"), r.maker.EventIntentSucceeded(p), r.maker.EventChargeSucceeded(p)} {
		for range 3 {
			if status := r.send(e); status != http.StatusOK {
				t.Fatalf("%s answered %d", e.Type, status)
			}
		}
	}
	line := r.awaitState(code, "done")
	deals := r.ours()[line["reference"].(string)]
	if len(deals) != 1 || len(r.ours()) != 1 || deals[0].Login != login || deals[0].Amount != "500.00" {
		t.Fatalf("deals %+v, want one of 500.00 on %d", r.ours(), login)
	}
	if status, body := r.call(http.MethodGet, "/v1/deposits/"+code, depositsKey, "", ""); status != http.StatusOK || !strings.Contains(body, `"state":"credited"`) {
		t.Fatalf("deposit reads %d %s", status, body)
	}
	r.halt()
	in := verify(t, r)
	if len(in.Rows) != 1 || in.Rows[0].State != "done" || in.Events != 3 || len(in.Findings) != 0 || len(in.OpenTasks) != 0 {
		t.Fatalf("store holds %+v", in)
	}
}

func TestReplyLostAfterApplying_IsFoundAndNotRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	fault(t, r, fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.ApplyThenDrop, Count: 1})
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
	r.awaitState(code, "unknown")
	line := r.awaitState(code, "done")
	if line["move"] != "found" || len(r.mt5.Journal()) == 0 || len(r.ours()[line["reference"].(string)]) != 1 {
		t.Fatalf("ended with %v and deals %+v", line, r.ours())
	}
}

func TestCallNeverExecuted_IsRepeatedOnceAfterTwoLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	fault(t, r, fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.NeverExecute, Count: 1})
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
	r.awaitState(code, "unknown")
	r.awaitState(code, "pending")
	line := r.awaitState(code, "done")
	if line["attempt"] != 2.0 || len(r.ours()[line["reference"].(string)]) != 1 {
		t.Fatalf("ended with %v and deals %+v", line, r.ours())
	}
}

func TestNewStoreObservesAndCallsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, notDemo)
	r.start()
	r.await("mode observe: events are accepted and stored, every row is held, and no balance operation is called", func(map[string]any) bool { return true })
	r.account("client-1")
	code := r.deposit("client-1", "500.00", "k1")
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 50000))); status != http.StatusOK {
		t.Fatalf("answered %d", status)
	}
	if line := r.awaitState(code, "held"); !strings.Contains(line["reason"].(string), "pre_cutover") {
		t.Fatalf("held for %v", line["reason"])
	}
	r.halt()
	in := verify(t, r)
	if in.Mode != "observe" || len(in.Rows) != 1 || len(in.OpenTasks) != 0 || len(r.ours()) != 0 {
		t.Fatalf("store holds %+v, deals %v", in, r.ours())
	}
}

func TestBadSignatureChangesNothingAndIsNotExplained(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	e := r.maker.EventIntentSucceeded(r.payment("", 100))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.public+"/webhooks/stripe", strings.NewReader(string(e.Body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Stripe-Signature", "t=1,v1=00")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("answered %d", res.StatusCode)
	}
	r.await("webhook request", func(l map[string]any) bool { return l["outcome"] == "unverified" })
	r.halt()
	if in := verify(t, r); in.Events != 0 || len(in.Rows) != 0 {
		t.Fatalf("store holds %+v", in)
	}
}

func TestLabelWithAnotherMeaningIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"provider account": {"acct_rig", "acct_other"},
		"mt5 identity":     {"identity: Rig-MT5", "identity: Other-MT5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.start()
			r.account("client-1") // from here on the labels are in use
			r.halt()
			r.file("config.yaml", strings.Replace(r.text(), change[0], change[1], 1))
			_, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()})
			var pin *app.PinError
			if !errors.As(err, &pin) {
				t.Fatalf("got %v, want a PinError", err)
			}
			r.file("config.yaml", r.text())
			r.start() // the refused start has changed nothing
		})
	}
}

func TestPinError_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"mt5/main": "a name of its own", "environment": "another data_dir"} {
		if text := (&app.PinError{Name: name, Pinned: "a", Configured: "b"}).Error(); !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestSlipOfTheFirstStartCanBeCorrectedWhileNothingIsStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	wrong := strings.Replace(strings.Replace(r.text(), "acct_rig", "acct_typo", 1), "identity: Rig-MT5", "identity: Rig-MT", 1)
	r.file("config.yaml", wrong)
	r.start()
	r.halt()
	r.file("config.yaml", r.text())
	r.start()
	r.account("client-1")
	r.halt()
	r.file("config.yaml", wrong)
	var pin *app.PinError
	if _, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()}); !errors.As(err, &pin) {
		t.Fatalf("the correction was not pinned: %v", err)
	}
}

func TestDemoTimingIsRefusedOnARealStore(t *testing.T) {
	t.Parallel()
	r := newRig(t, notDemo)
	r.start()
	r.halt()
	r.file("config.yaml", r.text())
	if _, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "not made by the demo") {
		t.Fatalf("got %v", err)
	}
}

func TestStoreInUseNamesTheHolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	_, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()})
	if !app.IsRunning(err) || !strings.Contains(err.Error(), "in use by process") {
		t.Fatalf("second start: %v", err)
	}
	if _, err := app.Verify(t.Context(), r.load(), nil); !app.IsRunning(err) {
		t.Fatalf("verify beside a running service: %v", err)
	}
}

func TestPortTakenSaysWhichAndLeavesTheStoreFree(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := newRig(t, func(s string) string {
		return strings.Replace(s, `webhooks: {listen: "127.0.0.1:0"}`, `webhooks: {listen: "`+taken.Addr().String()+`"}`, 1)
	})
	service, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Run(t.Context()); err == nil || !strings.Contains(err.Error(), taken.Addr().String()) || !strings.Contains(err.Error(), "webhooks") {
		t.Fatalf("got %v", err)
	}
	if in := verify(t, r); in.Mode != "live" {
		t.Fatalf("the store is %+v", in)
	}
}

func TestDataFolderThatIsAFileIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.WriteFile(filepath.Join(r.dir, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), app.Options{Config: r.load(), Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "data") {
		t.Fatalf("got %v", err)
	}
}

func TestStopWaitsForTheCallUnderWay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	fault(t, r, fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.ApplyThenDelay, Delay: fakemt5.Duration(300e6), Count: 1})
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
	r.awaitState(code, "claimed")
	r.halt()
	if in := verify(t, r); in.Rows[0].State != "done" {
		t.Fatalf("after the stop the row is %q", in.Rows[0].State)
	}
}

func TestStopDoesNotWaitForClientsThatSayNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	for _, said := range []string{"", "", "POST /webhooks/stripe-main HTTP/1.1\r\nHost: h"} {
		for _, address := range []string{r.public, r.api} {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			if _, err := c.Write([]byte(said)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.account("client-1") // answered after the others were accepted
	begin := time.Now()
	r.halt()
	if took, limit := time.Since(begin), r.load().ShutdownTimeout; took >= limit {
		t.Errorf("the stop took %s, all of the %s it may", took, limit)
	}
	if in := verify(t, r); len(in.Findings) != 0 {
		t.Errorf("findings %v", in.Findings)
	}
}

func fault(t *testing.T, r *rig, rule fakemt5.Rule) {
	t.Helper()
	if _, err := r.faults.Fault(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, r *rig) app.Inspection {
	t.Helper()
	in, err := app.Verify(context.WithoutCancel(t.Context()), r.load(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range in.Findings {
		t.Error("finding:", f)
	}
	return in
}
