package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// reader walks the tree of one file and collects faults by path; it never stops at the first.
type reader struct {
	file     string // as messages name it
	dir      string // relative paths in the file start here
	demo     bool
	where    map[string]place
	faults   []Fault
	warnings []Fault
	options  []option
}

// place is a position in the text, counted from 1.
type place struct{ line, column int }

// option is one option that was looked up, for the test that compares config.example.yaml with the code.
type option struct {
	path    string
	present bool
}

func (r *reader) fault(path, format string, args ...any) {
	r.faults = append(r.faults, r.at(path, fmt.Sprintf(format, args...)))
}

func (r *reader) warn(path, format string, args ...any) {
	r.warnings = append(r.warnings, r.at(path, fmt.Sprintf(format, args...)))
}

// at places a problem: at its path, or at the nearest enclosing one that stands in the file.
func (r *reader) at(path, problem string) Fault {
	f := Fault{File: r.file, Path: path, Problem: problem, Line: 1, Column: 1}
	for ; path != ""; path = enclosing(path) {
		if p, ok := r.where[path]; ok {
			f.Line, f.Column = p.line, p.column
			break
		}
	}
	return f
}

// enclosing cuts the last step off a path.
func enclosing(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// absolute resolves a path of the file against the file's folder.
func (r *reader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.dir, path)
}

// section is one mapping of the file. Its reading methods take the option's name and a pointer that holds the default
// and receives the value; close reports what nobody asked for.
type section struct {
	r       *reader
	path    string
	entries []entry
	asked   []string
	// unread: the section is no mapping, which was reported; nothing more is said about what it lacks.
	unread bool
}

type entry struct {
	name  string
	value ast.Node
	used  bool
}

// section opens the mapping node at path. A nil node is an empty section.
func (r *reader) section(path string, node ast.Node) *section {
	s := &section{r: r, path: path}
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case nil:
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		r.fault(path, "is %s, not a section; write its options indented below it, one per line as name: value", kindOf(node))
		s.unread = true
	}
	for _, pair := range pairs {
		s.add(pair)
	}
	return s
}

// add takes one key: value of the mapping.
func (s *section) add(pair *ast.MappingValueNode) {
	at := placeOf(pair.Key)
	name, ok := keyName(pair.Key)
	if !ok {
		s.r.faults = append(s.r.faults, Fault{File: s.r.file, Line: at.line, Column: at.column, Path: s.path,
			Problem: "a key must be plain text (no merge, anchor or list, not empty, printable, short); write the options out"})
		return
	}
	path := s.child(name)
	if slices.ContainsFunc(s.entries, func(e entry) bool { return e.name == name }) {
		first := s.r.where[path]
		s.r.faults = append(s.r.faults, Fault{File: s.r.file, Line: at.line, Column: at.column, Path: path,
			Problem: fmt.Sprintf("is written a second time (first in line %d); keep one", first.line)})
		return
	}
	s.r.where[path] = at
	s.entries = append(s.entries, entry{name: name, value: pair.Value})
}

// maxKey is far above any option or name; longer keys are not repeated in messages.
const maxKey = 128

func isNotPrintable(r rune) bool { return !unicode.IsPrint(r) }

// keyName gives the text of a key that is plain printable text or a whole number.
func keyName(key ast.MapKeyNode) (string, bool) {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value, k.Value != "" && len(k.Value) <= maxKey && !strings.ContainsFunc(k.Value, isNotPrintable)
	case *ast.IntegerNode:
		return k.GetToken().Value, true
	default:
		return "", false
	}
}

func (s *section) child(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

// value marks name as known and returns its node, nil when it is absent or, which is reported, empty.
func (s *section) value(name string) ast.Node {
	node, present := s.lookUp(name)
	if present && node == nil {
		s.r.fault(s.child(name), "has no value; write one, or delete the line to use the default")
	}
	return node
}

// lookUp marks name as known and returns its node, nil when it is absent or empty.
func (s *section) lookUp(name string) (node ast.Node, present bool) {
	s.asked = append(s.asked, name)
	for i := range s.entries {
		if e := &s.entries[i]; e.name == name {
			e.used, present = true, true
			if !isEmpty(e.value) {
				node = e.value
			}
		}
	}
	s.r.options = append(s.r.options, option{s.child(name), present})
	return node, present
}

// has reports whether the file holds name in this section.
func (s *section) has(name string) bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.name == name })
}

// require reports each of names that is absent. advice completes "is missing; ".
func (s *section) require(advice string, names ...string) {
	if s.unread {
		return
	}
	for _, name := range names {
		if !s.has(name) {
			s.r.fault(s.child(name), "is missing; %s", advice)
		}
	}
}

// open returns the named section, an empty one when it is absent. A section whose options are all commented out, so
// that YAML sees nothing, is empty too.
func (s *section) open(name string) *section {
	node, _ := s.lookUp(name)
	inner := s.r.section(s.child(name), node)
	// What an absent section lacks is reported at the place where it would stand.
	inner.unread = inner.unread || s.unread
	return inner
}

// each opens the named mapping of freely named entries and calls read for each name in the order of the file.
func (s *section) each(name string, read func(name, path string, value ast.Node)) {
	inner := s.open(name)
	for _, e := range inner.entries {
		if isEmpty(e.value) {
			s.r.fault(inner.child(e.name), "has no value; write one, or delete the line")
			continue
		}
		read(e.name, inner.child(e.name), e.value)
	}
}

// list returns the items of the named list with their paths; nil when it is absent.
func (s *section) list(name string) (items []ast.Node, paths []string) {
	node := s.value(name)
	if node == nil {
		return nil, nil
	}
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		s.r.fault(s.child(name), "is %s, not a list; write [a, b] or one \"- a\" per line", kindOf(node))
		return nil, nil
	}
	for i, item := range seq.Values {
		path := fmt.Sprintf("%s[%d]", s.child(name), i)
		s.r.where[path] = placeOf(item)
		if isEmpty(item) {
			s.r.fault(path, "is an empty list item; write a value or delete it")
			continue
		}
		items, paths = append(items, item), append(paths, path)
	}
	return items, paths
}

// close reports the keys that no reading method asked for.
func (s *section) close() {
	for _, e := range s.entries {
		if e.used {
			continue
		}
		advice := "it may be one of: " + strings.Join(s.asked, ", ")
		if guess := nearest(e.name, s.asked); guess != "" {
			advice = fmt.Sprintf("did you mean %s?", guess)
		}
		s.r.fault(s.child(e.name), "is not an option; %s", advice)
	}
}

func isEmpty(node ast.Node) bool {
	switch node.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	default:
		return false
	}
}

// kindOf names what a node is, for people. It never shows the value: it may be a secret in the wrong place.
func kindOf(node ast.Node) string {
	switch node.(type) {
	case *ast.StringNode:
		return "text"
	case *ast.LiteralNode:
		return "text of several lines"
	case *ast.IntegerNode:
		return "a whole number"
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a section"
	case *ast.AnchorNode, *ast.AliasNode:
		return "a YAML anchor or alias"
	case *ast.TagNode:
		return "a YAML tag"
	default:
		return "something else"
	}
}

// placeOf returns where a node starts.
func placeOf(node ast.Node) place {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	}
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return place{1, 1}
	}
	at := node.GetToken().Position
	return place{max(1, at.Line), max(1, at.Column)}
}
