package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
)

// frozen completes an act for its proposal: what the desk computes or draws is written into it, so that both people
// decide on the same.
func (d *deed) frozen() (Act, error) {
	switch d.act.Kind {
	case Adopt, NotThisDeal:
		if d.deal == nil {
			return d.act, nil
		}
		return d.act.with("deal", dealText(*d.deal)), nil
	case Release:
		row := d.found.Dossier.Row
		if d.found.Dossier.Deposit == nil {
			return d.act, nil
		}
		amount, err := credit.ReleaseAmount(row, *d.found.Dossier.Deposit)
		if err != nil {
			return d.act, err
		}
		var holds []string
		for _, h := range row.Holds {
			holds = append(holds, string(h))
		}
		return d.act.with("amount", amount.String()).with("holds", strings.Join(holds, ",")), nil
	case ManualPay:
		return d.act.with("entry", d.drawn["entry"]).with("code", d.drawn["code"]), nil
	case TakeOver:
		return d.act.with("instance", d.drawn["instance"]), nil
	default:
		return d.act, nil
	}
}

// dealText is a deal as both people see it. Another deal, or one that was changed at MT5, has another text.
func dealText(d credit.Deal) string {
	return fmt.Sprintf("ticket %d, login %d, action %d, %s, comment %q, dealer %d, server clock %s", d.Ticket, d.Login, d.Action, d.Amount,
		strings.ToValidUTF8(d.Comment, "\uFFFD"), d.Dealer, time.Unix(d.ServerTime, 0).UTC().Format("2006-01-02 15:04:05"))
}

// run does the act: it collects in d.out what is to be written.
func (d *deed) run() error {
	switch d.act.Kind {
	case Resolve, RetryFailed, RetryUnknown, HoldCredit, Adopt, CloseCredit, Release, NotThisDeal:
		return d.runCredit()
	case NoteTask, AssignTask, CloseTask:
		return d.runTask()
	case HoldMode, ReleaseMode, GoLive:
		return d.runMode()
	case TakeOver:
		return d.runTakeOver()
	case GapChecked:
		return d.settle(credit.GapChecked(d.found.Settings, d.people, d.act.about()))
	case Replay:
		return d.runReplay()
	case ManualPay:
		return d.runManual()
	case AddPerson, ChangePerson:
		return d.runPerson()
	case NewKey, RevokeKey:
		return d.runKey()
	case TestAlerts:
		return d.runTestAlerts()
	case Probe:
		return d.runProbe()
	case DealGone:
		return d.runGone()
	case Bootstrap, CopyStore, ReconRun, ReconImport, ReconSign, ReconWithdraw:
	}
	return fmt.Errorf("there is no act %q: %w", d.act.Kind, credit.ErrInvalid)
}

func (d *deed) runCredit() error {
	f := *d.found.Dossier
	dec, err := d.decideCredit(f)
	if err != nil {
		return err
	}
	if d.out.Credit, err = dec.Changes(f.Row); err != nil {
		return err
	}
	d.out.Anchor = dec.Anchor
	return nil
}

func (d *deed) decideCredit(f credit.Dossier) (credit.Decision, error) {
	switch d.act.Kind {
	case Resolve:
		return credit.LookNow(f, d.people, d.guard)
	case RetryFailed:
		return credit.RetryFailed(f, d.people, d.guard)
	case RetryUnknown:
		return credit.RetryUnknown(f, d.people, d.guard)
	case HoldCredit:
		return credit.HoldRow(f, d.people)
	case CloseCredit:
		return credit.CloseWithoutDeal(f, d.people, d.guard)
	case Release:
		return d.release(f)
	case Adopt, NotThisDeal:
		return d.decideDeal(f)
	default:
		return credit.Decision{}, fmt.Errorf("there is no act %q on a credit: %w", d.act.Kind, credit.ErrInvalid)
	}
}

// decideDeal decides about a deal as it was read just now; it must be the one that both people saw.
func (d *deed) decideDeal(f credit.Dossier) (credit.Decision, error) {
	if d.deal == nil || d.deal.Ticket != d.act.Ticket() {
		return credit.Decision{}, credit.Refuse("wrong_deal", "MT5 was not asked for deal %d", d.act.Ticket())
	}
	if text := d.act.Params["deal"]; text != dealText(*d.deal) {
		return credit.Decision{}, credit.Refuse("moved", "the deal was proposed as %s; MT5 now has %s", text, dealText(*d.deal))
	}
	if d.act.Kind == NotThisDeal {
		return credit.NotThisDeal(f, d.people, d.guard, *d.deal, d.found.Holder)
	}
	return credit.Adopt(f, d.people, d.guard, *d.deal, d.found.Holder, d.act.Params["comment"])
}

func (d *deed) release(f credit.Dossier) (credit.Decision, error) {
	amount := credit.Amount{}
	if f.Deposit != nil {
		var err error
		if amount, err = credit.ReleaseAmount(f.Row, *f.Deposit); err != nil {
			return credit.Decision{}, err
		}
		if agreed := d.act.Params["amount"]; agreed != amount.String() {
			return credit.Decision{}, credit.Refuse("moved", "the people agreed on %s; it would now be %s", agreed, amount)
		}
	}
	return credit.Release(f, d.people, d.guard, d.rules.IntakeRules, d.found.DayTotal, amount)
}

func (d *deed) runTask() error {
	t := *d.found.Task
	var err error
	switch d.act.Kind {
	case NoteTask:
		t, err = credit.NoteTask(t, string(d.who.ID), d.act.Params["text"], d.at)
	case AssignTask:
		to := PersonID(d.act.Params["person"])
		if p := person(to, d.found.People); to != "" && (p == nil || p.Disabled) {
			return credit.Refuse("nobody", "there is no person %q who could look at it; creditonce people list shows who there is", to)
		}
		t, err = credit.AssignTask(t, string(to))
	default:
		var closing credit.TaskClose
		if closing, err = credit.CloseTask(t, d.found.TaskRow, d.people); err == nil {
			d.out.Credit.Close = []credit.TaskClose{closing}
		}
		return err
	}
	d.out.Task = &t
	return err
}

func (d *deed) runMode() error {
	s, err := d.found.Settings, error(nil)
	switch d.act.Kind {
	case HoldMode:
		s, err = credit.HoldMode(s, d.people)
	case ReleaseMode:
		s, err = credit.ReleaseMode(s, d.people, d.guard)
	default:
		var cutover time.Time
		if cutover, err = d.cutover(); err == nil {
			s, err = credit.GoLive(s, d.people, cutover)
		}
	}
	if err != nil {
		return err
	}
	d.out.Settings, d.out.Credit.Close = &s, credit.ModeTasks(d.found.Settings, s, d.people)
	return nil
}

// furthestCutover is how far ahead a cut-over may lie. All that is paid before it is never paid here, so a slip in the year
// would silently leave every payment to the flow before.
const furthestCutover = 30 * 24 * time.Hour

func (d *deed) cutover() (time.Time, error) {
	at, err := moment(d.act, "cutover")
	if err == nil && at.After(d.at.Add(furthestCutover)) {
		return at, fmt.Errorf("%s: the cut-over %s is more than 30 days ahead, and nothing paid before it is ever paid here; name a nearer one: %w",
			d.act.Kind, at.Format(time.RFC3339), credit.ErrInvalid)
	}
	return at, err
}

// settle writes settings that the domain decided.
func (d *deed) settle(s credit.Settings, err error) error {
	if err == nil {
		d.out.Settings = &s
	}
	return err
}

// runTakeOver lets a store in doubt go on. Both people say how the other instance was kept from calling: that is the fence.
func (d *deed) runTakeOver() error {
	how := map[string]string{
		"password": "the manager's password was changed at MT5", "address": "the manager's allowed address was changed at MT5",
	}[d.act.Params["fenced"]]
	if how == "" {
		return fmt.Errorf("%s: the other instance is fenced by password or by address, not by %q: %w", d.act.Kind, d.act.Params["fenced"], credit.ErrInvalid)
	}
	change, err := credit.TakeOver(d.found.Settings, d.people, d.guard, how, d.act.Params["instance"], d.place)
	if err != nil {
		return err
	}
	d.out.Settings, d.out.Credit.Open, d.out.Credit.Close = &change.Settings, change.Open, change.Close
	return nil
}

// moment reads a time of an act; zero where it has none.
func moment(a Act, name string) (time.Time, error) {
	text := a.Params[name]
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %s is a time such as 2026-03-10T12:00:00Z, not %q: %w", a.Kind, name, text, credit.ErrInvalid)
	}
	return t.UTC(), nil
}

func (d *deed) runReplay() error {
	var err error
	if d.again != nil {
		d.out.Credit, err = credit.Reread(*d.found.Event, *d.again, d.people, d.found.Intake, d.rules.IntakeRules)
	} else {
		d.out.Credit, err = credit.Replay(*d.found.Event, d.people, d.found.Intake, d.rules.IntakeRules)
	}
	return err
}

// manualOf reads the manual deposit of a complete act. digits are those of the currency on its server.
func manualOf(a Act, digits int) (credit.Manual, error) {
	login, err := strconv.ParseUint(a.Params["login"], 10, 64)
	if err != nil || login == 0 {
		return credit.Manual{}, fmt.Errorf("%s: %q is no login: %w", a.Kind, a.Params["login"], credit.ErrInvalid)
	}
	amount, err := credit.ParseAmount(a.Params["amount"], a.Params["currency"], digits)
	if err != nil {
		return credit.Manual{}, fmt.Errorf("%s: %w", a.Kind, err)
	}
	received, err := moment(a, "received_at")
	if err != nil {
		return credit.Manual{}, err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return credit.Manual{}, fmt.Errorf("%s: %w", a.Kind, err)
	}
	sum := sha256.Sum256(body)
	return credit.Manual{
		Entry: a.Params["entry"], Code: a.Params["code"], Client: a.Params["client"], Server: a.Params["server"], Login: login,
		Amount: amount, Bank: a.Params["bank_reference"], ReceivedAt: received, Body: body, Digest: hex.EncodeToString(sum[:]),
	}, nil
}

func (d *deed) runManual() error {
	digits := 0
	if a := d.found.Manual.Intake.Account; a != nil {
		digits = a.Digits
	}
	m, err := manualOf(d.act, digits)
	if err != nil {
		return err
	}
	d.out.Credit, err = credit.TakeManual(m, d.people, *d.found.Manual, d.rules)
	return err
}

func (d *deed) runPerson() error {
	id := PersonID(d.act.about())
	prior := person(id, d.found.People)
	p := Person{ID: id, CreatedAt: cut(d.at)}
	switch {
	case d.act.Kind == AddPerson && prior != nil:
		return credit.Refuse("person_known", "%s exists, and an id is never given twice; change %s instead", id, id)
	case d.act.Kind == ChangePerson && prior == nil:
		return fmt.Errorf("person %q: %w", id, credit.ErrNotFound)
	case prior != nil:
		p = *prior
	}
	p, err := changed(p, d.act.Params)
	if err != nil {
		return err
	}
	p.UpdatedAt = cut(d.at)
	if err := checkPerson(p, d.found.People); err != nil {
		return err
	}
	if err := keepsTwoAdmins(d.found.People, p); err != nil {
		return err
	}
	d.out.People = []Person{p}
	d.void(p)
	return nil
}

// runTestAlerts puts one message into the outbox, which every channel reads.
func (d *deed) runTestAlerts() error {
	if d.found.Channels == 0 {
		return credit.Refuse("no_alerts", "the service tells nobody: its configuration has no section alerts; add one (config.example.yaml shows it) and start the service again")
	}
	d.out.Notices = []credit.Notice{credit.TestNotice(string(d.who.ID), cut(d.at))}
	return nil
}

func (d *deed) runKey() error {
	if d.act.Kind == RevokeKey {
		k, err := revocable(d.act, d.found.Keys, d.configured)
		k.RevokedAt, k.RevokedBy = cut(d.at), d.people.Actor
		d.out.Keys = []Key{k}
		return err
	}
	k, err := newKey(d.act, d.found.Keys, d.configured, d.scopes)
	k.Number, k.CreatedAt, k.CreatedBy = d.found.NextKey, cut(d.at), d.people.Actor
	d.out.Keys = []Key{k}
	return err
}
