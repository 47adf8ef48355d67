package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// mostHits bounds what a search shows: of a login with many deposits, the newest are enough to go on with the lists.
const mostHits = 50

// Find lists what has the text as one of its ids, each thing once for each kind of id. Every kind is one look into an
// index. Labels and merchant accounts are those that the store has pinned.
func (db *DB) Find(ctx context.Context, text string) ([]desk.Hit, error) {
	s := search{text: strings.TrimSpace(text)}
	err := db.read(ctx, func(tx *bolt.Tx) error {
		s.tx, s.hits = tx, nil
		return s.run()
	})
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	return s.hits, nil
}

type search struct {
	tx   *bolt.Tx
	text string
	hits []desk.Hit
}

func (s *search) hit(subject string, row credit.ID, by string) {
	h := desk.Hit{Subject: subject, Credit: row, By: by}
	for _, known := range s.hits {
		if known == h {
			return
		}
	}
	if len(s.hits) < mostHits {
		s.hits = append(s.hits, h)
	}
}

func (s *search) row(id credit.ID, by string) { s.hit(credit.RowEntity(id), id, by) }

func (s *search) run() error {
	if s.text == "" {
		return nil
	}
	settings, err := readSettings(s.tx)
	if err != nil {
		return err
	}
	steps := []func() error{s.reference, s.code, s.bank}
	if n, err := strconv.ParseUint(s.text, 10, 64); err == nil && n > 0 {
		steps = append(steps, func() error { return s.numbers(n) })
		for _, p := range settings.Pins {
			if label, ok := strings.CutPrefix(p.Name, "mt5/"); ok {
				steps = append(steps, func() error { return s.onServer(label, p.Value, n) })
			}
		}
	}
	for _, p := range settings.Pins {
		if label, ok := strings.CutPrefix(p.Name, "provider/"); ok {
			kind, account, _ := strings.Cut(p.Value, " ")
			steps = append(steps, func() error { return s.ofProvider(label, kind, account) })
		}
	}
	manual := credit.Manual{}.ManualNeeds()
	steps = append(steps, func() error { return s.ofProvider(manual.Provider, manual.Kind, manual.Account) })
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) reference() error {
	row, err := credits.find(s.tx, creditByReference, []byte(s.text))
	if err == nil && row != nil {
		s.row(row.ID, "reference")
	}
	return err
}

// code finds a deposit with its rows, and rows that wait for it.
func (s *search) code() error {
	d, err := deposits.find(s.tx, depositByCode, key(nil).text(s.text))
	if err != nil {
		return err
	}
	if d != nil {
		s.hit("deposit/"+s.text, d.Deposit.Credit, "deposit code")
		if d.Deposit.Credit != 0 {
			s.row(d.Deposit.Credit, "deposit code")
		}
	}
	for _, o := range []*ordered[credit.Credit]{creditWaiting, creditFurther} {
		rows, err := credits.list(s.tx, o, key(nil).text(s.text), mostHits)
		if err != nil {
			return err
		}
		for _, row := range rows {
			s.row(row.ID, "deposit code")
		}
	}
	return nil
}

func (s *search) bank() error {
	entered, err := events.list(s.tx, eventByBank, key(nil).text(credit.BankKey(s.text)), mostHits)
	for _, e := range entered {
		for _, id := range e.Rows {
			s.row(id, "bank reference")
		}
	}
	return err
}

// numbers finds what has the number as its own.
func (s *search) numbers(n uint64) error {
	k := idKey(n)
	if s.tx.Bucket([]byte(credits.bucket)).Get(k) != nil {
		s.row(credit.ID(n), "credit")
	}
	if s.tx.Bucket([]byte(events.bucket)).Get(k) != nil {
		s.hit("event/"+s.text, 0, "event")
	}
	t, err := tasks.get(s.tx, k)
	if err == nil && t != nil {
		s.hit("task/"+s.text, t.TaskRow(), "task")
	}
	return err
}

// onServer finds a ticket or a login of one MT5 server, and the newest deposits of the login.
func (s *search) onServer(label, identity string, n uint64) error {
	row, err := credits.find(s.tx, creditByDeal, dealKey(identity, n))
	if err != nil {
		return err
	}
	if row != nil {
		s.row(row.ID, "ticket")
	}
	at := loginKey(label, n)
	if s.tx.Bucket([]byte(accounts.bucket)).Get(at) != nil {
		s.hit(fmt.Sprintf("account/%s/%d", label, n), 0, "login")
	}
	c := s.tx.Bucket([]byte(depositByLogin.bucket)).Cursor()
	end := loginKey(label, n+1)
	k, _ := c.Seek(end)
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	for seen := 0; k != nil && strings.HasPrefix(string(k), string(at)) && seen < mostHits; k, _ = c.Prev() {
		d, err := deposits.listedRow(s.tx, depositByLogin, k)
		if err != nil {
			return err
		}
		seen++
		if d.Deposit.Credit != 0 {
			s.row(d.Deposit.Credit, "login")
		} else {
			s.hit("deposit/"+d.Deposit.Code, 0, "login")
		}
	}
	return nil
}

// ofProvider finds a payment or an event id of one provider.
func (s *search) ofProvider(label, kind, account string) error {
	e, err := events.find(s.tx, eventByMessage, messageKey(label, s.text))
	if err != nil {
		return err
	}
	if e != nil {
		s.hit(fmt.Sprintf("event/%d", e.ID), 0, "event id")
		for _, id := range e.Rows {
			s.row(id, "event id")
		}
	}
	rows, err := rowsOf(s.tx, kind, account, s.text)
	for _, row := range rows {
		s.row(row.ID, "payment")
	}
	return err
}
