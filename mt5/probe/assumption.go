// Package probe asks an MT5 server what no document settles: how it answers what is empty, unknown or wrong, what it
// makes of a comment, when a deal shows. It works on one login in a test group, moves the smallest amount only where
// that was allowed, takes each back, and writes a report that the client then uses.
//
// The questions are those of mt5-webapi.md, "Not verified" and "Traps", as far as they can be asked.
package probe

// Assumption is one thing about an MT5 server that the client relies on, or would like to know.
type Assumption struct {
	ID      string
	Asks    string // the question
	Assumes string // what the client relies on; empty: it works either way
	Source  string // section of mt5-webapi.md
	Money   bool   // answered only by balance operations
	// Unaskable says why the probe does not ask; empty: it asks.
	Unaskable string
}

// Assumptions is the whole table, in the order of the report.
func Assumptions() []Assumption {
	var all []Assumption
	for _, part := range [][]Assumption{aboutServer, aboutLists, aboutUnknown, aboutSessions, aboutDeals, aboutAmounts, notAsked} {
		all = append(all, part...)
	}
	return all
}

var aboutServer = []Assumption{
	{ID: "rights.read", Asks: "may the manager read accounts, groups, deals and balances", Assumes: "all four are answered", Source: "§0"},
	{ID: "rights.personal", Asks: "does the manager see personal data (the client needs none)", Source: "§1.3 user/get"},
	{ID: "group.name", Asks: "is a group found by its name with single backslashes", Assumes: "by its name, or with each backslash doubled", Source: "Traps 6, 7"},
	{ID: "group.currency", Asks: "currency and digits of the login's group", Assumes: "as in the configuration", Source: "§1.3 group/get"},
	{ID: "account.state", Asks: "account/get for the login", Source: "§1.3 account/get, Traps 9"},
	{ID: "account.audit", Asks: "check_balance with fixflag 0: do balance and history agree", Assumes: "four sums, equal in pairs", Source: "§1.3 check_balance"},
	{ID: "wire.form", Asks: "case of keys, numbers as text, valid JSON", Assumes: "any case, text or number, bare backslashes at most", Source: "§1.2"},
	{ID: "wire.status", Asks: "which HTTP status came with which return code", Assumes: "readable refusals come with 200, 400 or 404", Source: "Not verified"},
	{ID: "clock.offset", Asks: "how far the server's clock is from UTC", Assumes: "whole quarters of an hour, within 30 s", Source: "§5, Traps 8"},
	{ID: "clock.zone", Asks: "zone and daylight saving by time/get, and whether they explain the offset", Source: "§1.3 time/get, Traps 8"},
}

var aboutLists = []Assumption{
	{ID: "empty.total", Asks: "get_total of an empty window", Assumes: "a total of 0, nothing, code 1 or code 13", Source: "Traps 11"},
	{ID: "empty.page", Asks: "get_page of an empty window", Assumes: "an empty list, nothing, code 1 or code 13", Source: "Traps 11"},
	{ID: "page.order", Asks: "order of the rows", Assumes: "oldest first", Source: "§1.3 deal/get_page"},
	{ID: "page.limit", Asks: "how many rows a page of 100 gives", Assumes: "as many as asked for", Source: "§1.3 deal/get_page"},
	{ID: "page.above", Asks: "get_page with total 101", Source: "Not verified"},
	{ID: "page.zero", Asks: "get_page with total 0", Source: "Not verified"},
	{ID: "window.from", Asks: "is a deal at the second from in the window", Source: "Not verified"},
	{ID: "window.to", Asks: "is a deal at the second to in the window", Source: "Not verified"},
}

var aboutUnknown = []Assumption{
	{ID: "unknown.user", Asks: "user/get for an unknown login", Assumes: "code 13 with HTTP 200 or 404", Source: "Not verified"},
	{ID: "unknown.account", Asks: "account/get for an unknown login", Source: "Not verified"},
	{ID: "unknown.audit", Asks: "check_balance for an unknown login", Source: "Not verified"},
	{ID: "unknown.total", Asks: "get_total for an unknown login", Source: "Not verified"},
	{ID: "unknown.page", Asks: "get_page for an unknown login", Source: "Not verified"},
	{ID: "unknown.ticket", Asks: "deal/get for an unknown ticket", Assumes: "code 13 with HTTP 200 or 404", Source: "Not verified"},
	{ID: "unknown.group", Asks: "group/get for an unknown group", Source: "Not verified"},
	{ID: "unknown.balance", Asks: "trade/balance for an unknown login", Assumes: "a listed refusal", Source: "Not verified", Money: true},
}

var aboutSessions = []Assumption{
	{ID: "session.none", Asks: "a request that never authenticated", Assumes: "HTTP 401 or 403, or the connection closes", Source: "§1.1"},
	{ID: "session.binding", Asks: "what carries a session: connection, cookie, either or both", Assumes: "connection and cookie together carry it", Source: "§1.1, Not verified"},
	{ID: "session.count", Asks: "how many sessions one manager may have at once", Assumes: "as many as the configuration opens", Source: "Not verified"},
	{ID: "session.dead", Asks: "a request after quit", Assumes: "HTTP 401 or 403, or the connection closes", Source: "§1.1"},
}

var aboutDeals = []Assumption{
	{ID: "rights.balance", Asks: "may the manager book balance operations", Assumes: "yes", Source: "§0", Money: true},
	{ID: "comment.reference", Asks: "a comment of 22 characters, as long as a reference", Assumes: "kept unaltered", Source: "§5", Money: true},
	{ID: "comment.31", Asks: "a comment of 31 characters", Assumes: "kept unaltered", Source: "§5", Money: true},
	{ID: "comment.32", Asks: "a comment of 32 characters", Source: "§5, Traps 5", Money: true},
	{ID: "comment.40", Asks: "a comment of 40 characters", Source: "§5, Traps 5", Money: true},
	{ID: "comment.plain", Asks: "blanks, case and : . _ - in a comment", Assumes: "kept unaltered", Source: "Traps 6", Money: true},
	{ID: "comment.escapes", Asks: "| = and backslash in a comment", Source: "Not verified", Money: true},
	{ID: "comment.letters", Asks: "letters beyond ASCII in a comment", Source: "§1.1", Money: true},
	{ID: "comment.astral", Asks: "a character beyond the basic plane in a comment", Source: "Not verified", Money: true},
	{ID: "deal.action", Asks: "action of the deal of a balance operation", Assumes: "2", Source: "§5", Money: true},
	{ID: "deal.amount", Asks: "where the amount stands", Assumes: "in Profit, signed, as sent", Source: "§5", Money: true},
	{ID: "deal.dealer", Asks: "dealer on our deals", Assumes: "our manager's login, else a warning", Source: "§5", Money: true},
	{ID: "deal.reason", Asks: "reason on our deals", Source: "Not verified", Money: true},
	{ID: "deal.visible", Asks: "time until a new deal shows in get, get_total and get_page", Assumes: "less than the quarantine leaves beside the longest call", Source: "Not verified", Money: true},
}

var aboutAmounts = []Assumption{
	{ID: "amount.zero", Asks: "a balance operation of 0", Source: "Not verified", Money: true},
	{ID: "amount.decimals", Asks: "an amount with more decimals than the currency", Source: "Not verified", Money: true},
	{ID: "amount.exponent", Asks: "an amount with an exponent", Source: "Not verified", Money: true},
	{ID: "amount.overdraw", Asks: "taking more than the balance", Assumes: "refused with code 10019", Source: "§1.3, Not verified", Money: true},
	{ID: "account.restored", Asks: "is the account as it was before", Assumes: "to the last digit that check_balance shows", Source: "design §2", Money: true},
}

var notAsked = []Assumption{
	{ID: "amount.nan", Asks: "an amount of NaN or infinity", Source: "Not verified", Unaskable: "a server that takes it could spoil the account's balance for good"},
	{ID: "account.disabled", Asks: "deposits to a disabled or read-only account", Source: "Not verified", Unaskable: "it would need the account's rights changed"},
	{ID: "account.archived", Asks: "deals of archived accounts", Source: "Not verified", Unaskable: "it would need an archived login"},
	{ID: "account.outside", Asks: "a login outside the manager's groups", Source: "Not verified", Unaskable: "it would touch another login"},
	{ID: "session.idle", Asks: "closing after 180 s without a request", Assumes: "not before 150 s", Source: "§1.1", Unaskable: "it takes longer than the rest together; a connection that closes while idle is noticed before a call"},
	{ID: "session.flood", Asks: "limits of requests and connections", Source: "§1.1", Unaskable: "finding them could lock the manager out"},
	{ID: "call.reset", Asks: "whether a queued operation of a reset connection still executes, and for how long", Assumes: "not after the quarantine", Source: "test-methods §9", Unaskable: "only a server under load shows it"},
	{ID: "call.refused403", Asks: "whether HTTP 403 can follow an executed operation", Assumes: "it can: unknown, settled by looking", Source: "§4", Unaskable: "the client is right either way"},
	{ID: "clock.switch", Asks: "when the server's clock changes for daylight saving", Assumes: "at most a day from the calendar's", Source: "Traps 8", Unaskable: "it happens twice a year"},
	{ID: "plugin.hooks", Asks: "whether a plugin refuses operations of some amounts, groups or hours", Source: "§4", Unaskable: "only the plugin's maker knows its rules"},
}
