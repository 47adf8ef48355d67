package api

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// Rate is how many requests each key may make, and each address without a valid key.
type Rate struct {
	PerSecond int
	Burst     int // at once, before PerSecond counts
}

// maxCallers bounds how many addresses are told apart at one time.
const maxCallers = 4096

// limiter counts requests by caller, in bounded memory: once there are too many callers to tell apart, new ones share
// one count. Safe for concurrent use.
type limiter struct {
	rate Rate

	mu      sync.Mutex
	callers map[string]*rate.Limiter
	others  *rate.Limiter // all that have no count of their own
	swept   time.Time
}

func newLimiter(r Rate) *limiter {
	return &limiter{rate: r, callers: map[string]*rate.Limiter{}, others: r.fresh()}
}

func (r Rate) fresh() *rate.Limiter { return rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst) }

// take counts one request. A wait above 0 means that it is too many, and when the next one may come.
func (l *limiter) take(caller string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(caller, now).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// of finds the caller's count, or makes room for one: a caller that has all its tokens back need not be remembered.
func (l *limiter) of(caller string, now time.Time) *rate.Limiter {
	if known, ok := l.callers[caller]; ok {
		return known
	}
	if len(l.callers) >= maxCallers {
		if passed := now.Sub(l.swept); passed >= 0 && passed < time.Second {
			return l.others
		}
		l.swept = now
		for name, count := range l.callers {
			if int(count.TokensAt(now)) >= l.rate.Burst {
				delete(l.callers, name)
			}
		}
		if len(l.callers) >= maxCallers {
			return l.others
		}
	}
	fresh := l.rate.fresh()
	l.callers[caller] = fresh
	return fresh
}

// limited turns away what a caller sends too fast, before anything else is done for it.
func (a *API) limited(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		caller := "address " + address(c.Request())
		key, ok := a.keys.Load().find(c.Request().Header)
		if ok {
			c.Set(contextKey, key)
			caller = "key " + key.Name
		}
		if wait := a.limiter.take(caller, a.cfg.Now()); wait > 0 {
			seconds := int((wait + time.Second - 1) / time.Second)
			c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
			return kindRateLimited.because("wait as long as Retry-After says; %d requests a second are allowed, %d at once", a.cfg.Rate.PerSecond, a.cfg.Rate.Burst)
		}
		return next(c)
	}
}

// address is the connection's other end; of IPv6, the network that one customer has. Headers that name another one are
// not believed.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
