// Package dlocal reads dLocal's settlement file (providers.md §2.16): a HEADER row with the totals of one transfer, and below it the rows
// that make it up, in six decimals. Documents, mail addresses and card numbers of payers stand in the file and are never kept.
package dlocal
