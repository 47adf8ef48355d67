// Package invariant says, in one function, what must be true of the world of creditonce at every moment: what the
// provider was told, what MT5 did, what the store holds and what was logged. Every layer of tests asks it after what it
// did, and the service asks it about its own store while it runs (design §12, §13.1; the list is docs/invariants.md).
//
// Its expectations are written down once more from the design and share no code with what they judge: no verdict, no
// transition, no table of legal moves, no reference and no digest comes from package credit, of which only the plain
// records are used.
//
// Not here yet, because nothing in the product makes such facts: I-M11 (the double-entry ledger), I-M13 (reversals as
// rows of their own), I-W1 to I-W5 (withdrawals), I-L3 (reconcile). I-L4 (nothing left running) is what testing/synctest
// enforces.
package invariant
