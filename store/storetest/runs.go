package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// run begins a run over the days, with whole lists.
func (w *World) run(first, last recon.Day) recon.Run {
	w.T.Helper()
	id, err := w.B.BeginRun(w.T.Context())
	w.Must(err)
	from, _ := first.Bounds(time.UTC)
	_, until := last.Bounds(time.UTC)
	return recon.Run{
		From: from, Until: until,
		ID: id, First: first, Last: last, Zone: "UTC", State: recon.RunComplete, Started: w.Clock.Now(), Finished: w.Clock.Now(), By: "schedule",
		Sources: []recon.Source{
			{List: recon.ListSettlements, Name: Provider, Entity: Provider, Complete: true}, {List: recon.ListRows, Name: "store", Complete: true},
			{List: recon.ListDeals, Name: Server, Entity: Identity, Complete: true},
		},
	}
}

// end saves the items and finishes the run.
func (w *World) end(r recon.Run, items ...recon.Item) recon.Run {
	w.T.Helper()
	r.Findings, r.Outcome.Classes = len(items), map[recon.Class]int{}
	for i, item := range items {
		r.Outcome.Classes[item.Key.Class]++
		w.Must(w.B.SaveFindings(w.T.Context(), r.ID, items[i:i+1]))
	}
	w.Must(w.B.FinishRun(w.T.Context(), r))
	return r
}

// incomplete is the run with a list of deals that could not be read.
func incomplete(r recon.Run) recon.Run {
	r.State = recon.RunIncomplete
	r.Sources = append(r.Sources[:2:2], recon.Source{List: recon.ListDeals, Name: Server, Entity: Identity, Reason: "MT5 does not answer"})
	return r
}

// lost is the difference of a done row whose deal is not at MT5.
func lost(c credit.Credit, off int64) recon.Item {
	return recon.Item{
		Key: recon.Key{Class: recon.DoneWithoutDeal, Entity: credit.RowEntity(c.ID)}, Side: recon.SideMT5, Rows: []recon.Row{recon.RowOf(c)},
		Off: Money(off), At: c.UpdatedAt, Why: fmt.Sprintf("credit %d is done and MT5 has no deal", c.ID),
	}
}

// runsAppearWhole: nothing of a run is listed before it is finished, and it is finished with all of its items or not at all.
func runsAppearWhole(w *World) {
	ctx := w.T.Context()
	left := w.run("2026-05-01", "2026-05-01")
	w.Must(w.B.SaveFindings(ctx, left.ID, []recon.Item{lost(credit.Credit{ID: 9}, 1)}))
	r := w.run("2026-05-03", "2026-05-04")
	if err := w.B.SaveFindings(ctx, left.ID, []recon.Item{lost(credit.Credit{ID: 8}, 1)}); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("a run that was given up takes items: %v", err)
	}
	var items []recon.Item
	for i := range 7 {
		items = append(items, lost(credit.Credit{ID: credit.ID(i + 1)}, 1))
	}
	items[3].Deals = []recon.Deal{{Deal: credit.Deal{Ticket: 1, Comment: "caf\xe9"}}}
	w.Must(w.B.SaveFindings(ctx, r.ID, items[:4]))
	if list, err := w.B.Runs(ctx, 0, 0); err != nil || len(list) != 0 {
		w.T.Errorf("runs under way are listed: %+v, %v", list, err)
	}
	r.Findings, r.Outcome.Classes = 7, map[recon.Class]int{recon.DoneWithoutDeal: 7}
	if err := w.B.FinishRun(ctx, r); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("finished with items missing: %v", err)
	}
	w.Must(w.B.SaveFindings(ctx, r.ID, items[4:]))
	w.Must(w.B.FinishRun(ctx, r))
	if err := w.B.FinishRun(ctx, r); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("finished twice: %v", err)
	}
	var seen []string
	for after := 0; ; {
		page, next, err := w.B.Findings(ctx, r.ID, after, 3)
		w.Must(err)
		for _, i := range page {
			seen = append(seen, strings.TrimPrefix(i.Key.Entity, "credit/"))
		}
		if next == 0 {
			break
		}
		after = next
	}
	if strings.Join(seen, " ") != "1 2 3 4 5 6 7" {
		w.T.Errorf("pages of items show %v", seen)
	}
	if _, err := w.B.Run(ctx, left.ID); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("a run that was given up is there: %v", err)
	}
}

// dayHasItsNewestCompleteRun: a complete run stands for a day before any newer one that is not.
func dayHasItsNewestCompleteRun(w *World) {
	ctx := w.T.Context()
	of := func(d recon.Day, want recon.RunID) {
		w.T.Helper()
		r, err := w.B.RunOfDay(ctx, "UTC", d)
		switch {
		case want == 0 && !errors.Is(err, credit.ErrNotFound):
			w.T.Errorf("%s has run %d, %v", d, r.ID, err)
		case want != 0 && (err != nil || r.ID != want):
			w.T.Errorf("%s has run %d, %v, want %d", d, r.ID, err, want)
		}
	}
	a := w.end(incomplete(w.run("2026-05-04", "2026-05-04")))
	b := w.end(incomplete(w.run("2026-05-04", "2026-05-05")))
	of("2026-05-04", b.ID)
	of("2026-05-03", 0)
	c := w.end(w.run("2026-05-04", "2026-05-04"))
	d := w.end(incomplete(w.run("2026-05-03", "2026-05-05")))
	of("2026-05-04", c.ID)
	of("2026-05-05", d.ID)
	list, err := w.B.Runs(ctx, d.ID, 2)
	if err != nil || len(list) != 2 || list[0].ID != c.ID || list[1].ID != b.ID || a.ID == 0 {
		w.T.Errorf("runs below %d: %+v, %v", d.ID, list, err)
	}
}

// reachLeavesNoGap: only a complete run that follows moves it, and a gap that is closed moves it over what was done beyond.
func reachLeavesNoGap(w *World) {
	want := func(d recon.Day) {
		w.T.Helper()
		_, until := d.Bounds(time.UTC)
		if got, err := w.B.Reached(w.T.Context()); err != nil || got.Day != d || d != "" && (got.Zone != "UTC" || !got.Until.Equal(until)) {
			w.T.Errorf("complete runs reach %+v, %v, want %q", got, err, d)
		}
	}
	want("")
	w.end(incomplete(w.run("2026-02-26", "2026-02-26")))
	want("")
	w.end(w.run("2026-02-27", "2026-02-27"))
	want("2026-02-27")
	w.end(w.run("2026-03-01", "2026-03-02"))
	want("2026-02-27")
	w.end(incomplete(w.run("2026-02-28", "2026-02-28")))
	want("2026-02-27")
	w.end(w.run("2026-02-28", "2026-02-28"))
	want("2026-03-02")
	w.end(w.run("2026-01-01", "2026-02-01"))
	want("2026-03-02")
	w.end(w.run("2026-03-02", "2026-03-05"))
	want("2026-03-05")
}

// daysHaveTheirZone: a date of another zone is another day, and what complete runs have reached is a moment.
func daysHaveTheirZone(w *World) {
	ctx := w.T.Context()
	in := func(zone string, first, last recon.Day) recon.Run {
		loc, err := time.LoadLocation(zone)
		w.Must(err)
		r := w.run(first, last)
		r.Zone = zone
		r.From, _ = first.Bounds(loc)
		_, r.Until = last.Bounds(loc)
		return r
	}
	const east, west = "Pacific/Kiritimati", "Pacific/Pago_Pago"
	utc := w.end(w.run("2026-11-29", "2026-11-30"))
	kiritimati := w.end(in(east, "2026-11-30", "2026-11-30"))
	for zone, want := range map[string]recon.RunID{"UTC": utc.ID, east: kiritimati.ID, west: 0} {
		r, err := w.B.RunOfDay(ctx, zone, "2026-11-30")
		if r.ID != want || (want == 0) != errors.Is(err, credit.ErrNotFound) {
			w.T.Errorf("2026-11-30 of %s has run %d, %v, want %d", zone, r.ID, err, want)
		}
	}
	reaches := func(want recon.Run) {
		w.T.Helper()
		if got, err := w.B.Reached(ctx); err != nil || got.Day != want.Last || got.Zone != want.Zone || !got.Until.Equal(want.Until) {
			w.T.Errorf("complete runs reach %+v, %v, want %s of %s", got, err, want.Last, want.Zone)
		}
	}
	reaches(utc) // Kiritimati's day ended ten hours after UTC's had begun
	reaches(w.end(in(west, "2026-11-30", "2026-11-30")))
	w.end(in(west, "2026-12-02", "2026-12-02"))
	reaches(w.end(in(east, "2026-12-01", "2026-12-02"))) // from before the end of the first to the beginning of the other: the gap stays
}

// sign signs a run's report off, with the line in the audit log that belongs to it.
func (w *World) sign(id recon.RunID, by desk.PersonID, note string) error {
	q := desk.Query{Act: desk.Act{Kind: desk.ReconSign, Subject: "recon"}, Now: w.Clock.Now()}
	_, err := w.act(q, func(_ desk.Found, c *desk.Changes) {
		c.Record.Person, c.Record.At, c.Record.Reason, c.Signs = by, q.Now, note, uint64(id)
	})
	return err
}

// completeRunsAreSignedOnce: with the person, the time and the note, and with the record of the audit log or not at all.
func completeRunsAreSignedOnce(w *World) {
	ctx := w.T.Context()
	bad, good := w.end(incomplete(w.run("2026-05-04", "2026-05-04"))), w.end(w.run("2026-05-04", "2026-05-04"))
	at := w.Clock.Now().Truncate(time.Microsecond)
	for _, test := range []struct {
		run  recon.RunID
		by   desk.PersonID
		want error
	}{{bad.ID, "anna", credit.ErrRefused}, {99, "anna", credit.ErrNotFound}, {good.ID, "", credit.ErrInvalid}, {good.ID, "anna", nil}, {good.ID, "ben", credit.ErrRefused}} {
		if err := w.sign(test.run, test.by, "read"); (test.want == nil) != (err == nil) || (err != nil && !errors.Is(err, test.want)) {
			w.T.Errorf("run %d signed by %q: %v, want %v", test.run, test.by, err, test.want)
		}
	}
	log, err := w.B.NewestRecords(ctx, 0, 9)
	if err != nil || len(log) != 1 || log[0].Person != "anna" || log[0].Reason != "read" || log[0].Act.Kind != desk.ReconSign {
		w.T.Errorf("the audit log has %+v, %v", log, err)
	}
	if r, err := w.B.Run(ctx, good.ID); err != nil || r.SignOff == nil || r.SignOff.By != "anna" || r.SignOff.Note != "read" || !r.SignOff.At.Equal(at) {
		w.T.Errorf("stored %+v, %v", r.SignOff, err)
	}
	if r, err := w.B.Run(ctx, bad.ID); err != nil || r.SignOff != nil {
		w.T.Errorf("the incomplete one %+v, %v", r.SignOff, err)
	}
}

// purgedRunsKeepTheirHead: items of runs that newer complete ones replace can go; those of a signed or newest one stay.
func purgedRunsKeepTheirHead(w *World) {
	ctx := w.T.Context()
	var items []recon.Item
	for i := range 3 {
		items = append(items, lost(credit.Credit{ID: credit.ID(i + 1)}, 1))
	}
	signed := w.end(w.run("2026-05-04", "2026-05-04"), items...)
	w.Must(w.sign(signed.ID, "anna", ""))
	old := w.end(w.run("2026-05-04", "2026-05-04"), items...)
	wide := w.end(w.run("2026-05-04", "2026-05-05"), items...)
	newest := w.end(w.run("2026-05-04", "2026-05-04"), items...)
	if n, err := w.B.PurgeRuns(ctx, old.ID); err != nil || n != 0 {
		w.T.Errorf("purged %d items below the run, %v", n, err)
	}
	total := 0
	for n := 1; n > 0; total += n {
		var err error
		n, err = w.B.PurgeRuns(ctx, newest.ID+1)
		w.Must(err)
	}
	if total != 3 {
		w.T.Errorf("purged %d items", total)
	}
	if r, err := w.B.Run(ctx, old.ID); err != nil || !r.Purged || r.Findings != 3 {
		w.T.Errorf("the purged run is %+v, %v", r, err)
	}
	if _, _, err := w.B.Findings(ctx, old.ID, 0, 0); !errors.Is(err, credit.ErrRefused) {
		w.T.Errorf("items of the purged run: %v", err)
	}
	for _, r := range []recon.Run{signed, wide, newest} { // wide is the newest of its second day
		if page, _, err := w.B.Findings(ctx, r.ID, 0, 0); err != nil || len(page) != 3 {
			w.T.Errorf("items of run %d: %d, %v", r.ID, len(page), err)
		}
	}
}

// differenceHasOneTaskForLife: it opens, shows what changes, closes with the evidence, and opens again when it comes back.
func differenceHasOneTaskForLife(w *World) {
	ctx := w.T.Context()
	w.Must(w.B.SetChannels(ctx, []string{"mail"}))
	row := w.Pay(1001, 500)
	w.Work(1)
	row = w.InState(row.ID, credit.Done)
	carry := func(want recon.Carriage, items ...recon.Item) recon.Run {
		w.T.Helper()
		r := w.run("2026-05-04", "2026-05-04")
		for range 2 { // the second time changes nothing more
			got, err := w.B.Carry(ctx, r, items)
			w.Must(err)
			gone, err := w.B.CarryGone(ctx, r, nil)
			w.Must(err)
			got.Closed += gone.Closed
			if got != want {
				w.T.Errorf("run %d carried %+v, want %+v", r.ID, got, want)
			}
			want = recon.Carriage{Refreshed: want.Refreshed + want.Opened + want.Reopened, Accepted: want.Accepted}
		}
		return w.end(r, items...)
	}
	task := func() credit.Task {
		w.T.Helper()
		t, ok, err := w.B.DiscrepancyTask(ctx, lost(row, 0).Key)
		w.Must(err)
		if !ok || t.ID != 1 {
			w.T.Fatalf("task %+v, %v", t, ok)
		}
		return t
	}
	carry(recon.Carriage{Opened: 1}, lost(row, -500))
	if t := task(); !t.IsOpen() || t.Kind != "done_without_deal" || len(t.Records) != 1 || t.Summary == "" || t.Next == "" {
		w.T.Errorf("opened %+v", t)
	}
	carry(recon.Carriage{Refreshed: 1}, lost(row, -500))
	changed := carry(recon.Carriage{Refreshed: 1}, lost(row, -499))
	if t := task(); len(t.Notes) != 1 || t.Notes[0].By != recon.Reconciler || !strings.Contains(t.Notes[0].Text, "-4.99 USD") {
		w.T.Errorf("after other amounts in run %d: notes %+v", changed.ID, t.Notes)
	}
	blind := incomplete(w.run("2026-05-04", "2026-05-04"))
	if got, err := w.B.CarryGone(ctx, blind, nil); err != nil || got != (recon.Carriage{}) || !task().IsOpen() {
		w.T.Errorf("an incomplete run explained it: %+v, %v", got, err)
	}
	kept := w.run("2026-05-04", "2026-05-04")
	for n, want := range []int{1, 0} { // the second time changes nothing more
		got, err := w.B.CarryGone(ctx, kept, map[recon.Key]string{lost(row, 0).Key: "the deal is still at MT5"})
		if t := task(); err != nil || got != (recon.Carriage{Refreshed: want}) || !t.IsOpen() || len(t.Notes) != 2 || t.Notes[1].Text != "the deal is still at MT5" {
			w.T.Errorf("spared, time %d: %+v, %v; task %+v", n+1, got, err, t)
		}
	}
	w.end(kept)
	closer := carry(recon.Carriage{Closed: 1})
	if t := task(); t.IsOpen() || t.ClosedBy != recon.Reconciler || !strings.Contains(t.Reason, fmt.Sprintf("run %d", closer.ID)) || !strings.Contains(t.Reason, "credit 1 is done over 5.00 USD with deal") {
		w.T.Errorf("closed %+v", t)
	}
	carry(recon.Carriage{})
	carry(recon.Carriage{Reopened: 1}, lost(row, -500))
	if t := task(); !t.IsOpen() || t.Reason != "" || !strings.Contains(t.Notes[len(t.Notes)-1].Text, "it came back") {
		w.T.Errorf("reopened %+v", t)
	}
	if counts, err := w.B.OpenTasks(ctx); err != nil || len(counts) != 1 || counts[0].Open != 1 {
		w.T.Errorf("open tasks %+v, %v", counts, err)
	}
	out, err := w.B.Outgoing(ctx, "mail", 100)
	w.Must(err)
	var told []string
	for _, n := range out.Notices {
		told = append(told, string(n.Notice.Kind))
	}
	if strings.Join(told, " ") != "task_opened task_closed task_opened" {
		w.T.Errorf("people were told %v", told)
	}
}

// acceptedDifferenceStaysAccepted: a person's word holds as long as the same is shown.
func acceptedDifferenceStaysAccepted(w *World) {
	ctx := w.T.Context()
	item := recon.Item{
		Key: recon.Key{Class: recon.DealWithoutReference, Entity: "deal/" + Identity + "/77"}, Side: recon.SideMT5, Why: "a deal by hand", Off: Money(100),
		Deals: []recon.Deal{{Deal: credit.Deal{Ticket: 77, Login: 1001, Action: 2, Amount: Money(100), Comment: "gift"}, Server: Server, Identity: Identity}},
	}
	carry := func(want recon.Carriage, items ...recon.Item) {
		w.T.Helper()
		r := w.run("2026-05-04", "2026-05-04")
		got, err := w.B.Carry(ctx, r, items)
		w.Must(err)
		_, err = w.B.CarryGone(ctx, r, nil)
		w.Must(err)
		if got != want {
			w.T.Errorf("run %d carried %+v, want %+v", r.ID, got, want)
		}
		w.end(r, items...)
	}
	accept := func() {
		w.T.Helper()
		_, err := w.act(desk.Query{Act: desk.Act{Kind: desk.CloseTask, Subject: "task/1"}}, func(f desk.Found, c *desk.Changes) {
			closing, err := credit.CloseTask(*f.Task, nil, credit.People{Actor: "oscar", Reason: "a gift of the sales desk", At: w.Clock.Now()})
			w.Must(err)
			c.Credit.Close = []credit.TaskClose{closing}
		})
		w.Must(err)
		list, err := w.B.Discrepancies(ctx, recon.Key{}, 0)
		if err != nil || len(list) != 1 || list[0].State != recon.DiscrepancyAccepted {
			w.T.Errorf("after the close: %+v, %v", list, err)
		}
	}
	carry(recon.Carriage{Opened: 1}, item)
	accept()
	item.Why = "a deal by hand, 2 days old" // texts and ages are no news
	carry(recon.Carriage{Accepted: 1}, item)
	more := item
	more.Off, more.Deals = Money(150), []recon.Deal{item.Deals[0]}
	more.Deals[0].Amount = Money(150)
	carry(recon.Carriage{Reopened: 1}, more)
	t, _, err := w.B.DiscrepancyTask(ctx, item.Key)
	w.Must(err)
	if note := t.Notes[len(t.Notes)-1].Text; t.ID != 1 || !t.IsOpen() || !strings.Contains(note, "oscar (a gift of the sales desk)") || !strings.Contains(note, "1.50 USD") {
		w.T.Errorf("reopened %+v", t)
	}
	accept()
	carry(recon.Carriage{Accepted: 1}, more)
	carry(recon.Carriage{}) // gone: should it come back, the old word does not count
	carry(recon.Carriage{Reopened: 1}, more)
}

// tasksAboutRunsOpenOnce: of each kind one, closed when it is over.
func tasksAboutRunsOpenOnce(w *World) {
	ctx := w.T.Context()
	t := credit.Task{Kind: credit.TaskReconIncomplete, Entity: "reconciliation", Summary: "incomplete", OpenedAt: w.Clock.Now()}
	w.Must(w.B.RunTask(ctx, t, nil))
	w.Must(w.B.RunTask(ctx, t, nil))
	if open := w.OpenTasks(); len(open) != 1 {
		w.T.Errorf("open tasks %+v", open)
	}
	closing := credit.TaskClose{Key: t.Key(), By: recon.Reconciler, Reason: "complete", At: w.Clock.Now()}
	w.Must(w.B.RunTask(ctx, t, &closing))
	w.Must(w.B.RunTask(ctx, t, &closing))
	if open := w.OpenTasks(); len(open) != 0 {
		w.T.Errorf("open tasks %+v", open)
	}
}
