package recon

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"creditonce/credit"
)

// drawLists draws a small world in which everything goes wrong in every combination.
func drawLists(t *rapid.T) lists {
	var l lists
	amounts := []string{"10", "10.01", "25", "40", "100"}
	payment := rapid.SampledFrom([]string{"pi_1", "pi_2", "pi_3", "pi_4", "a/b", "nul\x00x"})
	amount := rapid.SampledFrom(amounts)
	for range rapid.IntRange(0, 8).Draw(t, "rows") {
		r := l.row(payment.Draw(t, "payment"), amount.Draw(t, "amount"),
			kind(rapid.SampledFrom([]credit.Kind{credit.KindDeposit, credit.KindDeposit, credit.KindDeposit, credit.KindRefund, credit.KindChargeback,
				credit.KindChargebackReversal, credit.KindWithdrawal}).Draw(t, "kind"), rapid.SampledFrom([]string{"", "m1", "m2"}).Draw(t, "part")),
			state(rapid.SampledFrom([]credit.State{credit.Done, credit.Done, credit.Done, credit.Held, credit.Unknown, credit.Failed, credit.Cancelled}).Draw(t, "state")),
			func(r *Row) {
				r.Login += uint64(rapid.IntRange(0, 1).Draw(t, "login"))
				r.PaidAt = begin.Add(time.Duration(rapid.IntRange(-3*24, 32*24).Draw(t, "paid")) * time.Hour)
				r.Trace, r.ClaimedAt = r.PaidAt, r.PaidAt.Add(time.Minute)
				if rapid.Bool().Draw(t, "cash") {
					r.Provider = cash
				}
			})
		l.drawDeals(t, *r, amounts)
	}
	for range rapid.IntRange(0, 10).Draw(t, "lines") {
		l.drawLine(t, payment, amount)
	}
	return l
}

func (l *lists) drawDeals(t *rapid.T, r Row, amounts []string) {
	for range rapid.SampledFrom([]int{1, 1, 0, 2}).Draw(t, "deals") {
		l.deal(&r, func(d *Deal) {
			d.At = r.ClaimedAt.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "after")) * time.Hour)
			switch rapid.IntRange(0, 8).Draw(t, "fault") {
			case 0:
				d.Login++
			case 1:
				d.Amount = dollars(rapid.SampledFrom(amounts).Draw(t, "other"))
			case 2:
				d.Amount = money2("10", "EUR")
			case 3:
				d.Comment = d.Comment[:rapid.IntRange(0, 21).Draw(t, "cut")]
			case 4:
				d.Comment = "by hand"
			case 5:
				d.Action = rapid.IntRange(3, 6).Draw(t, "action")
			case 6:
				d.Ticket = 0
			}
			if d.Ticket == 0 || slices.ContainsFunc(l.deals, func(o Deal) bool { return o.Ticket == d.Ticket }) {
				d.Ticket = 90_000 + uint64(len(l.deals))
			}
		})
	}
}

func (l *lists) drawLine(t *rapid.T, payment, amount *rapid.Generator[string]) {
	kind := rapid.SampledFrom([]LineType{LinePayment, LinePayment, LinePayment, LineRefund, LineRefundReversal, LineChargeback, LineChargebackReversal,
		LineFee, LinePayout, LineRounding, LineUnknown}).Draw(t, "type")
	text := amount.Draw(t, "gross")
	if kind == LineRefund || kind == LineChargeback || kind == LinePayout || kind == LineFee {
		text = "-" + text
	}
	l.line(kind, payment.Draw(t, "of"), text, func(line *Line) {
		line.SettledAt = begin.Add(time.Duration(rapid.IntRange(-48, 32*24).Draw(t, "settled")) * time.Hour)
		line.Batch = rapid.SampledFrom([]string{"", "po_1", "po_2"}).Draw(t, "batch")
		line.Movement = rapid.SampledFrom([]string{"", "m1", "m2", "m3"}).Draw(t, "movement")
		if rapid.IntRange(0, 3).Draw(t, "id") == 0 {
			line.Payment = rapid.SampledFrom([]string{"", "ch_1", "ch_2"}).Draw(t, "other id")
			line.Code = "code-" + payment.Draw(t, "code")
		}
		if rapid.IntRange(0, 9).Draw(t, "currency") == 0 {
			line.Gross, line.Net = money2(text, "EUR"), money2(text, "EUR")
		}
		if rapid.IntRange(0, 9).Draw(t, "exponent") == 0 {
			line.Gross, _ = credit.ParseAmount(text, "USD", 6)
		}
	})
}

func (l lists) shuffled(r *rand.Rand) lists {
	out := lists{slices.Clone(l.lines), slices.Clone(l.rows), slices.Clone(l.deals)}
	r.Shuffle(len(out.lines), func(i, j int) { out.lines[i], out.lines[j] = out.lines[j], out.lines[i] })
	r.Shuffle(len(out.rows), func(i, j int) { out.rows[i], out.rows[j] = out.rows[j], out.rows[i] })
	r.Shuffle(len(out.deals), func(i, j int) { out.deals[i], out.deals[j] = out.deals[j], out.deals[i] })
	return out
}

func asText(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fewBytes makes even a small world take many pieces on disk.
const fewBytes = 1 << 10

func TestMatch_AnyOrderOfTheListsGivesTheSameItemsInTheSameOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLists(rt)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		items, out := compareWith(t, testRules(), l, fewBytes)
		again, outAgain := compareWith(t, testRules(), l.shuffled(r), fewBytes)
		if a, b := asText(t, items), asText(t, again); a != b {
			rt.Fatalf("in order:\n%sshuffled:\n%s%s\n%s", describe(items), describe(again), a, b)
		}
		if a, b := asText(t, out), asText(t, outAgain); a != b {
			rt.Fatalf("outcome in order:\n%s\nshuffled:\n%s", a, b)
		}
	})
}

func TestMatch_TotalsDifferByExactlyTheItemsAndNoKeyComesTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLists(rt)
		items, out := compareWith(t, testRules(), l, fewBytes)
		off := map[rollKey]money{}
		seen := map[Key]bool{}
		for _, i := range items {
			if seen[i.Key] {
				rt.Fatalf("%v comes twice:\n%s", i.Key, describe(items))
			}
			seen[i.Key] = true
			for _, a := range append([]credit.Amount{i.Off}, i.Beside...) {
				if a.IsSet() && i.Key.Class != PayoutDifference {
					k := rollKey{i.Side, i.Provider, a.Currency()}
					off[k] = off[k].plus(moneyOf(a))
				}
			}
			if i.Key.Class == Matched && i.Off.IsSet() {
				rt.Fatalf("%v is matched and differs by %s", i.Key, i.Off)
			}
			if !i.At.Before(testRules().Until) {
				rt.Fatalf("%v is of %s, after the last day", i.Key, i.At)
			}
		}
		for _, roll := range out.Rolls {
			differ := moneyOf(roll.Theirs.Closing).minus(moneyOf(roll.Ours.Closing))
			k := rollKey{roll.Side, roll.Provider, roll.Currency}
			if differ.minus(off[k]).sign() != 0 || differ.minus(moneyOf(roll.Listed)).sign() != 0 {
				rt.Fatalf("%v: the sides differ by %s, the items by %s, listed is %s\n%s", k, differ, off[k], roll.Listed, describe(items))
			}
			delete(off, k)
		}
		for k, m := range off {
			if m.sign() != 0 {
				rt.Fatalf("%v has items over %s and no roll-forward", k, m)
			}
		}
	})
}

func TestMatch_AnyPartOfTheListsIsCompared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLists(rt)
		l.lines = l.lines[:rapid.IntRange(0, len(l.lines)).Draw(rt, "of lines")]
		l.rows = l.rows[:rapid.IntRange(0, len(l.rows)).Draw(rt, "of rows")]
		l.deals = l.deals[:rapid.IntRange(0, len(l.deals)).Draw(rt, "of deals")]
		_, out := compareWith(t, testRules(), l, fewBytes)
		if out.Lines != len(l.lines) || out.Rows != len(l.rows) || out.Deals != len(l.deals) {
			rt.Fatalf("read %d, %d, %d of %d, %d, %d", out.Lines, out.Rows, out.Deals, len(l.lines), len(l.rows), len(l.deals))
		}
	})
}

// Not parallel: the number of processors is that of the whole process.
func TestMatch_OneProcessorAndTwoFindTheSame(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	n := many{payments: 3000, damaged: true}
	l := lists{collected(t, n.lines()), collected(t, n.rows()), collected(t, n.deals())}
	var texts []string
	for _, cores := range []int{1, 2} {
		runtime.GOMAXPROCS(cores)
		items, out := compareWith(t, testRules(), l, 256<<10)
		if out.Classes[DamagedReference] != n.payments {
			t.Errorf("on %d processors: %v", cores, out.Classes)
		}
		texts = append(texts, asText(t, items)+asText(t, out))
	}
	if texts[0] != texts[1] {
		t.Error("one processor and two do not find the same")
	}
}

func collected[T any](t *testing.T, list iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// Every reference on one login is damaged, and every comment must find its row among thousands.
func TestMatch_ManyDamagedReferencesOfOneLoginFindTheirRows(t *testing.T) {
	t.Parallel()
	var l lists
	n := many{payments: 4000, damaged: true}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	for i := range n.payments {
		r := n.row(i)
		r.Login = 7
		l.rows = append(l.rows, r)
		l.deal(&r, func(d *Deal) { d.Ticket, d.Comment = uint64(100_000+i), damage(random, d.Comment) })
	}
	items, out := compare(t, testRules(), l)
	want := map[Class]int{DamagedReference: n.payments, Late: n.payments}
	if asText(t, out.Classes) != asText(t, want) {
		t.Fatalf("found %v, want %v", out.Classes, want)
	}
	for _, i := range items {
		if i.Key.Class == DamagedReference && (len(i.Deals) != 1 || i.Deals[0].Ticket != 100_000+uint64(i.Rows[0].ID)-1) {
			t.Fatalf("%v has deals %v", i.Key, i.Deals)
		}
	}
}

// damage cuts or alters a reference as people and systems do, so that it stays the damaged copy of that one.
func damage(r *rand.Rand, reference string) string {
	switch r.IntN(4) {
	case 0:
		return reference[:14+r.IntN(8)]
	case 1:
		return "credit " + reference[4:] + " ok"
	case 2:
		return strings.ToLower(reference[:8]) + " " + reference[8:]
	}
	b := []byte(reference)
	for range 1 + r.IntN(3) {
		b[4+r.IntN(18)] = '#'
	}
	return string(b)
}

func TestMatch_EmitsInOneOrder(t *testing.T) {
	t.Parallel()
	var l lists
	l.credited("pi_2", "100")
	l.credited("pi_1", "100")
	l.credited("pi_9", "100")
	l.line(LinePayment, "pi_2", "90")
	l.line(LinePayment, "pi_1", "100")
	l.line(LineRefund, "pi_1", "-5", func(l *Line) { l.Movement = "re_1" })
	l.line(LinePayment, "ch_9", "100", func(l *Line) { l.Code = "code-pi_9" })
	l.line(LinePayment, "", "3", func(l *Line) { l.Batch = "po_2" })
	l.line(LinePayout, "", "-2", func(l *Line) { l.Batch = "po_2" })
	l.line(LinePayout, "", "-2", func(l *Line) { l.Batch = "po_1" })
	gone := lists{}
	l.deal(gone.row("pi_7", "100"), func(d *Deal) { d.Ticket = 12 })
	l.deal(gone.row("pi_8", "100"), func(d *Deal) { d.Ticket, d.Comment = 11, "x" })
	items, _ := compare(t, testRules(), l)
	want := "settled_without_credit line/d1/6 provider 3.00 USD\n" +
		"matched credit/2 provider\n" +
		"reversal_missing payment/stripe/acct_cards/pi_1/re_1 provider -5.00 USD\n" +
		"wrong_amount credit/1 provider -10.00 USD\n" +
		"matched credit/3 provider\n" +
		"deal_without_reference deal/Broker-Live/11 mt5 100.00 USD\n" +
		"deal_without_row deal/Broker-Live/12 mt5 100.00 USD\n" +
		"payout_difference payout/stripe/acct_cards/po_1 provider -2.00 USD\n" +
		"payout_difference payout/stripe/acct_cards/po_2 provider 1.00 USD\n"
	if got := describe(items); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
