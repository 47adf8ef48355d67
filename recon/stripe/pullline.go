package stripe

import (
	"errors"
	"fmt"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/stripe"
	"creditonce/recon"
)

// codeKey is the metadata key that carries the deposit code (design §5.3).
const codeKey = "creditonce_deposit"

// hand makes the line of a transaction and hands it over. batch is the payout that paid it.
func (u *pull) hand(t psp.Transaction, batch string, settled time.Time) error {
	l := recon.Line{
		Provider: u.puller.options.Provider, Row: u.st.Rows + 1, Word: t.Category, Movement: t.ID, Unique: true, Batch: batch, At: t.Created, SettledAt: settled,
	}
	known := false
	if l.Type, known = lineType(t.Category, u.puller.options.RowTypes); !known {
		u.problems.AddUnknown(l.Row, "reporting_category", t.Category)
	}
	if err := u.tie(t, &l); err != nil {
		return fmt.Errorf("balance transaction %s: %w", t.ID, err)
	}
	if err := u.price(t, &l); err != nil {
		return fmt.Errorf("balance transaction %s: %w", t.ID, err)
	}
	return u.out(l)
}

func (u *pull) out(l recon.Line) error {
	l.Shape()
	if err := u.emit(l); err != nil {
		return taken{err}
	}
	u.st.Rows++
	return nil
}

// tie names the payment: the intent, else the charge, as the report's columns have it.
func (u *pull) tie(t psp.Transaction, l *recon.Line) error {
	l.Payment = t.Source.Intent
	if l.Payment == "" {
		l.Payment = t.Source.Charge
	}
	switch l.Type {
	case recon.LinePayment, recon.LineRefund, recon.LineRefundReversal, recon.LineChargeback, recon.LineChargebackReversal:
	default:
		if l.Type == recon.LinePayout {
			l.Payment = ""
		}
		return nil
	}
	switch {
	case l.Payment != "":
	case t.Source.ID != "" && t.Source.Object == "":
		return errors.New("what it is about is not shown: the API key needs the right to read charges, refunds and disputes")
	default:
		u.problems.Add(l.Row, "balance transaction %s (%s) names no payment: look it up in Stripe's dashboard", t.ID, t.Category)
	}
	if t.Source.Object == "charge" {
		l.Code = t.Source.Metadata[codeKey]
	}
	return nil
}

// price takes the amounts: fee and net in the currency of the balance, gross in that of the payment.
func (u *pull) price(t psp.Transaction, l *recon.Line) error {
	exponent, ok := u.exponent(t.Currency)
	if !ok {
		return errors.New("its currency is not known")
	}
	var errs [3]error
	l.Gross, errs[0] = credit.Minor(t.Amount, t.Currency, exponent)
	fee, err := credit.Minor(t.Fee, t.Currency, exponent)
	l.Fee, errs[1] = fee.Neg(), err
	l.Net, errs[2] = credit.Minor(t.Net, t.Currency, exponent)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	u.checkFees(t, l.Row)
	if err := u.paidIn(t, l); err != nil {
		return err
	}
	if t.Category == "charge" && psp.HundredsOnly(l.Gross.Currency()) && l.Gross.Exponent() == 2 && l.Gross.Units().Int64()%100 != 0 {
		return fmt.Errorf("it charges %s, a currency without decimals at Stripe: the unit is in doubt; ask Stripe", l.Gross)
	}
	return nil
}

// paidIn puts what the client paid in place of what the balance got, where the two have different currencies.
func (u *pull) paidIn(t psp.Transaction, l *recon.Line) error {
	s := t.Source
	if s.Currency == "" || s.Currency == t.Currency {
		return nil
	}
	exponent, ok := u.exponent(s.Currency)
	if !ok {
		return errors.New("the currency of its payment is not known")
	}
	paid := s.Amount
	if s.Object == "charge" && s.Captured != s.Amount {
		switch t.Category {
		case "partial_capture_reversal":
			paid = s.Amount - s.Captured
		case "charge":
			u.problems.Add(l.Row, "balance transaction %s: of the payment a part was captured, and it was converted: compare the amount with Stripe's dashboard", t.ID)
		}
	}
	if t.Amount < 0 {
		paid = -paid
	}
	var err error
	l.Gross, err = credit.Minor(paid, s.Currency, exponent)
	return err
}

// checkFees says where the parts of a fee are not the fee: then one of them is not what it is taken for.
func (u *pull) checkFees(t psp.Transaction, row int) {
	var sum int64
	for _, f := range t.Fees {
		if f.Currency != t.Currency {
			return // parts in another currency say nothing about the sum
		}
		sum += f.Amount
	}
	if len(t.Fees) > 0 && sum != t.Fee {
		u.problems.Add(row, "balance transaction %s: its fee is not the sum of the parts that Stripe names", t.ID)
	}
}

func (u *pull) exponent(currency string) (int, bool) {
	if places, named := u.puller.options.Exponents[currency]; named {
		return places, true
	}
	return psp.Exponent(currency)
}

// ownLine is the line of a payout whose own transaction is in no list.
func (u *pull) ownLine(p psp.Payout, batch string) error {
	exponent, ok := u.exponent(p.Currency)
	if !ok {
		return fmt.Errorf("payout %s: its currency is not known", p.ID)
	}
	out, err := credit.Minor(p.Amount, p.Currency, exponent)
	if err != nil {
		return fmt.Errorf("payout %s: %w", p.ID, err)
	}
	zero, err := credit.Minor(0, p.Currency, exponent)
	if err != nil {
		return fmt.Errorf("payout %s: %w", p.ID, err)
	}
	movement := p.Transaction
	if movement == "" {
		movement = p.ID
	}
	return u.out(recon.Line{
		Provider: u.puller.options.Provider, Row: u.st.Rows + 1, Type: recon.LinePayout, Word: "payout", Movement: movement, Batch: batch,
		Gross: out.Neg(), Fee: zero, Net: out.Neg(), At: p.Created, SettledAt: p.Arrival,
	})
}
