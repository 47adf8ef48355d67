package app

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/api"
	"creditonce/mt5"
	"creditonce/webhook"
)

// observer turns what the packages report into log lines with constant messages and fixed keys. It writes no
// body, no header, no URL and no secret: it is given none. Safe for concurrent use, as zerolog.Logger is.
type observer struct {
	log  zerolog.Logger
	step func(context.Context, credit.Step) // nil in production; tests stop or kill the process here

	board board
	heard heard
}

var (
	_ credit.Observer  = (*observer)(nil)
	_ api.Observer     = (*observer)(nil)
	_ webhook.Observer = (*observer)(nil)
	_ mt5.Observer     = (*observer)(nil)
	_ admin.Observer   = (*observer)(nil)

	_ mt5.OffsetObserver = (*observer)(nil)
)

// Step hands a named boundary to the hook, where there is one.
func (o *observer) Step(ctx context.Context, s credit.Step) {
	if o.step != nil {
		o.step(ctx, s)
	}
}

// namedStep hands a boundary of no single row to the hook: inside an MT5 request, an import or a run.
func (o *observer) namedStep(ctx context.Context, name string) { o.Step(ctx, credit.Step{Name: name}) }

// Note logs what happened. What a person must act on is a warning; what nobody expected is an error.
func (o *observer) Note(_ context.Context, n credit.Note) {
	if n.Row != nil {
		o.heard.moved(n.Row.ID)
	}
	if n.Session != nil {
		o.board.asked(*n.Session)
	}
	o.heard.failed(n.Err)
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
	o.heard.failed(s.Err)
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

// Webhook logs a request of the public listener. What does not verify is worth a line, not an alarm: anybody can
// send it.
func (o *observer) Webhook(_ context.Context, r webhook.Report) {
	o.heard.failed(r.Err)
	level := zerolog.InfoLevel
	switch r.Outcome {
	case webhook.Accepted, webhook.Repeated:
		level = zerolog.DebugLevel
	case webhook.Failed:
		level = zerolog.ErrorLevel
	case webhook.Busy:
		level = zerolog.WarnLevel
	case webhook.Unverified, webhook.UnknownProvider, webhook.NoSuchRoute, webhook.WrongMethod, webhook.Encoded,
		webhook.TooLarge, webhook.TooSlow, webhook.Broken:
	}
	o.log.WithLevel(level).Str("outcome", string(r.Outcome)).Str("provider", r.Provider).Int("status", r.Status).Str("ip", r.IP).
		Int("bytes", r.Bytes).Str("request_id", r.Reference).Dur("took_ms", r.Took).AnErr("error", r.Err).Msg("webhook request")
}

// Exchanged logs a request to MT5: its endpoint and outcome, never its parameters.
func (o *observer) Exchanged(x mt5.Exchange) {
	level := zerolog.DebugLevel
	if x.Err != nil {
		level = zerolog.InfoLevel
	}
	o.log.WithLevel(level).Str("server", x.Label).Int("session", x.Session).Str("endpoint", x.Endpoint).Int("status", x.Status).
		Int("retcode", x.Code).Dur("took_ms", x.Took).AnErr("error", x.Err).Msg("mt5 request")
}

// Connected logs a new MT5 session.
func (o *observer) Connected(label string, session int, address string) {
	o.board.connected(label, session, address)
	o.log.Info().Str("server", label).Int("session", session).Str("address", address).Msg("mt5 session open")
}

// Dropped logs the end of an MT5 connection.
func (o *observer) Dropped(label string, session int, reason string) {
	o.board.dropped(label, session, reason)
	o.log.Info().Str("server", label).Int("session", session).Str("reason", reason).Msg("mt5 session dropped")
}

// OffsetMoved warns of a server whose clock is not where the probe has seen it.
func (o *observer) OffsetMoved(label string, session int, known, now time.Duration) {
	o.log.Warn().Str("server", label).Int("session", session).Stringer("probed", known).Stringer("now", now).
		Msg("the mt5 server's clock has another offset from UTC than at the probe; probe again")
}
