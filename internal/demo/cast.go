package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// deposit is one deposit of a scenario: what the portal asks for, and what must have become of it in the end. No two
// deposits of a show credit the same amount of a currency, so that MT5's journal alone says which deal is whose.
type deposit struct {
	index  int
	code   string // drawn by the API, or brought by the portal
	client string
	login  uint64

	paid     money
	credited money
	rate     string    // decimal text; empty where no conversion is needed
	rateAt   time.Time // when the rate was taken: a repeated request must be the same to the byte

	// What the scenario promises.
	wantDeals  int      // deals in MT5's journal
	wantStates []string // states of the credit rows that carry the code, sorted
	wantView   string   // the state that the portal's API shows

	rests bool // the API has shown wantView once
}

// money is an amount in minor units.
type money struct {
	minor    int64
	currency string
	digits   int
}

// String is the amount as decimal text, without the currency.
func (m money) String() string {
	sign, minor := "", m.minor
	if minor < 0 {
		sign, minor = "-", -minor
	}
	if m.digits == 0 {
		return sign + strconv.FormatInt(minor, 10)
	}
	unit := scale(m.digits)
	return fmt.Sprintf("%s%d.%0*d", sign, minor/unit, m.digits, minor%unit)
}

// account is one login of the world, as the portal registers it.
type account struct {
	login    uint64
	client   string
	currency string
	digits   int
}

func accountAt(i int) account {
	c := currencies[i%len(currencies)]
	return account{login: firstLogin + uint64(i), client: clientOf(i), currency: c.name, digits: c.digits}
}

// conversion is a currency that clients pay in, and the rate to the account's. Rates are in 1/10000.
type conversion struct {
	paid   string
	digits int
	rate   int64
}

// conversions are the ways to pay into an account of a currency; rate 0 is no conversion.
var conversions = map[string][]conversion{
	"USD": {{"USD", 2, 0}, {"EUR", 2, 10850}},
	"EUR": {{"EUR", 2, 0}},
	"JPY": {{"JPY", 0, 0}, {"USD", 2, 1523500}},
}

// caster makes deposits from a seed.
type caster struct {
	rng  *rand.Rand
	used map[string]bool // credited amounts that are taken
	made int
}

func newCaster(rng *rand.Rand) *caster { return &caster{rng: rng, used: map[string]bool{}} }

// next makes a deposit into account a whose payment ends as done, with one deal.
func (c *caster) next(a account) *deposit {
	d := &deposit{
		index: c.made, client: a.client, login: a.login,
		wantDeals: 1, wantStates: []string{"done"}, wantView: "credited",
	}
	c.made++
	for {
		way := conversions[a.currency][c.rng.IntN(len(conversions[a.currency]))]
		d.paid = money{minor: c.amount(way), currency: way.paid, digits: way.digits}
		d.credited, d.rate = way.credit(d.paid, a)
		key := d.credited.String() + a.currency
		if !c.used[key] {
			c.used[key] = true
			return d
		}
	}
}

// amount draws what a client might pay: mostly round sums, with a few cents so that sums differ.
func (c *caster) amount(way conversion) int64 {
	if way.digits == 0 {
		return 5_000 + c.rng.Int64N(200_000)
	}
	return (50+50*c.rng.Int64N(20))*100 + c.rng.Int64N(100)
}

// credit converts once, rounded half up, as the portal does it when the deposit is made.
func (w conversion) credit(paid money, a account) (money, string) {
	if w.rate == 0 {
		return money{minor: paid.minor, currency: a.currency, digits: a.digits}, ""
	}
	above := paid.minor * w.rate * scale(a.digits)
	below := scale(w.digits) * 10_000
	minor := (above + below/2) / below
	return money{minor: minor, currency: a.currency, digits: a.digits}, money{minor: w.rate, digits: 4}.String()
}

// expect changes what the scenario promises about the deposit.
func (d *deposit) expect(deals int, view string, states ...string) {
	slices.Sort(states)
	d.wantDeals, d.wantView, d.wantStates = deals, view, states
}
