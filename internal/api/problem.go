package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// kind is a class of problems: its code is part of the public API and never changes its meaning.
type kind struct {
	status int
	code   string
	title  string
}

// The problems that this package finds itself. Those of the domain (credit.RefusedError) bring their own code.
var (
	kindUnauthorized     = kind{http.StatusUnauthorized, "unauthorized", "The API key is missing or not valid"}
	kindForbidden        = kind{http.StatusForbidden, "missing_scope", "The API key may not do this"}
	kindNoRoute          = kind{http.StatusNotFound, "no_route", "There is no such address"}
	kindNotFound         = kind{http.StatusNotFound, "not_found", "There is no such record"}
	kindMethod           = kind{http.StatusMethodNotAllowed, "method_not_allowed", "The address does not take this method"}
	kindUnknownParameter = kind{http.StatusBadRequest, "unknown_parameter", "The request has an unknown query parameter"}

	kindRepeatedParameter = kind{http.StatusBadRequest, "repeated_parameter", "A query parameter stands twice"}
	kindCursor            = kind{http.StatusBadRequest, "bad_cursor", "The cursor does not belong to this list and filter"}
	kindRateLimited       = kind{http.StatusTooManyRequests, "rate_limited", "Too many requests"}

	kindMediaType      = kind{http.StatusUnsupportedMediaType, "content_type", "The body is not application/json"}
	kindEncoding       = kind{http.StatusUnsupportedMediaType, "content_encoding", "The body is compressed"}
	kindTooLarge       = kind{http.StatusRequestEntityTooLarge, "body_too_large", "The body is too large"}
	kindBodyCut        = kind{http.StatusBadRequest, "body_incomplete", "The body did not arrive whole"}
	kindMalformed      = kind{http.StatusBadRequest, "malformed_json", "The body is not one JSON object"}
	kindTrailing       = kind{http.StatusBadRequest, "trailing_data", "Something follows the JSON object"}
	kindTooDeep        = kind{http.StatusBadRequest, "too_deep", "The JSON is nested too deeply"}
	kindDuplicateField = kind{http.StatusBadRequest, "duplicate_field", "A field stands twice in one object"}
	kindInvalid        = kind{http.StatusBadRequest, "invalid_request", "The request has fields that cannot be understood"}

	kindKeyMissing = kind{http.StatusBadRequest, "idempotency_key_missing", "The Idempotency-Key header is missing"}
	kindKeyBad     = kind{http.StatusBadRequest, "idempotency_key_bad", "The Idempotency-Key header is not usable"}
	kindKeyReused  = kind{http.StatusUnprocessableEntity, "idempotency_key_reused", "The Idempotency-Key came with another request before"}

	kindPlaces          = kind{http.StatusUnprocessableEntity, "too_many_places", "The amount has more decimal places than its currency"}
	kindUnknownCurrency = kind{http.StatusUnprocessableEntity, "unknown_currency", "The provider does not take this currency"}

	kindTaken    = kind{http.StatusConflict, "already_taken", "Another record holds this"}
	kindConflict = kind{http.StatusConflict, "conflict", "The record has changed meanwhile"}
	kindBusy     = kind{http.StatusServiceUnavailable, "busy", "Nothing can be taken now"}
	kindInternal = kind{http.StatusInternalServerError, "internal", "Something went wrong on this side"}
)

// The refusals of the domain (credit.RefusedError): what was understood and is not allowed.
var (
	kindUnknownServer     = refusal("unknown_server", "There is no MT5 server with this name")
	kindUnknownProvider   = refusal("unknown_provider", "There is no provider with this name")
	kindCodeTaken         = refusal("code_taken", "A deposit with this code exists")
	kindBadCode           = refusal("bad_code", "The text is no deposit code")
	kindUnknownAccount    = refusal("unknown_account", "The login is not registered")
	kindForeignLogin      = refusal("foreign_login", "The login does not belong to this client")
	kindWrongCurrency     = refusal("wrong_currency", "The account is kept in another currency")
	kindBadAmount         = refusal("bad_amount", "The amount is not more than 0")
	kindLimitPerCredit    = refusal("limit_per_credit", "The amount is over the limit of one credit")
	kindBadExpiry         = refusal("bad_expiry", "The expiry is not possible")
	kindRateNotNeeded     = refusal("rate_not_needed", "There is nothing to convert")
	kindConversionDiffers = refusal("conversion_differs", "The credited amount does not follow from the paid one")
	kindRateMissing       = refusal("rate_missing", "The conversion needs a rate")
	kindRateWithoutBand   = refusal("rate_without_band", "The currencies are not converted here")
	kindRateOutsideBand   = refusal("rate_outside_band", "The rate is not believable")
	kindBadRateTime       = refusal("bad_rate_time", "The rate's time lies in the future")
	kindDepositPaid       = kind{http.StatusConflict, "deposit_paid", "The deposit was paid"}

	refusalsOfDeposits = []kind{
		kindUnknownServer, kindUnknownProvider, kindCodeTaken, kindBadCode, kindUnknownAccount, kindForeignLogin, kindWrongCurrency,
		kindBadAmount, kindLimitPerCredit, kindBadExpiry, kindRateNotNeeded, kindConversionDiffers, kindRateMissing,
		kindRateWithoutBand, kindRateOutsideBand, kindBadRateTime,
	}
)

func refusal(code, title string) kind { return kind{http.StatusUnprocessableEntity, code, title} }

// maxFaults bounds an answer: a body of 64 KiB can hold thousands of wrong fields.
const maxFaults = 20

// fault is one field that cannot be understood. It never holds the field's value.
type fault struct {
	Field  string `json:"field"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// problem is an error that may be shown to the caller as it is. cause may not.
type problem struct {
	kind   kind
	detail string
	faults []fault
	cause  error
}

// because makes a problem of the kind with a sentence for people: what is wrong and what to do.
func (k kind) because(format string, args ...any) *problem {
	return &problem{kind: k, detail: fmt.Sprintf(format, args...)}
}

// about makes a problem of the kind with one field at fault.
func (k kind) about(field, format string, args ...any) *problem {
	p := k.because(format, args...)
	p.faults = []fault{{field, k.code, p.detail}}
	return p
}

// from keeps the cause for the Observer.
func (p *problem) from(cause error) *problem {
	p.cause = cause
	return p
}

// invalid makes the problem of fields that cannot be understood.
func invalid(faults []fault) *problem {
	p := kindInvalid.because("%d field(s) cannot be understood; see errors", len(faults))
	if len(faults) == 1 {
		p.detail = faults[0].Field + ": " + faults[0].Detail
	}
	p.faults = faults[:min(len(faults), maxFaults)]
	return p
}

// Error implements error.
func (p *problem) Error() string {
	if p.cause != nil {
		return fmt.Sprintf("%s: %s: %v", p.kind.code, p.detail, p.cause)
	}
	return p.kind.code + ": " + p.detail
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.cause }

// document is a problem on the wire (RFC 9457). type is where its page is served, on this very listener; instance is
// the request's id.
type document struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Code     string  `json:"code"`
	Detail   string  `json:"detail"`
	Instance string  `json:"instance"`
	Errors   []fault `json:"errors,omitempty"`
}

func (p *problem) document(instance string) document {
	return document{
		Type: problemPath + p.kind.code, Title: p.kind.title, Status: p.kind.status,
		Code: p.kind.code, Detail: p.detail, Instance: instance, Errors: p.faults,
	}
}

// toProblem chooses what the caller may know of an error. What is not listed is internal: its text stays here.
func toProblem(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var refused *credit.RefusedError
	if errors.As(err, &refused) {
		return &problem{kind: kindOf(refused.Code), detail: refused.Detail}
	}
	var routed *echo.HTTPError
	if errors.As(err, &routed) {
		return routing(routed)
	}
	switch {
	case errors.Is(err, credit.ErrMismatch):
		return kindKeyReused.because("use a new Idempotency-Key for a new request; nothing was changed")
	case errors.Is(err, credit.ErrInvalid):
		return kindInvalid.because("the request cannot be understood; nothing was changed")
	case errors.Is(err, credit.ErrNotFound):
		return kindNotFound.because("there is no such record")
	case errors.Is(err, credit.ErrDuplicate):
		return kindTaken.because("another record holds this already; nothing was changed")
	case errors.Is(err, credit.ErrConflict):
		return kindConflict.because("the record has changed meanwhile; read it and decide again")
	case errors.Is(err, credit.ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return kindBusy.because("repeat the same request later, with the same Idempotency-Key where it has one")
	default:
		return kindInternal.because("repeat the same request later, with the same Idempotency-Key where it has one; if it goes on, report the request id")
	}
}

// routing translates what echo's router answers.
func routing(e *echo.HTTPError) *problem {
	switch e.Code {
	case http.StatusNotFound:
		return kindNoRoute.because("check the address against the documentation")
	case http.StatusMethodNotAllowed:
		return kindMethod.because("see the Allow header for the methods of this address")
	default:
		return kindInternal.because("report the request id")
	}
}
