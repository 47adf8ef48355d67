package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Guard makes an open store watch that it is the one that the last claims were made on. Without one (tests, checks of a
// file that claim nothing) nothing is compared or pinned.
type Guard struct {
	Witness string    // path of the witness, on another path than the store's folder, best on another disk; empty: none
	Machine string    // digest of the machine's id; empty where it tells none
	Booted  time.Time // when the machine booted, UTC
	Now     time.Time // UTC
}

// Standing is what Open found out about the store.
type Standing struct {
	Claims uint64       // claims ever made on the store, and decisions of people about its rows
	Place  credit.Place // where the file is now; zero without a Guard
	Wait   string       // why nothing may be claimed before the quarantine after this start; empty: nothing speaks against it
	Doubt  string       // why the store may not be the right one, found by this start; empty: nothing was
}

// Standing tells what Open found.
func (db *DB) Standing() Standing { return db.standing }

// claimsRecord is kept under metaClaims. It is raised in the transaction of each claim, and of each decision of people about a
// row: an older file that forgot either could pay what was paid, adopted or closed.
type claimsRecord struct {
	Claims uint64 `json:"claims"`
}

// readClaims reads how many claims were made.
func readClaims(tx *bolt.Tx) (uint64, error) {
	var r claimsRecord
	err := readMeta(tx, metaClaims, &r)
	return r.Claims, err
}

func putClaims(tx *bolt.Tx, n uint64) error { return putMeta(tx, metaClaims, claimsRecord{n}) }

// beforeCreating refuses to make a new store where a witness tells of one with claims: its disk is not mounted, or the data
// directory is another one than before.
func (g *Guard) beforeCreating(path string) error {
	if g == nil || g.Witness == "" {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	t, err := readWitness(g.Witness)
	if err != nil {
		return err // what cannot be read may tell of claims
	}
	if t == nil || max(t.From, t.To) == 0 {
		return nil // a store that never claimed has nothing to lose: its witness is made anew
	}
	return &WitnessError{g.Witness, fmt.Sprintf("tells of a store with %d claims, and there is none at %s: is its disk mounted, is data_dir the right one? "+
		"To begin anew on purpose, remove the witness", max(t.From, t.To), path)}
}

// stand compares the file with its pins and the witness, in the very first operation of the open store, and keeps a doubt.
func (db *DB) stand(g *Guard) error {
	if g == nil {
		return nil
	}
	place := credit.Place{Machine: g.Machine, Booted: instant(g.Booted), Device: db.file.device, Inode: db.file.inode}
	var seen *testimony
	var broken error
	if g.Witness != "" {
		seen, broken = readWitness(g.Witness)
		db.committer.witness = &witness{path: g.Witness, last: seen}
	}
	err := db.committer.do(context.Background(), &operation{run: func(w *writer) error {
		s, err := readSettings(w.tx)
		if err != nil {
			return err
		}
		claims, err := readClaims(w.tx)
		if err != nil {
			return err
		}
		db.standing = Standing{Claims: claims, Place: place}
		var damaged *WitnessError
		if claims == 0 && errors.As(broken, &damaged) {
			return damaged // the store is new: the file there is something else, and is not written over
		}
		db.standing.weigh(s, g, seen, broken)
		return db.stageStanding(w, s, g, seen)
	}})
	if mute := db.committer.mute.Load(); mute != nil && err != nil { // a store of now: whoever starts it is there to mend this
		return &WitnessError{g.Witness, fmt.Sprintf("cannot be made (%v): see to its disk and the rights of its folder, or name another path (store.witness)", *mute)}
	}
	return err
}

// weigh is the table of design §12.
func (st *Standing) weigh(s credit.Settings, g *Guard, t *testimony, broken error) {
	if s.Place != nil {
		st.Doubt = s.Place.Differs(st.Place)
	}
	if st.Doubt != "" || g.Witness == "" {
		return
	}
	const quarantine = ": nothing is claimed before the quarantine after this start"
	var damaged *WitnessError
	switch {
	case errors.As(broken, &damaged):
		st.Doubt = broken.Error()
	case broken != nil: // its disk does not answer; until it does, no claim can be written on it
		st.Wait = broken.Error() + quarantine
	case t == nil && st.Claims == 0 && s.Place == nil: // a new store: made. An earlier start would have left one
	case t == nil:
		st.Wait = fmt.Sprintf("the witness %s is missing", g.Witness) + quarantine
	case t.Next != nil && t.Next.Instance == s.Instance && t.Next.Claims == st.Claims: // the restore came through
	case t.Store != s.StoreID && max(t.From, t.To) == 0 && st.Claims == 0: // an unused witness of a store that was thrown away
	case t.Store != s.StoreID:
		st.Doubt = fmt.Sprintf("the witness %s belongs to another store", g.Witness)
	case t.Instance != s.Instance:
		st.Doubt = fmt.Sprintf("the witness %s tells of a restore or takeover that this file never saw", g.Witness)
	case t.To == st.Claims:
	case t.From == st.Claims:
		st.Wait = fmt.Sprintf("the witness %s is one batch ahead", g.Witness) + quarantine
	case t.From > st.Claims:
		st.Doubt = fmt.Sprintf("the witness %s has seen %d claims and decisions and the store has %d: it is an older file", g.Witness, t.From, st.Claims)
	default:
		st.Doubt = fmt.Sprintf("the store has %d claims and decisions and the witness %s has seen %d: other claims were made on this file elsewhere", st.Claims, g.Witness, t.To)
	}
}

// stageStanding pins what was not pinned, keeps a doubt, and lets the witness be written where nothing speaks against it: a
// claim may wait for the quarantine after this very start, so a missing or older witness stays as it is until then.
func (db *DB) stageStanding(w *writer, s credit.Settings, g *Guard, t *testimony) error {
	if db.standing.Doubt != "" {
		since, err := newestRecord(w.tx, s)
		if err != nil {
			return err
		}
		change := credit.PutInDoubt(s, credit.Doubt{At: g.Now, Reason: db.standing.Doubt, Since: since})
		if err := stageSettings(w, change.Settings); err != nil {
			return err
		}
		_, err = stageTasks(w, change.Open, change.Close)
		return err
	}
	if s.Doubt != nil {
		return nil // of an earlier start: only people end it
	}
	agreed := db.standing.Wait == "" && (t == nil || t.Store != s.StoreID || t.Instance != s.Instance)
	if g.Witness != "" && agreed {
		w.testify = true
	}
	place := db.standing.Place
	s.Place = &place
	return stageSettings(w, s)
}

// newestRecord is the time of the newest record that the store keeps in order: its last commit was not before it.
func newestRecord(tx *bolt.Tx, s credit.Settings) (time.Time, error) {
	newest := s.CreatedAt
	note := func(at time.Time) {
		if at.After(newest) {
			newest = at
		}
	}
	note(s.ModeAt)
	if e, err := events.last(tx); err != nil {
		return newest, err
	} else if e != nil {
		note(e.ReceivedAt)
	}
	if t, err := tasks.last(tx); err != nil {
		return newest, err
	} else if t != nil {
		note(t.OpenedAt)
	}
	if d, err := deposits.last(tx); err != nil {
		return newest, err
	} else if d != nil {
		note(d.Deposit.CreatedAt)
	}
	r, err := records.last(tx)
	if err == nil && r != nil {
		note(r.At)
	}
	return newest, err
}

// last reads the row with the greatest key; nil where there is none.
func (t *table[T]) last(tx *bolt.Tx) (*T, error) {
	k, v := tx.Bucket([]byte(t.bucket)).Cursor().Last()
	if k == nil {
		return nil, nil
	}
	row, err := t.decode(k, v)
	if err != nil {
		return nil, err
	}
	return &row, nil
}
