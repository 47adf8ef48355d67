package api

import "net/http"

// problemPath is where the page of a problem is served; with the code it is the problem's type.
const problemPath = "/docs/problems/"

// problemText is what a problem means and what to do about it, for people.
type problemText struct {
	kind    kind
	meaning string
	remedy  string
}

// problemTexts lists every problem that the API answers with, in the order of the list page.
var problemTexts = []problemText{
	{kindUnauthorized, "No valid API key came with the request.", "Send the header Authorization: Bearer co_... once, with a key that the configuration lists."},
	{kindForbidden, "The key is valid and does not have the scope that this call needs.", "Use the key that was made for it. accounts:write and deposits:write are never on one key."},
	{kindRateLimited, "This key, or this address without a valid key, sends more requests than the configuration allows (api.rate).",
		"Wait as many seconds as the header Retry-After says and send the same request again, with the same Idempotency-Key where it has one."},
	{kindNoRoute, "Nothing is served at this address.", "Check the path against the documentation. Paths are exact: no slash at the end, no other case."},
	{kindNotFound, "The address is right, and there is no such record.", "Check the code, or server and login. Codes and names are exact."},
	{kindMethod, "The address does not take this method.", "The header Allow lists the methods that it takes."},

	{kindUnknownParameter, "The query has a parameter that this call does not know, or cannot be read.", "errors names the parameter. Check its spelling and case; nothing was ignored and nothing was done."},
	{kindRepeatedParameter, "A query parameter is given more than once.", "Give each parameter once; errors names it."},
	{kindCursor, "The cursor was made for another list or another filter, or was changed on its way.",
		"Send cursor exactly as next of the page before gave it, with the same parameters (limit may differ), or begin again without it."},

	{kindMediaType, "The body is not declared as JSON.", "Send one header Content-Type: application/json, without parameters other than charset=utf-8."},
	{kindEncoding, "The body is compressed.", "Send it as it is, without Content-Encoding."},
	{kindTooLarge, "The body is larger than any request of this API.", "Send at most 64 KiB."},
	{kindBodyCut, "The body broke off or came too slowly.", "Send it again, whole; with the same Idempotency-Key where there is one."},
	{kindMalformed, "The body is not one JSON object.", "Check it with a JSON parser. Text is UTF-8; numbers, true and null have one spelling."},
	{kindTrailing, "Something follows the JSON object.", "Send one object and nothing behind it."},
	{kindTooDeep, "The JSON is nested more deeply than any request of this API.", "Check the body against the documentation."},
	{kindDuplicateField, "A field stands twice in one object; upper and lower case count as the same.", "Name each field once: two readers could take different ones for true."},
	{kindInvalid, "Fields or parameters are missing, unknown or badly formed.", "errors names each with a code of its own; the list below says what they mean. Nothing was changed."},

	{kindKeyMissing, "A deposit needs the header Idempotency-Key.", "Send a text that is new for each deposit and the same for each repetition of it, such as your order's id."},
	{kindKeyBad, "The Idempotency-Key cannot be used.", "Send it once, with 1 to 255 printable ASCII characters."},
	{kindKeyReused, "The same Idempotency-Key came before, with another request.",
		"A new deposit needs a new key. To repeat the first request, send its body again as it was: another spelling of a value is another request."},

	{kindPlaces, "The amount has more decimal places than its currency has, at the provider or on the account.", "Nothing is rounded here: send an amount that fits. The detail says how many places there are."},
	{kindUnknownCurrency, "The provider does not take payments in this currency.", "Check paid.currency, and which provider the deposit names."},
	{kindUnknownServer, "No MT5 server with this name is configured.", "Use the name that the configuration gives the server (mt5.servers)."},
	{kindUnknownProvider, "No provider with this name is configured.", "Use the name that the configuration gives the provider (providers)."},
	{kindCodeTaken, "Another deposit has this code.", "Bring a code that is new, or leave code out and take the one that is drawn. Did the first request succeed? Read the deposit."},
	{kindBadCode, "The code cannot be used.", "A code is 22 to 64 characters of A-Z a-z 0-9 _ and -."},
	{kindUnknownAccount, "Nobody has registered the login.", "Register it first: PUT /v1/servers/{server}/accounts/{login}, with a key for accounts."},
	{kindForeignLogin, "The login is registered for another client.", "Check which client is signed in. A login changes its client by registering it again, with a key for accounts."},
	{kindWrongCurrency, "The account is kept in another currency, or with other decimal places.", "The detail says in which. Credit in that currency; convert with a rate where the client pays in another."},
	{kindBadAmount, "An amount is 0 or less.", "Amounts are more than 0; what the money does follows from the kind of operation."},
	{kindLimitPerCredit, "One deposit may not credit this much (limits.per_credit).", "The detail names the limit. Split the deposit, or have the operator raise the limit."},
	{kindBadExpiry, "The deposit would end in the past, or too far ahead.", "The detail says how far ahead is possible; without an expiry the configured life is taken."},
	{kindRateNotNeeded, "Paid and credited are in one currency, and a rate is given.", "Leave rate out."},
	{kindConversionDiffers, "Paid times rate is not the credited amount, by more than one minor unit; without a rate both must be equal.",
		"Compute credited from paid and the very rate that you send, and round to the account's places."},
	{kindRateMissing, "The client pays in another currency than the account's, and there is no whole rate.", "Send rate with value, source and at."},
	{kindRateWithoutBand, "No band of believable rates is configured for this pair of currencies (rates.bands).", "Have the operator add the pair, or let the client pay in the account's currency."},
	{kindRateOutsideBand, "The rate lies outside the band that is configured for its pair.", "Check that the rate is the right way round: credited = paid × rate. The detail says which rates are believed."},
	{kindBadRateTime, "The rate is dated in the future.", "Send the time at which the rate was taken; check the clock of your server."},
	{kindDepositPaid, "A payment has taken the deposit; it cannot be closed any more.", "Read the deposit: its state says what becomes of the money. Stopping it now is for the operator."},

	{kindTaken, "Another record holds what this one must have alone.", "Read what exists and decide again. Nothing was changed."},
	{kindConflict, "The record has changed while the request was decided.", "Read it and decide again. Nothing was changed."},
	{kindBusy, "The service cannot take the request now: its queue or its disk is full, or it is stopping.",
		"Send the same request again after Retry-After, with the same Idempotency-Key where it has one."},
	{kindInternal, "Something went wrong on this side. Whether the request was done is not known.",
		"Send the same request again with the same Idempotency-Key: it is done at most once. If it goes on, report the request id (instance)."},
}

// kindOf finds a refusal of the domain by its code.
func kindOf(code string) kind {
	for _, t := range problemTexts {
		if t.kind.code == code {
			return t.kind
		}
	}
	return kind{http.StatusUnprocessableEntity, code, "The request is understood and not allowed"}
}

// faultText is what the code of one field or parameter means.
type faultText struct{ code, meaning string }

// faultTexts lists every code that stands in errors and is no problem's own code.
var faultTexts = []faultText{
	{"missing_field", "a required field is absent"},
	{"missing_parameter", "a parameter needs another one beside it"},
	{"unknown_field", "there is no such field here"},
	{"wrong_type", "text where a number is wanted, or the reverse; 64-bit ids and money are text in quotes"},
	{"bad_name", "a name of a server or provider: 1 to 32 of a-z, 0-9 and -"},
	{"bad_login", "a login: digits without leading zeros, 1 to 18446744073709551615"},
	{"bad_text", "1 to 64 printable characters without blanks at the ends"},
	{"bad_currency", "3 to 12 upper case letters or digits"},
	{"bad_amount", "a plain decimal, such as 500.00"},
	{"not_positive", "an amount that is not more than 0"},
	{"bad_rate", "a plain decimal more than 0, such as 1.0850"},
	{"bad_code", "22 to 64 characters of A-Z a-z 0-9 _ and -"},
	{"bad_time", "an RFC 3339 time such as 2026-01-31T12:00:00Z"},
	{"bad_duration", "a whole number with s, m or h, such as 30m"},
	{"bad_expiry", "expires_at and expires_in are both given"},
	{"bad_number", "a whole number within its range, in plain digits"},
	{"bad_choice", "none of the words that are possible here"},
	{"bad_cursor", "not a cursor"},
}
