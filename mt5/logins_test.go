package mt5

import (
	"slices"
	"strings"
	"testing"

	"creditonce/mt5/fakemt5"
)

const eurGroup = `real\forex\eur`

func (r *rig) account(login uint64, group string) {
	r.t.Helper()
	if _, err := r.control.AddAccount(r.t.Context(), fakemt5.Account{Login: login, Group: group}); err != nil {
		r.t.Fatal(err)
	}
}

// logins demands a list.
func (r *rig) logins(masks ...string) []uint64 {
	r.t.Helper()
	r.ready()
	list, err := r.session.Logins(r.t.Context(), masks)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func TestLogins_OfMasksInWhateverWayTheServerReadsBackslashes(t *testing.T) {
	t.Parallel()
	for _, escape := range []string{"none", "strict"} {
		for _, scalars := range []string{"strings", "numbers"} {
			r := newRig(t, onWire(func(w *fakemt5.Wire) { w.MaskEscape, w.Scalars = escape, scalars }))
			for masks, want := range map[string][]uint64{
				eurGroup:                             {testLogin, emptyLogin},
				`real\*`:                             {testLogin, emptyLogin, jpyLogin},
				`*`:                                  {testLogin, emptyLogin, jpyLogin},
				eurGroup + " " + `real\jpy`:          {testLogin, emptyLogin, jpyLogin},
				`real\jpy ` + eurGroup + ` *`:        {testLogin, emptyLogin, jpyLogin},
				`real\* !real\jpy`:                   {testLogin, emptyLogin},
				`!real\forex\* real\*`:               {jpyLogin},
				`real\jpy real\forex\* !real\forex*`: {jpyLogin},
				`demo\*`:                             nil,
			} {
				if got := r.logins(strings.Fields(masks)...); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %s: %v, want %v", escape, scalars, masks, got, want)
				}
			}
		}
	}
}

// The names of groups without their backslashes are names of groups too.
func TestLogins_OfGroupsWhoseNamesDifferInBackslashesOnly(t *testing.T) {
	t.Parallel()
	for _, escape := range []string{"none", "strict"} {
		r := newRig(t, onWorld(func(w *fakemt5.World) {
			w.Wire.MaskEscape = escape
			w.Groups = append(w.Groups, fakemt5.Group{Name: "realjpy", Currency: "JPY"}, fakemt5.Group{Name: `real\usd`, Currency: "USD", Digits: 2})
			w.Accounts = append(w.Accounts, fakemt5.Account{Login: 5, Group: "realjpy"}, fakemt5.Account{Login: 900_000, Group: "realjpy"})
		}))
		for masks, want := range map[string][]uint64{`real\jpy`: {jpyLogin}, `realjpy`: {5, 900_000}, `real\usd`: nil, `real* !real\forex\*`: {5, jpyLogin, 900_000}} {
			if got := r.logins(strings.Fields(masks)...); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %v, want %v", escape, masks, got, want)
			}
		}
		if n := len(r.seen.exchanges); n > 4*35 {
			t.Errorf("%d requests", n)
		}
	}
}

func TestLogins_MasksThatAreNoneAreRefusedBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	for _, masks := range [][]string{nil, {""}, {"!"}, {"!real"}, {"real,demo"}, {" real"}, {"real!x"}} {
		if list, err := r.session.Logins(t.Context(), masks); err == nil {
			t.Errorf("%q: %v", masks, list)
		}
	}
	if n := len(r.seen.of("user/logins")); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// What looks like no login, or like fewer, and is not said readably twice, is no answer.
func TestLogins_FaultsGiveNoListAndNeverAShorterOne(t *testing.T) {
	t.Parallel()
	type rule = fakemt5.Rule
	whole := []uint64{testLogin, emptyLogin}
	for name, c := range map[string]struct {
		rule     rule
		complete bool
	}{
		"first answer cut":      {rule{Kind: fakemt5.PageCut, Rows: 1, Count: 1}, true},
		"second answer cut":     {rule{Kind: fakemt5.PageCut, Rows: 1, Skip: 1, Count: 1}, true},
		"first answer empty":    {rule{Kind: fakemt5.PageCut, Count: 1}, true},
		"code 13":               {rule{Kind: fakemt5.RefuseCode, Code: 13}, false},
		"code 1":                {rule{Kind: fakemt5.RefuseCode, Code: 1}, false},
		"code 8":                {rule{Kind: fakemt5.RefuseCode, Code: 8}, false},
		"garbled":               {rule{Kind: fakemt5.GarbledBody}, false},
		"empty body":            {rule{Kind: fakemt5.EmptyBody}, false},
		"cut on the wire":       {rule{Kind: fakemt5.CutBody}, false},
		"dropped":               {rule{Kind: fakemt5.DropBefore}, false},
		"server error":          {rule{Kind: fakemt5.HTTPStatus, Status: 500}, false},
		"forbidden":             {rule{Kind: fakemt5.HTTPStatus, Status: 403}, false},
		"session lost once":     {rule{Kind: fakemt5.SessionLost, Count: 1}, true},
		"session lost midway":   {rule{Kind: fakemt5.SessionLost, Skip: 1, Count: 1}, true},
		"absent":                {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done"}`}, false},
		"null":                  {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":null}`}, false},
		"an object":             {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":{"Total":"0"}}`}, false},
		"a login twice":         {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":["500123","500123"]}`}, false},
		"no number":             {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":["500123",""]}`}, false},
		"login 0":               {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":["0"]}`}, false},
		"logins of other group": {rule{Kind: fakemt5.GarbledBody, Body: `{"retcode":"0 Done","answer":["500123","500300"]}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ready()
			c.rule.Where = "user/logins"
			r.fault(c.rule)
			list, err := r.session.Logins(t.Context(), []string{eurGroup})
			if c.complete != (err == nil) || (err == nil && !slices.Equal(list, whole)) {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

func TestLogins_OtherFormsOfNoneAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"null", "absent", "1", "13", "404 13", "8"} {
		r := newRig(t, onWire(func(w *fakemt5.Wire) { w.EmptyLogins = form }))
		r.ready()
		if list, err := r.session.Logins(t.Context(), []string{`demo\*`}); err == nil || !strings.Contains(err.Error(), `group mask "demo\\*"`) {
			t.Errorf("%s: %v, %v", form, list, err)
		}
	}
}

func TestLogins_OpenedMeanwhileDoNoHarm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	next := uint64(600_000)
	r.session.cfg.Observer = watcher{func(e Exchange) {
		if e.Endpoint == "user/logins" {
			next++
			r.account(next, eurGroup)
		}
	}}
	list, err := r.session.Logins(t.Context(), []string{`real\*`})
	if err != nil || !slices.Equal(list, []uint64{testLogin, emptyLogin, jpyLogin, 600_001}) {
		t.Errorf("%v, %v", list, err)
	}
}

func TestLogins_RequestsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	gone := uint64(0)
	for i := range uint64(12) {
		r.account(700_000+i, eurGroup)
	}
	asked := 0
	r.session.cfg.Observer = watcher{func(e Exchange) {
		asked++
		if err := r.control.RemoveAccount(t.Context(), 700_000+gone); err != nil {
			t.Error(err)
		}
		gone++
	}}
	if list, err := r.session.Logins(t.Context(), []string{eurGroup}); err == nil || asked != mostLoginReads {
		t.Errorf("%d requests: %v, %v", asked, list, err)
	}
}

func TestLogins_OfManyAccountsComeInOneAnswer(t *testing.T) {
	t.Parallel()
	const many = 20_000
	r := newRig(t, onWorld(func(w *fakemt5.World) {
		for i := range uint64(many) {
			w.Accounts = append(w.Accounts, fakemt5.Account{Login: 1_000_000 + i, Group: eurGroup})
		}
	}))
	if list := r.logins(`real\*`); len(list) != many+3 || !slices.IsSorted(list) {
		t.Errorf("%d logins", len(list))
	}
	if n := len(r.seen.of("user/logins")); n != 4 { // as it stands and escaped, each twice
		t.Errorf("%d requests", n)
	}
}

func TestLogins_ASecondCallerIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.session.busy.Store(true)
	if list, err := r.session.Logins(t.Context(), []string{"*"}); err == nil {
		t.Errorf("listed %v", list)
	}
}

// watcher tells a test of each exchange, while the session is in its call.
type watcher struct{ exchanged func(Exchange) }

func (w watcher) Exchanged(e Exchange)          { w.exchanged(e) }
func (w watcher) Connected(string, int, string) {}
func (w watcher) Dropped(string, int, string)   {}
