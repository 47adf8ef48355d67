package demo

import (
	"context"
	"errors"
	"slices"
	"time"

	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

const (
	balanceCall = "trade/balance"
	// noAnswer is longer than serve waits for any answer.
	noAnswer = 3 * callTimeout
)

// underFault lets all deposits go through while a fault strikes each one's first balance call: in rounds of one deposit
// for each login, because a call that is repeated must not meet the fault again.
func (s *show) underFault(ctx context.Context, r fakemt5.Rule) error {
	for from := 0; from < s.n; from += accountCount {
		_, round, err := s.faultyRound(ctx, r, from)
		if err != nil {
			return err
		}
		if err := s.credited(ctx, round...); err != nil {
			return err
		}
	}
	return nil
}

// faultyRound sets a fault for as many balance calls as there are deposits in the round, and lets them be paid.
func (s *show) faultyRound(ctx context.Context, r fakemt5.Rule, from int) (fakemt5.Rule, []*deposit, error) {
	count := min(s.n-from, accountCount)
	r.Where, r.Count = balanceCall, count
	set, err := s.fault(ctx, r)
	if err != nil {
		return set, nil, err
	}
	for i := range count {
		if err := s.open(ctx, s.cast.next(accountAt(i))); err != nil {
			return set, nil, err
		}
	}
	round := s.deposits[len(s.deposits)-count:]
	for _, d := range round {
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{}); err != nil {
			return set, nil, err
		}
	}
	return set, round, nil
}

func playTimeoutApplied(ctx context.Context, s *show) error {
	return s.underFault(ctx, fakemt5.Rule{Kind: fakemt5.ApplyThenDelay, Delay: fakemt5.Duration(noAnswer)})
}

func playTimeoutNotApplied(ctx context.Context, s *show) error {
	return s.underFault(ctx, fakemt5.Rule{Kind: fakemt5.NeverExecute})
}

func playLateExecution(ctx context.Context, s *show) error {
	return s.underFault(ctx, fakemt5.Rule{Kind: fakemt5.HoldThenExecute, Delay: fakemt5.Duration(callTimeout + 2*time.Second)})
}

func playCrashAfterClaim(ctx context.Context, s *show) error {
	swallow, err := s.fault(ctx, fakemt5.Rule{Where: balanceCall, Kind: fakemt5.NeverExecute})
	if err != nil {
		return err
	}
	if err := s.openAndPayAll(ctx); err != nil {
		return err
	}
	if err := s.struck(ctx, swallow, 1, 15*time.Second); err != nil {
		return err
	}
	// More calls may be on their way; those that come within the life of the first one are caught too.
	if err := s.struck(ctx, swallow, min(s.n, 3), callTimeout/3); err != nil && !errors.Is(err, errLate) {
		return err
	}
	s.crash()
	if err := s.clearFaults(ctx); err != nil {
		return err
	}
	s.board.tell("demo", "serve starts again; what was claimed is unknown until MT5 is asked after the quarantine (%s here)", quarantine)
	return s.startServe(ctx)
}

func playStoreFails(ctx context.Context, s *show) error {
	// The answer comes a little before the time-out, so that the deal is there before serve can write anything about it.
	late, err := s.fault(ctx, fakemt5.Rule{
		Where: balanceCall, Login: firstLogin, Kind: fakemt5.ApplyThenDelay, Count: 1, Delay: fakemt5.Duration(callTimeout * 7 / 10),
	})
	if err != nil {
		return err
	}
	if err := s.openAndPayAll(ctx); err != nil {
		return err
	}
	if err := s.struck(ctx, late, 1, 15*time.Second); err != nil {
		return err
	}
	if err := until(ctx, "a deal in MT5's journal", 5*time.Second, func(context.Context) (bool, error) {
		deals, err := s.dealsNow()
		return slices.ContainsFunc(deals, func(d fakemt5.JournalEntry) bool { return d.Login == firstLogin }), err
	}); err != nil {
		return err
	}
	if err := s.breakStore(ctx); err != nil {
		return err
	}
	s.board.tell("demo", "serve starts again, as systemd would do it")
	return s.startServe(ctx)
}

// breakStore takes the disk away from serve, which must end by itself: a failed commit leaves nothing that a running
// process may rely on.
func (s *show) breakStore(ctx context.Context) error {
	if !stage.CanStarve {
		s.crash()
		return nil
	}
	s.board.warn("demo", "the deal is in MT5's journal; from now on serve can write nothing")
	if err := stage.Starve(s.serve.Process()); err != nil {
		return err
	}
	code, err := s.serve.Wait(ctx, 15*time.Second)
	if err != nil {
		return err
	}
	if code != 1 {
		s.problem("serve ended with exit code %d after its store failed, not 1:\n%s", code, s.serve.Last())
	}
	s.board.tell("serve", "ended by itself with exit code %d: the store could not be written", code)
	return nil
}

func playWrongLoginInAnswer(ctx context.Context, s *show) error {
	// The other login has deals of its own, so that what comes back is somebody's real data.
	const other = firstLogin + accountCount - 1
	if _, err := s.fault(ctx, fakemt5.Rule{Where: balanceCall, Kind: fakemt5.WrongLogin, Count: (s.n + 1) / 2, Other: other}); err != nil {
		return err
	}
	if s.n > 1 {
		if _, err := s.fault(ctx, fakemt5.Rule{Where: "deal/get", Kind: fakemt5.WrongLogin, Count: s.n, Other: other}); err != nil {
			return err
		}
	}
	return s.openAndPayAll(ctx)
}

func playEmptyAnswer(ctx context.Context, s *show) error {
	empty := fakemt5.Rule{Kind: fakemt5.EmptyBody}
	for from := 0; from < s.n; from += accountCount {
		set, round, err := s.faultyRound(ctx, empty, from)
		if err != nil {
			return err
		}
		if from == 0 {
			if err := s.struck(ctx, set, 1, 15*time.Second); err != nil {
				return err
			}
			if err := s.denyDeals(ctx); err != nil {
				return err
			}
		}
		if err := s.credited(ctx, round...); err != nil {
			return err
		}
	}
	return nil
}

// denyDeals makes MT5 say, without contradicting itself, that no account has any deals. It lasts longer than the
// quarantine and both looks: whoever took "no data" for "no deal" would call again and credit twice.
func (s *show) denyDeals(ctx context.Context) error {
	lies := []fakemt5.Rule{
		{Where: "deal/get_total", Kind: fakemt5.TotalChanges, Delta: -1 << 40},
		{Where: "deal/get_page", Kind: fakemt5.PageCut, Rows: 0},
	}
	for i, r := range lies {
		set, err := s.mt5.Fault(ctx, r)
		if err != nil {
			return err
		}
		lies[i] = set
	}
	s.board.warn("demo", "MT5 now shows no deals at all, for longer than the quarantine")
	if err := pause(ctx, quarantine+2*time.Second); err != nil {
		return err
	}
	if err := s.struck(ctx, lies[0], 2*quiteOften, 15*time.Second); err != nil {
		return err
	}
	s.board.tell("demo", "MT5 shows its deals again")
	for _, r := range lies {
		if err := s.mt5.ClearFault(ctx, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// quiteOften is enough looks to believe an absence twice over.
const quiteOften = 2

func playBusyLogin(ctx context.Context, s *show) error {
	a := accountAt(0)
	if _, err := s.mt5.SeedDeals(ctx, fakemt5.Seed{
		Login: a.login, Count: 3000, Number: s.o.Seed, Over: fakemt5.Duration(24 * time.Hour),
	}); err != nil {
		return err
	}
	for skip := 0; skip < s.n; skip += 4 {
		if _, err := s.fault(ctx, fakemt5.Rule{
			Where: balanceCall, Login: a.login, Kind: fakemt5.ApplyThenDrop, Skip: skip, Count: 1,
		}); err != nil {
			return err
		}
	}
	for range s.n {
		if err := s.open(ctx, s.cast.next(a)); err != nil {
			return err
		}
	}
	return s.payAll(ctx)
}

// mixedFaults are spread over the calls of the mixed show; the first call goes well, so that there is something to see
// at once.
var mixedFaults = []fakemt5.Rule{
	{Where: balanceCall, Kind: fakemt5.ApplyThenDrop, Skip: 2, Count: 1},
	{Where: balanceCall, Kind: fakemt5.NeverExecute, Skip: 5, Count: 1},
	{Where: balanceCall, Kind: fakemt5.ApplyThenDelay, Skip: 8, Count: 1, Delay: fakemt5.Duration(noAnswer)},
}

func playMixed(ctx context.Context, s *show) error {
	for _, r := range mixedFaults {
		set, err := s.mt5.Fault(ctx, r)
		if err != nil {
			return err
		}
		if r.Skip < s.n { // else there are too few calls for it to strike
			s.rules = append(s.rules, set)
		}
	}
	// Slow enough to watch, and a few seconds for however many.
	beat := min(200*time.Millisecond, 6*time.Second/time.Duration(s.n))
	for i := range s.n {
		d := s.cast.next(accountAt(i % accountCount))
		if err := s.open(ctx, d); err != nil {
			return err
		}
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{}); err != nil {
			return err
		}
		if i > 0 {
			if err := pause(ctx, beat/2+s.upTo(beat)); err != nil {
				return err
			}
		}
	}
	return nil
}
