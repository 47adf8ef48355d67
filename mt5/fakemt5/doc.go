// Package fakemt5 is a MetaTrader 5 server that speaks the server-side Web API
// over HTTPS, so that a client can be tested and shown without a broker. It
// imports no other package of the project: one mistake cannot hide on both sides.
//
// Start serves the wire on one address and, when asked, a control port in plain
// HTTP on loopback. The control port (Control is its Go client) sets faults at
// run time and shows what really happened. Every deal is written to an
// append-only journal and fsynced before the answer leaves.
//
// # Documented facts, and where
//
// The section numbers are those of the fact sheet mt5-webapi.md.
//
//   - Paths, GET and POST alike, envelope, string scalars: §1.1, §1.2, §1.3.
//   - Session bound to the TCP connection, 180 s idle close, test/access as the
//     ping, quit: §1.1.
//   - auth: version >= 484, agent without spaces, type manager, 10 s between
//     start and answer: §1.3; the hashes: §2; codes 1001, 1011, 1012: §4.
//   - trade/balance: types 2 to 6, other types 3; above 1,000,000,000 4005;
//     10019 above free margin, balance or credit; check_margin absent means 1;
//     type 5 does not look at free margin; comment cut at 31 UTF-16 units: §1.3, §5, §6.
//   - deal/get_page: at most 100 rows, oldest first, window inclusive: §1.3.
//   - Deal times and windows are server wall clock, not UTC: §5.
//   - user/logins: the logins of a comma list of group masks, in one answer (MetaQuotes' pages, Users, Get List; §3, USER_LOGINS).
//   - Deal, user, account and group fields: §1.3, §5. Balance deals carry the amount in Profit.
//   - time/get: TimeZone in minutes, Daylight, DaylightState: §1.3.
//   - Editing and deleting deals leaves the balance alone: §Traps 17.
//
// # Guesses of this fake
//
// No source settles these; what can be switched is a field of Wire or of its part Unsettled.
//
//   - HTTP status and code of every refusal: unknown login, unknown ticket, a login
//     outside the manager's groups, a dead session, a refused authentication.
//   - Answers to an empty window, to a page of more than 100 rows, for an idle account.
//   - auth/start answers for any login and auth/answer refuses; version below 484
//     gives 1010, a bad agent or type 3, an answer after 10 s or without a start 1001.
//   - Amount zero, exponent form and more decimals than the currency has give 3; an account that is disabled or
//     read-only takes deposits all the same; the balance cannot go below zero.
//   - A page of 0 rows gives 3. Any number of sessions and requests is served.
//   - user/logins lists by login, leaves out what the manager cannot reach, and gives an empty list where there is none.
//   - Charge, correction and bonus move the balance, only type 3 moves the credit.
//   - check_margin=0 lifts the margin check only (Wire.RawSkipsBalance lifts both).
//   - A comment cut inside a surrogate pair loses the whole pair.
//   - Dealer is the manager's login, Reason is 2 (dealer), DaylightState adds 60 minutes (Zone.DSTMinutes).
//   - Oldest first means by server time and then by ticket, also in the repeated autumn hour.
//   - Names and values of the cookie; common/get numbers; all answer texts after the code.
//   - deal/update, the raw protocol and the old REST names do not exist here (404).
package fakemt5
