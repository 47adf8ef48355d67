package recon

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// The world of the matcher's tests: one provider with statements, one without, one MT5 server.
const (
	cards  = "cards"
	cash   = "cash"
	server = "Broker-Live"
)

var (
	begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	noon  = begin.Add(36 * time.Hour)
)

func testRules() Rules {
	return Rules{
		From: begin, Until: begin.AddDate(0, 1, 0), Read: begin.AddDate(0, 1, 0).Add(12 * time.Hour), DealsFrom: map[string]time.Time{server: begin.Add(-48 * time.Hour)},
		Delay: map[string]time.Duration{cards: 7 * 24 * time.Hour}, LinesFrom: map[string]time.Time{cards: begin.AddDate(0, -1, 0)},
		Tolerance: map[string]credit.Amount{"USD": dollars("0.01")}, Rounding: map[string]credit.Amount{"USD": dollars("0.01")},
	}
}

func dollars(text string) credit.Amount { return money2(text, "USD") }

func money2(text, currency string) credit.Amount {
	a, err := credit.ParseAmount(text, currency, 2)
	if err != nil {
		panic(err)
	}
	return a
}

// lists are the three lists of a test.
type lists struct {
	lines []Line
	rows  []Row
	deals []Deal
}

func provider(label string) Provider {
	return Provider{Label: label, Kind: "stripe", Account: "acct_" + label}
}

// row adds a row of the payment that is done, with a reference of its own.
func (l *lists) row(payment, amount string, change ...func(*Row)) *Row {
	p := provider(cards)
	r := Row{
		ID: credit.ID(len(l.rows) + 1), Kind: credit.KindDeposit, Unit: credit.Unit{ProviderKind: p.Kind, Account: p.Account, Payment: payment},
		State: credit.Done, Provider: cards, Paid: dollars(amount), PaidAt: noon, Code: "code-" + payment, Server: "main", Identity: server,
		Login: 700_001, Amount: dollars(amount), Ticket: uint64(5000 + len(l.rows)), ClaimedAt: noon.Add(time.Minute), Trace: noon, UpdatedAt: noon.Add(2 * time.Minute),
	}
	for _, c := range change {
		c(&r)
	}
	r.Reference = credit.NewReference("live", server, r.Kind, r.Unit)
	l.rows = append(l.rows, r)
	return &l.rows[len(l.rows)-1]
}

// deal adds the deal that a row wants.
func (l *lists) deal(r *Row, change ...func(*Deal)) {
	d := Deal{
		Deal: credit.Deal{
			Ticket: r.Ticket, Login: r.Login, Action: credit.ActionBalance, Amount: r.Kind.Signed(r.Amount), Comment: string(r.Reference), Dealer: 9,
			ServerTime: noon.Unix(),
		},
		Server: "main", Identity: server, At: noon.Add(time.Minute),
	}
	if d.Ticket == 0 {
		d.Ticket = 90_000 + uint64(len(l.deals))
	}
	for _, c := range change {
		c(&d)
	}
	l.deals = append(l.deals, d)
}

// credited adds a row with its deal.
func (l *lists) credited(payment, amount string, change ...func(*Row)) *Row {
	r := l.row(payment, amount, change...)
	l.deal(r)
	return r
}

func (l *lists) line(t LineType, payment, amount string, change ...func(*Line)) {
	line := Line{
		Provider: provider(cards), Digest: "d1", Row: len(l.lines) + 2, Type: t, Word: string(t), Payment: payment, Movement: fmt.Sprintf("m%d", len(l.lines)),
		Gross: dollars(amount), Net: dollars(amount), At: noon.Add(time.Hour), SettledAt: noon.Add(48 * time.Hour),
	}
	for _, c := range change {
		c(&line)
	}
	l.lines = append(l.lines, line)
}

func state(s credit.State) func(*Row) {
	return func(r *Row) {
		r.State = s
		if s != credit.Done {
			r.Ticket = 0
		}
	}
}

func kind(k credit.Kind, part string) func(*Row) {
	return func(r *Row) { r.Kind, r.Unit.Part = k, part }
}

func seq[T any](of []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range of {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func compare(t testing.TB, rules Rules, l lists) ([]Item, Outcome) {
	t.Helper()
	return compareWith(t, rules, l, spoolMemory)
}

func compareWith(t testing.TB, rules Rules, l lists, memory int) ([]Item, Outcome) {
	t.Helper()
	dir := t.TempDir()
	s, err := sortWith(t.Context(), dir, memory, seq(l.lines), seq(l.rows), seq(l.deals))
	if err != nil {
		t.Fatal(err)
	}
	var items []Item
	out, err := Match(t.Context(), rules, s, func(i Item) error {
		items = append(items, i)
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return items, out
}

// describe writes items in one line each: class, entity, side, what they differ by.
func describe(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%s %s %s", i.Key.Class, i.Key.Entity, i.Side)
		if i.Off.IsSet() {
			fmt.Fprintf(&b, " %s", i.Off)
		}
		for _, o := range i.Beside {
			fmt.Fprintf(&b, " and %s", o)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const pay = "payment/stripe/acct_cards/"

func TestMatch_GivesEachCaseItsClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(*lists)
		want string
	}{
		{"all three agree", func(l *lists) { l.credited("pi_1", "100"); l.line(LinePayment, "pi_1", "100") }, "matched credit/1 provider\n"},
		{"several captures, one row", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "60")
			l.line(LinePayment, "pi_1", "40")
		}, "matched credit/1 provider\n"},
		{"several parts", func(l *lists) {
			l.credited("pi_1", "60", kind(credit.KindDeposit, "a"))
			l.credited("pi_1", "40", kind(credit.KindDeposit, "b"))
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\n"},
		{"finer exponents are the same money", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "0", func(l *Line) { l.Gross, _ = credit.ParseAmount("100.000000", "USD", 6) })
		}, "matched credit/1 provider\n"},
		{"within the tolerance", func(l *lists) { l.credited("pi_1", "100"); l.line(LinePayment, "pi_1", "99.99") },
			"matched_within_tolerance credit/1 provider -0.01 USD\n"},
		{"an amount that is wrong", func(l *lists) { l.credited("pi_1", "100"); l.line(LinePayment, "pi_1", "90") }, "wrong_amount credit/1 provider -10.00 USD\n"},
		{"settled twice", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_amount credit/1 provider 100.00 USD\n"},
		{"a currency that is wrong", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "0", func(l *Line) { l.Gross = money2("100", "EUR") })
		}, "wrong_currency credit/1 provider -100.00 USD and 100.00 EUR\n"},
		{"a ticket that MT5 gave again, after it was put back", func(l *lists) {
			gone := l.row("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			next := l.row("pi_2", "40", func(r *Row) { r.Login, r.Ticket = 700_009, 0; r.State = credit.Unknown })
			l.deal(next, func(d *Deal) { d.Ticket = gone.Ticket })
			l.line(LinePayment, "pi_2", "40")
		}, "done_without_deal credit/1 mt5 -100.00 USD\ndeal_without_row credit/2 mt5 40.00 USD\n"},
		{"not settled yet", func(l *lists) { l.credited("pi_1", "100", func(r *Row) { r.PaidAt = begin.AddDate(0, 0, 28) }) },
			"waiting credit/1 provider -100.00 USD\n"},
		{"not settled in time", func(l *lists) { l.credited("pi_1", "100") }, "late credit/1 provider -100.00 USD\n"},
		{"paid before the first statement", func(l *lists) { l.credited("pi_1", "100", func(r *Row) { r.PaidAt = begin.AddDate(0, -2, 0) }) },
			"matched credit/1 mt5\n"},
		{"paid before the first statement, and settled", func(l *lists) {
			l.credited("pi_1", "100", func(r *Row) { r.PaidAt = begin.AddDate(0, -2, 0) })
			l.line(LinePayment, "pi_1", "90")
		}, "wrong_amount credit/1 provider -10.00 USD\n"},
		{"one of two parts is not settled", func(l *lists) {
			l.credited("pi_1", "60", kind(credit.KindDeposit, "a"))
			l.credited("pi_1", "40", kind(credit.KindDeposit, "b"))
			l.line(LinePayment, "pi_1", "40")
		}, "matched credit/1 provider\nlate credit/1 provider -60.00 USD\n"},
		{"a provider without statements", func(l *lists) { l.credited("pi_1", "100", func(r *Row) { r.Provider = cash }) }, "matched credit/1 mt5\n"},
		{"settled, and no row", func(l *lists) { l.line(LinePayment, "pi_1", "100") }, "settled_without_credit " + pay + "pi_1 provider 100.00 USD\n"},
		{"settled under another id, tied by the code", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "ch_9", "100", func(l *Line) { l.Code = "code-pi_1" })
		}, "matched credit/1 provider\n"},
		{"two lines of one code, one row: the equal amount is its own", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "ch_1", "70", func(l *Line) { l.Code = "code-pi_1" })
			l.line(LinePayment, "ch_9", "100", func(l *Line) { l.Code = "code-pi_1" })
		}, "matched credit/1 provider\nsettled_without_credit " + pay + "ch_1 provider 70.00 USD\n"},
		{"settled, and the row is held", func(l *lists) { l.row("pi_1", "100", state(credit.Held)); l.line(LinePayment, "pi_1", "100") },
			"settled_without_credit credit/1 provider 100.00 USD\n"},
		{"settled, and the row failed", func(l *lists) { l.row("pi_1", "100", state(credit.Failed)); l.line(LinePayment, "pi_1", "100") },
			"settled_without_credit credit/1 provider 100.00 USD\n"},
		{"one part is credited, the other held, both settled", func(l *lists) {
			l.credited("pi_1", "60", kind(credit.KindDeposit, "a"))
			l.row("pi_1", "40", kind(credit.KindDeposit, "b"), state(credit.Held))
			l.line(LinePayment, "pi_1", "100")
		}, "settled_without_credit credit/2 provider 40.00 USD\n"},
		{"cancelled, settled, never refunded", func(l *lists) { l.row("pi_1", "100", state(credit.Cancelled)); l.line(LinePayment, "pi_1", "100") },
			"cancelled_not_refunded credit/1 provider 100.00 USD\n"},
		{"cancelled, settled, refunded in part", func(l *lists) {
			l.row("pi_1", "100", state(credit.Cancelled))
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30")
		}, "cancelled_not_refunded credit/1 provider 70.00 USD\n"},
		{"cancelled, settled, refunded", func(l *lists) {
			l.row("pi_1", "100", state(credit.Cancelled))
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-60")
			l.line(LineRefund, "pi_1", "-40")
		}, "matched credit/1 provider\n"},
		{"cancelled and refunded, the payment in no statement", func(l *lists) { l.row("pi_1", "100", state(credit.Cancelled)); l.line(LineRefund, "pi_1", "-100") },
			"matched credit/1 provider\n"},
		{"a row that nobody credited and nobody settled", func(l *lists) { l.row("pi_1", "100", state(credit.Held)) }, ""},
		{"a refund without its row", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
		}, "matched credit/1 provider\nreversal_missing " + pay + "pi_1/re_1 provider -30.00 USD\n"},
		{"two disputes with one id", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LineChargeback, "pi_1", "-30", func(l *Line) { l.Movement = "dp_1" })
			l.line(LineChargeback, "pi_1", "-20", func(l *Line) { l.Movement = "dp_1" })
		}, "matched credit/1 provider\nreversal_missing " + pay + "pi_1/dp_1 provider -30.00 USD\nreversal_missing " + pay + "pi_1/dp_1/2 provider -20.00 USD\n"},
		{"a refund with its row", func(l *lists) {
			l.credited("pi_1", "100")
			l.credited("pi_1", "30", kind(credit.KindRefund, "re_1"))
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
		}, "matched credit/1 provider\nmatched credit/2 provider\n"},
		{"a refund whose row has another amount", func(l *lists) {
			l.credited("pi_1", "100")
			l.credited("pi_1", "25", kind(credit.KindRefund, "re_1"))
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
		}, "matched credit/1 provider\nwrong_amount credit/2 provider -5.00 USD\n"},
		{"a payment and its refund, each with another amount on both sides", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Amount = dollars("90") })
			l.deal(l.row("pi_1", "25", kind(credit.KindRefund, "re_1")), func(d *Deal) { d.Amount = dollars("-20") })
			l.line(LinePayment, "pi_1", "95")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
		}, "wrong_amount " + pay + "pi_1 provider -5.00 USD\nwrong_amount " + pay + "pi_1/re_1 provider -5.00 USD\nwrong_amount credit/1 mt5 -10.00 USD\nwrong_amount credit/2 mt5 5.00 USD\n"},
		{"a refund that came back", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
			l.line(LineRefundReversal, "pi_1", "30")
		}, "matched credit/1 provider\nmatched " + pay + "pi_1/re_1 provider\n"},
		{"a dispute that was won", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LineChargeback, "pi_1", "-100", func(l *Line) { l.Movement = "dp_1" })
			l.line(LineChargebackReversal, "pi_1", "100")
		}, "matched credit/1 provider\nmatched " + pay + "pi_1/dp_1 provider\n"},
		{"a refund that came back, taken from the login all the same", func(l *lists) {
			l.credited("pi_1", "100")
			l.credited("pi_1", "30", kind(credit.KindRefund, "re_1"))
			l.line(LinePayment, "pi_1", "100")
			l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" })
			l.line(LineRefundReversal, "pi_1", "30", func(l *Line) { l.Movement = "rr_1" })
		}, "matched credit/1 provider\nmatched credit/2 provider\nreversal_missing " + pay + "pi_1/rr_1 provider 30.00 USD\n"},
		{"a refund row that is not settled", func(l *lists) {
			l.credited("pi_1", "100")
			l.credited("pi_1", "30", kind(credit.KindRefund, "re_1"))
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\nlate credit/2 provider 30.00 USD\n"},
		{"a refund of a payment that nobody knows", func(l *lists) { l.line(LineRefund, "pi_1", "-30", func(l *Line) { l.Movement = "re_1" }) },
			"reversal_missing " + pay + "pi_1/re_1 provider -30.00 USD\n"},
		{"done, and no deal", func(l *lists) { l.row("pi_1", "100"); l.line(LinePayment, "pi_1", "100") }, "done_without_deal credit/1 mt5 -100.00 USD\n"},
		{"done, from before the list of deals", func(l *lists) {
			l.row("pi_1", "100", func(r *Row) { r.Trace = begin.Add(-47*time.Hour - time.Second) })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\n"},
		{"done, from before the list of deals, and the deal is there", func(l *lists) {
			l.deal(l.row("pi_1", "100", func(r *Row) { r.Trace = begin.Add(-100 * time.Hour) }), func(d *Deal) { d.Amount = dollars("90") })
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_amount credit/1 mt5 -10.00 USD\n"},
		{"done, on a server whose list is not complete", func(l *lists) {
			l.row("pi_1", "100", func(r *Row) { r.Identity = "Other-Live" })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\n"},
		{"the reference on two deals", func(l *lists) {
			r := l.credited("pi_1", "100")
			l.deal(r, func(d *Deal) { d.Ticket = 77 })
			l.line(LinePayment, "pi_1", "100")
		}, "duplicate_reference credit/1 mt5 100.00 USD\n"},
		{"adopted, and the call went through as well", func(l *lists) {
			r := l.row("pi_1", "100")
			l.deal(r, func(d *Deal) { d.Comment = "wire 12" })
			l.deal(r, func(d *Deal) { d.Ticket = 77 })
			l.line(LinePayment, "pi_1", "100")
		}, "duplicate_reference credit/1 mt5 100.00 USD\n"},
		{"adopted", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Comment = "wire 12" })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\n"},
		{"the reference on two deals, and no row", func(l *lists) {
			gone := lists{}
			r := gone.row("pi_1", "100")
			l.deal(r)
			l.deal(r, func(d *Deal) { d.Ticket = 77 })
		}, "duplicate_reference deal/Broker-Live/77 mt5 200.00 USD\n"},
		{"the reference on another login", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Login++ })
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_login credit/1 mt5\n"},
		{"a deal of another amount", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Amount = dollars("1000") })
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_amount credit/1 mt5 900.00 USD\n"},
		{"a deal of another currency", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Amount = money2("100", "EUR") })
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_currency credit/1 mt5 -100.00 USD and 100.00 EUR\n"},
		{"both sides have another amount", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Amount = dollars("90") })
			l.line(LinePayment, "pi_1", "95")
		}, "wrong_amount " + pay + "pi_1 provider -5.00 USD\nwrong_amount credit/1 mt5 -10.00 USD\n"},
		{"another login and another amount", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Login++; d.Amount = dollars("90") })
			l.line(LinePayment, "pi_1", "100")
		}, "wrong_login credit/1 mt5 -10.00 USD\n"},
		{"failed, and the deal is there", func(l *lists) {
			l.deal(l.row("pi_1", "100", state(credit.Failed)))
			l.line(LinePayment, "pi_1", "100")
		}, "failed_but_deal credit/1 mt5 100.00 USD\n"},
		{"cancelled, and the deal is there", func(l *lists) {
			l.deal(l.row("pi_1", "100", state(credit.Cancelled)))
			l.line(LinePayment, "pi_1", "100")
		}, "cancelled_but_deal credit/1 mt5 100.00 USD\n"},
		{"unknown, and the deal has been there for weeks", func(l *lists) {
			l.deal(l.row("pi_1", "100", state(credit.Unknown)))
			l.line(LinePayment, "pi_1", "100")
		}, "deal_without_row credit/1 mt5 100.00 USD\n"},
		{"unknown, and the deal is new", func(l *lists) {
			l.deal(l.row("pi_1", "100", state(credit.Unknown)), func(d *Deal) { d.At = begin.AddDate(0, 1, 0).Add(-time.Minute) })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\n"},
		{"a reference that no row has", func(l *lists) {
			gone := lists{}
			l.deal(gone.row("pi_1", "100"))
		}, "deal_without_row deal/Broker-Live/5000 mt5 100.00 USD\n"},
		{"a deal without a reference", func(l *lists) {
			gone := lists{}
			l.deal(gone.row("pi_1", "100"), func(d *Deal) { d.Comment, d.Amount = "by hand", dollars("-20") })
		}, "deal_without_reference deal/Broker-Live/5000 mt5 -20.00 USD\n"},
		{"a damaged reference", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Ticket, d.Comment = 77, d.Comment[:20] })
			l.line(LinePayment, "pi_1", "100")
		}, "damaged_reference credit/1 mt5\n"},
		{"a damaged reference of a row that is unknown", func(l *lists) {
			l.deal(l.row("pi_1", "100", state(credit.Unknown)), func(d *Deal) { d.Ticket, d.Comment = 77, strings.ToLower(d.Comment) })
		}, "damaged_reference credit/1 mt5 100.00 USD\n"},
		{"a damaged reference beside the deal", func(l *lists) {
			r := l.credited("pi_1", "100")
			l.deal(r, func(d *Deal) { d.Ticket, d.Comment = 77, "x"+d.Comment })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\ndamaged_reference credit/1 mt5 100.00 USD\n"},
		{"a damaged reference that people have looked at", func(l *lists) {
			r := l.credited("pi_1", "100", func(r *Row) { r.NotDeals = []uint64{77} })
			l.deal(r, func(d *Deal) { d.Ticket, d.Comment = 77, "x"+d.Comment })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/1 provider\ndeal_without_reference deal/Broker-Live/77 mt5 100.00 USD\n"},
		{"a damaged reference on another login", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Login, d.Ticket, d.Comment = 5, 77, d.Comment[:20] })
			l.line(LinePayment, "pi_1", "100")
		}, "done_without_deal credit/1 mt5 -100.00 USD\ndeal_without_reference deal/Broker-Live/77 mt5 100.00 USD\n"},
		{"a ticket of one row with the reference of another", func(l *lists) {
			other := *l.row("pi_2", "100", state(credit.Pending))
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Comment = string(other.Reference) })
			l.line(LinePayment, "pi_1", "100")
		}, "matched credit/2 provider\n"},
		{"other actions are no balance operations", func(l *lists) {
			gone := lists{}
			l.deal(gone.row("pi_1", "100"), func(d *Deal) { d.Comment, d.Action = "bonus", 6 })
		}, ""},
		{"the reference on a deal of another action", func(l *lists) {
			l.deal(l.row("pi_1", "100"), func(d *Deal) { d.Action = 3 })
			l.line(LinePayment, "pi_1", "100")
		}, "done_without_deal credit/1 mt5 -100.00 USD\n"},
		{"a reference of nobody on a deal of another action", func(l *lists) {
			gone := lists{}
			l.deal(gone.row("pi_1", "100"), func(d *Deal) { d.Action = 3 })
		}, "deal_without_row deal/Broker-Live/5000 mt5\n"},
		{"a payout that is the sum of its lines", func(l *lists) {
			batch := func(l *Line) { l.Batch, l.Net = "po_1", dollars("97.10") }
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100", batch)
			l.line(LinePayout, "", "-97.09", func(l *Line) { l.Batch = "po_1" })
		}, "matched credit/1 provider\n"},
		{"a payout that is not", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100", func(l *Line) { l.Batch, l.Net = "po_1", dollars("97.10") })
			l.line(LineFee, "", "-0.05", func(l *Line) { l.Batch = "po_1" })
			l.line(LineUnknown, "", "-5", func(l *Line) { l.Batch = "po_1" })
			l.line(LinePayout, "", "-97.00", func(l *Line) { l.Batch = "po_1" })
		}, "matched credit/1 provider\npayout_difference payout/stripe/acct_cards/po_1 provider 0.05 USD\n"},
		{"a payout that came back", func(l *lists) {
			l.line(LineAdjustment, "", "50", func(l *Line) { l.Batch = "po_1" })
			l.line(LinePayout, "", "-50", func(l *Line) { l.Batch = "po_1" })
			l.line(LinePayout, "", "50", func(l *Line) { l.Batch = "po_1" })
		}, ""},
		{"a batch that is not paid out yet", func(l *lists) { l.line(LineFee, "", "-5", func(l *Line) { l.Batch = "po_1" }) }, ""},
		{"an unknown word counts nowhere", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100")
			l.line(LineUnknown, "pi_1", "-7")
		},
			"matched credit/1 provider\n"},
		{"after the last day", func(l *lists) {
			late := begin.AddDate(0, 1, 0)
			l.deal(l.row("pi_1", "100", func(r *Row) { r.UpdatedAt = late }), func(d *Deal) { d.At = late })
			l.line(LinePayment, "pi_1", "100", func(l *Line) { l.SettledAt = late })
			l.line(LinePayment, "pi_2", "100", func(l *Line) { l.SettledAt = late })
		}, ""},
		{"settled after the last day, credited before", func(l *lists) {
			l.credited("pi_1", "100")
			l.line(LinePayment, "pi_1", "100", func(l *Line) { l.SettledAt = begin.AddDate(0, 1, 0) })
		}, "matched credit/1 mt5\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var l lists
			c.make(&l)
			items, out := compare(t, testRules(), l)
			if got := describe(items); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if out.Lines != len(l.lines) || out.Rows != len(l.rows) || out.Deals != len(l.deals) {
				t.Errorf("read %d lines, %d rows, %d deals of %d, %d, %d", out.Lines, out.Rows, out.Deals, len(l.lines), len(l.rows), len(l.deals))
			}
			for _, i := range items {
				if i.Why == "" || i.At.IsZero() {
					t.Errorf("%v says %q at %s", i.Key, i.Why, i.At)
				}
			}
		})
	}
}
