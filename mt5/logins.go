package mt5

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"creditonce/credit"
)

// mostLoginReads bounds how often one list of logins is read until two answers in a row agree.
const mostLoginReads = 4

// Logins lists the logins of the groups that masks name, each once, in order: "*" stands for any text, "!" in front excludes, and an exclusion
// wins whatever its place (MetaQuotes' Web API pages, Users, Get List; USER_LOGINS of mt5-webapi.md §3). The list is whole or there is an error:
//
//   - Each mask is asked for alone, with all exclusions behind it, so that one that names nothing is noticed: success with an empty list says
//     that there is no account, every other form of "none" is no answer.
//   - Each answer is read again, until nothing that one answer had is missing in the next; accounts that are opened meanwhile do no harm.
//   - Some logins of each answer are asked for their group, which must fall under the masks.
//
// The Web API shows what the manager's own groups reach, and says nothing of what lies beyond. At most 35 requests a mask, and once more as many
// where the session is lost midway.
func (s *Session) Logins(ctx context.Context, masks []string) ([]uint64, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	wanted, excluded, err := splitMasks(masks)
	if err != nil {
		return nil, s.failed("list logins", err)
	}
	var all []uint64
	for _, mask := range wanted {
		var found []uint64
		err := s.twice(ctx, func() (err error) {
			found, err = s.loginsOf(ctx, mask, excluded)
			return err
		})
		if err != nil {
			return nil, s.failed(fmt.Sprintf("list the logins of group mask %q", shown(mask)), err)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// splitMasks tells masks from exclusions. A comma would make two masks of one.
func splitMasks(masks []string) (wanted, excluded []string, err error) {
	for _, mask := range masks {
		body, exclude := strings.CutPrefix(mask, "!")
		switch {
		case body == "" || strings.ContainsAny(body, ",!") || strings.TrimSpace(body) != body:
			return nil, nil, fmt.Errorf("group mask %q: write one mask, without commas and without blanks around it", shown(mask))
		case exclude:
			excluded = append(excluded, mask)
		default:
			wanted = append(wanted, mask)
		}
	}
	if len(wanted) == 0 {
		return nil, nil, errors.New("no group mask names a group")
	}
	return wanted, excluded, nil
}

// loginsOf reads the logins of one mask on the session that is there. Where a mask holds backslashes it is asked as it stands and once more
// with each of them escaped, since what query values want is not settled (Traps 6): read the wrong way, a mask names nothing, or other groups,
// and an exclusion excludes nothing. What both answers have is right; of what only one has, the groups of some logins decide.
func (s *Session) loginsOf(ctx context.Context, mask string, excluded []string) ([]uint64, error) {
	param := strings.Join(append([]string{mask}, excluded...), ",")
	found, err := s.steadyLogins(ctx, param)
	if err != nil && !saysNone(err) {
		return nil, err
	}
	shared, apart := found, [2][]uint64{}
	if strings.Contains(param, `\`) {
		escaped, second := s.steadyLogins(ctx, strings.ReplaceAll(param, `\`, `\\`))
		if second != nil && !saysNone(second) {
			return nil, second
		}
		if second == nil {
			err = nil
		}
		shared, apart = compared(found, escaped)
	}
	if err != nil {
		return nil, err
	}
	if fit, sampled, err := s.sample(ctx, mask, excluded, shared); err != nil || fit < sampled {
		return nil, cmp.Or(err, errOtherGroups)
	}
	for _, part := range apart {
		fit, sampled, err := s.sample(ctx, mask, excluded, part)
		switch {
		case err != nil:
			return nil, err
		case fit == sampled:
			shared = append(shared, part...)
		case fit > 0:
			return nil, errOtherGroups
		}
	}
	return shared, nil
}

// errOtherGroups says that a list has logins of groups that were not asked for.
var errOtherGroups = errors.New("the answer has logins of other groups than were asked for")

// saysNone tells a readable "there is none" (Traps 11).
func saysNone(err error) bool {
	var code *codeError
	return errors.As(err, &code) && (code.code == codeNothing || code.code == codeNotFound)
}

// compared tells what two sorted lists share, and what each has alone.
func compared(a, b []uint64) (shared []uint64, apart [2][]uint64) {
	for _, login := range a {
		if _, found := slices.BinarySearch(b, login); found {
			shared = append(shared, login)
		} else {
			apart[0] = append(apart[0], login)
		}
	}
	for _, login := range b {
		if _, found := slices.BinarySearch(a, login); !found {
			apart[1] = append(apart[1], login)
		}
	}
	return shared, apart
}

// steadyLogins reads a list until an answer has all that the answer before had.
func (s *Session) steadyLogins(ctx context.Context, param string) ([]uint64, error) {
	before, err := s.readLogins(ctx, param)
	if err != nil {
		return nil, err
	}
	for range mostLoginReads - 1 {
		next, err := s.readLogins(ctx, param)
		if err != nil {
			return nil, err
		}
		if holdsAll(next, before) {
			return next, nil
		}
		before = next
	}
	return nil, fmt.Errorf("read %d times, and each time logins were missing that the answer before had", mostLoginReads)
}

// holdsAll tells whether sorted whole has all of sorted part.
func holdsAll(whole, part []uint64) bool {
	for _, login := range part {
		if _, found := slices.BinarySearch(whole, login); !found {
			return false
		}
	}
	return true
}

// readLogins asks once. Login 0, a login twice or what is no number costs the connection.
func (s *Session) readLogins(ctx context.Context, param string) ([]uint64, error) {
	e, err := s.get(ctx, "user/logins", url.Values{"group": {param}})
	if err != nil {
		return nil, err
	}
	var list []scalar
	if e.answer == nil || json.Unmarshal(e.answer, &list) != nil {
		return nil, s.odd(fmt.Errorf("%w: no list of logins", errGarbled))
	}
	logins := make([]uint64, len(list))
	for i, text := range list {
		if logins[i], err = text.uint(); err != nil || logins[i] == 0 {
			return nil, s.odd(fmt.Errorf("%w: a login is no number", errGarbled))
		}
	}
	slices.Sort(logins)
	if len(slices.Compact(slices.Clone(logins))) != len(logins) {
		return nil, s.odd(fmt.Errorf("%w: a login is listed twice", errGarbled))
	}
	return logins, nil
}

// sample asks the first, the middle and the last login for their group: how many were asked, and how many fall under the mask. One that was
// closed since proves nothing.
func (s *Session) sample(ctx context.Context, mask string, excluded []string, logins []uint64) (fit, sampled int, err error) {
	if len(logins) == 0 {
		return 0, 0, nil
	}
	for _, login := range slices.Compact([]uint64{logins[0], logins[len(logins)/2], logins[len(logins)-1]}) {
		account, err := s.readAccount(ctx, login)
		if errors.Is(err, credit.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("read the group of login %d: %w", login, err)
		}
		sampled++
		if matchMask(mask, account.Group) && !slices.ContainsFunc(excluded, func(x string) bool { return matchMask(x[1:], account.Group) }) {
			fit++
		}
	}
	return fit, sampled, nil
}
