package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"creditonce/internal/api/client"
	"creditonce/internal/stage"
	"creditonce/webhook/fakepsp"
)

// paidEvents are the three events with which Stripe says that one Checkout payment succeeded.
var paidEvents = []string{"payment_intent.succeeded", "checkout.session.completed", "charge.succeeded"}

func playDuplicateWebhook(ctx context.Context, s *show) error {
	const copies = 5
	if err := s.openAll(ctx); err != nil {
		return err
	}
	for _, d := range s.deposits {
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{Delivery: fakepsp.Delivery{Copies: copies}}); err != nil {
			return err
		}
	}
	if err := s.drained(ctx); err != nil {
		return err
	}
	attempts, err := s.psp.Attempts(ctx)
	if err != nil {
		return err
	}
	acknowledged := 0
	for _, a := range attempts {
		if a.Acknowledged {
			acknowledged++
		}
	}
	if want := copies * len(paidEvents) * s.n; acknowledged < want {
		s.problem("%d deliveries were acknowledged, %d expected", acknowledged, want)
	}
	s.board.tell("provider", "every one of %d deliveries got its 2xx", acknowledged)
	return nil
}

func playWebhookLost(ctx context.Context, s *show) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	for _, d := range s.deposits {
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{Delivery: fakepsp.Delivery{Lost: true}}); err != nil {
			return err
		}
	}
	s.board.tell("provider", "%d payments, and not one webhook: only the list of events tells of them", s.n)
	if err := s.credited(ctx, s.deposits...); err != nil {
		return err
	}
	attempts, err := s.psp.Attempts(ctx)
	if err != nil {
		return err
	}
	if len(attempts) > 0 && !s.stage.reused {
		s.problem("%d webhooks were sent, none expected", len(attempts))
	}
	s.board.tell("demo", "credited by the pull alone")
	return nil
}

func playTwoEvents(ctx context.Context, s *show) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	type send struct {
		payment, event string
	}
	var all []send
	for _, d := range s.deposits {
		p, err := s.pay(ctx, d, fakepsp.PaymentRequest{Silent: true})
		if err != nil {
			return err
		}
		for _, name := range paidEvents {
			all = append(all, send{p.ID, name})
		}
	}
	s.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var made []string
	for _, one := range all {
		events, err := s.psp.Emit(ctx, fakepsp.EmitRequest{
			Payment: one.payment, Events: []string{one.event}, Delivery: fakepsp.Delivery{Copies: 1, Delay: s.upTo(150 * time.Millisecond)},
		})
		if err != nil {
			return err
		}
		made = append(made, events[0].ID)
	}
	s.rng.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
	for _, id := range made {
		r := fakepsp.ResendRequest{Event: id, NewID: true, Delivery: fakepsp.Delivery{Copies: 1, Delay: s.upTo(150 * time.Millisecond)}}
		if _, err := s.psp.Resend(ctx, r); err != nil {
			return err
		}
	}
	s.board.tell("provider", "%d events for %d payments", 2*len(all), s.n)
	return s.drained(ctx)
}

func (s *show) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

func playRedirectFirst(ctx context.Context, s *show) error {
	const reads = 20
	if err := s.openAll(ctx); err != nil {
		return err
	}
	for _, d := range s.deposits {
		for range reads {
			a, err := s.portal.read(ctx, d.code)
			if err != nil {
				return err
			}
			if a.State != "open" {
				s.problem("the return page showed %s before the webhook came", a.State)
			}
		}
	}
	if err := s.noDealYet("no webhook has come yet"); err != nil {
		return err
	}
	s.board.tell("demo", "the return page read %d times: open, nothing credited; now the webhook", reads*s.n)
	return s.payAll(ctx)
}

func playEventBeforeDeposit(ctx context.Context, s *show) error {
	var waiting []*deposit
	for i := range s.n {
		d := s.cast.next(accountAt(i % accountCount))
		code, err := stage.DrawSecret(s.o.Random)
		if err != nil {
			return err
		}
		d.code = code
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{}); err != nil {
			return err
		}
		waiting = append(waiting, d)
	}
	if err := s.drained(ctx); err != nil {
		return err
	}
	if err := s.noDealYet("there is no deposit record yet"); err != nil {
		return err
	}
	s.board.tell("demo", "paid and held without a deposit record; now the portal makes it")
	for _, d := range waiting {
		if err := s.open(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func playAmountDiffers(ctx context.Context, s *show) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	for _, d := range s.deposits {
		d.expect(0, "review", "held")
		less := d.paid.minor - 1 - s.rng.Int64N(d.paid.minor/2)
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{Amount: less}); err != nil {
			return err
		}
	}
	return nil
}

func playPaidTwice(ctx context.Context, s *show) error {
	if err := s.openAndPayAll(ctx); err != nil {
		return err
	}
	if err := s.credited(ctx, s.deposits...); err != nil {
		return err
	}
	s.board.tell("demo", "credited; now each deposit is paid a second time")
	for _, d := range s.deposits {
		d.expect(1, "credited", "done", "held")
	}
	if err := s.payAll(ctx); err != nil {
		return err
	}
	return s.drained(ctx)
}

func playRefundLater(ctx context.Context, s *show) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	payments := map[*deposit]fakepsp.Payment{}
	for _, d := range s.deposits {
		p, err := s.pay(ctx, d, fakepsp.PaymentRequest{})
		if err != nil {
			return err
		}
		payments[d] = p
	}
	if err := s.credited(ctx, s.deposits...); err != nil {
		return err
	}
	s.board.tell("demo", "credited; now the payments are refunded")
	for _, d := range s.deposits {
		p := payments[d]
		if _, err := s.psp.Refund(ctx, fakepsp.RefundRequest{Payment: p.ID, Amount: 1 + s.rng.Int64N(p.Amount)}); err != nil {
			return err
		}
	}
	return s.drained(ctx)
}

// firstUnknownLogin begins the logins that the firm has registered and MT5 does not have.
const firstUnknownLogin = 59001

func playWrongLogin(ctx context.Context, s *show) error {
	foreign := s.cast.next(accountAt(1))
	foreign.client = accountAt(2).client
	_, err := s.portal.open(ctx, foreign, "demo-foreign-"+foreign.credited.String())
	var refused *client.RefusedError
	switch {
	case errors.As(err, &refused) && slices.Contains([]client.ProblemCode{client.ProblemCodeForeignLogin, client.ProblemCodeUnknownAccount}, refused.Problem.Code):
		s.board.tell("serve", "a deposit for another client's login was refused: %s", refused.Problem.Code)
	case err == nil:
		s.problem("the API took a deposit for another client's login")
	default:
		return fmt.Errorf("try a deposit for another client's login: %w", err)
	}
	for i := range s.n {
		a := accountAt(i % accountCount)
		a.login = firstUnknownLogin + uint64(i)
		if err := s.portal.putAccount(ctx, a); err != nil {
			return err
		}
		d := s.cast.next(a)
		d.expect(0, "review", "held")
		if err := s.open(ctx, d); err != nil {
			return err
		}
	}
	return s.payAll(ctx)
}
