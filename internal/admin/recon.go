package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// reconTimeout bounds one run and one import: they read every list, and MT5 login by login.
const reconTimeout = 60 * time.Minute

// LargestStatement is the largest statement file that the service takes, in bytes.
const LargestStatement = 4 << 30

// Reconciliation is what people do about the daily comparison of the three lists. It refuses whom it must.
type Reconciliation interface {
	// Reconcile compares business days; an empty first takes what is due, or the last day that is over.
	Reconcile(ctx context.Context, who desk.Actor, first, last recon.Day) (recon.Run, error)
	// Standing tells how far complete runs have come. It is cheap: status asks it each time.
	Standing(ctx context.Context) (ReconStanding, error)
	// Progress tells how far the run or import under way is; ok is false when there is none.
	Progress() (p recon.Progress, ok bool)
	// Import takes a statement in, or only checks it.
	Import(ctx context.Context, who desk.Actor, w ImportWish, body io.Reader) (ImportAnswer, error)
	// Withdraw takes an imported statement back.
	Withdraw(ctx context.Context, who desk.Actor, id recon.StatementID, reason string) (recon.Imported, error)
	Statements(ctx context.Context, who desk.Actor, provider string, below recon.StatementID, limit int) ([]recon.Imported, error)
	Runs(ctx context.Context, who desk.Actor, below recon.RunID, limit int) ([]recon.Run, error)
	// Report renders a run: of a day the newest complete one, else the newest. It returns what the bytes are as soon as that is known to work, and
	// write writes them.
	Report(ctx context.Context, who desk.Actor, w ReportWish) (Rendered, error)
	Sign(ctx context.Context, who desk.Actor, run recon.RunID, note string) (SignedRun, error)
	// Difference is what the newest run that showed a difference showed of it; with columns also as text. nil where no run has it any more.
	Difference(ctx context.Context, who desk.Actor, k recon.Key, columns int) (*Difference, error)
}

// ReportWish says which report: of a run by number, or of a business day; neither: of the newest run.
type ReportWish struct {
	Run    recon.RunID
	Day    recon.Day
	Format string // one of ReportFormats
}

// ReportFormats are the forms of a report.
func ReportFormats() []string { return []string{"text", "html", "csv", "totals-csv", "xlsx", "json"} }

// Rendered is a report that is about to be written.
type Rendered struct {
	Run         recon.Run
	Newer       []recon.RunID // runs of its business days that are newer and were not complete, newest first; then the verdict is incomplete
	ContentType string
	Write       func(w io.Writer) error
}

// SignedRun is a run that was signed.
type SignedRun struct {
	ReconRun
	// Newer are runs of its business days that are newer and were not complete, newest first. They do not keep anybody from signing.
	Newer []string `json:"newer_incomplete,omitempty"`
	// Again are newer complete runs of some of its business days, newest first.
	Again []string `json:"newer_complete,omitempty"`
}

// The records of the reconciliation, as JSON: ids are text there, amounts have minor units, currency and exponent.
type (
	// ReconRun is one run.
	ReconRun = recon.Run
	// ReconStatement is one imported statement.
	ReconStatement = recon.Imported
	// ReconChecked is what a file says before anything of it is stored.
	ReconChecked = recon.Checked
	// ReconAmount is money as the comparison has it.
	ReconAmount = credit.Amount
	// ReconSource is one list as a run found it.
	ReconSource = recon.Source
)

// ReconStanding is what status tells of the reconciliation.
type ReconStanding struct {
	Through recon.Day `json:"complete_through,omitempty"` // the last business day up to which complete runs reach; left out: there was none yet
	Since   time.Time `json:"since"`                      // UTC; when the store was made: no day before it is due
	Zone    string    `json:"zone"`                       // of business days
	Newest  *RunGist  `json:"newest_run,omitempty"`
}

// RunGist is what a run says in short.
type RunGist struct {
	ID          recon.RunID `json:"id,string"`
	First       recon.Day   `json:"first"`
	Last        recon.Day   `json:"last"`
	Verdict     string      `json:"verdict"`     // clean, differences or incomplete
	Differences int         `json:"differences"` // of what could be compared
	Finished    time.Time   `json:"finished"`    // UTC
}

// GistOf is the short of a run.
func GistOf(r ReconRun) *RunGist {
	return &RunGist{ID: r.ID, First: r.First, Last: r.Last, Verdict: verdictOf(r), Differences: r.Differences(), Finished: r.Finished}
}

// ReconClasses are the classes of a comparison in the order of a report.
func ReconClasses() []recon.Class { return recon.Classes() }

// NeedsAnswer tells that a person must look at rows of the statement; there is a task about it.
func NeedsAnswer(s ReconStatement) bool {
	return len(s.Statement.Problems)+len(s.Conflicts) > 0 || slices.ContainsFunc(s.Statement.Totals, func(t recon.StatedTotal) bool { return !t.Agrees() })
}

// RunOf asks for a run of the business days from first to last; both empty: what is due. Texts that are no days are an error that says so.
func RunOf(first, last string) (RunWish, error) {
	out := RunWish{First: recon.Day(first), Last: recon.Day(last)}
	return out, out.check()
}

func (w RunWish) check() error {
	for _, d := range []recon.Day{w.First, w.Last} {
		if err := dayFault(d); err != nil {
			return err
		}
	}
	switch {
	case (w.First == "") != (w.Last == ""):
		return invalid("a run names its first and its last business day, or neither")
	case w.Last < w.First:
		return invalid("the first business day, %s, is after the last one, %s", w.First, w.Last)
	}
	return nil
}

// dayFault says what is wrong with a business day; none is fine.
func dayFault(d recon.Day) error {
	if d == "" {
		return nil
	}
	_, err := recon.ParseDay(string(d))
	return err
}

// RunWish asks for a run.
type RunWish struct {
	First recon.Day `json:"first,omitempty"`
	Last  recon.Day `json:"last,omitempty"`
}

// ImportWish says what to import.
type ImportWish struct {
	Provider   string // label
	Name       string // of the file
	Dry        bool   // check it, and import nothing
	Incomplete bool   // take it although lines may be missing
}

// ImportAnswer is what an import gave.
type ImportAnswer struct {
	Statement recon.Imported `json:"statement"`
	Checked   *recon.Checked `json:"checked,omitempty"` // of a dry run, which imports nothing
	Before    bool           `json:"before"`            // the same bytes were imported before; nothing was changed
}

// ProgressAnswer is how far a run or an import is.
type ProgressAnswer struct {
	Busy  bool   `json:"busy"`
	Step  string `json:"step,omitempty"`
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: nobody knows
}

// SignWish signs a report off.
type SignWish struct {
	Note string `json:"note"`
}

func (s *Server) reconRoutes() []route {
	return []route{
		{pattern: "POST /v1/recon/runs", handle: s.reconcile, takes: reconTimeout},
		{pattern: "GET /v1/recon/runs", handle: s.reconRuns},
		{pattern: "POST /v1/recon/runs/{id}/sign", handle: s.signRun},
		{pattern: "GET /v1/recon/progress", handle: s.reconProgress},
		{pattern: "GET /v1/recon/report", handle: s.report, takes: reconTimeout},
		{pattern: "POST /v1/recon/statements", handle: s.importStatement, takes: reconTimeout},
		{pattern: "GET /v1/recon/statements", handle: s.statements},
		{pattern: "POST /v1/recon/statements/{id}/withdraw", handle: s.withdrawStatement},
	}
}

// reconciliation is the part that does it; a service without one says so.
func (s *Server) reconciliation() (Reconciliation, error) {
	if s.cfg.Recon == nil {
		return nil, &Problem{"Not here", http.StatusNotImplemented, "no_recon", "this service does not reconcile"}
	}
	return s.cfg.Recon, nil
}

// patient lets an answer take as long as a run may; else it would be cut, and the lists tell.
func (s *Server) patient(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(s.cfg.Now().Add(reconTimeout + time.Minute))
	_ = c.SetReadDeadline(s.cfg.Now().Add(reconTimeout + time.Minute))
}

func (s *Server) reconcile(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	var wish RunWish
	if err := readBody(w, r, &wish); err != nil {
		return nil, err
	}
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	if err := wish.check(); err != nil {
		return nil, err
	}
	s.patient(w)
	return rec.Reconcile(r.Context(), who, wish.First, wish.Last)
}

func (s *Server) reconProgress(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Desk.MayLook(r.Context(), who); err != nil {
		return nil, err
	}
	p, busy := rec.Progress()
	return ProgressAnswer{Busy: busy, Step: p.Step, Done: p.Done, Total: p.Total}, nil
}

func (s *Server) reconRuns(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	q := newQuery(r, "below", "limit")
	below, limit := number64(q, "below"), pageLimit(q)
	if q.fault != nil {
		return nil, q.fault
	}
	runs, err := rec.Runs(r.Context(), who, recon.RunID(below), limit+1)
	if err != nil {
		return nil, err
	}
	return pageBelow(runs, limit, func(r recon.Run) uint64 { return uint64(r.ID) }), nil
}

func (s *Server) statements(_ http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	q := newQuery(r, "provider", "below", "limit")
	provider, below, limit := q.text("provider"), number64(q, "below"), pageLimit(q)
	if q.fault != nil {
		return nil, q.fault
	}
	list, err := rec.Statements(r.Context(), who, provider, recon.StatementID(below), limit+1)
	if err != nil {
		return nil, err
	}
	return pageBelow(list, limit, func(im recon.Imported) uint64 { return uint64(im.ID) }), nil
}

// pageBelow cuts what was read to a page; one record beyond the limit tells that the list goes on.
func pageBelow[T any](items []T, limit int, id func(T) uint64) List[T] {
	out := List[T]{Items: items}
	if len(items) > limit {
		out.Items = items[:limit]
		out.Next = strconv.FormatUint(id(items[limit-1]), 10)
	}
	return out
}

// mostPage bounds one page of runs or statements.
const mostPage = 200

func pageLimit(q *query) int {
	n := number64(q, "limit")
	if n == 0 || n > mostPage {
		return mostPage
	}
	return int(n)
}

func number64(q *query, name string) uint64 {
	text := q.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && q.fault == nil {
		q.fault = invalid("%s %q is no whole number", name, clipped(text))
	}
	return n
}

func (s *Server) signRun(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	id, err := numbered[recon.RunID](r)
	if err != nil {
		return nil, err
	}
	var wish SignWish
	if err := readBody(w, r, &wish); err != nil {
		return nil, err
	}
	run, err := rec.Sign(r.Context(), who, id, wish.Note)
	if err != nil {
		return nil, missing(err, "run/%d", id)
	}
	return run, nil
}

func (s *Server) importStatement(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	q := newQuery(r, "provider", "name", "dry", "incomplete")
	wish := ImportWish{Provider: q.text("provider"), Name: q.text("name"), Dry: q.flag("dry"), Incomplete: q.flag("incomplete")}
	if q.fault == nil && (wish.Provider == "" || wish.Name == "") {
		q.fault = invalid("an import names the provider and the file")
	}
	if q.fault != nil {
		return nil, q.fault
	}
	s.patient(w)
	out, err := rec.Import(r.Context(), who, wish, http.MaxBytesReader(w, r.Body, LargestStatement))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, &Problem{"Too large", http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("%s is larger than %d GiB; ask the provider for shorter periods; nothing was imported", clipped(wish.Name), LargestStatement>>30)}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Server) report(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	rec, err := s.reconciliation()
	if err != nil {
		return nil, err
	}
	q := newQuery(r, "run", "day", "format")
	wish := ReportWish{Run: recon.RunID(number64(q, "run")), Day: recon.Day(q.text("day")), Format: q.text("format")}
	if q.fault == nil {
		q.fault = dayFault(wish.Day)
	}
	if q.fault != nil {
		return nil, q.fault
	}
	s.patient(w)
	out, err := rec.Report(r.Context(), who, wish)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", out.ContentType)
	w.Header().Set("Creditonce-Run", strconv.FormatUint(uint64(out.Run.ID), 10))
	verdict := verdictOf(out.Run)
	if len(out.Newer) > 0 {
		verdict = VerdictIncomplete
		w.Header().Set("Creditonce-Newer", strings.Join(RunNumbers(out.Newer[:min(len(out.Newer), mostNumbers)]), ","))
	}
	w.Header().Set("Creditonce-Verdict", verdict)
	if err := out.Write(w); err != nil {
		// The answer has begun: the connection is cut, so that nobody takes a part for the whole.
		return nil, errors.Join(err, http.ErrAbortHandler)
	}
	return written{}, nil
}

// mostNumbers bounds what a header tells.
const mostNumbers = 20

// RunNumbers are numbers of runs as text.
func RunNumbers(ids []recon.RunID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, strconv.FormatUint(uint64(id), 10))
	}
	return out
}

// written is the answer of a handler that has written it itself.
type written struct{}

// The verdicts of a run in one word.
const (
	VerdictClean       = "clean"
	VerdictDifferences = "differences"
	VerdictIncomplete  = "incomplete"
)

func verdictOf(r recon.Run) string {
	switch {
	case r.State != recon.RunComplete:
		return VerdictIncomplete
	case r.News() > 0:
		return VerdictDifferences
	default:
		return VerdictClean
	}
}

// MostWithTasks is how many differences of one run get tasks.
const MostWithTasks = recon.MostCarried

// VerdictOf is what a run says in one word.
func VerdictOf(r ReconRun) string { return verdictOf(r) }
