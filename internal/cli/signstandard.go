package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/webhook/fakepsp"
)

// standardEvents are what `sign` can say in the words of a standard provider.
func standardEvents() []string { return []string{"paid", "refund", "dispute"} }

// standard makes and signs one message as the system behind a standard provider would: every value at the place that
// the configuration names.
func (s signing) standard(p *Process, c *config.Config, from config.Provider) (signed, error) {
	amount, err := app.ProviderAmount(from, s.amount, strings.ToUpper(s.currency))
	if err != nil {
		return signed{}, usagef("--amount %s --currency %s: %s", s.amount, s.currency, inWords(err))
	}
	maker, err := newMaker(p)
	if err != nil {
		return signed{}, err
	}
	written := any(amount.Decimal())
	if from.Payload.AmountIs == "minor" {
		written = json.Number(amount.Units().String())
	}
	values, err := s.values(c, from, maker, written)
	if err != nil {
		return signed{}, err
	}
	values[from.Payload.OccurredAt] = p.Now().Unix()
	body, err := fakepsp.StandardBody(values)
	if err != nil {
		return signed{}, fmt.Errorf("the paths of the configuration do not fit into one message: %w", err)
	}
	headers, err := fakepsp.SignStandard([]string{string(from.Secrets[0].Reveal())}, maker.StandardID("msg_"), body, p.Now())
	if err != nil {
		return signed{}, fmt.Errorf("secret %s: %w", from.Secrets[0].Source(), err)
	}
	return signed{headers: headers, body: body}, nil
}

// values are what one message holds, by path; the caller adds the time.
func (s signing) values(c *config.Config, from config.Provider, maker *fakepsp.Maker, amount any) (map[string]any, error) {
	m, payment, currency := from.Payload, maker.StandardID("pay_"), strings.ToUpper(s.currency)
	common := map[string]any{m.Livemode: c.Environment == config.Live, m.Merchant: from.Account, m.Status: "test"}
	var types []string
	switch s.event {
	case "", "paid":
		types = m.Paid.Types
		common[m.Paid.Payment], common[m.Paid.Part], common[m.Paid.Amount], common[m.Paid.Currency] = payment, "1", amount, currency
		if s.code != "" {
			common[m.Paid.Code] = s.code
		}
	case "refund", "dispute":
		back := m.Refund
		if s.event == "dispute" {
			back = m.Dispute
		}
		types = back.Types
		common[back.Payment], common[back.Movement], common[back.Amount], common[back.Currency] = payment, maker.StandardID("back_"), amount, currency
	default:
		return nil, usagef("--event %q: want one of %s", s.event, strings.Join(standardEvents(), ", "))
	}
	if len(types) == 0 {
		return nil, usagef("--event %s: the configuration names no type of message for it", s.event)
	}
	delete(common, "") // what the configuration names no place for
	common[m.Type] = slices.Clone(types)[0]
	return common, nil
}
