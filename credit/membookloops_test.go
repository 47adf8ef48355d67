package credit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Settings implements Book.
func (b *memBook) Settings(context.Context) (Settings, error) {
	end, err := b.begin("settings")
	if err != nil {
		return Settings{}, err
	}
	defer end()
	return b.settings, nil
}

// Due implements Book.
func (b *memBook) Due(_ context.Context, q DueQuery) ([]DueRow, error) {
	end, err := b.begin("due")
	if err != nil {
		return nil, err
	}
	defer end()
	var out []DueRow
	for _, r := range b.rows {
		mine := q.Shards <= 1 || r.Login%uint64(q.Shards) == uint64(q.Shard)
		if r.State == q.State && r.Server == q.Server && mine && !r.NextAt.IsZero() && !r.NextAt.After(q.UpTo) {
			out = append(out, DueRow{r.ID, r.Login, r.NextAt})
		}
	}
	slices.SortFunc(out, func(x, y DueRow) int { return cmp.Or(x.NextAt.Compare(y.NextAt), cmp.Compare(x.ID, y.ID)) })
	return out[:min(len(out), q.Limit)], nil
}

// Rows implements KeeperBook.
func (b *memBook) Rows(_ context.Context, q RowQuery) ([]Credit, error) {
	end, err := b.begin("rows")
	if err != nil {
		return nil, err
	}
	defer end()
	var out []Credit
	for _, r := range b.rows {
		if r.State == q.State && r.ID > q.After {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(x, y Credit) int { return cmp.Compare(x.ID, y.ID) })
	return out[:min(len(out), q.Limit)], nil
}

// Dossier implements Book.
func (b *memBook) Dossier(_ context.Context, id ID) (Dossier, error) {
	end, err := b.begin("dossier")
	if err != nil {
		return Dossier{}, err
	}
	defer end()
	return b.dossier(id)
}

func (b *memBook) dossier(id ID) (Dossier, error) {
	row, ok := b.rows[id]
	if !ok {
		return Dossier{}, fmt.Errorf("credit %d: %w", id, ErrNotFound)
	}
	d := Dossier{Row: row, Settings: b.settings, Reversed: b.reversed(row.Unit), LowSpace: b.lowSpace}
	for _, t := range b.tasks {
		if t.IsOpen() && t.Login != 0 && t.Identity == row.Identity && t.Login == row.Login {
			d.Stops = append(d.Stops, t)
		}
	}
	d.Deposit, _ = b.depositAndAccount(cmp.Or(row.Deposit, row.Code))
	d.Account = b.account(row.Server, row.Login)
	for _, r := range b.sorted() {
		if r.ID != id && r.Server == row.Server && r.Login == row.Login && r.State.Open() {
			d.Busy = append(d.Busy, r.ID)
		}
	}
	if a, ok := b.anchors[loginKey{row.Identity, row.Login}]; ok {
		d.Anchor = &a
	}
	for _, t := range b.tasks {
		if t.IsOpen() && t.Entity == RowEntity(id) {
			d.OpenTasks = append(d.OpenTasks, t)
		}
	}
	return d, nil
}

// Holders implements Book.
func (b *memBook) Holders(_ context.Context, identity string, tickets []uint64) (map[uint64]ID, error) {
	end, err := b.begin("holders")
	if err != nil {
		return nil, err
	}
	defer end()
	out := map[uint64]ID{}
	for _, r := range b.rows {
		if r.Identity == identity && r.Ticket != 0 && slices.Contains(tickets, r.Ticket) {
			out[r.Ticket] = r.ID
		}
	}
	return out, nil
}

// Advance implements Book. It calls decide twice, as an engine may, and trusts the second answer.
func (b *memBook) Advance(_ context.Context, id ID, decide Decide) (Result, error) {
	end, err := b.begin("advance")
	if err != nil {
		return Result{}, err
	}
	defer end()
	d, err := b.dossier(id)
	if err != nil {
		return Result{}, err
	}
	_, _ = decide(d)
	dec, err := decide(d)
	if err != nil {
		return Result{}, err
	}
	ch, err := dec.Changes(d.Row)
	if err != nil {
		return Result{}, err
	}
	opened, closed, err := b.write(ch)
	if err != nil {
		return Result{}, err
	}
	res := Result{Row: b.rows[id], Opened: opened, Closed: closed}
	for _, rc := range ch.Rows {
		res.Entries = append(res.Entries, rc.Entries...)
	}
	if dec.Hour != nil {
		b.settings.Hour = dec.Hour
	}
	if dec.Anchor != nil {
		key := loginKey{d.Row.Identity, d.Row.Login}
		if dec.Anchor.Ticket > b.anchors[key].Ticket {
			b.anchors[key] = *dec.Anchor
		}
	}
	return res, nil
}

// Settle implements KeeperBook.
func (b *memBook) Settle(_ context.Context, change func(Settings) (Settings, error)) (Settings, error) {
	end, err := b.begin("settle")
	if err != nil {
		return Settings{}, err
	}
	defer end()
	s, err := change(b.settings)
	if err == nil {
		b.settings = s
	}
	return s, err
}

// Free implements KeeperBook.
func (b *memBook) Free(ctx context.Context, id ID, rules IntakeRules) (Result, error) {
	b.mu.Lock()
	row := b.rows[id]
	total := b.dayTotal(row.Server, row.Login, rules.Now)
	var further []ID
	for _, r := range b.sorted() {
		if r.Further && r.Deposit == row.Deposit && r.ID != id {
			further = append(further, r.ID)
		}
	}
	b.mu.Unlock()
	return b.Advance(ctx, id, func(d Dossier) (Decision, error) {
		return FreeRow(Freeing{Dossier: d, DayTotal: total, Further: further}, rules)
	})
}
