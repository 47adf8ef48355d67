package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
)

// admit reads the login's group and refuses a login that may not be probed. Nothing else was asked before.
func (r *run) admit(ctx context.Context) error {
	r.say("read login %d and its group", r.o.Login)
	reply := r.ask(ctx, "user/get", "login", number(r.o.Login))
	switch {
	case reply.Code == 13:
		return fmt.Errorf("MT5 does not know login %d (%s): %w", r.o.Login, reply, credit.ErrNotFound)
	case reply.Err == nil && gone(reply), reply.Code == 8:
		return fmt.Errorf("the manager may not read login %d (%s): put its group among the manager's groups at MT5", r.o.Login, reply)
	case !ok(reply):
		return fmt.Errorf("read login %d: %s", r.o.Login, reply)
	}
	if err := decode(reply.Answer, &r.user); err != nil {
		return fmt.Errorf("read login %d: %w", r.o.Login, err)
	}
	if r.user.Login.uint() != r.o.Login {
		return fmt.Errorf("read login %d: the answer is about login %q", r.o.Login, r.user.Login)
	}
	group := backslashes(r.user.Group)
	r.report.Group = group
	live := mt5.GroupMatches(r.o.LiveMasks, group)
	if live || !mt5.GroupMatches(r.o.Masks, group) {
		if err := r.takePermit(ctx, &GroupError{Login: r.o.Login, Group: group, Live: live, Masks: r.o.Masks}); err != nil {
			return err
		}
	}
	return r.readGroup(ctx)
}

// takePermit goes on with a login outside the test groups only where two people agreed on it.
func (r *run) takePermit(ctx context.Context, refusal error) error {
	switch {
	case r.o.Permit == nil:
		return refusal
	case r.o.Overdraw: // where MT5 allows it, a client's account would be below zero until the reversal
		return credit.Refuse("overdraw", "login %d is outside the test groups, and there no more than the balance is ever taken; leave --overdraw out", r.o.Login)
	}
	r.say("login %d is in group %q, outside the test groups: use the permit of two people", r.o.Login, r.report.Group)
	return r.o.Permit(ctx)
}

// readGroup finds currency and digits, without which no amount can be written.
func (r *run) readGroup(ctx context.Context) error {
	name, how := r.report.Group, "by its name as it is"
	reply := r.ask(ctx, "group/get", "group", name)
	if reply.Code == 13 && strings.Contains(name, `\`) {
		reply, how = r.ask(ctx, "group/get", "group", strings.ReplaceAll(name, `\`, `\\`)), "only with each backslash doubled"
	}
	var group struct{ Group, Currency, CurrencyDigits text }
	if !ok(reply) {
		return fmt.Errorf("read group %q: %s", name, reply)
	}
	if err := decode(reply.Answer, &group); err != nil {
		return fmt.Errorf("read group %q: %w", name, err)
	}
	digits, whole := group.CurrencyDigits.int()
	if _, err := credit.Minor(0, string(group.Currency), int(digits)); !whole || err != nil {
		return fmt.Errorf("read group %q: currency %q with digits %q cannot be", name, group.Currency, group.CurrencyDigits)
	}
	r.report.Currency, r.report.Digits = string(group.Currency), int(digits)
	r.found("group.name", AsAssumed, "%s", how)
	want, known := r.o.Currencies[r.report.Currency]
	r.judge("group.currency", known && want == r.report.Digits, fmt.Sprintf("%s with %d digits", group.Currency, digits),
		fmt.Sprintf("the configuration accepts %s: correct currencies, or probe a login in another group", currencies(r.o.Currencies)))
	return nil
}

func currencies(all map[string]int) string {
	var names []string
	for _, c := range slices.Sorted(maps.Keys(all)) {
		names = append(names, fmt.Sprintf("%s with %d digits", c, all[c]))
	}
	return strings.Join(names, ", ")
}

// askRights learns what the manager may read, as far as answers show it.
func (r *run) askRights(ctx context.Context) {
	r.say("read account state, balance audit and the number of deals of login %d", r.o.Login)
	state := r.ask(ctx, "user/account/get", "login", number(r.o.Login))
	r.found("account.state", Learned, "%s", state)
	audit := r.ask(ctx, "user/check_balance", "login", number(r.o.Login))
	total := r.ask(ctx, "deal/get_total", "login", number(r.o.Login), "from", "0", "to", seconds(r.now()+day))
	var counted struct{ Total text }
	if total.Answer != nil && decode(total.Answer, &counted) == nil {
		r.total = int(counted.Total.uint())
	}
	var missing []string
	for name, reply := range map[string]mt5.Reply{"balance audit": audit, "deals": total} {
		if gone(reply) || reply.Code == 8 {
			missing = append(missing, fmt.Sprintf("%s (%s)", name, reply))
		}
	}
	slices.Sort(missing)
	if len(missing) == 0 {
		r.found("rights.read", AsAssumed, "accounts, groups, balance audit and deals are answered")
	} else {
		r.differs("rights.read", "refused: "+strings.Join(missing, ", "), "give the manager the right to read accounts and deals")
	}
	r.found("rights.personal", Learned, "%s", personal(r.user))
	r.judgeAudit(audit)
}

func personal(u user) string {
	if u.Name == "" && u.Email == "" {
		return "name and e-mail come back empty: no right to personal data, or none is stored"
	}
	return "yes; the manager needs no right to personal data, take it away"
}

func (r *run) judgeAudit(reply mt5.Reply) {
	var s sums
	if !ok(reply) || decode(reply.Answer, &s) != nil || s.Balance.User == "" || s.Credit.History == "" {
		r.differs("account.audit", reply.String(), "without the audit an empty history is never believed: a login's first payment waits for a person")
		return
	}
	answer := fmt.Sprintf("balance %s, by history %s; credit %s, by history %s", s.Balance.User, s.Balance.History, s.Credit.User, s.Credit.History)
	r.judge("account.audit", s.Balance.User == s.Balance.History && s.Credit.User == s.Credit.History, answer,
		"balance and history of the login differ: probe a login whose history is whole")
}

// askForms learns how answers are written.
func (r *run) askForms(ctx context.Context) {
	reply := r.ask(ctx, "user/get", "login", number(r.o.Login))
	var whole map[string]json.RawMessage
	if !ok(reply) || decode(reply.Answer, &whole) != nil {
		r.found("wire.form", NoAnswer, "%s", reply)
		return
	}
	keys, scalars := "in another case than documented", "mixed"
	switch {
	case whole["Login"] != nil:
		keys = "as documented"
	case whole["login"] != nil:
		keys = "beginning with a small letter"
	}
	login := append(whole["Login"], whole["login"]...)
	switch {
	case len(login) > 0 && login[0] == '"':
		scalars = "text"
	case len(login) > 0:
		scalars = "numbers"
	}
	strict := "valid JSON"
	if !reply.Strict {
		strict = "bare backslashes in JSON"
	}
	r.found("wire.form", AsAssumed, "keys %s, numbers as %s, %s", keys, scalars, strict)
}

const (
	day     = 24 * 60 * 60
	quarter = 15 * time.Minute
)

// askClock reads clock and zone.
func (r *run) askClock(ctx context.Context) {
	r.say("read the server's clock and zone")
	reply := r.ask(ctx, "time/server")
	var answer struct{ Time text }
	if !ok(reply) || decode(reply.Answer, &answer) != nil {
		r.differs("clock.offset", reply.String(), "without the server's clock no look is complete: nothing is ever credited")
		return
	}
	first, _, _ := strings.Cut(string(answer.Time), " ")
	server, whole := text(first).int()
	if !whole || server <= 0 {
		r.differs("clock.offset", fmt.Sprintf("the time reads %q", answer.Time), "without the server's clock no look is complete: nothing is ever credited")
		return
	}
	r.server, r.at = server, r.o.Clock.Boot()
	exact := time.Unix(server, 0).Sub(r.o.Clock.Now())
	offset := exact.Round(quarter)
	r.report.Facts.Offset = &offset
	rest := (exact - offset).Round(time.Second)
	r.judge("clock.offset", offset.Abs() <= 15*time.Hour && rest.Abs() <= 30*time.Second,
		fmt.Sprintf("%s from UTC, and %s beside a whole quarter of an hour", signed(offset), signed(rest)),
		"one of the two clocks is wrong: set this machine's by NTP, and ask for the server's")
	r.askZone(ctx, offset)
}

func (r *run) askZone(ctx context.Context, offset time.Duration) {
	reply := r.ask(ctx, "time/get")
	var zone struct{ TimeZone, Daylight, DaylightState text }
	if !ok(reply) || decode(reply.Answer, &zone) != nil {
		r.found("clock.zone", NoAnswer, "%s", reply)
		return
	}
	minutes, whole := zone.TimeZone.int()
	if !whole {
		r.found("clock.zone", NoAnswer, "TimeZone reads %q", zone.TimeZone)
		return
	}
	base := time.Duration(minutes) * time.Minute
	dst := "daylight saving is not switched"
	switch {
	case !zone.DaylightState.isZero() && zone.DaylightState != "":
		dst = "daylight saving is in force"
	case !zone.Daylight.isZero() && zone.Daylight != "":
		dst = "daylight saving is switched, standard time is in force"
	}
	r.found("clock.zone", Learned, "TimeZone %d minutes; %s; the clock is %s from the zone", minutes, dst, signed(offset-base))
}

// now is the server's clock; this machine's where it could not be read.
func (r *run) now() int64 {
	if r.at == 0 && r.server == 0 {
		return r.o.Clock.Now().Unix()
	}
	return r.server + int64((r.o.Clock.Boot()-r.at)/time.Second)
}

func signed(d time.Duration) string {
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}
