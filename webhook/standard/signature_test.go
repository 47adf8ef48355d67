package standard_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
	"creditonce/webhook/standard"
)

var (
	signedAt = time.Unix(1_760_000_000, 0)
	good     = []byte(`{"a":1}`)
	oldKey   = "whsec_" + base64.StdEncoding.EncodeToString([]byte("old key of 24 bytes, yes"))
	newKey   = "whsec_" + base64.StdEncoding.EncodeToString([]byte("new key of twenty-six byte"))

	privateKey, publicKey = pair("sender")
)

// pair is a key pair of a fixed seed, as the sender and the receiver write their halves.
func pair(name string) (private, public string) {
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	return "whsk_" + base64.StdEncoding.EncodeToString(key), "whpk_" + base64.StdEncoding.EncodeToString(key[32:])
}

func verifier(t testing.TB, secrets ...string) *standard.Verifier {
	t.Helper()
	v, err := standard.NewVerifier(signing(secrets...))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func signing(secrets ...string) standard.Signing {
	var s standard.Signing
	for _, secret := range secrets {
		s.Secrets = append(s.Secrets, []byte(secret))
	}
	return s
}

func sign(t testing.TB, id string, body []byte, at time.Time, secrets ...string) http.Header {
	t.Helper()
	values, err := fakepsp.SignStandard(secrets, id, body, at)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	for name, value := range values {
		h.Set(name, value)
	}
	return h
}

func TestVerify_TakesWhatAnActiveKeySigned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ signers, keys []string }{
		"one key":                      {[]string{oldKey}, []string{oldKey}},
		"without its prefix":           {[]string{oldKey}, []string{strings.TrimPrefix(oldKey, "whsec_")}},
		"without its padding":          {[]string{newKey}, []string{strings.TrimRight(newKey, "=")}},
		"receiver knows both":          {[]string{oldKey}, []string{newKey, oldKey}},
		"sender signs with both":       {[]string{newKey, oldKey}, []string{oldKey}},
		"ed25519":                      {[]string{privateKey}, []string{publicKey}},
		"ed25519 behind an HMAC":       {[]string{newKey, privateKey}, []string{publicKey}},
		"HMAC behind an ed25519":       {[]string{privateKey, newKey}, []string{newKey}},
		"from HMAC to ed25519 rotated": {[]string{privateKey}, []string{newKey, publicKey}},
	} {
		if err := verifier(t, tc.keys...).Verify(sign(t, "msg_1", good, signedAt, tc.signers...), good, signedAt); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerify_RefusesEveryOtherRequest(t *testing.T) {
	t.Parallel()
	_, otherPublic := pair("somebody else")
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	for name, tc := range map[string]struct {
		change func(http.Header)
		keys   []string
		body   string
		now    time.Time
	}{
		"another key":            {keys: []string{newKey}},
		"another public key":     {keys: []string{otherPublic}},
		"another body":           {body: `{"a":2}`},
		"no body":                {body: ""},
		"another id":             {change: set("webhook-id", "msg_2")},
		"no id":                  {change: func(h http.Header) { h.Del("webhook-id") }},
		"empty id":               {change: set("webhook-id", "")},
		"id with a full stop":    {change: set("webhook-id", "msg.1")},
		"id with a blank":        {change: set("webhook-id", "msg 1")},
		"two ids":                {change: func(h http.Header) { h.Add("webhook-id", "msg_1") }},
		"id too long":            {change: set("webhook-id", strings.Repeat("m", 257))},
		"another time":           {change: set("webhook-timestamp", "1760000001")},
		"time with a sign":       {change: set("webhook-timestamp", "+1760000000")},
		"time in hexadecimal":    {change: set("webhook-timestamp", "0x68e77800")},
		"time with a fraction":   {change: set("webhook-timestamp", "1760000000.0")},
		"time beyond all":        {change: set("webhook-timestamp", strings.Repeat("9", 30))},
		"no time":                {change: func(h http.Header) { h.Del("webhook-timestamp") }},
		"two times":              {change: func(h http.Header) { h.Add("webhook-timestamp", "1760000000") }},
		"no signature":           {change: func(h http.Header) { h.Del("webhook-signature") }},
		"two signature headers":  {change: func(h http.Header) { h.Add("webhook-signature", h.Get("webhook-signature")) }},
		"empty signature":        {change: set("webhook-signature", "")},
		"version alone":          {change: set("webhook-signature", "v1,")},
		"digest without version": {change: func(h http.Header) { h.Set("webhook-signature", h.Get("webhook-signature")[3:]) }},
		"digest under v1a":       {change: func(h http.Header) { h.Set("webhook-signature", "v1a,"+h.Get("webhook-signature")[3:]) }},
		"digest under v2":        {change: func(h http.Header) { h.Set("webhook-signature", "v2,"+h.Get("webhook-signature")[3:]) }},
		"digest under V1":        {change: func(h http.Header) { h.Set("webhook-signature", "V1,"+h.Get("webhook-signature")[3:]) }},
		"digest cut":             {change: func(h http.Header) { h.Set("webhook-signature", h.Get("webhook-signature")[:30]) }},
		"good one after too many": {change: func(h http.Header) {
			h.Set("webhook-signature", strings.Repeat("v1,AAAA ", 16)+h.Get("webhook-signature"))
		}},
		"301 s old":   {now: signedAt.Add(301 * time.Second)},
		"301 s ahead": {now: signedAt.Add(-301 * time.Second)},
	} {
		h := sign(t, "msg_1", good, signedAt, oldKey)
		if tc.change != nil {
			tc.change(h)
		}
		keys, body, now := tc.keys, good, tc.now
		if keys == nil {
			keys = []string{oldKey, publicKey}
		}
		if tc.body != "" || name == "no body" {
			body = []byte(tc.body)
		}
		if now.IsZero() {
			now = signedAt
		}
		if err := verifier(t, keys...).Verify(h, body, now); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestVerify_TimeIsBoundBothWays(t *testing.T) {
	t.Parallel()
	v, err := standard.NewVerifier(standard.Signing{Secrets: [][]byte{[]byte(oldKey)}, MaxAge: time.Hour, MaxFuture: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	h := sign(t, "msg_1", good, signedAt, oldKey)
	for offset, want := range map[time.Duration]bool{
		time.Hour: true, time.Hour + time.Second: false, -time.Second: true, -2 * time.Second: false,
	} {
		if err := v.Verify(h, good, signedAt.Add(offset)); (err == nil) != want {
			t.Errorf("%v after: %v", offset, err)
		}
	}
}

// A signed text that could be split in two ways would let who has seen one message make another of it.
func TestVerify_IDCannotTakeOverTheTime(t *testing.T) {
	t.Parallel()
	body := []byte(`1760000000.{"type":"payment.paid"}`)
	h := sign(t, "msg_1", body, signedAt, oldKey)
	h.Set("webhook-id", "msg_1.1760000000")
	if err := verifier(t, oldKey).Verify(h, []byte(`{"type":"payment.paid"}`), signedAt); err == nil {
		t.Error("one signature was good for two messages")
	}
}

func TestNewVerifier_RefusesWhatCannotBeSafe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]standard.Signing{
		"no secret":           {},
		"empty":               signing(""),
		"prefix alone":        signing("whsec_"),
		"public prefix alone": signing("whpk_"),
		"not base64":          signing("whsec_planted!"),
		"too short":           signing("whsec_" + base64.StdEncoding.EncodeToString([]byte("planted planted 23 byte"))),
		"too long":            signing("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))),
		"private key":         signing(privateKey),
		"public key cut":      signing(publicKey[:30]),
		"second one empty":    signing(oldKey, ""),
		"negative age":        {Secrets: [][]byte{[]byte(oldKey)}, MaxAge: -1},
		"negative future":     {Secrets: [][]byte{[]byte(oldKey)}, MaxFuture: -1},
		"future beyond bound": {Secrets: [][]byte{[]byte(oldKey)}, MaxFuture: 5*time.Minute + 1},
	} {
		_, err := standard.NewVerifier(tc)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, s := range tc.Secrets {
			if _, text, _ := strings.Cut(string(s), "_"); len(text) > 4 && strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error shows the secret: %v", name, err)
			}
		}
	}
}
