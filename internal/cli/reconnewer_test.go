package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"creditonce/internal/admin"
)

// A day of which a newer run could not read every list is not told of as if that run had never been: not by the report in any form, not by its
// exit code, and not to whoever signs the older one.
func TestReconReport_SaysThatNewerRunsWereIncomplete(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.settled()
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	l.ends(ExitFound, "dora", "recon report --day "+l.day(2))
	l.ok("anna", "recon", "withdraw", "1", "--reason", "another firm's file")
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(2))
	l.ends(ExitNoAnswer, "carl", "recon run --from "+l.day(3)+" --to "+l.day(2))

	text := l.ends(ExitNoAnswer, "dora", "recon report --day "+l.day(2), "Run 3, finished ", "Run 2, finished ", "the statements of stripe, because", "the older run 1, finished ")
	if lines := strings.Split(text.stdout, "\n"); !strings.HasPrefix(lines[1], "Incomplete: 2 newer runs of this business day could not read every list") {
		t.Errorf("it begins so:\n%s", strings.Join(lines[:4], "\n"))
	}
	for _, format := range admin.ReportFormats() {
		for _, line := range []string{"recon report --day " + l.day(2), "recon report --run 1", "recon report --day " + l.day(2) + " --out " + filepath.Join(l.dir, "r."+format)} {
			if got := l.ends(ExitNoAnswer, "dora", line+" --format "+format); !strings.Contains(got.stderr, "is of run 1; newer runs of the same business days were incomplete (3, 2)") {
				t.Errorf("%s: %s", format, got.stderr)
			}
		}
	}
	l.ends(ExitNoAnswer, "dora", "recon report", "Run            3")
	var signed admin.SignedRun
	l.read(l.ok("anna", "recon", "sign", "1", "-o", "json"), &signed)
	if signed.ID != 1 || signed.SignOff == nil || strings.Join(signed.Newer, " ") != "3 2" || signed.Again != nil {
		t.Errorf("signed %+v", signed)
	}

	// A complete one stands for the day again, and the incomplete ones before it are past.
	l.ok("carl", "recon", "import", l.statement("december.csv", l.row(2, "charge", "pi_lost"), l.row(1, "charge", "pi_new")), "--provider", "stripe")
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	if got := l.ends(ExitFound, "dora", "recon report --day "+l.day(2)); strings.Contains(got.stdout, "newer run") || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	l.ends(ExitFound, "dora", "recon report --run 1", "Run 4 has compared "+l.day(2)+" since")
	if got := l.ok("ben", "recon", "sign", "4"); strings.Contains(got, "newer") {
		t.Errorf("signed:\n%s", got)
	}
}
