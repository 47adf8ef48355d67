package credit

import (
	"context"
	"errors"
	"time"
)

// Settle implements KeeperBook.
func (b *rowBook) Settle(_ context.Context, change func(Settings) (Settings, error)) (Settings, error) {
	s, err := change(b.d.Settings)
	if err == nil {
		b.d.Settings = s
	}
	return s, err
}

// Free implements KeeperBook.
func (b *rowBook) Free(ctx context.Context, id ID, rules IntakeRules) (Result, error) {
	return b.Advance(ctx, id, func(d Dossier) (Decision, error) { return FreeRow(Freeing{Dossier: d}, rules) })
}

// stores: backups, files put back, copies.
func (x *modelNext) stores() {
	m, s := x.m, x.s
	first := &s.at[0]
	if !s.backup.taken && (m.restores > 0 || m.copied) && first.alive {
		t := *s
		t.claims = 0
		t.backup = modelBackup{taken: true, deposit: first.deposit, moved: first.moved, settings: m.settings.carriedOver(first.settings)}
		for u, n := range first.rows {
			if n != 0 {
				t.backup.rows[u] = m.once(modelKey{what: "carry", row: n}, func(k modelKey) modelStep { return modelStep{row: m.rows.carriedOver(k.row)} }).row
			}
		}
		x.add(t, byEvent, "the store is copied", 0, 0, 0)
	}
	if !s.backup.taken {
		return
	}
	if s.restores > 0 && first.alive {
		x.putBack()
	}
	if s.copies > 0 && !s.at[1].alive {
		t := *s
		t.copies--
		x.load(&t, 1)
		if !m.off.noticed {
			x.doubt(&t, 1)
		}
		x.add(t, byFault, "{i} is started", 1, 0, 0)
	}
	if m.copied && first.alive && s.at[1].alive {
		t := *s
		t.idle(0)
		t.at[0] = modelInstance{}
		x.add(t, byFault, "{i} is gone for good, or people fence it at MT5: only what it has sent goes on", 0, 0, 0)
	}
}

// putBack puts the older store back in the place of the first instance's, which starts on it.
func (x *modelNext) putBack() {
	m, s := x.m, x.s
	begin := func() modelState {
		t := *s
		t.restores--
		x.load(&t, 0)
		return t
	}
	if m.byCommand {
		t := begin()
		x.older(&t)
		x.settled(&t, 0, "restore", byFault, "the copy is restored by the command", func(s Settings, _ Guard) (Settings, error) {
			r := Restore{Kind: FromBackup, At: modelRestored, Mark: Mark{Process: modelEarlier}, Since: modelRestored}
			return BeginRestore(s, r, "new", nil).Settings, nil
		})
	}
	if m.byHand {
		t := begin()
		if !m.off.noticed {
			x.doubt(&t, 0)
		}
		x.add(t, byFault, "the copy is put back by hand, and {i} starts on it", 0, 0, 0)
	}
	if m.inPlace {
		t := begin()
		switch {
		case m.off.noticed || s.claims == 0: // the witness names the very same claim
		case s.claims == 1:
			t.at[0].waits = true
		default:
			x.doubt(&t, 0)
		}
		x.add(t, byFault, "the store's file is written over with the copy, and {i} starts on it", 0, 0, 0)
	}
}

// load starts an instance on the copy of the store.
func (x *modelNext) load(t *modelState, i int) {
	t.idle(i)
	b := &x.s.backup
	t.at[i] = modelInstance{alive: true, deposit: b.deposit, moved: b.moved, settings: b.settings, rows: b.rows}
	x.start(t, i)
}

// doubt is what a start does that finds the store not to be the one that it left.
func (x *modelNext) doubt(t *modelState, i int) {
	s := x.m.settings.kept[t.at[i].settings]
	t.at[i].settings = x.m.settings.keep(PutInDoubt(s, Doubt{At: modelNow, Reason: "another file", Since: modelRestored}).Settings)
}

// older notes that what was acknowledged so far is older than the restore that begins.
func (x *modelNext) older(t *modelState) {
	for u, n := range t.events {
		if n > 0 {
			t.old |= 1 << u
		}
	}
}

// restoring goes on with a restore or takeover: rows are moved one by one, the gap is pulled, and after the release the
// rows that waited for it are freed one by one.
func (x *modelNext) restoring(i int) {
	m := x.m
	in := &x.s.at[i]
	r := m.settings.kept[in.settings].Restore
	if r == nil {
		return
	}
	t := *x.s
	if r.MovedAt.IsZero() && !x.each(i, "move", m.move, "{i} moves payment {p} for the restore: the row is {s}") {
		x.settled(&t, i, "moved", byItself, "{i} has moved every row for the restore", func(s Settings, _ Guard) (Settings, error) {
			return RowsMoved(s, s.Restore.Number, modelNow)
		})
		t = *x.s
	}
	if !r.ReleasedAt.IsZero() && r.FreedAt.IsZero() && !x.each(i, "free", m.free, "{i} frees payment {p} after the restore: the row is {s}") {
		x.settled(&t, i, "freed", byItself, "{i} has freed every row after the restore", func(s Settings, _ Guard) (Settings, error) {
			return rowsFreed(s, s.Restore.Number, modelNow)
		})
		t = *x.s
	}
	missing := false
	for u := range m.units {
		missing = missing || (in.rows[u] == 0 && x.s.old>>u&1 == 1)
	}
	if !missing && !m.noResend {
		x.settled(&t, i, "pulled", byItself, "{i} has pulled the whole gap", func(s Settings, _ Guard) (Settings, error) {
			return GapPulled(s, GapPull{Provider: "stripe-eu", From: modelRestored.Add(-100 * time.Hour), To: modelNow, At: modelNow, By: "pull"})
		})
		t = *x.s
	}
	if m.people || m.noResend {
		x.settled(&t, i, "gap checked", byPeople, "a person says that nothing of the gap is missing at {i}", func(s Settings, _ Guard) (Settings, error) {
			return GapChecked(s, modelPeople, "stripe-eu")
		})
	}
}

// each offers a decision on every row of the instance that changes it, and tells whether there is one.
func (x *modelNext) each(i int, what string, decide func(modelKey) modelStep, text string) bool {
	any := false
	for u := range x.m.units {
		n := x.s.at[i].rows[u]
		if n == 0 {
			continue
		}
		step := x.m.once(x.key(what, i, u, x.env(i, u)), decide)
		if step.row == n {
			continue
		}
		any = true
		t := *x.s
		x.put(&t, i, u, step)
		x.add(t, byItself, text, i, u, step.row)
	}
	return any
}

// move is what a restore or takeover makes of a row.
func (m *model) move(k modelKey) modelStep {
	if m.off.restoreMoves {
		return modelStep{row: k.row}
	}
	b := m.book(k)
	d, _ := b.Dossier(context.Background(), 0)
	return m.decided(b, d.Row, MoveRow(d, keeperActor, modelNow, modelNow), nil)
}

// free is what the release after it makes of a row that waited for it.
func (m *model) free(k modelKey) modelStep {
	b := m.book(k)
	d, _ := b.Dossier(context.Background(), 0)
	f := Freeing{Dossier: d}
	if k.env.further {
		f.Further = []ID{3 - d.Row.ID}
	}
	dec, err := FreeRow(f, m.intakeRules())
	if errors.Is(err, ErrConflict) {
		return modelStep{row: k.row}
	}
	return m.decided(b, d.Row, dec, err)
}
