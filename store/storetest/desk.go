package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// act writes changes with an audit record that continues the log.
func (w *World) act(q desk.Query, change func(f desk.Found, c *desk.Changes)) (desk.Receipt, error) {
	return w.B.Act(w.T.Context(), q, func(f desk.Found) (desk.Changes, error) {
		c := desk.Changes{Record: desk.Record{Seq: f.NextRecord, Deed: desk.Did, Act: q.Act, Previous: f.Previous}}
		change(f, &c)
		return c, nil
	})
}

// actShowsTheSurroundings: a decision sees the act's row, task and event, the people and keys, and nothing else.
func actShowsTheSurroundings(w *World) {
	row := w.Pay(1001, 500)
	refund := w.Accept(w.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: row.Unit.Payment, Movement: "re"}))
	p := desk.Person{ID: "ada", Name: "Ada", Roles: []desk.Role{desk.Admin}}
	_, err := w.act(desk.Query{}, func(_ desk.Found, c *desk.Changes) { c.People = []desk.Person{p} })
	w.Must(err)
	see := func(subject string, check func(f desk.Found)) {
		w.T.Helper()
		_, err := w.act(desk.Query{Act: desk.Act{Kind: desk.Resolve, Subject: subject}, Now: w.Clock.Now()}, func(f desk.Found, _ *desk.Changes) { check(f) })
		w.Must(err)
	}
	see(credit.RowEntity(row.ID), func(f desk.Found) {
		if f.Dossier == nil || f.Dossier.Row.ID != row.ID || !f.Dossier.Reversed || f.Task != nil || f.Event != nil || len(f.People) != 1 || f.Settings.StoreID != "store-1" {
			w.T.Errorf("found %+v", f)
		}
	})
	see(fmt.Sprintf("task/%d", refund.Opened[0].ID), func(f desk.Found) {
		if f.Task == nil || f.Task.Kind != credit.TaskRefund || f.Dossier != nil {
			w.T.Errorf("found %+v", f)
		}
	})
	see("event/1", func(f desk.Found) {
		if f.Event == nil || f.Event.ID != 1 || len(f.Intake.Rows) != 1 || f.Intake.Prior != nil || f.Intake.NextRow != row.ID+1 || f.Intake.Deposit == nil {
			w.T.Errorf("found %+v", f.Intake)
		}
	})
	for _, subject := range []string{"credit/999", "task/999", "event/999"} {
		_, err := w.act(desk.Query{Act: desk.Act{Subject: subject}}, func(desk.Found, *desk.Changes) {})
		if !errors.Is(err, credit.ErrNotFound) {
			w.T.Errorf("%s: %v", subject, err)
		}
	}
}

// actErrorWritesNothing: neither when the decision refuses, nor when a part of what it wants breaks a rule.
func actErrorWritesNothing(w *World) {
	mine := errors.New("refused")
	_, err := w.B.Act(w.T.Context(), desk.Query{}, func(desk.Found) (desk.Changes, error) { return desk.Changes{}, mine })
	if !errors.Is(err, mine) {
		w.T.Errorf("error %v", err)
	}
	key := func(name, hash string) func(f desk.Found, c *desk.Changes) {
		return func(f desk.Found, c *desk.Changes) {
			c.People = []desk.Person{{ID: desk.PersonID(name), Name: name}}
			c.Keys = []desk.Key{{Number: f.NextKey, Name: name, SHA256: hash}}
		}
	}
	_, err = w.act(desk.Query{}, key("a", "1"))
	w.Must(err)
	for name, k := range map[string]func(desk.Found, *desk.Changes){"the same hash": key("b", "1"), "the same name": key("a", "2")} {
		if _, err = w.act(desk.Query{}, k); !errors.Is(err, credit.ErrDuplicate) {
			w.T.Errorf("%s: %v", name, err)
		}
	}
	gap := func(f desk.Found) (desk.Changes, error) {
		return desk.Changes{Settings: &credit.Settings{StoreID: "other"}, Record: desk.Record{Seq: f.NextRecord + 1}}, nil
	}
	if _, err = w.B.Act(w.T.Context(), desk.Query{}, gap); err == nil {
		w.T.Error("a gap in the audit log was written")
	}
	people, err := w.B.People(w.T.Context())
	w.Must(err)
	records, err := w.B.Records(w.T.Context(), 0, 100)
	w.Must(err)
	s, err := w.B.Settings(w.T.Context())
	if err != nil || len(people) != 1 || len(records) != 1 || s.StoreID != "store-1" {
		w.T.Errorf("people %v, %d records, settings %+v, %v", people, len(records), s, err)
	}
}

// revokedNamesAreFree: the name of a revoked key may be given again, its hash never.
func revokedNamesAreFree(w *World) {
	add := func(hash string) error {
		_, err := w.act(desk.Query{}, func(f desk.Found, c *desk.Changes) {
			c.Keys = []desk.Key{{Number: f.NextKey, Name: "shop", SHA256: hash}}
		})
		return err
	}
	w.Must(add("1"))
	_, err := w.act(desk.Query{}, func(f desk.Found, c *desk.Changes) {
		k := f.Keys[0]
		k.RevokedAt = w.Clock.Now()
		c.Keys = []desk.Key{k}
	})
	w.Must(err)
	if err := add("1"); !errors.Is(err, credit.ErrDuplicate) {
		w.T.Errorf("a revoked hash came back: %v", err)
	}
	w.Must(add("2"))
}

// proposalsEndOnce: whoever ends it first has it, and the open ones are listed.
func proposalsEndOnce(w *World) {
	for range 3 {
		_, err := w.act(desk.Query{}, func(f desk.Found, c *desk.Changes) {
			p := desk.Proposal{ID: f.NextProposal, By: "ada", State: desk.ProposalOpen, ExpiresAt: w.Clock.Now().Truncate(time.Microsecond).Add(time.Hour)}.Sealed()
			c.Proposal = &p
		})
		w.Must(err)
	}
	end := func(p desk.Proposal, by desk.PersonID) error {
		_, err := w.act(desk.Query{}, func(_ desk.Found, c *desk.Changes) {
			p.State, p.EndedBy = desk.ProposalConfirmed, by
			c.Proposal = &p
		})
		return err
	}
	p, err := w.B.Proposal(w.T.Context(), 2)
	w.Must(err)
	w.Must(end(p, "abe"))
	if err := end(p, "carl"); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("it ended twice: %v", err)
	}
	open, err := w.B.Proposals(w.T.Context(), desk.ProposalQuery{Open: true})
	w.Must(err)
	all, err := w.B.Proposals(w.T.Context(), desk.ProposalQuery{After: 1, Limit: 1})
	w.Must(err)
	totals, err := w.B.Totals(w.T.Context())
	if err != nil || len(open) != 2 || open[1].ID != 3 || len(all) != 1 || all[0].EndedBy != "abe" || totals.OpenProposals != 2 {
		w.T.Errorf("open %+v, all %+v, totals %+v, %v", open, all, totals, err)
	}
	if _, err := w.B.Proposal(w.T.Context(), 9); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("a proposal that does not exist: %v", err)
	}
}

// auditIsChainedUnderRace: many acts at once, one log without a gap.
func auditIsChainedUnderRace(w *World) {
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for range 64 {
		wg.Go(func() {
			_, err := w.act(desk.Query{}, func(desk.Found, *desk.Changes) {})
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		w.Must(err)
	}
	records, err := w.B.Records(w.T.Context(), 0, 1000)
	w.Must(err)
	previous := ""
	for i, r := range records {
		w.Must(desk.CheckRecord(r, uint64(i+1), previous))
		previous = r.Chain()
	}
	if len(records) != 64 {
		w.T.Errorf("%d records", len(records))
	}
}

// actWritesAllOfIt: rows with history, tasks, settings, notes and the record appear together.
func actWritesAllOfIt(w *World) {
	row := w.Pay(1001, 500)
	q := desk.Query{Act: desk.Act{Kind: desk.HoldCredit, Subject: credit.RowEntity(row.ID)}, Now: w.Clock.Now()}
	r, err := w.B.Act(w.T.Context(), q, func(f desk.Found) (desk.Changes, error) {
		dec, err := credit.HoldRow(*f.Dossier, credit.People{Actor: "oscar", Reason: "r", At: w.Clock.Now()})
		if err != nil {
			return desk.Changes{}, err
		}
		c, err := dec.Changes(f.Dossier.Row)
		s := f.Settings
		s.ModeReason = "held"
		return desk.Changes{Credit: c, Settings: &s, Record: desk.Record{Seq: f.NextRecord, Rows: []credit.ID{row.ID}, Previous: f.Previous}}, err
	})
	w.Must(err)
	held := w.InState(row.ID, credit.Held)
	s, err := w.B.Settings(w.T.Context())
	if err != nil || !held.HasHold(credit.HoldByHand) || len(r.Opened) != 1 || s.ModeReason != "held" {
		w.T.Errorf("row %+v, receipt %+v, settings %+v, %v", held, r, s, err)
	}
	task := r.Opened[0]
	_, err = w.act(desk.Query{Act: desk.Act{Subject: fmt.Sprintf("task/%d", task.ID)}}, func(f desk.Found, c *desk.Changes) {
		t := *f.Task
		t.Assigned, t.Notes = "mia", []credit.TaskNote{{At: w.Clock.Now(), By: "mia", Text: "seen"}}
		c.Task = &t
	})
	w.Must(err)
	got, err := w.B.Task(w.T.Context(), task.ID)
	if err != nil || got.Assigned != "mia" || len(got.Notes) != 1 || !got.IsOpen() || len(w.OpenTasks()) != 1 {
		w.T.Errorf("task %+v, %v", got, err)
	}
}

// findsByEveryID: whatever id somebody has in hand leads to the row.
func findsByEveryID(w *World) {
	_, err := w.B.Settle(w.T.Context(), func(s credit.Settings) (credit.Settings, error) {
		s.Pins = []credit.Pin{{Name: "mt5/" + Server, Value: Identity}, {Name: "provider/" + Provider, Value: "psp " + Merchant}}
		return s, nil
	})
	w.Must(err)
	row := w.Pay(1001, 500)
	w.Work(2)
	row = w.InState(row.ID, credit.Done)
	for text, by := range map[string]string{
		row.Unit.Payment: "payment", string(row.Reference): "reference", row.Deposit: "deposit code", "1001": "ticket or login",
		fmt.Sprint(row.ID): "credit",
	} {
		hits, err := w.B.Find(w.T.Context(), text)
		w.Must(err)
		found := false
		for _, h := range hits {
			found = found || h.Credit == row.ID
		}
		if !found {
			w.T.Errorf("%q (%s): %+v", text, by, hits)
		}
	}
	if hits, err := w.B.Find(w.T.Context(), "nothing of the kind"); err != nil || len(hits) != 0 {
		w.T.Errorf("%+v, %v", hits, err)
	}
}

// cancelledAct: a caller that has gone away before its act is queued changes nothing.
func cancelledAct(w *World) {
	ctx, cancel := context.WithCancel(w.T.Context())
	cancel()
	_, err := w.B.Act(ctx, desk.Query{}, func(desk.Found) (desk.Changes, error) { return desk.Changes{}, nil })
	if !errors.Is(err, context.Canceled) {
		w.T.Errorf("error %v", err)
	}
}
