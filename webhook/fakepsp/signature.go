package fakepsp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the name of the header that Sign and SignAll give the value of.
const SignatureHeader = "Stripe-Signature"

// Sign returns the Stripe-Signature value for body at t: "t=<unix seconds>,v1=<hex>", where the
// digest is HMAC-SHA256 over "<seconds>.<body>" and the key is the secret's text as shown, with its
// whsec_ prefix and without any decoding (providers.md §2.1). Only whole seconds of t count.
func Sign(secret string, body []byte, t time.Time) string {
	return SignAll([]string{secret}, body, t)
}

// SignAll is Sign with one v1 entry for each secret, in their order, as Stripe sends it while a
// secret is rolled. Without a secret the value holds the time alone, which no receiver may accept.
func SignAll(secrets []string, body []byte, t time.Time) string {
	seconds := strconv.FormatInt(t.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + seconds)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(seconds + "."))
		mac.Write(body)
		header.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}
