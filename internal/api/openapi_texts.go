package api

// Texts and examples of the document. The examples fit the folder that `creditonce demo --dir` makes.
const (
	exampleCode = "Zk3vQ8pX1sD5uF7hJ9kL2w"
	exampleTime = "2026-11-30T12:00:00Z"

	exampleNewAccount = `{"client":"client-01","currency":"USD","digits":2}`
	exampleAccount    = `{"server":"main","login":"50001","client":"client-01","currency":"USD","digits":2,` +
		`"created_at":"2026-11-30T12:00:00Z","updated_at":"2026-11-30T12:00:00Z"}`
	exampleNewDeposit = `{"client":"client-01","server":"main","login":"50001","provider":"stripe-demo",` +
		`"paid":{"amount":"123.45","currency":"USD"},"credited":{"amount":"123.45","currency":"USD"}}`
	exampleMoney   = `{"amount":"123.45","currency":"USD","minor":"12345","exponent":2}`
	exampleDeposit = `{"code":"Zk3vQ8pX1sD5uF7hJ9kL2w","state":"open","server":"main","login":"50001",` +
		`"paid":` + exampleMoney + `,"credited":` + exampleMoney + `,` +
		`"created_at":"2026-11-30T12:00:00Z","expires_at":"2026-12-01T12:00:00Z"}`
	exampleRecord = `{"code":"Zk3vQ8pX1sD5uF7hJ9kL2w","state":"open","server":"main","login":"50001",` +
		`"paid":` + exampleMoney + `,"credited":` + exampleMoney + `,` +
		`"created_at":"2026-11-30T12:00:00Z","expires_at":"2026-12-01T12:00:00Z","client":"client-01","provider":"stripe-demo"}`
	exampleCredit = `{"id":"42","kind":"deposit","state":"done","holds":[],"deposit":"Zk3vQ8pX1sD5uF7hJ9kL2w","client":"client-01",` +
		`"server":"main","login":"50001","provider":"stripe-demo","payment":"pi_123","paid":` + exampleMoney + `,` +
		`"paid_at":"2026-11-30T12:01:00Z","credited":` + exampleMoney + `,"reference":"dep:8QK800AFQN6Y47J371","ticket":"4294967301",` +
		`"attempts":1,"created_at":"2026-11-30T12:01:01Z","updated_at":"2026-11-30T12:01:02Z"}`
	exampleStory = `{"deposit":` + exampleRecord + `,"credit":null,"history":[],"further":[]}`

	exampleProblem = `{"type":"/docs/problems/not_found","title":"There is no such record","status":404,"code":"not_found",` +
		`"detail":"there is no deposit with this code","instance":"kV3yQe0T7m2b4xYb0Wc1Zg"}`

	aboutAPI = `Your own server (the client portal) talks to this API; browsers never do.

1. Register each MT5 login with the client who owns it (a key with accounts:write).
2. When a signed-in client wants to pay, make a deposit (a key with deposits:write). Its code travels with the payment, at Stripe as
   metadata creditonce_deposit. The login and the amount come from this record and from nowhere else.
3. Show the deposit's state on the return page (deposits:read). The return page only reads; the provider's signed webhook is what confirms.

Requests and answers are JSON in UTF-8. A request with an unknown, repeated or wrongly cased field is refused, and so is one with an unknown
query parameter: nothing is ever ignored. Answers may get more fields: pass over what you do not know. Ids of 64 bits and amounts are
texts. Times are RFC 3339; answers are in UTC.

What is refused has changed nothing. Errors are problems (RFC 9457) with a stable code. Repeat a request after 429 or 503 when Retry-After
says so, and after a lost answer at once: PUT, GET and DELETE may always be repeated, POST with the same Idempotency-Key.`

	aboutKeys = "A key that `creditonce keys new` made, as \"Authorization: Bearer co_...\". accounts:write and deposits:write never share a key."

	aboutDepositStates = "open: not paid yet. paid: the payment is known and waits for its turn. crediting: on its way to MT5. credited: on the account. " +
		"review: a person looks at it. expired: not paid in time. closed: taken back before it was paid."

	aboutCreditStates = "held: a person or a deposit record must come first. pending: waits for its turn. claimed: a call to MT5 may be under way. " +
		"unknown: nobody knows whether MT5 applied it, it is looked up. done: one verified deal. failed: MT5 refused, a person decides. " +
		"cancelled: closed by people without a deal."
)
