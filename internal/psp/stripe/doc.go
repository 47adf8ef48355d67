// Package stripe asks Stripe's API what happened: the list of events, for the pull that finds what no webhook brought
// (design §5.6, §12), and payouts with their balance transactions, for reconciliation (design §10). How it asks is internal/psp/ask; both import
// the standard library only, and share no code with webhook/fakepsp, which plays the other side in tests.
//
// What it promises: an answer is complete, or the error says why it is not; the key travels in the Authorization header
// and stands in no error; requests only read, so they are repeated where that can help, and never followed elsewhere.
package stripe
