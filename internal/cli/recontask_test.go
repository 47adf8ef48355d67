package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"creditonce/internal/admin"
)

// Who opens the task of a difference sees the three records beside each other, what the class means and what to do, as text and as JSON.
func TestTaskOfADifference_ShowsTheThreeRecords(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.settled()
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	id := l.taskOf("settled_without_credit")
	l.ok("carl", "tasks", "note", id, "--text", "asked Stripe")
	for _, columns := range []int{60, 120} {
		got := l.with("dora", func(p *Process) { p.Columns = func() int { return columns } }, "tasks", "show", id)
		text := strings.Join(strings.Fields(got.stdout), " ")
		for _, want := range []string{
			"settled_without_credit", "as run 1 of " + l.day(2) + " showed it (creditonce recon report --run 1)", "Settled without credit", "there is no row",
			"What to do: Look for the payment", "Provider", "Our row", "MT5", "nothing", "pi_lost", "42.00 USD", "payment/stripe/acct_office/pi_lost", "asked Stripe",
		} {
			if got.code != ExitDone || !strings.Contains(text, want) {
				t.Errorf("%d columns: %q is not in\n%s%s", columns, want, got.stdout, got.stderr)
			}
		}
		for line := range strings.Lines(got.stdout) {
			if !strings.Contains(line, "creditonce recon report") && len([]rune(line)) > columns+1 {
				t.Errorf("%d columns: %s", columns, line)
			}
		}
	}
	var v admin.TaskDetail
	l.read(l.ok("dora", "tasks", "show", id, "-o", "json"), &v)
	d := v.Difference
	if d == nil || d.Run != "1" || d.First != l.day(2) || d.Title != "Settled without credit" || d.Means == "" || !strings.HasPrefix(d.Do, "Look for the payment") || d.Text != "" {
		t.Fatalf("%+v", d)
	}
	var item struct {
		Class, Entity string
		Task          struct{ ID, State string }
		Records       []struct{ Record, Payment string }
	}
	if err := json.Unmarshal(d.Item, &item); err != nil || item.Class != v.Task.Kind || item.Entity != v.Task.Subject || item.Task.ID != id || item.Task.State != "open" ||
		len(item.Records) != 1 || item.Records[0].Record != "provider" || item.Records[0].Payment != "pi_lost" {
		t.Errorf("%+v, %v", item, err)
	}
	// Another kind of task has no such records, nor has one whose run's items are gone.
	l.ends(ExitNoAnswer, "carl", "recon run")
	v = admin.TaskDetail{}
	l.read(l.ok("dora", "tasks", "show", l.taskOf("recon_incomplete"), "-o", "json"), &v)
	if v.Difference != nil || len(v.Task.Records) == 0 {
		t.Errorf("%+v", v)
	}
}

// taskOf is the number of the one open task of a kind.
func (l *ledger) taskOf(kind string) string {
	l.t.Helper()
	var list admin.List[admin.Task]
	l.read(l.ok("dora", "tasks", "list", "--kind", kind, "-o", "json"), &list)
	if len(list.Items) != 1 {
		l.t.Fatalf("tasks of %s: %+v", kind, list.Items)
	}
	return list.Items[0].ID
}
