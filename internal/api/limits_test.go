package api

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// slow makes an API that takes two requests at once and one a second, with a clock that the test moves.
func slow(t *testing.T) (p *portal, move func(time.Duration)) {
	t.Helper()
	p = setup(t)
	var mu sync.Mutex
	now := noon
	p.api = p.restart(func(c *Config) {
		c.Rate = Rate{PerSecond: 1, Burst: 2}
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	})
	return p, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

func TestTooManyRequestsOfAKey_WaitAsLongAsTold(t *testing.T) {
	t.Parallel()
	p, move := slow(t)
	const path = "/v1/servers/main/accounts/1001"
	for range 2 {
		if w := p.do(get(lookKey, path)); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	calls, _ := p.book.counts()
	w := p.do(get(lookKey, path))
	wantProblem(t, w, http.StatusTooManyRequests, "rate_limited")
	if got := w.Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	if s := p.seen.last(t); s.Key != "look" || s.Status != http.StatusTooManyRequests {
		t.Errorf("observed %+v", s)
	}
	if after, _ := p.book.counts(); after != calls {
		t.Error("the book was asked")
	}
	if w := p.do(get(pageKey, "/v1/deposits")); w.Code != http.StatusOK {
		t.Errorf("another key: %d", w.Code)
	}
	seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
	if err != nil {
		t.Fatal(err)
	}
	move(time.Duration(seconds) * time.Second)
	if w := p.do(get(lookKey, path)); w.Code != http.StatusOK {
		t.Errorf("after the wait: %d", w.Code)
	}
	wantProblem(t, p.do(get(lookKey, path)), http.StatusTooManyRequests, "rate_limited")
}

// Without a valid key the address counts: wrong keys, pages and addresses that do not exist alike.
func TestRequestsWithoutAKey_CountByAddress(t *testing.T) {
	t.Parallel()
	p, _ := slow(t)
	from := func(address, path, key string) int {
		r := get(key, path).request()
		r.RemoteAddr = address
		return serve(p.api, r).Code
	}
	got := []int{from("192.0.2.1:1", "/docs/problems", ""), from("192.0.2.1:2", "/v1/deposits", "co_wrong"), from("192.0.2.1:3", "/nothing", ""),
		from("192.0.2.2:1", "/nothing", ""), from("192.0.2.1:4", "/v1/deposits", pageKey),
		from("[2001:db8::1]:1", "/docs/problems", ""), from("[2001:db8::ffff]:1", "/docs/problems", ""), from("[2001:db8:0:0:8::1]:1", "/docs/problems", ""), from("[2001:db8:0:1::1]:1", "/docs/problems", "")}
	if want := []int{200, 401, 429, 404, 200, 200, 200, 429, 200}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answered %v, want %v", got, want)
	}
}

// However many addresses there are, only so many are remembered; the rest share one count, and those that have rested
// make room.
func TestCallersAreRememberedInBoundedMemory(t *testing.T) {
	t.Parallel()
	l := newLimiter(Rate{PerSecond: 1, Burst: 2})
	for i := range maxCallers {
		if l.take(fmt.Sprint(i), noon) > 0 {
			t.Fatalf("caller %d waits at its first request", i)
		}
	}
	refused := 0
	for i := range 100 {
		if l.take(fmt.Sprint("new", i), noon.Add(time.Millisecond)) > 0 {
			refused++
		}
	}
	if refused != 98 || len(l.callers) != maxCallers {
		t.Errorf("%d of 100 refused, %d callers", refused, len(l.callers))
	}
	later := noon.Add(3 * time.Second)
	if l.take("late", later) > 0 || len(l.callers) != 1 {
		t.Errorf("%d callers after a rest", len(l.callers))
	}
}
