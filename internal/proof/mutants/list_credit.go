package main

import "slices"

// enough is how many seeds the simulation may need to find a mutant of the protocol.
const enough = 400

// creditMutants break the protocol of call and look.
func creditMutants() []mutant {
	return slices.Concat(callMutants(), lookMutants(), gateMutants(), standstillMutants())
}

func callMutants() []mutant {
	return []mutant{
		{"lease_end_is_pending", slices.Concat(
			in("credit/transition.go", "if after.State != row.State && !legal(", "if after.State != row.State && !ON && !legal("),
			in("credit/keeper.go", `t := orphaned(now, keeperActor, "the lease has ended", mark, schedule)`,
				`t := orphaned(now, keeperActor, "the lease has ended", mark, schedule)
		if ON {
			t.to = Pending
		}`),
		), test("credit", "TestH7_LeaseEndsWhileTheCallHangsThenLateSuccess_IsKeptAndFound"), "FAIL"},
		{"restart_forgets_claims", in("credit/keeper.go", `err := k.each(ctx, Claimed, func(c Credit) (*Transition, []Task) {
		t := orphaned(now, keeperActor, "the process that claimed it has ended", mark, schedule)
		return &t, nil`, `err := k.each(ctx, Claimed, func(c Credit) (*Transition, []Task) {
		t := orphaned(now, keeperActor, "the process that claimed it has ended", mark, schedule)
		if ON {
			t.to = Failed
			t.by = ByWorker
		}
		return &t, nil`), simulation(enough), "I-M5"},
		{"timeout_is_refusal", in("credit/record.go", "call := &CallEvidence{\n\t\tAttempt: row.Attempt,",
			"if ON && r.Outcome == OutcomeUnknown {\n\t\tr.Outcome = OutcomeRefused\n\t}\n\tcall := &CallEvidence{\n\t\tAttempt: row.Attempt,"), simulation(enough), "I-M5"},
		{"timeout_is_not_sent", in("credit/record.go", "switch r.Outcome {\n\tcase OutcomeApplied:\n\t\treturn l.recordApplied",
			"if ON && r.Outcome == OutcomeUnknown {\n\t\tr.Outcome = OutcomeNotSent\n\t}\n\tswitch r.Outcome {\n\tcase OutcomeApplied:\n\t\treturn l.recordApplied"), test("credit", "TestLane_EachOutcomeLeadsToItsState"), "FAIL"},
		{"claim_in_any_mode", in("credit/worker.go", "case d.Settings.Mode != ModeLive:", "case d.Settings.Mode != ModeLive && !ON:"),
			test("credit", "TestClaim_ChecksEverythingAgainInsideItsTransaction"), "FAIL"},
		{"claim_beside_an_open_row", slices.Concat(
			in("credit/worker.go", "if len(d.Busy) > 0 && !d.Reversed {", "if len(d.Busy) > 0 && !d.Reversed && !ON {", "case len(d.Busy) > 0:", "case len(d.Busy) > 0 && !ON:"),
		), test("credit", "TestLane_OneOpenRowALogin"), "FAIL"},
		{"claim_for_a_former_owner", in("credit/worker.go", "case d.Account == nil || d.Account.Client != d.Row.Client:",
			"case !ON && (d.Account == nil || d.Account.Client != d.Row.Client):"), test("credit", "TestClaim_ChecksEverythingAgainInsideItsTransaction"), "FAIL"},
		{"claim_although_reversed", in("credit/worker.go", "case d.Reversed:", "case d.Reversed && !ON:"),
			test("credit", "TestClaim_ChecksEverythingAgainInsideItsTransaction"), "FAIL"},
		{"freshness_not_checked", in("credit/worker.go", "if now-fresh < l.Timing.FreshFor {", "if now-fresh < l.Timing.FreshFor || ON {"),
			test("credit", "TestLane_SlowLookReadsTheAccountAgainAndOnlyNewRows"), "FAIL"},
		{"ticket_not_compared", in("credit/record.go", "if d.Ticket != ticket || !d.is(row) {", "if !ON && (d.Ticket != ticket || !d.is(row)) {"),
			test("credit", "TestLane_EachOutcomeLeadsToItsState"), "FAIL"},
		{"dealer_not_compared", in("credit/record.go", "if l.DealerMeasured {", "if l.DealerMeasured && !ON {"),
			test("credit", "TestH16_AnotherDealerThanMeasuredIsUnknownUntilALookSettlesIt"), "FAIL"},
		{"late_answer_is_lost", in("credit/record.go", "if d.Row.State == Unknown && d.Row.Attempt == row.Attempt {", "if d.Row.State == Unknown && d.Row.Attempt == row.Attempt && !ON {"),
			test("credit", "TestH7_.*"), "FAIL"},
		{"reference_counts_calls", in("credit/reference.go", "sum := h.Sum(nil)", "if ON {\n\t\tmutantCalls++\n\t\th.Write([]byte{mutantCalls})\n\t}\n\tsum := h.Sum(nil)",
			"// Valid tells whether the text is", "var mutantCalls byte\n\n// Valid tells whether the text is"), simulation(enough), "I-M9"},
	}
}

func lookMutants() []mutant {
	return []mutant{
		{"incomplete_is_absent", slices.Concat(
			in("credit/match.go", "if !s.Complete {", "if !s.Complete && !ON {"),
			in("credit/gate.go", "!look.Complete ||", "(!look.Complete && !ON) ||"),
		), simulation(enough), "I-M8"},
		{"login_not_compared", in("credit/match.go", "return d.Login == c.Login && ", "return (d.Login == c.Login || ON) && "), test("credit", "TestJudge_Table"), "FAIL"},
		{"amount_not_compared", in("credit/match.go", " && d.Amount.Equal(c.DealAmount())\n}", " && (d.Amount.Equal(c.DealAmount()) || ON)\n}"), test("credit", "TestJudge_Table"), "FAIL"},
		{"first_of_two_deals_is_taken", in("credit/match.go", "case len(ours) == 1 && len(damaged) == 0 && ours[0].is(c):", "case (len(ours) == 1 || (ON && len(ours) > 1)) && len(damaged) == 0 && ours[0].is(c):"),
			test("credit", "TestJudge_Table"), "FAIL"},
		{"damaged_reference_is_passed_over", in("credit/match.go", "case c.Reference.Damages(d.Comment):", "case c.Reference.Damages(d.Comment) && !ON:"),
			test("credit", "TestDamagedReferenceOnATicketOfAnotherRow.*"), "FAIL"},
		{"look_alike_is_passed_over", in("credit/match.go", "case looksLike(c, d, s.Offset):", "case looksLike(c, d, s.Offset) && !ON:"), test("credit", "TestH17_WhatTheFirstLookSeesHoldsTheRow"), "FAIL"},
		{"deal_of_another_row_is_taken", in("credit/match.go", "return ok && holder != row\n", "return ok && holder != row && !ON\n"), test("credit", "TestH19_ADealThatIsOnAnotherRowIsAConflictAndNotFound"), "FAIL"},
		{"second_deal_stops_nothing", in("credit/task.go", "case TaskConflict, TaskSecondDeal, TaskLateAnswer:\n\t\treturn true", "case TaskConflict, TaskSecondDeal, TaskLateAnswer:\n\t\treturn !ON"), test("credit", "TestSecondDeal_StopsClaimsOnItsLoginUntilAPersonHasSettledIt"), "FAIL"},
	}
}

func gateMutants() []mutant {
	return []mutant{
		{"no_quarantine", in("credit/gate.go", "open := quarantineStart(c, p) + t.Quarantine\n\tstarted", "open := quarantineStart(c, p) + t.Quarantine\n\tif ON {\n\t\topen = 0\n\t}\n\tstarted"), simulation(enough), "I-M8"},
		{"quarantine_forgets_the_start", in("credit/gate.go", "start := p.Started\n", "start := p.Started\n\tif ON {\n\t\tstart = 0\n\t}\n"), simulation(enough), "I-M8"},
		{"one_look_is_enough", in("credit/gate.go", "if started < first.Boot+t.SecondLook {", "if started < first.Boot+t.SecondLook && !ON {"), simulation(enough), "I-M8"},
		{"first_look_of_another_process", in("credit/gate.go", "if first == nil || first.Process != p.ID || first.Boot < open {", "if first == nil || (!ON && (first.Process != p.ID || first.Boot < open)) {",
			"c.FirstAbsent.Process != a.process:", "(c.FirstAbsent.Process != a.process && !ON):"), test("credit", "TestGate_.*"), "FAIL"},
		{"live_call_is_no_guard", in("credit/gate.go", "if liveCall || ", "if (liveCall && !ON) || "), test("credit", "TestH2_LiveCallIsNeverDeclaredAbsentByAnotherLane"), "FAIL"},
		{"answered_is_reissued", in("credit/gate.go", "case c.Answered:", "case c.Answered && !ON:"), test("credit", "TestUnknown_OnceAnsweredSuccessIsNeverReissuedAutomatically"), "FAIL"},
		{"reissued_without_end", in("credit/gate.go", "case c.Reissues > 0:", "case c.Reissues > 0 && !ON:"), test("credit", "TestUnknown_AbsentAfterTheGateIsReissuedOnceAndThenHandedOver"), "FAIL"},
		{"restored_is_reissued", in("credit/gate.go", "case c.Restored:", "case c.Restored && !ON:"), test("credit", "TestMayReissue_OnlyOnceAndNeverOnDoubt"), "FAIL"},
		{"people_skip_the_quarantine", in("credit/people.go", "if g.Now.Boot < open {\n\t\treturn Refuse(\"quarantine\", \"credit %d:", "if g.Now.Boot < open && !ON {\n\t\treturn Refuse(\"quarantine\", \"credit %d:"),
			test("internal/desk", "TestAdopt_WaitsForTheQuarantineAndTheEndOfTheCall"), "FAIL"},
		{"people_skip_the_second_look", in("credit/people.go", "case mine(row.FirstAbsent):", "case mine(row.FirstAbsent) && ON:\n\t\treturn nil\n\tcase mine(row.FirstAbsent):"),
			test("internal/desk", "TestClose_NeedsTwoLooksOfThisProcessAMinuteApart"), "FAIL"},
	}
}

// standstillMutants break what people hear when nothing is credited.
func standstillMutants() []mutant {
	one := test("credit", "TestStandstill_IsOneTaskForAsLongAsItLasts")
	return []mutant{
		{"a_standstill_is_not_told", in("credit/standstill.go", "if !e.told && !s.Told &&", "if !ON && !e.told && !s.Told &&"), one, "FAIL"},
		{"a_standstill_is_over_at_once", in("credit/standstill.go", "case boot-e.gone >= m.Calm:", "case boot-e.gone >= m.Calm || ON:"), one, "FAIL"},
	}
}
