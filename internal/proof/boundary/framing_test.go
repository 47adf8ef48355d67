package boundary

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"creditonce/store"
)

// attack is a sequence of bytes on one connection, what may be answered, and how many events must be there afterwards.
type attack struct {
	bytes  func(p *public) string
	answer []int // all of the statuses, in order
	events int
}

// attacks are requests that two readers could take for different ones, or that try to get more than one verdict out of
// one signature. Whatever a proxy in front makes of them: the body that is verified is the body that is stored.
var attacks = map[string]attack{
	"plain":         {func(p *public) string { return p.next().raw() }, []int{200}, 1},
	"plain, twice":  {func(p *public) string { n := p.next(); return n.raw() + n.raw() }, []int{200, 200}, 1},
	"HTTP/1.0":      {func(p *public) string { return strings.Replace(p.next().raw(), "HTTP/1.1", "HTTP/1.0", 1) }, []int{200}, 1},
	"absolute form": {func(p *public) string { return strings.Replace(p.next().raw(), "POST /", "POST http://other/", 1) }, []int{200}, 1},
	"pipelined, one of them forged": {func(p *public) string {
		forged := p.next()
		forged.body = strings.Replace(forged.body, "created", "updated", 1)
		return p.next().raw() + forged.raw() + p.next().raw() + p.next().raw()
	}, []int{200, 401, 200, 200}, 3},
	"length too small, the rest is a request": {func(p *public) string {
		n := p.next()
		return n.withBody("Content-Length: 5\r\n", n.body+p.next().raw())
	}, []int{401, 400}, 0},
	"a request inside a request": {func(p *public) string {
		inner, outer := p.next(), p.next()
		outer.body = inner.raw()
		return outer.raw()
	}, []int{401}, 0},
	"length too large": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length: %d\r\n", len(n.body)+1), n.body)
	}, []int{400}, 0},
	"length too large, filled": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length: %d\r\n", len(n.body)+1), n.body+" ")
	}, []int{401}, 0},
	"two lengths": {func(p *public) string { n := p.next(); return n.raw("Content-Length: 5\r\n") }, []int{400}, 0},
	"length in one line twice": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length: %d, %[1]d\r\n", len(n.body)), n.body)
	}, []int{400}, 0},
	"length with a plus": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length: +%d\r\n", len(n.body)), n.body)
	}, []int{400}, 0},
	"length in hex": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length: 0x%x\r\n", len(n.body)), n.body)
	}, []int{400}, 0},
	"negative length": {func(p *public) string { n := p.next(); return n.withBody("Content-Length: -1\r\n", n.body) }, []int{400}, 0},
	"no length":       {func(p *public) string { n := p.next(); return n.withBody("", n.body) }, []int{401, 400}, 0},
	"space before the colon": {func(p *public) string {
		n := p.next()
		return n.withBody(fmt.Sprintf("Content-Length : %d\r\n", len(n.body)), n.body)
	}, []int{400}, 0},
	"chunks": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", n.chunks(7))
	}, []int{200}, 1},
	"chunks and a length": {func(p *public) string {
		n := p.next()
		return n.withBody("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", n.chunks(7))
	}, []int{200}, 1},
	"a length and chunks": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", n.chunks(7))
	}, []int{200}, 1},
	"chunks twice": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", n.chunks(7))
	}, []int{501}, 0},
	"chunks and identity": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked, identity\r\n", n.chunks(7))
	}, []int{501}, 0},
	"gzip in chunks": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: gzip, chunked\r\n", n.chunks(7))
	}, []int{501}, 0},
	"chunked in disguise": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: xchunked\r\n", n.chunks(7))
	}, []int{501}, 0},
	"chunked with a tab": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding:\x0bchunked\r\n", n.chunks(7))
	}, []int{400}, 0},
	"chunk longer than said": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", "5\r\n"+n.body+"\r\n0\r\n\r\n")
	}, []int{400}, 0},
	"chunk size overflows": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"+n.body+"\r\n0\r\n\r\n")
	}, []int{400}, 0},
	"chunks without an end": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n", len(n.body), n.body))
	}, []int{400}, 0},
	"extensions without end": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x;%s\r\n%s\r\n0\r\n\r\n", len(n.body), strings.Repeat("x", 1<<20), n.body))
	}, []int{400}, 0},
	"chunks without size": {func(p *public) string {
		n := p.next()
		return n.withBody("Transfer-Encoding: chunked\r\n", strings.Repeat("1\r\nx\r\n", 300_000))
	}, []int{413}, 0},
	"signature in a trailer": {func(p *public) string {
		n := p.next()
		trailer := n.headers
		n.headers = ""
		return n.withBody("Transfer-Encoding: chunked\r\nTrailer: Stripe-Signature, Webhook-Signature\r\n", strings.TrimSuffix(n.chunks(7), "\r\n")+trailer+"\r\n")
	}, []int{401}, 0},
	"good signature and a bad one": {func(p *public) string {
		n := p.next()
		return n.raw("Stripe-Signature: t=1,v1=00\r\nWebhook-Signature: v1,AAAA\r\n")
	}, []int{401}, 0},
	"signature of another body": {func(p *public) string {
		n := p.next()
		n.headers = p.next().headers
		return n.raw()
	}, []int{401}, 0},
	"NUL in a header":        {func(p *public) string { return p.next().raw("X: a\x00b\r\n") }, []int{400}, 0},
	"header without a name":  {func(p *public) string { return p.next().raw(": x\r\n") }, []int{400}, 0},
	"header without a colon": {func(p *public) string { return p.next().raw("X\r\n") }, []int{400}, 0},
	"two hosts":              {func(p *public) string { return p.next().raw("Host: y\r\n") }, []int{400}, 0},
	"no host":                {func(p *public) string { return strings.Replace(p.next().raw(), "Host: x\r\n", "", 1) }, []int{400}, 0},
	"giant header":           {func(p *public) string { return p.next().raw("X: " + strings.Repeat("a", 64<<10) + "\r\n") }, []int{431}, 0},
	"header flood":           {func(p *public) string { return p.next().raw(strings.Repeat("X: a\r\n", 20_000)) }, []int{431}, 0},
	"giant request line": {func(p *public) string {
		return strings.Replace(p.next().raw(), " HTTP", "?"+strings.Repeat("a", 64<<10)+" HTTP", 1)
	}, []int{431}, 0},
	"body too large":         {func(p *public) string { n := p.next(); n.body = strings.Repeat("x", 256<<10+1); return n.raw() }, []int{413}, 0},
	"expects 100":            {func(p *public) string { return p.next().raw("Expect: 100-continue\r\n") }, []int{100, 200}, 1},
	"expects something else": {func(p *public) string { return p.next().raw("Expect: a miracle\r\n") }, []int{417}, 0},
	"upgrade to HTTP/2": {func(p *public) string {
		return p.next().raw("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n")
	}, []int{200}, 1},
	"HTTP/2 preface":       {func(p *public) string { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00", 64) }, []int{404}, 0},
	"HTTP/2.0 in the line": {func(p *public) string { return strings.Replace(p.next().raw(), "HTTP/1.1", "HTTP/2.0", 1) }, []int{505}, 0},
	"HTTP/1.9":             {func(p *public) string { return strings.Replace(p.next().raw(), "HTTP/1.1", "HTTP/1.9", 1) }, []int{200}, 1},
	"TLS hello": {func(*public) string {
		return "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x01", 64) + "\r\n\r\n"
	}, []int{400}, 0},
	"CONNECT": {func(p *public) string { return strings.Replace(p.next().raw(), "POST ", "CONNECT ", 1) }, []int{405}, 0},
	"method override": {func(p *public) string {
		return strings.Replace(p.next().raw("X-HTTP-Method-Override: POST\r\n"), "POST ", "GET ", 1)
	}, []int{405}, 0},
	"path through another": {func(p *public) string {
		return strings.Replace(p.next().raw(), "/webhooks/", "/webhooks/../webhooks/", 1)
	}, []int{404}, 0},
	"path with two slashes": {func(p *public) string { return strings.Replace(p.next().raw(), "/webhooks/", "//webhooks//", 1) }, []int{404}, 0},
	"compressed":            {func(p *public) string { return p.next().raw("Content-Encoding: gzip\r\n") }, []int{415}, 0},
}

// chunks is the body in chunks of n bytes.
func (n notification) chunks(size int) string {
	var out strings.Builder
	for part := range slices.Chunk([]byte(n.body), size) {
		fmt.Fprintf(&out, "%x\r\n%s\r\n", len(part), part)
	}
	return out.String() + "0\r\n\r\n"
}

func TestFraming_WhatIsVerifiedIsWhatIsStored(t *testing.T) {
	t.Parallel()
	for name, a := range attacks {
		for kind := range 2 { // of the provider that the first notification is of
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				t.Parallel()
				p := newPublic(t, func(o *store.Options) { o.UnsafeNoSync = true })
				p.number = kind
				got := p.talk(a.bytes(p))
				if !slices.Equal(got, a.answer) {
					t.Errorf("answers %v, want %v", got, a.answer)
				}
				if n := p.settle(count2xx(got)); n != a.events {
					t.Errorf("%d events, want %d", n, a.events)
				}
			})
		}
	}
}
