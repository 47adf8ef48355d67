package cli

import (
	"strings"
	"testing"

	"creditonce/internal/admin"
	"creditonce/recon"
)

// Differences that people have accepted are open nowhere: a run of nothing else ends with 0, and says of none that it has its task.
func TestRunOfAcceptedDifferences_SaysSoAndEndsWith0(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found, accepted int
		complete        bool
		code            int
		says            string
	}{
		{0, 0, true, ExitDone, "everything agrees"},
		{1, 1, true, ExitDone, "1 difference, which people have accepted"},
		{3, 3, true, ExitDone, "3 differences, which people have accepted"},
		{3, 1, true, ExitFound, "3 differences, each with its task; 1 of them people have accepted as they are"},
		{3, 0, true, ExitFound, "3 differences, each with its task"},
		{3, 3, false, ExitNoAnswer, "incomplete; of what could be compared: 3 differences, each with its task; 3 of them people have accepted as they are"},
	} {
		run := admin.ReconRun{State: recon.RunComplete, Accepted: c.accepted}
		if !c.complete {
			run.State = recon.RunIncomplete
		}
		run.Outcome.Classes = map[recon.Class]int{recon.DoneWithoutDeal: c.found}
		if got := verdictText(run); got != c.says {
			t.Errorf("%d, %d accepted: %q, want %q", c.found, c.accepted, got, c.says)
		}
		if code := codeOf(verdictExit(admin.VerdictOf(run))); code != c.code {
			t.Errorf("%d, %d accepted: it ends with %d, want %d", c.found, c.accepted, code, c.code)
		}
		if got := sayingOf(admin.VerdictOf(run), c.found); !strings.HasPrefix(c.says, got) {
			t.Errorf("status says %q", got)
		}
	}
}
