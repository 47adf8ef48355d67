package main

// peopleMutants break what takes two people.
func peopleMutants() []mutant {
	must := test("internal/desk", "TestConfirm_EveryWayThatMustFailDoes")
	return []mutant{
		{"own_proposals_can_be_confirmed", in("internal/desk/decide.go", "case who.ID == p.By:", "case who.ID == p.By && !ON:"), test("internal/desk", "TestAct_OnlyAnotherPersonWhomTheTableNamesMayConfirmIt"), "FAIL"},
		{"the_hash_is_not_compared", in("internal/desk/decide.go", "case !p.Whole() || digest != p.Digest:", "case (!p.Whole() || digest != p.Digest) && !ON:"), must, "FAIL"},
		{"what_it_is_about_may_move", in("internal/desk/decide.go", "case p.Basis != basisOf(p.Act, f):", "case p.Basis != basisOf(p.Act, f) && !ON:"), must, "FAIL"},
		{"proposals_are_used_twice", in("internal/desk/decide.go", "case p.State != ProposalOpen:\n\t\treturn line, ", "case p.State != ProposalOpen && !ON:\n\t\treturn line, "), must, "FAIL"},
		{"proposals_never_expire", in("internal/desk/decide.go", "case p.StateAt(now) == ProposalExpired:", "case p.StateAt(now) == ProposalExpired && !ON:"), must, "FAIL"},
		{"any_role_confirms", in("internal/desk/decide.go", "case !who.May(line.Confirm...):", "case !who.May(line.Confirm...) && !ON:"), test("internal/desk", "TestAct_OnlyAnotherPersonWhomTheTableNamesMayConfirmIt"), "FAIL"},
	}
}
