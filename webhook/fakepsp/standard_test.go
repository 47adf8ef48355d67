package fakepsp_test

import (
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
)

// The digest was computed with: printf '%s' 'msg_1.1760000000.{}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:... -binary | base64
func TestSignStandard_IsWhatOpenSSLComputes(t *testing.T) {
	t.Parallel()
	const key = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" // 0123456789abcdef0123456789abcdef
	got, err := fakepsp.SignStandard([]string{key, strings.TrimRight(key, "=")}, "msg_1", []byte("{}"), time.Unix(1_760_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,Z9mCHUOAZIzdy/pCHDVgC5ovZM4CdB9HzzV2XZiTWso="
	if got["webhook-signature"] != want+" "+want || got["webhook-id"] != "msg_1" || got["webhook-timestamp"] != "1760000000" {
		t.Errorf("got %v", got)
	}
}

func TestSignStandard_RefusesKeysThatCannotSign(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"whpk_cGxhbnRlZA==", "whsec_", "whsec_planted!", "whsk_cGxhbnRlZA==", "other_cGxhbnRlZA=="} {
		if h, err := fakepsp.SignStandard([]string{key}, "m", nil, time.Unix(0, 0)); err == nil || strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "cGxh") {
			t.Errorf("%s: %v, %v", key, h, err)
		}
	}
}

func TestStandardBody_PutsValuesWhereThePathsLead(t *testing.T) {
	t.Parallel()
	body, err := fakepsp.StandardBody(map[string]any{"type": "t", "data.id": "p", "data.amount.value": 5, "data.live": true})
	if want := `{"data":{"amount":{"value":5},"id":"p","live":true},"type":"t"}`; err != nil || string(body) != want {
		t.Errorf("%s, %v", body, err)
	}
	for _, values := range []map[string]any{{"a": 1, "a.b": 2}, {"a.b": 1, "a.b.c": 2}} {
		if body, err := fakepsp.StandardBody(values); err == nil {
			t.Errorf("%v gave %s", values, body)
		}
	}
}
