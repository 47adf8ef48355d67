package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/internal/config"
	"creditonce/internal/demo"
	"creditonce/internal/desk"
	"creditonce/webhook/fakepsp"
)

// offered asks what a shell would offer after the words, and returns the words without descriptions and cobra's
// directive, such as ":4" (no file names).
func offered(t *testing.T, adjust func(*Process), line ...string) (words []string, directive string) {
	t.Helper()
	got := runWith(adjust, append([]string{"__complete"}, line...)...)
	if got.code != ExitDone {
		t.Fatalf("__complete %q: %+v", line, got)
	}
	for l := range strings.Lines(got.stdout) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, ":") {
			return words, l
		}
		word, _, _ := strings.Cut(l, "\t")
		words = append(words, word)
	}
	t.Fatalf("__complete %q: no directive in %q", line, got.stdout)
	return nil, ""
}

func asIs(*Process) {}

const (
	noFiles     = ":4"
	byEnding    = ":8"
	foldersOnly = ":16"
	anyFile     = ":0"
)

func TestCompletion_OffersValuesOfFlags(t *testing.T) {
	t.Parallel()
	var scenarios []string
	for _, s := range demo.Scenarios() {
		scenarios = append(scenarios, s.Name)
	}
	for _, tt := range []struct {
		line      string
		want      []string
		directive string
	}{
		{"demo --scenario ", append([]string{demo.All}, scenarios...), noFiles},
		{"demo --dir ", nil, foldersOnly},
		{"demo --seed ", nil, noFiles},
		{"sign --event ", slices.Concat([]string{"paid", "refund", "dispute"}, fakepsp.EventNames()), noFiles},
		{"sign --code ", nil, noFiles},
		{"sign --ca-file ", []string{"pem", "crt"}, byEnding},
		{"serve --config ", []string{"yaml", "yml"}, byEnding},
		{"check ", []string{"yaml", "yml"}, byEnding},
		{"keys new --scope ", config.Scopes(), noFiles},
		{"keys new --scope deposits:write --scope ", []string{"accounts:read", "deposits:read"}, noFiles},
		{"fakemt5 --dst ", []string{"none", "off", "on", "eu", "us"}, noFiles},
		{"fakemt5 --journal ", nil, anyFile},
		{"credits list -o ", []string{"table", "json", "jsonl", "csv"}, noFiles},
		{"credits list --state ", creditStates(), noFiles},
		{"deposits list --output ", []string{"table", "json", "jsonl", "csv"}, noFiles},
		{"doctor -o ", []string{"table", "json"}, noFiles},
		{"people add --role ", roles(), noFiles},
		{"status --socket ", nil, anyFile},
		{"version ", nil, noFiles},
	} {
		words := strings.Split(tt.line, " ")
		got, directive := offered(t, asIs, words...)
		if !slices.Equal(got, tt.want) || directive != tt.directive {
			t.Errorf("%q: got %q %s, want %q %s", tt.line, got, directive, tt.want, tt.directive)
		}
	}
}

func TestCompletion_OffersProvidersAndCurrenciesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	path := firm(t, "")
	found := func(p *Process) {
		p.Getenv = func(name string) string { return map[string]string{config.PathVariable: path}[name] }
	}
	for _, line := range [][]string{{"sign", "--provider", ""}, {"sign", "--config", path, "--provider", ""}} {
		if got, directive := offered(t, found, line...); !slices.Equal(got, []string{"stripe"}) || directive != noFiles {
			t.Errorf("%q: %q %s", line, got, directive)
		}
	}
	if got, _ := offered(t, found, "credits", "list", "--server", ""); !slices.Equal(got, []string{"main"}) {
		t.Errorf("servers: %q", got)
	}
	if got, _ := offered(t, found, "sign", "--currency", ""); !slices.Equal(got, []string{"USD"}) {
		t.Errorf("currencies: %q", got)
	}
}

func TestCompletion_OfAConfigurationThatCannotBeReadOffersNothing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "none.yaml"), firm(t, "nonsense: [")} {
		if got, directive := offered(t, asIs, "sign", "--config", path, "--provider", ""); len(got) != 0 || directive != noFiles {
			t.Errorf("%s: %q %s", path, got, directive)
		}
	}
}

func TestCompletion_TableNamesOnlyCommandsAndFlagsThatExist(t *testing.T) {
	t.Parallel()
	root := tree(t)
	commands := map[string][]string{}
	for _, cmd := range everyCommand(root) {
		commands[strings.TrimPrefix(cmd.CommandPath(), "creditonce ")] = valueFlags(cmd)
	}
	for path, flags := range flagCompletions() {
		for flag := range flags {
			if !slices.Contains(commands[path], flag) {
				t.Errorf("%s has no flag --%s", path, flag)
			}
		}
	}
	for path := range argumentCompletions() {
		if _, ok := commands[path]; !ok {
			t.Errorf("there is no command %s", path)
		}
	}
}

func TestCompletionScripts_AreMadeForFourShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run("completion", shell); got.code != ExitDone || !strings.Contains(got.stdout, "creditonce") {
			t.Errorf("%s: code %d, %d bytes", shell, got.code, len(got.stdout))
		}
	}
}

func TestCompletion_KnowsTheStatesAndRolesOfTheDomain(t *testing.T) {
	t.Parallel()
	same(t, creditStates(), credit.States())
	same(t, depositStates(), credit.DepositStates())
	same(t, roles(), desk.Roles())
}

func same[T ~string](t *testing.T, offered []string, of []T) {
	t.Helper()
	var want []string
	for _, w := range of {
		want = append(want, string(w))
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(offered)), want) {
		t.Errorf("offered %q, the domain has %q", offered, want)
	}
}
