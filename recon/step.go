package recon

import "context"

// Step is told at each numbered boundary of an import or a run, before the next thing happens; it may block, and tests kill the process there.
// nil: nobody is told.
type Step func(ctx context.Context, name string)

// The boundaries of an import and of a run, each after a commit. B21 is protocol-holes.md §3.4's; that list ends with B24 and has none of an
// import and of a run, so B25 and B26 follow it.
const (
	StepTasksCarried  = "B21.tasks_carried"     // tasks of a piece of differences are open, the run is not finished
	StepLinesStored   = "B25.lines_stored"      // a piece of a statement that nothing counts yet
	StepStatementSeen = "B25.statement_visible" // the statement counts, and nobody was told
	StepFindingsSaved = "B26.findings_saved"    // a piece of what a run found
	StepRunFinished   = "B26.run_finished"      // the run stands, and the tasks about it as a whole do not
)

func (s Step) at(ctx context.Context, name string) {
	if s != nil {
		s(ctx, name)
	}
}
