package app_test

import (
	"strings"
	"testing"

	"creditonce/internal/app"
)

// probe lets the rig's server be probed, with the smallest amounts, before the service starts.
func (r *rig) probe() app.ProbeResult {
	r.t.Helper()
	result, err := app.Probe(r.t.Context(), app.ProbeOptions{
		Config: r.load(), Server: "main", Login: login, Groups: []string{`real\*`}, Operate: true, Operations: 1, Sessions: 2, Program: "test",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if !result.Stored {
		r.t.Fatalf("not stored: %v", result.NotStored)
	}
	return result
}

func (r *rig) patchWire(fields map[string]any) {
	r.t.Helper()
	if _, err := r.faults.PatchWire(r.t.Context(), fields); err != nil {
		r.t.Fatal(err)
	}
}

func TestDealerThatWasMeasured_IsExpectedOnOurDeals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.patchWire(map[string]any{"balance_dealer": "zero"})
	r.probe()
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "10.00", "k1")
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 1000)))
	line := r.awaitState(code, "done")
	if line["from"] != "claimed" || strings.Contains(r.log.String(), "deal carries another dealer") {
		t.Errorf("done from %v:\n%s", line["from"], r.log)
	}
	if strings.Contains(r.log.String(), "the mt5 server does not do what the client assumes") {
		t.Error("the start warns of a dealer that is measured and expected")
	}
}

func TestDealerThatIsNotTheMeasuredOne_MakesTheRowUnknownUntilALook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.probe()
	r.patchWire(map[string]any{"balance_dealer": "zero"})
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "10.00", "k1")
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 1000)))
	if line := r.awaitState(code, "unknown"); !strings.Contains(line["reason"].(string), "dealer 0, not 1000") {
		t.Errorf("unknown because of %v", line["reason"])
	}
	r.awaitState(code, "done")
	ours := 0
	for comment, deals := range r.ours() {
		if strings.HasPrefix(comment, "dep:") {
			ours += len(deals)
		}
	}
	if ours != 1 {
		t.Errorf("%d deals were made for the deposit", ours)
	}
}
