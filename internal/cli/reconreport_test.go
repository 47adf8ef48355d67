package cli

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/admin"
)

func TestReconReport_InEveryFormOfTheRunThatIsAskedFor(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.refused(ExitFailed, "there was no run yet", "dora", "recon", "report")
	l.settled()
	l.ends(ExitDone, "carl", "recon run --day "+l.day(3))
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	l.refused(ExitFailed, "no run has compared the business day "+l.day(9), "dora", "recon", "report", "--day", l.day(9))
	l.refused(ExitFailed, "there is no run 99", "dora", "recon", "report", "--run", "99")
	for format, says := range map[string]string{"text": "pi_lost", "html": "<!doctype html>", "csv": "pi_lost", "totals-csv": "USD", "xlsx": "PK\x03\x04", "json": `"pi_lost"`} {
		got := l.ends(ExitFound, "dora", "recon report --format "+format)
		if !strings.Contains(strings.ToLower(got.stdout), strings.ToLower(says)) || got.stderr != "" {
			t.Errorf("%s: no %q in %.300q, stderr %q", format, says, got.stdout, got.stderr)
		}
		if format == "json" && !json.Valid([]byte(got.stdout)) {
			t.Errorf("no JSON: %.300q", got.stdout)
		}
		path := filepath.Join(l.dir, "report."+format)
		if file := l.ends(ExitFound, "dora", "recon report --format "+format+" --out "+path); file.stdout != "" || !strings.Contains(file.stderr, "written to "+path) {
			t.Errorf("%s: %+v", format, file)
		}
		if text := readText(t, path); text != got.stdout {
			t.Errorf("%s: the file has %d bytes, the output %d", format, len(text), len(got.stdout))
		}
		l.refused(ExitUsage, "is there already", "dora", "recon", "report", "--format", format, "--out", path)
	}
	l.ends(ExitDone, "dora", "recon report --day "+l.day(3))
	l.ends(ExitFound, "dora", "recon report --day "+l.day(2), "pi_lost")
	l.ends(ExitDone, "dora", "recon report --run 1")
	l.refused(ExitUsage, "no such file", "dora", "recon", "report", "--out", filepath.Join(l.dir, "none", "x.txt"))
	l.refused(ExitFailed, "there is no run 99", "dora", "recon", "report", "--run", "99", "--out", filepath.Join(l.dir, "none.txt"))
	left, err := filepath.Glob(filepath.Join(l.dir, "*none.txt*"))
	hidden, err2 := filepath.Glob(filepath.Join(l.dir, ".*.part-*"))
	if err != nil || err2 != nil || len(left)+len(hidden) != 0 {
		t.Errorf("left behind: %v %v, %v %v", left, hidden, err, err2)
	}
}

func TestReconSign_OnceByAMakerOrCheckerAndTheListShowsIt(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.settled()
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(1))
	l.refused(ExitRefused, "maker or checker", "carl", "recon", "sign", "1")
	l.refused(ExitRefused, "incomplete", "anna", "recon", "sign", "2")
	l.refused(ExitFailed, "run 99 does not exist; creditonce recon list shows which do", "anna", "recon", "sign", "99")
	l.refused(ExitUsage, "number", "anna", "recon", "sign", "x")
	got := l.as("anna", "recon", "sign", "1", "--note", "one difference, task 1")
	if got.code != ExitDone || !strings.Contains(got.stdout, "signed by      anna") || !strings.Contains(got.stdout, "one difference, task 1") {
		t.Fatalf("%+v", got)
	}
	l.refused(ExitRefused, "was signed by anna", "ben", "recon", "sign", "1")
	if text := l.ends(ExitFound, "dora", "recon report --run 1").stdout; !strings.Contains(text, "one difference, task 1") {
		t.Errorf("the report does not show the signature:\n%s", text)
	}
	records, err := csv.NewReader(strings.NewReader(l.ok("dora", "recon", "list", "-o", "csv"))).ReadAll()
	if err != nil || len(records) != 3 || strings.Join(records[0], " ") != "run days zone verdict differences finished_at by signed_by" {
		t.Fatalf("%v %q", err, records)
	}
	if records[1][0] != "2" || records[1][3] != "incomplete" || records[2][3] != "differences" || records[2][4] != "1" || records[2][7] != "anna" {
		t.Errorf("%q", records)
	}
	if text := l.ok("dora", "recon", "list"); strings.Count(text, "\n") != 3 || !strings.Contains(text, "FINISHED UTC") {
		t.Errorf("list:\n%s", text)
	}
	if got := l.as("dora", "recon", "list", "--limit", "1"); !strings.Contains(got.stderr, "goes on after 1 entry") || strings.Contains(got.stdout, "anna") {
		t.Errorf("%+v", got)
	}
	if got := l.as("dora", "recon", "list", "--limit", "2"); got.stderr != "" || strings.Count(got.stdout, "\n") != 3 {
		t.Errorf("%+v", got)
	}
}

func TestStatus_TellsHowFarTheBooksAreReconciled(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	at := func() admin.ReconStanding {
		t.Helper()
		var s admin.Status
		l.read(l.ok("dora", "status", "-o", "json"), &s)
		if s.Recon == nil {
			t.Fatal("status says nothing of the reconciliation")
		}
		return *s.Recon
	}
	if s := at(); s.Through != "" || s.Newest != nil || s.Zone != "UTC" || time.Since(s.Since) > time.Hour {
		t.Errorf("before the first run: %+v", s)
	}
	l.ends(ExitDone, "dora", "status", "reconciled   no business day yet, since ", " UTC; there was no run")
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(2))
	if s := at(); s.Through != "" || s.Newest.Verdict != admin.VerdictIncomplete || s.Newest.Differences != 0 {
		t.Errorf("after an incomplete run: %+v", s)
	}
	l.ends(ExitDone, "dora", "status", "UTC; newest run 1, of "+l.day(2)+": incomplete; of what could be compared: everything agrees")
	l.settled()
	l.ends(ExitFound, "carl", "recon run --from "+l.day(3)+" --to "+l.day(2))
	if s := at(); string(s.Through) != l.day(2) || s.Newest.ID != 2 || string(s.Newest.First) != l.day(3) || s.Newest.Verdict != admin.VerdictDifferences || s.Newest.Differences != 1 {
		t.Errorf("after a complete run: %+v", s)
	}
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(1))
	l.ends(ExitDone, "dora", "status", "reconciled   through "+l.day(2)+" (UTC); newest run 3, of "+l.day(1)+": incomplete; of what could be compared: everything agrees")
}
