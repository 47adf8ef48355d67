// Package paypal asks PayPal's API what moved the account's balance: the transaction search (GET /v1/reporting/transactions), for reconciliation
// (design §10). How it asks is internal/psp/ask; both import the standard library only.
//
// What it promises: a list is whole, or the error says why it is not; secret and token travel in the Authorization header and stand in no error;
// requests only read, so they are repeated where that can help, and never followed elsewhere; what PayPal knows of the payers is not asked for.
package paypal
