package alert

import (
	"context"
	"errors"
	"slices"
	"time"

	"creditonce/credit"
)

const (
	// Window is how long notices are collected into one message, from the first one on.
	Window = 30 * time.Second
	// Largest is how many notices one message holds; as many go out without waiting.
	Largest = 100

	look         = 5 * time.Second  // between two looks at an empty outbox
	sendWithin   = 30 * time.Second // of one attempt
	firstBackoff = 10 * time.Second
	lastBackoff  = 10 * time.Minute
)

// Outbox is what a Sender needs of the store.
type Outbox interface {
	// Outgoing reads what waits on a channel.
	Outgoing(ctx context.Context, channel string, limit int) (credit.Outgoing, error)
	// UpdateChannel changes how far the channel has come, in one transaction.
	UpdateChannel(ctx context.Context, name string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error)
}

// Transport sends one message. It returns nil only when the far side has taken it. Its error says why not, without a
// secret.
type Transport interface {
	Send(ctx context.Context, m Message) error
}

// Report is one attempt, for the log.
type Report struct {
	Channel string
	Message string // its id; empty where it could not be composed or read
	Notices int
	Attempt int           // from 1
	Err     error         // nil: delivered
	Retry   time.Duration // after a failure
}

// Sender brings the notices of one channel out, until its context ends. Two senders must not serve one channel.
type Sender struct {
	Channel   string
	Outbox    Outbox
	Transport Transport
	Clock     credit.Clock
	Window    time.Duration // 0: the constant
	Report    func(Report)  // must not block

	// taken is the last notice of a message that was taken and could not be recorded yet; 0: none.
	taken credit.NoticeID
	// first is the oldest notice that waits, since when it was first seen, on the boot-time clock.
	first credit.NoticeID
	since time.Duration
}

// Run works until ctx ends; it then returns nil. What goes wrong is reported, recorded and tried again.
func (s *Sender) Run(ctx context.Context) error {
	for {
		wait := s.turn(ctx)
		if err := ctx.Err(); err != nil {
			return nil //nolint:nilerr // a stop is no failure; what was under way goes out again
		}
		if wait <= 0 {
			continue
		}
		if err := s.Clock.Wait(ctx, s.Clock.Boot()+wait, nil); err != nil {
			return nil //nolint:nilerr // the context has ended
		}
	}
}

// turn does one thing and returns how long to wait before the next.
func (s *Sender) turn(ctx context.Context) time.Duration {
	out, err := s.Outbox.Outgoing(ctx, s.Channel, Largest)
	if err != nil {
		return s.trouble(ctx, Report{Err: err})
	}
	if s.taken != 0 {
		return s.record(ctx, out)
	}
	if len(out.Notices) == 0 {
		return look
	}
	if out.Channel.Sending == 0 {
		if left := s.left(out); left > 0 {
			return min(left, look) // a test message may come meanwhile, and ends the window
		}
		last := out.Notices[len(out.Notices)-1].Notice.ID
		// From here on the message is what it is: every attempt, of a later process too, has the same notices and id.
		if out.Channel, err = s.update(ctx, func(c credit.Channel) credit.Channel { return c.Send(last) }); err != nil {
			return s.trouble(ctx, Report{Notices: len(out.Notices), Err: err})
		}
	}
	return s.send(ctx, out)
}

// left is how long more notices are waited for: to the end of the window of the first, which may have come before this
// process. The wall clock may have been set since, so nothing is kept for longer than a window after it was seen.
func (s *Sender) left(out credit.Outgoing) time.Duration {
	if out.Waiting >= Largest || slices.ContainsFunc(out.Notices, isTest) { // of a test somebody waits for the result
		return 0
	}
	n := out.Notices[0].Notice
	if s.first != n.ID {
		s.first, s.since = n.ID, s.Clock.Boot()
	}
	window := s.Window
	if window == 0 {
		window = Window
	}
	return min(n.At.Add(window).Sub(s.Clock.Now()), s.since+window-s.Clock.Boot())
}

func isTest(of credit.NoticeOf) bool { return of.Notice.Kind == credit.NoticeTest }

func (s *Sender) send(ctx context.Context, out credit.Outgoing) time.Duration {
	r := Report{Notices: len(out.Notices), Attempt: out.Channel.Attempts + 1}
	m, err := compose(out)
	if err == nil {
		r.Message = m.ID
		err = s.attempt(ctx, m)
	}
	if err == nil {
		s.tell(r)
		s.taken = out.Channel.Sending
		return s.record(ctx, out)
	}
	if ctx.Err() != nil {
		return 0 // stopped in the middle: no failure of the far side
	}
	r.Err, r.Retry = err, backoff(r.Attempt)
	s.tell(r)
	now := s.Clock.Now()
	if _, err := s.update(ctx, func(c credit.Channel) credit.Channel { return c.Failed(now, r.Err.Error()) }); err != nil {
		s.trouble(ctx, Report{Message: r.Message, Err: err})
	}
	return r.Retry
}

func (s *Sender) attempt(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	return s.Transport.Send(ctx, m)
}

// errMoved says that the channel is not where this sender left it.
var errMoved = errors.New("another process serves this channel")

// record notes that the message was taken. While the store does not take that, the message is not sent again.
func (s *Sender) record(ctx context.Context, out credit.Outgoing) time.Duration {
	now, taken := s.Clock.Now(), s.taken
	_, err := s.Outbox.UpdateChannel(ctx, s.Channel, func(c credit.Channel) (credit.Channel, error) {
		if c.Sending != taken {
			return c, errMoved
		}
		return c.Sent(now), nil
	})
	if err != nil && !errors.Is(err, errMoved) {
		return s.trouble(ctx, Report{Notices: len(out.Notices), Err: err})
	}
	s.taken = 0
	return 0
}

func (s *Sender) update(ctx context.Context, change func(credit.Channel) credit.Channel) (credit.Channel, error) {
	return s.Outbox.UpdateChannel(ctx, s.Channel, func(c credit.Channel) (credit.Channel, error) { return change(c), nil })
}

// trouble reports what went wrong on our own side.
func (s *Sender) trouble(ctx context.Context, r Report) time.Duration {
	if r.Retry = look; ctx.Err() == nil {
		s.tell(r)
	}
	return look
}

func (s *Sender) tell(r Report) {
	r.Channel = s.Channel
	s.Report(r)
}

// backoff is the wait after the n-th failed attempt, from 1.
func backoff(n int) time.Duration {
	d := firstBackoff
	for i := 1; i < n && d < lastBackoff; i++ {
		d *= 2
	}
	return min(d, lastBackoff)
}
