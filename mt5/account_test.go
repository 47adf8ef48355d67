package mt5

import (
	"errors"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func TestAccount_TakesCurrencyAndDigitsFromTheGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for login, want := range map[uint64]credit.AccountState{
		testLogin: {Login: testLogin, Group: `real\forex\eur`, Currency: "EUR", Digits: 2},
		jpyLogin:  {Login: jpyLogin, Group: `real\jpy`, Currency: "JPY", Digits: 0},
	} {
		got, err := r.session.Account(t.Context(), login)
		want.Registered = got.Registered
		if err != nil || got != want {
			t.Errorf("account %+v %v, want %+v", got, err, want)
		}
	}
}

func TestH42_RegistrationIsReadInUTCAndOnlyWhereItIsSaid(t *testing.T) {
	t.Parallel()
	opened := testStart.Add(-30 * 24 * time.Hour)
	r := newRig(t, onWorld(func(w *fakemt5.World) {
		for i := range w.Accounts {
			w.Accounts[i].Registration = opened.Add(2 * time.Hour).Unix() // the rig's server is two hours ahead
		}
	}))
	if got, err := r.session.Account(t.Context(), testLogin); err != nil || !got.Registered.Equal(opened) {
		t.Errorf("registered %s, %v; want %s", got.Registered, err, opened)
	}
	for _, text := range []string{"", "0", "-1", "1.5", "soon", "1527173711000"} {
		if got := r.session.registered(scalar{text: text, set: true}); !got.IsZero() {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestAccount_EveryWireForm(t *testing.T) {
	t.Parallel()
	for _, keys := range []fakemt5.KeyCase{fakemt5.KeysDocumented, fakemt5.KeysLower, fakemt5.KeysCamel} {
		for _, scalars := range []string{"strings", "numbers"} {
			for _, bare := range []bool{false, true} {
				r := newRig(t, onWire(func(w *fakemt5.Wire) { w.KeyCase, w.Scalars, w.BareBackslash = keys, scalars, bare }))
				got, err := r.session.Account(t.Context(), testLogin)
				if err != nil || got.Group != `real\forex\eur` || got.Currency != "EUR" || got.Digits != 2 {
					t.Errorf("%s %s bare %v: %+v %v", keys, scalars, bare, got, err)
				}
				booked := r.session.Balance(t.Context(), r.call())
				if booked.Outcome != credit.OutcomeApplied {
					t.Errorf("%s %s bare %v: %+v", keys, scalars, bare, booked)
				}
				r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.50", Comment: `by hand \n "x"`})
				s := r.look(r.query(testLogin))
				if len(s.Deals) != 2 || s.Deals[0].Ticket != booked.Ticket || s.Deals[0].Comment != string(reference) || s.Deals[1].Amount.String() != "1.50 EUR" {
					t.Errorf("%s %s bare %v: %+v", keys, scalars, bare, s)
				}
				if s := r.look(r.query(emptyLogin)); s.Rows != 0 {
					t.Errorf("%s %s bare %v: %+v", keys, scalars, bare, s)
				}
			}
		}
	}
}

func TestAccount_NotFoundOnlyWhereMT5SaysSo(t *testing.T) {
	t.Parallel()
	for unknown, found := range map[fakemt5.Refusal]bool{
		"13": true, "404 13": true, "3": false, "8": false, "404 -": false, "400 13": false, "500 13": false, "403 13": false, "404 3": false,
	} {
		t.Run(string(unknown), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, onWire(func(w *fakemt5.Wire) { w.UnknownUser = unknown }))
			_, err := r.session.Account(t.Context(), 999999)
			if err == nil || errors.Is(err, credit.ErrNotFound) != found {
				t.Errorf("account: %v, want not found %v", err, found)
			}
			s := r.session.Look(t.Context(), r.query(999999))
			if s.Complete || s.Reason == "" || s.LoginMissing != found {
				t.Errorf("look: %+v, want login missing %v", s, found)
			}
		})
	}
}

func TestAccount_AGroupThatIsNotFoundIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Where: "group/get", Kind: fakemt5.RefuseCode, Code: 13})
	if _, err := r.session.Account(t.Context(), testLogin); err == nil || errors.Is(err, credit.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if n := len(r.seen.of("group/get")); n != 2 {
		t.Errorf("%d group reads, want a second one with escaped backslashes", n)
	}
}

func TestH13_AccountAnswerForAnotherLoginDropsTheConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.fault(fakemt5.Rule{Where: "user/get", Kind: fakemt5.WrongLogin, Other: jpyLogin})
	if _, err := r.session.Account(t.Context(), testLogin); !errors.Is(err, errForeign) {
		t.Errorf("error %v", err)
	}
	if r.session.wire != nil {
		t.Error("the connection stays")
	}
}

func TestH38_AccountSaysWhatTheConfigurationForbids(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		currencies map[string]int
		groups     []string
		refusal    string
	}{
		"all allowed":     {},
		"currency listed": {currencies: map[string]int{"EUR": 2}},
		"other currency":  {map[string]int{"USD": 2}, nil, `account currency "EUR" is not among`},
		"other digits":    {map[string]int{"EUR": 4}, nil, "accounts in EUR have 2 digits"},
		"group fits":      {groups: []string{`!demo\*`, `real\*`}},
		"group excluded":  {nil, []string{`!real\forex\*`, `*`}, `group "real\\forex\\eur" is not among`},
		"group unlisted":  {nil, []string{`real\jpy`}, `group "real\\forex\\eur" is not among`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, onClient(func(cfg *Config) { cfg.Currencies, cfg.Groups = c.currencies, c.groups }))
			got, err := r.session.Account(t.Context(), testLogin)
			if err != nil || (got.Refusal == "") != (c.refusal == "") || !strings.HasPrefix(got.Refusal, c.refusal) {
				t.Errorf("refusal %q %v, want %q", got.Refusal, err, c.refusal)
			}
		})
	}
}

func TestMatchMask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mask, name string
		want       bool
	}{
		{"*", "", true}, {"*", `real\eur`, true}, {`real\*`, `real\eur`, true}, {`real\*`, `demo\eur`, false},
		{`*\eur`, `real\eur`, true}, {`r*l\*r`, `real\eur`, true}, {`a*a`, "a", false}, {`a*a`, "aa", true},
		{`real`, `real\eur`, false}, {`*eur*usd*`, `xeurusd`, true}, {`*usd*eur*`, `xeurusd`, false}, {"", "", true},
	} {
		if got := matchMask(c.mask, c.name); got != c.want {
			t.Errorf("%q on %q: %v", c.mask, c.name, got)
		}
	}
}

func TestReads_AreRepeatedOnceOnANewSession(t *testing.T) {
	t.Parallel()
	for _, dead := range []fakemt5.Refusal{"403 -", "401 -", "403 8", "close"} {
		r := newRig(t, onWire(func(w *fakemt5.Wire) { w.DeadSession = dead }))
		r.ready()
		if err := r.control.KillSessions(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := r.session.Account(t.Context(), testLogin); err != nil {
			t.Errorf("%s: %v", dead, err)
		}
		if n := r.seen.connections(); n != 2 {
			t.Errorf("%s: %d connections, want 2", dead, n)
		}
	}
}

func TestReads_ARightThatIsMissingDoesNotCostAnAuthenticationEachTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.fault(fakemt5.Rule{Where: "user/get", Kind: fakemt5.HTTPStatus, Status: 403, Body: `{"retcode":"8 Not permitted"}`})
	for range 5 {
		_, err := r.session.Account(t.Context(), testLogin)
		if err == nil || !strings.Contains(err.Error(), "8 MT_RET_ERR_PERMISSIONS") {
			t.Fatalf("error %v", err)
		}
	}
	if n := r.seen.connections(); n != 2 {
		t.Errorf("%d connections for 5 refused reads, want 2", n)
	}
	r.clock.Advance(paceFirst)
	if err := r.control.ClearFaults(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.session.Account(t.Context(), testLogin); err != nil {
		t.Error(err)
	}
}

func TestReads_ConnectionResetWhileIdleIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	if err := r.control.ResetConnections(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.session.Account(t.Context(), testLogin); err != nil {
		t.Error(err)
	}
}

func TestDeal_TellsNotFoundFromNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.session.Deal(t.Context(), 1); !errors.Is(err, credit.ErrNotFound) {
		t.Errorf("unknown ticket: %v", err)
	}
	ticket := r.add(fakemt5.ManualDeal{Login: testLogin, Action: 2, Amount: "1.00"})
	for _, rule := range []fakemt5.Rule{
		{Where: "deal/get", Kind: fakemt5.RefuseCode, Code: 3}, {Where: "deal/get", Kind: fakemt5.EmptyBody},
		{Where: "deal/get", Kind: fakemt5.WrongTicket}, {Where: "deal/get", Kind: fakemt5.GarbledBody},
		{Where: "user/get", Kind: fakemt5.RefuseCode, Code: 13}, {Where: "deal/get", Kind: fakemt5.HTTPStatus, Status: 500},
	} {
		r.session.Drop("so that the currency is read again")
		r.fault(rule)
		if _, err := r.session.Deal(t.Context(), ticket); err == nil || errors.Is(err, credit.ErrNotFound) {
			t.Errorf("%s at %s: %v", rule.Kind, rule.Where, err)
		}
		if err := r.control.ClearFaults(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := r.session.Deal(t.Context(), ticket); err != nil || d.Amount.String() != "1.00 EUR" {
		t.Errorf("deal %+v %v", d, err)
	}
}

func TestAccount_AnswersThatDoNotFitAreNoAnswer(t *testing.T) {
	t.Parallel()
	for body, where := range map[string]string{
		`{"retcode":"0 Done"}`:                                                                         "user/get",
		`{"retcode":"0 Done","answer":[]}`:                                                             "user/get",
		`{"retcode":"0 Done","answer":{"Group":"real\\jpy"}}`:                                          "user/get",
		`{"retcode":"0 Done","answer":{"Login":"500123"}}`:                                             "user/get",
		`{"retcode":"0 Done","answer":{"Login":"500123.0","Group":"real\\jpy"}}`:                       "user/get",
		`{"retcode":"0 Done","answer":{}}`:                                                             "group/get",
		`{"retcode":"0 Done","answer":{"Group":"g","Currency":"EUR","CurrencyDigits":2}}`:              "group/get",
		`{"retcode":"0 Done","answer":{"Group":"real\\forex\\eur","Currency":"EUR"}}`:                  "group/get",
		`{"retcode":"0","answer":{"Group":"real\\forex\\eur","Currency":"EUR","CurrencyDigits":"-1"}}`: "group/get",
		`{"retcode":"0","answer":{"Group":"real\\forex\\eur","Currency":"EUR","CurrencyDigits":"99"}}`: "group/get",
		`{"retcode":"0","answer":{"Group":"real\\forex\\eur","Currency":"","CurrencyDigits":"2"}}`:     "group/get",
		`{"retcode":"0","answer":{"Group":"real\\forex\\eur","Currency":"eur","CurrencyDigits":"2"}}`:  "group/get",
	} {
		r := newRig(t)
		r.ready()
		r.fault(fakemt5.Rule{Where: where, Kind: fakemt5.GarbledBody, Body: body})
		if a, err := r.session.Account(t.Context(), testLogin); err == nil || errors.Is(err, credit.ErrNotFound) || r.session.wire != nil {
			t.Errorf("%s %s: %+v %v, connection %v", where, body, a, err, r.session.wire != nil)
		}
	}
}

func TestAccount_AGroupInAListOfOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Where: "group/get", Kind: fakemt5.GarbledBody,
		Body: `{"retcode":"0","answer":[{"Group":"real\\forex\\eur","Currency":"EUR","CurrencyDigits":"2"}]}`})
	if a, err := r.session.Account(t.Context(), testLogin); err != nil || a.Currency != "EUR" {
		t.Errorf("%+v %v", a, err)
	}
}
