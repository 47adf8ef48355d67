package credit_test

import (
	"testing"
	"time"

	"creditonce/credit"
)

func TestTimeRange_IsHalfOpen(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	for name, tc := range map[string]struct {
		r    credit.TimeRange
		at   time.Time
		want bool
	}{
		"open":           {credit.TimeRange{}, from, true},
		"at from":        {credit.TimeRange{From: from, To: to}, from, true},
		"before from":    {credit.TimeRange{From: from}, from.Add(-1), false},
		"at to":          {credit.TimeRange{From: from, To: to}, to, false},
		"just before to": {credit.TimeRange{To: to}, to.Add(-1), true},
		"empty":          {credit.TimeRange{From: from, To: from}, from, false},
	} {
		if got := tc.r.Holds(tc.at); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAmountRange_KeepsCurrenciesApartAndIncludesItsEnds(t *testing.T) {
	t.Parallel()
	parse := func(text, currency string, exponent int) credit.Amount {
		a, err := credit.ParseAmount(text, currency, exponent)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	low, high := parse("5", "USD", 0), parse("10.000", "USD", 3)
	for name, tc := range map[string]struct {
		r    credit.AmountRange
		a    credit.Amount
		want bool
	}{
		"any amount":       {credit.AmountRange{}, credit.Amount{}, true},
		"unset":            {credit.AmountRange{Currency: "USD"}, credit.Amount{}, false},
		"currency":         {credit.AmountRange{Currency: "USD"}, parse("1.00", "USD", 2), true},
		"another currency": {credit.AmountRange{Currency: "USD"}, parse("1.00", "EUR", 2), false},
		"at min":           {credit.AmountRange{Currency: "USD", Min: low, Max: high}, parse("5.00", "USD", 2), true},
		"below min":        {credit.AmountRange{Currency: "USD", Min: low, Max: high}, parse("4.99", "USD", 2), false},
		"at max":           {credit.AmountRange{Currency: "USD", Min: low, Max: high}, parse("10.00", "USD", 2), true},
		"above max":        {credit.AmountRange{Currency: "USD", Min: low, Max: high}, parse("10.01", "USD", 2), false},
		"ends of another":  {credit.AmountRange{Currency: "EUR", Min: low}, parse("7.00", "EUR", 2), false},
	} {
		if got := tc.r.Holds(tc.a); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Each field of a query selects by itself; a login counts on its server alone.
func TestQueries_SelectByEachField(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	d := credit.Deposit{Client: "c", Server: "main", Login: 7, Provider: "p", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	for name, tc := range map[string]struct {
		q    credit.DepositQuery
		want bool
	}{
		"all":                  {credit.DepositQuery{}, true},
		"client":               {credit.DepositQuery{Client: "c"}, true},
		"other client":         {credit.DepositQuery{Client: "d"}, false},
		"login":                {credit.DepositQuery{Server: "main", Login: 7}, true},
		"other login":          {credit.DepositQuery{Server: "main", Login: 8}, false},
		"other server":         {credit.DepositQuery{Server: "back", Login: 7}, false},
		"login without server": {credit.DepositQuery{Login: 8}, true},
		"provider":             {credit.DepositQuery{Provider: "q"}, false},
		"state":                {credit.DepositQuery{State: credit.DepositOpen, Now: now}, true},
		"state later":          {credit.DepositQuery{State: credit.DepositOpen, Now: now.Add(time.Hour)}, false},
		"expired":              {credit.DepositQuery{State: credit.DepositExpired, Now: now.Add(time.Hour)}, true},
		"created":              {credit.DepositQuery{Created: credit.TimeRange{To: now}}, false},
	} {
		if got := tc.q.Wants(credit.DepositView{Deposit: d}); got != tc.want {
			t.Errorf("deposit, %s: %v", name, got)
		}
	}
	row := credit.Credit{State: credit.Held, Provider: "p", CreatedAt: now, UpdatedAt: now.Add(time.Minute)}
	for name, tc := range map[string]struct {
		q    credit.CreditQuery
		want bool
	}{
		"all":        {credit.CreditQuery{}, true},
		"state":      {credit.CreditQuery{State: credit.Held}, true},
		"other":      {credit.CreditQuery{State: credit.Done}, false},
		"updated":    {credit.CreditQuery{Updated: credit.TimeRange{From: now.Add(time.Minute)}}, true},
		"not since":  {credit.CreditQuery{Updated: credit.TimeRange{From: now.Add(2 * time.Minute)}}, false},
		"client":     {credit.CreditQuery{Client: "c"}, false},
		"amount":     {credit.CreditQuery{Amount: credit.AmountRange{Currency: "USD"}}, false},
		"a provider": {credit.CreditQuery{Provider: "p"}, true},
	} {
		if got := tc.q.Wants(row); got != tc.want {
			t.Errorf("credit, %s: %v", name, got)
		}
	}
	account := credit.Account{Server: "main", Login: 7, Client: "c", Currency: "USD", CreatedAt: now, UpdatedAt: now}
	for name, tc := range map[string]struct {
		q    credit.AccountQuery
		want bool
	}{
		"all": {credit.AccountQuery{}, true}, "currency": {credit.AccountQuery{Currency: "EUR"}, false}, "client": {credit.AccountQuery{Client: "c"}, true},
		"created": {credit.AccountQuery{Created: credit.TimeRange{From: now.Add(1)}}, false}, "updated": {credit.AccountQuery{Updated: credit.TimeRange{To: now.Add(1)}}, true},
	} {
		if got := tc.q.Wants(account); got != tc.want {
			t.Errorf("account, %s: %v", name, got)
		}
	}
}

func TestCloseDeposit_ClosesOnceAndNeverWhatIsPaid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 15, 12, 0, 0, 123456789, time.UTC)
	out, err := credit.CloseDeposit(credit.Deposit{Code: "x", ExpiresAt: now.Add(-time.Hour)}, "portal", now)
	if err != nil || out.Deposit == nil || !out.Deposit.ClosedAt.Equal(now.Truncate(time.Microsecond)) || out.Deposit.ClosedBy != "portal" {
		t.Fatalf("an expired deposit: %+v, %v", out, err)
	}
	again, err := credit.CloseDeposit(*out.Deposit, "other", now.Add(time.Hour))
	if err != nil || again.Deposit != nil {
		t.Errorf("closed again: %+v, %v", again, err)
	}
	paid := *out.Deposit
	paid.Credit = 5
	if _, err := credit.CloseDeposit(paid, "portal", now); err == nil || err.Error() != "deposit_paid: the deposit was paid; it cannot be closed any more" {
		t.Errorf("paid: %v", err)
	}
}
