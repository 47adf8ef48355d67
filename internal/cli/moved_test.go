package cli

import (
	"strings"
	"testing"

	"creditonce/internal/admin"
)

// A proposal that nobody can confirm any more says so wherever it is shown, until it is rejected.
func TestMovedProposal_IsShownAsOneToReject(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	id := f.pay("nobody-knows-this-code-0007", 1200)
	first := f.propose("anna", "close-without-deal", id, "--reason", "refunded")
	late := f.propose("anna", "close-without-deal", id, "--reason", "refunded, again")
	f.calm()
	f.ok("ben", "proposals", "confirm", first.ID, "--hash", first.Digest, "--reason", "agreed")
	var list struct{ Items []admin.Proposal }
	f.read(f.ok("ben", "proposals", "list", "-o", "json"), &list)
	if len(list.Items) != 1 || list.Items[0].ID != late.ID || list.Items[0].State != "moved" {
		t.Errorf("listed: %+v", list.Items)
	}
	if text := f.ok("ben", "proposals", "show", late.ID); !strings.Contains(text, "creditonce proposals reject "+late.ID) {
		t.Errorf("shown as\n%s", text)
	}
	if text := f.ok("ben", "status"); !strings.Contains(text, "0 open, 1 moved") {
		t.Errorf("status\n%s", text)
	}
	f.refused(ExitRefused, "creditonce proposals reject "+late.ID, "ben", "proposals", "confirm", late.ID, "--hash", late.Digest, "--reason", "agreed")
	f.ok("ben", "proposals", "reject", late.ID, "--reason", "done already")
	if text := f.ok("ben", "status"); !strings.Contains(text, "0 open\n") {
		t.Errorf("after the rejection\n%s", text)
	}
}
