package desk

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"creditonce/credit"
)

// Copy is a backup of the store that is written and has no name yet.
type Copy struct {
	Path   string
	SHA256 string // hex
	Bytes  int64
}

// MayBackUp refuses everybody who may not take a copy of the whole store: that is for operators and admins, and for root
// while the store knows no people.
func (s *Service) MayBackUp(ctx context.Context, a Actor) error {
	people, err := s.cfg.Book.People(ctx)
	if err != nil {
		return err
	}
	_, err = copier(a, people)
	return err
}

// RecordBackup writes into the audit log who took the copy, where it is and its digest; it refuses whom
// [Service.MayBackUp] refuses.
func (s *Service) RecordBackup(ctx context.Context, a Actor, c Copy) error {
	r := s.request(a, "")
	r.act = c.act()
	_, err := s.act(ctx, Query{Now: r.at}, func(f Found) (Changes, error) {
		who, err := copier(a, f.People)
		if err != nil {
			return Changes{}, err
		}
		return r.copied(f, who), nil
	})
	if err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}

// RecordBackupAlone is [Service.RecordBackup] on a store that no service has open: whoever can read the file itself need not
// be a person of the store. The account stands in the audit log.
func RecordBackupAlone(ctx context.Context, book PermitBook, now time.Time, a Actor, c Copy) error {
	r := request{actor: a, at: now, act: c.act()}
	_, err := book.Act(ctx, Query{Now: now}, func(f Found) (Changes, error) {
		who, err := r.prober(f.People, true)
		if err != nil {
			return Changes{}, err
		}
		return r.copied(f, who), nil
	})
	if err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}

func (c Copy) act() Act {
	return Act{Kind: CopyStore, Subject: "store", Params: map[string]string{
		"path": c.Path, "sha256": c.SHA256, "bytes": strconv.FormatInt(c.Bytes, 10),
	}}
}

func (r request) copied(f Found, who Person) Changes {
	d := deed{request: r, found: f, who: who}
	d.record(Did, 0)
	return d.out
}

// copier finds the person who takes a copy; nobody where it is root before there are people.
func copier(a Actor, people []Person) (Person, error) {
	if len(people) == 0 && a.root() {
		return Person{}, nil
	}
	who, err := whois(a, people)
	if err != nil {
		return Person{}, err
	}
	if may := []Role{Operator, Admin}; !who.May(may...) {
		return Person{}, credit.Refuse("role", "%s may not back the store up: it takes the role %s", who.ID, roleList(may))
	}
	return who, nil
}
