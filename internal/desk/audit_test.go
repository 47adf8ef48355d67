package desk_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// chainOf is an audit log of n records that say the text.
func chainOf(n int, text string) []desk.Record {
	var out []desk.Record
	previous := ""
	for i := range n {
		r := desk.Record{
			Seq: uint64(i + 1), At: time.Unix(int64(i), 0).UTC(), Person: "ada", User: text, Reason: fmt.Sprint(text, i), Previous: previous,
			Rows: []credit.ID{credit.ID(i + 1)}, Proposal: desk.ProposalID(i),
		}
		out, previous = append(out, r), r.Chain()
	}
	return out
}

// readThrough checks a log as verify does: from the first record on, with the number that the store knows it ends at.
func readThrough(log []desk.Record, written uint64) error {
	seq, previous := uint64(0), ""
	for _, r := range log {
		seq++
		if err := desk.CheckRecord(r, seq, previous); err != nil {
			return err
		}
		previous = r.Chain()
	}
	if seq != written {
		return fmt.Errorf("the log ends at record %d, %d were written", seq, written)
	}
	return nil
}

// FuzzAuditChain does one thing to an audit log and wants it reported. One thing a chain cannot show: another text of
// the very last record. What the record before it does not know, only a copy of its digest elsewhere could.
func FuzzAuditChain(f *testing.F) {
	for op := range uint8(9) {
		f.Add(uint8(5), op, uint8(0), uint8(2), "because")
		f.Add(uint8(9), op, uint8(6), uint8(3), "")
	}
	f.Fuzz(func(t *testing.T, size, op, at, other uint8, text string) {
		n := int(size%20) + 2
		log := chainOf(n, text)
		if err := readThrough(log, uint64(n)); err != nil {
			t.Fatalf("a whole log: %v", err)
		}
		i, j := int(at)%(n-1), int(other)%n // i is never the last
		bad := slices.Clone(log)
		switch op % 9 {
		case 0:
			bad[i].Reason += "x"
		case 1:
			bad[i].Person = "eve"
		case 2:
			bad[i].At = bad[i].At.Add(time.Duration(other) + 1)
		case 3:
			bad[i].Rows = append(slices.Clone(bad[i].Rows), 99)
		case 4:
			bad = slices.Delete(bad, j, j+1)
		case 5:
			bad[i], bad[j] = bad[j], bad[i]
		case 6:
			bad = bad[:j]
		case 7:
			bad = slices.Insert(bad, j, bad[i])
		case 8: // another record in its place that is chained properly to the one before
			bad[i] = desk.Record{Seq: bad[i].Seq, Person: "eve", Previous: bad[i].Previous}
		}
		changed := !reflect.DeepEqual(bad, log)
		if err := readThrough(bad, uint64(n)); (err != nil) != changed {
			t.Fatalf("change %d at %d and %d of %d records: %v", op%9, i, j, n, err)
		}
	})
}
