package alert_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"creditonce/credit"
)

// try puts a test message into the outbox, as a person asks for it.
func (m *memory) try(by string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := credit.TestNotice(by, time.Now())
	n.ID = credit.NoticeID(len(m.notices) + 1)
	m.notices = append(m.notices, credit.NoticeOf{Notice: n})
}

// Somebody waits for the result, so neither a test nor what waits before it is collected for a window.
func TestTestMessage_GoesAtTheNextLookWithEverythingThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{begin: time.Now()}
		play(t, m, f, func() {
			m.open(1)
			time.Sleep(6 * time.Second) // the window of the task has begun
			m.try("anna")
			time.Sleep(6 * time.Second)
		})
		if len(f.took) != 1 || f.when[0] > 11*time.Second || m.state().Delivered != 2 {
			t.Fatalf("took %d at %v, channel %+v", len(f.took), f.when, m.state())
		}
		got := f.took[0]
		if got.Subject != "[creditonce live] task opened (held), test message" || !strings.Contains(got.Text, "Test message: nothing has happened.") ||
			!strings.Contains(got.Text, "by      anna") {
			t.Errorf("%q\n%s", got.Subject, got.Text)
		}
		var body struct {
			Data struct{ Notices []struct{ Kind, By string } }
		}
		if err := json.Unmarshal(got.JSON, &body); err != nil || len(body.Data.Notices) != 2 || body.Data.Notices[1].Kind != "test" || body.Data.Notices[1].By != "anna" {
			t.Errorf("body %s, %v", got.JSON, err)
		}
	})
}

// A message that a far side refuses stays what it is: the test goes behind it, and is not lost.
func TestTestMessage_WaitsBehindAMessageThatIsRefusedAndArrivesAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{begin: time.Now(), answer: func(n int) error {
			if n <= 3 {
				return errors.New("mailbox full")
			}
			return nil
		}}
		play(t, m, f, func() {
			m.open(1)
			time.Sleep(40 * time.Second) // refused by now
			m.try("anna")
			time.Sleep(time.Second)
			if c := m.state(); c.Sending != 1 || c.Attempts == 0 {
				t.Errorf("channel %+v", c)
			}
			time.Sleep(10 * time.Minute)
		})
		if len(f.took) != 2 || strings.Contains(f.took[0].Text, "Test message") || f.took[1].Subject != "[creditonce live] test message" {
			t.Errorf("took %d: %+v", len(f.took), f.took)
		}
	})
}
