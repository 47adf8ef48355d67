package credit

import (
	"slices"
	"testing"
	"time"
)

func TestRelease_OverrulesOnlyWhatPeopleCan(t *testing.T) {
	t.Parallel()
	overruled := []Hold{HoldExpired, HoldClosed, HoldProvider, HoldSecondPart, HoldAmount, HoldCode, HoldLookAlike, HoldConflict, HoldByHand, HoldUnknownLogin, HoldRestored}
	gone := []Hold{HoldOwnership, HoldAccount, HoldServer, HoldLimit} // the checks pass by now
	for _, h := range slices.Concat(overruled, gone) {
		dec, err := Release(dossierHeld(h), twoPeople, guardAt(time.Hour), IntakeRules{Now: noon}, Amount{}, usd(50000))
		if err != nil {
			t.Errorf("%s: %v", h, err)
			continue
		}
		if after, _, err := Apply(dossierHeld(h).Row, *dec.Move); err != nil || after.State != Pending || after.Fixed != (h == HoldAmount) {
			t.Errorf("%s: %+v, %v", h, after, err)
		}
	}
	for h := range stays {
		_, err := Release(dossierHeld(h), twoPeople, guardAt(time.Hour), IntakeRules{Now: noon}, Amount{}, usd(50000))
		wantCode(t, err, "not_releasable")
	}
}

// dossierHeld is a held row whose checks all pass.
func dossierHeld(holds ...Hold) Dossier {
	row := joinedRow(Held)
	row.Holds = withHolds(holds)
	d := depositOf(row)
	return Dossier{
		Row: row, Deposit: &d, Settings: Settings{Mode: ModeLive, Environment: "live"},
		Account: &Account{Server: testServer, Login: testLogin, Client: row.Client, Currency: "USD", Digits: 2},
	}
}

func TestRelease_FactsKeepTheRowHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Dossier)
		rules  IntakeRules
		day    Amount
		hold   Hold
		code   string
	}{
		"another client":       {change: func(d *Dossier) { d.Account.Client = "x" }, hold: HoldOwnership},
		"no account":           {change: func(d *Dossier) { d.Account = nil }, hold: HoldOwnership},
		"another currency":     {change: func(d *Dossier) { d.Account.Currency = "EUR" }, hold: HoldAccount},
		"other digits":         {change: func(d *Dossier) { d.Account.Digits = 3 }, hold: HoldAccount},
		"no such server":       {rules: IntakeRules{Servers: []string{"other"}}, hold: HoldServer},
		"over the day's limit": {rules: IntakeRules{DayLimits: map[string]Amount{"USD": usd(50001)}}, day: usd(2), hold: HoldLimit},
		"in observe":           {change: func(d *Dossier) { d.Settings.Mode = ModeObserve }, code: "not_releasable"},
		"before the cut-over":  {change: func(d *Dossier) { d.Settings.CutoverAt = noon.Add(time.Second) }, code: "not_releasable"},
		"refunded meanwhile":   {change: func(d *Dossier) { d.Reversed = true }, code: "not_releasable"},
		"no deposit":           {change: func(d *Dossier) { d.Deposit = nil }, code: "not_releasable"},
	} {
		d := dossierHeld(HoldByHand)
		if c.change != nil {
			c.change(&d)
		}
		c.rules.Now = noon
		dec, err := Release(d, twoPeople, guardAt(time.Hour), c.rules, c.day, usd(50000))
		wantCode(t, err, c.code)
		if err != nil {
			continue
		}
		after, _, err := Apply(d.Row, *dec.Move)
		if err != nil || !slices.Equal(after.Holds, []Hold{c.hold}) || after.State != Held || !after.NextAt.IsZero() {
			t.Errorf("%s: %s %v, %v", name, after.State, after.Holds, err)
		}
	}
	restored := dossierHeld(HoldRestored)
	_, err := Release(restored, twoPeople, guardAt(time.Minute), IntakeRules{Now: noon}, Amount{}, usd(50000))
	wantCode(t, err, "quarantine")
	restored.Settings.Mode, restored.Settings.CutoverAt = ModeHold, noon.Add(-24*time.Hour)
	_, err = Release(restored, twoPeople, guardAt(time.Hour), IntakeRules{Now: noon}, Amount{}, usd(50000))
	wantCode(t, err, "mode")
}

func TestReleaseAmount_IsWhatCameInAtTheDepositsRateRoundedDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid, expected, credited, rate string
		paidExponent                   int
		want                           string
	}{
		"less, converted":     {"33.33", "100.00", "108.50", "1.0850", 2, "36.16"},
		"more, converted":     {"100.01", "100.00", "108.50", "1.0850", 2, "108.50"},
		"18 places":           {"0.333333333333333333", "1", "108.50", "108.50", 18, "36.16"},
		"worth no minor unit": {"0.000000000000000001", "1", "108.50", "108.50", 18, ""},
	} {
		row := joinedRow(Held)
		row.Holds, row.Paid = []Hold{HoldAmount}, amount(c.paid, "EUR", c.paidExponent)
		d := depositOf(row)
		d.Paid, d.Credited, d.Rate = amount(c.expected, "EUR", c.paidExponent), amount(c.credited, "USD", 2), must(ParseRate(c.rate))
		got, err := ReleaseAmount(row, d)
		if c.want == "" {
			wantCode(t, err, "amount")
			continue
		}
		if err != nil || got.Decimal() != c.want || got.Currency() != "USD" || got.Exponent() != 2 {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestRelease_OfARowThatWasPendingOnAnEarlierDayCountsToday(t *testing.T) {
	t.Parallel()
	d := dossierHeld(HoldByHand)
	d.Row.PendingAt = noon.Add(-24 * time.Hour)
	dec, err := Release(d, twoPeople, guardAt(time.Hour), IntakeRules{Now: noon}, Amount{}, usd(50000))
	if err != nil {
		t.Fatal(err)
	}
	if after, _, err := Apply(d.Row, *dec.Move); err != nil || !after.PendingAt.Equal(noon) {
		t.Errorf("counts in the day of %s, %v", after.PendingAt, err)
	}
}
