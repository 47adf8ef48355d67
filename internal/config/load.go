package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// PathVariable is the environment variable that names the configuration file.
	PathVariable = "CREDITONCE_CONFIG"
	// credentialsVariable is set by systemd for a unit with LoadCredential= (systemd.exec(5)).
	credentialsVariable = "CREDENTIALS_DIRECTORY"

	// maxFile keeps a wrong path (a log, a store) from being read as a configuration.
	maxFile = 256 << 10
)

// SearchPath returns where the file is looked for when PathVariable is not set, first match wins.
func SearchPath() []string { return []string{"config.yaml", "/etc/creditonce/config.yaml"} }

// Find returns the path of the configuration file: what PathVariable says, else the first of SearchPath that exists,
// else "". A file that PathVariable names is not looked at; Load will say when it is missing.
func Find(getenv func(string) string) string {
	if named := getenv(PathVariable); named != "" {
		return named
	}
	for _, path := range SearchPath() {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// Env is what Load takes from the process around it.
type Env struct {
	Getenv func(string) string // os.Getenv, or a stand-in
	Now    time.Time           // decides which certificates have expired
}

// Load reads the file at path, and everything it points to: secret values and certificates. The error is always a
// *Faults with every fault of the file and of what it points to.
func Load(path string, env Env) (*Config, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, &Faults{List: []Fault{{File: path,
			Problem: fmt.Sprintf("the configuration cannot be read (%v); give its path as argument or in %s", err, PathVariable)}}}
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, &Faults{List: []Fault{{File: path,
			Problem: fmt.Sprintf("its folder is unknown (%v); give the whole path", err)}}}
	}
	r := newReader(path, filepath.Dir(whole))
	c := r.read(text)
	r.inspect(&c, env.Getenv(credentialsVariable), env.Now)
	return r.finish(c)
}

// Parse reads the text of a configuration without touching any file: secrets have a source but no value. name is
// used in messages, and its folder is where relative paths start. The error is always a *Faults.
func Parse(name string, text []byte) (*Config, error) {
	r := newReader(name, filepath.Dir(name))
	return r.finish(r.read(text))
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %s", path, FormatSize(maxFile))
	}
	return text, nil
}

func newReader(file, dir string) *reader {
	return &reader{file: file, dir: dir, where: map[string]place{}}
}

// read gives the configuration as far as the text holds one; its faults are in r.
func (r *reader) read(text []byte) Config {
	c := Default()
	c.File = r.file
	root, ok := r.document(text)
	if !ok {
		return c
	}
	r.root(r.section("", root), &c)
	r.crossCheck(&c)
	return c
}

// finish turns what was collected into the result.
func (r *reader) finish(c Config) (*Config, error) {
	if len(r.faults) > 0 {
		inFileOrder(r.faults)
		return nil, &Faults{List: r.faults}
	}
	inFileOrder(r.warnings)
	c.Warnings = r.warnings
	return &c, nil
}

// document parses the text and returns the body of its only document, nil for an empty one.
func (r *reader) document(text []byte) (body ast.Node, ok bool) {
	if len(text) > maxFile {
		r.fault("", "is larger than %s; name the configuration file", FormatSize(maxFile))
		return nil, false
	}
	file, err := parseYAML(text)
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || isEmpty(doc.Body) {
			continue
		}
		if body != nil {
			at := placeOf(doc.Body)
			r.faults = append(r.faults, Fault{File: r.file, Line: at.line, Column: at.column,
				Problem: "a second YAML document starts here; keep one, without --- lines between"})
			continue
		}
		body = doc.Body
	}
	return body, true
}

// parseYAML keeps a panic of the third-party parser on odd input from ending the program without a message.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("the YAML reader gave up: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// syntax reports why the text is no YAML. Only the parser's message and place are used: its long form quotes the text.
func (r *reader) syntax(err error) {
	f := Fault{File: r.file, Line: 1, Column: 1, Problem: "cannot be read as YAML; check indentation, quotes and colons"}
	var broken yaml.Error
	if errors.As(err, &broken) {
		f.Problem = fmt.Sprintf("cannot be read as YAML (%s); check indentation, quotes and colons here and in the line before",
			strings.ReplaceAll(broken.GetMessage(), "\t", "tab"))
		if t := broken.GetToken(); t != nil && t.Position != nil {
			f.Line, f.Column = max(1, t.Position.Line), max(1, t.Position.Column)
		}
	}
	r.faults = append(r.faults, f)
}
