// Package fakepsp is the simulated payment provider of the demo and the tests.
//
// It speaks Stripe's webhook wire (providers.md §2.1): event bodies, signatures, retries, repeats
// and disorder. It imports no other package of the project on purpose: its signing and its
// event shapes are written a second time from the same facts, so that one mistake cannot hide on
// both sides of the wire.
//
// The parts, from pure to wired: Maker draws ids and builds payments and events, Sign signs,
// journal.go keeps the provider's own append-only record, the courier delivers until 2xx, and
// Server puts a control port (see Control) in front of all that.
package fakepsp
