// Package cli is the command line: it reads arguments, hands over to the package that does the work, prints for
// people on stderr and results on stdout, and chooses the exit code (see `creditonce help exit-codes`).
package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"creditonce/internal/config"
)

// Process is what a command may use of the process around it; tests give their own.
type Process struct {
	Args     []string // without the program's name
	Stdin    io.Reader
	Stdout   io.Writer  // results
	Stderr   io.Writer  // messages for people
	Terminal bool       // Stdout is a terminal
	Columns  func() int // of the terminal that Stdout is; 0: it is none. nil is 0
	Watched  bool       // Stderr is a terminal, which can draw over a line
	Getenv   func(string) string
	Now      func() time.Time
	Random   io.Reader // cryptographically strong
}

// ThisProcess is the process as the operating system gives it.
func ThisProcess() *Process {
	return &Process{
		Args:     os.Args[1:],
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: isatty.IsTerminal(os.Stdout.Fd()),
		Columns:  func() int { return columnsOf(os.Stdout) },
		Watched:  isatty.IsTerminal(os.Stderr.Fd()) && os.Getenv("TERM") != "dumb",
		Getenv:   os.Getenv,
		Now:      time.Now,
		Random:   rand.Reader,
	}
}

// screen is where results go.
func (p *Process) screen() screen {
	s := screen{Writer: p.Stdout}
	if p.Columns != nil {
		s.columns = p.Columns()
	}
	return s
}

// columnsOf is how wide a terminal is, as far as it tells; 0 where f is none.
func columnsOf(f *os.File) int {
	if !isatty.IsTerminal(f.Fd()) {
		return 0
	}
	columns, _ := terminalSize(f)
	return cmp.Or(columns, tableWidth)
}

// configEnv is what reading a configuration needs of the process.
func (p *Process) configEnv() config.Env { return config.Env{Getenv: p.Getenv, Now: p.Now()} }

// Main runs the command that p.Args names and returns the exit code. The context's end asks the command to stop.
func Main(ctx context.Context, p *Process) int {
	root := newRoot(p)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	if err != nil && (!errors.As(err, &exit) || exit.err != nil) {
		_, _ = fmt.Fprintf(p.Stderr, "creditonce: %s\n", clipped(err.Error()))
	}
	return codeOf(err)
}

// newRoot builds the whole command tree. A new command is one more line here and a file of its own.
func newRoot(p *Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "creditonce",
		Short: "Turn a provider's payment into exactly one MetaTrader 5 balance operation",
		Long: "creditonce turns \"the payment provider says this client paid\" into exactly one balance operation on the\n" +
			"client's MetaTrader 5 account, can always say what happened, and hands the rest to a person.",
		Example: "  creditonce demo\n" +
			"  creditonce check config.yaml\n" +
			"  creditonce help states",
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return orient(cmd, p) },
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate(versionLine())
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s; see: %s --help", flagFault(err), cmd.CommandPath())
	})
	root.AddCommand(
		demoCommand(p),
		serveCommand(p),
		verifyCommand(p),
		restoreCommand(p),
		signCommand(p),
		checkCommand(p),
		doctorCommand(p),
		mt5Command(p),
		keysCommand(p),
		openapiCommand(p),
		fakeMT5Command(p),
		fakePSPCommand(p),
		benchCommand(p),
		benchLoadCommand(p),
		versionCommand(p),
	)
	root.AddCommand(operatorCommands(p)...)
	root.AddCommand(topics()...)
	completeValues(root, p)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.RunE, cmd.Example = help, "  creditonce help keys new\n  creditonce help exit-codes"
		case "completion":
			explainCompletion(cmd)
			asGroup(cmd)
		}
	}
	return root
}

// flagFault says of a flag's value what is wrong with it, in words of ours: Go's name its functions.
func flagFault(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return clipped(err.Error())
	}
	kind := bad.GetFlag().Value.Type()
	what := "a value of the kind " + kind
	switch {
	case strings.HasPrefix(kind, "uint"):
		what = "a whole number, 0 or more, of at most 64 bits"
	case strings.HasPrefix(kind, "int"):
		what = "a whole number"
	case kind == "duration":
		what = "a time span such as 30s or 5m"
	case kind == "bool":
		what = "true or false"
	}
	return fmt.Sprintf("--%s %q is not %s", bad.GetFlag().Name, clipped(bad.GetValue()), what)
}

// longestEcho is how much of a word that somebody typed is said back.
const longestEcho = 200

// clipped shortens every word of a text that is longer than anybody reads.
func clipped(text string) string {
	return longWord.ReplaceAllStringFunc(text, func(w string) string {
		if len(w) <= longestEcho {
			return w
		}
		return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(w[:longestEcho/4], ""), len(w))
	})
}

var longWord = regexp.MustCompile(`\S{60,}`)

// help shows a command's help. Unlike cobra's own it does not end with 0 when there is no such command.
func help(cmd *cobra.Command, words []string) error {
	about, rest, err := cmd.Root().Find(words)
	if err != nil {
		return usagef("%w; see: %s help", err, cmd.Root().Name())
	}
	if len(rest) > 0 {
		return knownCommand(about, rest)
	}
	about.InitDefaultHelpFlag()
	return about.Help()
}

// knownCommand refuses words that are no command, with what was probably meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := "see: " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2 // cobra's own default comes too late here
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		advice = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("%q is not a command of %s; %s", args[0], cmd.CommandPath(), advice)
}

// group makes a command that only holds others: alone it is a usage error that shows them.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	asGroup(cmd)
	cmd.AddCommand(children...)
	return cmd
}

// asGroup makes a command that only holds others say so: alone it is a usage error, and so is a word that is none of them.
func asGroup(cmd *cobra.Command) {
	cmd.Args = knownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, _ = fmt.Fprint(cmd.ErrOrStderr(), cmd.UsageString())
		return exitWith(ExitUsage, nil)
	}
}

// args makes a check for the number of arguments whose failure is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return usagef("%w; see: %s --help", err, cmd.CommandPath())
		}
		return nil
	}
}

// orient answers a bare `creditonce`: a person gets the next step, a script gets a usage error.
func orient(cmd *cobra.Command, p *Process) error {
	if !p.Terminal {
		_, _ = fmt.Fprint(p.Stderr, cmd.UsageString())
		return exitWith(ExitUsage, nil)
	}
	found, next := "none found ("+strings.Join(config.SearchPath(), ", ")+")", "creditonce demo"
	if path := config.Find(p.Getenv); path != "" {
		found, next = path, "creditonce check"
	}
	_, err := fmt.Fprintf(p.Stdout, `creditonce %s
Turns a provider's payment into exactly one MetaTrader 5 balance operation.

  configuration   %s
  next step       %s

  creditonce demo         see it work, with simulated money
  creditonce check FILE   every fault of a configuration
  creditonce keys new     an API key for your server
  creditonce serve        run the service

  creditonce help         all commands
`, version(), found, next)
	return err
}
