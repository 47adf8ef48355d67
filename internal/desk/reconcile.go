package desk

import (
	"context"
	"fmt"
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

// RecordReconciliation writes into the audit log who did one of the acts around the reconciliation, and with what; it refuses whom
// [Service.MayReconcile] refuses.
func (s *Service) RecordReconciliation(ctx context.Context, a Actor, act Act, reason string) error {
	r := s.request(a, reason)
	r.act = act
	_, err := s.act(ctx, Query{Now: r.at}, func(f Found) (Changes, error) {
		who, err := reconciler(a, f.People, act.Kind)
		if err != nil {
			return Changes{}, err
		}
		return r.copied(f, who), nil
	})
	if err != nil {
		return fmt.Errorf("record %s: %w", act.Kind, err)
	}
	return nil
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
