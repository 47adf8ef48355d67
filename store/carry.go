package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"creditonce/internal/desk"
)

// roster is who may act, and with which keys, as the store knows it that a restore replaces.
type roster struct {
	people []desk.Person
	keys   []desk.Key
}

// readPresent reads what the present store holds, and its roster; nil where there is none, or it cannot be read.
func readPresent(ctx context.Context, path string) (present *Content, today *roster, err error) {
	err = readFile(ctx, path, func(db *DB) error {
		if c, err := db.content(ctx); err == nil {
			present = &c
		}
		var r roster
		var errs [2]error
		r.people, errs[0] = db.People(ctx)
		r.keys, errs[1] = db.Keys(ctx)
		if errors.Join(errs[:]...) == nil && len(r.people) > 0 {
			today = &r
		}
		return nil
	})
	return present, today, err
}

// carry keeps today's people and keys over a restore: who was disabled since the backup, and which key was revoked, must not
// come back with it.
func (db *DB) carry(ctx context.Context, today *roster, at time.Time) error {
	if today == nil {
		return nil
	}
	return db.write(ctx, false, func(w *writer) error {
		if err := carryPeople(w, today.people, at); err != nil {
			return err
		}
		return carryKeys(w, today.keys, at)
	})
}

func carryPeople(w *writer, today []desk.Person, at time.Time) error {
	was, err := people.all(w.tx)
	if err != nil {
		return err
	}
	for _, p := range was {
		if slices.ContainsFunc(today, func(t desk.Person) bool { return t.ID == p.ID }) {
			continue
		}
		after := p // unknown today: another restore has forgotten the person
		after.Disabled, after.Users, after.UpdatedAt = true, nil, instant(at)
		if err := people.stage(w, &p, after); err != nil {
			return err
		}
	}
	for _, p := range today {
		prior, err := people.get(w.tx, people.key(p))
		if err != nil {
			return err
		}
		if err := people.stage(w, prior, p); err != nil {
			return err
		}
	}
	return nil
}

func carryKeys(w *writer, today []desk.Key, at time.Time) error {
	was, err := apiKeys.all(w.tx)
	if err != nil {
		return err
	}
	live := func(hash string) bool {
		return slices.ContainsFunc(today, func(k desk.Key) bool { return k.SHA256 == hash && k.Live() })
	}
	for _, k := range was {
		if !k.Live() || live(k.SHA256) {
			continue
		}
		after := k
		after.RevokedAt, after.RevokedBy = instant(at), restorer
		if err := apiKeys.stage(w, &k, after); err != nil {
			return err
		}
	}
	for _, k := range today {
		if !k.Live() || slices.ContainsFunc(was, func(o desk.Key) bool { return o.SHA256 == k.SHA256 }) {
			continue
		}
		k.Number = apiKeys.next(w)
		if err := apiKeys.stage(w, nil, k); err != nil {
			return err
		}
	}
	return nil
}
