package credit

import "time"

// NoticeID numbers the notices of a store without a gap, in the order of their commits.
type NoticeID uint64

// NoticeKind says what people are told.
type NoticeKind string

// The kinds of notices.
const (
	NoticeTaskOpened  NoticeKind = "task_opened"
	NoticeTaskClosed  NoticeKind = "task_closed"
	NoticeModeChanged NoticeKind = "mode_changed"
	NoticeTest        NoticeKind = "test" // a person wants to see whether alarms arrive; nothing has happened
)

// Notice is one entry of the outbox: something that people are to be told. It is written in the transaction of what
// it tells, and only where the store has a channel to tell it on.
type Notice struct {
	ID     NoticeID   `json:"id"`
	Kind   NoticeKind `json:"kind"`
	At     time.Time  `json:"at"`
	Task   TaskID     `json:"task,omitempty"`   // of a task
	From   Mode       `json:"from,omitempty"`   // of a mode, as are the next three
	To     Mode       `json:"to,omitempty"`     //
	By     string     `json:"by,omitempty"`     // of a test too
	Reason string     `json:"reason,omitempty"` //
}

// TaskNotices are the notices of tasks that were opened and closed, closed ones first, as they are written.
func TaskNotices(opened, closed []Task) []Notice {
	out := make([]Notice, 0, len(opened)+len(closed))
	for _, t := range closed {
		out = append(out, Notice{Kind: NoticeTaskClosed, At: t.ClosedAt, Task: t.ID})
	}
	for _, t := range opened {
		out = append(out, Notice{Kind: NoticeTaskOpened, At: t.OpenedAt, Task: t.ID})
	}
	return out
}

// ModeNotices is the notice of a change of the mode; none where it stays.
func ModeNotices(before, after Settings) []Notice {
	if before.Mode == after.Mode {
		return nil
	}
	return []Notice{{
		Kind: NoticeModeChanged, At: after.ModeAt, From: before.Mode, To: after.Mode, Reason: after.ModeReason, By: after.ModeBy,
	}}
}

// TestNotice is the notice by which a person tries whether alarms arrive.
func TestNotice(by string, at time.Time) Notice {
	return Notice{Kind: NoticeTest, At: at, By: by}
}

// Channel is one way on which people are told, and how far it has come. It is stored, so that a process that dies
// between a delivery and its record sends the very same message again, under the same id.
type Channel struct {
	Name        string    `json:"name"`
	Delivered   NoticeID  `json:"delivered"`         // every notice up to it has reached the channel
	Sending     NoticeID  `json:"sending,omitempty"` // last notice of the message that is being sent; 0: none is
	Attempts    int       `json:"attempts,omitempty"`
	Failure     string    `json:"failure,omitempty"` // of the last attempt; without secrets
	FailedAt    time.Time `json:"failed_at,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
}

// Send fixes what the next message holds: all notices up to last.
func (c Channel) Send(last NoticeID) Channel {
	c.Sending, c.Attempts = last, 0
	return c
}

// Sent records that the message has arrived.
func (c Channel) Sent(at time.Time) Channel {
	return Channel{Name: c.Name, Delivered: c.Sending, DeliveredAt: instant(at)}
}

// Failed records an attempt that failed. The message stays as it is.
func (c Channel) Failed(at time.Time, failure string) Channel {
	c.Attempts++
	c.Failure, c.FailedAt = plain(failure), instant(at)
	return c
}

// Outgoing is what waits on a channel, read in one snapshot: the notices of the message that is being sent, or, when
// none is, those that the next one could hold.
type Outgoing struct {
	Channel  Channel
	Settings Settings
	Notices  []NoticeOf
	Waiting  int // notices that have not reached the channel, those listed included
}

// NoticeOf is a notice with the task that it is about; nil where it is about none.
type NoticeOf struct {
	Notice Notice
	Task   *Task
}

// ChannelState is a channel with what waits on it.
type ChannelState struct {
	Channel Channel
	Waiting int
	Oldest  time.Time // of what waits; zero: nothing does
}
