package main

// reconMutants break what reconciliation may and may not conclude.
func reconMutants() []mutant {
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
	}
}
