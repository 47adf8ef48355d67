package main

// storeMutants break the store and what it notices about itself.
func storeMutants() []mutant {
	return []mutant{
		{"acknowledged_before_the_commit", in("store/committer.go", "poison, err := c.try(batch, r)", "if ON {\n\t\t\tanswer(batch, nil)\n\t\t}\n\t\tpoison, err := c.try(batch, r)", "for _, op := range batch {\n\t\top.done <- op.err\n\t}\n}\n\nfunc (c *committer) refuseIntake", "for _, op := range batch {\n\t\tif ON {\n\t\t\tbreak\n\t\t}\n\t\top.done <- op.err\n\t}\n}\n\nfunc (c *committer) refuseIntake"),
			test("store", "TestH22_KilledWriterLeavesAcknowledgedEvents"), "FAIL"},
		{"commit_error_is_ignored", in("store/committer.go", "if err := commitTx(tx); err != nil {\n\t\treturn -1, err", "if err := commitTx(tx); err != nil && !ON {\n\t\treturn -1, err"), test("store", "TestCommitError_StopsTheStore"), "FAIL"},
		{"ticket_on_two_rows", in("store/schema.go", "if c.Ticket == 0 {", "if c.Ticket == 0 || ON {"), test("store", "TestConformance"), "FAIL"},
		{"one_discrepancy_two_tasks", in("store/changes.go", "prior, err := tasks.find(w.tx, taskOpen, taskKey(t.Key()))", "prior, err := tasks.find(w.tx, taskOpen, taskKey(t.Key()))\n\t\tif ON {\n\t\t\tprior = nil\n\t\t}"), test("store", "TestConformance"), "FAIL"},
		{"checksums_not_compared", in("store/codec.go", "if checksum(bucket, k, body) != sum {", "if checksum(bucket, k, body) != sum && !ON {"), test("store", "TestFlippedByte_IsFoundByReadAndVerify"), "FAIL"},
		{"witness_not_written", in("store/committer.go", "if c.witness == nil {", "if c.witness == nil || ON {"), test("store", "TestH20_AFileCopiedBackByHandIsNoticed"), "FAIL"},
		{"commits_without_sync", in("store/open.go", "NoSync: o.UnsafeNoSync,", "NoSync: o.UnsafeNoSync || ON,"), test("internal/proof/storage", "TestPowerLoss"), "acknowledged"},
		{"witness_not_compared", in("store/standing.go", "if st.Doubt != \"\" || g.Witness == \"\" {", "if st.Doubt != \"\" || g.Witness == \"\" || ON {"), test("store", "TestH23_AnOlderStoreUnderANewerWitnessIsNoticed"), "FAIL"},
		{"pins_not_compared", in("store/standing.go", "if s.Place != nil {", "if s.Place != nil && !ON {"), test("store", "TestH21_ACopyElsewhereIsNoticed"), "FAIL"},
		{"file_not_watched", in("store/committer.go", "if wrote && c.unmoved != nil {", "if wrote && c.unmoved != nil && !ON {"), test("store", "TestH21_AnotherFileAtThePathStopsTheStore"), "FAIL"},
		{"restore_leaves_permissions", in("credit/restore.go", "c.Grants, c.HandedOver, c.NotSent = 0, false, nil", "if !ON {\n\t\t\t\tc.Grants, c.HandedOver, c.NotSent = 0, false, nil\n\t\t\t}"), test("credit", "TestMoveRow_Table"), "FAIL"},
		{"restore_moves_nothing", in("credit/restore.go", "if r == nil || d.Row.Restore >= r.Number || ", "if ON || r == nil || d.Row.Restore >= r.Number || "), test("store", "TestH20_RestoreMovesRowsAndKeepsTheOldStore"), "FAIL"},
		{"release_with_an_open_gap", in("credit/restore.go", "if len(open) > 0 {\n\t\treturn Refuse(\"gap\"", "if len(open) > 0 && !ON {\n\t\treturn Refuse(\"gap\""), test("credit", "TestReleaseMode_AfterARestoreWaitsForQuarantineMovesAndGaps"), "FAIL"},
		{"a_mute_witness_is_not_told", in("store/refusing.go", "if err := db.committer.mute.Load(); err != nil {", "if err := db.committer.mute.Load(); err != nil && !ON {"),
			test("internal/app", "TestWitnessThatCannotBeWritten_IsOneTaskAndEndsByItself"), "FAIL"},
		{"evidence_is_written_over", in("store/refusing.go", "w.testify = s.Doubt == nil", "w.testify = s.Doubt == nil || ON"), test("store", "TestTryWitness_LeavesTheEvidenceOfADoubt"), "FAIL"},
		{"any_command_raises_the_schema", in("store/migrate.go", "case found < schemaVersion && !o.Raise:", "case found < schemaVersion && !o.Raise && !ON:"), test("store", "TestOpen_RaisesAnOlderSchemaOnlyForWhoSaysSo"), "FAIL"},
		{"a_reader_may_write", in("store/reading.go", "db.reading, db.found = true, found", "db.reading, db.found = !ON, found"), test("store", "TestOpenReading_ReadsAnOlderSchemaAndChangesNothing"), "FAIL"},
	}
}
