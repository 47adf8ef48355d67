package credit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func usd(cents int64) Amount { return must(Minor(cents, "USD", 2)) }

func amount(text, currency string, exponent int) Amount {
	return must(ParseAmount(text, currency, exponent))
}

func bigInt(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

// noon is the moment of decisions that need no clock.
var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func codeOf(n int) string { return fmt.Sprintf("code-%017d", n) }

func paymentOf(n int) string { return fmt.Sprintf("pi_%d", n) }

// event makes an event about payment n with a body of its own.
func event(key string, n int, f Facts) Event {
	if f.Type == "" {
		f.Type = string(f.Effect)
	}
	f.Payment, f.Live = paymentOf(n), true
	digest := sha256.Sum256([]byte(key))
	return Event{
		Provider: "stripe-eu", Kind: "stripe", Account: "acct_1", MessageKey: key, Facts: f,
		Digest: hex.EncodeToString(digest[:]), ReceivedAt: f.OccurredAt,
	}
}

func paidEvent(n int, at time.Time, code string, a Amount) Event {
	return event(fmt.Sprintf("evt_paid_%d", n), n, Facts{
		Effect: EffectPaid, Parts: []Part{{Amount: a}}, Code: code, OccurredAt: at, Status: "succeeded",
	})
}

func reversalEvent(n int, at time.Time, effect Effect) Event {
	return event(fmt.Sprintf("evt_%s_%d", effect, n), n, Facts{Effect: effect, Movement: "re_1", OccurredAt: at})
}

// wish is a portal's request that every check passes, with the rules to judge it by.
func wish(now time.Time, code string, a Amount, login uint64) (NewDeposit, DepositRules) {
	n := NewDeposit{
		Key:       IdempotencyKey{Route: "POST /v1/deposits", Owner: "portal", Key: "key-" + code},
		InputHash: []byte(code),
		Deposit: Deposit{
			Code: code, Owner: "portal", Client: "client-1", Server: testServer, Login: login, Provider: "stripe-eu",
			Paid: a, Credited: a, ExpiresAt: now.Add(24 * time.Hour),
		},
		Render: func(v DepositView) (Answer, error) {
			return Answer{Status: 201, Body: []byte(v.Deposit.Code + " " + string(v.State(now)))}, nil
		},
	}
	rules := DepositRules{
		IntakeRules: IntakeRules{Now: now, HeldGrace: 10 * time.Minute},
		Identities:  map[string]string{testServer: testIdentity}, Providers: []string{"stripe-eu"},
		LongestLife: 7 * 24 * time.Hour,
	}
	return n, rules
}

// joinedRow is a row in a state as a life up to there leaves it, for decisions that need no life.
func joinedRow(state State) Credit {
	u := Unit{ProviderKind: "stripe", Account: "acct_1", Payment: "pi_1"}
	c := Credit{
		ID: 7, Kind: KindDeposit, Unit: u, State: state, Provider: "stripe-eu", Paid: usd(50000), PaidAt: noon,
		Code: codeOf(1), Deposit: codeOf(1), DepositAt: noon.Add(-time.Hour), Server: testServer, Identity: testIdentity,
		Login: testLogin, Client: "client-1", Amount: usd(50000), Reference: NewReference("live", testIdentity, KindDeposit, u),
		PendingAt: noon, CreatedAt: noon, UpdatedAt: noon,
	}
	switch state {
	case Held:
		c.Holds = []Hold{HoldByHand}
	case Claimed:
		c.Attempt, c.Token, c.LeaseUntil = 1, "token", Mark{Process: "p", Boot: time.Hour}
		c.ClaimedAt, c.FirstClaimAt = noon, noon
	case Unknown:
		c.Attempt, c.UnknownSince, c.NextAt = 1, Mark{Process: "p", Boot: time.Hour, At: noon}, noon
		c.ClaimedAt, c.FirstClaimAt = noon, noon
	case Done:
		c.Ticket = 1001
	case New, Pending, Failed, Cancelled:
	}
	return c
}

// dealOf is the one deal that is exactly the row's.
func dealOf(c Credit) Deal {
	return Deal{Ticket: 1001, Login: c.Login, Action: ActionBalance, Amount: c.DealAmount(), Comment: string(c.Reference), Dealer: 77, ServerTime: noon.Unix()}
}
