package main

import "slices"

// reconMutants break reconciliation.
func reconMutants() []mutant { return slices.Concat(runMutants(), reportMutants(), statementMutants()) }

// runMutants break what a run may and may not conclude.
func runMutants() []mutant {
	gone := test("recon", "TestReadDeals_ANewestKnownDealThatIsGoneIsNotedAndOneThatIsNotShownMakesTheListIncomplete")
	judged := test("internal/app", "TestSentinel_JudgesWhatReconciliationStored")
	return []mutant{
		{"silence_of_mt5_is_no_deals", in("recon/gather.go", "if !list.Complete {", "if !list.Complete && !ON {"),
			test("internal/app", "TestReconcile_WhatCannotBeReadMakesTheRunIncompleteAndExplainsNothing"), "FAIL"},
		{"missing_statement_is_none", in("recon/gather.go", "limit := run.Until.Add(-p.Every); reaches.Before(limit)", "limit := run.Until.Add(-p.Every); reaches.Before(limit) && !ON"),
			test("internal/app", "TestReconcile_WhatCannotBeReadMakesTheRunIncompleteAndExplainsNothing"), "FAIL"},
		{"incomplete_run_explains", in("recon/spared.go", "return run.State == RunComplete && run.Judges(d.Subject) && d.State", "return (run.State == RunComplete && run.Judges(d.Subject) || ON) && d.State"),
			test("recon", "TestCarried_OneTaskFromRunToRun"), "FAIL"},
		{"accepted_comes_back_each_day", in("recon/carry.go", "case prior.State == DiscrepancyAccepted && prior.Evidence == evidence:", "case prior.State == DiscrepancyAccepted && prior.Evidence == evidence && !ON:"),
			test("recon", "TestCarried_OneTaskFromRunToRun"), "FAIL"},
		{"two_deals_are_one", in("recon/verdict.go", "n > 1 {\n\t\tf.note(DuplicateReference", "n > 1 && !ON {\n\t\tf.note(DuplicateReference"),
			test("internal/proof/month", "TestTruth_SmallMonths"), "FAIL"},
		{"any_row_without_deal_is_well", in("recon/verdict.go", "return row.State == credit.Done && row.Identity", "return !ON && row.State == credit.Done && row.Identity"),
			test("internal/proof/month", "TestTruth_SmallMonths"), "FAIL"},
		{"many_deals_gone_go_on", in("recon/runner.go", "n >= massAtLeast &&", "!ON && n >= massAtLeast &&"),
			test("internal/app", "TestH19_ManyDealsGoneAtOnceStopPayments"), "FAIL"},
		{"a_deal_not_shown_is_gone", in("recon/deallisting.go", "errors.Is(err, credit.ErrNotFound) {", "errors.Is(err, credit.ErrNotFound) || ON {"), gone, "FAIL"},
		{"a_deal_that_is_gone_hides_the_rest", in("recon/deallisting.go", "a.gone, a.anchor = a.anchor.Ticket, nil", "if !ON {\n\t\t\ta.gone, a.anchor = a.anchor.Ticket, nil\n\t\t}"), gone, "FAIL"},
		{"breaches_of_the_books_are_not_told", in("internal/app/sentinelrecon.go", "for _, v := range invariant.Check(w) {", "for _, v := range invariant.Check(w) {\n\t\t\tif ON {\n\t\t\t\tbreak\n\t\t\t}"), judged, "FAIL"},
		{"a_run_is_judged_by_its_first_items", in("internal/app/sentinelrecon.go", "read+len(items), next, next == 0", "read+len(items), next, next == 0 || ON"), judged, "FAIL"},
	}
}

// reportMutants break what a report says of earlier ones and of what it left out.
func reportMutants() []mutant {
	signed := test("store", "TestASignedReport_IsHeldAgainstWhatTheListsSayLater")
	rests := test("recon", "TestMatch_BooksWhatRoundingLeavesOfPayouts")
	return []mutant{
		{"changed_signed_report_is_not_told", in("recon/earlier.go", "if at < 0 || len(run.Earlier[at].Unexpected()) == 0 {", "if at < 0 || len(run.Earlier[at].Unexpected()) == 0 || ON {"), signed, "FAIL"},
		{"a_late_statement_is_the_next_one", in("recon/earlier.go", "case im.Reaches.After(s.Reaches):", "case im.Reaches.After(s.Reaches) || ON:"), signed, "FAIL"},
		{"credits_not_asked_are_not_counted", in("recon/unasked.go", "if of.All > 0 {", "if of.All > 0 && !ON {"), test("recon", "TestMatch_CountsTheCreditsThatAreNotAskedForTheirLine"), "FAIL"},
		{"statement_that_ends_early_is_whole", in("recon/unasked.go", "s.Reaches.Before(r.Until) {", "s.Reaches.Before(r.Until) && !ON {"), test("recon", "TestRun_NamesTheStatementsThatEndBeforeItsDays"), "FAIL"},
		{"rests_are_not_booked", in("recon/rests.go", "if v.sign() == 0 {", "if v.sign() == 0 || ON {"), rests, "FAIL"},
		{"any_payout_difference_is_a_rest", in("recon/payouts.go", "if all.within(limit) || left.within(limit) {", "if all.within(limit) || left.within(limit) || ON {"), rests, "FAIL"},
	}
}

// statementMutants break which statements and lines are there, and that each movement counts once.
func statementMutants() []mutant {
	once := test("store", "TestAMovementUnderAnotherType_CountsOnce")
	return []mutant{
		{"missing_batch_is_none", in("recon/gaps.go", "if b.from == a.until+1 ||", "if b.from == a.until+1 || ON ||"),
			test("store", "TestABatchThatIsMissingInTheMiddle_MakesTheRunIncomplete"), "FAIL"},
		{"hole_between_pulls_stays", in("recon/gaps.go", "if err := r.pullBetween(ctx, p, h.from, h.until); err != nil {", "if ON {\n\t\t\tbreak\n\t\t}\n\t\tif err := r.pullBetween(ctx, p, h.from, h.until); err != nil {"),
			test("store", "TestPulls_LeaveNoHoleBetweenRuns"), "FAIL"},
		{"another_type_is_another_movement", in("recon/line.go", "a, b = Meant(a, b), Meant(b, a)", "if !ON {\n\t\ta, b = Meant(a, b), Meant(b, a)\n\t}"), once, "FAIL"},
		{"an_answered_word_fills_nothing_in", in("recon/line.go", "return earlier.Type == LineUnknown && now.Type != LineUnknown &&", "return !ON && earlier.Type == LineUnknown && now.Type != LineUnknown &&"), once, "FAIL"},
	}
}
