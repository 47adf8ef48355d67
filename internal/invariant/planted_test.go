package invariant

import (
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// planted puts exactly one thing into the good world that must not be.
type planted struct {
	invariant, name string
	plant           func(b *builder)
	want            string // part of the violation's text
}

// last returns the newest history entry of a row for editing; sealed chains it anew.
func (b *builder) last(id credit.ID) *credit.Entry {
	h := b.row(id).History
	return &h[len(h)-1]
}

func (b *builder) sealed(id credit.ID) {
	r := b.row(id)
	head := ""
	for i := range r.History {
		r.History[i].Previous = head
		head = digest(r.History[i])
	}
	r.Credit.Head, r.Credit.Entries = head, len(r.History)
}

func (b *builder) dealOf(id credit.ID) *Deal {
	for i := range b.w.Deals {
		if b.w.Deals[i].Ticket == b.row(id).Credit.Ticket {
			return &b.w.Deals[i]
		}
	}
	return nil
}

func (b *builder) depositOf(id credit.ID) *credit.Deposit {
	for i := range b.w.Deposits {
		if b.w.Deposits[i].Code == b.row(id).Credit.Deposit {
			return &b.w.Deposits[i]
		}
	}
	return nil
}

var plants = append([]planted{
	{"I-M1", "a call executed twice", func(b *builder) { b.deal(plain) }, "2 deals of ours carry the reference"},
	{"I-M1", "a unit of an older store paid twice", func(b *builder) {
		d := *b.dealOf(plain)
		d.Comment, d.Foreign, d.Login = reference("live", server, "deposit", credit.Unit{Payment: "pi_lost"}), true, 5005
		d.Reference = d.Comment
		d.Ticket = 4001
		b.w.Deals = append(b.w.Deals, d)
		d.Ticket = 4002
		b.w.Deals = append(b.w.Deals, d)
	}, "the last one 4002"},
	{"I-M2", "a call over another amount", func(b *builder) { b.w.Calls[0].Amount = usd(50001) }, "over 500.01 USD, its unit is login 1001"},
	{"I-M2", "a call on another login", func(b *builder) { b.w.Calls[1].Login = 9 }, "on login 9"},
	{"I-M2", "a debit where a credit belongs", func(b *builder) { b.dealOf(plain).Amount = usd(-500) }, "over -5.00 USD"},
	{"I-M2", "a credit operation instead of a balance operation", func(b *builder) { b.dealOf(repeated).Action = 3 }, "with action 3"},
	{"I-M3", "two calls on one claim", func(b *builder) {
		b.call(plain, true)
	}, "was sent after 1 claims"},
	{"I-M3", "a call before its claim", func(b *builder) { b.w.Calls[0].Sent.At = noon }, "call 1 for dep:"},
	{"I-M3", "a deal of ours for nothing", func(b *builder) {
		b.w.Deals = append(b.w.Deals, Deal{Server: server, Ticket: 5000, Login: 4, Action: 2, Amount: usd(1), Dealer: us})
	}, "deal 5000 of ours"},
	{"I-M4", "a ticket that MT5 never gave", func(b *builder) {
		b.row(plain).Credit.Ticket = 4711
		b.last(plain).Evidence.Deal.Ticket = 4711
		b.sealed(plain)
	}, "deal 4711, which MT5 never made"},
	{"I-M4", "done without a read of the deal", func(b *builder) { b.last(plain).Evidence = nil; b.sealed(plain) }, "no read of its deal"},
	{"I-M4", "done on a deal that differs", func(b *builder) { b.last(plain).Evidence.Deal.Amount = usd(499); b.sealed(plain) }, "4.99 USD"},
	{"I-M4", "one deal on two rows", func(b *builder) {
		b.w.Missing |= Deals
		b.row(repeated).Credit.Ticket = b.row(plain).Credit.Ticket
		b.last(repeated).Evidence.Deal.Ticket = b.row(plain).Credit.Ticket
		b.sealed(repeated)
	}, "is on two rows"},
	{"I-M4", "a ticket on a row that is not done", func(b *builder) { b.row(doubtful).Credit.Ticket = 9 }, "is unknown with the ticket 9"},
	{"I-M5", "a refusal that was none", func(b *builder) { b.deal(refused) }, "is failed, and MT5 made deal"},
	{"I-M6", "two calls on one login", func(b *builder) {
		c := b.w.Calls[0]
		c.Login, c.Ended, c.Reference, c.Foreign = b.row(calling).Credit.Login, credit.Mark{}, "", false
		c.Conn = "c9"
		b.w.Restores = nil
		b.w.Missing |= Rows | Deals
		b.w.Calls = append(b.w.Calls, c)
	}, "two balance calls are under way"},
	{"I-M6", "two calls on one connection at once", func(b *builder) {
		b.w.Calls[0].Ended.Boot = b.w.Calls[1].Sent.Boot + 1
	}, "was sent while that for"},
	{"I-M7", "sent after its deadline", func(b *builder) { b.w.Calls[0].Deadline = b.w.Calls[0].Sent.Boot }, "its deadline was"},
	{"I-M7", "sent by a process that did not claim", func(b *builder) {
		b.w.Calls[0].Process, b.w.Calls[0].Sent.Process, b.w.Calls[0].Ended.Process = "p0", "p0", "p0"
	}, "process p0 sent a call"},
	{"I-M8", "absent within the quarantine", func(b *builder) { b.w.Quarantine += time.Hour }, "the quarantine of 1h10m0s"},
	{"I-M8", "absent within the quarantine of a fence", func(b *builder) {
		b.w.Fences = []credit.Mark{{Process: proc, Boot: 10 * time.Minute}}
	}, "counted from 10m0s"},
	{"I-M8", "two looks too close", func(b *builder) { b.w.SecondLook += time.Minute }, "must lie between them"},
	{"I-M8", "absent on one look", func(b *builder) { b.absence(func(ev *credit.Evidence) { ev.Before = nil }) }, "on no evidence"},
	{"I-M8", "absent on a look that was not complete", func(b *builder) {
		b.absence(func(ev *credit.Evidence) { ev.Look.Complete = false })
	}, "complete false"},
	{"I-M8", "absent on a first look that is not stored", func(b *builder) {
		b.absence(func(ev *credit.Evidence) { m := *ev.Before; m.Boot++; ev.Before = &m })
	}, "no complete one that was stored"},
	{"I-M8", "absent while the call is under way", func(b *builder) {
		b.absence(func(ev *credit.Evidence) { b.w.Calls[1].Ended.Boot = ev.Look.Started.Boot + 1 })
	}, "was decided while its call"},
	{"I-M8", "not sent, and it arrived", func(b *builder) {
		b.call(unsentRow, true).Conn = "c2"
	}, "were put down as not sent"},
	{"I-M8", "closed without proof", func(b *builder) {
		h := b.row(given).History
		h[len(h)-2].Evidence.Look.Proven = false
		b.sealed(given)
	}, "nothing proves that MT5 has none"},
	{"I-M9", "another reference", func(b *builder) { b.row(plain).Credit.Reference = "dep:0000000000000000AA" }, "its unit gives dep:"},
	{"I-M9", "another amount than its deposit's", func(b *builder) { b.w.Deposits[0].Credited = usd(501) }, "5.01 USD"},
	{"I-M9", "another client than its deposit's", func(b *builder) { b.w.Deposits[0].Client = "client-2" }, "client client-2"},
	{"I-M10", "closed, and the deal came all the same", func(b *builder) {
		b.deal(given)
		r := b.row(given)
		h := r.History
		h[0].To, h[1].From = "pending", "pending"
		claim := credit.Entry{Credit: given, Seq: 2, At: noon, By: "worker", Actor: "test", Move: "claimed", From: "pending", To: "claimed"}
		lost := credit.Entry{Credit: given, Seq: 3, At: noon, By: "worker", Actor: "test", Move: "lost", From: "claimed", To: "unknown"}
		rest := slices.Clone(h[2:])
		for i := range rest {
			rest[i].Seq, rest[i].From = i+4, "unknown"
			if rest[i].To == "held" {
				rest[i].To = "unknown"
			}
		}
		r.History = append([]credit.Entry{h[0], claim, lost}, rest...)
		b.sealed(given)
	}, "login 1006 of ExampleBroker-Live has deals of ours"},
	{"I-M12", "a unit with two rows", func(b *builder) {
		b.row(waiting).Credit.Unit = b.row(adopted).Credit.Unit
		b.w.Missing |= Events
	}, "has two rows"},
	{"I-M12", "a deposit credited twice", func(b *builder) {
		c, s := &b.row(unsentRow).Credit, &b.row(plain).Credit
		c.Deposit = s.Deposit
		b.w.Deposits, b.w.Part = nil, true
	}, "is credited by two rows"},
	{"I-M12", "less was paid than the deposit wants", func(b *builder) {
		b.depositOf(plain).Paid = usd(50000)
	}, "goes on by itself: 5.00 USD was paid"},
	{"I-M12", "paid after the deposit expired", func(b *builder) {
		b.depositOf(plain).ExpiresAt = noon.Add(-time.Second)
	}, "had expired"},
	{"I-M12", "paid after the deposit was closed", func(b *builder) {
		b.depositOf(plain).ClosedAt = noon.Add(-time.Second)
	}, "was closed"},
	{"I-M12", "paid by a provider that the deposit does not name", func(b *builder) {
		b.depositOf(plain).Provider = "other"
	}, "names other"},
	{"I-M12", "claimed after its refund", func(b *builder) {
		b.w.Events[len(b.w.Events)-1].Facts.Payment = "pi_10"
		b.w.Events[len(b.w.Events)-1].ReceivedAt = noon
	}, "was known"},
	{"I-D1", "acknowledged and lost", func(b *builder) {
		b.w.Events = b.w.Events[:len(b.w.Events)-1]
	}, "delivery evt_refund to stripe-eu was answered 200"},
	{"I-D2", "paid and no row", func(b *builder) {
		b.event("evt_x", credit.Facts{Effect: "paid", Payment: "pi_x", Parts: []credit.Part{{Amount: usd(1)}}})
	}, "payment pi_x part \"\" was paid, and no row has it"},
	{"I-D2", "paid in test mode and no task", func(b *builder) {
		b.event("evt_x", credit.Facts{Effect: "paid", Payment: "pi_x", Parts: []credit.Part{{Amount: usd(1)}}})
		b.w.Events[len(b.w.Events)-1].Facts.Live = false
	}, "environment/stripe-eu"},
	{"I-D3", "a row that no event paid", func(b *builder) {
		e := &b.w.Events[refunded-1]
		e.Facts.Effect, e.Facts.Parts = "none", nil
	}, "no event says that it was paid"},
	{"I-D3", "a later event's code was not joined", func(b *builder) {
		b.deposit("code-of-waiting-000000000", 1008, 1100)
		b.event("evt_later", credit.Facts{Effect: "paid", Payment: "pi_8", Code: "code-of-waiting-000000000", Parts: []credit.Part{{Amount: usd(1100)}}})
	}, "its events name code-of-waiting"},
	{"I-D3", "another amount than its event's", func(b *builder) { b.w.Events[0].Facts.Parts[0].Amount = usd(1) }, "its events say 0.01 USD"},
	{"I-D4", "a forged event is stored", func(b *builder) { b.w.Sent[0].Signed, b.w.Sent[0].Status = false, 401 }, "never sent it with a good signature"},
	{"I-D4", "a forged event is acknowledged", func(b *builder) {
		b.w.Sent = append(b.w.Sent, Delivery{Provider: "stripe-eu", MessageKey: "evt_forged", Status: 200})
	}, "had a bad signature and was answered 200"},
	{"I-S1", "a move that is not in the table", func(b *builder) { b.move(refused, "operator", "mended", "held", nil); b.unfail() }, `moved "failed" to "held"`},
	{"I-S1", "a move by one who may not", func(b *builder) { b.last(given).By = "operator"; b.sealed(given) }, `operator moved "held" to "cancelled"`},
	{"I-S1", "an edited entry", func(b *builder) { b.row(repeated).History[2].Reason = "edited" }, "does not follow the one before"},
	{"I-S1", "a row that its history does not lead to", func(b *builder) { b.row(calling).Credit.Entries++ }, "its history ends in"},
	{"I-S2", "back to pending on nothing", func(b *builder) {
		r := b.row(unsentRow)
		r.History[2].Evidence.Call.Outcome = "unknown"
		b.sealed(unsentRow)
	}, "nothing shows that its call was not sent"},
	{"I-S2", "claimed back to pending", func(b *builder) { b.move(calling, "worker", "undone", "pending", nil) }, `moved "claimed" to "pending"`},
	{"I-S3", "a finding of the store's own", func(b *builder) { b.w.Findings = []string{`bucket "credits": x`} }, `bucket "credits": x`},
	{"I-S3", "held for nothing", func(b *builder) { b.row(waiting).Credit.Holds = nil }, "is held with the holds []"},
	{"I-S3", "a deposit taken by a row that is not for it", func(b *builder) { b.w.Deposits[0].Credit = 2 }, "is taken by credit 2"},
	{"I-S4", "failed and nobody asked", func(b *builder) { closed(&b.w.Tasks[2], b.w.Now) }, "credit 4 is failed"},
	{"I-S4", "two open tasks for one thing", func(b *builder) { b.task("failed", "credit/4") }, "are both open for failed, credit/4"},
	{"I-S4", "an open task without a discrepancy", func(b *builder) { b.task("failed", "credit/1") }, "is open, and credit 1 is done"},
	{"I-S4", "closed and nobody knows why", func(b *builder) { b.w.Tasks[len(b.w.Tasks)-2].Reason = "" }, "nobody says by whom or why"},
	{"I-S5", "claimed beside a second deal", func(b *builder) {
		b.task("second_deal", "credit/10").OpenedAt = noon
	}, "although a second deal is open"},
	{"I-O1", "claimed in hold", func(b *builder) { b.w.Settings.Mode = "hold" }, "was claimed in mode hold"},
	{"I-O1", "called on a full disk", func(b *builder) { b.w.Calls[0].Forbidden = "the disk was full" }, "although the disk was full"},
	{"I-O2", "a secret in the log", func(b *builder) {
		b.w.Secrets, b.w.Log = []string{"whsec_1"}, []string{"fine", "secret whsec_1"}
	}, "line 2 holds secret number 1"},
	{"I-O2", "a card number in the log", func(b *builder) { b.w.Log = []string{"card=4242424242424242"} }, "card number"},
	{"I-L1", "unknown and nobody looks", func(b *builder) { b.row(doubtful).Credit.NextAt = time.Time{} }, "nobody will look again"},
	{"I-L1", "quiet and still claimed", func(b *builder) { b.w.Quiescent = true }, "credit 9 is still claimed"},
	{"I-L2", "found and not taken", func(b *builder) {
		b.move(doubtful, "resolver", "looked", "unknown", &credit.Evidence{Look: b.look("found")})
	}, "found the deal and left the row unknown"},
}, reconPlants...)

// absence edits the evidence of the absence in the row that was called again.
func (b *builder) absence(edit func(*credit.Evidence)) {
	h := b.row(repeated).History
	for i := range h {
		if h[i].From == "unknown" && h[i].To == "pending" {
			edit(h[i].Evidence)
		}
	}
	b.sealed(repeated)
}

// unfail makes the rest of the world fit to a row that left failed.
func (b *builder) unfail() {
	b.row(refused).Credit.Holds = []credit.Hold{"by_hand"}
	closed(&b.w.Tasks[2], b.w.Now)
	b.task("held", "credit/4")
}

// Each planted violation is found, under its own name and no other.
func TestCheck_NamesExactlyWhatWasPlanted(t *testing.T) {
	t.Parallel()
	for _, p := range plants {
		t.Run(p.invariant+" "+p.name, func(t *testing.T) {
			t.Parallel()
			b := good()
			p.plant(b)
			found := Check(b.w)
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			text := false
			for _, v := range found {
				if v.Invariant != p.invariant {
					t.Errorf("also %s", v)
				}
				text = text || strings.Contains(v.Text, p.want)
			}
			if !text {
				t.Errorf("found %v, want a text with %q", found, p.want)
			}
		})
	}
}

// No invariant is without a planted violation.
func TestEveryInvariant_HasAPlantedViolation(t *testing.T) {
	t.Parallel()
	for _, r := range All() {
		if !slices.ContainsFunc(plants, func(p planted) bool { return p.invariant == r.Name }) {
			t.Errorf("%s is never violated in a test", r.Name)
		}
		if r.Sentence == "" {
			t.Errorf("%s has no sentence", r.Name)
		}
	}
}
