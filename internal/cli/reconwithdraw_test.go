package cli

import (
	"strings"
	"testing"

	"creditonce/internal/admin"
)

// A wrong statement is withdrawn, the corrected one is imported, and the next run finds what is so.
func TestReconWithdraw_TakesAWrongStatementBack(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	wrong := l.statement("november.csv", l.row(2, "charge", "pi_lost"), l.row(2, "lottery", "pi_odd"))
	l.ends(ExitFound, "carl", "recon import "+wrong+" --provider stripe", "rows: 2, new: 2")
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2), "settled_without_credit  1")
	later := l.statement("december.csv", l.row(2, "charge", "pi_lost"), l.row(1, "charge", "pi_new"))
	l.ends(ExitDone, "carl", "recon import "+later+" --provider stripe", "rows: 2, new: 1, known from earlier statements: 1")

	l.refused(ExitRefused, "withdraw first statement 2, then this one", "anna", "recon", "withdraw", "1", "--reason", "another firm's file")
	for user, says := range map[string]string{"carl": "maker", "dora": "maker"} {
		l.refused(ExitRefused, says, user, "recon", "withdraw", "2", "--reason", "x")
	}
	l.refused(ExitFailed, "statement 9 does not exist; creditonce recon statements shows which do", "anna", "recon", "withdraw", "9", "--reason", "x")
	l.ok("anna", "recon", "withdraw", "2", "--reason", "another firm's file")
	var im admin.ReconStatement
	l.read(l.ok("ben", "recon", "withdraw", "1", "-o", "json", "--reason", "another firm's file"), &im)
	if im.ID != 1 || im.Withdrawn == nil || im.Withdrawn.By != "ben" || im.Withdrawn.Reason != "another firm's file" || im.Withdrawn.At.IsZero() {
		t.Errorf("%+v", im)
	}
	l.refused(ExitRefused, "was withdrawn by ben", "anna", "recon", "withdraw", "1", "--reason", "again")
	if text := l.ok("dora", "recon", "statements"); !strings.Contains(text, "WITHDRAWN BY") || !strings.Contains(text, "anna") || !strings.Contains(text, "ben") {
		t.Errorf("statements:\n%s", text)
	}
	if text := l.ok("dora", "tasks", "list"); strings.Contains(text, "lottery") || strings.Contains(text, "row needs an answer") {
		t.Errorf("its task is open:\n%s", text)
	}
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(2), "the statements reach nowhere")                          // none counts
	right := l.statement("right.csv", strings.Replace(l.row(1, "refund", "pi_lost"), "txn_pi_lost", "txn_re_lost", 1)) // each movement has its own id
	l.ends(ExitDone, "carl", "recon import "+right+" --provider stripe", "statement  3", "rows: 1, new: 1")
	l.ends(ExitDone, "carl", "recon run --day "+l.day(2), "everything agrees")
	l.ends(ExitFound, "carl", "recon import "+wrong+" --provider stripe", "statement  4", "rows: 2, new: 2") // the same file comes in anew
	if text := l.ok("dora", "audit", "list", "-o", "csv"); strings.Count(text, "recon.withdraw") != 2 || !strings.Contains(text, "another firm's file") {
		t.Errorf("audit:\n%s", text)
	}
}
