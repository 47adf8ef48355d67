// Package mt5 is the client of MetaTrader 5's server-side Web API over HTTPS: it authenticates, reads accounts
// and deals, and makes balance calls. It implements credit.Session.
//
// Three properties carry the money, and the code is shaped by them:
//
//   - A balance call leaves this machine at most once. The package writes HTTP/1.1 itself on one TLS connection
//     per session (wire.go): there is no transport that could dial again or send again, no redirect, no proxy.
//   - "Not sent" is a count of bytes on the TCP connection since the call began, never an error's text.
//   - "Absent" is said only by a complete look (look.go): every page whole, of the right login, without a gap,
//     and a positive control on the same session.
//
// Section numbers in comments are those of mt5-webapi.md unless another paper is named. Nothing here was tried
// on a real server; where documents are silent the client accepts every answer that its comments list.
package mt5
