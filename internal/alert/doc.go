// Package alert tells people about tasks and mode changes, by e-mail and by signed webhook. What is told stands in the
// store's outbox, written in the transaction of what it tells. A Sender takes it from there: it collects for a short
// while, fixes in the store what one message holds, sends that message until it is taken, and records that it was. A
// message therefore goes out at least once; one that goes out again, after a crash too, is the same under the same id.
package alert
