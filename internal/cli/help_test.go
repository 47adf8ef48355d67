package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"creditonce/credit"
	"creditonce/internal/config"
)

// tree is the whole command tree, cobra's own commands included.
func tree(t *testing.T) *cobra.Command {
	t.Helper()
	root := newRoot(&Process{Getenv: func(string) string { return "" }})
	return root
}

// runnable lists root and every command that does something, hidden ones that serve other commands excepted.
func runnable(root *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		if !cmd.Hidden && (cmd.Runnable() || cmd.HasSubCommands()) {
			list = append(list, runnable(cmd)...)
		}
	}
	return list
}

// examples are the command lines of a command's Example that call this program, continuation lines joined.
func examples(cmd *cobra.Command) []string {
	var lines []string
	text := strings.ReplaceAll(cmd.Example, "\\\n", " ")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " > ")
		line, _, _ = strings.Cut(line, " | ")
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "creditonce") {
			lines = append(lines, line)
		}
	}
	return lines
}

// shellWords splits a command line as a shell does, as far as examples go: blanks, and single quotes around words.
func shellWords(line string) []string {
	var out []string
	quoted, begun, word := false, false, ""
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				out = append(out, word)
			}
			begun, word = false, ""
		default:
			begun, word = true, word+string(r)
		}
	}
	if begun {
		out = append(out, word)
	}
	return out
}

func TestEveryCommand_ExplainsItselfAndShowsAnExampleOfItself(t *testing.T) {
	t.Parallel()
	for _, cmd := range runnable(tree(t)) {
		if cmd.Short == "" || cmd.Long == "" {
			t.Errorf("%s: no Short or no Long", cmd.CommandPath())
		}
		own := false
		for _, line := range examples(cmd) {
			own = own || strings.HasPrefix(line+" ", cmd.CommandPath()+" ")
		}
		if !own {
			t.Errorf("%s: no example of it in %q", cmd.CommandPath(), cmd.Example)
		}
	}
}

func TestEveryExample_Parses(t *testing.T) {
	t.Parallel()
	for _, about := range runnable(tree(t)) {
		for _, line := range examples(about) {
			root := tree(t)
			cmd, rest, err := root.Find(shellWords(line)[1:])
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			cmd.InitDefaultHelpFlag()
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

// The examples that need neither a folder nor a server are run as they stand.
func TestSimpleExamples_Run(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, about := range runnable(tree(t)) {
		for _, line := range examples(about) {
			arguments := shellWords(line)[1:]
			if strings.HasPrefix(line, "creditonce keys list") || strings.HasPrefix(line, "creditonce keys revoke") {
				continue // they ask a running service
			}
			if len(arguments) == 0 || !slices.Contains([]string{"version", "keys", "openapi", "completion", "help"}, arguments[0]) || slices.Contains(arguments, "<(creditonce") {
				continue
			}
			ran++
			if got := run(arguments...); got.code != ExitDone || got.stdout == "" {
				t.Errorf("%q: %+v", line, got)
			}
		}
	}
	if ran < 7 {
		t.Errorf("only %d examples ran", ran)
	}
}

func TestTopics_AreListedAndPrinted(t *testing.T) {
	t.Parallel()
	all := run("help")
	for topic, says := range map[string]string{
		"exit-codes": "bad configuration", "config": "{credential: webhook}", "states": "nobody knows whether MT5 applied",
	} {
		if got := run("help", topic); got.code != ExitDone || !strings.Contains(got.stdout, says) {
			t.Errorf("help %s: %+v", topic, got)
		}
		if !strings.Contains(all.stdout, "creditonce "+topic) {
			t.Errorf("help does not name the topic %s:\n%s", topic, all.stdout)
		}
	}
}

func TestHelpConfig_NamesEveryPlaceOfTheFile(t *testing.T) {
	t.Parallel()
	got := run("help", "config")
	for _, place := range append(config.SearchPath(), "$"+config.PathVariable) {
		if !strings.Contains(got.stdout, "\n  "+place+"\n") {
			t.Errorf("%s is missing in\n%s", place, got.stdout)
		}
	}
}

func TestHelpStates_ExplainsEveryStateOfCreditsAndDeposits(t *testing.T) {
	t.Parallel()
	got := run("help", "states")
	var states []string
	for _, s := range credit.States() {
		states = append(states, string(s))
	}
	for _, s := range credit.DepositStates() {
		states = append(states, string(s))
	}
	for _, s := range states {
		if !strings.Contains(got.stdout, "\n  "+s+" ") {
			t.Errorf("state %q is missing in\n%s", s, got.stdout)
		}
	}
	if n := strings.Count(got.stdout, "\n  "); n != len(states) {
		t.Errorf("%d states are explained, the domain has %d", n, len(states))
	}
}
