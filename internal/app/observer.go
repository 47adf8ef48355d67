package app

import (
	"context"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/api"
)

// observer turns what the packages report into log lines with constant messages and fixed keys. It writes no
// body, no header, no URL and no secret: it is given none. Safe for concurrent use, as zerolog.Logger is.
type observer struct {
	log  zerolog.Logger
	step func(context.Context, credit.Step) // nil in production; tests stop or kill the process here
}

var (
	_ credit.Observer = (*observer)(nil)
	_ api.Observer    = (*observer)(nil)
)

// Step hands a named boundary to the hook, where there is one.
func (o *observer) Step(ctx context.Context, s credit.Step) {
	if o.step != nil {
		o.step(ctx, s)
	}
}

// Note logs what happened. What a person must act on is a warning; what nobody expected is an error.
func (o *observer) Note(_ context.Context, n credit.Note) {
	e := o.log.WithLevel(level(n))
	if n.Row != nil {
		rowFields(e, *n.Row)
	}
	if n.Entry != nil {
		e.Str("from", string(n.Entry.From)).Str("to", string(n.Entry.To)).Str("move", n.Entry.Move)
		e.Str("actor", n.Entry.Actor).Str("reason", n.Entry.Reason)
	}
	if n.Task != nil {
		e.Uint64("task_id", uint64(n.Task.ID)).Str("task", string(n.Task.Kind)).Str("entity", n.Task.Entity)
		e.Str("summary", n.Task.Summary).Str("next", n.Task.Next)
	}
	if n.Event != nil {
		e.Uint64("event_id", uint64(n.Event.ID)).Str("provider", n.Event.Provider).Str("type", n.Event.Facts.Type)
		e.Str("effect", string(n.Event.Facts.Effect)).Str("payment", n.Event.Facts.Payment)
	}
	if n.Err != nil {
		e.Err(n.Err)
	}
	e.Msg(n.What)
}

func level(n credit.Note) zerolog.Level {
	switch {
	case n.Err != nil, n.Task != nil && n.Task.IsOpen():
		return zerolog.WarnLevel
	case n.Entry != nil && n.Entry.From == n.Entry.To:
		return zerolog.DebugLevel
	default:
		return zerolog.InfoLevel
	}
}

func rowFields(e *zerolog.Event, c credit.Credit) {
	e.Uint64("credit_id", uint64(c.ID)).Str("deposit", c.Code).Str("payment", c.Unit.Payment)
	if c.Joined() {
		e.Str("server", c.Server).Uint64("login", c.Login).Stringer("amount", c.Amount).Str("reference", string(c.Reference))
	}
	if c.Attempt > 0 {
		e.Int("attempt", c.Attempt)
	}
	if c.Ticket > 0 {
		e.Uint64("deal", c.Ticket)
	}
}

// Served logs an answered request of the portal's API.
func (o *observer) Served(_ context.Context, s api.Served) {
	level := zerolog.DebugLevel
	switch {
	case s.Status >= 500:
		level = zerolog.ErrorLevel
	case s.Err != nil:
		level = zerolog.InfoLevel
	}
	o.log.WithLevel(level).Str("request_id", s.RequestID).Str("method", s.Method).Str("route", s.Route).Str("key", s.Key).
		Int("status", s.Status).Str("code", s.Code).Bool("replayed", s.Replayed).AnErr("error", s.Err).Msg("api request")
}
