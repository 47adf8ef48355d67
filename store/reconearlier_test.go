package store_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// books are runs over a real store, one business day after the other.
type books struct {
	*testing.T
	db  *store.DB
	r   *recon.Runner
	now time.Time
}

func newBooks(t *testing.T) *books {
	t.Helper()
	b := &books{T: t, now: time.Date(2026, 5, 5, 4, 0, 0, 0, time.UTC)}
	b.db = open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = b.db.Close(context.Background()) })
	clock := func() time.Time { return b.now }
	b.r = &recon.Runner{
		Book: b.db, Statements: b.db, Importer: &recon.Importer{Book: b.db, Now: clock},
		Providers: []recon.ProviderList{{Provider: storetest.Bank, Delay: time.Hour, Every: 1000 * time.Hour}},
		Since:     b.now.Add(-72 * time.Hour), Zone: time.UTC, Lookback: time.Hour, Dir: t.TempDir(), Now: clock,
	}
	return b
}

// settle imports a statement of payments of 5.00 each that were made at a time.
func (b *books) settle(digest string, at time.Time, payments ...string) recon.Imported {
	b.Helper()
	return b.batch(digest, at, at, payments...)
}

// batch is a statement whose last payment was made at another time than the others.
func (b *books) batch(digest string, at, last time.Time, payments ...string) recon.Imported {
	b.Helper()
	if after := last.Add(time.Hour); after.After(b.now) {
		b.now = after
	}
	id, _, _, err := b.db.BeginImport(b.Context(), storetest.Bank, digest)
	var lines []recon.Line
	for i, p := range payments {
		l := storetest.Settled(digest, i+2, p, 500)
		if l.At = at; i == len(payments)-1 {
			l.At = last
		}
		lines = append(lines, l)
	}
	if err == nil {
		err = b.db.AddLines(b.Context(), id, lines)
	}
	var im recon.Imported
	if err == nil {
		im, err = b.db.FinishImport(b.Context(), id, recon.Statement{Digest: digest, Name: digest + ".csv", Provider: storetest.Bank, Rows: len(lines)}, "anna", b.now)
	}
	if err != nil {
		b.Fatal(err)
	}
	return im
}

// day compares a day at four in the morning of the next one.
func (b *books) day(d recon.Day) recon.Run {
	b.Helper()
	_, until := d.Bounds(time.UTC)
	b.now = until.Add(4 * time.Hour)
	run, err := b.r.Run(b.Context(), d, d, recon.BySchedule, nil)
	if err != nil || run.State != recon.RunComplete {
		b.Fatalf("%v, %v", err, run.Reasons())
	}
	return run
}

func (b *books) sign(id recon.RunID) {
	b.Helper()
	if err := recorded(b.Context(), b.db, "anna", "", b.now, func(c *desk.Changes) {
		c.Signs = uint64(id)
	}); err != nil {
		b.Fatal(err)
	}
}

// changed are the open tasks about signed reports that do not hold.
func (b *books) changed() []credit.Task {
	b.Helper()
	all, err := b.db.Tasks(b.Context(), store.TaskQuery{OpenOnly: true, Limit: 100})
	if err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(all, func(t credit.Task) bool { return t.Kind != credit.TaskReconChanged })
}

func TestASignedReport_IsHeldAgainstWhatTheListsSayLater(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	b := newBooks(t)
	b.settle("d1", morning, "p1", "p2")
	first := b.day("2026-05-04")
	b.sign(first.ID)
	if len(first.Earlier) != 0 {
		t.Errorf("the first run has %+v beside it", first.Earlier)
	}

	b.settle("d2", morning.Add(26*time.Hour), "p3") // the next statement: nothing of before changes
	second := b.day("2026-05-05")
	if len(second.Earlier) != 1 || second.Earlier[0].Run != first.ID || second.Earlier[0].SignedBy != "anna" || len(second.Earlier[0].Changes) != 0 || len(second.Earlier[0].Carried) != 0 {
		t.Fatalf("%+v", second.Earlier)
	}

	late := b.settle("late", morning.Add(-time.Minute), "p4") // of the signed day, and it should have been there
	third := b.day("2026-05-06")
	if len(third.Earlier) != 2 || third.Earlier[0].Run != second.ID || third.Earlier[1].Run != first.ID {
		t.Fatalf("%+v", third.Earlier)
	}
	for i, then := range []string{"15.00 USD", "10.00 USD"} {
		c := third.Earlier[i].Changes
		if len(c) != 1 || c[0].List != recon.ListSettlements || c[0].Then.String() != then || c[0].Expected ||
			len(c[0].Because) != 1+i || !strings.Contains(c[0].Because[0], "late.csv (statement 3) came late") {
			t.Errorf("beside run %d: %+v", third.Earlier[i].Run, c)
		}
	}
	if c := third.Earlier[0].Carried; len(c) != 1 || c[0].Closing.String() != "15.00 USD" || c[0].Changed.String() != "5.00 USD" || !c[0].Came.IsZero() || !c[0].Moved.IsZero() || c[0].Opening.String() != "20.00 USD" {
		t.Errorf("%+v", c)
	}
	tasks := b.changed()
	if len(tasks) != 1 || !strings.Contains(tasks[0].Summary, "the report of the day 2026-05-04 (run 1), which anna has signed") || len(tasks[0].Records) != 1 {
		t.Fatalf("%+v", tasks)
	}
	b.again(late, first, tasks[0])
}

// again goes on from a signed report of which a task tells that a late statement has changed it.
func (b *books) again(late recon.Imported, first recon.Run, task credit.Task) {
	b.Helper()
	if err := b.db.RunTask(b.Context(), credit.Task{}, &credit.TaskClose{Key: task.Key(), By: "bo", Reason: "booked by hand", At: b.now}); err != nil {
		b.Fatal(err)
	}
	if b.day("2026-05-07"); len(b.changed()) != 0 {
		b.Errorf("closed by a person, and told again: %+v", b.changed())
	}
	if err := recorded(b.Context(), b.db, "anna", "of another account", b.now, func(c *desk.Changes) { c.TakesOut = uint64(late.ID) }); err != nil {
		b.Fatal(err)
	}
	healed := b.day("2026-05-08")
	for _, e := range healed.Earlier {
		if e.Run == first.ID && len(e.Changes) != 0 {
			b.Errorf("as it was signed, and %+v", e.Changes)
		}
		if c := e.Changes; e.Run != first.ID && (len(c) != 1 || len(c[0].Because) != 1 || !strings.Contains(c[0].Because[0], "late.csv (statement 3) was withdrawn by anna")) {
			b.Errorf("what the day before counted was withdrawn: %+v", c)
		}
	}
	b.settle("later", time.Date(2026, 5, 4, 7, 0, 0, 0, time.UTC), "p5")
	if b.day("2026-05-09"); len(b.changed()) != 1 {
		b.Errorf("another change: %+v", b.changed())
	}
	anew := b.day("2026-05-04")
	b.sign(anew.ID)
	if b.day("2026-05-10"); len(b.changed()) != 0 {
		b.Errorf("signed anew, and open: %+v", b.changed())
	}
}

// The next batch may hold payments of days that the last one reached: then the report of then announced what came.
func TestTheNextStatement_MayHoldRowsOfBefore(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	for name, late := range map[string]bool{"the next batch alone": false, "one that came late beside it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBooks(t)
			b.settle("d1", morning, "p1")
			b.sign(b.day("2026-05-04").ID)
			if late {
				b.settle("d2", morning.Add(-time.Hour), "p2")
			}
			b.batch("d3", morning.Add(-2*time.Hour), morning.Add(24*time.Hour), "p3", "p4")
			c := b.day("2026-05-05").Earlier[0].Changes
			if len(c) != 1 || c[0].Expected == late || !strings.Contains(strings.Join(c[0].Because, ", "), "d3.csv") || (len(b.changed()) == 1) != late {
				t.Errorf("%+v, tasks %+v", c, b.changed())
			}
		})
	}
}
