package invariant

import (
	"maps"
	"slices"

	"creditonce/credit"
	"creditonce/recon"
)

// movement is what names a movement in a statement, with its facts. The batch of a payment's movement may be filled in later.
type movement struct {
	kind, account, batch, kindOfLine, word, payment, id string
	code, gross, fee, net                               string
}

func movementOf(l *recon.Line) movement {
	m := movement{
		l.Provider.Kind, l.Provider.Account, l.Batch, string(l.Type), l.Word, l.Payment, l.Movement, l.Code, moneyText(l.Gross), moneyText(l.Fee), moneyText(l.Net),
	}
	if l.Payment != "" {
		m.batch = ""
	}
	return m
}

// moneyText is the same for the same money, whatever its exponent; none is zero.
func moneyText(a credit.Amount) string {
	if a.IsZero() {
		return ""
	}
	return fine(a).String() + " " + a.Currency()
}

// told is a line that counts.
type told struct {
	id    recon.LineID
	by    recon.StatementID
	batch string
}

// repeats tells that two lines of one movement say the same also about the batch.
func (t told) repeats(other told) bool {
	return t.batch == other.batch || t.batch == "" || other.batch == ""
}

func linesCountOnce(v *view) {
	w := v.w.Recon
	if w == nil {
		return
	}
	whole := map[recon.StatementID]*recon.Imported{}
	for i := range w.Statements {
		whole[w.Statements[i].ID] = &w.Statements[i]
	}
	own, superseded := map[recon.StatementID]int{}, 0
	counted := map[movement][]told{}
	for i := range w.Lines {
		l := &w.Lines[i]
		if i > 0 && w.Lines[i-1].ID >= l.ID {
			v.find(nil, "settlement line %d comes twice, or after line %d", l.ID, w.Lines[i-1].ID)
		}
		own[l.Statement]++
		v.standing(l, whole[l.Statement])
		if m := movementOf(&l.Line); l.Standing == "counts" && (m.payment != "" || m.id != "") {
			counted[m] = append(counted[m], told{l.ID, l.Statement, l.Line.Batch})
		}
		if l.Standing == "superseded" {
			superseded++
		}
	}
	replaced := 0
	for i := range w.Statements {
		s := &w.Statements[i]
		have := own[s.ID]
		if v.w.Part {
			counted := false
			if have, counted = w.Own[s.ID]; !counted {
				have = s.Stored + s.Replaced
			}
		}
		if have != s.Stored+s.Replaced || s.Stored+s.Duplicates != s.Statement.Rows {
			v.find(nil, "statement %d has %d rows: %d lines and %d repeated ones are counted, %d of these in an earlier one's place; %d lines are stored",
				s.ID, s.Statement.Rows, s.Stored, s.Duplicates, s.Replaced, have)
		}
		if s.Withdrawn == nil {
			replaced += s.Replaced
		}
		if !v.w.Part || slices.Contains(w.Leaning, s.ID) {
			v.leaning(s, whole)
		}
	}
	if superseded != replaced && !v.w.Part {
		v.find(nil, "%d settlement lines are superseded, and %d lines count in the place of one", superseded, replaced)
	}
	v.repeatsNothing(whole, counted)
}

// standing sees that a line's standing is what its statement says. s is nil where the statement is not whole.
func (v *view) standing(l *recon.KeptLine, s *recon.Imported) {
	switch {
	case (l.Standing == "importing") != (s == nil):
		v.find(nil, "settlement line %d is %s, and its statement %d is not as whole as that says", l.ID, l.Standing, l.Statement)
	case s == nil:
	case (l.Standing == "withdrawn") != (s.Withdrawn != nil):
		v.find(nil, "settlement line %d is %s, and whether its statement %d is withdrawn says otherwise", l.ID, l.Standing, l.Statement)
	case l.Line.Digest != s.Statement.Digest:
		v.find(nil, "settlement line %d is of another file than its statement %d", l.ID, l.Statement)
	case l.Standing == "superseded" && l.Line.Batch != "" && l.Line.Type != recon.LineUnknown:
		v.find(nil, "settlement line %d is superseded, and names its batch and its type itself", l.ID)
	}
}

// leaning sees that a statement that counts leans on earlier ones that count.
func (v *view) leaning(s *recon.Imported, whole map[recon.StatementID]*recon.Imported) {
	for _, id := range s.LeansOn {
		if earlier := whole[id]; earlier == nil || id >= s.ID || (s.Withdrawn == nil && earlier.Withdrawn != nil) {
			v.find(nil, "statement %d leans on statement %d, which does not count", s.ID, id)
		}
	}
	if w := s.Withdrawn; w != nil && (w.By == "" || w.Reason == "") {
		v.find(nil, "statement %d is withdrawn by nobody, or without a reason", s.ID)
	}
	if len(s.LeansOn) == 0 && s.Duplicates+len(s.Conflicts) > 0 {
		v.find(nil, "statement %d repeats or contradicts lines, and leans on no statement", s.ID)
	}
}

// repeatsNothing sees that no statement brought in again what an earlier one had: each line of its own beside equal ones of earlier
// statements takes as many repeats as there are of those.
func (v *view) repeatsNothing(whole map[recon.StatementID]*recon.Imported, counted map[movement][]told) {
	again := map[recon.StatementID]int{}
	for _, of := range counted {
		most := map[recon.StatementID]int{}
		for i, t := range of {
			n := 0
			for _, before := range of[:i] { // the lines are by number
				if before.by != t.by && before.repeats(t) {
					n++
				}
			}
			most[t.by] = max(most[t.by], n)
		}
		for _, s := range slices.Sorted(maps.Keys(most)) {
			n := most[s]
			again[s] += n
			if v.w.Part && v.repeatsOf(s, of) < n {
				v.find(nil, "statement %d counts a line that earlier statements have too, and repeats fewer of theirs: settlement line %d", s, of[len(of)-1].id)
			}
		}
	}
	if v.w.Part { // judged movement by movement: the statement's other repeats excuse nothing
		return
	}
	for _, s := range slices.Sorted(maps.Keys(again)) {
		if im := whole[s]; im != nil && im.Duplicates < again[s] {
			v.find(nil, "statement %d counts lines that earlier statements have too, and repeats %d of their %d lines only", s, im.Duplicates, again[s])
		}
	}
}

// repeatsOf counts the lines of a movement that a statement repeats, in a part.
func (v *view) repeatsOf(s recon.StatementID, of []told) (n int) {
	for _, r := range v.w.Recon.Repeats {
		if r.Statement == s && slices.ContainsFunc(of, func(t told) bool { return t.id == r.Line }) {
			n++
		}
	}
	return n
}
