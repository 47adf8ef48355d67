// Package storetest is the suite that every engine of the store must pass: each test's name is one promise, and
// an engine that keeps them all can stand in for another. It also has two engines that fail, for the tests of
// packages that use a store.
package storetest

import (
	"context"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
)

// Backend is the union of what the store's consumers need, with Verify and Close. Production code never names it:
// each consumer declares the part that it uses.
type Backend interface {
	credit.KeeperBook
	credit.IntakeBook
	MakeDeposit(ctx context.Context, n credit.NewDeposit, rules credit.DepositRules) (store.DepositReceipt, error)
	PurgeAnswers(ctx context.Context, before time.Time, limit int) (int, error)
	Deposit(ctx context.Context, code string) (credit.DepositView, error)
	DepositStory(ctx context.Context, code string) (credit.DepositStory, error)
	CloseDeposit(ctx context.Context, code, by string, now time.Time) (credit.DepositView, error)
	Deposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error)
	Credits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error)
	Accounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error)
	PutAccount(ctx context.Context, a credit.Account, actor string, now time.Time) (store.AccountReceipt, error)
	Account(ctx context.Context, server string, login uint64) (credit.Account, error)
	Event(ctx context.Context, id credit.EventID) (credit.Event, error)
	EventBody(ctx context.Context, id credit.EventID) ([]byte, error)
	Events(ctx context.Context, after credit.EventID, limit int) ([]credit.Event, error)
	Credit(ctx context.Context, id credit.ID) (credit.Credit, error)
	History(ctx context.Context, id credit.ID) ([]credit.Entry, error)
	Tasks(ctx context.Context, q store.TaskQuery) ([]credit.Task, error)
	Counts(ctx context.Context) (store.Counts, error)
	Excerpt(ctx context.Context, q store.ExcerptQuery) (store.Excerpt, error)
	ChangeStore(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) ([]credit.Task, error)
	desk.Book
	outbox
	reconciliation
	Verify(ctx context.Context, progress func(done, total int)) (store.Report, error)
	Close(ctx context.Context) error
}

// Setup is what a test wants of the engine that it opens.
type Setup struct {
	New credit.Settings
	// Room reports the free bytes of the disk; nil: plenty. The floors are below.
	Room                               func() uint64
	StopClaimsBelow, RefuseIntakeBelow uint64
}

// Run checks every promise. open makes an engine over an empty store of the test's own; the suite closes it.
func Run(t *testing.T, open func(t *testing.T, s Setup) Backend) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.keeps(t, func(s Setup) *World {
				w := NewWorld(t, func(s Setup) Backend { return open(t, s) }, s)
				t.Cleanup(w.End)
				return w
			})
		})
	}
}

// promise is one test of the suite.
type promise struct {
	name  string
	keeps func(t *testing.T, open func(Setup) *World)
}

// on makes a promise that needs nothing of its setup.
func on(name string, keeps func(w *World)) promise {
	return promise{name, func(_ *testing.T, open func(Setup) *World) { keeps(open(Setup{})) }}
}

var promises = []promise{
	on("AcceptOnceUnderRace", acceptOnceUnderRace),
	on("ReplayedEventIsQuiet", replayedEventIsQuiet),
	on("SameKeyOtherFactsIsLoud", sameKeyOtherFactsIsLoud),
	on("SecondEventJoins", secondEventJoins),
	on("BodiesAreKeptByteForByte", bodiesAreKept),
	on("WrongDigestIsRefused", wrongDigestIsRefused),
	on("TextThatIsNotUTF8IsRefused", badTextIsRefused),
	on("RefundStopsPendingRow", refundStopsPendingRow),
	on("DayLimitCountsWhatBecamePending", dayLimitCounts),
	on("DepositTakesEarliestWaitingPart", depositTakesEarliestWaitingPart),
	on("SecondPartIsHeld", secondPartIsHeld),
	on("DepositWithKnownRefundTakesHeldRow", depositWithKnownRefund),
	on("IdempotencyReplaysFirstAnswer", idempotencyReplaysFirstAnswer),
	on("TwinRequestsGetOneDeposit", twinRequestsGetOneDeposit),
	on("DryRunWritesNothing", dryRunWritesNothing),
	on("RefusedDepositLeavesTheKeyFree", refusedDepositLeavesTheKeyFree),
	on("PurgedAnswersAreGone", purgedAnswersAreGone),
	on("ForeignAccountChangeHoldsPending", foreignAccountChangeHoldsPending),
	on("SameAccountChangesNothing", sameAccountChangesNothing),
	on("GuardHoldsUnderRace", guardHoldsUnderRace),
	on("OneOpenRowPerLoginUnderRace", oneOpenRowPerLogin),
	on("DealIsUnique", dealIsUnique),
	on("ReferenceIsUnique", referenceIsUnique),
	on("DueFollowsState", dueFollowsState),
	on("DueOrderIsTimeThenID", dueOrderIsTimeThenID),
	on("DueShardsByLogin", dueShardsByLogin),
	on("DecideMayRunTwice", decideMayRunTwice),
	on("DecideErrorWritesNothing", decideErrorWritesNothing),
	on("DecidePanicIsAnError", decidePanicIsAnError),
	on("HourComesWithItsDecision", hourComesWithItsDecision),
	on("DossierShowsTheSurroundings", dossierShowsTheSurroundings),
	on("DossierShowsWhatStopsTheLogin", dossierShowsWhatStopsTheLogin),
	on("ChangeStoreIsOneTransaction", changeStoreIsOneTransaction),
	on("ExcerptsHoldWhatBelongsTogether", excerptsHoldWhatBelongsTogether),
	on("BusySeesThroughLabels", busySeesThroughLabels),
	on("SnapshotsAreWhole", snapshotsAreWhole),
	on("AnchorOnlyMovesForward", anchorOnlyMovesForward),
	on("HistoryIsAppendOnlyAndChained", historyIsChained),
	on("TimesAreMicroseconds", timesAreMicroseconds),
	on("KeysAreUnambiguous", keysAreUnambiguous),
	on("CancelledContextWritesNothing", cancelledContext),
	on("PagingSeesEachOnce", pagingSeesEachOnce),
	on("ListsAnswerTheirFilters", listsAnswerTheirFilters),
	on("ListsStayWholeWhileOthersArrive", listsStayWholeWhileOthersArrive),
	on("ForeignPlaceIsInvalid", foreignPlaceIsInvalid),
	on("ClosedDepositHoldsItsPayment", closedDepositHoldsItsPayment),
	on("DepositStoryIsWhole", depositStoryIsWhole),
	on("TasksOpenOncePerKey", tasksOpenOncePerKey),
	on("CountsFollowTheRows", countsFollowTheRows),
	on("SettleIsOneTransaction", settleIsOneTransaction),
	on("FreeingRepeatsTheChecks", freeingRepeatsTheChecks),
	on("FreeingHoldsUnderRace", freeingHoldsUnderRace),
	on("NoticesComeWithWhatTheyTell", noticesComeWithWhatTheyTell),
	on("WithoutChannelsNothingIsTold", withoutChannelsNothingIsTold),
	on("NewChannelIsToldWhatComesFromNowOn", newChannelIsToldWhatComes),
	on("MessageStaysUntilItIsSent", messageStaysUntilItIsSent),
	on("ChannelNeverGoesBack", channelNeverGoesBack),
	on("MissingIsNotFound", missingIsNotFound),
	on("ResultsAreCopies", resultsAreCopies),
	on("ActShowsTheSurroundings", actShowsTheSurroundings),
	on("ActErrorWritesNothing", actErrorWritesNothing),
	on("ActWritesAllOfIt", actWritesAllOfIt),
	on("RevokedNamesAreFree", revokedNamesAreFree),
	on("ProposalsEndOnce", proposalsEndOnce),
	on("AuditIsChainedUnderRace", auditIsChainedUnderRace),
	on("FindsByEveryID", findsByEveryID),
	on("NewestComesFirstWhereAsked", newestComesFirst),
	on("OpenTasksAreCountedByKind", openTasksAreCounted),
	on("CancelledActWritesNothing", cancelledAct),
	on("ImportingTwiceChangesNothing", importingTwiceChangesNothing),
	on("ReissuedLinesCountOnce", reissuedLinesCountOnce),
	on("WhatOneStatementNamesTwiceIsTwo", whatOneStatementNamesTwiceIsTwo),
	on("BatchFilledInLaterCountsOnce", batchFilledInLaterCountsOnce),
	on("BatchesAreMetOneByOne", batchesAreMetOneByOne),
	on("HalfAReissueChangesNothing", halfAReissueChangesNothing),
	on("StatementsReachNoLaterThanTheirImport", statementsReachNoLaterThanTheirImport),
	on("WithdrawnStatementsCountNowhere", withdrawnStatementsCountNowhere),
	on("WithdrawalWaitsForThoseThatLeanOnIt", withdrawalWaitsForThoseThatLeanOnIt),
	on("ImportsThatLeanOnAWithdrawnStatementAreGivenUp", importsThatLeanOnAWithdrawnStatementAreGivenUp),
	on("HalfAnImportIsInvisible", halfAnImportIsInvisible),
	on("StrangeLinesAreRefused", strangeLinesAreRefused),
	on("LinesPageOverWhatCounts", linesPageOverWhatCounts),
	on("RunsAppearWhole", runsAppearWhole),
	on("DayHasItsNewestCompleteRun", dayHasItsNewestCompleteRun),
	on("ReachLeavesNoGap", reachLeavesNoGap), on("DaysHaveTheirZone", daysHaveTheirZone),
	on("CompleteRunsAreSignedOnce", completeRunsAreSignedOnce),
	on("PurgedRunsKeepTheirHead", purgedRunsKeepTheirHead),
	on("DifferenceHasOneTaskForLife", differenceHasOneTaskForLife),
	on("AcceptedDifferenceStaysAccepted", acceptedDifferenceStaysAccepted),
	on("TasksAboutRunsOpenOnce", tasksAboutRunsOpenOnce),
	{"ClosedStoreIsBusy", closedStoreIsBusy},
	{"LowSpaceRefusesIntake", lowSpaceRefusesIntake},
	{"RandomOpsMatchModel", randomOpsMatchModel},
}
