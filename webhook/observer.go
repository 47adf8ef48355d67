package webhook

import (
	"context"
	"time"

	"creditonce/credit"
)

// Observer is told what comes in. It decides how to log and count it.
type Observer interface {
	// Step is called at credit.StepBodyRead and credit.StepAcknowledged. It may block.
	Step(ctx context.Context, s credit.Step)
	// Webhook is called once for each request, after its answer was decided. It must not block.
	Webhook(ctx context.Context, r Report)
}

// Outcome is how a request ended, as a constant text for counters.
type Outcome string

// The outcomes of a request.
const (
	Accepted        Outcome = "accepted"
	Repeated        Outcome = "repeated"         // known before; acknowledged again
	Unverified      Outcome = "unverified"       // the signature is not good; nothing was stored
	UnknownProvider Outcome = "unknown_provider" // no endpoint of that name
	NoSuchRoute     Outcome = "no_such_route"
	WrongMethod     Outcome = "wrong_method"
	Encoded         Outcome = "encoded_body"
	TooLarge        Outcome = "body_too_large"
	TooSlow         Outcome = "body_too_slow"
	Broken          Outcome = "body_broken"
	Busy            Outcome = "busy"   // too many requests, or the store takes nothing now; the provider tries again
	Failed          Outcome = "failed" // an error inside; Err and Reference are in the log
)

// Report is one request for the log. It holds no body, no header and no URL. Err is the reason and
// never goes to the public.
type Report struct {
	Outcome   Outcome
	Provider  string // label of the endpoint; empty where there is none of the name
	Status    int    // HTTP status of the answer
	IP        string // of the socket, or by the trusted proxies' X-Forwarded-For
	Bytes     int    // of the body, as far as it was read
	Reference string // also in the answer of a failed request, so that a caller can name it
	Took      time.Duration
	Receipt   credit.Receipt // of an accepted or repeated event
	Err       error
}
