package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"creditonce/mt5"
)

// askSessions opens further sessions one by one, until one is refused or an earlier one ends.
func (r *run) askSessions(ctx context.Context) {
	r.askStranger(ctx)
	if r.o.Sessions < 2 {
		r.found("session.count", NotAsked, "%s", r.o.NoSessions)
		return
	}
	r.say("open up to %d sessions at once, and close them again", r.o.Sessions)
	if r.fit(ctx) != nil {
		r.found("session.count", NoAnswer, "there is no session to begin with")
		return
	}
	open := []*mt5.Inquiry{r.q}
	defer func() {
		for _, q := range open[1:] {
			q.Ask(ctx, "quit", nil)
			q.Close()
		}
	}()
	for len(open) < r.o.Sessions {
		q, err := r.o.Server.Inquire(ctx)
		if err != nil {
			r.sessionLimit(len(open), "one more is refused: "+err.Error(), errors.As(err, new(*mt5.LoginError)))
			return
		}
		open = append(open, q)
		for i, earlier := range open[:len(open)-1] {
			if reply := earlier.Ask(ctx, "test/access", nil); !ok(reply) {
				r.sessionLimit(len(open)-1, fmt.Sprintf("one more ends session %d of %d: %s", i+1, len(open), reply), true)
				return
			}
		}
	}
	r.found("session.count", AsAssumed, "%d at once; more were not tried", len(open))
}

// sessionLimit records how many sessions there may be; sure tells that the server set the limit.
func (r *run) sessionLimit(n int, how string, sure bool) {
	if !sure {
		r.found("session.count", NoAnswer, "%d at once; then %s", n, how)
		return
	}
	r.report.Facts.Sessions = &n
	r.judge("session.count", n >= r.o.Configured, fmt.Sprintf("%d at once; %s", n, how),
		fmt.Sprintf("the configuration opens %d: set sessions of the server to %d or less, and leave one for a probe", r.o.Configured, n))
}

// askStranger asks without a session, and finds what carries one.
func (r *run) askStranger(ctx context.Context) {
	r.say("open a connection that does not authenticate, and ask on it")
	stranger, err := r.o.Server.Stranger(ctx)
	if err != nil {
		r.found("session.none", NoAnswer, "%s", err)
		r.found("session.binding", NoAnswer, "%s", err)
		return
	}
	defer stranger.Close()
	byCookie := ok(stranger.AskAs(ctx, r.q, "test/access"))
	if !stranger.Alive() {
		stranger.Close()
		if stranger, err = r.o.Server.Stranger(ctx); err != nil {
			r.found("session.none", NoAnswer, "%s", err)
			return
		}
	}
	// The cookies came with the request above only: nothing has been authenticated on this connection.
	r.judgeDead("session.none", stranger.AskAs(ctx, nil, "test/access"))
	names := r.q.Cookies()
	byConnection := ok(r.q.AskAs(ctx, nil, "test/access"))
	answer := map[[2]bool]string{
		{true, false}: "the connection alone", {false, true}: "the cookie alone, on any connection",
		{true, true}: "either the connection or the cookie", {false, false}: "connection and cookie together",
	}[[2]bool{byConnection, byCookie}]
	if len(names) == 0 {
		answer += "; no cookie is set"
	} else {
		answer += "; cookie " + strings.Join(names, ", ")
	}
	r.found("session.binding", AsAssumed, "%s", answer)
}

func (r *run) judgeDead(id string, reply mt5.Reply) {
	r.judge(id, gone(reply), reply.String(),
		"the client takes such an answer for a refusal and keeps a dead session: write to the makers of this program with the report")
}

// askDead ends the session and asks once more. It is the last question on the connection.
func (r *run) askDead(ctx context.Context) {
	r.say("end the session with quit, and ask once more")
	if quit := r.ask(ctx, "quit"); !ok(quit) {
		r.found("session.dead", NoAnswer, "quit is answered with %s", quit)
		return
	}
	if !r.q.Alive() {
		r.found("session.dead", AsAssumed, "the server closes the connection with its answer to quit")
		return
	}
	r.judgeDead("session.dead", r.q.Ask(ctx, "test/access", nil))
}

// conclude sums up what came with every answer.
func (r *run) conclude(context.Context) {
	var pairs []string
	odd := false
	for pair := range r.pairs {
		pairs = append(pairs, pair)
		odd = odd || !strings.HasSuffix(pair, "HTTP 200") && !strings.HasSuffix(pair, "HTTP 400") && !strings.HasSuffix(pair, "HTTP 404")
	}
	slices.Sort(pairs)
	r.judgeMild("wire.status", !odd, strings.Join(pairs, ", "), "such refusals count as a lost session or as unknown, and cost further requests")
}
