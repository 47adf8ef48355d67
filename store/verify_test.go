package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

func id(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// payload is a stored value without its version and checksum.
func payload(v []byte) string { return string(v[1 : len(v)-4]) }

// edit changes a stored value and seals it again, so that only a rule, and no checksum, can find it.
func edit(bucket string, k []byte, old, new string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		was := payload(b.Get(k))
		now := strings.Replace(was, old, new, 1)
		if now == was {
			return errors.New("nothing to edit: " + was)
		}
		return b.Put(k, store.Seal(bucket, k, []byte(now)))
	}
}

// firstKey applies fn to the first key of a bucket.
func firstKey(bucket string, fn func(b *bolt.Bucket, k, v []byte) error) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		k, v := b.Cursor().First()
		if k == nil {
			return errors.New("the bucket is empty")
		}
		return fn(b, bytes.Clone(k), bytes.Clone(v))
	}
}

// Every kind of damage is found by Verify, in a sentence that names bucket and row; nothing panics.
func TestVerify_FindsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	historyKey := binary.BigEndian.AppendUint32(id(1), 2)
	for _, c := range []struct {
		name   string
		damage func(*bolt.Tx) error
		want   string
	}{
		{"flipped bit", firstKey("credits", func(b *bolt.Bucket, k, v []byte) error {
			v[len(v)/2] ^= 1
			return b.Put(k, v)
		}), `bucket "credits", key 1: the checksum does not match`},
		{"value under another key", firstKey("events", func(b *bolt.Bucket, _, v []byte) error { return b.Put(id(2), v) }), `bucket "events", key 2: the checksum does not match`},
		{"short value", firstKey("tasks", func(b *bolt.Bucket, k, _ []byte) error { return b.Put(k, []byte{1}) }), `bucket "tasks", key 1: the value is too short`},
		{"newer value", firstKey("credits", func(b *bolt.Bucket, k, v []byte) error {
			v[0] = 2
			sum := store.Checksum("credits", k, v[:len(v)-4])
			return b.Put(k, binary.BigEndian.AppendUint32(v[:len(v)-4], sum))
		}), `bucket "credits", key 1: the value has version 2, this program writes 1`},
		{"row without a number", firstKey("credits", func(b *bolt.Bucket, k, _ []byte) error {
			return b.Put(k, store.Seal("credits", k, []byte("{}")))
		}), `bucket "credits", key 1: the row says that its key is 0`},
		{"unknown field", edit("credits", id(1), `{`, `{"surplus":1,`), "unknown field"},
		{"missing entry", firstKey("credit by unit", func(b *bolt.Bucket, k, _ []byte) error { return b.Delete(k) }), `bucket "credit by unit": the entry of row 3 is missing`},
		{"entry of another row", firstKey("credit by unit", func(b *bolt.Bucket, k, _ []byte) error { return b.Put(k, id(2)) }), `bucket "credit by unit": the entry of row 3 holds`},
		{"surplus entry", firstKey("credit by reference", func(b *bolt.Bucket, k, _ []byte) error { return b.Put([]byte("dep:X"), id(1)) }), `bucket "credit by reference": entry 6465703a58 is none of row 1`},
		{"entry to nowhere", firstKey("credit by state", func(b *bolt.Bucket, _, _ []byte) error {
			return b.Put(append([]byte("\x07pending"), id(99)...), []byte{1})
		}), `bucket "credit by state": entry 0770656e64696e670000000000000063 leads to row 99, which does not exist`},
		{"entry with another login", firstKey("credit work by time", func(b *bolt.Bucket, k, _ []byte) error { return b.Put(k, id(4711)) }), `bucket "credit work by time": the entry of row`},
		{"lost row", firstKey("credits", func(b *bolt.Bucket, k, _ []byte) error { return b.Delete(k) }), `leads to row 1, which does not exist`},
		{"edited amount", edit("credits", id(2), `"minor":"700","currency":"USD","exponent":2},"reference"`, `"minor":"900","currency":"USD","exponent":2},"reference"`), `credit 2 is over 9.00 USD, its deposit 2 says 7.00 USD`},
		{"lowered amount", edit("credits", id(2), `"minor":"700","currency":"USD","exponent":2},"reference"`, `"minor":"600","currency":"USD","exponent":2},"reference"`), `credit 2 is over 6.00 USD, its deposit 2 says 7.00 USD`},
		{"edited reference", edit("credits", id(2), `"reference":"dep:`, `"reference":"ref:`), `bucket "credits": credit 2 has the reference ref:`},
		{"edited payment", edit("credits", id(2), `"payment":"pay-`, `"payment":"pax-`), `its unit gives dep:`},
		{"edited login", edit("credits", id(2), `"login":"1001"`, `"login":"1002"`), `credit 2 and its deposit 2 disagree on server, login, client or time`},
		{"edited state", edit("credits", id(2), `"state":"pending"`, `"state":"failed"`), `history of`},
		{"invented state", edit("credits", id(2), `"state":"pending"`, `"state":"paid"`), `credit 2 is in the state "paid", which does not exist`},
		{"lost ticket", edit("credits", id(1), `"ticket":"1001"`, `"ticket":"0"`), `credit 1 is done with the ticket 0`},
		{"edited history", edit("history", historyKey, `"actor":"`, `"actor":"x`), `bucket "history": credit 1: history entry 3 does not chain`},
		{"lost history", func(tx *bolt.Tx) error { return tx.Bucket([]byte("history")).Delete(historyKey) }, `bucket "history": credit 1: history entry 3 stands at place 2`},
		{"surplus history", func(tx *bolt.Tx) error {
			k := binary.BigEndian.AppendUint32(id(77), 1)
			return tx.Bucket([]byte("history")).Put(k, store.Seal("history", k, []byte(`{"seq":1}`)))
		}, `bucket "history": entry 1 of credit 77 belongs to no row`},
		{"lost body", firstKey("bodies", func(b *bolt.Bucket, k, _ []byte) error { return b.Delete(k) }), `bucket "bodies": event 1 has no body`},
		{"surplus body", firstKey("bodies", func(b *bolt.Bucket, _, v []byte) error { return b.Put(id(99), v) }), `bucket "bodies": body 99 belongs to no event`},
		{"another body", func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("bodies"))
			return b.Put(id(1), store.Seal("bodies", id(1), []byte(payload(b.Get(id(2))))))
		}, `bucket "bodies": body 1 does not have its event's digest`},
		{"body that is none", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("bodies")).Put(id(1), store.Seal("bodies", id(1), []byte("not zstd")))
		}, `bucket "bodies", key 1: unpack the body`},
		{"event of a lost row", edit("events", id(1), `"rows":[1]`, `"rows":[88]`), `bucket "events": event 1 names credit 88, which does not exist`},
		{"edited digest", edit("events", id(1), `"digest":"`, `"digest":"0`), `body 1 does not have its event's digest`},
		{"deposit of another row", edit("deposits", id(1), `"credit":1`, `"credit":3`), `bucket "deposits": deposit 1 is taken by credit 3, which has not joined it`},
		{"deposit not taken", edit("deposits", id(1), `"credit":1`, `"credit":0`), `deposit 1 is not taken, yet credit 1 has joined it`},
		{"task about nothing", edit("tasks", id(1), `"entity":"`, `"entity":"credit/9`), `is about credit/9`},
		{"edited counter", firstKey("counters", func(b *bolt.Bucket, k, _ []byte) error { return b.Put(k, store.Seal("counters", k, id(55))) }), `bucket "counters": 55`},
		{"numbers used up", func(tx *bolt.Tx) error { return tx.Bucket([]byte("credits")).SetSequence(1) }, `bucket "credits": row 4 is beyond the last number given, 1`},
		{"unknown bucket", func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("extra")); return err }, `bucket "extra", key : the schema does not know this bucket`},
		{"lost bucket", func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("anchors")) }, `bucket "anchors", key : the bucket is missing`},
		{"lost settings", func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("settings")) }, `the record is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, db := world(t, nil)
			fill(w)
			w.Must(db.Raw(c.damage))
			r, err := db.Verify(t.Context(), nil)
			w.Must(err)
			if !strings.Contains(strings.Join(r.Findings, "\n"), c.want) {
				t.Errorf("findings:\n%s\nwant: %s", strings.Join(r.Findings, "\n"), c.want)
			}
			w.Must(db.Close(t.Context()))
		})
	}
}

// A byte that changes on the disk under a closed store is found by the read of its row and by Verify.
func TestFlippedByte_IsFoundByReadAndVerify(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	fill(w)
	w.End()
	file, err := os.ReadFile(db.Path())
	w.Must(err)
	marker := []byte(`"paid":{"minor":"700"`) // of credit 2; old copies of its page may hold it too
	if !bytes.Contains(file, marker) {
		t.Fatal("the row's amount is not in the file as text")
	}
	w.Must(os.WriteFile(db.Path(), bytes.ReplaceAll(file, marker, []byte(`"paid":{"minor":"100"`)), 0o600))
	again := open(t, db.Path(), store.Options{})
	defer again.Close(t.Context())
	var damage *store.DamageError
	if _, err := again.Credit(t.Context(), 2); !errors.As(err, &damage) || damage.Bucket != "credits" {
		t.Errorf("the read gave %v", err)
	}
	if _, err := again.Dossier(t.Context(), 2); !errors.As(err, &damage) {
		t.Errorf("the dossier gave %v", err)
	}
	if _, err := again.Advance(t.Context(), 2, func(credit.Dossier) (credit.Decision, error) {
		t.Error("a decision was asked about a damaged row")
		return credit.Decision{}, nil
	}); !errors.As(err, &damage) {
		t.Errorf("advance gave %v", err)
	}
	r, err := again.Verify(t.Context(), nil)
	w.Must(err)
	if !strings.Contains(strings.Join(r.Findings, "\n"), `bucket "credits", key 2: the checksum does not match`) {
		t.Errorf("verify found %v", r.Findings)
	}
}

// An index entry that leads to another row than it says is an error of the read that meets it, not an answer.
func TestWrongIndexEntry_IsFoundByTheRead(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	fill(w)
	w.Must(db.Raw(func(tx *bolt.Tx) error {
		deal, _ := tx.Bucket([]byte("credit by deal")).Cursor().First()
		return errors.Join(
			tx.Bucket([]byte("credit by state")).Put(append([]byte("\x06failed"), id(2)...), []byte{1}),
			tx.Bucket([]byte("credit by deal")).Put(bytes.Clone(deal), id(2)),
		)
	}))
	var damage *store.DamageError
	if rows, err := db.Rows(t.Context(), credit.RowQuery{State: credit.Failed}); !errors.As(err, &damage) || damage.Bucket != "credit by state" {
		t.Errorf("failed rows: %v, %v", rows, err)
	}
	ticket := w.Row(1).Ticket
	if held, err := db.Holders(t.Context(), storetest.Identity, []uint64{ticket}); !errors.As(err, &damage) || damage.Bucket != "credit by deal" {
		t.Errorf("holders: %v, %v", held, err)
	}
	w.Must(db.Close(t.Context()))
}

// Whatever bytes of the file are lost, opening, reading and verifying end in an error or a finding, never in a
// crash, and never in a clean report about other data than was written.
func TestRandomDamage_NeverCrashesAndNeverPasses(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	w, db := world(t, nil)
	fill(w)
	before := everything(t, db)
	w.End()
	file, err := os.ReadFile(db.Path())
	w.Must(err)
	for range 40 {
		spoilt := bytes.Clone(file)
		at := random.IntN(len(spoilt) - 16)
		for i := range 1 + random.IntN(16) {
			spoilt[at+i] = byte(random.Uint32())
		}
		w.Must(os.WriteFile(db.Path(), spoilt, 0o600))
		again, err := store.Open(db.Path(), store.Options{})
		if err != nil {
			if strings.Contains(err.Error(), "another program") {
				t.Fatalf("seed %d: a failed open keeps the file's lock: %v", seed, err)
			}
			continue
		}
		r, err := again.Verify(t.Context(), nil)
		if err == nil && r.Clean() && everything(t, again) != before {
			t.Errorf("seed %d: damage at %d passes as clean", seed, at)
		}
		if err := again.Close(t.Context()); err != nil {
			t.Logf("close after damage at %d: %v", at, err)
		}
	}
}

// Progress grows to its total, and an ended context ends the walk.
func TestVerify_ReportsProgress(t *testing.T) {
	t.Parallel()
	w, db := world(t, nil)
	fill(w)
	last, total := 0, 0
	r, err := db.Verify(t.Context(), func(done, all int) {
		if done < last || done > all {
			t.Errorf("progress went from %d to %d of %d", last, done, all)
		}
		last, total = done, all
	})
	w.Must(err)
	if last == 0 || r.Checked != last || last > total || total-last > 50 {
		t.Errorf("progress ended at %d of %d, checked %d", last, total, r.Checked)
	}
	w.End()
}

// The suite's world is what the other tests here rest on: it must be able to fail.
func TestBrokenAndFailNth_FailAsAsked(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	if _, err := (storetest.Broken{Err: mine}).Accept(t.Context(), credit.Event{}, credit.IntakeRules{}); !errors.Is(err, mine) {
		t.Errorf("the broken engine gave %v", err)
	}
	for _, c := range []struct {
		when   storetest.When
		events int
	}{{storetest.BeforeApplying, 1}, {storetest.AfterApplying, 2}} {
		w, db := world(t, nil)
		w.B = storetest.FailNth(db, 2, mine, c.when)
		w.Accept(w.Event(storetest.Paid("pay-1", "", "", 500)))
		_, err := w.B.Accept(t.Context(), w.Event(storetest.Paid("pay-2", "", "", 500)), credit.IntakeRules{Now: w.Clock.Now()})
		if !errors.Is(err, mine) {
			t.Errorf("the second call gave %v", err)
		}
		n, err := w.B.Counts(t.Context())
		w.Must(err)
		if n.Events != c.events {
			t.Errorf("%d events after a call that fails %v, want %d", n.Events, c.when, c.events)
		}
		w.End()
	}
}
