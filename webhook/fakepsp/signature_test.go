package fakepsp

import (
	"testing"
	"time"
)

// The digests were computed with another program by the published rule:
// printf '1760000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_example
func TestSignAll_FollowsTheRule(t *testing.T) {
	t.Parallel()
	const (
		first  = "324793fc8eea6a5d3b2d921379e2ebd9720629dc5761240a0a3f26cddfe8960d"
		second = "36dbbfa49eaecfdfbfc0044fe6a8fe09502a7b8aeccb8e277b78a21cf9a50bc2"
	)
	body := []byte(`{"id":"evt_1"}`)
	at := time.Unix(1760000000, 999_999_999)
	for name, tc := range map[string]struct {
		secrets []string
		want    string
	}{
		"one secret":              {[]string{"whsec_example"}, "t=1760000000,v1=" + first},
		"two secrets, both sign":  {[]string{"whsec_example", "whsec_second"}, "t=1760000000,v1=" + first + ",v1=" + second},
		"no secret, no signature": {nil, "t=1760000000"},
	} {
		if got := SignAll(tc.secrets, body, at); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	if got, want := Sign("whsec_example", body, at), "t=1760000000,v1="+first; got != want {
		t.Errorf("Sign: got %s, want %s", got, want)
	}
}
