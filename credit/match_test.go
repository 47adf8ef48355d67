package credit

import (
	"strings"
	"testing"
	"time"
)

func TestJudge_Table(t *testing.T) {
	t.Parallel()
	row := joinedRow(Unknown)
	ours := dealOf(row)
	other := NewReference("live", testIdentity, KindDeposit, Unit{ProviderKind: "stripe", Account: "acct_1", Payment: "pi_2"})
	with := func(change func(*Deal)) Deal { d := ours; change(&d); return d }
	alike := with(func(d *Deal) { d.Ticket, d.Comment = 2000, "bank transfer by hand" })
	for name, c := range map[string]struct {
		deals  []Deal
		held   map[uint64]ID
		offset time.Duration
		want   Verdict
		alike  bool
	}{
		"nothing":                     {want: VerdictAbsent},
		"ours":                        {deals: []Deal{ours}, want: VerdictFound},
		"ours, on this row already":   {deals: []Deal{ours}, held: map[uint64]ID{ours.Ticket: row.ID}, want: VerdictFound},
		"ours, on another row":        {deals: []Deal{ours}, held: map[uint64]ID{ours.Ticket: 99}, want: VerdictConflict},
		"ours at another exponent":    {deals: []Deal{with(func(d *Deal) { d.Amount = amount("500", "USD", 0) })}, want: VerdictFound},
		"ours beside a stranger":      {deals: []Deal{ours, with(func(d *Deal) { d.Ticket, d.Comment, d.Amount = 5, "bonus", usd(1) })}, want: VerdictFound},
		"ours beside a look-alike":    {deals: []Deal{ours, alike}, want: VerdictFound},
		"twice":                       {deals: []Deal{ours, with(func(d *Deal) { d.Ticket++ })}, want: VerdictConflict},
		"twice, one of wrong amount":  {deals: []Deal{ours, with(func(d *Deal) { d.Ticket++; d.Amount = usd(1) })}, want: VerdictConflict},
		"wrong amount":                {deals: []Deal{with(func(d *Deal) { d.Amount = usd(50001) })}, want: VerdictConflict},
		"wrong sign":                  {deals: []Deal{with(func(d *Deal) { d.Amount = d.Amount.Neg() })}, want: VerdictConflict},
		"wrong currency":              {deals: []Deal{with(func(d *Deal) { d.Amount = amount("500.00", "EUR", 2) })}, want: VerdictConflict},
		"wrong action":                {deals: []Deal{with(func(d *Deal) { d.Action = 6 })}, want: VerdictConflict},
		"wrong login":                 {deals: []Deal{with(func(d *Deal) { d.Login++ })}, want: VerdictConflict},
		"cut":                         {deals: []Deal{with(func(d *Deal) { d.Comment, d.Amount = d.Comment[:16], usd(1) })}, want: VerdictConflict},
		"lower case":                  {deals: []Deal{with(func(d *Deal) { d.Comment, d.Amount = strings.ToLower(d.Comment), usd(1) })}, want: VerdictConflict},
		"wrong check characters":      {deals: []Deal{with(func(d *Deal) { d.Comment = d.Comment[:20] + "ZZ"; d.Amount = usd(1) })}, want: VerdictConflict},
		"text after it":               {deals: []Deal{with(func(d *Deal) { d.Comment += " ok"; d.Amount = usd(1) })}, want: VerdictConflict},
		"ours beside a damaged copy":  {deals: []Deal{ours, with(func(d *Deal) { d.Ticket++; d.Comment = d.Comment[:18] })}, want: VerdictConflict},
		"damaged, on another row":     {deals: []Deal{with(func(d *Deal) { d.Comment = d.Comment[:16] })}, held: map[uint64]ID{ours.Ticket: 99}, want: VerdictConflict},
		"look-alike":                  {deals: []Deal{alike}, want: VerdictConflict, alike: true},
		"look-alike without comment":  {deals: []Deal{with(func(d *Deal) { d.Comment = "" })}, want: VerdictConflict, alike: true},
		"look-alike as a bonus":       {deals: []Deal{with(func(d *Deal) { d.Comment, d.Action = "promo", 6 })}, want: VerdictConflict, alike: true},
		"look-alike on another row":   {deals: []Deal{alike}, held: map[uint64]ID{alike.Ticket: 99}, want: VerdictAbsent},
		"same amount, negative":       {deals: []Deal{with(func(d *Deal) { d.Comment, d.Amount = "x", d.Amount.Neg() })}, want: VerdictAbsent},
		"same amount, valid other":    {deals: []Deal{with(func(d *Deal) { d.Comment = string(other) })}, want: VerdictAbsent},
		"an hour before the payment":  {deals: []Deal{with(func(d *Deal) { d.Comment = "x"; d.ServerTime -= 3600 })}, want: VerdictConflict, alike: true},
		"earlier than that":           {deals: []Deal{with(func(d *Deal) { d.Comment = "x"; d.ServerTime -= 3601 })}, want: VerdictAbsent},
		"an hour before, server east": {deals: []Deal{with(func(d *Deal) { d.Comment = "x"; d.ServerTime += 2 * 3600 })}, offset: 3 * time.Hour, want: VerdictConflict, alike: true},
		"earlier, server east":        {deals: []Deal{with(func(d *Deal) { d.Comment = "x"; d.ServerTime += 2*3600 - 1 })}, offset: 3 * time.Hour, want: VerdictAbsent},
		"now, server west":            {deals: []Deal{with(func(d *Deal) { d.Comment = "x"; d.ServerTime -= 5 * 3600 })}, offset: -5 * time.Hour, want: VerdictConflict, alike: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Judge(row, Sighting{Complete: true, Deals: c.deals, Offset: c.offset}, c.held)
			if m.Verdict != c.want || m.LookAlike != c.alike {
				t.Errorf("verdict %s, look-alike %v (%s); want %s, %v", m.Verdict, m.LookAlike, m.Reason, c.want, c.alike)
			}
			if (m.Verdict == VerdictConflict) != (m.Reason != "") {
				t.Errorf("reason %q of %s", m.Reason, m.Verdict)
			}
			if (m.Verdict == VerdictFound) != (m.Deal == ours || m.Deal.Ticket == ours.Ticket) {
				t.Errorf("deal %+v of %s", m.Deal, m.Verdict)
			}
			incomplete := Judge(row, Sighting{Reason: "page cut", Deals: c.deals, Offset: c.offset}, c.held)
			if incomplete.Verdict != VerdictNoAnswer || incomplete.Reason != "page cut" {
				t.Errorf("incomplete answer gives %s, %q", incomplete.Verdict, incomplete.Reason)
			}
		})
	}
}

func TestH40_DebitsMatchNegativeDealsOnly(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{KindRefund, KindChargeback, KindWithdrawal} {
		row := joinedRow(Unknown)
		row.Kind = kind
		row.Reference = NewReference("live", testIdentity, kind, row.Unit)
		d := dealOf(row)
		if d.Amount.Sign() >= 0 {
			t.Errorf("%s: deal of %s, want a negative amount", kind, d.Amount)
		}
		if m := Judge(row, Sighting{Complete: true, Deals: []Deal{d}}, nil); m.Verdict != VerdictFound {
			t.Errorf("%s: %s", kind, m.Verdict)
		}
		d.Amount = d.Amount.Neg()
		if m := Judge(row, Sighting{Complete: true, Deals: []Deal{d}}, nil); m.Verdict != VerdictConflict {
			t.Errorf("%s: a credit in place of a debit gives %s, want a conflict", kind, m.Verdict)
		}
	}
}
