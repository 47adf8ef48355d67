package credit

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestOpenDeposit_RefusesWithAStableCodeAndWritesNothing(t *testing.T) {
	t.Parallel()
	rate := func(text string) Rate { return must(ParseRate(text)) }
	convert := func(n *NewDeposit, r *DepositRules) {
		n.Deposit.Paid, n.Deposit.Credited = amount("100.00", "EUR", 2), usd(10850)
		n.Deposit.Rate, n.Deposit.RateFrom, n.Deposit.RateAt = rate("1.085"), "ecb", noon
		r.Bands = map[string]RateBand{"EUR/USD": {rate("1.00"), rate("1.20")}}
	}
	for name, tc := range map[string]struct {
		change func(n *NewDeposit, f *DepositFound, r *DepositRules)
		code   string
	}{
		"unknown server":         {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Server = "other" }, "unknown_server"},
		"unknown provider":       {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Provider = "other" }, "unknown_provider"},
		"code taken":             {func(n *NewDeposit, f *DepositFound, _ *DepositRules) { d := n.Deposit; f.Existing = &d }, "code_taken"},
		"code too short":         {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Code = strings.Repeat("a", 21) }, "bad_code"},
		"code too long":          {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Code = strings.Repeat("a", 65) }, "bad_code"},
		"code with a slash":      {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Code = strings.Repeat("a", 22) + "/" }, "bad_code"},
		"code with a newline":    {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Code = strings.Repeat("a", 22) + "\n" }, "bad_code"},
		"account not registered": {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Account = nil }, "unknown_account"},
		"login of another":       {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Account.Client = "client-2" }, "foreign_login"},
		"account currency":       {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Account.Currency = "EUR" }, "wrong_currency"},
		"account digits":         {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Account.Digits = 3 }, "wrong_currency"},
		"zero paid":              {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Paid = usd(0) }, "bad_amount"},
		"negative": {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) {
			n.Deposit.Paid, n.Deposit.Credited = usd(-1), usd(-1)
		}, "bad_amount"},
		"nothing credited": {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Credited = usd(0) }, "bad_amount"},
		"over the limit": {func(_ *NewDeposit, _ *DepositFound, r *DepositRules) {
			r.PerCredit = map[string]Amount{"USD": usd(49999)}
		}, "limit_per_credit"},
		"limit unreadable": {func(_ *NewDeposit, _ *DepositFound, r *DepositRules) {
			r.PerCredit = map[string]Amount{"USD": amount("9999", "EUR", 0)}
		}, "limit_per_credit"},
		"expired at birth": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { n.Deposit.ExpiresAt = r.Now }, "bad_expiry"},
		"lives too long": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			n.Deposit.ExpiresAt = r.Now.Add(r.LongestLife + 1)
		}, "bad_expiry"},
		"rate not needed": {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Rate = rate("1") }, "rate_not_needed"},
		"credited more":   {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Credited = usd(50001) }, "conversion_differs"},
		"credited less":   {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) { n.Deposit.Credited = usd(49999) }, "conversion_differs"},
		"no rate":         {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { convert(n, r); n.Deposit.Rate = Rate{} }, "rate_missing"},
		"rate of nobody":  {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { convert(n, r); n.Deposit.RateFrom = "" }, "rate_missing"},
		"rate of no time": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { convert(n, r); n.Deposit.RateAt = time.Time{} }, "rate_missing"},
		"no band":         {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { convert(n, r); r.Bands = nil }, "rate_without_band"},
		"band of the inverse": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			convert(n, r)
			r.Bands = map[string]RateBand{"USD/EUR": r.Bands["EUR/USD"]}
		}, "rate_without_band"},
		"rate below the band": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			convert(n, r)
			n.Deposit.Rate, n.Deposit.Credited = rate("0.99"), usd(9900)
		}, "rate_outside_band"},
		"rate above the band": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			convert(n, r)
			n.Deposit.Rate, n.Deposit.Credited = rate("1.2001"), usd(12001)
		}, "rate_outside_band"},
		"rate of tomorrow": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			convert(n, r)
			n.Deposit.RateAt = noon.Add(2 * time.Minute)
		}, "bad_rate_time"},
		"two cents too much": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) { convert(n, r); n.Deposit.Credited = usd(10852) }, "conversion_differs"},
		"a hundred times": {func(n *NewDeposit, _ *DepositFound, r *DepositRules) {
			convert(n, r)
			n.Deposit.Credited = usd(1085000)
		}, "conversion_differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
			f := DepositFound{Settings: Settings{Environment: "live", Mode: ModeLive}, Account: &Account{
				Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2,
			}}
			tc.change(&n, &f, &rules)
			rendered := false
			n.Render = func(DepositView) (Answer, error) { rendered = true; return Answer{}, nil }
			out, err := OpenDeposit(n, f, rules)
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Code != tc.code || !errors.Is(err, ErrRefused) {
				t.Fatalf("error %v, want %s", err, tc.code)
			}
			if out.Store || out.Changes.Deposit != nil || out.Changes.Rows != nil || rendered {
				t.Errorf("a refusal wants to write %+v, or rendered an answer", out)
			}
			if refused.Detail == "" || strings.Contains(refused.Detail, "client-2") {
				t.Errorf("detail %q", refused.Detail)
			}
		})
	}
}

func depositFound() DepositFound {
	return DepositFound{Settings: Settings{Environment: "live", Mode: ModeLive}, Reversed: map[ID]bool{}, Account: &Account{
		Server: testServer, Identity: testIdentity, Login: testLogin, Client: "client-1", Currency: "USD", Digits: 2,
	}}
}

func TestOpenDeposit_IsWrittenWholeWithTimesCutAndTheServersIdentity(t *testing.T) {
	t.Parallel()
	n, rules := wish(noon.Add(123456789), codeOf(1), usd(50000), testLogin)
	out, err := OpenDeposit(n, depositFound(), rules)
	if err != nil || !out.Store || out.Answer.Replay {
		t.Fatalf("%+v, %v", out, err)
	}
	d := out.Changes.Deposit
	if d.Identity != testIdentity || !d.CreatedAt.Equal(noon.Add(123456*time.Microsecond)) || d.Credit != 0 || len(out.Changes.Rows) != 0 {
		t.Errorf("deposit %+v with %d rows", d, len(out.Changes.Rows))
	}
	if got := string(out.Answer.Body); got != n.Deposit.Code+" open" {
		t.Errorf("answer %q", got)
	}
}

func TestOpenDeposit_ConversionWithinOneMinorUnitPasses(t *testing.T) {
	t.Parallel()
	for _, credited := range []int64{10849, 10850, 10851} {
		n, rules := wish(noon, codeOf(1), usd(credited), testLogin)
		n.Deposit.Paid, n.Deposit.Rate = amount("100.00", "EUR", 2), must(ParseRate("1.0850"))
		n.Deposit.RateFrom, n.Deposit.RateAt = "ecb", noon.Add(time.Minute)
		rules.Bands = map[string]RateBand{"EUR/USD": {must(ParseRate("1.085")), must(ParseRate("1.085"))}}
		if _, err := OpenDeposit(n, depositFound(), rules); err != nil {
			t.Errorf("%d cents: %v", credited, err)
		}
	}
}

func TestOpenDeposit_SameKeyIsReplayedByteForByteWhateverChangedSince(t *testing.T) {
	t.Parallel()
	n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
	first := Answer{Status: 201, Body: []byte("first \x00 answer")}
	f := DepositFound{Answer: &first, Hash: n.InputHash} // and no account, a code taken, rules of nothing
	f.Existing = &n.Deposit
	out, err := OpenDeposit(n, f, DepositRules{IntakeRules: rules.IntakeRules})
	if err != nil || out.Store || !out.Answer.Replay || out.Answer.Status != 201 || !bytes.Equal(out.Answer.Body, first.Body) {
		t.Errorf("%+v, %v", out, err)
	}
	if first.Replay {
		t.Error("the stored answer was changed")
	}
	n.InputHash = []byte("another")
	if out, err := OpenDeposit(n, f, rules); !errors.Is(err, ErrMismatch) || out.Store || out.Answer.Body != nil {
		t.Errorf("another input under the key: %+v, %v", out, err)
	}
}

func TestOpenDeposit_DryRunChecksEverythingAndStoresNothing(t *testing.T) {
	t.Parallel()
	n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
	n.DryRun = true
	out, err := OpenDeposit(n, depositFound(), rules)
	if err != nil || out.Store || out.Answer.Status != 201 {
		t.Errorf("%+v, %v", out, err)
	}
	n.Deposit.Paid = usd(1)
	if _, err := OpenDeposit(n, depositFound(), rules); !errors.Is(err, ErrRefused) {
		t.Errorf("a dry run that a check refuses: %v", err)
	}
}

func TestOpenDeposit_RenderThatFailsStoresNothing(t *testing.T) {
	t.Parallel()
	n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
	broken := errors.New("template")
	n.Render = func(DepositView) (Answer, error) { return Answer{}, broken }
	if out, err := OpenDeposit(n, depositFound(), rules); !errors.Is(err, broken) || out.Store {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestOpenDeposit_TakesTheEarliestWaitingRowAndHoldsTheOthersAsSecondParts(t *testing.T) {
	t.Parallel()
	n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
	f := depositFound()
	f.Waiting = []Credit{waiting(t, 4, codeOf(1), noon.Add(-2*time.Minute)), waiting(t, 2, codeOf(1), noon.Add(-time.Minute)), waiting(t, 3, codeOf(1), noon)}
	before := string(must(json.Marshal(f)))
	out, err := OpenDeposit(n, f, rules)
	if err != nil {
		t.Fatal(err)
	}
	if after := string(must(json.Marshal(f))); after != before {
		t.Errorf("the decision changed its input from %s to %s", before, after)
	}
	if out.Changes.Deposit.Credit != 4 || len(out.Changes.Rows) != 3 {
		t.Fatalf("taken by %d, %d rows", out.Changes.Deposit.Credit, len(out.Changes.Rows))
	}
	for i, want := range []string{"", "second_part", "second_part"} {
		row := out.Changes.Rows[i].After
		if holdsOf(row) != want || !row.Joined() || row.Login != testLogin {
			t.Errorf("row %d: %s %q, joined %v", row.ID, row.State, holdsOf(row), row.Joined())
		}
	}
	if got := string(out.Answer.Body); got != n.Deposit.Code+" paid" {
		t.Errorf("answer %q, want paid", got)
	}
	if kindsOf(out.Changes.Open) != "held" || len(out.Changes.Open) != 2 {
		t.Errorf("tasks %v", out.Changes.Open)
	}
}

func TestOpenDeposit_WaitingRowKeepsOtherReasonsAndGetsTheDepositsOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(n *NewDeposit, f *DepositFound, r *DepositRules)
		holds  string
		answer string
	}{
		"nothing else":   {func(*NewDeposit, *DepositFound, *DepositRules) {}, "", "paid"},
		"refund known":   {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Reversed[1] = true }, "reversal", "review"},
		"other reversed": {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Reversed[9] = true }, "", "paid"},
		"another amount": {func(n *NewDeposit, _ *DepositFound, _ *DepositRules) {
			n.Deposit.Paid, n.Deposit.Credited = usd(1), usd(1)
		}, "amount", "review"},
		"pre-cutover": {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) {
			f.Waiting[0].Holds = []Hold{HoldNoDeposit, HoldPreCutover}
		}, "pre_cutover", "review"},
		"over the day's limit": {func(_ *NewDeposit, f *DepositFound, r *DepositRules) {
			r.DayLimits, f.DayTotal = map[string]Amount{"USD": usd(99999)}, usd(50000)
		}, "limit", "review"},
		"within the day's limit": {func(_ *NewDeposit, f *DepositFound, r *DepositRules) {
			r.DayLimits, f.DayTotal = map[string]Amount{"USD": usd(100000)}, usd(50000)
		}, "", "paid"},
		"row of another provider": {func(_ *NewDeposit, f *DepositFound, _ *DepositRules) { f.Waiting[0].Provider = "coinbase" }, "provider", "review"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, rules := wish(noon, codeOf(1), usd(50000), testLogin)
			f := depositFound()
			f.Waiting = []Credit{waiting(t, 1, codeOf(1), noon.Add(-time.Minute))}
			tc.change(&n, &f, &rules)
			out, err := OpenDeposit(n, f, rules)
			if err != nil {
				t.Fatal(err)
			}
			row := out.Changes.Rows[0].After
			if holdsOf(row) != tc.holds || (row.State == Pending) != (tc.holds == "") {
				t.Errorf("%s, %q; want %q", row.State, holdsOf(row), tc.holds)
			}
			if got := string(out.Answer.Body); got != n.Deposit.Code+" "+tc.answer {
				t.Errorf("answer %q, want %s", got, tc.answer)
			}
		})
	}
}

func TestDepositView_SaysWhatAReturnPageMayShow(t *testing.T) {
	t.Parallel()
	open := Deposit{ExpiresAt: noon}
	row := func(s State) *Credit { c := joinedRow(s); return &c }
	for name, tc := range map[string]struct {
		view DepositView
		now  time.Time
		want DepositState
	}{
		"open":             {DepositView{Deposit: open}, noon.Add(-1), DepositOpen},
		"expired":          {DepositView{Deposit: open}, noon, DepositExpired},
		"closed":           {DepositView{Deposit: Deposit{ExpiresAt: noon, ClosedAt: noon}}, noon.Add(time.Hour), DepositClosed},
		"paid, though old": {DepositView{Deposit: open, Row: row(Pending)}, noon.Add(year), DepositPaid},
		"claimed":          {DepositView{Deposit: open, Row: row(Claimed)}, noon, DepositCrediting},
		"unknown":          {DepositView{Deposit: open, Row: row(Unknown)}, noon, DepositCrediting},
		"unknown, task":    {DepositView{Deposit: open, Row: row(Unknown), Tasks: 1}, noon, DepositReview},
		"pending, task":    {DepositView{Deposit: open, Row: row(Pending), Tasks: 2}, noon, DepositReview},
		"done":             {DepositView{Deposit: open, Row: row(Done)}, noon, DepositCredited},
		"done, task":       {DepositView{Deposit: open, Row: row(Done), Tasks: 1}, noon, DepositCredited},
		"held":             {DepositView{Deposit: open, Row: row(Held)}, noon, DepositReview},
		"failed":           {DepositView{Deposit: open, Row: row(Failed)}, noon, DepositReview},
		"cancelled":        {DepositView{Deposit: open, Row: row(Cancelled)}, noon, DepositReview},
	} {
		if got := tc.view.State(tc.now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestOpenDeposit_LoginsUpToTheLastOneKeepTheirDigits(t *testing.T) {
	t.Parallel()
	d := Deposit{Login: math.MaxUint64}
	var back Deposit
	if err := json.Unmarshal(must(json.Marshal(d)), &back); err != nil || back.Login != d.Login {
		t.Errorf("login %d comes back as %d, %v", d.Login, back.Login, err)
	}
}
