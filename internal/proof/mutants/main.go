package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var (
		part = flag.String("share", "1/1", "which share of the mutants, as 2/3")
		only = flag.String("only", "", "this mutant alone")
		list = flag.Bool("list", false, "print the mutants and run nothing")
	)
	flag.Parse()
	if err := run(*part, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(part, only string, list bool) error {
	var k, n int
	if _, err := fmt.Sscanf(part, "%d/%d", &k, &n); err != nil || k < 1 || k > n {
		return fmt.Errorf("-share %q is no share: 1/3 is the first third", part)
	}
	chosen := share(mutants(), k, n)
	if only != "" {
		chosen = nil
		for _, m := range mutants() {
			if m.name == only {
				chosen = append(chosen, m)
			}
		}
		if chosen == nil {
			return fmt.Errorf("there is no mutant %q; -list shows which there are", only)
		}
	}
	if list {
		for _, m := range chosen {
			say("%-34s %-28s %s\n", m.name, m.edits[0].file, m.killer)
		}
		return nil
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "creditonce-mutants")
	if err != nil {
		return err
	}
	return errors.Join(kill(root, dir, chosen), os.RemoveAll(dir))
}

// kill runs every mutant's harness and prints a line for each.
func kill(root, dir string, chosen []mutant) error {
	over, err := overlay(root, dir, mutants()) // all of them, so that a share is built like the whole
	if err != nil {
		return err
	}
	lab := &laboratory{root: root, dir: dir, overlay: over, built: map[string]string{}}
	if err := lab.sound(chosen); err != nil {
		return err
	}
	survivors := 0
	for i, m := range chosen {
		v, err := lab.try(m.killer, m.name)
		trouble := v.trouble(m)
		if err != nil {
			trouble = err.Error()
		}
		if trouble != "" {
			survivors++
			say("%2d/%d %-34s %5.1f s  %s: %s\n", i+1, len(chosen), m.name, v.took.Seconds(), m.killer, trouble)
			continue
		}
		say("%2d/%d %-34s %5.1f s  %s: %s\n", i+1, len(chosen), m.name, v.took.Seconds(), m.killer, v.said(m.says))
	}
	if survivors > 0 {
		return fmt.Errorf("%d of %d mutants survived", survivors, len(chosen))
	}
	say("all %d mutants died\n", len(chosen))
	return nil
}

// sound runs the harnesses of the chosen mutants with no mutant on.
func (l *laboratory) sound(chosen []mutant) error {
	seen := map[string]bool{}
	for _, m := range chosen {
		at := m.killer.String()
		if seen[at] {
			continue
		}
		seen[at] = true
		v, err := l.try(m.killer, "")
		if err != nil {
			return err
		}
		if v.failed {
			return fmt.Errorf("%s fails without any mutant:\n%s", m.killer, v.output)
		}
	}
	say("%d harnesses pass without a mutant\n", len(seen))
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("run it inside the module")
	}
	return filepath.Dir(file), nil
}

// say writes a line of the table.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }
