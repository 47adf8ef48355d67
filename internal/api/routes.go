package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
)

// route is one line of the API's table: the access table, what the handler is given, and all that the OpenAPI
// document says about the call. The code runs by it, so the document cannot say otherwise.
type route struct {
	method    string
	path      string // echo's pattern
	operation string // operationId
	summary   string // one sentence
	about     string // what else a caller must know; may be empty
	scopes    []string
	query     []parameter
	headers   []header
	request   any // a value of the struct that the body is read into; nil: no body
	responses []response
	problems  []kind // that this call itself can be answered with; see every
	handle    func(c echo.Context, key Key, q query) error
}

// open tells that no key is needed.
func (r route) open() bool { return len(r.scopes) == 0 }

// header is a request header that the call reads, beside Authorization and X-Request-ID.
type header struct {
	name     string
	required bool
	about    string
}

// response is one success of a call.
type response struct {
	status int
	about  string
	media  string // of the body; empty: no body
	body   any    // a value of the struct that is written; nil for pages
	etag   bool   // carries a strong ETag, and takes If-None-Match
}

// every lists each problem that the call can be answered with: its own and those of all calls like it.
func (r route) every() []kind {
	out := slices.Concat([]kind{kindRateLimited, kindUnknownParameter, kindBusy, kindInternal}, r.problems)
	if !r.open() {
		out = append(out, kindUnauthorized, kindForbidden)
	}
	if len(r.query) > 0 {
		out = append(out, kindRepeatedParameter, kindInvalid)
	}
	if r.request != nil {
		out = append(out, kindMediaType, kindEncoding, kindTooLarge, kindBodyCut, kindMalformed, kindTrailing, kindTooDeep, kindDuplicateField, kindInvalid)
	}
	slices.SortFunc(out, func(a, b kind) int { return a.status*1000 - b.status*1000 + compareText(a.code, b.code) })
	return slices.Compact(out)
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	mediaHTML    = "text/html"
)

var headerIfNoneMatch = header{"If-None-Match", false, "ETags of answers that you still have: answered 304 where one is current"}

// unchanged is the answer to If-None-Match.
var unchanged = response{status: http.StatusNotModified, about: "What you have is current", etag: true}

// routes is the whole API; what is not here is answered 404 or 405.
func (a *API) routes() []route {
	return slices.Concat(a.accountRoutes(), a.depositRoutes(), a.creditRoutes(), a.pageRoutes())
}

func (a *API) accountRoutes() []route {
	return []route{
		{
			method: http.MethodPut, path: "/v1/servers/:server/accounts/:login", operation: "putAccount",
			summary: "Register a login for its client, or change it",
			about: "The same again changes nothing. A login that gets another client, currency or digits makes its waiting credits held; " +
				"deposits that are open then will be held when they are paid; a credit whose call may be under way gets a task for a person.",
			scopes:  []string{ScopeAccountsWrite},
			request: accountWish{},
			responses: []response{
				{status: http.StatusOK, about: "The login as it now is; it was registered before", media: mediaJSON, body: accountBody{}},
				{status: http.StatusCreated, about: "The login is registered", media: mediaJSON, body: accountBody{}},
			},
			problems: []kind{kindUnknownServer, kindWrongCurrency},
			handle:   a.putAccount,
		},
		{
			method: http.MethodGet, path: "/v1/servers/:server/accounts/:login", operation: "getAccount",
			summary: "Read a login",
			scopes:  []string{ScopeAccountsRead, ScopeAccountsWrite},
			headers: []header{headerIfNoneMatch},
			responses: []response{
				{status: http.StatusOK, about: "The login", media: mediaJSON, body: accountBody{}, etag: true}, unchanged,
			},
			problems: []kind{kindNotFound, kindInvalid},
			handle:   a.getAccount,
		},
		{
			method: http.MethodGet, path: "/v1/accounts", operation: "listAccounts",
			summary: "List registered logins, by server and login",
			about:   aboutLists,
			scopes:  []string{ScopeAccountsRead, ScopeAccountsWrite},
			query: slices.Concat([]parameter{paramClient, paramServer, paramLogin, paramAccountCurrency},
				spanOf("created", "registered"), spanOf("updated", "last changed"), pageParameters),
			responses: []response{{status: http.StatusOK, about: "One page", media: mediaJSON, body: accountList{}}},
			problems:  []kind{kindCursor},
			handle:    a.listAccounts,
		},
	}
}

func (a *API) depositRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/v1/deposits", operation: "makeDeposit",
			summary: "Make a deposit record for a signed-in client",
			about: "Give its code to the provider with the payment. The same Idempotency-Key with the same body is answered with the first answer, " +
				"byte for byte and with Idempotency-Replayed: true. A dry run makes every check and writes nothing; it needs no Idempotency-Key and ignores one, " +
				"and a code that it draws itself is not reserved.",
			scopes:  []string{ScopeDepositsWrite},
			query:   []parameter{paramDryRun},
			headers: []header{{"Idempotency-Key", true, "1 to 255 printable ASCII characters: new for each deposit, the same for each repetition; not needed for a dry run"}},
			request: wish{},
			responses: []response{
				{status: http.StatusCreated, about: "The deposit", media: mediaJSON, body: depositBody{}},
				{status: http.StatusOK, about: "A dry run: the deposit as it would be", media: mediaJSON, body: depositBody{}},
			},
			problems: slices.Concat([]kind{kindKeyMissing, kindKeyBad, kindKeyReused, kindPlaces, kindUnknownCurrency}, refusalsOfDeposits),
			handle:   a.makeDeposit,
		},
		{
			method: http.MethodGet, path: "/v1/deposits", operation: "listDeposits",
			summary: "List deposits, the newest first",
			about:   aboutLists,
			scopes:  []string{ScopeDepositsRead},
			query: slices.Concat([]parameter{paramDepositState, paramClient, paramServer, paramLogin, paramProvider},
				spanOf("created", "made"), amountParameters("amount to credit"), pageParameters),
			responses: []response{{status: http.StatusOK, about: "One page", media: mediaJSON, body: depositList{}}},
			problems:  []kind{kindCursor},
			handle:    a.listDeposits,
		},
		{
			method: http.MethodGet, path: "/v1/deposits/:code", operation: "getDeposit",
			summary: "Read a deposit: what a return page may show",
			scopes:  []string{ScopeDepositsRead},
			headers: []header{headerIfNoneMatch},
			responses: []response{
				{status: http.StatusOK, about: "The deposit", media: mediaJSON, body: depositBody{}, etag: true}, unchanged,
			},
			problems: []kind{kindNotFound},
			handle:   a.getDeposit,
		},
		{
			method: http.MethodDelete, path: "/v1/deposits/:code", operation: "closeDeposit",
			summary: "Close a deposit that is not paid yet",
			about: "A payment that the provider dates after the closing is held for a person; one that it dates before is credited, even if it arrives later. " +
				"Closing again is answered with the deposit as it is. An expired deposit is closed like an open one.",
			scopes:    []string{ScopeDepositsWrite},
			responses: []response{{status: http.StatusOK, about: "The closed deposit", media: mediaJSON, body: depositBody{}}},
			problems:  []kind{kindNotFound, kindDepositPaid},
			handle:    a.closeDeposit,
		},
	}
}

func (a *API) creditRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/deposits/:code/credit", operation: "getDepositCredit",
			summary: "Read a deposit with its credit and the credit's history",
			about:   "credit is null until a payment has arrived. further lists payments that came after the one that took the deposit.",
			scopes:  []string{ScopeDepositsRead},
			headers: []header{headerIfNoneMatch},
			responses: []response{
				{status: http.StatusOK, about: "The deposit, its credit and what happened to it", media: mediaJSON, body: storyBody{}, etag: true}, unchanged,
			},
			problems: []kind{kindNotFound},
			handle:   a.getDepositCredit,
		},
		{
			method: http.MethodGet, path: "/v1/credits", operation: "listCredits",
			summary: "List credits, the newest first",
			about: "Of a client or a login: the credits of its newest deposit first. Payments whose deposit is not known yet have no client, no login and no amount, " +
				"and are listed where none of these is asked for. " + aboutLists,
			scopes: []string{ScopeDepositsRead},
			query: slices.Concat([]parameter{paramCreditState, paramClient, paramServer, paramLogin, paramProvider},
				spanOf("created", "taken in"), spanOf("updated", "last changed"), amountParameters("amount to credit"), pageParameters),
			responses: []response{{status: http.StatusOK, about: "One page", media: mediaJSON, body: creditList{}}},
			problems:  []kind{kindCursor},
			handle:    a.listCredits,
		},
	}
}

// pageRoutes need no key: problems of requests without one lead there too.
func (a *API) pageRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: DocumentPath, operation: "getDocument",
			summary: "This document",
			headers: []header{headerIfNoneMatch},
			responses: []response{
				{status: http.StatusOK, about: "OpenAPI 3.1 in JSON", media: mediaJSON, etag: true}, unchanged,
			},
			handle: a.serveDocument,
		},
		{
			method: http.MethodGet, path: "/docs/problems", operation: "listProblemPages",
			summary:   "Every problem code, for people",
			responses: []response{{status: http.StatusOK, about: "A page", media: mediaHTML}},
			handle:    a.problemIndex,
		},
		{
			method: http.MethodGet, path: "/docs/problems/:code", operation: "getProblemPage",
			summary:   "What a problem code means and what to do, for people",
			responses: []response{{status: http.StatusOK, about: "A page", media: mediaHTML}},
			problems:  []kind{kindNotFound},
			handle:    a.problemPage,
		},
	}
}

const aboutLists = "A page holds at most limit items and may hold fewer, even none, while next still leads on: each request looks at a bounded number of records. " +
	"The list is at its end when next is null. Through all pages each item comes at most once, however many are added meanwhile, and each that was there at the start and still fits the filter comes."
