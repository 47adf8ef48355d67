package invariant

import (
	"testing"
	"time"

	"creditonce/recon"
)

// reconciled adds four statements, one of them withdrawn and one under way, two runs and three differences to a world: everything is as it must be.
func (b *builder) reconciled() *Recon {
	psp := recon.Provider{Label: "stripe-eu", Kind: "stripe", Account: "acct_1"}
	line := func(digest string, row int, payment string, minor int64) recon.Line {
		return recon.Line{Provider: psp, Digest: digest, Row: row, Type: "payment", Word: "charge", Payment: payment, Gross: usd(minor), Net: usd(minor), At: noon}
	}
	imported := func(id recon.StatementID, digest string, rows, repeats int) recon.Imported {
		im := recon.Imported{ID: id, Statement: recon.Statement{Digest: digest, Provider: psp, Rows: rows}, Stored: rows - repeats, Duplicates: repeats, At: noon, By: "anna"}
		if repeats > 0 {
			im.LeansOn = recon.StatementIDs{1}
		}
		return im
	}
	withdrawn, filled := imported(4, "d4", 1, 0), imported(5, "d5", 2, 1)
	withdrawn.Withdrawn, filled.Replaced = &recon.Withdrawal{By: "anna", At: noon, Reason: "wrong unit"}, 1
	paidOut := line("d5", 2, "pi_2", 600)
	paidOut.Batch = "po_1"
	open, accepted := b.task("done_without_deal", "credit/1").ID, b.task("settled_without_credit", "payment/stripe/acct_1/pi_lost").ID
	explained := b.task("wrong_amount", "credit/2").ID
	closed(&b.w.Tasks[accepted-1], noon)
	closed(&b.w.Tasks[explained-1], noon)
	b.w.Tasks[explained-1].ClosedBy = "reconciliation"
	items := []recon.Item{
		{Key: recon.Key{Class: "done_without_deal", Entity: "credit/1"}, Side: "mt5", Off: usd(-500)},
		{Key: recon.Key{Class: "settled_without_credit", Entity: "payment/stripe/acct_1/pi_lost"}, Side: "provider", Provider: "stripe-eu", Off: usd(900)},
		{Key: recon.Key{Class: "payout_difference", Entity: "payout/stripe/acct_1/po_1"}, Side: "provider", Provider: "stripe-eu", Off: usd(1)},
	}
	run := recon.Run{
		ID: 2, First: "2026-05-04", Last: "2026-05-04", State: "complete", Findings: 3,
		Outcome: recon.Outcome{
			Classes: map[recon.Class]int{"matched": 7, "done_without_deal": 1, "settled_without_credit": 1, "payout_difference": 1},
			Rolls: []recon.Roll{
				{
					Side: "mt5", Currency: "USD", Listed: usd(-500), Ours: recon.Movement{Opening: usd(100), Credited: usd(700), Refunded: usd(50), Closing: usd(750)},
					Theirs: recon.Movement{Opening: usd(100), Credited: usd(200), Refunded: usd(50), Closing: usd(250)},
				},
				{Side: "provider", Provider: "stripe-eu", Currency: "USD", Listed: usd(900), Theirs: recon.Movement{Credited: usd(900), Closing: usd(900)}},
			},
		},
	}
	b.w.Recon = &Recon{
		Statements: []recon.Imported{imported(1, "d1", 2, 0), imported(2, "d2", 2, 1), withdrawn, filled},
		Lines: []recon.KeptLine{
			{ID: 1, Statement: 1, Standing: "counts", Line: line("d1", 2, "pi_1", 500)},
			{ID: 2, Statement: 1, Standing: "superseded", Line: line("d1", 3, "pi_2", 600)},
			{ID: 3, Statement: 2, Standing: "counts", Line: line("d2", 3, "pi_lost", 900)},
			{ID: 4, Statement: 3, Standing: "importing", Line: line("d3", 2, "pi_1", 500)},
			{ID: 5, Statement: 4, Standing: "withdrawn", Line: line("d4", 2, "pi_1", 50000)},
			{ID: 6, Statement: 5, Standing: "counts", Line: paidOut},
			{ID: 7, Statement: 5, Standing: "counts", Line: line("d5", 3, "pi_4", 100)},
		},
		Runs: []ReconRun{{Run: recon.Run{ID: 1, First: "2026-05-03", Last: "2026-05-03", State: "complete", Findings: 9, Purged: true}}, {Run: run, Items: items}},
		Discrepancies: []recon.Discrepancy{
			{Key: recon.Key{Class: "done_without_deal", Entity: "credit/1"}, State: "open", Task: open, Last: 2},
			{Key: recon.Key{Class: "settled_without_credit", Entity: "payment/stripe/acct_1/pi_lost"}, State: "accepted", Task: accepted, Last: 2},
			{Key: recon.Key{Class: "wrong_amount", Entity: "credit/2"}, State: "explained", Task: explained, Last: 1, Gone: 2},
		},
	}
	return b.w.Recon
}

var reconPlants = []planted{
	{"I-R1", "a second task for a difference that came back", func(b *builder) {
		b.reconciled()
		closed(b.task("wrong_amount", "credit/2"), b.w.Now)
	}, "are both about wrong_amount of credit/2"},
	{"I-R2", "an open difference that nobody is asked about", func(b *builder) {
		x := b.reconciled()
		closed(&b.w.Tasks[x.Discrepancies[0].Task-1], b.w.Now)
	}, "done_without_deal of credit/1 is open, and its task"},
	{"I-R2", "a task that is open for an explained difference", func(b *builder) {
		x := b.reconciled()
		t := &b.w.Tasks[x.Discrepancies[2].Task-1]
		t.ClosedAt, t.ClosedBy, t.Reason = time.Time{}, "", ""
	}, "wrong_amount of credit/2 is explained"},
	{"I-R2", "accepted by nobody", func(b *builder) {
		x := b.reconciled()
		b.w.Tasks[x.Discrepancies[1].Task-1].ClosedBy = "reconciliation"
	}, "no person has closed its task"},
	{"I-R2", "a task for no difference", func(b *builder) {
		b.reconciled()
		b.task("late", "payment/stripe/acct_1/pi_9")
	}, "is open, and no difference has it"},
	{"I-R2", "a difference without its task", func(b *builder) { b.reconciled().Discrepancies[2].Task = 1 }, "has no task of its own"},
	{"I-R3", "an item is gone", func(b *builder) {
		r := &b.reconciled().Runs[1]
		r.Items = r.Items[:2]
	}, "has 3 items, 2 are stored"},
	{"I-R3", "another class than counted", func(b *builder) { b.reconciled().Runs[1].Items[2].Key.Class = "late" }, "counts 0 items as late, 1 are stored"},
	{"I-R3", "one difference twice", func(b *builder) {
		r := &b.reconciled().Runs[1]
		r.Items[2] = r.Items[0]
		r.Items[2].Off = usd(0)
	}, "two items for done_without_deal of credit/1"},
	{"I-R3", "a side that does not add up", func(b *builder) {
		r := &b.reconciled().Runs[1].Run.Outcome.Rolls[0]
		r.Ours.Refunded = usd(49)
	}, "our side moves to"},
	{"I-R3", "a difference that no item explains", func(b *builder) { b.reconciled().Runs[1].Items[0].Off = usd(-499) }, "the stored items add up to"},
	{"I-R3", "totals of a purged run that do not explain themselves", func(b *builder) {
		b.reconciled().Runs[0].Run.Outcome.Rolls = []recon.Roll{{Side: "mt5", Currency: "USD", Listed: usd(1)}}
	}, "the items explain 0.01 USD"},
	{"I-R4", "a line that is there twice", func(b *builder) {
		x := b.reconciled()
		x.Lines = append(x.Lines[:2:2], x.Lines[1:]...)
	}, "settlement line 2 comes twice"},
	{"I-R4", "a line of half a statement counts", func(b *builder) { b.reconciled().Lines[3].Standing = "counts" }, "settlement line 4 is counts, and its statement 3"},
	{"I-R4", "a re-issued line counts again", func(b *builder) {
		x := b.reconciled()
		x.Statements[1].Duplicates, x.Statements[1].Statement.Rows = 0, 1
		x.Lines[2].Line.Payment, x.Lines[2].Line.Gross, x.Lines[2].Line.Net = "pi_1", usd(500), usd(500)
	}, "statement 2 counts lines that earlier statements have too"},
	{"I-R4", "a statement with a line too few", func(b *builder) { b.reconciled().Statements[0].Statement.Rows = 3 }, "statement 1 has 3 rows"},
	{"I-R4", "a line counts beside the one that stands for it", func(b *builder) { b.reconciled().Lines[1].Standing = "counts" }, "0 settlement lines are superseded, and 1 lines count in the place of one"},
	{"I-R4", "a line whose batch was filled in counts again", func(b *builder) {
		x := b.reconciled()
		x.Lines[1].Standing = "counts"
		x.Statements[3].Duplicates, x.Statements[3].Replaced, x.Statements[3].Stored = 0, 0, 2
	}, "statement 5 counts lines that earlier statements have too"},
	{"I-R4", "a line of a withdrawn statement counts", func(b *builder) { b.reconciled().Lines[4].Standing = "counts" }, "settlement line 5 is counts, and whether its statement 4"},
	{"I-R4", "a statement leans on one that was withdrawn", func(b *builder) {
		x := b.reconciled()
		x.Statements[3].LeansOn = recon.StatementIDs{1, 4}
	}, "statement 5 leans on statement 4, which does not count"},
	{"I-R4", "withdrawn without a reason", func(b *builder) { b.reconciled().Statements[2].Withdrawn.Reason = "" }, "statement 4 is withdrawn by nobody"},
	{"I-R4", "a repeat of nothing", func(b *builder) { b.reconciled().Statements[1].LeansOn = nil }, "leans on no statement"},
	{"I-R4", "a line of another file", func(b *builder) { b.reconciled().Lines[2].Line.Digest = "d9" }, "is of another file"},
}

func TestReconciledWorld_HasNoViolation(t *testing.T) {
	t.Parallel()
	b := good()
	b.reconciled()
	for _, v := range Check(b.w) {
		t.Error(v)
	}
}
