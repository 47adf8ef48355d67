package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/webhook/standard"
)

// receiver takes alerts as a firm's own program would: signed, and once by id.
type receiver struct {
	*httptest.Server
	down   atomic.Bool
	alerts chan told
	faults chan error
}

// alertSecret is what alerts are signed with; no provider has it.
const alertSecret = "whsec_YWxlcnQ2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjA="

// told is what one alert says.
type told struct {
	ID, Environment string
	Notices         []struct {
		Kind string
		Task struct{ Kind string }
	}
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := standard.NewVerifier(standard.Signing{Secrets: [][]byte{[]byte(alertSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{alerts: make(chan told, 100), faults: make(chan error, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(req.Body)
		var message struct{ Data told }
		if err := errors.Join(err, verifier.Verify(req.Header, body, time.Now()), json.Unmarshal(body, &message)); err != nil {
			r.faults <- err
			return
		}
		r.alerts <- message.Data
	}))
	t.Cleanup(r.Close)
	return r
}

// withAlerts makes the rig tell the receiver.
func withAlerts(r *receiver) func(string) string {
	return func(text string) string {
		return text + `alerts: {webhook: {url: "` + r.URL + `/planted", secret: {file: alerts}}}` + "\n"
	}
}

func TestTaskIsToldByASignedWebhookAndAnAlarmThatFailsWaits(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	hook.down.Store(true)
	r := newRig(t, withAlerts(hook), withWallet)
	r.file("wallet", walletSecret+"\n")
	r.file("alerts", alertSecret+"\n")
	r.start()
	if status := r.wallet("msg_1", `{"type":"payment.paid","timestamp":1}`); status != http.StatusOK {
		t.Fatalf("answered %d", status)
	}
	line := r.await("alert not delivered", func(map[string]any) bool { return true })
	if line["attempt"] != 1.0 || line["channel"] != "webhook" || !strings.Contains(line["error"].(string), "503") {
		t.Fatalf("the log says %v", line)
	}
	r.halt() // the alarm waits in the store

	hook.down.Store(false)
	r.start()
	got := r.await("alert delivered", func(map[string]any) bool { return true })
	if got["alert"] != line["alert"] {
		t.Errorf("after a restart %v went out, before it %v", got["alert"], line["alert"])
	}
	select {
	case data := <-hook.alerts:
		if data.ID != line["alert"] || data.Environment != "test" || len(data.Notices) != 1 || data.Notices[0].Kind != "task_opened" || data.Notices[0].Task.Kind != "unreadable" {
			t.Errorf("told %+v", data)
		}
	case err := <-hook.faults:
		t.Fatalf("the receiver refuses: %v", err)
	}
	if strings.Contains(r.log.String(), "planted") {
		t.Error("the log shows the receiver's address")
	}
	r.halt()
	if in := verify(t, r); len(in.Findings) != 0 || len(in.OpenTasks) != 1 {
		t.Errorf("store holds %+v", in)
	}
}
