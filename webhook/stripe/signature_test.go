package stripe_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

const (
	secretOld = "whsec_old"
	secretNew = "whsec_new"
)

var signedAt = time.Unix(1_760_000_000, 0)

func provider(t testing.TB, cfg stripe.Config) *stripe.Provider {
	t.Helper()
	if cfg.Secrets == nil {
		cfg.Secrets = [][]byte{[]byte(secretOld), []byte(secretNew)}
	}
	p, err := stripe.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// digest is the hex digest of body at signedAt, made by the simulated provider's own code.
func digest(secret, body string) string {
	_, hex, _ := strings.Cut(fakepsp.Sign(secret, []byte(body), signedAt), "v1=")
	return hex
}

func TestVerify_HeaderForms(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	good, old := digest(secretNew, body), digest(secretOld, body)
	foreign, wrong := digest("whsec_foreign", body), strings.Repeat("ab", 32)
	at := fmt.Sprint(signedAt.Unix())
	for name, tc := range map[string]struct {
		header string
		valid  bool
	}{
		"one v1":                           {"t=" + at + ",v1=" + good, true},
		"under the second secret":          {"t=" + at + ",v1=" + old, true},
		"good one last":                    {"t=" + at + ",v1=" + wrong + ",v1=" + foreign + ",v1=" + good, true},
		"good one first":                   {"t=" + at + ",v1=" + good + ",v1=" + wrong, true},
		"v1 before t":                      {"v1=" + good + ",t=" + at, true},
		"unknown names are skipped":        {"t=" + at + ",v0=x,v2=y,=z,v1=" + good, true},
		"undecodable v1 is skipped":        {"t=" + at + ",v1=zz,v1=,v1=abc,v1=" + good, true},
		"upper case hex":                   {"t=" + at + ",v1=" + strings.ToUpper(good), true},
		"foreign secret":                   {"t=" + at + ",v1=" + foreign, false},
		"good digest under v0":             {"t=" + at + ",v0=" + good, false},
		"good digest under V1":             {"t=" + at + ",V1=" + good, false},
		"good digest, other time":          {"t=1760000001,v1=" + good, false},
		"time with a sign":                 {"t=+" + at + ",v1=" + good, false},
		"time with blanks":                 {"t= " + at + ",v1=" + good, false},
		"time beyond all bounds":           {"t=99999999999999999999,v1=" + good, false},
		"time in hex":                      {"t=0x68e7,v1=" + good, false},
		"two equal times":                  {"t=" + at + ",t=" + at + ",v1=" + good, false},
		"no time":                          {"v1=" + good, false},
		"empty time":                       {"t=,v1=" + good, false},
		"no v1":                            {"t=" + at, false},
		"empty v1":                         {"t=" + at + ",v1=", false},
		"cut v1":                           {"t=" + at + ",v1=" + good[:62], false},
		"v1 with more":                     {"t=" + at + ",v1=" + good + "00", false},
		"part without =":                   {"t=" + at + ",v1=" + good + ",x", false},
		"part with two =":                  {"t=" + at + ",v1=" + good + ",x=y=z", false},
		"v1 with padding":                  {"t=" + at + ",v1=" + good + "=", false},
		"trailing comma":                   {"t=" + at + ",v1=" + good + ",", false},
		"blank after comma hides the name": {"t=" + at + ", v1=" + good, false},
		"semicolons":                       {"t=" + at + ";v1=" + good, false},
		"empty":                            {"", false},
		"commas":                           {",,", false},
		"only an =":                        {"=", false},
	} {
		h := http.Header{}
		h.Set("Stripe-Signature", tc.header)
		err := provider(t, stripe.Config{}).Verify(h, []byte(body), signedAt)
		if (err == nil) != tc.valid {
			t.Errorf("%s: %v, want valid=%t", name, err, tc.valid)
		}
		if err != nil && (strings.Contains(err.Error(), good) || strings.Contains(err.Error(), "whsec")) {
			t.Errorf("%s: the reason gives away %v", name, err)
		}
	}
}

func TestVerify_WantsExactlyOneHeader(t *testing.T) {
	t.Parallel()
	p := provider(t, stripe.Config{})
	header := fakepsp.Sign(secretNew, []byte("{}"), signedAt)
	if p.Verify(http.Header{}, []byte("{}"), signedAt) == nil {
		t.Error("a request without the header passed")
	}
	twice := http.Header{"Stripe-Signature": {header, header}}
	if p.Verify(twice, []byte("{}"), signedAt) == nil {
		t.Error("a request with two headers passed")
	}
}

func TestVerify_EveryByteCounts(t *testing.T) {
	t.Parallel()
	p := provider(t, stripe.Config{})
	body := []byte("{\"id\": \"evt_1\"}\n")
	h := http.Header{"Stripe-Signature": {fakepsp.Sign(secretNew, body, signedAt)}}
	if err := p.Verify(h, body, signedAt); err != nil {
		t.Fatal(err)
	}
	for i := range body {
		for bit := range 8 {
			bent := append([]byte(nil), body...)
			bent[i] ^= 1 << bit
			if p.Verify(h, bent, signedAt) == nil {
				t.Fatalf("bit %d of byte %d does not count", bit, i)
			}
		}
	}
	for _, bent := range [][]byte{body[:len(body)-1], append(append([]byte(nil), body...), ' '), nil} {
		if p.Verify(h, bent, signedAt) == nil {
			t.Errorf("body of %d bytes passed", len(bent))
		}
	}
}

func TestVerify_TimeBounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg stripe.Config
		age time.Duration
		ok  bool
	}{
		"an hour old":             {stripe.Config{}, time.Hour, true},
		"a second over an hour":   {stripe.Config{}, time.Hour + time.Second, false},
		"at its own maximum":      {stripe.Config{MaxAge: time.Minute}, time.Minute, true},
		"over its own maximum":    {stripe.Config{MaxAge: time.Minute}, time.Minute + 1, false},
		"five minutes ahead":      {stripe.Config{}, -5 * time.Minute, true},
		"over five minutes ahead": {stripe.Config{}, -5*time.Minute - time.Second, false},
		"a day ahead":             {stripe.Config{}, -24 * time.Hour, false},
		"ahead of a lower bound":  {stripe.Config{MaxFuture: time.Second}, -2 * time.Second, false},
		"at a lower future bound": {stripe.Config{MaxFuture: time.Second}, -time.Second, true},
		"centuries old":           {stripe.Config{}, 250 * 365 * 24 * time.Hour, false},
		"centuries ahead":         {stripe.Config{}, -50 * 365 * 24 * time.Hour, false},
	} {
		h := http.Header{"Stripe-Signature": {fakepsp.Sign(secretNew, []byte("{}"), signedAt)}}
		err := provider(t, tc.cfg).Verify(h, []byte("{}"), signedAt.Add(tc.age))
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v, want ok=%t", name, err, tc.ok)
		}
		if errors.Is(err, stripe.ErrFuture) != (!tc.ok && tc.age < 0) {
			t.Errorf("%s: reason is %v", name, err)
		}
	}
}

func TestNew_RefusesWhatLetsAnybodySign(t *testing.T) {
	t.Parallel()
	one := [][]byte{[]byte("whsec_1")}
	for name, cfg := range map[string]stripe.Config{
		"no secret":           {},
		"empty secret":        {Secrets: [][]byte{{}}},
		"one of two is empty": {Secrets: [][]byte{[]byte("whsec_1"), nil}},
		"negative age":        {Secrets: one, MaxAge: -1},
		"negative future":     {Secrets: one, MaxFuture: -1},
		"future over the cap": {Secrets: one, MaxFuture: 5*time.Minute + 1},
	} {
		if _, err := stripe.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNew_KeepsItsOwnCopyOfTheSecrets(t *testing.T) {
	t.Parallel()
	secret := []byte(secretNew)
	p := provider(t, stripe.Config{Secrets: [][]byte{secret}})
	clear(secret)
	h := http.Header{"Stripe-Signature": {fakepsp.Sign(secretNew, []byte("{}"), signedAt)}}
	if err := p.Verify(h, []byte("{}"), signedAt); err != nil {
		t.Error(err)
	}
}
