package recon

import "slices"

// tellPayment books the cells of a payment and emits its items.
func (m *matcher) tellPayment(g *group, cells []cell) error {
	told := map[*paired]bool{}
	for i := range cells {
		c := &cells[i]
		label := g.label(c.rows)
		if c.class == "" {
			if m.counted(c.at) && !c.at.Before(m.rules.From) {
				m.out.Before[label]++
			}
			continue
		}
		off := m.bookCell(c, label)
		if !m.counted(c.at) || c.class == Matched && slices.ContainsFunc(c.rows, (*paired).differs) {
			continue
		}
		for _, r := range c.rows {
			if r.class == c.class && c.class != Matched && c.entity == rowEntity(r.Row.ID) {
				c.entity = g.ofPart(c.class, r) // the row's own entity is MT5's side's
				break
			}
		}
		item := Item{Key: Key{Class: c.class, Entity: c.entity}, Side: SideProvider, Provider: label, Lines: c.lines, At: c.at, Why: c.sentence()}
		for _, r := range c.rows {
			told[r] = true
			item.Rows = append(item.Rows, r.Row)
			item.Deals = append(item.Deals, r.Deals...)
		}
		if err := m.emit(item, off); err != nil {
			return err
		}
	}
	for i := range g.rows {
		if r := &g.rows[i]; r.differs() || r.class == Matched && !told[r] {
			if err := m.tellRow(r, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofPart is the entity of what a part of the payment is off by on the provider's side.
func (g *group) ofPart(class Class, r *paired) string {
	entity := g.entity()
	if part := r.Row.Unit.Part; part != "" {
		entity += "/" + escape.Replace(part)
	}
	return g.once(class, entity)
}

// differs tells that MT5's side of a row has an item of its own, whatever the other side says.
func (p *paired) differs() bool { return p.class != "" && p.class != Matched }

// tellRow emits the item of MT5's side of a row, with the lines of its payment beside it.
func (m *matcher) tellRow(r *paired, cells []cell) error {
	item := Item{
		Key: Key{Class: r.class, Entity: rowEntity(r.Row.ID)}, Side: SideMT5, Provider: r.Row.Provider, Rows: []Row{r.Row}, Deals: r.Deals, At: r.at, Why: r.why,
	}
	for i := range cells {
		if slices.Contains(cells[i].rows, r) {
			item.Lines = cells[i].lines
			break
		}
	}
	return m.emit(item, r.off)
}

// bookCell adds both columns of a cell to the provider's roll-forward, all at the cell's moment, and returns what they differ by.
func (m *matcher) bookCell(c *cell, label string) sums {
	var theirs, ours sums
	for i := range c.mine {
		v := moneyOf(c.mine[i].Gross)
		theirs.add(v)
		m.rolls.add(move{SideProvider, label, true, lineBucket(c.mine[i].Type), v, c.at})
	}
	for _, r := range c.ours {
		v := moneyOf(r.Row.Kind.Signed(r.Row.Paid))
		ours.add(v)
		m.rolls.add(move{SideProvider, label, false, bucketOf(r.Row.Kind), v, c.at})
	}
	return difference(theirs, ours)
}
