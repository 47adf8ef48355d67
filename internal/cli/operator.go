package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
	"creditonce/internal/config"
)

// socketVariable names the operators' socket where no --socket does.
const socketVariable = "CREDITONCE_SOCKET"

// operator is what every command needs that asks a running service over its operators' socket.
type operator struct {
	p      *Process
	config string
	socket string
	output string
	single bool // the answer is one record with all that belongs to it: no CSV
	check  func(cmd *cobra.Command, given []string) error
}

// forms are the values that -o may have.
func (o *operator) forms() []string {
	if o.single {
		return []string{outTable, outJSON, outLines}
	}
	return outputs()
}

// operated adds the flags of a command that asks the service. With lists its answer has the formats of -o.
func operated(p *Process, cmd *cobra.Command) *operator {
	o := &operator{p: p, output: outTable}
	configFlag(cmd, &o.config)
	cmd.Flags().StringVar(&o.socket, "socket", "", "the service's socket (default: $"+socketVariable+", else what the configuration says)")
	cmd.Flags().StringVarP(&o.output, "output", "o", outTable, "table, json, jsonl or csv")
	return o
}

// operatedOne is operated for a command whose answer is one record.
func operatedOne(p *Process, cmd *cobra.Command) *operator {
	o := operated(p, cmd)
	o.single = true
	cmd.Flags().Lookup("output").Usage = "table, json or jsonl"
	return o
}

// run makes RunE of a command: it checks -o, finds the socket and turns the service's errors into exit codes.
func (o *operator) run(do func(cmd *cobra.Command, c *admin.Client, given []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case !slices.Contains(outputs(), o.output):
			return usagef("-o %q is not known; give one of: %s", o.output, strings.Join(o.forms(), ", "))
		case o.single && o.output == outCSV: // refused before anything is done
			return usagef("one record with all that belongs to it has no CSV; nothing was done: give -o json, or use list -o csv")
		}
		if o.check != nil { // what is wrong with the command line is said first, wherever the service is
			if err := o.check(cmd, given); err != nil {
				return o.explain(err)
			}
		}
		path, err := o.path()
		if err != nil {
			return o.explain(err)
		}
		return o.explain(do(cmd, admin.NewClient(path), given))
	}
}

// path finds the socket. Only the configuration's text is read, none of its secrets: an operator may not read those.
func (o *operator) path() (string, error) {
	if o.socket != "" {
		return o.socket, nil
	}
	if path := o.p.Getenv(socketVariable); path != "" && o.config == "" {
		return path, nil
	}
	path := chosen(o.p, o.config)
	if path == "" {
		return "", exitWith(ExitBadConfig, fmt.Errorf("no configuration says where the service's socket is; name the socket with --socket or $%s, "+
			"or the configuration with --config", socketVariable))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", exitWith(ExitBadConfig, fmt.Errorf("find the service's socket: %w; name it with --socket or $%s", err, socketVariable))
	}
	c, err := config.Parse(path, text)
	if err != nil {
		return "", exitWith(ExitBadConfig, fmt.Errorf("find the service's socket: %s is not in order; run: creditonce check %s", path, path))
	}
	return c.Admin.Socket, nil
}

// explain chooses the exit code of what the service, or its absence, said. Where the output is JSON the reason is too.
func (o *operator) explain(err error) error {
	var p *admin.Problem
	var away *admin.UnreachableError
	switch {
	case errors.As(err, &away):
		p = &admin.Problem{Title: "No answer", Status: http.StatusBadGateway, Code: "unreachable", Detail: away.Error()}
		return inForm(o.p, o.output, awayCode(away), p)
	case errors.As(err, &p):
		return inForm(o.p, o.output, problemCode(p.Status), p)
	default:
		return saidInForm(o.p, o.output, err)
	}
}

// saidInForm gives an error of the command line itself in the form that -o asks for. What was printed already, stays.
func saidInForm(p *Process, output string, err error) error {
	code := codeOf(err)
	var exit *exitError
	if code == ExitDone || (errors.As(err, &exit) && exit.err == nil) || (output != outJSON && output != outLines) {
		return err
	}
	problem := &admin.Problem{Title: "Failed", Status: http.StatusInternalServerError, Code: "failed", Detail: err.Error()}
	switch code {
	case ExitUsage:
		problem.Title, problem.Status, problem.Code = "Cannot be understood", http.StatusBadRequest, "usage"
	case ExitFound:
		problem.Title, problem.Status, problem.Code = "Something was found", http.StatusConflict, "found"
	case ExitNoAnswer:
		problem.Title, problem.Status, problem.Code = "No complete answer", http.StatusGatewayTimeout, "no_answer"
	case ExitRefused:
		problem.Title, problem.Status, problem.Code = "Refused", http.StatusForbidden, "refused"
	case ExitBadConfig:
		problem.Title, problem.Code = "The configuration is wrong", "configuration"
	}
	return inForm(p, output, code, problem)
}

// inForm ends the command with a problem: a sentence for people, one line of JSON on stderr for programs.
func inForm(p *Process, output string, code int, problem *admin.Problem) error {
	if output != outJSON && output != outLines {
		return exitWith(code, errors.New(refusalText(problem)))
	}
	text, failed := json.Marshal(problem)
	if failed != nil {
		return failed
	}
	_, _ = fmt.Fprintf(p.Stderr, "%s\n", text)
	return exitWith(code, nil)
}

// refusalText says of a refusal that it is one: the sentence alone may read like a result.
func refusalText(p *admin.Problem) string {
	if p.Status == http.StatusForbidden {
		return "refused (" + p.Code + "): " + p.Detail
	}
	return p.Detail
}

func awayCode(e *admin.UnreachableError) int {
	if e.Denied() && !errors.Is(e, fs.ErrNotExist) {
		return ExitRefused
	}
	return ExitNoAnswer
}

func problemCode(status int) int {
	switch status {
	case http.StatusForbidden:
		return ExitRefused
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge:
		return ExitUsage
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ExitNoAnswer
	default:
		return ExitFailed
	}
}

// filters are the flags of a list by name; what is not given is not sent.
type filters struct {
	cmd   *cobra.Command
	now   func() time.Time
	names []string
	times []string
	limit int
	last  *bool // --newest; nil where the list has none
}

// filter adds flags that select: name and help in pairs, --since and --until always.
func filter(p *Process, cmd *cobra.Command, pairs ...string) *filters {
	f := &filters{cmd: cmd, now: p.Now}
	for i := 0; i < len(pairs); i += 2 {
		f.names = append(f.names, pairs[i])
		cmd.Flags().String(pairs[i], "", pairs[i+1])
	}
	cmd.Flags().IntVar(&f.limit, "limit", 100, "how many at most; 0: all")
	return f
}

// spans adds --since and --until.
func (f *filters) spans(of string) *filters {
	f.times = []string{"since", "until"}
	f.cmd.Flags().String("since", "", of+" from then on: 24h, 7d, 2026-11-30 or 2026-11-30T14:00:00Z (UTC)")
	f.cmd.Flags().String("until", "", of+" before then, written as --since")
	return f
}

// turns adds --newest to a list that goes from the oldest on.
func (f *filters) turns() *filters {
	f.last = f.cmd.Flags().Bool("newest", false, "the newest first")
	return f
}

func (f *filters) values() (url.Values, error) {
	out := url.Values{}
	if f.last != nil && *f.last {
		if f.cmd.Flags().Changed("after") {
			return nil, usagef("--after goes on from the oldest, --newest begins with the newest; give one of them")
		}
		out.Set("newest", "true")
	}
	for _, name := range slices.Concat(f.names, f.times) {
		value, err := f.cmd.Flags().GetString(name)
		if err != nil {
			return nil, err
		}
		if value == "" {
			continue
		}
		if slices.Contains(f.times, name) {
			at, err := moment(value, f.now())
			if err != nil {
				return nil, usagef("--%s: %w", name, err)
			}
			value = at.Format(time.RFC3339)
		}
		out.Set(name, value)
	}
	if f.limit < 0 {
		return nil, usagef("--limit %d: give 0 for all, or a number of entries", f.limit)
	}
	return out, nil
}

// moment reads a time as people write it: how long ago, a day (its begin in UTC), or an exact time.
func moment(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.UTC().AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.UTC().Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 24h, 7d, 2026-11-30 or 2026-11-30T14:00:00Z", text)
}

// largestPage is what one request of a list asks for at most.
const largestPage = 500

// collect reads pages until the limit; more tells that the list goes on.
func collect[T any](f *filters, page func(url.Values) (admin.List[T], error)) (items []T, more bool, err error) {
	q, err := f.values()
	if err != nil {
		return nil, false, err
	}
	items = []T{}
	for {
		want := largestPage
		if f.limit > 0 {
			want = min(want, f.limit-len(items))
		}
		q.Set("limit", strconv.Itoa(want))
		got, err := page(q)
		if err != nil {
			return nil, false, err
		}
		items = append(items, got.Items...)
		if got.Next == "" || (f.limit > 0 && len(items) >= f.limit) {
			return items, got.Next != "", nil
		}
		q.Set("after", got.Next)
	}
}

// operatorCommands are the commands that ask a running service over its operators' socket.
func operatorCommands(p *Process) []*cobra.Command {
	return []*cobra.Command{
		statusCommand(p), findCommand(p),
		creditsCommand(p), eventsCommand(p), depositsCommand(p), tasksCommand(p), accountsCommand(p),
		adoptCommand(p), notThisDealCommand(p), dealGoneCommand(p), closeWithoutDealCommand(p), depositCommand(p), webhookCommand(p),
		proposalsCommand(p), holdCommand(p), releaseCommand(p), goLiveCommand(p), takeoverCommand(p), gapCheckedCommand(p), backupCommand(p), peopleCommand(p), auditCommand(p), alertsCommand(p),
		reconCommand(p),
	}
}
