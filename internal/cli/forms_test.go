package cli

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/internal/admin"
	"creditonce/internal/app"
)

// damaged is a store with two things that do not agree and one open task.
func damaged() app.Inspection {
	return app.Inspection{
		Path: "/var/lib/creditonce/creditonce.db", Mode: "live", Events: 3,
		Rows:      []app.InspectedRow{{ID: 1, State: "done"}, {ID: 2, State: "done"}, {ID: 3, State: "held"}},
		OpenTasks: []app.InspectedTask{{Kind: "held", Entity: "credit/3", Summary: "no deposit record\x1b[2J"}},
		Findings:  []string{"credit 1: the checksum does not match", "=credit 2: index is missing"},
	}
}

func TestVerify_PrintsItsFindingsInEveryForm(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	form := func(output string) string {
		t.Helper()
		out.Reset()
		if err := printInspection(&out, output, damaged()); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	golden(t, "verify", form(outTable))
	var v verified
	if err := json.Unmarshal([]byte(form(outJSON)), &v); err != nil || len(v.Findings) != 2 || len(v.Tasks) != 1 || v.Credits["done"] != 2 || v.Credits["failed"] != 0 {
		t.Errorf("json: %v %+v", err, v)
	}
	if lines := strings.Split(strings.TrimSpace(form(outLines)), "\n"); len(lines) != 3 || lines[0] != `{"kind":"finding","text":"credit 1: the checksum does not match"}` {
		t.Errorf("jsonl: %q", lines)
	}
	records, err := csv.NewReader(strings.NewReader(form(outCSV))).ReadAll()
	if err != nil || len(records) != 4 || strings.Join(records[0], " ") != "kind subject text" || records[2][2] != "'=credit 2: index is missing" || records[3][1] != "credit/3" {
		t.Errorf("csv: %v %q", err, records)
	}
}

func TestVerify_OfASoundStoreIsOneObjectAndExitCode0(t *testing.T) {
	t.Parallel()
	path := firm(t, `api: {keys: [{name: portal, sha256: "`+strings.Repeat("0", 64)+`", scopes: ["deposits:write"]}]}`)
	got := run("verify", "--config", path, "-o", "xml")
	if got.code != ExitUsage || !strings.Contains(got.stderr, "table, json, jsonl, csv") {
		t.Errorf("%+v", got)
	}
	got = run("verify", "--config", path, "-o", "json")
	if got.code == ExitDone {
		t.Errorf("a store that does not exist was verified: %+v", got)
	}
}

func TestMissingConfiguration_IsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := filepath.Join(dir, "none.yaml")
	byEnvironment := func(p *Process) { p.Getenv = func(string) string { return none } }
	for name, test := range map[string]struct {
		got  result
		says []string
	}{
		"serve":         {run("serve", "--config", none), []string{"no file " + none, "with --config", "config.example.yaml", "creditonce check " + none}},
		"verify":        {run("verify", "--config", none), []string{"no file " + none, "with --config"}},
		"check":         {run("check", none), []string{"no file " + none, "as the argument"}},
		"by variable":   {runWith(byEnvironment, "serve"), []string{"which CREDITONCE_CONFIG names", "with --config"}},
		"a folder":      {run("serve", "--config", dir), []string{dir + " is a folder"}},
		"doctor":        {run("doctor", "--config", none), []string{"1 problem"}},
		"verify -o ...": {run("verify", "--config", none, "-o", "json"), []string{`{"title":"The configuration is wrong"`, "no file"}},
	} {
		want := ExitBadConfig
		if name == "doctor" {
			want = ExitFound
		}
		for _, says := range test.says {
			if test.got.code != want || !strings.Contains(test.got.stderr, says) || strings.Contains(test.got.stderr, "correct it and run") {
				t.Errorf("%s: %+v, want exit %d and %q", name, test.got, want, says)
			}
		}
	}
	if got := run("doctor", "--config", none); !strings.Contains(got.stdout, "there is no file") || strings.Contains(got.stdout, "creditonce check "+none+"\n") && !strings.Contains(got.stdout, "help config") {
		t.Errorf("doctor: %+v", got)
	}
	if os.Geteuid() == 0 {
		return // root may open everything
	}
	closed := filepath.Join(dir, "closed.yaml")
	if err := os.WriteFile(closed, []byte("environment: test\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got := run("serve", "--config", closed); got.code != ExitBadConfig || !strings.Contains(got.stderr, "run this as the service's user") {
		t.Errorf("a file of another user: %+v", got)
	}
}

func TestVersion_IsAFlagToo(t *testing.T) {
	t.Parallel()
	if flag, command := run("--version"), run("version"); flag != command || flag.code != ExitDone {
		t.Errorf("--version: %+v, version: %+v", flag, command)
	}
}

// A program gets its errors in the form that it asked for, and nothing else on either stream.
func TestErrors_AreOneProblemInJSON(t *testing.T) {
	t.Parallel()
	d, run := desktop(t)
	for line, want := range map[string]struct {
		exit int
		code string
		says string
	}{
		"proposals confirm 5 --reason r -o json":                     {ExitUsage, "usage", "proposals show 5 -o json"},
		"proposals confirm 5 --yes --reason r -o jsonl":              {ExitUsage, "usage", "no --hash"},
		"proposals confirm 5 --hash 3f9 --reason r -o json":          {ExitUsage, "usage", "too short"},
		"proposals confirm 5 --hash 000000000000 --reason r -o json": {ExitRefused, "refused", "another hash"},
		"proposals confirm 5 --hash 3f9a01c2d4e5 -o json":            {ExitUsage, "usage", "no --reason"},
		"proposals reject 5 -o json":                                 {ExitUsage, "usage", "no --reason"},
		"hold -o json":                                               {ExitUsage, "usage", "no --reason"},
		"credits list --since yesterday -o jsonl":                    {ExitUsage, "usage", "24h, 7d"},
		"credits list --limit -1 -o json":                            {ExitUsage, "usage", "0 for all"},
		"find nothing -o jsonl":                                      {ExitFailed, "failed", "nothing with"},
	} {
		got := run(strings.Fields(line)...)
		var p admin.Problem
		if err := json.Unmarshal([]byte(got.stderr), &p); err != nil || got.code != want.exit || p.Code != want.code || !strings.Contains(p.Detail, want.says) || got.stdout != "" {
			t.Errorf("%s: %+v (%v), want exit %d, %s and %q", line, got, err, want.exit, want.code, want.says)
		}
	}
	if len(d.acts) != 0 {
		t.Errorf("something was done: %+v", d.acts)
	}
}

// What cannot be printed is refused before it is done.
func TestCSVOfOneRecord_IsRefusedBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	d, run := desktop(t)
	for _, line := range []string{
		"hold --reason r -o csv", "credits hold 17 --reason r -o csv", "keys new --propose --name shop --scope deposits:read --reason r -o csv",
		"proposals confirm 5 --hash 3f9a01c2d4e5 --reason r -o csv", "proposals reject 5 --reason r -o csv", "status -o csv",
	} {
		if got := run(strings.Fields(line)...); got.code != ExitUsage || !strings.Contains(got.stderr, "nothing was done") || got.stdout != "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if len(d.acts) != 0 {
		t.Errorf("something was done: %+v", d.acts)
	}
}

// What is wrong with a command line is said as that, also where no service is known.
func TestWrongCommandLines_AreSaidBeforeTheServiceIsLookedFor(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"hold":                                 "no --reason",
		"credits hold x --reason r":            "no number",
		"proposals reject 5":                   "no --reason",
		"people bootstrap a b --reason r":      "is no person",
		"people bootstrap a b":                 "no --reason",
		"tasks note 3":                         "no --text",
		"tasks note 3 --text ''":               "no --text",
		"go-live --cutover soon --reason r":    `--cutover "soon" is no time`,
		"alerts test --wait 2h":                "up to 10m0s",
		"status -o csv":                        "no CSV",
		"status -o xml":                        "table, json, jsonl\n",
		"credits list -o xml":                  "table, json, jsonl, csv",
		"deposit manual --client c --reason r": "no --server",
		"deposit manual --client c --server s --login 1 --amount 1.00 --currency USD --bank-reference f --received-at monday --reason r": `--received-at "monday" is no time`,
	} {
		if got := run(shellWords(line)...); got.code != ExitUsage || !strings.Contains(got.stderr, says) || got.stdout != "" {
			t.Errorf("%s: %+v, want exit 2 and %q", line, got, says)
		}
	}
}

func TestSocketThatIsNone_IsSaidSo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("status", "--socket", file); got.code != ExitNoAnswer || !strings.Contains(got.stderr, file+" is no socket") {
		t.Errorf("%+v", got)
	}
}

func TestWhatTheServiceDoesNotUnderstand_IsSaidInWords(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.refused(ExitUsage, `kind "bogus" is none of [held failed`, "carl", "tasks", "list", "--kind", "bogus")
	got := f.refused(ExitUsage, `there is no role "king"; the roles are viewer or operator or maker or checker or admin`, "anna",
		"people", "add", "fred", "--name", "Fred", "--role", "king", "--reason", "joins")
	if strings.Contains(got.stderr, ": invalid") {
		t.Errorf("%+v", got)
	}
	if text := f.as("dave", "people", "me").stderr; text == "" {
		t.Error("nothing is said to a user without a socket")
	}
	if text := f.ok("carl", "status"); !strings.Contains(text, "nobody is told: the configuration has no section alerts") {
		t.Errorf("status:\n%s", text)
	}
}

func TestSign_SaysWhatIsWrongWithAnAmountInWords(t *testing.T) {
	t.Parallel()
	path := firm(t, `api: {keys: [{name: portal, sha256: "`+strings.Repeat("0", 64)+`", scopes: ["deposits:write"]}]}`)
	got := run("sign", "--config", path, "--amount", "1.001", "--currency", "USD", "--code", "order-0001")
	if got.code != ExitUsage || !strings.HasSuffix(got.stderr, "has 3 decimal places, USD has 2\n") {
		t.Errorf("%+v", got)
	}
}
