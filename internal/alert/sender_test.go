package alert_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"creditonce/credit"
	"creditonce/internal/alert"
)

// bubble is the time of a synctest bubble.
type bubble struct{ begin time.Time }

func (b bubble) Now() time.Time      { return time.Now().UTC() }
func (b bubble) Boot() time.Duration { return time.Since(b.begin) }
func (b bubble) Wait(ctx context.Context, until time.Duration, _ <-chan struct{}) error {
	timer := time.NewTimer(until - b.Boot())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// memory is an outbox of one channel that lives as long as the test: what a store is for a service that comes and goes.
type memory struct {
	mu      sync.Mutex
	channel credit.Channel
	notices []credit.NoticeOf
	busy    int // so many updates fail
}

var errBusy = errors.New("the store is busy")

func (m *memory) Outgoing(context.Context, string, int) (credit.Outgoing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := credit.Outgoing{Channel: m.channel, Settings: credit.Settings{StoreID: "0123456789abcdef", Environment: "live"}}
	out.Waiting = len(m.notices) - int(m.channel.Delivered)
	end := min(len(m.notices), int(m.channel.Delivered)+alert.Largest)
	if m.channel.Sending != 0 {
		end = int(m.channel.Sending)
	}
	out.Notices = append(out.Notices, m.notices[m.channel.Delivered:end]...)
	return out, nil
}

func (m *memory) UpdateChannel(_ context.Context, _ string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy > 0 {
		m.busy--
		return credit.Channel{}, errBusy
	}
	c, err := change(m.channel)
	if err == nil {
		m.channel = c
	}
	return c, err
}

func (m *memory) state() credit.Channel {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.channel
}

// open tells of n tasks that open now.
func (m *memory) open(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		id := len(m.notices) + 1
		m.notices = append(m.notices, credit.NoticeOf{
			Notice: credit.Notice{ID: credit.NoticeID(id), Kind: credit.NoticeTaskOpened, At: time.Now(), Task: credit.TaskID(id)},
			Task:   &credit.Task{ID: credit.TaskID(id), Kind: credit.TaskHeld, Entity: fmt.Sprintf("credit/%d", id), Summary: "a row waits"},
		})
	}
}

// far is a far side that takes what it is told to.
type far struct {
	mu     sync.Mutex
	took   []alert.Message
	when   []time.Duration
	begin  time.Time
	answer func(n int) error // of the n-th attempt, from 1
	calls  int
}

func (f *far) Send(ctx context.Context, m alert.Message) error {
	f.mu.Lock()
	f.calls++
	n := f.calls
	f.mu.Unlock()
	var err error
	if f.answer != nil {
		err = f.answer(n)
	}
	if errors.Is(err, errHangs) {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil || errors.Is(err, errTaken) {
		f.took, f.when = append(f.took, m), append(f.when, time.Since(f.begin))
	}
	return err
}

var (
	errHangs = errors.New("hangs")
	errTaken = errors.New("taken, and the answer is lost")
)

// play runs a sender in a bubble while script acts; it is stopped at the script's end.
func play(t *testing.T, m *memory, f *far, script func()) []alert.Report {
	t.Helper()
	var reports []alert.Report
	ctx, stop := context.WithCancel(t.Context())
	s := &alert.Sender{
		Channel: "email/ops", Outbox: m, Transport: f, Clock: bubble{time.Now()}, Report: func(r alert.Report) { reports = append(reports, r) },
	}
	if f.begin.IsZero() {
		f.begin = time.Now()
	}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	script()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the sender ended with %v", err)
	}
	return reports
}

func TestSender_CollectsForTheWindowIntoOneMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{}
		play(t, m, f, func() {
			time.Sleep(time.Minute)
			m.open(2)
			time.Sleep(20 * time.Second)
			m.open(1)
			time.Sleep(20 * time.Second)
			m.open(1) // after the first message
			time.Sleep(time.Minute)
		})
		if len(f.took) != 2 || strings.Count(f.took[0].Text, "opened") != 3 || strings.Count(f.took[1].Text, "opened") != 1 {
			t.Fatalf("took %+v", f.took)
		}
		if f.when[0] < 90*time.Second || f.when[0] > 95*time.Second || f.when[1] < 130*time.Second || f.when[1] > 135*time.Second {
			t.Errorf("at %v", f.when)
		}
		if c := m.state(); c.Delivered != 4 || c.Sending != 0 || c.DeliveredAt.IsZero() {
			t.Errorf("channel %+v", c)
		}
	})
}

func TestSender_ManyNoticesDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{}
		play(t, m, f, func() {
			m.open(2*alert.Largest + 5)
			time.Sleep(time.Minute)
		})
		if len(f.took) != 3 || f.when[1] > 10*time.Second || f.when[2] < 30*time.Second {
			t.Fatalf("%d messages at %v", len(f.took), f.when)
		}
	})
}

func TestSender_FailedMessageIsRepeatedUnchangedWithGrowingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{answer: func(n int) error {
			if n <= 8 {
				return errTaken // and the repeat is a duplicate with the same id
			}
			return nil
		}}
		var while credit.Channel
		reports := play(t, m, f, func() {
			m.open(1)
			time.Sleep(35 * time.Second)
			while = m.state()
			m.open(3) // comes while the first message is stuck, and is not part of it
			time.Sleep(2 * time.Hour)
		})
		if while.Attempts != 1 || while.Sending != 1 || while.Failure != errTaken.Error() || while.FailedAt.IsZero() {
			t.Errorf("after the first failure the channel says %+v", while)
		}
		if len(f.took) != 10 || f.took[9].ID == f.took[0].ID || m.state().Delivered != 4 || m.state().Failure != "" {
			t.Fatalf("took %d, channel %+v", len(f.took), m.state())
		}
		var pauses []time.Duration
		for i := 1; i < 9; i++ {
			pauses = append(pauses, f.when[i]-f.when[i-1])
			if f.took[i].ID != f.took[0].ID || string(f.took[i].JSON) != string(f.took[0].JSON) || f.took[i].Text != f.took[0].Text {
				t.Errorf("attempt %d sent another message", i+1)
			}
		}
		if want := "[10s 20s 40s 1m20s 2m40s 5m20s 10m0s 10m0s]"; fmt.Sprint(pauses) != want {
			t.Errorf("pauses %v, want %s", pauses, want)
		}
		if len(reports) != 10 || reports[0].Err == nil || reports[0].Retry != 10*time.Second || reports[7].Attempt != 8 || reports[8].Err != nil || reports[0].Channel != "email/ops" {
			t.Errorf("reports %+v", reports)
		}
	})
}

// A process that is killed after the far side took the message, before that was recorded, is followed by one that sends
// the same message again.
func TestSender_RestartSendsTheSameMessageAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{}
		f.answer = func(n int) error {
			if n == 1 {
				m.mu.Lock()
				m.busy = 1000 // the store takes nothing any more: as if the process had ended
				m.mu.Unlock()
			}
			return nil
		}
		play(t, m, f, func() {
			m.open(2)
			time.Sleep(3 * time.Minute)
		})
		if len(f.took) != 1 {
			t.Fatalf("a message that was taken went out %d times from one process", len(f.took))
		}
		m.busy = 0
		m.open(1)
		play(t, m, f, func() { time.Sleep(time.Minute) })
		if len(f.took) != 3 || f.took[1].ID != f.took[0].ID || string(f.took[1].JSON) != string(f.took[0].JSON) || f.took[2].ID == f.took[0].ID {
			t.Fatalf("took %+v", f.took)
		}
		if m.state().Delivered != 3 {
			t.Errorf("channel %+v", m.state())
		}
	})
}

func TestSender_BusyStoreDelaysAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{busy: 3}, &far{}
		reports := play(t, m, f, func() {
			m.open(1)
			time.Sleep(2 * time.Minute)
		})
		if len(f.took) != 1 || m.state().Delivered != 1 || len(reports) != 4 || !errors.Is(reports[0].Err, errBusy) {
			t.Fatalf("took %d, channel %+v, reports %+v", len(f.took), m.state(), reports)
		}
	})
}

func TestSender_FarSideThatHangsIsGivenUpAndAStopIsNoFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{answer: func(int) error { return errHangs }}
		reports := play(t, m, f, func() {
			m.open(1)
			time.Sleep(75 * time.Second) // window 30 s, attempt 30 s, pause 10 s, and in the middle of the next attempt
		})
		if c := m.state(); c.Attempts != 1 || c.Sending != 1 || len(reports) != 1 {
			t.Errorf("channel %+v, reports %+v", c, reports)
		}
	})
}

// A clock that was set back does not keep a notice for longer than the window.
func TestSender_ClockSetBackDelaysForTheWindowAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{}
		m.open(1)
		m.notices[0].Notice.At = time.Now().Add(24 * time.Hour)
		play(t, m, f, func() { time.Sleep(36 * time.Second) })
		if len(f.took) != 1 {
			t.Errorf("took %d", len(f.took))
		}
	})
}

func TestMessage_SaysWhatHappenedWithoutRecordsOrControlCharacters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, f := &memory{}, &far{}
		m.open(1)
		m.notices[0].Task.Summary = "odd\r\nBcc: x\x1b[0m " + strings.Repeat("y", 1000)
		m.notices[0].Task.Records = []credit.Record{{Source: "row", Fields: []credit.Field{{Name: "client", Value: "planted"}}}}
		m.notices = append(m.notices,
			credit.NoticeOf{Notice: credit.Notice{ID: 2, Kind: credit.NoticeTaskClosed, At: time.Now(), Task: 9},
				Task: &credit.Task{ID: 9, Kind: credit.TaskFailed, Entity: "credit/9", ClosedBy: "anna", Reason: "paid by wire"}},
			credit.NoticeOf{Notice: credit.Notice{ID: 3, Kind: credit.NoticeModeChanged, At: time.Now(), From: credit.ModeLive, To: credit.ModeHold, Reason: "an invariant is broken"}},
		)
		play(t, m, f, func() { time.Sleep(time.Minute) })
		got := f.took[0]
		if got.Subject != "[creditonce live] mode is hold, task opened (held), task closed" {
			t.Errorf("subject %q", got.Subject)
		}
		for _, want := range []string{"Task 1 opened: held", "about   credit/1", "Task 9 closed: failed", "paid by wire", "by      anna",
			"Mode changed from live to hold", "an invariant is broken", got.ID, "Environment live, store 0123456789ab"} {
			if !strings.Contains(got.Text, want) {
				t.Errorf("no %q in\n%s", want, got.Text)
			}
		}
		if strings.Contains(got.Text+string(got.JSON), "planted") || strings.ContainsAny(got.Text, "\x1b\r") || strings.Contains(got.Text, "\nBcc") || len(got.Text) > 2000 {
			t.Errorf("text\n%q", got.Text)
		}
		var body struct {
			Type string
			Data struct {
				ID      string
				Notices []map[string]any
			}
		}
		if err := json.Unmarshal(got.JSON, &body); err != nil || body.Data.ID != got.ID || len(body.Data.Notices) != 3 ||
			body.Data.Notices[1]["reason"] != "paid by wire" || body.Data.Notices[2]["to"] != "hold" {
			t.Errorf("body %s, %v", got.JSON, err)
		}
		if strings.ContainsAny(got.ID, ".@ ") {
			t.Errorf("id %q", got.ID)
		}
	})
}
