package app_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/store"
)

var reconAt = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// reconciled fills a store with what reconciliation leaves: two statements of which the second repeats and completes the first, a run of so many
// items, an open difference and one that is explained.
func reconciled(t *testing.T, db *store.DB, items int, spoil func(*recon.Run)) {
	t.Helper()
	psp := recon.Provider{Label: "stripe", Kind: "stripe", Account: "acct_rig"}
	line := func(digest string, row int, payment, batch string) recon.Line {
		gross, err := credit.Minor(500, "USD", 2)
		if err != nil {
			t.Fatal(err)
		}
		return recon.Line{Provider: psp, Digest: digest, Row: row, Type: recon.LinePayment, Word: "charge", Payment: payment, Movement: "txn_" + payment, Batch: batch, Gross: gross, Net: gross, At: reconAt}
	}
	for _, file := range []struct {
		digest string
		lines  []recon.Line
	}{
		{"d1", []recon.Line{line("d1", 2, "pi_1", ""), line("d1", 3, "pi_2", ""), line("d1", 4, "pi_3", "")}},
		{"d2", []recon.Line{line("d2", 2, "pi_1", ""), line("d2", 3, "pi_2", "po_1"), line("d2", 4, "pi_4", "")}},
	} {
		id, _, _, err := db.BeginImport(t.Context(), psp, file.digest)
		err = errors.Join(err, db.AddLines(t.Context(), id, file.lines))
		if err != nil {
			t.Fatal(err)
		}
		st := recon.Statement{Digest: file.digest, Name: file.digest + ".csv", Provider: psp, Format: "stripe", Rows: len(file.lines), Until: reconAt}
		if _, err := db.FinishImport(t.Context(), id, st, "ada", reconAt); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 { // the first run's difference is explained by the second
		id, err := db.BeginRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := recon.Run{
			ID: id, First: "2026-11-29", Last: "2026-11-29", Zone: "UTC", State: recon.RunComplete, From: reconAt.Add(-24 * time.Hour), Until: reconAt.Add(time.Hour), Started: reconAt, Finished: reconAt, By: "ada", Findings: items,
			Sources: []recon.Source{{List: recon.ListSettlements, Name: "stripe", Entity: "stripe", Complete: true}, {List: recon.ListRows, Name: "store", Complete: true}, {List: recon.ListDeals, Name: "main", Complete: true}},
			Outcome: recon.Outcome{Classes: map[recon.Class]int{recon.SettledWithoutCredit: 1, recon.Waiting: items - 1}},
		}
		for from := 0; from < items; from += 250 {
			var piece []recon.Item
			for i := from; i < min(from+250, items); i++ {
				k := recon.Key{Class: recon.Waiting, Entity: fmt.Sprintf("credit/%d", i)}
				if i == 0 {
					k = recon.Key{Class: recon.SettledWithoutCredit, Entity: fmt.Sprintf("payment/stripe/acct_rig/pi_lost_%d", n)}
				}
				piece = append(piece, recon.Item{Key: k, Side: recon.SideProvider, Provider: "stripe", At: reconAt, Why: "w"})
			}
			_, carried := db.Carry(t.Context(), run, piece)
			if err := errors.Join(carried, db.SaveFindings(t.Context(), id, piece)); err != nil {
				t.Fatal(err)
			}
		}
		if spoil != nil && n == 1 {
			spoil(&run)
		}
		_, gone := db.CarryGone(t.Context(), run, nil)
		if err := errors.Join(gone, db.FinishRun(t.Context(), run)); err != nil {
			t.Fatal(err)
		}
	}
}

// rewrite changes a record of a halted rig's store by the back door, with a checksum that is right.
func (r *rig) rewrite(bucket string, id uint64, from, to string) {
	r.t.Helper()
	db, err := bolt.Open(filepath.Join(r.load().DataDir, "creditonce.db"), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	key := binary.BigEndian.AppendUint64(nil, id)
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		old := b.Get(key)
		body := bytes.Replace(bytes.Clone(old[:len(old)-4]), []byte(from), []byte(to), 1)
		if bytes.Equal(body, old[:len(old)-4]) {
			return fmt.Errorf("%q is not in %s", from, body)
		}
		head := binary.AppendUvarint(nil, uint64(len(bucket)))
		head = append(head, bucket...)
		head = binary.AppendUvarint(head, uint64(len(key)))
		head = append(head, key...)
		table := crc32.MakeTable(crc32.Castagnoli)
		return b.Put(key, binary.BigEndian.AppendUint32(body, crc32.Update(crc32.Checksum(head, table), table, body)))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// opened plants a task about a difference that nobody found.
func opened(t *testing.T, db *store.DB, entity string) {
	t.Helper()
	_, err := db.ChangeStore(t.Context(), func(s credit.Settings) (credit.StoreChange, error) {
		return credit.StoreChange{Settings: s, Open: []credit.Task{{Kind: credit.TaskSettledWithoutCredit, Entity: entity, OpenedAt: reconAt}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each sentence about the reconciliation, broken in a real store, holds the running service; a store in which all of them are true does not,
// however often the rounds go.
func TestSentinel_JudgesWhatReconciliationStored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*recon.Run)
		plant func(t *testing.T, r *rig)
		says  string // none: all is well
	}{
		"all is well": {nil, func(*testing.T, *rig) {}, ""},
		"I-R1, a second task for a difference that was explained": {nil, func(t *testing.T, r *rig) {
			r.inStore(func(db *store.DB) { opened(t, db, "payment/stripe/acct_rig/pi_lost_0") })
		}, "I-R1: tasks 1 and 3 are both about settled_without_credit of payment/stripe/acct_rig/pi_lost_0"},
		"I-R2, a task about a difference that nobody found": {nil, func(t *testing.T, r *rig) {
			r.inStore(func(db *store.DB) { opened(t, db, "payment/stripe/acct_rig/pi_9") })
		}, "I-R2: task 3 (settled_without_credit, payment/stripe/acct_rig/pi_9) is open, and no difference has it"},
		"I-R3, a run that counts one item more than there is": {
			func(run *recon.Run) { run.Outcome.Classes[recon.Waiting]++ },
			func(*testing.T, *rig) {}, "I-R3: run 2 counts 9000 items as waiting, 8999 are stored",
		},
		"I-R4, a statement that counts a line less than it has": {nil, func(_ *testing.T, r *rig) {
			r.rewrite("statements", 1, `"stored":3`, `"stored":2`)
		}, "I-R4: statement 1 has 3 rows"},
		"I-R4, a line that another statement has already": {nil, func(_ *testing.T, r *rig) {
			r.rewrite("settlement lines", 5, `txn_pi_4`, `txn_pi_3`)
			r.rewrite("settlement lines", 5, `"pi_4"`, `"pi_3"`)
		}, "I-R4: statement 2 counts a line that earlier statements have too, and repeats fewer of theirs: settlement line 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.start()
			r.halt()
			r.inStore(func(db *store.DB) { reconciled(t, db, 9000, test.spoil) })
			test.plant(t, r)
			r.start()
			for range 8 { // each list is gone round, and a run of 9,000 items read to its end
				if err := r.service.JudgeNow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			r.halt()
			r.inStore(func(db *store.DB) {
				s, err := db.Settings(t.Context())
				if err != nil || (s.Mode == credit.ModeHold) != (test.says != "") || !strings.Contains(s.ModeReason, test.says) {
					t.Errorf("the mode is %s, %q, %v", s.Mode, s.ModeReason, err)
				}
			})
		})
	}
}
