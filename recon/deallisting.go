package recon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// dealListing is one listing under way.
type dealListing struct {
	q    DealQuery
	s    DealSession
	emit func(Deal) error

	list    DealList
	asked   []askedLogin // by login
	digests map[uint64]loginDigest
	faults  []string // what makes the list incomplete, beside logins
	stopped string   // why nothing more can be asked
	wrong   bool     // the rule of the server's clock has been found wrong
	done    int      // logins that are read or missing
	begun   bool     // a login has been asked: the next one waits for Pause
}

// askedLogin is a login of the list and how far it has come.
type askedLogin struct {
	login  uint64
	anchor *credit.Anchor
	state  loginState
	tries  int
	denied int    // times that MT5 said that it does not exist
	gone   uint64 // the newest known deal, which MT5 denied when asked for it; 0: it was not, or it did not
	reason string // why the last try gave no answer; empty: it did, or there was none
	said   string // the newest of the reasons
}

type loginState int

const (
	loginOpen loginState = iota
	loginRead
	loginMissing
)

// run returns only what emit returned; the end of ctx is the caller's to see.
func (l *dealListing) run(ctx context.Context) error {
	if !l.reach(ctx) {
		l.gather(nil)
		return nil
	}
	l.gather(l.groups(ctx))
	for try := range dealTries {
		if l.done == len(l.asked) || (try > 0 && !l.wait(ctx, l.q.Again)) {
			return nil
		}
		if err := l.pass(ctx); err != nil || l.stopped != "" || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// pass asks for every login that is open, those that were asked least first, until too many in a row give no answer: then it is not the logins,
// and the others would wait for as many time-outs as there are of them.
func (l *dealListing) pass(ctx context.Context) error {
	var open []*askedLogin
	for i := range l.asked {
		if l.asked[i].state == loginOpen {
			open = append(open, &l.asked[i])
		}
	}
	slices.SortStableFunc(open, func(a, b *askedLogin) int { return cmp.Compare(a.tries, b.tries) })
	failed := 0
	for _, a := range open {
		if failed == mostFailed || (failed > 1 && !l.wait(ctx, l.q.Again)) {
			return nil
		}
		a.tries++
		a.reason = ""
		if err := l.take(ctx, a); err != nil || l.stopped != "" || ctx.Err() != nil {
			return err
		}
		if failed++; a.reason == "" {
			failed = 0
		}
	}
	return nil
}

// reach brings the session up, or says why the listing ends.
func (l *dealListing) reach(ctx context.Context) bool {
	var err error
	for try := range dealTries {
		if try > 0 && !l.wait(ctx, l.q.Again<<(try-1)) {
			return false
		}
		if err = l.s.Ready(ctx); err == nil {
			return true
		}
	}
	l.stopped = fmt.Sprintf("MT5 cannot be reached, tried %d times: %s; see that the server is up and lets our manager in, then run again", dealTries, short(err.Error()))
	return false
}

// wait tells whether the time has passed; false: ctx ended.
func (l *dealListing) wait(ctx context.Context, d time.Duration) bool {
	return d <= 0 && ctx.Err() == nil || l.q.Clock.Wait(ctx, l.q.Clock.Boot()+d, nil) == nil
}

// groups lists the logins of the masks, mask by mask, so that one which cannot be read costs no other.
func (l *dealListing) groups(ctx context.Context) []uint64 {
	var wanted, excluded []string
	for _, mask := range l.q.Groups {
		if strings.HasPrefix(mask, "!") {
			excluded = append(excluded, mask)
		} else {
			wanted = append(wanted, mask)
		}
	}
	var all []uint64
	for _, mask := range wanted {
		logins, err := l.loginsOf(ctx, append([]string{mask}, excluded...))
		switch {
		case ctx.Err() != nil:
			return all
		case err != nil:
			l.faults = append(l.faults, fmt.Sprintf("the logins of group mask %q cannot be listed: %s; correct the mask or the manager's rights, then run again", mask, short(err.Error())))
		case len(logins) == 0:
			l.list.Notes = append(l.list.Notes, fmt.Sprintf("MT5 shows no login under group mask %q", mask))
		}
		all = append(all, logins...)
	}
	return all
}

func (l *dealListing) loginsOf(ctx context.Context, masks []string) (logins []uint64, err error) {
	for try := range dealTries {
		if try > 0 && !l.wait(ctx, l.q.Again) {
			break
		}
		if logins, err = l.s.Logins(ctx, masks); err == nil {
			return logins, nil
		}
	}
	return nil, err
}

// gather makes the list of logins: the known and those of the groups, each once, by number.
func (l *dealListing) gather(found []uint64) {
	for _, k := range l.q.Known {
		l.asked = append(l.asked, askedLogin{login: k.Login, anchor: k.Anchor})
	}
	for _, login := range found {
		l.asked = append(l.asked, askedLogin{login: login})
	}
	slices.SortFunc(l.asked, func(a, b askedLogin) int {
		return cmp.Or(cmp.Compare(a.login, b.login), cmp.Compare(newest(b.anchor), newest(a.anchor)))
	})
	l.asked = slices.CompactFunc(l.asked, func(a, b askedLogin) bool { return a.login == b.login })
	l.list.Logins = len(l.asked)
	if l.q.Progress != nil {
		l.q.Progress(0, len(l.asked))
	}
}

// settle ends the asking for a login.
func (l *dealListing) settle(a *askedLogin, state loginState) {
	a.state = state
	l.done++
	if l.q.Progress != nil {
		l.q.Progress(l.done, len(l.asked))
	}
}

// take asks for one login. It returns only what emit returned.
func (l *dealListing) take(ctx context.Context, a *askedLogin) error {
	if l.begun && !l.wait(ctx, l.q.Pause) {
		return nil
	}
	l.begun = true
	seen := l.s.Look(ctx, credit.LookQuery{Login: a.login, Earliest: l.q.From, Control: a.anchor})
	switch {
	case ctx.Err() != nil:
		a.said = "not asked to the end"
		return nil //nolint:nilerr // the end of ctx is for the caller to see
	case seen.Complete:
		l.settle(a, loginRead)
		return l.give(a.login, seen)
	case seen.LoginMissing:
		a.denied++
		a.said = "MT5 says once that the login does not exist"
		if a.denied > 1 {
			l.settle(a, loginMissing)
		}
		return nil
	}
	if a.reason = short(seen.Reason); a.reason == "" {
		a.reason = "no complete answer"
	}
	a.said = a.reason
	// A session that met something odd may be of no use for the next login, and whether it is the login or the server decides whether one is asked.
	l.s.Drop("the deals of a login could not be read")
	if l.reach(ctx) && a.anchor != nil {
		l.askAnchor(ctx, a)
	}
	return nil
}

// askAnchor sees whether the deal that a look of the login rests on is there at all. A dealer may have deleted it, and a server that was put
// back has lost the newest deal of each login first: just then the rest must be read, or nobody would be told what is gone.
func (l *dealListing) askAnchor(ctx context.Context, a *askedLogin) {
	if _, err := l.s.Deal(ctx, a.anchor.Ticket); errors.Is(err, credit.ErrNotFound) {
		a.gone, a.anchor = a.anchor.Ticket, nil
	}
}

// give emits a login's deals in the window.
func (l *dealListing) give(login uint64, seen credit.Sighting) error {
	clock := l.q.Rule
	clock.Measured, l.list.Offset = seen.Offset, seen.Offset
	if why := clock.Contradicts(seen.Offset, l.q.Clock.Now(), l.q.Server); why != "" && !l.wrong {
		l.wrong = true
		l.faults = append(l.faults, why)
	}
	deals := slices.Clone(seen.Deals)
	slices.SortFunc(deals, func(a, b credit.Deal) int { return cmp.Compare(a.Ticket, b.Ticket) })
	sum, n := sha256.New(), 0
	for _, d := range deals {
		deal := Deal{Deal: d, Server: l.q.Server, Identity: l.q.Identity, At: clock.UTC(d.ServerTime)}
		if deal.At.Before(l.q.From) || (!l.q.Until.IsZero() && !deal.At.Before(l.q.Until)) {
			continue
		}
		n++
		l.list.Deals++
		_, _ = fmt.Fprintf(sum, "%d %d %d %q %q %d %d %d\n", d.Ticket, d.Login, d.Action, d.Amount.String(), d.Comment, d.Dealer, d.ServerTime, deal.At.Unix())
		if err := l.emit(deal); err != nil {
			return err
		}
	}
	if n > 0 {
		l.digests[login] = loginDigest(sum.Sum(nil))
	}
	return nil
}

// loginDigest is SHA-256 of one login's deals.
type loginDigest [sha256.Size]byte

// digestOf brings the logins' digests together, by login.
func digestOf(of map[uint64]loginDigest) string {
	sum := sha256.New()
	for _, login := range slices.Sorted(maps.Keys(of)) {
		var number [8]byte
		binary.BigEndian.PutUint64(number[:], login)
		one := of[login]
		_, _ = sum.Write(number[:])
		_, _ = sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// newest is the ticket of a login's newest known deal; 0: none is known.
func newest(a *credit.Anchor) uint64 {
	if a == nil {
		return 0
	}
	return a.Ticket
}
