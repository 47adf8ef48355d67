package stripe

// ListedTypes are the types that the pull of Stripe's own list asks for: those that say that money came, goes back or is
// contested. A list takes at most 20 (docs.stripe.com/api/events/list); the quiet types, which are stored and change nothing,
// and those that nobody knows, are left to the webhooks.
func ListedTypes() []string {
	return []string{
		"payment_intent.succeeded",
		"checkout.session.completed", "checkout.session.async_payment_succeeded",
		"refund.created", "refund.updated", "refund.failed", "charge.refund.updated", "charge.refunded",
		"charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed",
		"charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
	}
}
