package desk_test

import (
	"testing"

	"creditonce/internal/desk"
)

func TestReconciliation_WhoMayAndWhatTheAuditLogSays(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	act := func(k desk.Kind) desk.Act {
		return desk.Act{Kind: k, Subject: "recon", Params: map[string]string{"days": "2026-11-29"}}
	}
	record := func(who desk.Actor, k desk.Kind) error {
		_, may := f.svc.MayReconcile(t.Context(), who, k)
		err := f.svc.RecordReconciliation(t.Context(), who, act(k), "r")
		if (may == nil) != (err == nil) {
			t.Errorf("%+v may %s: %v, recorded: %v", who, k, may, err)
		}
		return err
	}
	root := desk.Actor{User: "root"}
	f.Must(record(root, desk.ReconRun)) // nobody else is there yet
	f.Must(record(root, desk.ReconImport))
	f.refused(record(root, desk.ReconSign), "nobody")
	f.refused(record(root, desk.ReconWithdraw), "nobody")
	f.staff()
	before := f.records()
	for _, k := range []desk.Kind{desk.ReconRun, desk.ReconImport, desk.ReconSign, desk.ReconWithdraw} {
		f.refused(record(root, k), "nobody")
		f.refused(record(by("vera"), k), "role")
		f.refused(record(by("ada"), k), "role")
		f.refused(record(by("dora"), k), "disabled")
	}
	f.refused(record(by("oscar"), desk.ReconSign), "role")
	f.refused(record(by("oscar"), desk.ReconWithdraw), "role")
	if f.records() != before {
		t.Error("a refused act left a record")
	}
	for who, kinds := range map[string][]desk.Kind{
		"oscar": {desk.ReconRun, desk.ReconImport},
		"mia":   {desk.ReconRun, desk.ReconImport, desk.ReconSign, desk.ReconWithdraw},
		"carl":  {desk.ReconRun, desk.ReconImport, desk.ReconSign, desk.ReconWithdraw},
	} {
		for _, k := range kinds {
			f.Must(record(by(who), k))
			if got := f.last(); got.Person != desk.PersonID(who) || got.Act.Kind != k || got.Act.Params["days"] != "2026-11-29" || got.Reason != "r" {
				t.Errorf("the audit log says %+v", got)
			}
		}
	}
	if _, err := f.svc.Submit(t.Context(), by("all"), act(desk.ReconSign), "r"); err == nil {
		t.Error("somebody wrote the record without the act")
	}
	if err := f.svc.RecordReconciliation(t.Context(), by("oscar"), act(desk.Resolve), "r"); err == nil {
		t.Error("an act of another kind was recorded as one of the reconciliation")
	}
}
