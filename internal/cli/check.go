package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
	"creditonce/internal/config"
)

func checkCommand(p *Process) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration: every fault in one run",
		Long: "check reads a configuration and all that it points to (secret files, certificates), and prints every fault\n" +
			"with its file, line and column, or what was checked. It changes nothing and asks no server.\n" +
			"Without FILE it takes $CREDITONCE_CONFIG, else ./config.yaml, else /etc/creditonce/config.yaml.",
		Example: "  creditonce check\n" +
			"  creditonce check /etc/creditonce/config.yaml",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			path := config.Find(p.Getenv)
			if len(given) == 1 {
				path = given[0]
			}
			c, err := loadNamed(p, path, "as the argument")
			if err != nil {
				return err
			}
			return printChecked(p.Stdout, c)
		},
	}
}

// loadConfig reads the configuration at path for any command. Faults and warnings are printed here; the error then
// only carries the exit code.
func loadConfig(p *Process, path string) (*config.Config, error) {
	return loadNamed(p, path, "with --config")
}

// loadNamed is loadConfig for a command whose configuration is named in its own way.
func loadNamed(p *Process, path, how string) (*config.Config, error) {
	if path == "" {
		_, _ = fmt.Fprintf(p.Stderr, "creditonce: no configuration: %s is not set, and there is no %s\n"+
			"To see creditonce work without one: creditonce demo\n"+
			"To write one: start from config.example.yaml, then run: creditonce check FILE\n",
			config.PathVariable, strings.Join(config.SearchPath(), " and no "))
		return nil, exitWith(ExitBadConfig, nil)
	}
	if err := unreadable(p, path, how); err != nil {
		return nil, exitWith(ExitBadConfig, err)
	}
	c, err := config.Load(path, p.configEnv())
	var faults *config.Faults
	switch {
	case errors.As(err, &faults):
		for _, f := range faults.List {
			_, _ = fmt.Fprintln(p.Stderr, f)
		}
		_, _ = fmt.Fprintf(p.Stderr, "creditonce: %s in %s; correct it and run: creditonce check %s\n",
			count(len(faults.List), "fault"), path, path)
		return nil, exitWith(ExitBadConfig, nil)
	case err != nil:
		return nil, exitWith(ExitBadConfig, fmt.Errorf("read configuration: %w", err))
	}
	if faults := app.MappedFaults(c); len(faults) > 0 {
		for _, f := range faults {
			_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", path, f)
		}
		_, _ = fmt.Fprintf(p.Stderr, "creditonce: %s in %s; docs/settlement-formats.md says what each key means\n", count(len(faults), "fault"), path)
		return nil, exitWith(ExitBadConfig, nil)
	}
	for _, w := range c.Warnings {
		_, _ = fmt.Fprintf(p.Stderr, "warning: %v\n", w)
	}
	return c, nil
}

// unreadable says why there is no text to check at path, and what to do: nothing can be corrected in such a file.
func unreadable(p *Process, path, how string) error {
	f, err := os.Open(path)
	if err == nil {
		info, err := f.Stat()
		_ = f.Close() // it was only looked at
		if err == nil && info.IsDir() {
			return fmt.Errorf("the configuration cannot be read: %s is a folder; name the file in it %s", path, how)
		}
		return nil
	}
	named := ""
	if path == p.Getenv(config.PathVariable) {
		named = " (which " + config.PathVariable + " names)"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no configuration: there is no file %s%s; name the one you mean %s or in %s, or write it: start from config.example.yaml, "+
			"then run: creditonce check %s", path, named, how, config.PathVariable, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the configuration cannot be read: you may not open %s%s; run this as the service's user", path, named)
	default:
		return fmt.Errorf("the configuration cannot be read: %w; name the one you mean %s or in %s", err, how, config.PathVariable)
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// printChecked prints one line per thing that was found in order.
func printChecked(w io.Writer, c *config.Config) error {
	lines := []string{
		"environment: " + string(c.Environment),
		"data_dir: " + c.DataDir,
		"webhooks: listen on " + c.Webhooks.Listen,
		"api: listen on " + c.API.Listen,
	}
	for _, k := range c.API.Keys {
		lines = append(lines, fmt.Sprintf("api.keys: %s may %s", k.Name, strings.Join(k.Scopes, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		lines = append(lines, fmt.Sprintf("providers.%s: %s account %s at /webhooks/%s", name, p.Kind, p.Account, name))
		switch s := p.Settlement; {
		case s.Format == "":
			lines = append(lines, fmt.Sprintf("providers.%s: no settlement section, so its statements are not compared", name))
		case s.Pull:
			lines = append(lines, fmt.Sprintf("providers.%s.settlement: %s, pulled from the provider before each run", name, s.Format))
		default:
			lines = append(lines, fmt.Sprintf("providers.%s.settlement: %s, from files that people import", name, s.Format))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.MT5.Servers)) {
		m := c.MT5.Servers[name]
		lines = append(lines, fmt.Sprintf("mt5.servers.%s: %s as manager %d, %s", name, strings.Join(m.Addresses, ", "), m.Login,
			strings.Join(slices.Sorted(maps.Keys(m.Currencies)), ", ")))
	}
	lines = append(lines, c.Checked...)
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "ok  %s\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s is in order\n", c.File)
	return err
}
