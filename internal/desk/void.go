package desk

import "fmt"

// void ends what rests on somebody who may no longer do it: open proposals, and permits that were not used. Otherwise
// they would count again as soon as the person may act again, without anybody having decided that.
func (d *deed) void(p Person) {
	for _, q := range d.found.Proposals {
		line, err := lineOf(q.Act.Kind)
		if err != nil || d.found.Proposal != nil && q.ID == d.found.Proposal.ID {
			continue
		}
		made, agreed := q.By == p.ID && !p.May(line.May...), q.EndedBy == p.ID && !p.May(line.Confirm...)
		switch {
		case q.State == ProposalOpen && made:
			q.State, q.EndedBy, q.EndedAt = ProposalVoided, d.who.ID, cut(d.at)
			q.Answer = gone(p)
		case q.Permit.Unused() && (made || agreed):
			permit := *q.Permit
			permit.VoidedAt, permit.Void = cut(d.at), gone(p)
			q.Permit = &permit
		default:
			continue
		}
		d.out.Voided = append(d.out.Voided, q)
	}
}

// gone says why somebody may not do what they did before.
func gone(p Person) string {
	if p.Disabled {
		return fmt.Sprintf("%s was disabled", p.ID)
	}
	return fmt.Sprintf("%s lost the role", p.ID)
}
