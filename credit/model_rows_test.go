package credit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The exhaustive model searches every order of events over the real decisions of this package (test-methods.md §3.2).
//
// Its clocks stand still: every moment that a row stores is written relative to one fixed now, and a tick makes all of
// them older. With every age cut where no decision can tell it from a higher one, two rows of equal behaviour are equal
// bytes; each is kept once and named by a number, and each decision of the product on it is made once.
const (
	modelTick    = 3 * time.Minute // life of a request: one tick; until a deal is visible: one more; Q: three
	modelBoot    = 1000 * time.Hour
	modelProcess = "this process"
	modelEarlier = "an earlier process"
	handTicket   = 900 // of the deal that somebody made by hand
)

var (
	modelNow      = noon
	modelCutover  = noon.Add(-10 * time.Hour)
	modelRestored = noon.Add(-30 * time.Minute) // payments are an hour old, or a minute
	modelTasks    = []TaskKind{
		TaskHeld, TaskFailed, TaskNoAnswer, TaskConflict, TaskHandedOver, TaskStuck, TaskUnsent, TaskSecondDeal, TaskOwnership, TaskLateAnswer,
	}
)

// modelRow names a row of the table; 0: the store has no such row.
type modelRow uint32

// modelFile is a row with its open tasks.
type modelFile struct {
	row   Credit
	tasks uint16 // bits of modelTasks
	stops uint16 // those of them that stop claims on the row's login
}

func taskBit(k TaskKind) uint16 {
	i := slices.Index(modelTasks, k)
	if i < 0 {
		panic("the model does not know tasks of kind " + string(k))
	}
	return 1 << i
}

func (f modelFile) has(k TaskKind) bool { return f.tasks&taskBit(k) != 0 }

// change writes what a decision wants, as an engine does.
func (f *modelFile) change(ch Changes) {
	for _, c := range ch.Close {
		if c.Key.Entity == RowEntity(f.row.ID) {
			f.tasks &^= taskBit(c.Key.Kind)
			f.stops &^= taskBit(c.Key.Kind)
		}
	}
	for _, t := range ch.Open {
		if t.Entity == RowEntity(f.row.ID) && !f.has(t.Kind) {
			f.tasks |= taskBit(t.Kind)
			if t.Login != 0 {
				f.stops |= taskBit(t.Kind)
			}
		}
	}
}

// rowTable keeps every row that came up, once.
type rowTable struct {
	timing Timing
	files  []modelFile
	byText map[string]modelRow
}

func newRowTable(t Timing) *rowTable {
	return &rowTable{timing: t, files: make([]modelFile, 1), byText: map[string]modelRow{}}
}

func (rt *rowTable) of(n modelRow) *modelFile { return &rt.files[n] }

func (rt *rowTable) keep(f modelFile) modelRow {
	if err := rt.scheduled(f.row); err != nil {
		panic(err)
	}
	f.row = rt.canonical(f.row)
	text, err := json.Marshal(f.row)
	if err != nil {
		panic(err)
	}
	key := fmt.Sprintf("%s %d %d", text, f.tasks, f.stops)
	n, ok := rt.byText[key]
	if !ok {
		n = modelRow(len(rt.files))
		rt.files, rt.byText[key] = append(rt.files, f), n
	}
	return n
}

// scheduled is the rule that no loop forgets a row: whoever must be worked has a next turn, and not in the far future.
func (rt *rowTable) scheduled(c Credit) error {
	if c.State != Pending && c.State != Unknown {
		return nil
	}
	if c.NextAt.IsZero() || c.NextAt.After(modelNow.Add(farthest)) {
		return fmt.Errorf("credit %d is %s and its next turn is %v: it is forgotten", c.ID, c.State, c.NextAt)
	}
	return nil
}

// canonical writes a row so that rows which no decision can tell apart are equal. When a row is due does not count:
// the model lets every loop take it up at any moment.
func (rt *rowTable) canonical(c Credit) Credit {
	c.Entries, c.Head, c.Looks, c.Provider = 0, "", 0, "stripe-eu"
	for _, t := range []*time.Time{&c.NextAt, &c.FirstClaimAt, &c.ClaimedAt, &c.WatchUntil, &c.PendingAt, &c.CreatedAt, &c.UpdatedAt} {
		if !t.IsZero() {
			*t = modelNow
		}
	}
	if !c.StuckSince.IsZero() { // stuck at all counts as stuck for long: then the next postponement asks a person
		c.StuckSince = modelNow.Add(-rt.timing.TaskAfter)
	}
	c.Attempt, c.Reissues, c.Unsent = min(c.Attempt, 1), min(c.Reissues, 1), min(c.Unsent, 1)
	quarantine := rt.longest()
	rt.marks(&c, func(m Mark, longest time.Duration) Mark {
		switch {
		case m.Process == "":
			return Mark{}
		case m.Process != modelProcess:
			return Mark{Process: modelEarlier, At: modelNow.Add(-1000 * time.Hour)}
		}
		return Mark{Process: modelProcess, Boot: max(m.Boot, modelBoot-longest), At: modelNow}
	}, quarantine)
	if c.LeaseUntil.Boot > modelBoot {
		c.LeaseUntil.Boot = modelBoot + rt.timing.Lease
	} else if c.LeaseUntil.Boot != 0 {
		c.LeaseUntil.Boot = modelBoot - time.Minute
	}
	return c
}

// longest is the age from which on the start of a quarantine is as good as any earlier one, with room for the two looks.
func (rt *rowTable) longest() time.Duration {
	return (rt.timing.Quarantine + modelTick - 1).Truncate(modelTick) + 2*modelTick
}

// marks rewrites every moment of a process's life that the row stores; longest is the age that is as good as any higher.
func (rt *rowTable) marks(c *Credit, rewrite func(m Mark, longest time.Duration) Mark, quarantine time.Duration) {
	c.LeaseUntil = rewrite(c.LeaseUntil, quarantine)
	c.Ended = rewrite(c.Ended, quarantine)
	c.UnknownSince = rewrite(c.UnknownSince, quarantine)
	pointers := []struct {
		mark    **Mark
		longest time.Duration
	}{
		{&c.NotSent, 0}, {&c.FirstAbsent, modelTick}, {&c.FirstDenied, modelTick},
		{&c.AbsentAt, rt.timing.TaskAfter + modelTick}, {&c.DeniedAt, rt.timing.TaskAfter + modelTick},
	}
	for _, p := range pointers {
		if *p.mark != nil {
			m := rewrite(**p.mark, p.longest)
			*p.mark = &m
		}
	}
}

// older is the row one tick later.
func (rt *rowTable) older(n modelRow) modelRow {
	f := *rt.of(n)
	rt.marks(&f.row, func(m Mark, _ time.Duration) Mark {
		if m.Process == modelProcess {
			m.Boot -= modelTick
		}
		return m
	}, 0)
	return rt.keep(f)
}

// carriedOver is the row as another process reads it: no moment of it can be compared with that process's clock.
func (rt *rowTable) carriedOver(n modelRow) modelRow {
	f := *rt.of(n)
	rt.marks(&f.row, func(m Mark, _ time.Duration) Mark {
		if m.Process != "" {
			m.Process = modelEarlier
		}
		return m
	}, 0)
	return rt.keep(f)
}

// rowBook is a store of one row and its surroundings, for one decision.
type rowBook struct {
	d       Dossier
	file    modelFile
	holders map[uint64]ID
	stopped uint16 // by tasks about the login's other row
	moved   []Entry
}

// Settings implements Book.
func (b *rowBook) Settings(context.Context) (Settings, error) { return b.d.Settings, nil }

// Due implements Book.
func (b *rowBook) Due(_ context.Context, q DueQuery) ([]DueRow, error) {
	row := b.file.row
	if row.State != q.State || row.NextAt.IsZero() {
		return nil, nil
	}
	return []DueRow{{row.ID, row.Login, row.NextAt}}, nil
}

// Rows implements KeeperBook.
func (b *rowBook) Rows(_ context.Context, q RowQuery) ([]Credit, error) {
	if b.file.row.State != q.State || b.file.row.ID <= q.After {
		return nil, nil
	}
	return []Credit{b.file.row}, nil
}

// Dossier implements Book.
func (b *rowBook) Dossier(context.Context, ID) (Dossier, error) {
	d := b.d
	d.Row, d.Stops = b.file.row, b.stops()
	for _, k := range modelTasks {
		if b.file.has(k) {
			d.OpenTasks = append(d.OpenTasks, Task{Kind: k, Entity: RowEntity(d.Row.ID)})
		}
	}
	return d, nil
}

// stops are the open tasks that stop claims on the row's login: those about the row, and those about the other one.
func (b *rowBook) stops() []Task {
	var out []Task
	for _, k := range modelTasks {
		if b.file.stops&taskBit(k) != 0 {
			out = append(out, Task{Kind: k, Entity: RowEntity(b.file.row.ID)})
		}
		if b.stopped&taskBit(k) != 0 {
			out = append(out, Task{Kind: k, Entity: RowEntity(3 - b.file.row.ID)})
		}
	}
	return out
}

// Holders implements Book.
func (b *rowBook) Holders(_ context.Context, _ string, tickets []uint64) (map[uint64]ID, error) {
	out := map[uint64]ID{}
	for _, t := range tickets {
		if id, ok := b.holders[t]; ok {
			out[t] = id
		}
	}
	return out, nil
}

// Advance implements Book.
func (b *rowBook) Advance(ctx context.Context, id ID, decide Decide) (Result, error) {
	d, _ := b.Dossier(ctx, id)
	dec, err := decide(d)
	if err != nil {
		return Result{}, err
	}
	return b.write(d.Row, dec)
}

func (b *rowBook) write(row Credit, dec Decision) (Result, error) {
	ch, err := dec.Changes(row)
	if err != nil {
		return Result{}, err
	}
	for _, rc := range ch.Rows {
		if holder, ok := b.holders[rc.After.Ticket]; ok && holder != rc.After.ID {
			return Result{}, &DuplicateError{"credit by deal", uint64(holder)}
		}
		b.file.row, b.moved = rc.After, append(b.moved, rc.Entries...)
	}
	b.file.change(ch)
	return Result{Row: b.file.row, Opened: ch.Open}, nil
}

// unproven tells of a re-issue that its history entry does not prove: the rule is written down here once more.
func unproven(e Entry) error {
	if e.From != Unknown || e.To != Pending || e.By != ByResolver {
		return nil
	}
	ev := e.Evidence
	switch {
	case ev == nil || ev.Look == nil || ev.Before == nil:
		return errors.New("no two looks are named")
	case ev.Look.Verdict != VerdictAbsent || !ev.Look.Complete:
		return errors.New("the last look did not see that nothing is there")
	case ev.Before.Process != modelProcess || ev.Look.Started.Process != modelProcess:
		return errors.New("a look of another process counted")
	case ev.Look.Started.Boot-ev.Before.Boot < time.Minute:
		return errors.New("the looks lie less than a minute apart")
	}
	return nil
}
