package report

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf16"

	"creditonce/credit"
	"creditonce/recon"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of what [JSON] writes. The caller owns the copy.
func Schema() []byte { return bytes.Clone(schema) }

// JSON writes the report as one object. Fields stand in a fixed order; ids, logins and tickets are text; an amount is
// {minor, currency, exponent} with the minor units as text; times are RFC 3339 in UTC. Items are ranged over twice and written as they come.
// See [Schema].
func JSON(w io.Writer, d Data) error {
	g, err := gather(d, 0)
	if err != nil {
		return err
	}
	head, err := json.Marshal(newHead(d, g))
	if err != nil {
		return fmt.Errorf("write run %d as JSON: %w", d.Run.ID, err)
	}
	out := &lines{w: w}
	out.write(head[:len(head)-1]) // the object goes on with its items
	out.write([]byte(`,"items":[`))
	comma := "\n"
	for item, err := range d.items() {
		if err != nil {
			return err
		}
		if item.Key.Class == recon.Matched {
			continue
		}
		text, err := json.Marshal(newItem(d, g.loc, item))
		if err != nil {
			return fmt.Errorf("write %s %s of run %d as JSON: %w", item.Key.Class, clip(item.Key.Entity, pageText), d.Run.ID, err)
		}
		out.write([]byte(comma))
		out.write(text)
		comma = ",\n"
	}
	out.write([]byte("\n]}\n"))
	if out.err != nil {
		return fmt.Errorf("write run %d as JSON: %w", d.Run.ID, out.err)
	}
	return nil
}

// ItemJSON writes one item, its records side by side, in the form that it has in [JSON], and a line end.
func ItemJSON(w io.Writer, d Data, item recon.Item) error {
	loc, err := d.zone()
	if err != nil {
		return err
	}
	text, err := json.Marshal(newItem(d, loc, item))
	if err != nil {
		return fmt.Errorf("write %s %s as JSON: %w", item.Key.Class, clip(item.Key.Entity, pageText), err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// lines writes until the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) write(b []byte) {
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
}

// outside is text from outside, whole and unchanged, in which nothing invisible acts on a terminal or an editor: such runes are escaped.
type outside string

// MarshalJSON writes the text with escapes for control, direction and format characters.
func (s outside) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(string(s))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !acts(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes(), nil
}

type headJSON struct {
	Schema      string        `json:"schema"`
	Environment string        `json:"environment"`
	Notice      string        `json:"notice,omitempty"`
	Verdict     verdictJSON   `json:"verdict"`
	Run         runJSON       `json:"run"`
	Classes     []classJSON   `json:"classes"`
	Rolls       []rollJSON    `json:"rolls"`
	Providers   []countJSON   `json:"providers"`
	Costs       []recon.Cost  `json:"costs"`
	Rests       []recon.Rest  `json:"rests"`
	Unasked     []unaskedJSON `json:"unasked"`
	Earlier     []earlierJSON `json:"earlier"`
	Sources     []sourceJSON  `json:"sources"`
	SignOff     *signOffJSON  `json:"sign_off"`
	Never       string        `json:"never"`
}

type verdictJSON struct {
	State    string          `json:"state"`
	Headline outside         `json:"headline"`
	Details  []outside       `json:"details"`
	Amounts  []credit.Amount `json:"amounts"` // of the differences, by currency, whatever the sign
	Behind   []reachJSON     `json:"behind"`  // statements that end before the days do
	Newer    []newerJSON     `json:"newer"`   // runs of the same days that were not complete, newest first
}

type newerJSON struct {
	Run      string    `json:"run"`
	Finished time.Time `json:"finished"`
	Reasons  []outside `json:"reasons"`
}

type reachJSON struct {
	Provider outside   `json:"provider"`
	Reaches  time.Time `json:"reaches"`
	Seconds  int64     `json:"seconds"`
}

type unaskedJSON struct {
	Provider outside   `json:"provider"`
	From     time.Time `json:"from"`
	Days     int       `json:"days"`
	All      int       `json:"all"`
}

type earlierJSON struct {
	Run      string        `json:"run"`
	First    recon.Day     `json:"first"`
	Last     recon.Day     `json:"last"`
	SignedBy outside       `json:"signed_by,omitempty"`
	Changes  []changeJSON  `json:"changes"`
	Carried  []carriedJSON `json:"carried"`
}

type changeJSON struct {
	Provider outside        `json:"provider"`
	Currency string         `json:"currency"`
	List     recon.ListName `json:"list"`
	Before   time.Time      `json:"before"`
	Then     credit.Amount  `json:"then"`
	Now      credit.Amount  `json:"now"`
	Because  []outside      `json:"because"`
	Expected bool           `json:"expected"`
}

type carriedJSON struct {
	Provider outside        `json:"provider"`
	Currency string         `json:"currency"`
	List     recon.ListName `json:"list"`
	Closing  credit.Amount  `json:"closing"`
	Changed  credit.Amount  `json:"changed"`
	Came     credit.Amount  `json:"came"`
	Moved    credit.Amount  `json:"moved"`
	Opening  credit.Amount  `json:"opening"`
}

func newEarlier(r recon.Run) []earlierJSON {
	out := []earlierJSON{}
	for _, e := range r.Earlier {
		j := earlierJSON{Run: number(uint64(e.Run)), First: e.First, Last: e.Last, SignedBy: outside(e.SignedBy), Changes: []changeJSON{}, Carried: []carriedJSON{}}
		for _, c := range e.Changes {
			j.Changes = append(j.Changes, changeJSON{outside(c.Provider), c.Currency, c.List, c.Before.UTC(), c.Then, c.Now, texts(c.Because), c.Expected})
		}
		for _, c := range e.Carried {
			j.Carried = append(j.Carried, carriedJSON{outside(c.Provider), c.Currency, c.List, c.Closing, c.Changed, c.Came, c.Moved, c.Opening})
		}
		out = append(out, j)
	}
	return out
}

type runJSON struct {
	ID       string    `json:"id"`
	First    recon.Day `json:"first"`
	Last     recon.Day `json:"last"`
	Zone     string    `json:"zone"`
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	By       outside   `json:"by"`
	Version  outside   `json:"version"`
	Digest   outside   `json:"digest"`
	Lines    int       `json:"lines"`
	Rows     int       `json:"rows"`
	Deals    int       `json:"deals"`
}

type classJSON struct {
	Class      recon.Class `json:"class"`
	Title      string      `json:"title"`
	Means      string      `json:"means"`
	Do         string      `json:"do"`
	Difference bool        `json:"difference"`
	Items      int         `json:"items"`
}

type rollJSON struct {
	Side        recon.Side     `json:"side"`
	Provider    outside        `json:"provider"`
	Currency    string         `json:"currency"`
	Ours        recon.Movement `json:"ours"`
	Theirs      recon.Movement `json:"theirs"`
	Before      credit.Amount  `json:"difference_before"`
	Change      credit.Amount  `json:"change"`
	After       credit.Amount  `json:"difference_after"`
	Listed      credit.Amount  `json:"listed"`
	Unexplained credit.Amount  `json:"not_explained"`
}

type countJSON struct {
	Provider outside     `json:"provider"`
	Class    recon.Class `json:"class"`
	Items    int         `json:"items"`
}

type sourceJSON struct {
	List     recon.ListName `json:"list"`
	Name     outside        `json:"name"`
	Digest   outside        `json:"digest"`
	Rows     int            `json:"rows"`
	Complete bool           `json:"complete"`
	Reason   outside        `json:"reason,omitempty"`
	Notes    []outside      `json:"notes,omitempty"`
	From     time.Time      `json:"from,omitzero"`
	Reaches  time.Time      `json:"reaches,omitzero"`
}

type signOffJSON struct {
	By   outside   `json:"by"`
	At   time.Time `json:"at"`
	Note outside   `json:"note,omitempty"`
}

func newHead(d Data, g *gathered) headJSON {
	r, v := d.Run, g.verdict(d)
	_, off := g.differences()
	out := headJSON{
		Schema: "creditonce/reconciliation/1", Environment: d.environment(), Notice: d.notice(), Never: Never,
		Verdict: verdictJSON{State: v.State, Headline: outside(v.Headline), Details: texts(v.Details), Amounts: append([]credit.Amount{}, off.list()...), Behind: []reachJSON{}, Newer: []newerJSON{}},
		Run: runJSON{
			ID: number(uint64(r.ID)), First: r.First, Last: r.Last, Zone: r.Zone, From: r.From.UTC(), Until: r.Until.UTC(), Started: r.Started.UTC(), Finished: r.Finished.UTC(),
			By: outside(r.By), Version: outside(r.Version), Digest: outside(r.Digest), Lines: r.Outcome.Lines, Rows: r.Outcome.Rows, Deals: r.Outcome.Deals,
		},
		Classes: []classJSON{}, Rolls: []rollJSON{}, Providers: []countJSON{}, Costs: append([]recon.Cost{}, r.Outcome.Costs...), Rests: append([]recon.Rest{}, r.Outcome.Rests...), Sources: []sourceJSON{}, Unasked: []unaskedJSON{}, Earlier: newEarlier(r),
	}
	for _, class := range recon.Classes() {
		w := WordsOf(class)
		out.Classes = append(out.Classes, classJSON{class, w.Title, w.Means, w.Do, class.Difference(), r.Outcome.Classes[class]})
	}
	for _, f := range g.forwards(r.Outcome.Rolls) {
		out.Rolls = append(out.Rolls, rollJSON{f.Side, outside(f.Provider), f.Currency, f.Ours, f.Theirs, f.AtOpening, f.Change, f.AtClosing, f.Sum, f.Unexplained})
	}
	for _, c := range r.Outcome.Counts {
		out.Providers = append(out.Providers, countJSON{outside(c.Provider), c.Class, c.Items})
	}
	for _, b := range r.Behind() {
		out.Verdict.Behind = append(out.Verdict.Behind, reachJSON{outside(b.Provider), b.At.UTC(), int64(b.Behind / time.Second)})
	}
	for _, n := range d.Newer.Incomplete {
		out.Verdict.Newer = append(out.Verdict.Newer, newerJSON{number(uint64(n.ID)), n.Finished.UTC(), texts(unread(n))})
	}
	for _, u := range r.Outcome.Unasked {
		out.Unasked = append(out.Unasked, unaskedJSON{outside(u.Provider), u.From.UTC(), u.Days, u.All})
	}
	for _, s := range r.Sources {
		out.Sources = append(out.Sources, sourceJSON{s.List, outside(s.Name), outside(s.Digest), s.Rows, s.Complete, outside(s.Reason), texts(s.Notes), s.From.UTC(), s.Reaches.UTC()})
	}
	if s := r.SignOff; s != nil {
		out.SignOff = &signOffJSON{outside(s.By), s.At.UTC(), outside(s.Note)}
	}
	return out
}

func texts(list []string) []outside {
	out := make([]outside, len(list))
	for i, s := range list {
		out[i] = outside(s)
	}
	return out
}

type itemJSON struct {
	Class       recon.Class     `json:"class"`
	Difference  bool            `json:"difference"`
	Entity      outside         `json:"entity"`
	Side        recon.Side      `json:"side"`
	Provider    outside         `json:"provider"`
	BusinessDay string          `json:"business_day"`
	At          time.Time       `json:"at"`
	Age         int             `json:"age_days"`
	Off         credit.Amount   `json:"off"`
	Beside      []credit.Amount `json:"beside,omitempty"`
	Why         outside         `json:"why"`
	Task        *taskJSON       `json:"task"`
	Records     []recordJSON    `json:"records"`
}

type taskJSON struct {
	ID     string    `json:"id"`
	State  outside   `json:"state"`
	Opened time.Time `json:"opened,omitzero"`
}

type recordJSON struct {
	Record    string        `json:"record"`
	What      outside       `json:"what"`
	ID        outside       `json:"id,omitempty"`
	Payment   outside       `json:"payment,omitempty"`
	Part      outside       `json:"part,omitempty"`
	Code      outside       `json:"deposit_code,omitempty"`
	Paid      credit.Amount `json:"paid"`
	Fee       credit.Amount `json:"fee"`
	Net       credit.Amount `json:"net"`
	Credited  credit.Amount `json:"credited"`
	Server    outside       `json:"server,omitempty"`
	Login     string        `json:"login,omitempty"`
	Ticket    string        `json:"ticket,omitempty"`
	Reference outside       `json:"reference,omitempty"`
	At        time.Time     `json:"at,omitzero"`
	SettledAt time.Time     `json:"settled_at,omitzero"`
	Digest    outside       `json:"file_sha256,omitempty"`
	Line      int           `json:"file_line,omitempty"`
	Also      outside       `json:"also,omitempty"`
}

func newItem(d Data, loc *time.Location, item recon.Item) itemJSON {
	out := itemJSON{
		Class: item.Key.Class, Difference: item.Key.Class.Difference(), Entity: outside(item.Key.Entity), Side: item.Side, Provider: outside(item.Provider),
		BusinessDay: day(item.At, loc), At: item.At.UTC(), Age: age(item.At, d.Run.Started, loc), Off: item.Off, Beside: item.Beside, Why: outside(item.Why), Records: []recordJSON{},
	}
	if t, some := d.task(item.Key); some {
		out.Task = &taskJSON{strconv.FormatUint(uint64(t.ID), 10), outside(t.State), t.Opened.UTC()}
	}
	for _, r := range records(item) {
		out.Records = append(out.Records, recordJSON{
			Record: r.side, What: outside(r.what), ID: outside(r.id), Payment: outside(r.payment), Part: outside(r.part), Code: outside(r.code),
			Paid: r.paid, Fee: r.fee, Net: r.net, Credited: r.credited, Server: outside(r.server), Login: r.login, Ticket: r.ticket, Reference: outside(r.reference),
			At: r.at.UTC(), SettledAt: r.settled.UTC(), Digest: outside(r.digest), Line: r.row, Also: outside(r.note),
		})
	}
	return out
}
