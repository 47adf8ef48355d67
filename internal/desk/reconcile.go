package desk

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"creditonce/credit"
)

// reconcilers may start runs and import statements; signers may say that a report was read, and take a statement back. Looking is for everybody.
var (
	reconcilers = []Role{Operator, Maker, Checker}
	signers     = []Role{Maker, Checker}
)

// MayReconcile refuses everybody who may not do one of the acts around the reconciliation (ReconRun, ReconImport, ReconSign,
// ReconWithdraw), and gives the
// person. Root may start runs and import as long as the store knows no people.
func (s *Service) MayReconcile(ctx context.Context, a Actor, k Kind) (Person, error) {
	people, err := s.cfg.Book.People(ctx)
	if err != nil {
		return Person{}, err
	}
	return reconciler(a, people, k)
}

// RecordReconciliation writes into the audit log who has a run made (ReconRun) or imported a statement (ReconImport), and with what; it
// refuses whom [Service.MayReconcile] refuses.
func (s *Service) RecordReconciliation(ctx context.Context, a Actor, act Act) error {
	if act.Kind != ReconRun && act.Kind != ReconImport {
		return fmt.Errorf("%q is not only recorded: %w", act.Kind, credit.ErrInvalid)
	}
	if err := s.reconciled(ctx, a, act, "", func(*Changes) {}); err != nil {
		return fmt.Errorf("record %s: %w", act.Kind, err)
	}
	return nil
}

// SignRun signs the report of a run off and writes that into the audit log, in one transaction. digest is the run's, for the record. It is
// refused (*credit.RefusedError) to whom [Service.MayReconcile] refuses it, on a run that is incomplete ("incomplete") and on one that is
// signed ("signed"); credit.ErrNotFound where no run with that number is finished.
func (s *Service) SignRun(ctx context.Context, a Actor, run uint64, digest, note string) error {
	act := Act{Kind: ReconSign, Subject: "recon", Params: map[string]string{"run": strconv.FormatUint(run, 10), "digest": digest}}
	if err := s.reconciled(ctx, a, act, note, func(c *Changes) { c.Signs = run }); err != nil {
		return fmt.Errorf("sign run %d: %w", run, err)
	}
	return nil
}

// TakeBackStatement takes an imported statement back and writes that into the audit log, with the given facts about it, in one transaction.
// It is refused (*credit.RefusedError) to whom [Service.MayReconcile] refuses it, for one that is withdrawn already ("withdrawn") and for
// one whose rows later ones repeat ("repeated"); credit.ErrNotFound where no statement with that number was imported whole.
func (s *Service) TakeBackStatement(ctx context.Context, a Actor, statement uint64, facts map[string]string, reason string) error {
	act := Act{Kind: ReconWithdraw, Subject: "recon", Params: facts}
	if err := s.reconciled(ctx, a, act, reason, func(c *Changes) { c.TakesOut = statement }); err != nil {
		return fmt.Errorf("withdraw statement %d: %w", statement, err)
	}
	return nil
}

// reconciled does one of the acts around the reconciliation together with its line in the audit log.
func (s *Service) reconciled(ctx context.Context, a Actor, act Act, reason string, with func(*Changes)) error {
	r := s.request(a, reason)
	r.act = act
	_, err := s.act(ctx, Query{Now: r.at}, func(f Found) (Changes, error) {
		who, err := reconciler(a, f.People, act.Kind)
		if err != nil {
			return Changes{}, err
		}
		c := r.copied(f, who)
		with(&c)
		return c, nil
	})
	return err
}

func reconciler(a Actor, people []Person, k Kind) (Person, error) {
	may := reconcilers
	switch k {
	case ReconRun, ReconImport:
		if len(people) == 0 && a.root() {
			return Person{ID: "root"}, nil
		}
	case ReconSign, ReconWithdraw:
		may = signers
	default:
		return Person{}, fmt.Errorf("%q is no act of the reconciliation: %w", k, credit.ErrInvalid)
	}
	who, err := whois(a, people)
	if err != nil {
		return Person{}, err
	}
	if !who.May(may...) {
		return Person{}, credit.Refuse("role", "%s may not do %s: it takes one of the roles %s", who.ID, strings.TrimPrefix(string(k), "recon."), roleList(may))
	}
	return who, nil
}

// MayLook refuses everybody to whom nothing is shown. Root may look as long as the store knows no people.
func (s *Service) MayLook(ctx context.Context, a Actor) error {
	people, err := s.cfg.Book.People(ctx)
	if err != nil {
		return err
	}
	if len(people) == 0 && a.root() {
		return nil
	}
	_, err = s.Who(ctx, a)
	return err
}
