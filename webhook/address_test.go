package webhook_test

import (
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"creditonce/webhook"
)

// FuzzForwardedFor: the reported address is the socket's, unless the socket is a trusted proxy's; then it is the first
// that is not a trusted proxy's, counted from our end, or the socket's again where that list cannot be read so far. What
// stands further out, where a caller writes what it likes, never counts.
func FuzzForwardedFor(f *testing.F) {
	for _, header := range []string{
		"203.0.113.9", "1.2.3.4, 203.0.113.9", "203.0.113.9, 10.0.0.7", "10.0.0.7", "", ",", " , ", "unknown", "203.0.113.9:443", "[2001:db8::1]",
		"::ffff:10.0.0.5, 203.0.113.9", "203.0.113.9, ::ffff:10.0.0.5", "127.0.0.1", "10.0.0.7,10.0.0.8", "010.0.0.7", "203.0.113.9\n10.0.0.1",
	} {
		for _, socket := range []string{"10.0.0.1:5", "192.0.2.1:5", "127.0.0.1:5", "[2001:db8::5]:5"} {
			f.Add(header, socket)
		}
	}
	const proxies = "10.0.0.0/24"
	_, trusted, err := net.ParseCIDR(proxies)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header, socket string) {
		peer, err := netip.ParseAddrPort(socket)
		if err != nil || peer.Addr().Zone() != "" {
			return // a socket's address always is one
		}
		r := newRig(t, func(c *webhook.Config) { c.TrustedProxies = []string{proxies} })
		req := httptest.NewRequest("POST", "/webhooks/toy-shop", strings.NewReader("evt_1"))
		req.RemoteAddr = socket
		lines := strings.Split(header, "\n") // several header lines are one list
		req.Header["X-Forwarded-For"] = lines
		r.listener.Handler().ServeHTTP(httptest.NewRecorder(), req)
		host, _, _ := net.SplitHostPort(socket)
		if got, want := r.observer.last(t).IP, farthest(host, strings.Join(lines, ","), trusted); got != want {
			t.Fatalf("from %q with %q: %q, want %q", socket, header, got, want)
		}
	})
}

// farthest is the rule once more, from our end outwards.
func farthest(direct, header string, trusted *net.IPNet) string {
	far := net.ParseIP(direct)
	if !trusted.Contains(far) {
		return far.String()
	}
	hops := strings.Split(header, ",")
	for len(hops) > 0 {
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		next := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(last, "["), "]"))
		if next == nil {
			return direct
		}
		if far = next; !trusted.Contains(far) {
			break
		}
	}
	return far.String()
}
