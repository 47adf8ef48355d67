package cli

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func reconImportCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Take in a provider's statement", Args: args(cobra.ExactArgs(1)),
		Long: "import checks the whole file first and stores its rows only when every one can be read; else nothing is stored, and the message\n" +
			"names the line. The same file a second time changes nothing. FILE may be - for standard input. Rows of an unknown type, rows that\n" +
			"differ from an earlier statement and sums that do not agree become a task; the command then ends with 3. --dry-run stores nothing and\n" +
			"prints what the rows add up to: compare that with the provider's own figures before you import the first file of a format.",
		Example: "  creditonce recon import settlement_detail_report_batch_42.csv --provider adyen-eu --dry-run\n  creditonce recon import settlement_detail_report_batch_42.csv --provider adyen-eu",
	}
	o := operatedOne(p, cmd)
	var wish admin.ImportWish
	cmd.Flags().StringVar(&wish.Provider, "provider", "", "the provider's name in the configuration")
	cmd.Flags().BoolVar(&wish.Dry, "dry-run", false, "only check the file, and print what its rows add up to")
	cmd.Flags().BoolVar(&wish.Incomplete, "incomplete", false, "take a statement although it says itself that rows may be missing")
	o.check = func(*cobra.Command, []string) error {
		if wish.Provider == "" {
			return usagef("whose statement is it? give --provider, as the configuration names it")
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		file, name, err := statementFile(p, given[0])
		wish.Name = name
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read
		stop := followProgress(cmd.Context(), p, c)
		got, err := c.ImportStatement(cmd.Context(), wish, file)
		stop()
		if err != nil {
			return err
		}
		if err := show(o, got, importSheet); err != nil {
			return err
		}
		if !got.Before && admin.NeedsAnswer(got.Statement) {
			return exitWith(ExitFound, nil)
		}
		return nil
	})
	return cmd
}

func statementFile(p *Process, path string) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(p.Stdin), "standard input", nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, "", exitWith(ExitUsage, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", exitWith(ExitUsage, err)
	}
	return file, filepath.Base(path), nil
}

func importSheet(w io.Writer, a admin.ImportAnswer) error {
	im := a.Statement
	var s sheet
	if a.Checked == nil {
		s.add("statement", strconv.FormatUint(uint64(im.ID), 10))
	}
	s.add("file", im.Statement.Name)
	s.add("provider", im.Statement.Provider.Label)
	s.add("sha256", im.Statement.Digest)
	if a.Checked != nil {
		result := fmt.Sprintf("rows: %d; checked, and nothing was imported", im.Statement.Rows)
		if im.Statement.Incomplete != "" {
			result += "; an import would be refused, since rows may be missing (--incomplete takes it all the same)"
		}
		s.add("result", result)
		addSums(&s, *a.Checked)
	} else if a.Before {
		s.add("result", "imported before, on "+im.At.UTC().Format("2006-01-02 15:04 MST")+" by "+im.By+"; nothing was changed")
	} else {
		text := fmt.Sprintf("rows: %d, new: %d, known from earlier statements: %d", im.Statement.Rows, im.Stored-im.Differing(), im.Duplicates)
		if n := im.Differing(); n > 0 {
			text += fmt.Sprintf(", other than in earlier statements and not counted: %d", n)
		}
		s.add("result", text)
	}
	if !im.Reaches.IsZero() {
		s.add("reaches", im.Reaches.UTC().Format("2006-01-02 15:04 MST"))
	}
	for _, t := range im.Statement.Totals {
		text := "agrees with its rows"
		if !t.Agrees() {
			text = "its rows sum up to " + t.Summed.String()
		} else if t.Rest.IsSet() && !t.Rest.IsZero() {
			text += ", with a rounding rest of " + t.Rest.String()
		}
		s.add(t.Name, t.Stated.String()+": "+text)
	}
	s.add("incomplete", im.Statement.Incomplete)
	for _, q := range im.Statement.Problems {
		s.add(fmt.Sprintf("line %d", q.Row), q.Text)
	}
	for _, q := range im.Conflicts {
		s.add(fmt.Sprintf("line %d", q.Row), q.Text)
	}
	if n := im.Differing() - len(im.Conflicts); n > 0 {
		s.add("further lines", fmt.Sprintf("%d more differ from earlier statements", n))
	}
	return s.write(w, "")
}

// addSums shows what the rows of each type add up to.
func addSums(s *sheet, c admin.ReconChecked) {
	amounts := func(list []admin.ReconAmount) string {
		var out []string
		for _, a := range list {
			out = append(out, a.String())
		}
		return strings.Join(out, " and ")
	}
	for _, sum := range c.Sums {
		text := fmt.Sprintf("rows: %d, %s to %s", sum.Rows, sum.First.UTC().Format("2006-01-02 15:04 MST"), sum.Last.UTC().Format("2006-01-02 15:04 MST"))
		if g := amounts(sum.Gross); g != "" {
			text += "; gross " + g
		}
		if n := amounts(sum.Net); n != "" {
			text += "; net " + n
		}
		s.add(string(sum.Type), text)
	}
}

func reconStatementsCommand(p *Process) *cobra.Command {
	cmd := lister(p, "imported statements, newest first", "statements prints each statement that was imported or pulled, with its rows and how far it reaches.",
		"  creditonce recon statements --provider stripe-main", statementColumns(),
		func(cmd *cobra.Command) *filters { return filter(p, cmd, "provider", "of this provider only") },
		func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.ReconStatement], error) {
			return c.Statements(cmd.Context(), below(q))
		})
	cmd.Use = "statements"
	return cmd
}

func statementColumns() []column[admin.ReconStatement] {
	type x = admin.ReconStatement
	return []column[x]{
		{head: "statement", value: func(r x) string { return strconv.FormatUint(uint64(r.ID), 10) }},
		{head: "provider", value: func(r x) string { return r.Statement.Provider.Label }},
		{head: "rows", value: func(r x) string { return strconv.Itoa(r.Statement.Rows) }},
		{head: "new", value: func(r x) string { return strconv.Itoa(r.Stored - r.Differing()) }},
		{head: "reaches UTC", narrow: true, value: func(r x) string { return utc(r.Reaches) }},
		{head: "reaches", wide: true, value: func(r x) string { return stamp(r.Reaches) }},
		{head: "imported UTC", narrow: true, value: func(r x) string { return utc(r.At) }},
		{head: "imported at", wide: true, value: func(r x) string { return stamp(r.At) }},
		{head: "by", value: func(r x) string { return r.By }},
		{head: "sha256", wide: true, value: func(r x) string { return r.Statement.Digest }},
		{head: "withdrawn by", value: withdrawnBy},
		{head: "file", value: func(r x) string { return r.Statement.Name }},
	}
}
