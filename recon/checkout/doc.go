// Package checkout reads what Checkout.com settled (providers.md §2.4): the settlement breakdown, which has a row for every movement of a
// payout, and the payouts report, which has a row for every payout. The two are one list: the breakdown's rows carry the payout's id and
// never the payout itself (its "Merchant Payout" row is the fee for it), the payouts report gives the payout and no movement. Imported in
// either order, once or twice, no money is counted twice; what a payout differs from its rows by is seen by the comparison, which has both.
package checkout
