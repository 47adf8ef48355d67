package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/recon"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReports_AreAsRecorded(t *testing.T) {
	t.Parallel()
	broken := example()
	broken.Run.State = recon.RunIncomplete
	broken.Run.Sources[3].Complete = false
	broken.Run.Sources[3].Reason = "the server did not answer for 10 minutes; check the connection and run again"
	broken.Environment = "test"
	for label, d := range map[string]Data{"differences": example(), "clean": cleanExample(), "incomplete": broken} {
		for format, render := range formats {
			if format == "xlsx" {
				continue // compressed; TestWorkbook reads it
			}
			t.Run(label+"."+format, func(t *testing.T) {
				t.Parallel()
				got := rendered(t, func(w *strings.Builder) error { return render(w, d) })
				path := filepath.Join("testdata", label+"."+format)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("the report differs from %s; look at it and run with -update", path)
				}
			})
		}
	}
}
