package app_test

import (
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/mt5/fakemt5"
)

// people names two admins who also make and check.
func (r *rig) people() {
	r.t.Helper()
	both := func(id string) desk.Person {
		return desk.Person{ID: desk.PersonID(id), Name: id, Users: []string{id}, Roles: []desk.Role{desk.Admin, desk.Operator, desk.Maker, desk.Checker}}
	}
	if err := r.service.Desk().Bootstrap(r.t.Context(), desk.Actor{User: "root"}, []desk.Person{both("ada"), both("abe")}, "first start"); err != nil {
		r.t.Fatal(err)
	}
}

func person(user string) desk.Actor { return desk.Actor{User: user, UID: 1000} }

// submit does an act as ada, or proposes it.
func (r *rig) submit(act desk.Act) desk.Outcome {
	r.t.Helper()
	out, err := r.service.Desk().Submit(r.t.Context(), person("ada"), act, "because")
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// agree confirms ada's proposal as abe, as soon as nothing waits any more.
func (r *rig) agree(p *desk.Proposal) desk.Outcome {
	r.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		out, err := r.service.Desk().Confirm(r.t.Context(), person("abe"), p.ID, p.Digest, "agreed")
		var refused *credit.RefusedError
		if err == nil {
			return out
		}
		if !errors.As(err, &refused) || !credit.Waits(refused.Code) {
			r.t.Fatal(err)
		}
		select {
		case <-again.C:
		case <-deadline.C:
			r.t.Fatalf("still waiting: %v", err)
		}
	}
}

func TestDesk_AKeyCountsFromItsConfirmationToItsRevocation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	secret, out, err := r.service.Desk().NewKey(t.Context(), person("ada"), "shop", []string{"accounts:read"}, "a shop")
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/servers/main/accounts/" + strconv.Itoa(login)
	want := func(status int) {
		t.Helper()
		if got, body := r.call(http.MethodGet, path, secret, "", ""); got != status {
			t.Errorf("status %d (%s), want %d", got, body, status)
		}
	}
	want(http.StatusUnauthorized)
	r.agree(out.Proposal)
	want(http.StatusOK)
	r.account("client-1") // a key of the configuration counts all the while
	r.halt()
	r.start()
	want(http.StatusOK)
	r.agree(r.submit(desk.Act{Kind: desk.RevokeKey, Subject: "key/shop"}).Proposal)
	want(http.StatusUnauthorized)
	r.account("client-1")
}

func TestDesk_AdoptsADealThatADealerMadeAndClosesWithoutOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.people()
	r.account("client-1")
	r.submit(desk.Act{Kind: desk.HoldMode, Subject: "mode"})
	var rows []credit.ID
	for i, amount := range []string{"250.00", "40.00"} {
		code := r.deposit("client-1", amount, "key-"+strconv.Itoa(i))
		minor := map[string]int64{"250.00": 25000, "40.00": 4000}[amount]
		if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, minor))); status != http.StatusOK {
			t.Fatalf("webhook answered %d", status)
		}
		hits, err := r.service.Desk().Find(t.Context(), person("ada"), code)
		if err != nil || len(hits) == 0 {
			t.Fatalf("find %s: %+v, %v", code, hits, err)
		}
		id := hits[len(hits)-1].Credit
		rows = append(rows, id)
		r.submit(desk.Act{Kind: desk.HoldCredit, Subject: credit.RowEntity(id)})
	}
	made, err := r.faults.AddDeal(t.Context(), fakemt5.ManualDeal{Login: login, Action: 2, Amount: "250.00", Comment: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	deals, _, err := r.service.Desk().Candidates(t.Context(), person("ada"), rows[0])
	if err != nil || len(deals) != 1 || deals[0].Comment != "by hand" {
		t.Fatalf("candidates %+v, %v", deals, err)
	}
	ticket := strconv.FormatUint(deals[0].Ticket, 10)
	if made.Ticket != deals[0].Ticket {
		t.Errorf("the candidate is deal %s, made was %d", ticket, made.Ticket)
	}
	adopt := r.submit(desk.Act{Kind: desk.Adopt, Subject: credit.RowEntity(rows[0]), Params: map[string]string{"ticket": ticket, "comment": "by hand"}})
	if out := r.agree(adopt.Proposal); len(out.Rows) != 1 || out.Rows[0].State != credit.Done || strconv.FormatUint(out.Rows[0].Ticket, 10) != ticket {
		t.Errorf("adopted: %+v", out.Rows)
	}
	out := r.agree(r.submit(desk.Act{Kind: desk.CloseCredit, Subject: credit.RowEntity(rows[1])}).Proposal)
	if len(out.Rows) != 1 || out.Rows[0].State != credit.Cancelled {
		t.Errorf("closed: %+v", out.Rows)
	}
	r.agree(r.submit(desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}).Proposal)
	code := r.deposit("client-1", "10.00", "key-last")
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 1000)))
	r.awaitState(code, "done")
	if ours := r.ours(); len(ours) != 1 {
		t.Errorf("deals of ours: %v", ours)
	}
	sessions, err := r.faults.Sessions(t.Context())
	if err != nil || len(sessions) > 2 { // the desk's own are closed when the answer is there
		t.Errorf("sessions %+v, %v", sessions, err)
	}
}
