package mt5

import (
	"net/url"
	"testing"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func inquire(t *testing.T, r *rig) *Inquiry {
	t.Helper()
	q, err := r.server.Inquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func TestInquiry_AsksOnlyWhatReads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := inquire(t, r)
	for _, endpoint := range []string{"trade/balance", "deal/update", "user/add", "deal/delete", "", "../trade/balance"} {
		if reply := q.Ask(t.Context(), endpoint, url.Values{"login": {"500123"}, "type": {"2"}, "balance": {"1"}}); reply.Err == nil || reply.Sent {
			t.Errorf("%s was asked: %s", endpoint, reply)
		}
	}
	if made := r.executed(); len(made) > 0 {
		t.Errorf("deals were made: %v", made)
	}
}

func TestInquiry_BalanceAuditNeverRepairs(t *testing.T) {
	t.Parallel()
	r := newRig(t, onWorld(func(w *fakemt5.World) {
		w.Accounts = append(w.Accounts, fakemt5.Account{Login: 7, Group: `real\jpy`, Balance: 900, NoHistory: true})
	}))
	reply := inquire(t, r).Ask(t.Context(), "user/check_balance", url.Values{"login": {"7"}, "fixflag": {"1"}})
	if reply.Code != codeDone {
		t.Fatal(reply)
	}
	all, err := r.control.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Login == 7 && a.Balance != 900 {
			t.Errorf("the audit changed the balance to %d", a.Balance)
		}
	}
}

func TestInquiry_OperatesOnlyUnderItsOwnMarkWithPlainNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := inquire(t, r)
	for name, trial := range map[string]Trial{
		"a reference":    {Login: testLogin, Amount: "0.01", Comment: string(reference)},
		"no comment":     {Login: testLogin, Amount: "0.01"},
		"not UTF-8":      {Login: testLogin, Amount: "0.01", Comment: "prb:\xff"},
		"NaN":            {Login: testLogin, Amount: "NaN", Comment: "prb:X"},
		"infinity":       {Login: testLogin, Amount: "inf", Comment: "prb:X"},
		"large exponent": {Login: testLogin, Amount: "1e99", Comment: "prb:X"},
		"no login":       {Amount: "0.01", Comment: "prb:X"},
	} {
		if reply, outcome, _ := q.Operate(t.Context(), trial); outcome != credit.OutcomeNotSent || reply.Sent {
			t.Errorf("%s: %s, %s", name, outcome, reply)
		}
	}
	stranger, err := r.server.Stranger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stranger.Close)
	if _, outcome, _ := stranger.Operate(t.Context(), Trial{Login: testLogin, Amount: "0.01", Comment: "prb:X"}); outcome != credit.OutcomeNotSent {
		t.Errorf("a stranger operated: %s", outcome)
	}
	if made := r.executed(); len(made) > 0 {
		t.Errorf("deals were made: %v", made)
	}
	if _, outcome, ticket := q.Operate(t.Context(), Trial{Login: testLogin, Amount: "0.01", Comment: "prb:X"}); outcome != credit.OutcomeApplied || ticket == 0 {
		t.Errorf("a good trial: %s, %d", outcome, ticket)
	}
	if credit.Reference("prb:8QK800AFQN6Y47J371").Valid() || reference.Damages("prb:8QK800AFQN6Y47J371") {
		t.Error("a trial's mark can be taken for a reference")
	}
}
