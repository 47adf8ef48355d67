package credit

import "slices"

// stays are the reasons to hold that no two people can overrule, with what can be done instead.
var stays = map[Hold]string{
	HoldNoDeposit:  "it has no deposit record, so nobody knows whose it is: have the deposit made with its code, or close it",
	HoldCurrency:   "it was paid in another currency than the deposit says: adopt a deal made by hand, or close it",
	HoldPreCutover: "it is from before go-live, when the flow before may have paid it: adopt the deal, or close it",
	HoldReversal:   "a refund or dispute of the payment is known: adopt a deal, or close it",
}

// rechecked are the reasons that are facts: people cannot overrule them, and they are gone when the check passes.
var rechecked = []Hold{HoldOwnership, HoldAccount, HoldServer, HoldLimit}

// ReleaseAmount is what the row credits once released: the deposit's amount, or, where another amount was received, that
// at the deposit's rate, at most the deposit's amount (design §5.4).
func ReleaseAmount(row Credit, d Deposit) (Amount, error) {
	if !row.HasHold(HoldAmount) {
		return row.Amount, nil
	}
	worth, err := d.Rate.Convert(row.Paid, d.Credited.Currency(), d.Credited.Exponent())
	if err != nil {
		return Amount{}, Refuse("currency", "what was received, %s, cannot be converted at the deposit's rate: adopt a deal, or close the row", row.Paid)
	}
	if over, err := worth.Cmp(d.Credited); err == nil && over > 0 {
		worth = d.Credited
	}
	if worth.Sign() <= 0 {
		return Amount{}, Refuse("amount", "what was received, %s, is worth nothing at the deposit's rate: close the row", row.Paid)
	}
	return worth, nil
}

// Release decides that a held row goes on (design §4, §5.4). amount is what the people agreed to credit: it must be
// ReleaseAmount of the row as it is. Every birth check that is a fact runs again, and what it finds keeps the row held.
// dayTotal is the login's of the UTC day of rules.Now. It is pure.
func Release(d Dossier, p People, g Guard, rules IntakeRules, dayTotal, amount Amount) (Decision, error) {
	row := d.Row
	if err := releasing.on(row); err != nil {
		return Decision{}, err
	}
	if err := releasable(d, g); err != nil {
		return Decision{}, err
	}
	want, err := ReleaseAmount(row, *d.Deposit)
	if err != nil {
		return Decision{}, err
	}
	if !want.Equal(amount) {
		return Decision{}, Refuse("amount", "credit %d would credit %s, not %s", row.ID, want, amount)
	}
	j := joining{settings: d.Settings, rules: rules, account: d.Account, dayTotal: dayTotal, taken: &Amount{}, around: d.Around}
	deposit := *d.Deposit
	deposit.Credited = want
	var remaining []Hold
	for _, h := range j.checks(row, deposit) {
		unseen := h == HoldEnteredTwice && !row.HasHold(h) // people who release it have not been shown it
		if slices.Contains(rechecked, h) || unseen {
			remaining = append(remaining, h)
		}
	}
	if slices.Equal(withHolds(remaining), withHolds(row.Holds)) {
		return Decision{}, Refuse("still_held", "credit %d stays held: %s is still so", row.ID, holdText(remaining))
	}
	t := released(p, want, row.HasHold(HoldAmount), remaining, rules.schedule())
	return Decision{Move: &t}, nil
}

// releasable refuses what people cannot overrule.
func releasable(d Dossier, g Guard) error {
	row := d.Row
	if !row.Joined() || d.Deposit == nil {
		return Refuse("not_releasable", "credit %d cannot be released: %s", row.ID, stays[HoldNoDeposit])
	}
	birth := intake{event: Event{}, found: IntakeFound{Settings: d.Settings, Reversed: d.Reversed}}
	for _, h := range withHolds(row.Holds, birth.birthHolds(row)...) {
		if why, ok := stays[h]; ok {
			return Refuse("not_releasable", "credit %d cannot be released: %s", row.ID, why)
		}
	}
	if !row.HasHold(HoldRestored) {
		return nil
	}
	if d.Settings.Mode != ModeLive {
		return Refuse("mode", "credit %d was restored; rows are released one by one once the mode is live, now it is %s", row.ID, d.Settings.Mode)
	}
	return g.settled(d)
}
