// Package store keeps the books of creditonce in one bbolt file. It is the only package that knows bbolt.
//
// What it promises:
//
//   - A verb is one transaction. It answers only after its commit returned nil: what a caller was told is on
//     disk, and what a caller was refused left nothing behind.
//   - All uniqueness lives in that transaction: one event a message key, one row a unit, one row a reference,
//     one row a deal, one deposit a code, one open task a discrepancy, one answer an idempotency key.
//   - A row is written only by its [table], which moves every index entry with it. [DB.Verify] recomputes all
//     of them from the rows, both ways.
//   - Every value carries a checksum over its bucket, its key and itself, and every read checks it: bbolt has
//     none on its data pages, so a flipped bit would be another amount.
//   - After any commit error the store serves nothing more, neither writes nor reads: whether the transaction
//     is on disk cannot be known by this process (facts of bbolt: a failed commit may be visible at the next
//     start, and a repeated fsync may lie). See [DB.Failed].
//
// The discipline of a transaction function, which the committer depends on: it may run more than once, so it
// is pure. In it there is no network, no file, no clock, no randomness, no log, no channel and no change of
// process memory but its own result variables, which every run sets anew. It reads and decides first and
// stages its writes; the committer applies them when nothing can be refused any more.
//
// All writes go through the committer (committer.go). Nothing else in this package begins a write transaction
// on an open store, and bbolt's Batch is not used: it would run a function of one caller again because another
// one failed, and wait on a timer.
//
// Reads copy out what they need and end; no read transaction is held across I/O or a caller's code. A long one
// keeps bbolt from reusing pages, and the file from ever shrinking again.
//
// The domain rules are not here: they are the pure functions of package credit, which a verb calls with what
// it read.
package store
