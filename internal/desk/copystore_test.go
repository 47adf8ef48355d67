package desk_test

import (
	"testing"

	"creditonce/internal/desk"
)

func TestRecordBackup_TellsWhoTookWhichCopy(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	copied := desk.Copy{Path: "/b/1.db", SHA256: hashOf(7), Bytes: 4096}
	record := func(a desk.Actor) error {
		may := f.svc.MayBackUp(t.Context(), a)
		err := f.svc.RecordBackup(t.Context(), a, copied)
		if (may == nil) != (err == nil) {
			t.Errorf("%+v may: %v, recorded: %v", a, may, err)
		}
		return err
	}
	root := desk.Actor{User: "root"}
	f.refused(record(by("creditonce")), "nobody")
	f.Must(record(root)) // nobody else is there yet
	if got := f.last(); got.User != "root" || got.Person != "" {
		t.Errorf("%+v", got)
	}
	f.staff()
	before := f.records()
	f.refused(record(root), "nobody")
	f.refused(record(by("creditonce")), "nobody")
	for _, who := range []string{"vera", "mia", "carl"} {
		f.refused(record(by(who)), "role")
	}
	f.refused(record(by("dora")), "disabled")
	if f.records() != before {
		t.Error("a refused backup left a record")
	}
	for _, who := range []string{"oscar", "ada"} {
		f.Must(record(by(who)))
		got := f.last()
		if got.Person != desk.PersonID(who) || got.User != who || got.Deed != desk.Did || got.Act.Kind != desk.CopyStore ||
			got.Act.Params["path"] != "/b/1.db" || got.Act.Params["sha256"] != copied.SHA256 || got.Act.Params["bytes"] != "4096" {
			t.Errorf("the audit log says %+v", got)
		}
	}
	if _, err := f.svc.Submit(t.Context(), by("all"), desk.Act{Kind: desk.CopyStore, Subject: "store"}, "r"); err == nil {
		t.Error("somebody wrote the record without a copy")
	}
}
