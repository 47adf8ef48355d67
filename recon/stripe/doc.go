// Package stripe reads what Stripe settled: the itemized report files ("payout reconciliation" and "balance change from activity") and the
// balance transactions of its API. Both give the same lines for the same movements, so that a file and a pull of one payout are one list.
package stripe
