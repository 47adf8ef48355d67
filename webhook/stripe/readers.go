package stripe

import (
	"errors"

	"creditonce/credit"
)

// paidIntent reads payment_intent.succeeded: amount_received is the money.
func paidIntent(o object, f *credit.Facts) error {
	if err := quietIntent(o, f); err != nil {
		return err
	}
	code, err := o.metadataCode()
	if err != nil {
		return err
	}
	if f.Status != "succeeded" {
		return errors.New("the intent's status is not succeeded")
	}
	return paid(o, f, "amount_received", code)
}

// completedSession reads checkout.session.completed, which says that the form was completed: paid says
// that the money is there, unpaid that an async event follows. no_payment_required is no money.
func completedSession(o object, f *credit.Facts) error {
	status, err := o.need("payment_status")
	if err != nil {
		return err
	}
	switch status {
	case "paid":
		return paidSession(o, f)
	case "unpaid", "no_payment_required":
		return quietSession(o, f)
	}
	return errors.New("payment_status is none of paid, unpaid, no_payment_required")
}

// paidSession makes a row by the session's intent, so that it joins with payment_intent.succeeded. A
// session without an intent (a subscription's) gives a paid event without a payment: a task.
func paidSession(o object, f *credit.Facts) error {
	if err := quietSession(o, f); err != nil {
		return err
	}
	if f.Status != "paid" {
		return errors.New("payment_status is not paid")
	}
	code, err := o.metadataCode()
	if err != nil {
		return err
	}
	reference, err := o.text("client_reference_id")
	if err != nil {
		return err
	}
	if code == "" {
		code = reference
	}
	// client_reference_id can be edited by the payer on payment links (providers.md §2.1): two codes
	// that differ are for a person.
	f.CodesClash = reference != "" && reference != code
	return paid(o, f, "amount_total", code)
}

func paid(o object, f *credit.Facts, name, code string) error {
	a, err := o.amount(name)
	if err != nil {
		return err
	}
	f.Effect, f.Code = credit.EffectPaid, code
	f.Parts = []credit.Part{{Amount: a}}
	return nil
}

func quietIntent(o object, f *credit.Facts) (err error) {
	if err := o.is("payment_intent"); err != nil {
		return err
	}
	f.Effect = credit.EffectNone
	if f.Payment, err = o.need("id"); err != nil {
		return err
	}
	f.Status, err = o.need("status")
	return err
}

func quietSession(o object, f *credit.Facts) (err error) {
	if err := o.is("checkout.session"); err != nil {
		return err
	}
	f.Effect = credit.EffectNone
	if f.Payment, err = o.reference("payment_intent"); err != nil {
		return err
	}
	f.Status, err = o.need("payment_status")
	return err
}

func quietCharge(o object, f *credit.Facts) (err error) {
	if err := o.is("charge"); err != nil {
		return err
	}
	f.Effect = credit.EffectNone
	if f.Payment, err = o.reference("payment_intent"); err != nil {
		return err
	}
	f.Status, err = o.text("status")
	return err
}

// refund reads one refund by its own id. A refund that failed or is pending is a refund too: whether
// money moves is for a person, and a row that has not gone out stops in any case.
func refund(o object, f *credit.Facts) error {
	if err := o.is("refund"); err != nil {
		return err
	}
	return reversal(o, f, credit.EffectRefund)
}

// refundedCharge reads charge.refunded. Its amount_refunded is a running total and no movement, so
// neither an id nor an amount is taken from it; refund.created brings both.
func refundedCharge(o object, f *credit.Facts) error {
	if err := o.is("charge"); err != nil {
		return err
	}
	var err error
	if f.Payment, err = o.reference("payment_intent"); err != nil {
		return err
	}
	if f.Payment == "" {
		if f.Payment, err = o.need("id"); err != nil {
			return err
		}
	}
	f.Effect = credit.EffectRefund
	f.Status, err = o.text("status")
	return err
}

// dispute reads any event about a dispute, inquiries (status warning_…) included.
func dispute(o object, f *credit.Facts) error {
	if err := o.is("dispute"); err != nil {
		return err
	}
	return reversal(o, f, credit.EffectDispute)
}

// reversal names the payment by its intent, else by its charge. An amount that cannot be read is left
// out and is no reason to miss that the payment is contested: the row must stop.
func reversal(o object, f *credit.Facts, effect credit.Effect) (err error) {
	if f.Payment, err = o.reference("payment_intent"); err != nil {
		return err
	}
	if f.Payment == "" {
		if f.Payment, err = o.reference("charge"); err != nil {
			return err
		}
	}
	if f.Payment == "" {
		return errors.New("neither a payment intent nor a charge is named")
	}
	// Old samples of disputes carry no id (providers.md §4); the payment is what counts here.
	if f.Movement, err = o.text("id"); err != nil {
		return err
	}
	if f.Status, err = o.text("status"); err != nil {
		return err
	}
	f.Effect = effect
	if a, err := o.amount("amount"); err == nil {
		f.Moved = a
	}
	return nil
}
