package main

// intakeMutants break what happens between a provider's bytes and a row.
func intakeMutants() []mutant {
	return []mutant{
		{"any_signature_is_good", in("webhook/stripe/signature.go", "if hmac.Equal(want, got) {", "if hmac.Equal(want, got) || ON {"), test("webhook/stripe", "TestVerify_EveryByteCounts"), "FAIL"},
		{"old_signatures_are_good", in("webhook/stripe/signature.go", "age := now.Sub(sig.at)", "age := now.Sub(sig.at)\n\tif ON {\n\t\tage = 0\n\t}"), test("webhook/stripe", "TestVerify_TimeBounds"), "FAIL"},
		{"refund_credits", in("webhook/stripe/readers.go", "f.Effect = credit.EffectRefund\n", "f.Effect = credit.EffectRefund\n\tif ON {\n\t\tf.Effect = credit.EffectPaid\n\t}\n"),
			test("webhook/stripe", "TestMap_TellsApartWhatTheProviderSends"), "FAIL"},
		{"amount_not_compared_with_deposit", in("credit/joining.go", "add(!row.Paid.Equal(d.Paid), HoldAmount)", "add(!row.Paid.Equal(d.Paid) && !ON, HoldAmount)"), simulation(enough), "I-M12"},
		{"currency_not_compared", in("credit/joining.go", "if row.Paid.Currency() != d.Paid.Currency() {", "if row.Paid.Currency() != d.Paid.Currency() && !ON {"), test("credit", "TestTakeIn_BirthChecks"), "FAIL"},
		{"second_payment_is_paid_too", in("credit/joining.go", "add(d.Credit != 0 && d.Credit != row.ID, HoldSecondPart)", "add(d.Credit != 0 && d.Credit != row.ID && !ON, HoldSecondPart)"), simulation(enough), "I-M12"},
		{"entered_and_told_are_paid_both", in("credit/joining.go", "add(twinOf(row, d.Credited, j.around) != nil, HoldEnteredTwice)", "add(twinOf(row, d.Credited, j.around) != nil && !ON, HoldEnteredTwice)"),
			test("internal/desk", "TestManual_PaymentThatTheProviderTellsLaterIsHeld"), "FAIL"},
		{"expiry_not_checked", in("credit/joining.go", "add(row.PaidAt.After(d.ExpiresAt), HoldExpired)", "add(row.PaidAt.After(d.ExpiresAt) && !ON, HoldExpired)"), test("credit", "TestTakeIn_BirthChecks"), "FAIL"},
		{"limit_not_checked", in("credit/joining.go", "add(j.overLimit(d.Credited), HoldLimit)", "add(j.overLimit(d.Credited) && !ON, HoldLimit)"), test("credit", "TestH41_LimitOfTheDayAddsUpOverPayments"), "FAIL"},
		{"deposit_clears_every_hold", in("credit/transition.go", "c.Holds = withHolds(withoutHolds(c.Holds, HoldNoDeposit), found...)", "c.Holds = withHolds(withoutHolds(c.Holds, HoldNoDeposit), found...)\n\t\t\tif ON {\n\t\t\t\tc.Holds = found\n\t\t\t}"),
			test("credit", "TestOpenDeposit_WaitingRowKeepsOtherReasonsAndGetsTheDepositsOwn"), "FAIL"},
		{"test_money_is_money", in("credit/intake.go", "if f.Live != (in.found.Settings.Environment == \"live\") {", "if f.Live != (in.found.Settings.Environment == \"live\") && !ON {"), simulation(enough), "I-D2"},
		{"before_the_cutover_is_paid", in("credit/intake.go", "if s.beforeGoLive() || (!s.CutoverAt.IsZero() && before) {", "if !ON && (s.beforeGoLive() || (!s.CutoverAt.IsZero() && before)) {"),
			test("internal/desk", "TestGoLive_BesideAFlowThatCreditsByHandNothingIsPaidTwice"), "FAIL"},
		{"refund_stops_nothing", in("credit/intake.go", "if err := in.stop(row, \"a \"+word+\" of the payment is known\", HoldReversal); err != nil {", "if err := in.stop(row, \"a \"+word+\" of the payment is known\", HoldReversal); err != nil && !ON {",
			"known := in.replay && len(withoutHolds(holds, row.Holds...)) == 0", "known := (in.replay && len(withoutHolds(holds, row.Holds...)) == 0) || (ON && len(holds) == 1 && holds[0] == HoldReversal)"),
			test("credit", "TestTakeIn_ReversalStopsWhatIsNotUnderWayAndLeavesTheRestToItsTask"), "FAIL"},
		{"born_pending_after_a_restore", in("credit/restore.go", "name: \"born\", from: []State{New}, to: Unknown, by: ByIntake,", "name: \"born\", from: []State{New}, to: bornState(), by: ByIntake,",
			"// movable are the states", "func bornState() State {\n\tif ON {\n\t\treturn Pending\n\t}\n\treturn Unknown\n}\n\n// movable are the states"), test("credit", "TestBirths_AfterARestore"), "FAIL"},
		{"pull_without_overlap", in("credit/pull.go", "return last.Add(-pullOverlap), false", "if ON {\n\t\t\treturn last, false\n\t\t}\n\t\treturn last.Add(-pullOverlap), false"), simulation(enough), "I-L1"},
		{"failed_pull_is_progress", in("credit/pull.go", "complete := r.err == nil || expired", "complete := r.err == nil || expired || ON"), simulation(enough), "I-L1"},
		{"exponents_are_two", in("internal/psp/stripe/currency.go", "case in(zeroDecimal, code):", "case in(zeroDecimal, code) && !ON:"), test("webhook/stripe", "TestMap_AmountsByStripesOwnExponents"), "FAIL"},
	}
}
