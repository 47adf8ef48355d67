package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

var _ desk.Book = (*DB)(nil)

// Act implements [desk.Book].
func (db *DB) Act(ctx context.Context, q desk.Query, decide desk.Decide) (desk.Receipt, error) {
	var receipt desk.Receipt
	var refusal error // what decide said: passed on as it is
	err := db.write(ctx, false, func(w *writer) error {
		refusal = nil
		found, err := findDesk(w, q)
		if err != nil {
			return err
		}
		changes, err := decide(found)
		if err != nil {
			refusal = err
			return err
		}
		receipt, err = db.stageAct(w, changes)
		return err
	})
	switch {
	case err == nil:
		return receipt, nil
	case refusal != nil && errors.Is(err, refusal) && !errors.Is(err, credit.ErrStopped):
		return desk.Receipt{}, err
	default:
		return desk.Receipt{}, fmt.Errorf("decide: %w", err)
	}
}

// findDesk reads what a decision of people must be shown.
func findDesk(w *writer, q desk.Query) (f desk.Found, err error) {
	tx := w.tx
	if f.Settings, err = w.settings(); err != nil {
		return f, err
	}
	if f.People, err = people.all(tx); err != nil {
		return f, err
	}
	if f.Keys, err = apiKeys.all(tx); err != nil {
		return f, err
	}
	f.NextProposal, f.NextRecord, f.NextKey = desk.ProposalID(proposals.next(w)), records.next(w), apiKeys.next(w)
	if last := f.NextRecord - 1; last > 0 {
		r, err := records.must(tx, idKey(last))
		if err != nil {
			return f, err
		}
		f.Previous = r.Chain()
	}
	act := q.Act
	if q.Proposal != 0 {
		p, err := proposals.must(tx, idKey(uint64(q.Proposal)))
		if err != nil {
			return f, err
		}
		f.Proposal, act = &p, p.Act
	}
	if act.Kind == desk.ChangePerson {
		if f.Proposals, err = undecided(tx); err != nil {
			return f, err
		}
	}
	if err := findSubject(w, q, act, &f); err != nil {
		return f, err
	}
	return f, nil
}

// findSubject reads what the act is about.
func findSubject(w *writer, q desk.Query, act desk.Act, f *desk.Found) (err error) {
	if act.Kind == desk.TestAlerts {
		known, err := channels.page(w.tx, nil, mostChannels)
		if err != nil {
			return err
		}
		f.Channels = len(known)
	}
	if id := act.Credit(); id != 0 {
		if err := findRow(w, q, act, id, f); err != nil {
			return err
		}
	}
	if _, login := act.Login(); login != 0 && q.Identity != "" {
		if err := findLogin(w.tx, q.Identity, login, act.Ticket(), f); err != nil {
			return err
		}
	}
	if server, login := act.Probed(); login != 0 {
		if f.Account, err = accounts.get(w.tx, loginKey(server, login)); err != nil {
			return err
		}
	}
	if id := act.Task(); id != 0 {
		t, err := tasks.must(w.tx, idKey(uint64(id)))
		if err != nil {
			return err
		}
		f.Task = &t
		if row := t.TaskRow(); row != 0 {
			if f.TaskRow, err = credits.get(w.tx, idKey(uint64(row))); err != nil {
				return err
			}
		}
	}
	if id := act.Event(); id != 0 {
		e, err := events.must(w.tx, idKey(uint64(id)))
		if err != nil {
			return err
		}
		f.Event = &e
		needs := e.Needs()
		if q.Again != nil {
			needs = q.Again.Needs()
		}
		needs.MessageKey = credit.ReplayKey(e)
		if f.Intake, err = findIntake(w, needs, q.Now); err != nil {
			return err
		}
	}
	if q.Manual != nil && act.Kind == desk.ManualPay {
		f.Manual, err = findManual(w, q)
	}
	return err
}

func findRow(w *writer, q desk.Query, act desk.Act, id credit.ID, f *desk.Found) error {
	d, err := readDossier(w.tx, id, w.lowSpace)
	if err != nil {
		return err
	}
	f.Dossier = &d
	if d.Row.Login == 0 {
		return nil
	}
	if d.Around, err = pendingSince(w.tx, d.Row.Server, d.Row.Login, d.Row.ComparedSince(), q.Now); err != nil {
		return err
	}
	f.DayTotal = dayTotal(d.Around, d.Row.Amount, q.Now)
	return findHolder(w.tx, d.Row.Identity, act.Ticket(), f)
}

func findHolder(tx *bolt.Tx, identity string, ticket uint64, f *desk.Found) error {
	if ticket == 0 {
		return nil
	}
	holder, err := credits.find(tx, creditByDeal, dealKey(identity, ticket))
	if err == nil && holder != nil {
		f.Holder = holder.ID
	}
	return err
}

// findLogin reads the newest deal known on a login, and who has the act's deal.
func findLogin(tx *bolt.Tx, identity string, login, ticket uint64, f *desk.Found) error {
	a, err := anchors.get(tx, loginKey(identity, login))
	if err != nil {
		return err
	}
	if a != nil {
		f.Anchor = &a.Anchor
	}
	return findHolder(tx, identity, ticket, f)
}

// findManual reads what a deposit that people entered must be shown.
func findManual(w *writer, q desk.Query) (*credit.ManualFound, error) {
	m := *q.Manual
	var f credit.ManualFound
	var err error
	needs := m.ManualNeeds()
	if f.Intake, err = findIntake(w, needs, q.Now); err != nil {
		return nil, err
	}
	existing, err := deposits.find(w.tx, depositByCode, key(nil).text(m.Code))
	if err != nil {
		return nil, err
	}
	if existing != nil {
		f.Existing = &existing.Deposit
	}
	if f.Intake.Account, err = accounts.get(w.tx, loginKey(m.Server, m.Login)); err != nil {
		return nil, err
	}
	if f.Intake.Around, err = pendingSince(w.tx, m.Server, m.Login, needs.ComparedSince(), q.Now); err != nil {
		return nil, err
	}
	f.Intake.DayTotal = dayTotal(f.Intake.Around, m.Amount, q.Now)
	f.Wire, err = knownWire(w.tx, f.Intake.Settings, m.Bank)
	return &f, err
}

// knownWire reads what a bank's reference is known for.
func knownWire(tx *bolt.Tx, s credit.Settings, bank string) (k credit.KnownWire, err error) {
	if k.Paid, err = rowsPaidAs(tx, s, bank); err != nil {
		return k, err
	}
	k.SameBank, err = rowsOfBank(tx, bank)
	return k, err
}

// rowsPaidAs lists the rows of any provider's payment with the id.
func rowsPaidAs(tx *bolt.Tx, s credit.Settings, payment string) ([]credit.Credit, error) {
	var out []credit.Credit
	for _, p := range s.Pins {
		if !strings.HasPrefix(p.Name, "provider/") {
			continue
		}
		kind, account, _ := strings.Cut(p.Value, " ")
		rows, err := rowsOf(tx, kind, account, payment)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// rowsOfBank lists the rows of deposits that people entered with the bank's reference.
func rowsOfBank(tx *bolt.Tx, reference string) ([]credit.Credit, error) {
	entered, err := events.list(tx, eventByBank, key(nil).text(credit.BankKey(reference)), 0)
	if err != nil {
		return nil, err
	}
	var out []credit.Credit
	for _, e := range entered {
		for _, id := range e.Rows {
			row, err := credits.must(tx, idKey(uint64(id)))
			if err != nil {
				return nil, err
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// stageAct stages everything that an act wants written.
func (db *DB) stageAct(w *writer, c desk.Changes) (desk.Receipt, error) {
	var packed []byte
	if e := c.Credit.Event; e != nil {
		if digest(e.Body) != e.Digest {
			return desk.Receipt{}, fmt.Errorf("the digest is not the body's: %w", credit.ErrInvalid)
		}
		packed = db.packer.pack(e.Body)
	}
	done, err := stageChanges(w, c.Credit, packed)
	if err != nil {
		return desk.Receipt{}, err
	}
	if c.Anchor != nil {
		for _, r := range c.Credit.Rows {
			if err := stageAnchor(w, r.After, *c.Anchor); err != nil {
				return desk.Receipt{}, err
			}
		}
	}
	if c.Gone != nil {
		if err := stageGone(w, *c.Gone); err != nil {
			return desk.Receipt{}, err
		}
	}
	if c.Settings != nil {
		if err := stageSettings(w, *c.Settings); err != nil {
			return desk.Receipt{}, err
		}
	}
	if c.Signs != 0 {
		if err := stageSignOff(w, recon.RunID(c.Signs), recon.SignOff{By: string(c.Record.Person), At: instant(c.Record.At), Note: plainText(c.Record.Reason)}); err != nil {
			return desk.Receipt{}, err
		}
	}
	if c.TakesOut != 0 {
		if err := stageWithdrawal(w, recon.StatementID(c.TakesOut), recon.Withdrawal{By: string(c.Record.Person), At: instant(c.Record.At), Reason: plainText(c.Record.Reason)}); err != nil {
			return desk.Receipt{}, err
		}
	}
	if err := stageDesk(w, c); err != nil {
		return desk.Receipt{}, err
	}
	receipt := desk.Receipt{Changes: c, Opened: done.opened, Closed: done.closed}
	receipt.Notice, err = stageNumbered(w, c.Notices)
	return receipt, err
}

// stageGone lets another deal, or none, take the place of the newest one known on a login.
func stageGone(w *writer, g desk.Gone) error {
	prior, err := anchors.get(w.tx, loginKey(g.Identity, g.Login))
	switch {
	case err != nil:
		return err
	case prior == nil || prior.Anchor.Ticket != g.Ticket:
		return fmt.Errorf("deal %d is not the newest known on login %d: %w", g.Ticket, g.Login, credit.ErrConflict)
	case g.Newest == nil:
		anchors.remove(w, *prior)
		return nil
	}
	return anchors.stage(w, prior, loginAnchor{g.Identity, g.Login, *g.Newest})
}

// stageDesk stages the desk's own records.
func stageDesk(w *writer, c desk.Changes) error {
	for _, p := range c.People {
		prior, err := people.get(w.tx, people.key(p))
		if err != nil {
			return err
		}
		if err := people.stage(w, prior, p); err != nil {
			return err
		}
	}
	for _, k := range c.Keys {
		prior, err := apiKeys.get(w.tx, apiKeys.key(k))
		if err != nil {
			return err
		}
		if err := apiKeys.stage(w, prior, k); err != nil {
			return err
		}
	}
	if c.Task != nil {
		prior, err := tasks.must(w.tx, idKey(uint64(c.Task.ID)))
		if err != nil {
			return err
		}
		if err := tasks.stage(w, &prior, *c.Task); err != nil {
			return err
		}
		if prior.IsOpen() && !c.Task.IsOpen() {
			if err := stageAccepted(w, *c.Task); err != nil {
				return err
			}
			if err := stageNotices(w, credit.TaskNotices(nil, []credit.Task{*c.Task})); err != nil {
				return err
			}
		}
	}
	changed := c.Voided
	if c.Proposal != nil {
		changed = append(slices.Clone(changed), *c.Proposal)
	}
	for _, p := range changed {
		if err := stageProposal(w, p); err != nil {
			return err
		}
	}
	return records.stage(w, nil, c.Record)
}

// stageProposal stages a proposal that is new or open, or the end of an unused permit. Everything else is over for good.
func stageProposal(w *writer, p desk.Proposal) error {
	prior, err := proposals.get(w.tx, proposals.key(p))
	if err != nil {
		return err
	}
	if prior != nil && prior.State != desk.ProposalOpen && (prior.State != p.State || !prior.Permit.Unused() || p.Permit == nil || p.Permit.Unused()) {
		return fmt.Errorf("proposal %d is %s: %w", prior.ID, prior.State, credit.ErrConflict)
	}
	return proposals.stage(w, prior, p)
}

// undecided reads the proposals that are open or have left a permit which was not used.
func undecided(tx *bolt.Tx) ([]desk.Proposal, error) {
	known, err := proposals.all(tx)
	return slices.DeleteFunc(known, func(p desk.Proposal) bool { return p.State != desk.ProposalOpen && !p.Permit.Unused() }), err
}

// all reads every row of a small table, in the order of its keys.
func (t *table[T]) all(tx *bolt.Tx) ([]T, error) {
	var out []T
	c := tx.Bucket([]byte(t.bucket)).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		row, err := t.decode(k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}
