package stripe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const signatureHeader = "Stripe-Signature"

// The reasons of a refusal, for the log alone.
var (
	errHeaderCount = errors.New("there is not exactly one Stripe-Signature header")
	errHeaderForm  = errors.New("the Stripe-Signature header is malformed")
	errTimeCount   = errors.New("the Stripe-Signature header has not exactly one good t")
	errNoMatch     = errors.New("no v1 signature matches an active secret")
	errTooOld      = errors.New("the signature is too old")
)

// ErrFuture says that a signature which is good by Stripe's own rule is dated further in the future
// than this product accepts: it could be replayed for longer than the bound on age allows.
var ErrFuture = errors.New("the signature's time is in the future")

// signature is a parsed header. stamp is the text of t, as it was signed.
type signature struct {
	stamp string
	at    time.Time
	v1    [][]byte
}

// Verify implements webhook.Provider. Every v1 is compared with the digest under every active secret,
// without an early exit, so that the time taken tells nothing about either.
func (p *Provider) Verify(h http.Header, body []byte, now time.Time) error {
	values := h.Values(signatureHeader)
	if len(values) != 1 {
		return errHeaderCount
	}
	sig, err := parseSignature(values[0])
	if err != nil {
		return err
	}
	matched := false
	for _, secret := range p.cfg.Secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(sig.stamp))
		mac.Write([]byte("."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, got := range sig.v1 {
			if hmac.Equal(want, got) {
				matched = true
			}
		}
	}
	age := now.Sub(sig.at)
	switch {
	case !matched:
		return errNoMatch
	case age > p.cfg.MaxAge:
		return errTooOld
	case -age > p.cfg.MaxFuture:
		return ErrFuture
	default:
		return nil
	}
}

// parseSignature follows providers.md §2.1: parts split on ",", each with exactly one "="; unknown
// names are skipped; a v1 that is not hex is skipped. Exactly one t is this product's own demand.
func parseSignature(header string) (signature, error) {
	var sig signature
	times := 0
	for part := range strings.SplitSeq(header, ",") {
		name, value, found := strings.Cut(part, "=")
		if !found || strings.Contains(value, "=") {
			return signature{}, errHeaderForm
		}
		switch name {
		case "t":
			// 40 bits of seconds are 34,000 years; more would overflow a time.
			seconds, err := strconv.ParseUint(value, 10, 40)
			if err != nil {
				return signature{}, errTimeCount
			}
			times++
			sig.stamp, sig.at = value, time.Unix(int64(seconds), 0)
		case "v1":
			if digest, err := hex.DecodeString(value); err == nil {
				sig.v1 = append(sig.v1, digest)
			}
		}
	}
	if times != 1 {
		return signature{}, errTimeCount
	}
	return sig, nil
}
