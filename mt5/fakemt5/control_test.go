package fakemt5

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// raw calls the control port without the typed client.
func raw(t *testing.T, s *Server, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t), method, "http://"+s.ControlAddr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestBadControlInput_Gets400AndChangesNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	state := func() string {
		var out bytes.Buffer
		for _, path := range []string{"/faults", "/groups", "/accounts", "/deals", "/sessions", "/zone", "/wire", "/journal", "/info"} {
			_, text := raw(t, s, "GET", path, "")
			out.WriteString(text)
		}
		return out.String()
	}
	before := state()
	for _, tt := range []struct{ method, path, body, explains string }{
		{"POST", "/faults", ``, "EOF"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"no_ticket"} x`, "after the JSON"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"no_ticket","nope":1}`, "nope"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"explode"}`, "explode"},
		{"POST", "/faults", `{"where":"trade/blance","kind":"no_ticket"}`, "trade/blance"},
		{"POST", "/faults", `{"kind":"no_ticket"}`, "no endpoint"},
		{"POST", "/faults", `{"where":"deal/get","kind":"no_ticket"}`, "trade/balance only"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"page_cut"}`, "deal/*"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"slow_answer"}`, "needs delay"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"slow_answer","delay":5}`, "1.5s"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"slow_answer","delay":"-5s"}`, "negative"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"refuse_code"}`, "needs code"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"http_status"}`, "needs status"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"http_status","status":99}`, "status 99"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"wrong_login"}`, "needs other"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"comment_altered"}`, "needs prefix"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"comment_altered","case":"odd"}`, "odd"},
		{"POST", "/faults", `{"where":"trade/balance","kind":"amount_altered"}`, "needs delta"},
		{"POST", "/faults", `{"where":"deal/get_total","kind":"total_changes"}`, "needs delta"},
		{"POST", "/faults", `{"where":"deal/get_page","kind":"deals_between"}`, "needs rows"},
		{"POST", "/faults", `{"where":"deal/get","kind":"empty_body","comment_prefix":"x"}`, "comment_prefix"},
		{"DELETE", "/faults?id=x", ``, "id=NUMBER"},
		{"DELETE", "/faults?login=1", ``, "id=NUMBER"},
		{"POST", "/groups", `{"name":"x"}`, "currency"},
		{"POST", "/groups", `{"name":"x","currency":"X","digits":9}`, "digits 9"},
		{"POST", "/groups", `{"name":"real\\eur","currency":"EUR","digits":3}`, "its digits stay 2"},
		{"POST", "/accounts", `{"login":5,"group":"none"}`, "unknown group"},
		{"POST", "/accounts", `{"group":"real\\eur"}`, "without a login"},
		{"POST", "/accounts", `{"login":5,"group":"real\\eur","margin":-1}`, "negative"},
		{"POST", "/accounts", `{"login":500123,"group":"real\\jpy"}`, "keeps 2 digits"},
		{"POST", "/accounts/change", `{"login":77}`, "unknown login 77"},
		{"DELETE", "/accounts?login=77", ``, "unknown login 77"},
		{"POST", "/deals", `{"login":77,"action":2,"amount":"1"}`, "unknown login 77"},
		{"POST", "/deals", `{"login":500123,"action":1,"amount":"1"}`, "action 1"},
		{"POST", "/deals", `{"login":500123,"action":2,"amount":"1.234"}`, "more decimals"},
		{"POST", "/deals", `{"login":500123,"action":2,"amount":1}`, "amount"},
		{"POST", "/deals", `{"login":500123,"action":2,"amount":"1","ticket":4294967297}`, "exists"},
		{"POST", "/deals", `{"login":500123,"action":2,"amount":"1","time_msc":-1}`, "out of range"},
		{"POST", "/deals/edit", `{"ticket":1}`, "unknown ticket"},
		{"POST", "/deals/edit", `{"ticket":4294967297,"amount":"x"}`, "amount"},
		{"POST", "/deals/edit", `{"ticket":4294967297,"action":99}`, "action 99"},
		{"POST", "/deals/edit", `{"ticket":4294967297,"login":500124}`, "other digits"},
		{"DELETE", "/deals?ticket=1", ``, "unknown ticket"},
		{"POST", "/deals/seed", `{"login":500123,"count":0}`, "count 0"},
		{"POST", "/deals/seed", `{"login":77,"count":1}`, "unknown login"},
		{"POST", "/deals/seed", `{"login":500123,"count":1,"over":"-1s"}`, "negative"},
		{"DELETE", "/sessions?login=x", ``, "login=NUMBER"},
		{"PUT", "/zone", `{"offset_minutes":9999}`, "9999"},
		{"PUT", "/zone", `{"dst":"mars"}`, "mars"},
		{"POST", "/clock", `{"by":"x"}`, "1.5s"},
		{"POST", "/clock", `{"total":"1s"}`, "give by"},
		{"PATCH", "/wire", `[]`, "object"},
		{"PATCH", "/wire", `{"key_case":"snake"}`, "snake"},
		{"PATCH", "/wire", `{"empty_page":"nothing"}`, "nothing"},
		{"PATCH", "/wire", `{"dead_session":"99 1"}`, "99 1"},
		{"PATCH", "/wire", `{"auth_refused":1}`, "auth_refused"},
		{"PATCH", "/wire", `{"cookie_name":"a=b"}`, "cookie_name"},
		{"PATCH", "/wire", `{"nope":true}`, "nope"},
	} {
		status, text := raw(t, s, tt.method, tt.path, tt.body)
		var out map[string]string
		if status != 400 || json.Unmarshal([]byte(text), &out) != nil || !strings.Contains(out["error"], tt.explains) {
			t.Errorf("%s %s %s: %d %s, want %q", tt.method, tt.path, tt.body, status, text, tt.explains)
		}
	}
	if after := state(); after != before {
		t.Errorf("the state changed:\n%s\n%s", before, after)
	}
	if status, _ := raw(t, s, "PUT", "/faults", "{}"); status != 405 {
		t.Errorf("wrong method: %d", status)
	}
}

func TestControlErrors_CarryTheServersExplanation(t *testing.T) {
	t.Parallel()
	_, _, ctl := startTest(t, nil)
	_, err := ctl.Fault(within(t), Rule{Where: "trade/balance", Kind: "explode"})
	if err == nil || !strings.Contains(err.Error(), `unknown kind "explode"`) {
		t.Error(err)
	}
}

func TestFaults_ClearOneOrAll(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	first, err := ctl.Fault(ctx, Rule{Where: "trade/balance", Kind: RefuseCode, Code: 7})
	if err != nil {
		t.Fatal(err)
	}
	second, err := ctl.Fault(ctx, Rule{Where: "trade/balance", Kind: RefuseCode, Code: 9})
	if err != nil || second.ID == first.ID {
		t.Fatal(second, err)
	}
	if err := ctl.ClearFault(ctx, second.ID); err != nil {
		t.Fatal(err)
	}
	if g := c.deposit("1", "x"); g.code != 7 {
		t.Errorf("%s", g.body)
	}
	if err := ctl.ClearFaults(ctx); err != nil {
		t.Fatal(err)
	}
	if g := c.deposit("1", "x"); g.code != 0 {
		t.Errorf("%s", g.body)
	}
}

func TestAccounts_AddMoveRemoveAndComeBack(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	if err := ctl.AddGroup(ctx, Group{Name: `vip\eur`, Currency: "EUR", Digits: 2, Company: "Other", Permissions: 0x102}); err != nil {
		t.Fatal(err)
	}
	if groups, err := ctl.Groups(ctx); err != nil || len(groups) != 4 || groups[3].Company != "Other" {
		t.Errorf("%+v, %v", groups, err)
	}
	a, err := ctl.AddAccount(ctx, Account{Login: 7, Group: `vip\eur`, Balance: 5_00, Credit: 1_00, SeedDeals: 3})
	if err != nil || a.Deals != 5 || a.Credit != 1_00 {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err = ctl.MoveAccount(ctx, 7, `real\eur`); err != nil || a.Group != `real\eur` || a.Deals != 5 {
		t.Errorf("%+v, %v", a, err)
	}
	name := "New Name"
	if _, err := ctl.ChangeAccount(ctx, AccountChange{Login: 7, Name: &name}); err != nil {
		t.Fatal(err)
	}
	if u := c.get("user/get", "login", "7").answer(t); u["Group"] != `real\eur` || u["Name"] != name {
		t.Errorf("%v", u)
	}
	if err := ctl.RemoveAccount(ctx, 7); err != nil {
		t.Fatal(err)
	}
	if g := c.get("user/get", "login", "7"); g.code != 13 {
		t.Errorf("%s", g.body)
	}
	back, err := ctl.AddAccount(ctx, Account{Login: 7, Group: `real\eur`, Balance: 99_00})
	if err != nil || back != a {
		t.Errorf("came back as %+v, was %+v, %v", back, a, err)
	}
}

func TestManualDeals_AddEditDelete(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	at := testStart.Add(-time.Hour).UnixMilli()
	e, err := ctl.AddDeal(ctx, ManualDeal{
		Login: testLogin, Action: 2, Amount: "-3.5", Comment: strings.Repeat("m", 35), Dealer: 12, TimeMsc: at, Ticket: 900,
	})
	if err != nil || e.Source != SourceManual || e.Ticket != 900 || len(e.Comment) != 31 || e.Dealer != 12 || e.ServerMsc != at {
		t.Fatalf("%+v, %v", e, err)
	}
	if u := c.get("user/get", "login", "500123").answer(t); u["Balance"] != "96.50" {
		t.Errorf("%v", u["Balance"])
	}
	amount, action, dealer, when, to := "-4", 5, uint64(13), at+1000, uint64(500_200)
	if _, err := ctl.AddAccount(ctx, Account{Login: to, Group: `real\eur`}); err != nil {
		t.Fatal(err)
	}
	edit := DealEdit{Ticket: 900, Amount: &amount, Action: &action, Dealer: &dealer, TimeMsc: &when, Login: &to}
	if _, err := ctl.EditDeal(ctx, edit); err != nil {
		t.Fatal(err)
	}
	d := c.get("deal/get", "ticket", "900").answer(t)
	for key, want := range map[string]string{
		"Profit": "-4.00", "Action": "5", "Dealer": "13", "TimeMsc": fmt.Sprint(when), "Login": "500200", "ModifyFlags": "1",
	} {
		if d[key] != want {
			t.Errorf("%s = %v, want %s", key, d[key], want)
		}
	}
	if u := c.get("user/get", "login", "500123").answer(t); u["Balance"] != "96.50" {
		t.Errorf("an edit moved the balance: %v", u["Balance"])
	}
	if list, err := ctl.Deals(ctx, to); err != nil || len(list) != 1 || list[0].Minor != -4_00 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := ctl.DeleteDeal(ctx, 900); err != nil {
		t.Fatal(err)
	}
	if all, err := ctl.Deals(ctx, 0); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if journal, err := ctl.Journal(ctx); err != nil || len(journal) != 3 || journal[2].Amount != "-3.50" {
		t.Errorf("the journal forgot what was executed: %+v, %v", journal, err)
	}
	hidden, err := ctl.AddDeal(ctx, ManualDeal{Login: testLogin, Action: 2, Amount: "1", VisibleAfter: Duration(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if g := c.get("deal/get", "ticket", fmt.Sprint(hidden.Ticket)); g.code != 13 {
		t.Errorf("%s", g.body)
	}
}

func TestConnections_CanBeCutAndRefused(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	if _, err := ctl.ChangeWire(ctx, Wire{RefuseConnections: true}); err != nil {
		t.Fatal(err)
	}
	if g := c.get("test/access"); g.code != 0 {
		t.Errorf("an open connection suffers: %s", g.body)
	}
	if conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{InsecureSkipVerify: true}); err == nil {
		_ = conn.Close()
		t.Error("a new connection is served")
	}
	if err := ctl.ResetConnections(ctx); err != nil {
		t.Fatal(err)
	}
	if !c.dead() {
		t.Error("the connection lives")
	}
	info, err := ctl.Info(ctx)
	if err != nil || info.Addr != s.Addr() || info.Fingerprint != s.Fingerprint() || info.CertPEM != string(s.CertPEM()) {
		t.Errorf("%+v, %v", info, err)
	}
	if w, err := ctl.PatchWire(ctx, map[string]any{"refuse_connections": false}); err != nil || w.RefuseConnections {
		t.Fatal(w, err)
	}
	login(t, s)
	if w, err := ctl.Wire(ctx); err != nil || !reflect.DeepEqual(w, s.wire()) {
		t.Errorf("%+v, %v", w, err)
	}
}
