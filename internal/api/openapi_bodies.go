package api

import (
	"slices"

	"creditonce/credit"
)

// pathSchema is the form of a parameter of the path.
func (r route) pathSchema(name string) *schema {
	switch {
	case name == "server":
		return labelSchema("The MT5 server's name in creditonce's configuration (mt5.servers)", "main")
	case name == "login":
		return loginSchema("The MT5 login: digits, without leading zeros, up to 18446744073709551615")
	case name == "code" && r.open():
		return wordOf("A problem's code", problemCodes()...)
	default:
		return codeSchema("The deposit's code")
	}
}

func labelSchema(description, example string) *schema {
	return text(description, labelForm.String(), example)
}

func loginSchema(description string) *schema { return text(description, loginForm.String(), "50001") }

func idSchema(description, example string) *schema {
	return text(description+": text, since it may have 64 bits", formID, example)
}

func codeSchema(description string) *schema { return text(description, formCode, exampleCode) }

func printable(description, example string) *schema {
	s := text(description, formPrintable, example)
	s.MinLength, s.MaxLength = 1, maxClient
	return s
}

func currencySchema(description string) *schema {
	return text(description, currencyForm.String(), "USD")
}

func amountSchema(description string) *schema {
	s := text(description, formAmount, "500.00")
	s.Not = &schema{Pattern: formZero}
	return s
}

func pageSchema(name string) *schema {
	return objectOf("One page of a list",
		must("items", listOf("At most limit of them; a page may be short, even empty, and still lead on", ref(name))),
		must("next", orNull(&schema{Type: isA("string"), Description: "The cursor of the page that follows; null at the end"})),
	)
}

func newAccountSchema() *schema {
	return closed("A login as your server knows it",
		must("client", printable("Your own id of the client, as in your deposits: 1 to 64 printable characters", "client-01")),
		must("currency", currencySchema("The account's currency, as MT5 writes it")),
		must("digits", wholeNumber("Decimal places of that currency at MT5", 0, maxAccountDigits, 2)),
	)
}

func accountSchema() *schema {
	return objectOf("A registered login",
		must("server", labelSchema("The MT5 server's name in the configuration", "main")),
		must("login", idSchema("The MT5 login", "50001")),
		must("client", printable("The client who owns it", "client-01")),
		must("currency", currencySchema("The account's currency")),
		must("digits", wholeNumber("Decimal places of that currency", 0, maxAccountDigits, 2)),
		must("created_at", timeText("When it was registered", exampleTime)),
		must("updated_at", timeText("When it was changed last", exampleTime)),
	)
}

func newDepositSchema() *schema {
	s := closed("What a client is about to pay, and what is to be credited for it",
		must("client", printable("The signed-in client, who must own the login", "client-01")),
		must("server", labelSchema("The MT5 server's name in creditonce's configuration", "main")),
		must("login", loginSchema("The MT5 login that gets the money: digits in quotes")),
		must("provider", labelSchema("The payment provider's name in creditonce's configuration", "stripe-demo")),
		must("paid", refAs("NewMoney", "What the client pays at the provider")),
		must("credited", refAs("NewMoney", "What the login gets, in the account's currency")),
		optional("rate", refAs("Rate", "Needed where the two currencies differ, and only there")),
		optional("code", codeSchema("A code of your own: 22 to 64 of A-Z a-z 0-9 _ -, never used before. Without it 128 bits are drawn")),
		optional("expires_at", timeText("Until when it may be paid: RFC 3339, years 2000 to 9998. Not together with expires_in", "2026-12-01T12:00:00Z")),
		optional("expires_in", text("For how long it may be paid, such as 30m or 24h. Without either, the configured life", lifeForm.String(), "24h")),
	)
	s.Not = &schema{Required: []string{"expires_at", "expires_in"}}
	return s
}

func newMoneySchema() *schema {
	return closed("An amount",
		must("amount", amountSchema("More than 0, as a plain decimal in quotes, with at most the places of the currency")),
		must("currency", currencySchema("3 to 12 upper case letters or digits")),
	)
}

func rateSchema() *schema {
	value := text("Units of the credited currency for one unit of the paid one, more than 0", formRate, "1.0850")
	value.Not, value.MaxLength = &schema{Pattern: formZero}, 60
	return closed("The rate of a conversion: paid x rate must be credited within one minor unit",
		must("value", value),
		must("source", printable("Where the rate is from, for people", "bank table")),
		must("at", timeText("When it was taken: RFC 3339, not in the future", exampleTime)),
	)
}

func depositSchema() *schema {
	return objectOf("A deposit, with what a return page may show",
		must("code", codeSchema("It travels with the payment and finds it again")),
		must("state", ref("DepositState")),
		must("server", labelSchema("The MT5 server's name in the configuration", "main")),
		must("login", idSchema("The MT5 login", "50001")),
		must("paid", refAs("Money", "What the client is to pay; once it is credited or on its way, what the provider says was paid")),
		must("credited", refAs("Money", "What the login is to get; once it is credited or on its way, what it gets: less, where people released another amount")),
		must("created_at", timeText("When it was made", exampleTime)),
		must("expires_at", timeText("Until when it may be paid", "2026-12-01T12:00:00Z")),
		optional("closed_at", timeText("When your server closed it; absent while it has not", exampleTime)),
		optional("warnings", listOf("What is allowed and may surprise; only where the deposit is made", ref("Warning"))),
		optional("dry_run", &schema{Type: isA("boolean"), Description: "true: nothing was written; else absent"}),
	)
}

// recordSchema is a deposit with what no return page shows.
func recordSchema() *schema {
	return objectOf("A deposit for your own server's eyes", append(depositSchema().Properties,
		must("client", printable("The client", "client-01")),
		must("provider", labelSchema("The provider's name in the configuration", "stripe-demo")),
	)...)
}

func warningSchema() *schema {
	return objectOf("Something that is allowed and may surprise",
		must("code", &schema{Type: isA("string"), Description: "For programs; per_login_day: paid now, it would take the login over its limit of the UTC day"}),
		must("detail", &schema{Type: isA("string"), Description: "For people"}),
	)
}

func moneySchema() *schema {
	return objectOf("An amount, exactly",
		must("amount", text("Decimal text with all places of the currency", formMoney, "500.00")),
		must("currency", currencySchema("The currency")),
		must("minor", text("The same in minor units: text, since it may have more than 53 bits", formDigits, "50000")),
		must("exponent", wholeNumber("Decimal places of the currency", 0, credit.MaxExponent, 2)),
	)
}

func creditSchema() *schema {
	return objectOf("What became of one payment, or one part of it",
		must("id", idSchema("The credit's number", "42")),
		must("kind", wordOf("What it does: a deposit adds to the account", texts([]credit.Kind{
			credit.KindDeposit, credit.KindRefund, credit.KindChargeback, credit.KindChargebackReversal, credit.KindWithdrawal, credit.KindWithdrawalReturn,
		})...)),
		must("state", ref("CreditState")),
		must("holds", listOf("Why it waits; empty unless state is held", ref("Hold"))),
		optional("limit", refAs("Limit", "The limit that holds it")),
		optional("deposit", codeSchema("The deposit's code; absent until the deposit is known")),
		optional("client", &schema{Type: isA("string"), Description: "The deposit's client; absent until the deposit is known"}),
		optional("server", labelSchema("The MT5 server; absent until the deposit is known", "main")),
		optional("login", idSchema("The MT5 login; absent until the deposit is known", "50001")),
		must("provider", labelSchema("The provider's name in the configuration", "stripe-demo")),
		must("payment", &schema{Type: isA("string"), Description: "The provider's id of the payment", Examples: []any{"pi_123"}}),
		optional("part", &schema{Type: isA("string"), Description: "The part, of a payment with several"}),
		must("paid", refAs("Money", "What the provider says was paid")),
		must("paid_at", timeText("When, by the provider's clock", exampleTime)),
		optional("credited", refAs("Money", "What the login gets; absent until the deposit is known")),
		optional("reference", &schema{Type: isA("string"), Description: "The deal's comment at MT5", Examples: []any{"dep:8QK800AFQN6Y47J371"}}),
		optional("ticket", idSchema("The MT5 deal; absent until state is done", "4294967301")),
		must("attempts", wholeNumber("Calls to MT5 that were begun", 0, 1000, 1)),
		must("created_at", timeText("When the payment was taken in", exampleTime)),
		must("updated_at", timeText("When it changed last", exampleTime)),
	)
}

func holdSchema() *schema {
	return objectOf("One reason why a credit waits",
		must("code", &schema{Type: isA("string"), Description: "For programs; new ones may come", Examples: []any{string(credit.HoldLimit)}}),
		must("text", &schema{Type: isA("string"), Description: "For people"}),
	)
}

func limitSchema() *schema {
	return objectOf("A limit that holds a credit, as it is configured now",
		must("name", wordOf("Its name in the configuration", limitPerLoginDay)),
		must("most", refAs("Money", "The most that a login gets within a UTC day")),
	)
}

func entrySchema() *schema {
	states := texts(credit.States())
	return objectOf("One step in a credit's life",
		must("at", timeText("When", exampleTime)),
		must("move", &schema{Type: isA("string"), Description: "What moved it", Examples: []any{"claimed"}}),
		must("from", wordOf("The state before; empty at birth", slices.Concat([]string{""}, states)...)),
		must("to", ref("CreditState")),
		optional("reason", &schema{Type: isA("string"), Description: "Why, for people"}),
	)
}

func storySchema() *schema {
	return objectOf("A deposit with all that became of its payments",
		must("deposit", ref("DepositRecord")),
		must("credit", orNull(refAs("Credit", "What took the deposit; null until a payment has arrived"))),
		must("history", listOf("Its steps, the oldest first", ref("HistoryEntry"))),
		must("further", listOf("Payments that came after the one that took the deposit", ref("Credit"))),
	)
}

func problemSchema() *schema {
	return objectOf("Why a request was not carried out (RFC 9457)",
		must("type", &schema{Type: isA("string"), Format: "uri-reference", Description: "The page about this code, on this listener",
			Examples: []any{problemPath + kindNotFound.code}}),
		must("title", &schema{Type: isA("string"), Description: "The code in words"}),
		must("status", wholeNumber("The HTTP status", 400, 599, 404)),
		must("code", ref("ProblemCode")),
		must("detail", &schema{Type: isA("string"), Description: "What is wrong here and what to do, for people"}),
		must("instance", &schema{Type: isA("string"), Description: "The request's id, as in X-Request-ID"}),
		optional("errors", listOf("The fields at fault, at most 20", ref("FieldFault"))),
	)
}

func fieldFaultSchema() *schema {
	return objectOf("A field that cannot be understood",
		must("field", &schema{Type: isA("string"), Description: "Its path in the body, or its name in the address", Examples: []any{"paid.amount"}}),
		must("code", &schema{Type: isA("string"), Description: "What is wrong with it, for programs", Examples: []any{"bad_amount"}}),
		must("detail", &schema{Type: isA("string"), Description: "The same for people. The field's value is never repeated"}),
	)
}
