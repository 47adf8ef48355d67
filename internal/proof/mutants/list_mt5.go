package main

// mt5Mutants break the client of the Web API.
func mt5Mutants() []mutant {
	edges := test("mt5", "TestH5_LookSeesDealsAtTheEdgesOfTheWindowInEveryZone")
	return []mutant{
		{"window_in_our_clock", in("mt5/look.go", "q.Earliest.Add(s.clock.offset-widenBefore)", "q.Earliest.Add(map[bool]time.Duration{false: s.clock.offset}[ON] - widenBefore)"), edges, "FAIL"},
		{"window_of_15_minutes", in("mt5/look.go", "w := window{to: s.clock.now(", "widenBefore := widenBefore\n\tif ON {\n\t\twidenBefore = 15 * time.Minute\n\t}\n\tw := window{to: s.clock.now("), edges, "FAIL"},
		{"window_ends_now", in("mt5/look.go", "int64(widenAfter/time.Second)}", "map[bool]int64{false: int64(widenAfter / time.Second)}[ON]}"), edges, "FAIL"},
		{"first_short_page_is_the_end", in("mt5/pages.go", "case g.rows < total:", "case g.rows < total && !ON:", "case total == g.rows:\n\t\t\treturn nil", "case total == g.rows || ON:\n\t\t\treturn nil"),
			test("mt5", "TestGather_.*"), "FAIL"},
		{"foreign_rows_are_taken", in("mt5/pages.go", "if r.login != g.login {", "if r.login != g.login && !ON {"), test("mt5", "TestH13_OneForeignRowEndsTheLook"), "FAIL"},
		{"tickets_come_twice", in("mt5/pages.go", "if twice {", "if twice && !ON {"), test("mt5", "TestH14_OneTicketTwiceEndsTheLook"), "FAIL"},
		{"no_positive_control", in("mt5/control.go", "if q.Control == nil {", "if ON {\n\t\treturn \"none\", nil\n\t}\n\tif q.Control == nil {"), test("mt5", "TestH12_WithoutAProofThereIsNoAnswer"), "FAIL"},
		{"broken_is_not_sent", in("mt5/balance.go", "if w.under.written == 0 {", "if w.under.written == 0 || ON {"), test("internal/proof/boundary", "TestH1_ServerExecutesThenTheConnectionDies_OneDealAndUnknown"), "FAIL"},
		{"deadline_not_at_the_write", in("mt5/conn.go", "if w.guard != nil {", "if w.guard != nil && !ON {"), test("mt5", "TestH2_DeadlinePassesBeforeTheFirstByte_NothingIsSent"), "FAIL"},
		{"success_without_a_ticket", in("mt5/retcodes.go", "case c == applied && status == http.StatusOK && ticket != 0:", "case c == applied && status == http.StatusOK && (ticket != 0 || ON):"), test("mt5", "TestClassify_WholeTableUnderEveryStatus"), "FAIL"},
		{"answer_of_another_login", in("mt5/balance.go", "foreign := given.Login.set && ", "foreign := !ON && given.Login.set && "), test("mt5", "TestBalance_EveryFaultHasItsOutcome"), "FAIL"},
	}
}
