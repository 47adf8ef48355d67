package standard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tree is one JSON object, its members in the order of the text. encoding/json would take "ID" for "id" and the last of
// two equal names for the one; here a name on a path that is there twice, or in two spellings, cannot be read. Members
// that no path names may be anything.
type tree []member

type member struct {
	name  string
	value json.RawMessage
}

const (
	// maxText bounds the texts that are read, in bytes.
	maxText = 500
	// maxDigits bounds an id that is a number.
	maxDigits = 40
)

// parse reads exactly one object.
func parse(body []byte) (tree, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	out, err := members(dec)
	if err != nil {
		return nil, errNotJSON
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return out, nil
}

var errNoObject = errors.New("no whole JSON object")

func members(dec *json.Decoder) (tree, error) {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errNoObject
	}
	out := tree{}
	for dec.More() {
		token, err := dec.Token()
		name, isText := token.(string)
		var value json.RawMessage
		if err != nil || !isText || dec.Decode(&value) != nil {
			return nil, errNoObject
		}
		out = append(out, member{name, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNoObject
	}
	return out, nil
}

// find returns the value that the path leads to; nil where a name on the way is missing, or null.
func (t tree) find(p Path) (json.RawMessage, error) {
	var value json.RawMessage
	for i, name := range p.names() {
		if i > 0 {
			var err error
			if value[0] != '{' {
				return nil, fmt.Errorf("what should hold %s is not an object", p)
			}
			if t, err = members(json.NewDecoder(bytes.NewReader(value))); err != nil {
				return nil, fmt.Errorf("what should hold %s is not an object", p)
			}
		}
		value = nil
		spellings := 0
		for _, m := range t {
			if foldName(m.name) == foldName(name) {
				spellings++
			}
			if m.name == name {
				value = m.value
			}
		}
		if spellings > 1 {
			return nil, fmt.Errorf("%s: a name on the way is there twice, or in two spellings", p)
		}
		if value == nil || string(value) == "null" {
			return nil, nil
		}
	}
	return value, nil
}

// foldName maps names that are equal under Unicode simple folding, as encoding/json compares them, to one text: the
// smallest rune of each rune's folding orbit.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

func (t tree) has(p Path) (bool, error) {
	value, err := t.find(p)
	return value != nil, err
}

// need is find for a member that must be there.
func (t tree) need(p Path) (json.RawMessage, error) {
	value, err := t.find(p)
	if err == nil && value == nil {
		err = fmt.Errorf("%s is missing", p)
	}
	return value, err
}

// text reads a text that is there and not empty.
func (t tree) text(p Path) (string, error) {
	raw, err := t.need(p)
	if err != nil {
		return "", err
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", fmt.Errorf("%s is not a text", p)
	}
	if s == "" || len(s) > maxText {
		return "", fmt.Errorf("%s is empty, or longer than %d bytes", p, maxText)
	}
	// A lone surrogate in the input becomes U+FFFD: two different inputs must not become one text.
	if strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return "", fmt.Errorf("%s holds characters that no identifier has", p)
	}
	return s, nil
}

// optionalText reads a text where a path is configured.
func (t tree) optionalText(p Path) (string, error) {
	if p == "" {
		return "", nil
	}
	return t.text(p)
}

// id reads an identifier: a text, or an integer in plain digits.
func (t tree) id(p Path) (string, error) {
	raw, err := t.need(p)
	if err != nil {
		return "", err
	}
	if raw[0] == '"' {
		return t.text(p)
	}
	if !allDigits(raw) || len(raw) > maxDigits {
		return "", fmt.Errorf("%s is neither a text nor a whole number", p)
	}
	return string(raw), nil
}

// integer returns the digits of a JSON integer, with a minus where it has one. JSON's other spellings of a number
// (1e3, 1.0) are refused, although some of them are whole.
func (t tree) integer(p Path) (string, error) {
	raw, err := t.need(p)
	if err != nil {
		return "", err
	}
	if digits := bytes.TrimPrefix(raw, []byte("-")); !allDigits(digits) || len(digits) > maxDigits {
		return "", fmt.Errorf("%s is not an integer of minor units", p)
	}
	return string(raw), nil
}

// flag reads true or false.
func (t tree) flag(p Path) (bool, error) {
	raw, err := t.need(p)
	if err != nil {
		return false, err
	}
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is not true or false", p)
}

func allDigits(raw []byte) bool {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(raw) > 0
}

// plainDigits reads a JSON integer of 0 to most.
func plainDigits(raw []byte, most int64) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && allDigits(raw) && n <= most
}
