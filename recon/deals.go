package recon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// DealSession is a session with one MT5 server that nobody else uses: the running service's own sessions never wait for it. One request at a
// time. *mt5.Session is one.
type DealSession interface {
	// Ready connects and authenticates where needed; an error means that nothing can be asked now.
	Ready(ctx context.Context) error
	// Look reads every balance deal of a login, or says why the answer is not complete (design §7).
	Look(ctx context.Context, q credit.LookQuery) credit.Sighting
	// Deal asks for one deal; credit.ErrNotFound is MT5's word that there is none.
	Deal(ctx context.Context, ticket uint64) (credit.Deal, error)
	// Logins lists the logins of group masks, whole or with an error.
	Logins(ctx context.Context, masks []string) ([]uint64, error)
	// Drop resets the connection; the next call makes another.
	Drop(reason string)
}

// KnownLogin is a login that the store knows, with the newest deal known on it: the positive control of its look.
type KnownLogin struct {
	Login  uint64
	Anchor *credit.Anchor
}

// DealQuery asks for the balance deals (actions 2 to 6, mt5-webapi.md §5) of one MT5 server.
type DealQuery struct {
	Server   string    // label
	Identity string    // the server's own name
	From     time.Time // UTC; deals that are older are left out. Zero: the whole history
	Until    time.Time // UTC; deals that are not older are left out. Zero: all that are there

	Known  []KnownLogin
	Groups []string    // masks, "*" for any text, "!" in front excludes whatever its place; none: the known logins only
	Rule   ServerClock // how the server's clock runs; its Measured is not read: each look measures it

	Clock    credit.Clock
	Pause    time.Duration         // between two logins: a trade server that is busy with a listing is slow for traders
	Again    time.Duration         // before what failed is tried again; 0: 5 s
	Progress func(done, total int) // logins; may be nil. Called by the caller's own goroutine
}

// Bounds of a listing.
const (
	dealTries   = 3  // of everything that may fail
	mostFailed  = 20 // logins in a row that give no answer, in one pass
	mostNamed   = 20
	mostReason  = 300 // bytes of one reason
	secondsMore = 5 * time.Second
)

// LoginFailure is a login whose deals could not be read.
type LoginFailure struct {
	Login  uint64 `json:"login,string"`
	Reason string `json:"reason"`
}

// DealList is what a listing amounts to. Only when Complete is true does a deal's absence from it mean that MT5 has no such deal in the window.
type DealList struct {
	Server   string
	Identity string
	From     time.Time // UTC; no deal of the list is older
	Complete bool
	Reason   string   // why it is not complete, and what to do
	Notes    []string // what a person should know although it is complete

	Logins  int            // asked for
	Deals   int            // emitted
	Failed  []LoginFailure // the first 20, by login
	Missing []uint64       // logins that MT5 no longer has, by login
	Offset  time.Duration  // server clock minus UTC as it was measured last
	// Digest is SHA-256, in hex, over the logins that have deals, in order, each with SHA-256 of its deals by ticket: equal lists have equal
	// ones, in whatever order they were read.
	Digest string
}

// Source is the list as a run keeps it.
func (l DealList) Source() Source {
	return Source{
		List: ListDeals, Name: l.Server, Entity: l.Identity, Digest: l.Digest, Rows: l.Deals,
		Complete: l.Complete, Reason: l.Reason, Notes: slices.Clone(l.Notes), From: l.From,
	}
}

// ReadDeals reads the deals of the known logins and of those that the groups have now, and gives each to emit once, with its time in UTC: login
// by login, a login's deals by ticket, and only when the whole login has been read. What fails is tried two more times, and the listing goes on
// with the others meanwhile, so that the result names everything that could not be read. A server that cannot be reached ends it, and 20
// logins in a row that give no answer end one pass over them.
//
// A login of which MT5 says twice that it does not exist has no deals, and is noted. So is one whose newest known deal is gone: what a deleted
// deal proves no more, another one must prove, as on a login of which nothing is known. Anything else without a complete answer makes the list
// incomplete; that is no error. Errors are what emit returned, as it is, the end of ctx, and [credit.ErrInvalid] for a query that asks for
// nothing; the list then is not complete.
func ReadDeals(ctx context.Context, s DealSession, q DealQuery, emit func(Deal) error) (DealList, error) {
	if q.Server == "" || q.Identity == "" || q.Clock == nil || slices.ContainsFunc(q.Known, func(k KnownLogin) bool { return k.Login == 0 }) {
		return DealList{}, fmt.Errorf("list deals of %q: server, identity, clock or a login is missing: %w", q.Server, credit.ErrInvalid)
	}
	if q.Again == 0 {
		q.Again = secondsMore
	}
	l := &dealListing{q: q, s: s, emit: emit, digests: map[uint64]loginDigest{}, list: DealList{Server: q.Server, Identity: q.Identity, From: q.From}}
	err := l.run(ctx)
	if err == nil {
		err = ctx.Err()
	}
	l.conclude()
	if err != nil {
		l.list.Complete = false
		l.list.Reason = "the listing was ended: " + err.Error()
		if ctx.Err() != nil {
			return l.list, fmt.Errorf("list deals of %s: %w", q.Server, ctx.Err())
		}
	}
	return l.list, err
}

// conclude puts into words what the listing met.
func (l *dealListing) conclude() {
	out := &l.list
	out.Digest = digestOf(l.digests)
	for _, a := range l.asked {
		switch a.state {
		case loginRead:
		case loginMissing:
			out.Missing = append(out.Missing, a.login)
		case loginOpen:
			out.Failed = append(out.Failed, LoginFailure{Login: a.login, Reason: cmp.Or(a.said, "not asked")})
		}
	}
	l.tellGone()
	reasons := slices.Clone(l.faults)
	if l.stopped != "" {
		reasons = append(reasons, l.stopped)
	}
	if n := len(out.Failed); n > 0 {
		out.Failed = out.Failed[:min(n, mostNamed)]
		named := make([]string, len(out.Failed))
		for i, f := range out.Failed {
			named[i] = fmt.Sprintf("login %d: %s", f.Login, f.Reason)
		}
		reasons = append(reasons, fmt.Sprintf("the deals of %d of %d logins could not be read (%s%s); see what MT5 has against it, then run again",
			n, len(l.asked), strings.Join(named, "; "), more(n)))
	}
	if n := len(out.Missing); n > 0 {
		named := make([]string, min(n, mostNamed))
		for i := range named {
			named[i] = fmt.Sprint(out.Missing[i])
		}
		out.Notes = append(out.Notes, fmt.Sprintf("MT5 says of %s not exist; no deal of them is in the list: %s%s",
			plural(n, "login that it does", "logins that they do"), strings.Join(named, ", "), more(n)))
	}
	measured := l.q.Rule
	measured.Measured = out.Offset
	if note := measured.doubt(l.q.From, l.q.Clock.Now(), l.q.Server); note != "" && !l.q.From.IsZero() {
		out.Notes = append(out.Notes, note)
	}
	out.Reason, out.Complete = strings.Join(reasons, ". "), len(reasons) == 0
}

// tellGone notes the logins whose newest known deal MT5 denies.
func (l *dealListing) tellGone() {
	n := 0
	for _, a := range l.asked {
		if a.gone == 0 {
			continue
		}
		if n++; n <= mostNamed {
			l.list.Notes = append(l.list.Notes, fmt.Sprintf("deal %d, the newest known on login %d, is not at MT5 any more: deleted there, or the server was put back to an older state", a.gone, a.login))
		}
	}
	if n > mostNamed {
		l.list.Notes = append(l.list.Notes, fmt.Sprintf("the newest known deals of %d more logins are not at MT5 any more", n-mostNamed))
	}
}

// more says that not all are named.
func more(n int) string {
	if n <= mostNamed {
		return ""
	}
	return fmt.Sprintf(", and %d more", n-mostNamed)
}

// short keeps reasons readable in a list of twenty.
func short(reason string) string {
	if len(reason) <= mostReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:mostReason], "") + "…"
}
