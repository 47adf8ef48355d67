// Command testreport reads `go test -json` and prints what a person wants to see: a line a package, the output of
// what failed, and every skipped test with its reason. It exits 1 when a test failed, when none ran, and, with
// CI=true, when a test was skipped for any reason but a missing optional tool.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

type report struct {
	output              map[string][]string
	races               map[string]*strings.Builder // reports of the race detector by package: each stands in the output of whatever test ran just then
	racing              map[string]bool             // one is being read
	passed              int
	failed, skipped     []string
	packages, noTests   int
	brokenPackages      []string
	optionalToolMissing func(string) bool
}

func main() {
	r := report{output: map[string][]string{}, races: map[string]*strings.Builder{}, racing: map[string]bool{}, optionalToolMissing: func(out string) bool {
		return strings.Contains(out, "optional tool")
	}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Println(in.Text()) // a build error is no JSON
			continue
		}
		r.take(e)
	}
	if err := in.Err(); err != nil {
		fmt.Println("testreport:", err)
		os.Exit(1)
	}
	os.Exit(r.end(os.Getenv("CI") == "true"))
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
		r.race(e)
	case "build-output":
		fmt.Print(e.Output)
	case "pass", "fail", "skip":
		r.ended(e, key)
		delete(r.output, key)
	}
}

// race keeps what the race detector says, from its first line to the rule behind its last.
func (r *report) race(e event) {
	if strings.Contains(e.Output, "WARNING: DATA RACE") {
		r.racing[e.Package] = true
	}
	if !r.racing[e.Package] {
		return
	}
	if r.races[e.Package] == nil {
		r.races[e.Package] = &strings.Builder{}
	}
	r.races[e.Package].WriteString(e.Output)
	if strings.HasPrefix(e.Output, "==================") {
		delete(r.racing, e.Package)
	}
}

func (r *report) ended(e event, key string) {
	if e.Test == "" {
		r.endedPackage(e, key)
		return
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed = append(r.failed, key)
		fmt.Print(strings.Join(r.output[key], ""))
	case "skip":
		out := strings.Join(r.output[key], "")
		if !r.optionalToolMissing(out) {
			r.skipped = append(r.skipped, key)
		}
		fmt.Print(out)
	}
}

func (r *report) endedPackage(e event, key string) {
	switch e.Action {
	case "skip":
		r.noTests++
	case "pass":
		r.packages++
		fmt.Printf("ok  \t%s\t%.1fs\n", e.Package, e.Elapsed)
	case "fail":
		r.brokenPackages = append(r.brokenPackages, e.Package)
		fmt.Printf("FAIL\t%s\n%s", e.Package, strings.Join(r.output[key], ""))
		if races := r.races[e.Package]; races != nil {
			fmt.Print(races)
		}
	}
}

func (r *report) end(ci bool) int {
	sort.Strings(r.failed)
	for _, f := range r.failed {
		fmt.Println("failed: ", f)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.passed, len(r.failed), len(r.skipped))
	switch {
	case len(r.failed) > 0, len(r.brokenPackages) > 0:
		return 1
	case r.passed == 0:
		fmt.Println("no test ran")
		return 1
	case ci && len(r.skipped) > 0:
		fmt.Println("a skipped test is a failure in CI:", strings.Join(r.skipped, "; "))
		return 1
	}
	return 0
}
