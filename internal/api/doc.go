// Package api is the client portal's HTTP API: the firm's own server registers logins, makes deposits and reads
// what a return page may show. It has an echo instance of its own, so no webhook route is ever answered here and
// no route of this package on the public listener (design §1.7).
//
// Its promises:
//
//   - A request that is refused has written nothing. What can be judged without the store is judged before the
//     store is asked; the rest is judged by the domain inside the deciding transaction.
//   - POST needs an Idempotency-Key. The same key with the same input is answered with the first answer, byte for
//     byte and with "Idempotency-Replayed: true", whatever has changed since (time, accounts, configuration);
//     with another input it is refused. Scope: route and name of the API key (design §5).
//   - JSON is read strictly: one object, no unknown, repeated or case-folded field, no number where text is
//     expected. Money is decimal text and is parsed exactly or refused; no floating point.
//   - Errors are RFC 9457 problems with a stable code. No answer holds any part of a request's body but field
//     names, any secret, or another client's data; what went wrong inside is told to the Observer alone.
//   - A query parameter that a call does not know, or that stands twice, is refused by name. Lists are read in pages of
//     bounded work; a cursor fits the list and filter that it was made for and no other.
//   - Requests are counted by key, and by address where no valid key comes with them, in bounded memory.
//   - Every problem's type is the path of a page that this listener serves: what the code means and what to do.
//   - GET only reads. No operator's decision is reachable here.
package api
