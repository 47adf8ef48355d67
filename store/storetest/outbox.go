package storetest

import (
	"context"
	"errors"

	"creditonce/credit"
)

// outbox is what the sender of alarms and the status need of an engine.
type outbox interface {
	SetChannels(ctx context.Context, names []string) error
	Outgoing(ctx context.Context, channel string, limit int) (credit.Outgoing, error)
	UpdateChannel(ctx context.Context, name string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error)
	Channels(ctx context.Context) ([]credit.ChannelState, error)
}

// SetChannels implements Backend.
func (b Broken) SetChannels(context.Context, []string) error { return b.Err }

// Outgoing implements Backend.
func (b Broken) Outgoing(context.Context, string, int) (credit.Outgoing, error) {
	return credit.Outgoing{}, b.Err
}

// UpdateChannel implements Backend.
func (b Broken) UpdateChannel(context.Context, string, func(credit.Channel) (credit.Channel, error)) (credit.Channel, error) {
	return credit.Channel{}, b.Err
}

// Channels implements Backend.
func (b Broken) Channels(context.Context) ([]credit.ChannelState, error) { return nil, b.Err }

// SetChannels implements Backend.
func (f *failing) SetChannels(ctx context.Context, names []string) error {
	_, err := call(f, func() (struct{}, error) { return struct{}{}, f.b.SetChannels(ctx, names) })
	return err
}

// Outgoing implements Backend.
func (f *failing) Outgoing(ctx context.Context, channel string, limit int) (credit.Outgoing, error) {
	return call(f, func() (credit.Outgoing, error) { return f.b.Outgoing(ctx, channel, limit) })
}

// UpdateChannel implements Backend.
func (f *failing) UpdateChannel(ctx context.Context, name string, change func(credit.Channel) (credit.Channel, error)) (credit.Channel, error) {
	return call(f, func() (credit.Channel, error) { return f.b.UpdateChannel(ctx, name, change) })
}

// Channels implements Backend.
func (f *failing) Channels(ctx context.Context) ([]credit.ChannelState, error) {
	return call(f, func() ([]credit.ChannelState, error) { return f.b.Channels(ctx) })
}

// Unreadable lets an event arrive that opens one task of its own.
func (w *World) Unreadable() credit.Task {
	w.T.Helper()
	r := w.Accept(w.Event(credit.Facts{Effect: credit.EffectUnreadable, Problem: "a test"}))
	if len(r.Opened) != 1 {
		w.T.Fatalf("an unreadable event opened %+v", r.Opened)
	}
	return r.Opened[0]
}

func (w *World) outgoing(channel string, limit int) credit.Outgoing {
	w.T.Helper()
	out, err := w.B.Outgoing(w.T.Context(), channel, limit)
	w.Must(err)
	return out
}

func (w *World) update(channel string, change func(credit.Channel) credit.Channel) credit.Channel {
	w.T.Helper()
	c, err := w.B.UpdateChannel(w.T.Context(), channel, func(c credit.Channel) (credit.Channel, error) { return change(c), nil })
	w.Must(err)
	return c
}

func noticesComeWithWhatTheyTell(w *World) {
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail"}))
	opened := w.Unreadable()
	row := w.Pay(7, 500) // opens no task, so it is not told
	w.Accept(w.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: row.Unit.Payment}))
	_, err := w.B.Settle(w.T.Context(), func(s credit.Settings) (credit.Settings, error) {
		s.Mode, s.ModeReason, s.ModeAt = credit.ModeHold, "by hand", w.Clock.Now()
		return s, nil
	})
	w.Must(err)
	out := w.outgoing("mail", 10)
	if out.Waiting != len(out.Notices) || len(out.Notices) < 3 || out.Channel.Name != "mail" || out.Settings.StoreID != "store-1" {
		w.T.Fatalf("waiting: %+v", out)
	}
	first, last := out.Notices[0], out.Notices[len(out.Notices)-1]
	if first.Task == nil || first.Task.ID != opened.ID || first.Task.Summary != opened.Summary || first.Notice.Kind != credit.NoticeTaskOpened ||
		!first.Notice.At.Equal(opened.OpenedAt) {
		w.T.Errorf("first notice %+v", first)
	}
	if n := last.Notice; n.Kind != credit.NoticeModeChanged || n.From != credit.ModeLive || n.To != credit.ModeHold || n.Reason != "by hand" || last.Task != nil {
		w.T.Errorf("last notice %+v", last)
	}
	for i, of := range out.Notices {
		if of.Notice.ID != credit.NoticeID(i+1) {
			w.T.Errorf("notice %d is numbered %d", i, of.Notice.ID)
		}
	}
}

func withoutChannelsNothingIsTold(w *World) {
	w.Unreadable()
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail"}))
	if out := w.outgoing("mail", 10); out.Waiting != 0 || len(out.Notices) != 0 {
		w.T.Errorf("told what came before any channel: %+v", out)
	}
	w.Must(w.B.SetChannels(w.T.Context(), nil))
	w.Unreadable()
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail"}))
	if out := w.outgoing("mail", 10); out.Waiting != 0 {
		w.T.Errorf("told what came between two channels: %+v", out)
	}
	if _, err := w.B.Outgoing(w.T.Context(), "other", 10); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("a channel that does not exist: %v", err)
	}
}

func newChannelIsToldWhatComes(w *World) {
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail"}))
	w.Unreadable()
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail", "hook"}))
	second := w.Unreadable()
	if out := w.outgoing("hook", 10); len(out.Notices) != 1 || out.Notices[0].Task.ID != second.ID {
		w.T.Errorf("the new channel is told %+v", out)
	}
	if out := w.outgoing("mail", 1); len(out.Notices) != 1 || out.Waiting != 2 {
		w.T.Errorf("the old channel is told %+v", out)
	}
}

func messageStaysUntilItIsSent(w *World) {
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail", "hook"}))
	w.Unreadable()
	w.Unreadable()
	w.update("mail", func(c credit.Channel) credit.Channel { return c.Send(2) })
	third := w.Unreadable()
	failed := w.update("mail", func(c credit.Channel) credit.Channel { return c.Failed(w.Clock.Now(), "no route") })
	out := w.outgoing("mail", 1) // the limit does not cut a message that is being sent
	if len(out.Notices) != 2 || out.Channel != failed || failed.Attempts != 1 || failed.Failure != "no route" || out.Waiting != 3 {
		w.T.Errorf("after a failed attempt: %+v", out)
	}
	w.update("mail", func(c credit.Channel) credit.Channel { return c.Sent(w.Clock.Now()) })
	out = w.outgoing("mail", 10)
	if len(out.Notices) != 1 || out.Notices[0].Task.ID != third.ID || out.Channel.Failure != "" || out.Channel.Delivered != 2 {
		w.T.Errorf("after the message: %+v", out)
	}
	if hook := w.outgoing("hook", 10); len(hook.Notices) != 3 {
		w.T.Errorf("the other channel lost notices: %+v", hook)
	}
	states, err := w.B.Channels(w.T.Context())
	w.Must(err)
	if len(states) != 2 || states[0].Waiting != 3 || states[1].Waiting != 1 || states[1].Channel.Name != "mail" || states[1].Oldest.IsZero() {
		w.T.Errorf("states %+v", states)
	}
	for _, name := range []string{"mail", "hook"} {
		w.update(name, func(c credit.Channel) credit.Channel { return c.Send(3).Sent(w.Clock.Now()) })
	}
	if states, err = w.B.Channels(w.T.Context()); err != nil || states[0].Waiting+states[1].Waiting != 0 || !states[0].Oldest.IsZero() {
		w.T.Errorf("states %+v, %v", states, err)
	}
	next := w.Unreadable()
	if out := w.outgoing("mail", 10); len(out.Notices) != 1 || out.Notices[0].Task.ID != next.ID || out.Notices[0].Notice.ID != 4 {
		w.T.Errorf("after all were delivered: %+v", out)
	}
}

func channelNeverGoesBack(w *World) {
	w.Must(w.B.SetChannels(w.T.Context(), []string{"mail"}))
	w.Unreadable()
	w.Unreadable()
	w.update("mail", func(c credit.Channel) credit.Channel { return c.Send(1).Sent(w.Clock.Now()) })
	for name, change := range map[string]func(credit.Channel) credit.Channel{
		"back":                    func(c credit.Channel) credit.Channel { c.Delivered = 0; return c },
		"beyond what was written": func(c credit.Channel) credit.Channel { c.Delivered = 3; return c },
		"sends beyond":            func(c credit.Channel) credit.Channel { return c.Send(3) },
		"sends what it has":       func(c credit.Channel) credit.Channel { return c.Send(1) },
	} {
		_, err := w.B.UpdateChannel(w.T.Context(), "mail", func(c credit.Channel) (credit.Channel, error) { return change(c), nil })
		if !errors.Is(err, credit.ErrInvalid) {
			w.T.Errorf("%s: %v", name, err)
		}
	}
	refusal := errors.New("not now")
	if _, err := w.B.UpdateChannel(w.T.Context(), "mail", func(c credit.Channel) (credit.Channel, error) { return c, refusal }); !errors.Is(err, refusal) {
		w.T.Errorf("a refusal came back as %v", err)
	}
	if out := w.outgoing("mail", 10); out.Channel.Delivered != 1 || out.Channel.Sending != 0 {
		w.T.Errorf("a refused change left %+v", out.Channel)
	}
}
