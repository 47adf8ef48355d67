package standard

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	idHeader        = "Webhook-Id"
	timeHeader      = "Webhook-Timestamp"
	signatureHeader = "Webhook-Signature"
)

// The bounds on a signature's timestamp. Every attempt of a delivery has a timestamp of its own
// (providers.md §2.14: five minutes, both ways).
const (
	DefaultMaxAge = 5 * time.Minute
	MaxFuture     = 5 * time.Minute
)

const (
	// mostSignatures bounds the work that a header can ask for: a sender in a rotation sends a few.
	mostSignatures = 16
	// longestID is far above the ids of any sender.
	longestID = 256
	// shortestKey and longestKey are the specification's bounds on a symmetric key, in bytes.
	shortestKey, longestKey = 24, 64
)

// The reasons of a refusal, for the log alone.
var (
	errID         = errors.New("there is not exactly one good webhook-id header")
	errTime       = errors.New("there is not exactly one good webhook-timestamp header")
	errSignatures = errors.New("there is not exactly one webhook-signature header, or it holds too many signatures")
	errNoMatch    = errors.New("no v1 or v1a signature matches an active secret")
	errTooOld     = errors.New("the signature is too old")
	errFuture     = errors.New("the signature's time is too far in the future")
)

// Signing says which signatures are good. Secrets are the active ones, as text: whsec_ and base64 of a symmetric key
// (the prefix may be missing, the padding too), or whpk_ and base64 of an ed25519 public key. A zero MaxAge is
// DefaultMaxAge; a zero MaxFuture is the constant MaxFuture, which it cannot exceed.
type Signing struct {
	Secrets   [][]byte
	MaxAge    time.Duration
	MaxFuture time.Duration
}

// Verifier checks signatures by Standard Webhooks. It is safe for concurrent use.
type Verifier struct {
	symmetric         [][]byte
	public            []ed25519.PublicKey
	maxAge, maxFuture time.Duration
}

// NewVerifier returns a verifier, or an error when no secret is given, one cannot be used, or a bound is not sound.
// No error shows a secret.
func NewVerifier(cfg Signing) (*Verifier, error) {
	v := &Verifier{maxAge: cfg.MaxAge, maxFuture: cfg.MaxFuture}
	if v.maxAge == 0 {
		v.maxAge = DefaultMaxAge
	}
	if v.maxFuture == 0 {
		v.maxFuture = MaxFuture
	}
	switch {
	case len(cfg.Secrets) == 0:
		return nil, errors.New("make standard provider: no secret is given")
	case v.maxAge < 0:
		return nil, fmt.Errorf("make standard provider: maximum age %v is negative", v.maxAge)
	case v.maxFuture < 0 || v.maxFuture > MaxFuture:
		return nil, fmt.Errorf("make standard provider: bound against the future %v is not in 0..%v", v.maxFuture, MaxFuture)
	}
	for i, s := range cfg.Secrets {
		if err := v.add(string(s)); err != nil {
			return nil, fmt.Errorf("make standard provider: secret %d %w", i+1, err)
		}
	}
	return v, nil
}

func (v *Verifier) add(secret string) error {
	if strings.HasPrefix(secret, "whsk_") {
		return errors.New("is the sender's private key (whsk_): take the public one (whpk_), and let the private one never leave the sender")
	}
	if text, public := strings.CutPrefix(secret, "whpk_"); public {
		key, err := decodeBase64(text)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return errors.New("is not whpk_ and the base64 of a public key of 32 bytes")
		}
		v.public = append(v.public, key)
		return nil
	}
	key, err := decodeBase64(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return errors.New("is not whsec_ and base64")
	}
	if len(key) < shortestKey || len(key) > longestKey {
		return fmt.Errorf("has a key of %d bytes; the rule is %d to %d", len(key), shortestKey, longestKey)
	}
	v.symmetric = append(v.symmetric, key)
	return nil
}

// decodeBase64 reads standard base64 with its padding or without: keys without it are in use (providers.md §2.14).
func decodeBase64(text string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Verify implements webhook.Provider. Every signature is compared under every active secret, without an early exit,
// so that the time taken tells nothing about either.
func (v *Verifier) Verify(h http.Header, body []byte, now time.Time) error {
	id, err := messageID(h)
	if err != nil {
		return err
	}
	stamp, at, err := timestamp(h)
	if err != nil {
		return err
	}
	digests, points, err := signatures(h)
	if err != nil {
		return err
	}
	signed := append([]byte(id+"."+stamp+"."), body...)
	matched := false
	for _, key := range v.symmetric {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		want := mac.Sum(nil)
		for _, got := range digests {
			if hmac.Equal(want, got) {
				matched = true
			}
		}
	}
	for _, key := range v.public {
		for _, got := range points {
			if ed25519.Verify(key, signed, got) {
				matched = true
			}
		}
	}
	age := now.Sub(at)
	switch {
	case !matched:
		return errNoMatch
	case age > v.maxAge:
		return errTooOld
	case -age > v.maxFuture:
		return errFuture
	default:
		return nil
	}
}

// messageID reads the webhook-id. It holds no full stop: the signed text is id.timestamp.body, and with a stop in the
// id the same text could be split in two ways.
func messageID(h http.Header) (string, error) {
	values := h.Values(idHeader)
	if len(values) != 1 || values[0] == "" || len(values[0]) > longestID {
		return "", errID
	}
	for i := range len(values[0]) {
		if c := values[0][i]; c <= ' ' || c > '~' || c == '.' {
			return "", errID
		}
	}
	return values[0], nil
}

// timestamp reads the webhook-timestamp: its text, as it was signed, and the moment.
func timestamp(h http.Header) (string, time.Time, error) {
	values := h.Values(timeHeader)
	if len(values) != 1 || len(values[0]) > 12 {
		return "", time.Time{}, errTime
	}
	// 40 bits of seconds are 34,000 years; more would overflow a time.
	seconds, err := strconv.ParseUint(values[0], 10, 40)
	if err != nil {
		return "", time.Time{}, errTime
	}
	return values[0], time.Unix(int64(seconds), 0), nil
}

// signatures reads the list: v1 entries are HMAC digests, v1a entries are ed25519 signatures. Other versions, and
// what is not base64 of the right length, are skipped.
func signatures(h http.Header) (digests, points [][]byte, err error) {
	values := h.Values(signatureHeader)
	if len(values) != 1 {
		return nil, nil, errSignatures
	}
	count := 0
	for entry := range strings.SplitSeq(values[0], " ") {
		if count++; count > mostSignatures {
			return nil, nil, errSignatures
		}
		version, text, _ := strings.Cut(entry, ",")
		raw, err := decodeBase64(text)
		switch {
		case err != nil:
		case version == "v1" && len(raw) == sha256.Size:
			digests = append(digests, raw)
		case version == "v1a" && len(raw) == ed25519.SignatureSize:
			points = append(points, raw)
		}
	}
	return digests, points, nil
}
