package api

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"creditonce/credit"
)

// parameter is one query parameter of a call.
type parameter struct {
	name  string
	about string
	form  string   // what the text is: login, label, text, time, amount, currency, limit, cursor, choice
	among []string // of a choice
	check rule
}

// query holds the parameters of one request, well formed; absent ones have no entry.
type query map[string]string

const (
	defaultPage = 50
	largestPage = 200
)

var (
	paramClient          = parameter{"client", "only of this client", "text", nil, isPrintable}
	paramServer          = parameter{"server", "only on the MT5 server with this name", "label", nil, isLabel}
	paramLogin           = parameter{"login", "only of this login; needs server", "login", nil, isLogin}
	paramProvider        = parameter{"provider", "only of the provider with this name", "label", nil, isLabel}
	paramAccountCurrency = parameter{"currency", "only accounts in this currency", "currency", nil, isCurrency}
	paramDepositState    = choice("state", "only deposits in this state", texts(credit.DepositStates())...)
	paramCreditState     = choice("state", "only credits in this state", texts(credit.States())...)
	paramDryRun          = choice("dry_run", "true: make every check and write nothing", "true", "false")
	pageParameters       = []parameter{
		{"limit", "most items of a page, 1 to 200; 50 if absent", "limit", nil, isPageLimit},
		{"cursor", "next of the page before; the other parameters but limit must stay the same", "cursor", nil, isCursor},
	}
)

func choice(name, about string, among ...string) parameter {
	return parameter{name, about, "choice", among, func(text string) (code, detail string) {
		if !slices.Contains(among, text) {
			return "bad_choice", "want one of " + joined(among)
		}
		return "", ""
	}}
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func joined(words []string) string {
	out := ""
	for i, w := range words {
		if i > 0 {
			out += ", "
		}
		out += w
	}
	return out
}

// spanOf are the two ends of a half-open span of time.
func spanOf(name, happened string) []parameter {
	return []parameter{
		{name + "_from", happened + " at or after this time (RFC 3339)", "time", nil, isTime},
		{name + "_to", happened + " before this time (RFC 3339)", "time", nil, isTime},
	}
}

// amountParameters are a span of money, both ends included.
func amountParameters(what string) []parameter {
	return []parameter{
		{"currency", "only where the " + what + " is in this currency", "currency", nil, isCurrency},
		{"amount_from", "only where the " + what + " is this or more; needs currency", "amount", nil, isAmount},
		{"amount_to", "only where the " + what + " is this or less; needs currency", "amount", nil, isAmount},
	}
}

func isPageLimit(text string) (code, detail string) {
	if n, err := strconv.Atoi(text); err != nil || n < 1 || n > largestPage || strconv.Itoa(n) != text {
		return "bad_number", "want a whole number from 1 to " + strconv.Itoa(largestPage)
	}
	return "", ""
}

// readQuery takes the parameters that the call knows, each at most once. An ignored parameter could be one that the
// caller relies on, such as a filter or a dry run.
func readQuery(u *url.URL, known []parameter) (query, error) {
	if len(known) == 0 {
		if u.RawQuery != "" || u.ForceQuery {
			return nil, kindUnknownParameter.because("this call takes no query parameters")
		}
		return nil, nil
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, kindUnknownParameter.because("the query cannot be read; write name=value pairs joined by &, percent-encoded")
	}
	for _, name := range sortedKeys(values) {
		if !slices.ContainsFunc(known, func(p parameter) bool { return p.name == name }) {
			return nil, kindUnknownParameter.about(shownName(name), "there is no such query parameter here; check its spelling and case")
		}
		if len(values[name]) > 1 {
			return nil, kindRepeatedParameter.about(name, "give each query parameter once")
		}
	}
	q, faults := query{}, []fault(nil)
	for _, p := range known {
		if !values.Has(p.name) {
			continue
		}
		q[p.name] = values.Get(p.name)
		if code, detail := p.check(q[p.name]); code != "" {
			faults = append(faults, fault{p.name, code, detail})
		}
	}
	if faults = append(faults, q.lonely()...); len(faults) > 0 {
		return nil, invalid(faults)
	}
	return q, nil
}

func sortedKeys(values url.Values) []string {
	var out []string
	for name := range values {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// lonely finds parameters that mean nothing without another.
func (q query) lonely() (faults []fault) {
	for _, need := range [][2]string{{"login", "server"}, {"amount_from", "currency"}, {"amount_to", "currency"}} {
		if q.has(need[0]) && !q.has(need[1]) {
			faults = append(faults, fault{need[0], "missing_parameter", "give " + need[1] + " too"})
		}
	}
	return faults
}

func (q query) has(name string) bool {
	_, ok := q[name]
	return ok
}

// limit is how many items a page may hold.
func (q query) limit() int {
	n, err := strconv.Atoi(q["limit"])
	if err != nil {
		return defaultPage
	}
	return n
}

// login is 0 where the parameter is absent.
func (q query) login() uint64 {
	login, err := parseLogin(q["login"])
	if err != nil {
		return 0
	}
	return login
}

func (q query) span(name string) credit.TimeRange {
	return credit.TimeRange{From: q.time(name + "_from"), To: q.time(name + "_to")}
}

// time is zero where the parameter is absent; its form was checked.
func (q query) time(name string) time.Time {
	t, err := parseTime(q[name])
	if err != nil {
		return time.Time{}
	}
	return t
}

func (q query) amounts() (credit.AmountRange, error) {
	r := credit.AmountRange{Currency: q["currency"]}
	for name, end := range map[string]*credit.Amount{"amount_from": &r.Min, "amount_to": &r.Max} {
		if !q.has(name) {
			continue
		}
		var err error
		if *end, err = (moneyWish{q[name], r.Currency}).asSent(); err != nil {
			return r, err
		}
	}
	return r, nil
}
