package mt5

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
)

// errForeign says that an answer is about another login or ticket than was asked for.
var errForeign = errors.New("the answer is about another login or ticket than was asked for")

// Account implements credit.Session: user/get, then group/get for currency and digits (§1.3). Refusal says why
// the configuration allows no money on such an account.
func (s *Session) Account(ctx context.Context, login uint64) (credit.AccountState, error) {
	if err := s.enter(); err != nil {
		return credit.AccountState{}, err
	}
	defer s.leave()
	var state credit.AccountState
	err := s.twice(ctx, func() (err error) {
		state, err = s.readAccount(ctx, login)
		return err
	})
	if err != nil {
		return credit.AccountState{}, s.failed(fmt.Sprintf("read account %d", login), err)
	}
	state.Refusal = s.cfg.allows(state.Group, state.Currency, state.Digits)
	return state, nil
}

// readAccount reads an account on the session that is there. credit.ErrNotFound means that MT5 said, readably,
// that the login does not exist: code 13 with HTTP 200 or 404. A group that cannot be read is "no answer".
func (s *Session) readAccount(ctx context.Context, login uint64) (credit.AccountState, error) {
	e, err := s.get(ctx, "user/get", url.Values{"login": {number(login)}})
	if err != nil {
		return credit.AccountState{}, missing(err)
	}
	var user struct{ Login, Group, Registration scalar }
	if err := fields(e.answer, &user); err != nil {
		return credit.AccountState{}, s.odd(err)
	}
	if given, err := user.Login.uint(); err != nil || given != login {
		return credit.AccountState{}, s.odd(errForeign)
	}
	name := groupName(user.Group.text)
	currency, digits, err := s.readGroup(ctx, name)
	if err != nil {
		return credit.AccountState{}, fmt.Errorf("read group %q: %w", shown(name), err)
	}
	state := credit.AccountState{Login: login, Group: name, Currency: currency, Digits: digits, Registered: s.registered(user.Registration)}
	s.remember(state)
	return state, nil
}

// registered is when a login was opened, from the server's clock to UTC; zero where the server does not say so readably.
func (s *Session) registered(given scalar) time.Time {
	seconds, err := given.uint()
	if err != nil || seconds > math.MaxInt32 || seconds == 0 || s.clock.generation == 0 { // more are not seconds
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC().Add(-s.clock.offset)
}

// readGroup asks for a group by its name, and where that is not found and holds backslashes once more with
// each of them escaped: whether query values want that is not settled (Traps 6).
func (s *Session) readGroup(ctx context.Context, name string) (currency string, digits int, err error) {
	if name == "" {
		return "", 0, s.odd(errGarbled)
	}
	e, err := s.get(ctx, "group/get", url.Values{"group": {name}})
	var code *codeError
	if errors.As(err, &code) && code.code == codeNotFound && strings.Contains(name, `\`) {
		e, err = s.get(ctx, "group/get", url.Values{"group": {strings.ReplaceAll(name, `\`, `\\`)}})
	}
	if err != nil {
		return "", 0, err
	}
	var group struct{ Group, Currency, CurrencyDigits scalar }
	if err := fields(single(e.answer), &group); err != nil {
		return "", 0, s.odd(err)
	}
	n, err := group.CurrencyDigits.uint()
	switch {
	case groupName(group.Group.text) != name:
		return "", 0, s.odd(errors.New("the answer is about another group than was asked for"))
	case err != nil || n > credit.MaxExponent:
		return "", 0, s.odd(errGarbled)
	}
	if _, err := credit.Minor(0, group.Currency.text, int(n)); err != nil {
		return "", 0, s.odd(err)
	}
	return group.Currency.text, int(n), nil
}

// missing turns "there is no such login or ticket", said readably, into credit.ErrNotFound.
func missing(err error) error {
	var code *codeError
	if errors.As(err, &code) && code.code == codeNotFound && (code.status == http.StatusOK || code.status == http.StatusNotFound) {
		return fmt.Errorf("%w: %w", credit.ErrNotFound, err)
	}
	return err
}

// odd drops the connection over an answer that does not fit what was asked: whatever comes next on it cannot
// be trusted to fit either.
func (s *Session) odd(err error) error {
	s.drop(err.Error())
	return err
}

// mostRemembered bounds the memory of a session that sees many logins.
const mostRemembered = 1024

func (s *Session) remember(a credit.AccountState) {
	if len(s.accounts) >= mostRemembered {
		clear(s.accounts)
	}
	s.accounts[a.Login] = a
}

// currencyOf is the login's currency and digits, read once per connection: neither can change while an
// account has deals.
func (s *Session) currencyOf(ctx context.Context, login uint64) (credit.AccountState, error) {
	if a, ok := s.accounts[login]; ok {
		return a, nil
	}
	return s.readAccount(ctx, login)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
