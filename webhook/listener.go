package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// MaxBody is the largest body that is ever read, in bytes (design §5.1).
const MaxBody = 256 << 10

// readersPerSlot is how many bodies may be read at once for each request that is verified and stored.
// With the defaults slow callers can make the process hold at most 512 × 256 KiB.
const readersPerSlot = 8

// Intake is what the listener needs of the domain; *credit.Reception is one. Receive returns nil only
// after the event is on disk.
type Intake interface {
	Receive(ctx context.Context, e credit.Event) (credit.Receipt, error)
}

// Endpoint is one provider under its name in the path. Account is the firm's own merchant account.
type Endpoint struct {
	Name     string
	Account  string
	Provider Provider
}

// Config is what a Listener is made of. All of it is required but MaxBody (0: the most, 256 KiB),
// MaxInFlight (how many requests are verified and stored at once, further ones get a 503; 0: 64) and TrustedProxies (CIDR ranges whose X-Forwarded-For is believed; none: the
// address is the socket's).
type Config struct {
	Endpoints      []Endpoint
	Intake         Intake
	Observer       Observer
	Now            func() time.Time
	Reference      func() string // a fresh random text for each failure
	MaxBody        int64
	MaxInFlight    int
	TrustedProxies []string
}

// Listener answers POST /webhooks/<name> and nothing else. It is safe for concurrent use.
type Listener struct {
	cfg       Config
	endpoints map[string]Endpoint
	decoy     Provider // verifies for names that do not exist, so that they cost the same
	reading   chan struct{}
	slots     chan struct{}
	echo      *echo.Echo
}

// New returns a listener, or an error that names what is missing or wrong.
func New(cfg Config) (*Listener, error) {
	if cfg.Intake == nil || cfg.Observer == nil || cfg.Now == nil || cfg.Reference == nil {
		return nil, errors.New("make webhook listener: intake, observer, clock and reference source are required")
	}
	if cfg.MaxBody < 0 || cfg.MaxBody > MaxBody {
		return nil, fmt.Errorf("make webhook listener: body limit %d is not in 0..%d", cfg.MaxBody, MaxBody)
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = MaxBody
	}
	if cfg.MaxInFlight <= 0 {
		cfg.MaxInFlight = 64
	}
	l := &Listener{
		cfg: cfg, endpoints: map[string]Endpoint{},
		reading: make(chan struct{}, readersPerSlot*cfg.MaxInFlight), slots: make(chan struct{}, cfg.MaxInFlight),
	}
	for _, e := range cfg.Endpoints {
		if _, twice := l.endpoints[e.Name]; twice || e.Name == "" || e.Provider == nil {
			return nil, fmt.Errorf("make webhook listener: endpoint %q is there twice, or lacks its name or provider", e.Name)
		}
		l.endpoints[e.Name] = e
	}
	if names := slices.Sorted(maps.Keys(l.endpoints)); len(names) > 0 {
		l.decoy = l.endpoints[names[0]].Provider
	}
	address, err := addresses(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	l.echo = echo.New()
	l.echo.IPExtractor = address
	l.echo.HTTPErrorHandler = l.unrouted
	l.echo.POST("/webhooks/:provider", l.receive)
	return l, nil
}

// Handler is the listener as an http.Handler.
func (l *Listener) Handler() http.Handler { return l.echo }

// addresses never trusts echo's default of all private ranges: what is not listed is not believed.
func addresses(proxies []string) (echo.IPExtractor, error) {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect(), nil
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		_, ipRange, err := net.ParseCIDR(p)
		if err != nil {
			return nil, fmt.Errorf("make webhook listener: trusted proxy %q is not an address range such as 10.0.0.0/24", p)
		}
		trust = append(trust, echo.TrustIPRange(ipRange))
	}
	return echo.ExtractIPFromXFFHeader(trust...), nil
}

// receive handles one request. The order is: body, slot, verify, store, answer.
func (l *Listener) receive(c echo.Context) error {
	begin := l.cfg.Now()
	r := Report{IP: c.RealIP(), Provider: l.endpoints[c.Param("provider")].Name}
	defer func() {
		if p := recover(); p != nil {
			r = l.failed(r, fmt.Errorf("panic: %v", p))
			l.answer(c, r)
		}
		r.Took = l.cfg.Now().Sub(begin)
		l.cfg.Observer.Webhook(c.Request().Context(), r)
	}()
	body, r := l.takeBody(c, r)
	if r.Status == 0 {
		r = l.takeEvent(c, body, r)
	}
	l.answer(c, r)
	if r.Status == http.StatusOK {
		l.cfg.Observer.Step(c.Request().Context(), credit.Step{Name: credit.StepAcknowledged})
	}
	return nil
}

// takeBody reads the body while it holds one of the reading places. They are more than the slots: who
// sends slowly holds a place for up to the read limit and needs no signature for that.
func (l *Listener) takeBody(c echo.Context, r Report) ([]byte, Report) {
	select {
	case l.reading <- struct{}{}:
		defer func() { <-l.reading }()
		return l.readBody(c, r)
	default:
		return nil, busy(r, errors.New("all places for reading a body are taken"))
	}
}

// takeEvent verifies and stores while it holds a slot.
func (l *Listener) takeEvent(c echo.Context, body []byte, r Report) Report {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
		return l.handle(c, body, r)
	default:
		return busy(r, errors.New("all request slots are taken"))
	}
}

func busy(r Report, err error) Report {
	r.Outcome, r.Status, r.Err = Busy, http.StatusServiceUnavailable, err
	return r
}

func (l *Listener) handle(c echo.Context, body []byte, r Report) Report {
	endpoint, known := l.endpoints[c.Param("provider")]
	// The context outlives the caller's connection: a caller that hangs up must not stop an event
	// between its commit and what follows from it.
	ctx := context.WithoutCancel(c.Request().Context())
	l.cfg.Observer.Step(ctx, credit.Step{Name: credit.StepBodyRead})
	now := l.cfg.Now().UTC()
	if !known {
		if l.decoy != nil {
			_ = l.decoy.Verify(c.Request().Header, body, now) // for its cost alone
		}
		r.Outcome, r.Status = UnknownProvider, http.StatusNotFound
		return r
	}
	if err := endpoint.Provider.Verify(c.Request().Header, body, now); err != nil {
		r.Outcome, r.Status, r.Err = Unverified, http.StatusUnauthorized, err
		return r
	}
	receipt, err := l.cfg.Intake.Receive(ctx, event(endpoint, c.Request().Header, body, now))
	switch {
	case err == nil:
		r.Outcome, r.Status, r.Receipt = Accepted, http.StatusOK, receipt
		if receipt.Repeat {
			r.Outcome = Repeated
		}
	case errors.Is(err, credit.ErrBusy), errors.Is(err, credit.ErrStopped):
		r = busy(r, err)
	default:
		r = l.failed(r, err)
	}
	return r
}

// event puts the evidence and the facts together. A verified body that cannot be read is an event too:
// its key is the body's digest, so that it is stored once and a person sees it (design §5.3).
func event(endpoint Endpoint, h http.Header, body []byte, now time.Time) credit.Event {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	mapped, err := endpoint.Provider.Map(h, body)
	if err == nil && mapped.MessageKey == "" {
		err = errors.New("the notification has no id")
	}
	if err != nil {
		mapped = Mapped{MessageKey: digest, Facts: credit.Facts{
			Type: mapped.Facts.Type, Effect: credit.EffectUnreadable, Problem: err.Error(),
		}}
	}
	headers := map[string]string{}
	for _, name := range endpoint.Provider.EvidenceHeaders() {
		if values := h.Values(name); len(values) > 0 {
			headers[http.CanonicalHeaderKey(name)] = strings.Join(values, ", ")
		}
	}
	return credit.Event{
		Provider: endpoint.Name, Kind: endpoint.Provider.Kind(), Account: endpoint.Account,
		MessageKey: mapped.MessageKey, Facts: mapped.Facts, Headers: headers,
		Digest: digest, Body: body, ReceivedAt: now,
	}
}
