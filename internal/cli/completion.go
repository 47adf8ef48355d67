package cli

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/internal/demo"
	"creditonce/webhook/fakepsp"
)

// words completes from a fixed list; a word may carry a description after a tab.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// files completes file names with one of the endings, any file without.
func files(endings ...string) cobra.CompletionFunc {
	if len(endings) == 0 {
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return cobra.FixedCompletions(endings, cobra.ShellCompDirectiveFilterFileExt)
}

// folders completes folders.
func folders() cobra.CompletionFunc {
	return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
}

// flagCompletions says how the value of a flag is completed, by command and flag; see commonCompletions for those that
// many commands have. A flag that is in neither takes a number or free text, and nothing is offered for it, file names
// neither.
func flagCompletions() map[string]map[string]cobra.CompletionFunc {
	pem := files("pem", "crt")
	return map[string]map[string]cobra.CompletionFunc{
		"demo":     {"scenario": words(scenarioWords()...), "dir": folders()},
		"sign":     {"ca-file": pem, "event": words(slices.Concat(standardEvents(), fakepsp.EventNames())...)},
		"keys new": {"scope": scopeWords},
		"fakemt5": {
			"world": files("json"), "password-file": files(), "journal": files(), "ca-out": pem, "key-file": pem,
			"dst": words("none", "off", "on", "eu", "us"),
		},
		"fakepsp":       {"ca-file": pem, "secret-file": files(), "journal": files()},
		"bench":         {"dir": folders()},
		"bench recon":   {"dir": folders()},
		"doctor":        {"output": words(outTable, outJSON)},
		"credits list":  {"state": words(creditStates()...)},
		"deposits list": {"state": words(depositStates()...)},
		"mt5 probe":     {"import": files("json"), "out": files()},
		"recon report":  {"format": words(admin.ReportFormats()...), "out": files()},
	}
}

// commonCompletions are those of flags that mean the same wherever they are.
func commonCompletions(p *Process) map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"config":   files("yaml", "yml"),
		"output":   words(outputs()...),
		"socket":   files(),
		"role":     words(roles()...),
		"provider": fromConfig(p, func(c *config.Config) []string { return slices.Sorted(maps.Keys(c.Providers)) }),
		"server":   fromConfig(p, func(c *config.Config) []string { return slices.Sorted(maps.Keys(c.MT5.Servers)) }),
		"currency": fromConfig(p, currencies),
	}
}

// The words of credits, deposits and people; a test compares them with the domain's.
func creditStates() []string {
	return []string{"held", "pending", "claimed", "unknown", "done", "failed", "cancelled"}
}

func depositStates() []string {
	return []string{"open", "paid", "crediting", "credited", "review", "expired", "closed"}
}

func roles() []string { return []string{"viewer", "operator", "maker", "checker", "admin"} }

// argumentCompletions is the same for arguments; where a command is not here, there are none to offer.
func argumentCompletions() map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{"check": files("yaml", "yml"), "recon import": files("csv")}
}

// completeValues registers the completions with every command below root.
func completeValues(root *cobra.Command, p *Process) {
	flags, common, arguments := flagCompletions(), commonCompletions(p), argumentCompletions()
	for _, cmd := range everyCommand(root) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		for _, flag := range valueFlags(cmd) {
			complete := flags[path][flag]
			if complete == nil {
				complete = common[flag]
			}
			if complete == nil {
				complete = words()
			}
			if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
				panic(err) // the flag was found on this very command
			}
		}
		if cmd.ValidArgsFunction != nil || cmd.HasSubCommands() {
			continue
		}
		if cmd.ValidArgsFunction = arguments[path]; cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = words()
		}
	}
}

// everyCommand lists all commands below root but cobra's own.
func everyCommand(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		all = append(append(all, cmd), everyCommand(cmd)...)
	}
	return all
}

func scenarioWords() []string {
	list := []string{demo.All + "\tevery scenario but mixed"}
	for _, s := range demo.Scenarios() {
		list = append(list, s.Name+"\t"+s.Story)
	}
	return list
}

// scopeWords leaves out what a key that has the scopes given so far must not have, and those themselves.
func scopeWords(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	given, err := cmd.Flags().GetStringSlice("scope")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var list []string
	for _, scope := range config.Scopes() {
		if !slices.Contains(given, scope) && config.ForbiddenScopes(append(slices.Clone(given), scope)) == "" {
			list = append(list, scope)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// fromConfig completes from the configuration that --config names or that is found. It reads that one file and no
// secret; of a file that cannot be read or has faults nothing is offered, and nothing is printed into the command line.
func fromConfig(p *Process, list func(*config.Config) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		path, err := cmd.Flags().GetString("config")
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		path = chosen(p, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := config.Parse(path, text)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(c), cobra.ShellCompDirectiveNoFileComp
	}
}

// currencies are those of the accounts that the configuration knows.
func currencies(c *config.Config) []string {
	known := map[string]bool{}
	for _, server := range c.MT5.Servers {
		for currency := range server.Currencies {
			known[currency] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// valueFlags names the command's own flags that take a value.
func valueFlags(cmd *cobra.Command) []string {
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" {
			names = append(names, f.Name)
		}
	})
	return names
}

// explainCompletion adds the lines that install the completion to cobra's own command.
func explainCompletion(cmd *cobra.Command) {
	install := map[string]string{
		"bash":       "  creditonce completion bash > /etc/bash_completion.d/creditonce",
		"zsh":        "  creditonce completion zsh > \"${fpath[1]}/_creditonce\"",
		"fish":       "  creditonce completion fish > ~/.config/fish/completions/creditonce.fish",
		"powershell": "  creditonce completion powershell | Out-String | Invoke-Expression",
	}
	cmd.Example = install["bash"]
	for _, shell := range cmd.Commands() {
		shell.Example = install[shell.Name()]
	}
}
