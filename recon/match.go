package recon

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
)

// Match lays the sorted lists side by side. It is a function of the lists and the rules alone: it reads no clock, and the order of what it
// emits depends on nothing else. It streams: what needs a second look (codes, damaged references) is sorted aside, however much it is.
//
// First rows meet deals, by ticket and by reference; each row gets its verdict of MT5's side. Then the rows meet lines, by payment, and
// what is left of both, by deposit code. Each payment gives one item of the provider's side, and one more for every row whose MT5 side
// differs; where all agree there is one item, of the payment. On one side the gravest class wins (the order of [Classes]), and Why names
// the others. The two sides are told apart, since the roll-forward of each rests on its own items.
//
// The items come in this order: payments by (provider kind, account, payment), then what only the code ties, by code, then deals that no
// row has and damaged references, by (MT5 server, ticket), then payouts by batch. An item whose moment is not before Until is not of
// these days and is not emitted: the lists are read one after the other, and of the time since they are not of one moment.
//
// A run whose roll-forwards do not add up to the items is an error, and a mistake of this package.
func Match(ctx context.Context, rules Rules, in *Sorted, emit func(Item) error) (Outcome, error) {
	m := &matcher{
		ctx: ctx, rules: rules, in: in, sink: emit, rolls: newRolls(rules), tolerance: limits(rules.Tolerance), rounding: limits(rules.Rounding),
		payments: in.spool(), coded: in.spool(), dealt: in.spool(), batches: newBatches(in), balances: newBalances(rules.Marks),
		out: Outcome{Classes: map[Class]int{}, Actions: map[int]int{}, Asked: map[string]int{}, Before: map[string]int{}}, counts: map[ClassCount]int{}, unseen: unseenRows{}, unasked: unasked{}, rests: map[rollKey]restSum{},
	}
	m.paymentPacker, m.codedPacker, m.dealtPacker = m.payments.packer(), m.coded.packer(), m.dealt.packer()
	for _, step := range []func() error{m.meetDeals, m.meetLines, m.meetCodes, m.tellDeals, m.tellPayouts, m.finish} {
		if err := step(); err != nil {
			return Outcome{}, err
		}
	}
	return m.out, nil
}

// matcher is a comparison under way.
type matcher struct {
	ctx   context.Context
	rules Rules
	in    *Sorted
	sink  func(Item) error

	tolerance, rounding map[string]money

	payments *spool // rows with their verdict of MT5's side, by payment
	coded    *spool // lines without rows and rows without lines, by deposit code
	dealt    *spool // what is told of deals beside the rows, by ticket
	batches  *batches
	balances *balances

	paymentPacker, codedPacker, dealtPacker *packer

	unseen  unseenRows
	unasked unasked
	rolls   *rolls
	counts  map[ClassCount]int  // with Items 0
	rests   map[rollKey]restSum // by provider and currency
	out     Outcome
	key     []byte
}

func limits(of map[string]credit.Amount) map[string]money {
	out := make(map[string]money, len(of))
	for currency, a := range of {
		out[currency] = moneyOf(a)
	}
	return out
}

// gravity is the place of each class in [Classes]: the smaller, the graver.
var gravity = func() map[Class]int {
	out := map[Class]int{}
	for i, c := range Classes() {
		out[c] = i + 1
	}
	return out
}()

// finding is what was found of one row or payment on one side: the gravest class, and every sentence.
type finding struct {
	class Class
	why   []string // of class first
}

// note adds a class; of two the graver stays, and both sentences.
func (f *finding) note(class Class, format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if f.class != "" && gravity[f.class] <= gravity[class] {
		f.why = append(f.why, text)
		return
	}
	f.class, f.why = class, append([]string{text}, f.why...)
}

func (f finding) sentence() string { return strings.Join(f.why, "; ") }

const agreed = "what was compared agrees"

// emit counts an item and passes it on. off is by currency; what it adds belongs to the roll-forward of the item's side and provider.
func (m *matcher) emit(item Item, off sums) error {
	for _, part := range off {
		if part.sign() == 0 {
			continue
		}
		a, err := part.amount()
		if err != nil {
			return fmt.Errorf("sum up %s: %w", item.Key.Entity, err)
		}
		if !item.Off.IsSet() {
			item.Off = a
		} else {
			item.Beside = append(item.Beside, a)
		}
		if item.Key.Class.Rolled() {
			m.rolls.list(item.Side, item.Provider, part)
		}
	}
	m.out.Classes[item.Key.Class]++
	m.counts[ClassCount{Provider: item.Provider, Class: item.Key.Class}]++
	return m.sink(item)
}

// counts tells that the moment is of these days or before them.
func (m *matcher) counted(at time.Time) bool { return at.Before(m.rules.Until) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// escape keeps the parts of an entity apart.
var escape = strings.NewReplacer("%", "%25", "/", "%2F")

func paymentEntity(kind, account, payment string) string {
	return "payment/" + escape.Replace(kind) + "/" + escape.Replace(account) + "/" + escape.Replace(payment)
}

func rowEntity(id credit.ID) string { return "credit/" + strconv.FormatUint(uint64(id), 10) }

func dealEntity(d *Deal) string {
	return fmt.Sprintf("deal/%s/%d", escape.Replace(d.Identity), d.Ticket)
}
