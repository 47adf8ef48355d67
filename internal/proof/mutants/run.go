package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// longest bounds one run of a harness. A mutant that makes it hang is not caught: nobody would know why.
const longest = 5 * time.Minute

// laboratory builds the harnesses, each once, and runs them.
type laboratory struct {
	root    string
	dir     string
	overlay string
	built   map[string]string // package: its test binary
}

// harness builds the test binary of a package with every mutant in it.
func (l *laboratory) binary(pkg string) (string, error) {
	if to := l.built[pkg]; to != "" {
		return to, nil
	}
	to := filepath.Join(l.dir, strings.ReplaceAll(pkg, "/", "+")+".test")
	cmd := exec.Command("go", "test", "-c", "-overlay", l.overlay, "-o", to, "./"+pkg)
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s with the mutants: %w\n%s", pkg, err, out)
	}
	l.built[pkg] = to
	return to, nil
}

// verdict is what a harness made of a mutant.
type verdict struct {
	failed bool
	output string
	took   time.Duration
}

// try runs a harness with a mutant on, or with none.
func (l *laboratory) try(h harness, name string) (verdict, error) {
	binary, err := l.binary(h.pkg)
	if err != nil {
		return verdict{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"-test.run", h.run, "-test.failfast", "-test.v"}, h.args...)...)
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(h.pkg))
	cmd.Env = append(os.Environ(), variable+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err = cmd.Run()
	v := verdict{output: out.String(), took: time.Since(begun)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return v, fmt.Errorf("%s did not end within %v", h, longest)
	case errors.As(err, &exit):
		v.failed = true
	case err != nil:
		return v, err
	case !strings.Contains(v.output, "--- PASS: "):
		return v, fmt.Errorf("%s: no test ran", h)
	}
	return v, nil
}

// said is the first line of the output that has the words, shortened.
func (v verdict) said(words string) string {
	for line := range strings.Lines(v.output) {
		if strings.Contains(line, words) {
			text := []rune(strings.TrimSpace(line))
			return string(text[:min(len(text), 110)])
		}
	}
	return ""
}

// trouble says why the verdict does not kill the mutant; empty: it does.
func (v verdict) trouble(m mutant) string {
	switch {
	case !v.failed:
		return "SURVIVED"
	case strings.Contains(v.output, "\npanic: "):
		return "the harness panicked, which says nothing about the mutant"
	case v.said(m.says) == "":
		return fmt.Sprintf("died without a word of %q", m.says)
	}
	return ""
}
