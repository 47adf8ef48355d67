// Package adyen reads Adyen's settlement details report (providers.md §2.2): one row for each movement of money in a batch, the payout of
// the batch among them. The payments accounting report, which tells the life of payments and not what was settled, is refused.
package adyen
