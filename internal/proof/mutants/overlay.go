package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// variable says which mutant is on.
const variable = "CREDITONCE_MUTANT"

// switchFile is added to every package that has a mutant.
const switchFile = "mutant_switch.go"

// overlay writes the changed files and what go build -overlay wants to read, and returns the latter's path.
func overlay(root, dir string, all []mutant) (string, error) {
	replace := map[string]string{}
	changed, err := mutate(root, all)
	if err != nil {
		return "", err
	}
	write := func(file, text string) error {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "+"))
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	for file, text := range changed {
		if err := write(file, text); err != nil {
			return "", err
		}
		if err := write(path.Join(path.Dir(file), switchFile), switchText(text)); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "overlay.json")
	return to, os.WriteFile(to, list, 0o600)
}

// mutate returns the text of every file that has a mutant, with all of them in it. Its error names every mutant that no
// longer fits the source.
func mutate(root string, all []mutant) (map[string]string, error) {
	changed := map[string]string{}
	var faults []error
	for _, m := range all {
		asks := false
		for _, e := range m.edits {
			asks = asks || strings.Contains(e.broken, on)
			if err := e.make(root, changed, fmt.Sprintf("mutantOn(%q)", m.name)); err != nil {
				faults = append(faults, fmt.Errorf("mutant %s: %w", m.name, err))
			}
		}
		if !asks {
			faults = append(faults, fmt.Errorf("mutant %s does not ask whether it is on", m.name))
		}
	}
	return changed, errors.Join(faults...)
}

// make changes the text of the edit's file, which is read unless an earlier edit has changed it.
func (e edit) make(root string, changed map[string]string, asks string) error {
	text, known := changed[e.file]
	if !known {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
		if err != nil {
			return err
		}
		text = string(b)
	}
	if n := strings.Count(text, e.old); n != 1 {
		return fmt.Errorf("what it changes stands %d times in %s, not once: %q", n, e.file, e.old)
	}
	changed[e.file] = strings.Replace(text, e.old, strings.ReplaceAll(e.broken, on, asks), 1)
	return nil
}

// switchText is the switch for the package of a file.
func switchText(text string) string {
	_, rest, _ := strings.Cut("\n"+text, "\npackage ")
	name, _, _ := strings.Cut(rest, "\n")
	return fmt.Sprintf(`package %s

import "os"

var mutantName = os.Getenv(%q)

func mutantOn(name string) bool { return mutantName == name }
`, strings.TrimSpace(name), variable)
}
