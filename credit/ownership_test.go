package credit

import (
	"encoding/json"
	"testing"
	"time"
)

func registered() Account {
	return Account{
		Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2,
		CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon.Add(-time.Hour),
	}
}

func TestChangeAccount_WhatBecomesOfTheLoginsRows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(a *Account)
		state  State
		holds  string // of a row that was pending
		tasks  string
	}{
		"new client, row pending":      {func(a *Account) { a.Client = "client-2" }, Pending, "ownership", "held"},
		"new client, row claimed":      {func(a *Account) { a.Client = "client-2" }, Claimed, "", "ownership"},
		"new client, row unknown":      {func(a *Account) { a.Client = "client-2" }, Unknown, "", "ownership"},
		"new currency, row pending":    {func(a *Account) { a.Currency = "USC" }, Pending, "account", "held"},
		"new digits, row pending":      {func(a *Account) { a.Digits = 3 }, Pending, "account", "held"},
		"new digits, row claimed":      {func(a *Account) { a.Digits = 3 }, Claimed, "", "ownership"},
		"everything new, row pending":  {func(a *Account) { a.Client, a.Currency = "client-2", "EUR" }, Pending, "account, ownership", "held"},
		"new name of the server alone": {func(a *Account) { a.Identity = "Other-Live" }, Pending, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prior, a := registered(), registered()
			tc.change(&a)
			found := AccountFound{Prior: &prior, Open: []Credit{joinedRow(tc.state)}}
			before := string(must(json.Marshal(found)))
			ch, err := ChangeAccount(a, found, "api/portal", noon.Add(123456789))
			if err != nil {
				t.Fatal(err)
			}
			if after := string(must(json.Marshal(found))); after != before {
				t.Error("the decision changed its input")
			}
			if ch.Account == nil || !ch.Account.CreatedAt.Equal(prior.CreatedAt) || !ch.Account.UpdatedAt.Equal(noon.Add(123456*time.Microsecond)) {
				t.Errorf("account %+v", ch.Account)
			}
			if got := kindsOf(ch.Open); got != tc.tasks {
				t.Errorf("tasks %q, want %q", got, tc.tasks)
			}
			if moved := len(ch.Rows) == 1; moved != (tc.holds != "") {
				t.Fatalf("%d rows changed", len(ch.Rows))
			}
			if tc.holds != "" {
				if row := ch.Rows[0].After; row.State != Held || holdsOf(row) != tc.holds || !row.NextAt.IsZero() {
					t.Errorf("%s, %q, next at %v", row.State, holdsOf(row), row.NextAt)
				}
			}
		})
	}
}

func TestChangeAccount_SameAgainAndNewOnes(t *testing.T) {
	t.Parallel()
	prior, same := registered(), registered()
	same.CreatedAt, same.UpdatedAt = noon, noon
	found := AccountFound{Prior: &prior, Open: []Credit{joinedRow(Pending)}}
	if ch, err := ChangeAccount(same, found, "a", noon); err != nil || ch.Account != nil || len(ch.Rows)+len(ch.Open) != 0 {
		t.Errorf("the same again writes %+v, %v", ch, err)
	}
	ch, err := ChangeAccount(registered(), AccountFound{}, "a", noon)
	if err != nil || ch.Account == nil || !ch.Account.CreatedAt.Equal(noon) || len(ch.Rows) != 0 {
		t.Errorf("a new account writes %+v, %v", ch, err)
	}
}

func TestChangeAccount_AStolenLoginGetsNothingFromDepositsOfItsFormerClient(t *testing.T) {
	inWorld(t, func(w *world) {
		w.deposit(codeOf(1), 50000, testLogin)
		a := registered()
		a.Client = "client-2"
		if err := w.book.PutAccount(a, "api/accounts", w.clock.Now()); err != nil {
			t.Fatal(err)
		}
		w.start()
		id := w.receive(paidEvent(1, w.clock.Now(), codeOf(1), usd(50000))).Rows[0].After.ID
		w.pass(time.Hour)
		if row := w.wantState(id, Held); holdsOf(row) != "ownership" {
			t.Errorf("held for %q", holdsOf(row))
		}
		w.wantCalls(0, 0)
	})
}
