package desk_test

import (
	"fmt"
	"testing"

	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/store/storetest"
)

func reconAct(k desk.Kind) desk.Act {
	return desk.Act{Kind: k, Subject: "recon", Params: map[string]string{"days": "2026-11-29"}}
}

// did lets somebody do one of the acts around the reconciliation, on a run or a statement that is new.
func did(f *firm, who desk.Actor, k desk.Kind) error {
	f.t.Helper()
	f.names++
	switch k {
	case desk.ReconSign:
		id, err := f.db.BeginRun(f.t.Context())
		f.Must(err)
		at := f.Clock.Now()
		f.Must(f.db.FinishRun(f.t.Context(), recon.Run{ID: id, First: "2026-05-04", Last: "2026-05-04", Zone: "UTC", State: recon.RunComplete, Started: at, Finished: at, By: "mia"}))
		return f.svc.SignRun(f.t.Context(), who, uint64(id), "digest", "read")
	case desk.ReconWithdraw:
		digest := fmt.Sprintf("d%d", f.names)
		im := f.Import(digest, storetest.Settled(digest, 2, fmt.Sprintf("p%d", f.names), 500))
		return f.svc.TakeBackStatement(f.t.Context(), who, uint64(im.ID), map[string]string{"statement": fmt.Sprint(im.ID)}, "r")
	default:
		return f.svc.RecordReconciliation(f.t.Context(), who, reconAct(k))
	}
}

func TestReconciliation_WhoMayAndWhatTheAuditLogSays(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	record := func(who desk.Actor, k desk.Kind) error {
		_, may := f.svc.MayReconcile(t.Context(), who, k)
		err := did(f, who, k)
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
			if got := f.last(); got.Person != desk.PersonID(who) || got.Act.Kind != k || got.Act.Subject != "recon" || len(got.Act.Params) == 0 {
				t.Errorf("the audit log says %+v", got)
			}
		}
	}
	if _, err := f.svc.Submit(t.Context(), by("all"), reconAct(desk.ReconSign), "r"); err == nil {
		t.Error("somebody wrote the record without the act")
	}
	for _, k := range []desk.Kind{desk.Resolve, desk.ReconSign, desk.ReconWithdraw} {
		if err := f.svc.RecordReconciliation(t.Context(), by("mia"), reconAct(k)); err == nil {
			t.Errorf("%s was recorded without being done", k)
		}
	}
}
