package mt5

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func TestAuthVectors_AllAnswersAgree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/auth-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Auth []struct {
			Password   string `json:"password"`
			Hash       string `json:"password_hash"`
			ServerRand string `json:"srv_rand"`
			Answer     string `json:"srv_rand_answer"`
			ClientRand string `json:"cli_rand"`
			Proof      string `json:"cli_rand_answer"`
		} `json:"auth"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Auth) != 4 {
		t.Fatalf("%d vectors, want 4", len(vectors.Auth))
	}
	for _, v := range vectors.Auth {
		hash, err := passwordHash([]byte(v.Password))
		if err != nil || hex.EncodeToString(hash) != v.Hash {
			t.Errorf("%s: hash %x %v, want %s", v.Password, hash, err, v.Hash)
		}
		for random, want := range map[string]string{v.ServerRand: v.Answer, v.ClientRand: v.Proof} {
			raw, err := hex.DecodeString(random)
			if got := randAnswer(hash, raw); err != nil || got != want {
				t.Errorf("%s: answer to %s is %s, want %s", v.Password, random, got, want)
			}
		}
	}
}

func TestPasswordHash_RefusesWhatIsNotText(t *testing.T) {
	t.Parallel()
	if _, err := passwordHash([]byte{0xff, 0xfe}); err == nil {
		t.Error("bytes that are no UTF-8 were hashed")
	}
}

func TestReady_AuthenticatesOnceAndKeepsTheConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.ready()
	if n := r.seen.connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	if r.session.clock.offset != 2*time.Hour {
		t.Errorf("offset %s, want 2h", r.session.clock.offset)
	}
}

func TestReady_WrongPasswordIsSaidPlainlyAndBacksOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, onClient(func(c *Config) { c.Password = func() []byte { return []byte("not-the-password") } }))
	for _, seconds := range []int{5, 10, 20, 40, 80, 120, 120} {
		wait := time.Duration(seconds) * time.Second
		before := len(r.seen.of("auth/answer"))
		err := r.session.Ready(t.Context())
		if err == nil || !strings.Contains(err.Error(), "1001 MT_RET_AUTH_ACCOUNT_INVALID") || strings.Contains(err.Error(), "not-the-password") {
			t.Fatalf("error %v", err)
		}
		r.clock.Advance(wait - time.Millisecond)
		err = r.session.Ready(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the next try is in") {
			t.Fatalf("after nearly %v: %v", wait, err)
		}
		if tries := len(r.seen.of("auth/answer")) - before; tries != 1 {
			t.Fatalf("%d authentications within the wait, want 1", tries)
		}
		r.clock.Advance(time.Millisecond)
	}
}

func TestH26_ServerOfAnotherNameMovesNoMoney(t *testing.T) {
	t.Parallel()
	r := newRig(t, onWorld(func(w *fakemt5.World) { w.Server = "ExampleBroker-Demo" }))
	err := r.session.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), `"ExampleBroker-Demo"`) || !strings.Contains(err.Error(), "correct the address or the identity") {
		t.Fatalf("error %v", err)
	}
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeNotSent {
		t.Errorf("outcome %+v", got)
	}
	if _, err := r.session.Account(t.Context(), testLogin); err == nil {
		t.Error("an account was read on the wrong server")
	}
	if n := len(r.executed()); n != 0 {
		t.Errorf("%d deals were made", n)
	}
}

func TestReady_AuthenticationFaultsLeaveNoSession(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]fakemt5.Rule{
		"start garbled":     {Where: "auth/start", Kind: fakemt5.GarbledBody},
		"start without":     {Where: "auth/start", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done"}`},
		"start short":       {Where: "auth/start", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","srv_rand":"0011"}`},
		"answer cut":        {Where: "auth/answer", Kind: fakemt5.CutBody},
		"answer unproven":   {Where: "auth/answer", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done"}`},
		"answer false":      {Where: "auth/answer", Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","cli_rand_answer":"00000000000000000000000000000000"}`},
		"no configuration":  {Where: "auth/answer", Kind: fakemt5.RefuseCode, Code: 1011},
		"name not readable": {Where: "common/get", Kind: fakemt5.EmptyBody},
		"name refused":      {Where: "common/get", Kind: fakemt5.RefuseCode, Code: 8},
		"403 everywhere":    {Where: "*", Kind: fakemt5.HTTPStatus, Status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.fault(rule)
			if err := r.session.Ready(t.Context()); err == nil {
				t.Fatal("the session is ready")
			}
			if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeNotSent {
				t.Errorf("outcome %+v", got)
			}
			if err := r.control.ClearFaults(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.clock.Advance(paceFirst)
			r.ready()
		})
	}
}

func TestReady_FailsWhereNoRandomBytesCome(t *testing.T) {
	t.Parallel()
	r := newRig(t, onClient(func(c *Config) { c.Rand = bytes.NewReader(nil) }))
	if err := r.session.Ready(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF of the random source", err)
	}
}

func TestReady_TriesTheNextAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, onClient(func(c *Config) { c.Addresses = []string{refusedAddress(t)} }))
	r.ready()
	if r.session.address != 1 {
		t.Errorf("address %d, want 1", r.session.address)
	}
}

func TestReady_PingsWhenIdleAndDialsAgainWhenTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.clock.Advance(19 * time.Second)
	r.ready()
	if n := len(r.seen.of("test/access")); n != 0 {
		t.Errorf("%d pings after 19 s, want none", n)
	}
	r.clock.Advance(2 * time.Second)
	r.ready()
	if n := len(r.seen.of("test/access")); n != 1 {
		t.Errorf("%d pings after 21 s, want 1", n)
	}
	r.clock.Advance(149 * time.Second)
	if err := r.session.Ping(t.Context()); err != nil || len(r.seen.of("test/access")) != 2 {
		t.Errorf("ping after 149 s: %v", err)
	}
	r.clock.Advance(151 * time.Second)
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeNotSent {
		t.Errorf("a call on a connection that was idle for 151 s: %+v", got)
	}
	r.ready()
	if n := r.seen.connections(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	if calls := r.seen.of("trade/balance"); len(calls) != 0 {
		t.Errorf("exchanges %+v, want none", calls)
	}
}

func TestReady_MeasuresTheClockAgainWhenTheMeasureIsOld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	if err := r.control.SetZone(t.Context(), fakemt5.Zone{OffsetMinutes: 180}); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(2 * time.Minute)
	r.ready()
	if r.session.clock.offset != 2*time.Hour {
		t.Errorf("offset %s after 2 min, want the measured 2h", r.session.clock.offset)
	}
	r.clock.Advance(2 * time.Minute)
	r.ready()
	r.clock.Advance(2 * time.Minute)
	r.ready()
	if r.session.clock.offset != 3*time.Hour {
		t.Errorf("offset %s after 6 min, want 3h", r.session.clock.offset)
	}
}

func TestReady_OffsetsAroundTheWorld(t *testing.T) {
	t.Parallel()
	for _, minutes := range []int{-720, -210, -15, 0, 60, 345, 765, 840} {
		r := newRig(t, onWorld(func(w *fakemt5.World) { w.Zone.OffsetMinutes = minutes }))
		if _, err := r.control.ShiftClock(t.Context(), 100*time.Second); err != nil {
			t.Fatal(err)
		}
		r.ready()
		if want := time.Duration(minutes) * time.Minute; r.session.clock.offset != want {
			t.Errorf("offset %s, want %s", r.session.clock.offset, want)
		}
	}
}

func TestReady_RefusesAClockThatIsDaysAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.control.ShiftClock(t.Context(), 30*time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := r.session.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "correct this machine's clock") {
		t.Errorf("error %v", err)
	}
}

func TestClose_SaysGoodbyeAndTheSessionCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	if err := r.session.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(r.seen.of("quit")); n != 1 || r.session.wire != nil {
		t.Errorf("%d quits, connection %v", n, r.session.wire)
	}
	r.ready()
}

func TestSession_RefusesASecondCallerAtTheSameTime(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	r := newRig(t)
	r.ready()
	r.session.cfg.Step = func(_ context.Context, name string) {
		if name == credit.StepPartlyWritten {
			close(inside)
			<-leave
		}
	}
	done := make(chan credit.CallResult)
	go func() { done <- r.session.Balance(t.Context(), r.call()) }()
	<-inside
	if _, err := r.session.Account(t.Context(), testLogin); !errors.Is(err, errShared) {
		t.Errorf("second caller: %v", err)
	}
	if s := r.session.Look(t.Context(), r.query(testLogin)); s.Complete || s.Reason == "" {
		t.Errorf("second caller: %+v", s)
	}
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeNotSent {
		t.Errorf("second caller: %+v", got)
	}
	r.session.Drop("a second caller cannot drop it")
	close(leave)
	if got := <-done; got.Outcome != credit.OutcomeApplied {
		t.Errorf("first caller: %+v", got)
	}
}

func TestReady_AConnectionThatLayIdleForTooLongIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.clock.Advance(deadAfter)
	r.ready()
	if pings := len(r.seen.of("test/access")); pings != 0 || r.seen.connections() != 2 {
		t.Errorf("%d pings, %d connections; want none and 2", pings, r.seen.connections())
	}
}

// offsets is an observer that is also told of a moved clock.
type offsets struct {
	recorder
	moved []time.Duration
}

func (o *offsets) OffsetMoved(_ string, _ int, known, now time.Duration) {
	o.moved = append(o.moved, known, now)
}

func TestReady_ReportsAServerWhoseZoneMovedSinceItWasProbed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		known time.Duration
		moved bool
	}{{2 * time.Hour, false}, {3 * time.Hour, false}, {time.Hour, false}, {-time.Hour, true}, {4 * time.Hour, true}} {
		seen := &offsets{}
		r := newRig(t, onClient(func(c *Config) { c.Offset, c.Observer = &test.known, seen }))
		r.ready()
		if got := len(seen.moved) == 2; got != test.moved || got && (seen.moved[0] != test.known || seen.moved[1] != 2*time.Hour) {
			t.Errorf("known %s: reported %v", test.known, seen.moved)
		}
	}
}

func TestRefusedConnections_AreSaidOnceAndInOneLine(t *testing.T) {
	t.Parallel()
	first, second := refusedAddress(t), refusedAddress(t)
	r := newRig(t)
	r.session.cfg.Addresses = []string{first, second}
	err := r.session.Ready(t.Context())
	want := "mt5 main: connect: " + first + ": connection refused; " + second + ": connection refused"
	if err == nil || err.Error() != want || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %q, want %q", err, want)
	}
}
