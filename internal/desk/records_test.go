package desk_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

func TestManual_IsBornLikeAnyOtherRowAndPaidOnce(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.ManualPay)
	p := f.propose("mia", act)
	if len(p.Act.Params["entry"]) != 32 || !credit.ValidCode(p.Act.Params["code"]) {
		t.Errorf("proposal %+v", p.Act)
	}
	out, err := f.confirm("carl", p)
	f.Must(err)
	if len(out.Rows) != 1 || out.Rows[0].State != credit.Pending || out.Event == 0 {
		t.Fatalf("outcome %+v", out)
	}
	f.Work(2)
	row := f.InState(out.Rows[0].ID, credit.Done)
	if row.Unit.ProviderKind != "manual" || len(row.Unit.Payment) != 32 || !row.Amount.Equal(storetest.Money(25000)) || len(f.MT5.Deals(login)) != 1 {
		t.Errorf("row %+v", row)
	}
	body, err := f.db.EventBody(t.Context(), out.Event)
	if err != nil || !strings.Contains(string(body), act.Params["bank_reference"]) {
		t.Errorf("evidence %s, %v", body, err)
	}
	_, err = f.svc.Submit(t.Context(), by("mia"), act, "r") // the same wire again
	f.refused(err, "bank_reference_known")
}

func TestManual_TheSameWireProposedTwiceIsTakenOnce(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.ManualPay)
	a, b := f.propose("mia", act), f.propose("both", act)
	_, err := f.confirm("carl", a)
	f.Must(err)
	_, err = f.confirm("carl", b)
	f.refused(err, "bank_reference_known")
}

func TestManual_ChecksOfADepositApply(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	for name, c := range map[string]struct{ param, value, code string }{
		"another client's login": {"client", "client-2", "foreign_login"},
		"an unknown login":       {"login", "99", "unknown_account"},
		"an unknown server":      {"server", "elsewhere", "unknown_server"},
		"another currency":       {"currency", "EUR", "wrong_currency"},
		"nothing":                {"amount", "0.00", "bad_amount"},
		"before the cut-over":    {"received_at", f.Clock.Now().Add(-72 * time.Hour).Format(time.RFC3339), "pre_cutover"},
		"in the far future":      {"received_at", f.Clock.Now().Add(72 * time.Hour).Format(time.RFC3339), "received_at"},
	} {
		act := f.subject(desk.ManualPay)
		act.Params[c.param] = c.value
		_, err := f.svc.Submit(t.Context(), by("mia"), act, "r")
		var refused *credit.RefusedError
		if !errors.As(err, &refused) || refused.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	for param, value := range map[string]string{"amount": "1e3", "login": "x", "received_at": "yesterday", "entry": "mine"} {
		act := f.subject(desk.ManualPay)
		act.Params[param] = value
		if _, err := f.svc.Submit(t.Context(), by("mia"), act, "r"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s %q: %v", param, value, err)
		}
	}
	f.setMode(credit.ModeObserve)
	_, err := f.svc.Submit(t.Context(), by("mia"), f.subject(desk.ManualPay), "r")
	f.refused(err, "mode")
}

func TestReplay_OfAStoredEventEndsInTheSameUnits(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	f.Work(2)
	f.InState(row.ID, credit.Done)
	orphan := f.Accept(f.Event(storetest.Paid("orphan", "", "", 700)))
	before, err := f.db.Counts(t.Context())
	f.Must(err)
	events, err := f.db.Events(t.Context(), 0, 100)
	f.Must(err)
	for range 3 {
		for _, e := range events {
			f.one("oscar", desk.Act{Kind: desk.Replay, Subject: "event/" + strconv.FormatUint(uint64(e.ID), 10)})
		}
	}
	after, err := f.db.Counts(t.Context())
	f.Must(err)
	f.Work(3)
	if after.Events != before.Events || f.MT5.Calls() != 1 || f.Row(row.ID).Entries != f.InState(row.ID, credit.Done).Entries {
		t.Errorf("before %+v, after %+v, %d calls", before, after, f.MT5.Calls())
	}
	for s, n := range before.Rows {
		if after.Rows[s] != n {
			t.Errorf("%d rows %s, were %d", after.Rows[s], s, n)
		}
	}
	f.InState(orphan.Rows[0].After.ID, credit.Held)
}

func TestReplay_ReadsAnewWhatNobodyCouldRead(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.Register(login, "client-1")
	f.Deposit(storetest.Code(1), login, 50000)
	r := f.Accept(f.Event(credit.Facts{Effect: credit.EffectUnreadable, Problem: "a field is missing"}))
	act := desk.Act{Kind: desk.Replay, Subject: "event/" + strconv.FormatUint(uint64(r.Event), 10)}
	f.readErr = errors.New("a field is missing")
	_, err := f.svc.Submit(t.Context(), by("oscar"), act, "r")
	f.refused(err, "unreadable")
	f.readErr, f.facts = nil, storetest.Paid("pay", "", storetest.Code(1), 50000)
	f.facts.OccurredAt = f.Clock.Now()
	out := f.one("oscar", act)
	if len(out.Rows) != 1 || out.Rows[0].State != credit.Pending || len(out.Closed) != 1 || out.Closed[0].Kind != credit.TaskUnreadable {
		t.Errorf("outcome %+v", out)
	}
	_, err = f.svc.Submit(t.Context(), by("oscar"), act, "r")
	f.refused(err, "used")
	again := f.Accept(f.Event(f.facts)) // the provider delivers once more, readably
	f.Work(3)
	if len(again.Rows) != 0 || f.MT5.Calls() != 1 {
		t.Errorf("a later delivery made %+v, %d calls", again.Rows, f.MT5.Calls())
	}
}

func TestReplay_ARefundThatIsReadAnewIsSeenByLaterRows(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	r := f.Accept(f.Event(credit.Facts{Effect: credit.EffectUnreadable, Problem: "x"}))
	f.facts = credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: "pay", Movement: "re", OccurredAt: f.Clock.Now()}
	f.one("oscar", desk.Act{Kind: desk.Replay, Subject: "event/" + strconv.FormatUint(uint64(r.Event), 10)})
	f.Register(login, "client-1")
	f.Deposit(storetest.Code(1), login, 50000)
	row := f.Accept(f.Event(storetest.Paid("pay", "", storetest.Code(1), 50000))).Rows[0].After
	if !row.HasHold(credit.HoldReversal) {
		t.Errorf("row %+v", row)
	}
}

func TestBootstrap_OnlyRootOnlyOnceOnlyTwoAdmins(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	admin := func(id string) desk.Person {
		return desk.Person{ID: desk.PersonID(id), Name: id, Users: []string{id}, Roles: []desk.Role{desk.Admin}}
	}
	root, two := desk.Actor{User: "root"}, []desk.Person{admin("ada"), admin("abe")}
	ctx := t.Context()
	f.refused(f.svc.Bootstrap(ctx, by("ada"), two, "r"), "root_needed")
	f.refused(f.svc.Bootstrap(ctx, root, []desk.Person{admin("ada"), {ID: "abe", Name: "Abe", Roles: []desk.Role{desk.Maker}}}, "r"), "two_admins")
	f.refused(f.svc.Bootstrap(ctx, root, []desk.Person{admin("ada"), {ID: "abe", Name: "Abe", Users: []string{"ada"}, Roles: []desk.Role{desk.Admin}}}, "r"), "user_taken")
	f.refused(f.svc.Bootstrap(ctx, root, []desk.Person{admin("ada"), {ID: "abe", Name: "Abe", Users: []string{"root"}, Roles: []desk.Role{desk.Admin}}}, "r"), "root_user")
	for name, people := range map[string][]desk.Person{"one": two[:1], "the same twice": {admin("ada"), admin("ada")}, "three": {admin("a"), admin("b"), admin("c")}} {
		if err := f.svc.Bootstrap(ctx, root, people, "r"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := f.svc.Status(ctx, root)
	f.refused(err, "nobody")
	f.Must(f.svc.Bootstrap(ctx, root, two, "first start"))
	if rec := f.last(); rec.Act.Kind != desk.Bootstrap || rec.User != "root" || rec.Reason != "first start" {
		t.Errorf("record %+v", rec)
	}
	f.refused(f.svc.Bootstrap(ctx, root, two, "r"), "not_first")
	_, err = f.svc.Submit(ctx, by("ada"), desk.Act{Kind: desk.ChangePerson, Subject: "person/abe", Params: map[string]string{"disabled": "true"}}, "r")
	f.refused(err, "two_admins")
}

func TestKeys_OfConfigurationAndStoreLiveSideBySide(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	secret, out, err := f.svc.NewKey(t.Context(), by("ada"), "shop", []string{"deposits:write"}, "new shop")
	f.Must(err)
	if !strings.HasPrefix(secret, "co_") || len(secret) < 40 || out.Done || strings.Contains(out.Proposal.Act.Params["sha256"], secret) {
		t.Errorf("secret of %d bytes, %+v", len(secret), out)
	}
	live := func() []string {
		keys, err := f.svc.LiveKeys(t.Context())
		f.Must(err)
		var names []string
		for _, k := range keys {
			names = append(names, k.Name)
		}
		return names
	}
	if got := live(); !slices.Equal(got, []string{"from-config"}) {
		t.Errorf("live before the confirmation: %v", got)
	}
	_, err = f.confirm("abe", *out.Proposal)
	f.Must(err)
	if got := live(); !slices.Equal(got, []string{"from-config", "shop"}) || f.keys != 1 {
		t.Errorf("live %v, told %d times", got, f.keys)
	}
	_, _, err = f.svc.NewKey(t.Context(), by("ada"), "shop", []string{"deposits:read"}, "r")
	f.refused(err, "name_taken")
	_, _, err = f.svc.NewKey(t.Context(), by("ada"), "from-config", []string{"deposits:read"}, "r")
	f.refused(err, "name_taken")
	_, _, err = f.svc.NewKey(t.Context(), by("ada"), "both", []string{"deposits:write", "accounts:write"}, "r")
	f.refused(err, "scopes_apart")
	_, err = f.svc.Submit(t.Context(), by("ada"), desk.Act{Kind: desk.RevokeKey, Subject: "key/from-config"}, "r")
	f.refused(err, "config_key")
	f.two("ada", "abe", desk.Act{Kind: desk.RevokeKey, Subject: "key/shop"})
	if got := live(); !slices.Equal(got, []string{"from-config"}) || f.keys != 2 {
		t.Errorf("live after the revocation: %v", got)
	}
	_, err = f.svc.Submit(t.Context(), by("ada"), desk.Act{Kind: desk.NewKey, Subject: "key/again", Params: map[string]string{
		"sha256": out.Proposal.Act.Params["sha256"], "scopes": "deposits:read",
	}}, "r")
	f.refused(err, "key_known") // a revoked secret never comes back, under any name
	all, err := f.svc.Keys(t.Context(), by("vera"))
	if err != nil || len(all) != 2 || all[0].Source != desk.FromConfig || all[1].RevokedBy != "ada, confirmed by abe" {
		t.Errorf("keys %+v, %v", all, err)
	}
}

func TestTask_ThatStandsForARowsStateStaysOpen(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.held()
	var held credit.Task
	for _, task := range f.OpenTasks() {
		if task.Kind == credit.TaskHeld {
			held = task
		}
	}
	subject := "task/" + strconv.FormatUint(uint64(held.ID), 10)
	_, err := f.svc.Submit(t.Context(), by("oscar"), desk.Act{Kind: desk.CloseTask, Subject: subject}, "r")
	f.refused(err, "row_open")
	f.one("oscar", desk.Act{Kind: desk.NoteTask, Subject: subject, Params: map[string]string{"text": "asked the client"}})
	f.one("carl", desk.Act{Kind: desk.AssignTask, Subject: subject, Params: map[string]string{"person": "mia"}})
	_, err = f.svc.Submit(t.Context(), by("oscar"), desk.Act{Kind: desk.AssignTask, Subject: subject, Params: map[string]string{"person": "dora"}}, "")
	f.refused(err, "nobody")
	v, err := f.svc.Task(t.Context(), by("vera"), held.ID)
	if err != nil || v.Task.Assigned != "mia" || len(v.Task.Notes) != 1 || v.Task.Notes[0].By != "oscar" || v.Credit == nil || len(v.Credit.History) == 0 {
		t.Errorf("task %+v, %v", v, err)
	}
}

func TestFind_ByEveryId(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	f.Work(2)
	row = f.InState(row.ID, credit.Done)
	e, err := f.db.Event(t.Context(), 1)
	f.Must(err)
	for text, by := range map[string]string{
		strconv.FormatUint(uint64(row.ID), 10): "credit", row.Unit.Payment: "payment", e.MessageKey: "event id", string(row.Reference): "reference",
		strconv.FormatUint(row.Ticket, 10): "ticket", strconv.FormatUint(row.Login, 10): "login", row.Deposit: "deposit code", " " + row.Deposit + "\n": "deposit code",
	} {
		hits, err := f.svc.Find(t.Context(), actor("vera"), text)
		if err != nil || !slices.ContainsFunc(hits, func(h desk.Hit) bool { return h.Credit == row.ID && h.By == by }) {
			t.Errorf("%q: %+v, %v; want credit %d by %s", text, hits, err, row.ID, by)
		}
	}
	for _, text := range []string{"", "nothing", "18446744073709551615", strings.Repeat("x", 5000)} {
		if hits, err := f.svc.Find(t.Context(), by("vera"), text); err != nil || len(hits) != 0 {
			t.Errorf("%.20q: %+v, %v", text, hits, err)
		}
	}
	_, err = f.svc.Find(t.Context(), by("nobody"), "1")
	f.refused(err, "nobody")
}

func TestAct_FormIsChecked(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	for name, a := range map[string]desk.Act{
		"an unknown act": {Kind: "credit.delete", Subject: credit.RowEntity(id)}, "another subject": {Kind: desk.Resolve, Subject: "mode"},
		"no number": {Kind: desk.Resolve, Subject: "credit/"}, "a padded number": {Kind: desk.Resolve, Subject: "credit/01"},
		"an unknown parameter": on(desk.Resolve, id, "force", "true"), "a missing parameter": on(desk.Adopt, id),
		"no name": {Kind: desk.RevokeKey, Subject: "key/"}, "a bad id": {Kind: desk.AddPerson, Subject: "person/A B", Params: map[string]string{"name": "x", "roles": "viewer"}},
		"a bad role": {Kind: desk.AddPerson, Subject: "person/x", Params: map[string]string{"name": "x", "roles": "owner"}}, "bootstrap": {Kind: desk.Bootstrap, Subject: "people"},
	} {
		if _, err := f.svc.Submit(t.Context(), by("all"), a, "r"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.svc.Submit(t.Context(), by("all"), on(desk.HoldCredit, id), ""); !errors.Is(err, credit.ErrInvalid) {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := f.svc.Submit(t.Context(), by("all"), on(desk.Resolve, 999), "r"); !errors.Is(err, credit.ErrNotFound) {
		t.Errorf("a credit that does not exist: %v", err)
	}
	if _, err := f.svc.Confirm(t.Context(), by("all"), 999, "", ""); !errors.Is(err, credit.ErrNotFound) {
		t.Errorf("a proposal that does not exist: %v", err)
	}
}
