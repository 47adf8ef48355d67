package desk_test

import (
	"testing"

	"creditonce/credit"
	"creditonce/internal/desk"
)

func TestAlertsTest_PutsOneMessageIntoTheOutboxAndIsRecorded(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := desk.Act{Kind: desk.TestAlerts, Subject: "alerts"}
	before := f.records()
	_, err := f.svc.Submit(t.Context(), by("oscar"), act, "")
	f.refused(err, "no_alerts")
	if f.records() != before {
		t.Error("what was refused is recorded")
	}
	f.Must(f.db.SetChannels(t.Context(), []string{"mail", "hook"}))
	out := f.one("ada", act)
	if out.Notice == 0 {
		t.Fatalf("outcome %+v", out)
	}
	states, err := f.svc.Channels(t.Context(), by("vera"))
	f.Must(err)
	if len(states) != 2 || states[0].Waiting != 1 || states[1].Waiting != 1 {
		t.Errorf("channels %+v", states)
	}
	sent, err := f.db.Outgoing(t.Context(), "mail", 10)
	f.Must(err)
	if n := sent.Notices[0].Notice; n.ID != out.Notice || n.Kind != credit.NoticeTest || n.By != "ada" {
		t.Errorf("notice %+v", n)
	}
	if last := f.last(); last.Person != "ada" || last.Act.Kind != desk.TestAlerts || last.Deed != desk.Did {
		t.Errorf("recorded %+v", last)
	}
	if _, err := f.svc.Channels(t.Context(), by("stranger")); err == nil {
		t.Error("a stranger sees where people are told")
	}
}
