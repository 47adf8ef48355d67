package desk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"creditonce/credit"
)

// Kind names an act.
type Kind string

// The acts. Table says who may do which.
const (
	Resolve      Kind = "credit.resolve"
	RetryFailed  Kind = "credit.retry"
	RetryUnknown Kind = "credit.retry-unknown"
	HoldCredit   Kind = "credit.hold"
	Adopt        Kind = "credit.adopt"
	CloseCredit  Kind = "credit.close"
	Release      Kind = "credit.release"
	NotThisDeal  Kind = "credit.not-this-deal"
	DealGone     Kind = "deal.gone"
	ManualPay    Kind = "deposit.manual"
	Replay       Kind = "webhook.replay"
	NoteTask     Kind = "task.note"
	AssignTask   Kind = "task.assign"
	CloseTask    Kind = "task.close"
	HoldMode     Kind = "mode.hold"
	ReleaseMode  Kind = "mode.release"
	GoLive       Kind = "mode.go-live"
	TakeOver     Kind = "mode.takeover"
	GapChecked   Kind = "gap.checked"
	Probe        Kind = "mt5.probe"
	AddPerson    Kind = "person.add"
	ChangePerson Kind = "person.change"
	NewKey       Kind = "key.new"
	RevokeKey    Kind = "key.revoke"
	TestAlerts   Kind = "alerts.test"
	Bootstrap    Kind = "bootstrap"    // in audit records only: root names the first two people
	CopyStore    Kind = "store.backup" // in audit records only: a person took a copy of the store
	ReconRun     Kind = "recon.run"    // in audit records only, like the three below: a person started a reconciliation
	ReconImport  Kind = "recon.import" // a person imported a statement
	ReconSign    Kind = "recon.sign"   // a person signed a report off
	// ReconWithdraw says that a person took an imported statement back.
	ReconWithdraw Kind = "recon.withdraw"
)

// Act is what somebody wants done, as data. Params are texts by name; Table lists which an act takes.
type Act struct {
	Kind    Kind              `json:"kind"`
	Subject string            `json:"subject"` // "credit/17", "task/3", "event/5", "mode", "person/anna", "key/shop"
	Params  map[string]string `json:"params,omitempty"`
}

// Param is one parameter of an act.
type Param struct {
	Name     string
	Required bool
	Frozen   bool // filled in by the desk when the act is proposed; nobody may bring it
	Help     string
}

// Line is one act of the table.
type Line struct {
	Kind    Kind
	Two     bool   // takes two people
	May     []Role // who may do it, or propose it where it takes two
	Confirm []Role // who may confirm it
	Reason  bool   // it decides something, so a reason is required
	Subject string // form of the subject
	Params  []Param
	Help    string
}

// Table is design §4 as data: every act with who may do it alone and what takes two people.
func Table() []Line {
	out := make([]Line, len(table))
	for i, l := range table {
		l.May, l.Confirm, l.Params = slices.Clone(l.May), slices.Clone(l.Confirm), slices.Clone(l.Params)
		out[i] = l
	}
	return out
}

var (
	operators = []Role{Operator}
	makers    = []Role{Maker}
	checkers  = []Role{Checker}
	admins    = []Role{Admin}
)

var table = []Line{
	{Kind: Resolve, May: operators, Subject: "credit/N", Help: "look at MT5 now; what the look leads to is decided as always"},
	{Kind: RetryFailed, May: operators, Reason: true, Subject: "credit/N", Help: "try a refused credit again, once looking has shown that MT5 has no deal of it"},
	{Kind: HoldCredit, May: operators, Reason: true, Subject: "credit/N", Help: "stop a credit that no call was made for"},
	{Kind: Replay, May: operators, Reason: true, Subject: "event/N", Help: "run a stored webhook through the intake again"},
	{Kind: NoteTask, May: []Role{Operator, Maker, Checker}, Subject: "task/N", Params: []Param{{Name: "text", Required: true, Help: "what there is to say"}}, Help: "write a note on a task"},
	{Kind: AssignTask, May: []Role{Operator, Maker, Checker}, Subject: "task/N", Params: []Param{{Name: "person", Help: "who looks at it; empty: nobody"}}, Help: "say who looks at a task"},
	{Kind: CloseTask, May: operators, Reason: true, Subject: "task/N", Help: "close a task that does not close by itself"},
	{Kind: TestAlerts, May: []Role{Operator, Admin}, Subject: "alerts", Help: "send a test message to every place where people are told"},
	{Kind: GapChecked, May: operators, Reason: true, Subject: "provider/LABEL", Help: "record that what a provider was paid in the gap of a restore was looked through"},
	{Kind: HoldMode, May: []Role{Operator, Maker, Checker}, Reason: true, Subject: "mode", Help: "stop all claims; intake and looking go on"},

	{Kind: RetryUnknown, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "credit/N", Help: "allow one further call of a credit that was handed to people"},
	{Kind: Adopt, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "credit/N", Params: []Param{
		{Name: "ticket", Required: true, Help: "the deal's ticket at MT5"},
		{Name: "comment", Help: "the deal's whole comment, where it is not the credit's reference"},
		{Name: "deal", Frozen: true, Help: "the deal as MT5 has it"},
	}, Help: "say that a deal of MT5 is this payment"},
	{Kind: CloseCredit, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "credit/N", Help: "end a credit without a deal"},
	{Kind: Release, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "credit/N", Params: []Param{
		{Name: "amount", Frozen: true, Help: "what it credits"}, {Name: "holds", Frozen: true, Help: "the reasons that are overruled or gone"},
	}, Help: "let a held credit go on"},
	{Kind: NotThisDeal, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "credit/N", Params: []Param{
		{Name: "ticket", Required: true, Help: "the deal's ticket at MT5"}, {Name: "deal", Frozen: true, Help: "the deal as MT5 has it"},
	}, Help: "say that a deal which looks like this payment is another one"},
	{Kind: DealGone, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "account/LABEL/LOGIN", Params: []Param{
		{Name: "ticket", Required: true, Help: "ticket of the deal that MT5 showed before"},
	}, Help: "say that a deal which looks of a login wait for was deleted at MT5"},
	{Kind: ManualPay, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "deposit/manual", Params: []Param{
		{Name: "client", Required: true, Help: "the firm's id of the client"}, {Name: "server", Required: true, Help: "label of the MT5 server"},
		{Name: "login", Required: true, Help: "the client's login"}, {Name: "amount", Required: true, Help: "received and credited, such as 500.00"},
		{Name: "currency", Required: true, Help: "the account's currency"}, {Name: "bank_reference", Required: true, Help: "the bank's own reference of the wire"},
		{Name: "received_at", Required: true, Help: "when the bank received it, as 2026-03-10T12:00:00Z"},
		{Name: "entry", Frozen: true, Help: "random id of the entry"}, {Name: "code", Frozen: true, Help: "deposit code"},
	}, Help: "enter a deposit that came by bank wire"},
	{Kind: GoLive, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "mode", Params: []Param{
		{Name: "cutover", Help: "payments before it stay with the flow before, as 2026-03-10T12:00:00Z; empty: the moment of the confirmation"},
	}, Help: "begin to pay"},
	{Kind: ReleaseMode, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "mode", Help: "end a hold"},
	{Kind: TakeOver, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "mode", Params: []Param{
		{Name: "fenced", Required: true, Help: "how the other instance was fenced at MT5: password or address"},
		{Name: "instance", Frozen: true, Help: "random id of the store from then on"},
	}, Help: "let a store in doubt go on as the right one, once the other instance is fenced at MT5"},
	{Kind: Probe, Two: true, May: makers, Confirm: checkers, Reason: true, Subject: "mt5/LABEL", Params: []Param{
		{Name: "login", Required: true, Help: "the login that the probe may touch"},
	}, Help: "let the MT5 probe touch a login of a live group"},
	{Kind: AddPerson, Two: true, May: admins, Confirm: admins, Reason: true, Subject: "person/ID", Params: []Param{
		{Name: "name", Required: true, Help: "full name"}, {Name: "users", Help: "unix accounts, comma between"}, {Name: "roles", Required: true, Help: "roles, comma between"},
	}, Help: "add a person"},
	{Kind: ChangePerson, Two: true, May: admins, Confirm: admins, Reason: true, Subject: "person/ID", Params: []Param{
		{Name: "name", Help: "full name"}, {Name: "users", Help: "unix accounts, comma between"}, {Name: "roles", Help: "roles, comma between"}, {Name: "disabled", Help: "true or false"},
	}, Help: "change a person, or disable one"},
	{Kind: NewKey, Two: true, May: admins, Confirm: admins, Reason: true, Subject: "key/NAME", Params: []Param{
		{Name: "sha256", Required: true, Help: "SHA-256 of the key, hexadecimal"}, {Name: "scopes", Required: true, Help: "scopes, comma between"},
	}, Help: "make a key of the portal's API valid"},
	{Kind: RevokeKey, Two: true, May: admins, Confirm: admins, Reason: true, Subject: "key/NAME", Help: "make a key of the portal's API invalid for good"},
}

// lineOf finds the act's line.
func lineOf(k Kind) (Line, error) {
	for _, l := range table {
		if l.Kind == k {
			return l, nil
		}
	}
	return Line{}, fmt.Errorf("there is no act %q: %w", k, credit.ErrInvalid)
}

// longestParam bounds each text of an act.
const longestParam = 4000

// checked refuses an act that does not have the form of its line. brought tells that a person brings it; then nothing
// may be frozen in it.
func (a Act) checked(l Line, brought bool) error {
	if err := a.checkSubject(l); err != nil {
		return err
	}
	for name, value := range a.Params {
		i := slices.IndexFunc(l.Params, func(p Param) bool { return p.Name == name })
		if i < 0 || (brought && l.Params[i].Frozen) {
			return fmt.Errorf("%s does not take %q: %w", a.Kind, name, credit.ErrInvalid)
		}
		if len(value) > longestParam {
			return fmt.Errorf("%s: %s is longer than %d bytes: %w", a.Kind, name, longestParam, credit.ErrInvalid)
		}
	}
	for _, p := range l.Params {
		if p.Required && a.Params[p.Name] == "" {
			return fmt.Errorf("%s needs %s: %s: %w", a.Kind, p.Name, p.Help, credit.ErrInvalid)
		}
	}
	return nil
}

func (a Act) checkSubject(l Line) error {
	head, form, many := strings.Cut(l.Subject, "/")
	_, rest, _ := strings.Cut(a.Subject, "/")
	ok := a.Subject == l.Subject && form != "N"
	if many && form == "N" {
		n, err := strconv.ParseUint(rest, 10, 64)
		ok = err == nil && n > 0 && a.Subject == head+"/"+strconv.FormatUint(n, 10)
	} else if many && form == strings.ToUpper(form) {
		ok = rest != "" && len(rest) <= 128 && a.Subject == head+"/"+rest
	}
	if ok {
		return nil
	}
	advice := ""
	if list := lists[head]; many && list != "" {
		advice = "; creditonce " + list + " shows which there are"
	}
	return fmt.Errorf("%s is about %s, not %q%s: %w", a.Kind, l.Subject, clipped(a.Subject), advice, credit.ErrInvalid)
}

// longestEcho is how much of a text that somebody brought is said back.
const longestEcho = 80

// clipped is a text as an error says it back: whole where it is short.
func clipped(text string) string {
	if len(text) <= longestEcho {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:longestEcho/2], ""), len(text))
}

// normal writes the act's numbers in their one form, before anybody agrees to them: 050001 is login 50001.
func (a Act) normal() Act {
	for _, name := range []string{"login", "ticket"} {
		if n, err := strconv.ParseUint(a.Params[name], 10, 64); err == nil {
			a = a.with(name, strconv.FormatUint(n, 10))
		}
	}
	return a
}

// about returns what follows the subject's kind: "17" of "credit/17".
func (a Act) about() string {
	_, rest, _ := strings.Cut(a.Subject, "/")
	return rest
}

// number is the subject's number where its kind is the given one; else 0.
func (a Act) number(head string) uint64 {
	rest, ok := strings.CutPrefix(a.Subject, head+"/")
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Credit is the row that the act is about; 0 where it is about something else.
func (a Act) Credit() credit.ID { return credit.ID(a.number("credit")) }

// Task is the task that the act is about, or 0.
func (a Act) Task() credit.TaskID { return credit.TaskID(a.number("task")) }

// Event is the event that the act is about, or 0.
func (a Act) Event() credit.EventID { return credit.EventID(a.number("event")) }

// Probed is the login that the act lets the probe touch, with the label of its MT5 server; 0 where it lets none.
func (a Act) Probed() (server string, login uint64) {
	if a.Kind != Probe {
		return "", 0
	}
	n, err := strconv.ParseUint(a.Params["login"], 10, 64)
	if err != nil {
		return "", 0
	}
	return a.about(), n
}

// Ticket is the deal that the act names, or 0.
func (a Act) Ticket() uint64 {
	n, err := strconv.ParseUint(a.Params["ticket"], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// with returns the act with one parameter more.
func (a Act) with(name, value string) Act {
	a.Params = maps.Clone(a.Params)
	if a.Params == nil {
		a.Params = map[string]string{}
	}
	a.Params[name] = value
	return a
}
