package stripe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// object is one JSON object with its members by their exact names. encoding/json would take "ID" for
// "id" and the last of two equal names for the one; here both make the object unreadable.
type object map[string]json.RawMessage

// maxText bounds the texts that are read: Stripe's own limit of a metadata value is 500 characters.
const maxText = 500

var (
	errNotUTF8 = errors.New("the body is not valid UTF-8")
	errNotJSON = errors.New("the body is not one JSON object")
)

// parseObject reads one object of a text that json.Valid has accepted. what names it in errors; no error repeats a
// piece of the input.
func parseObject(what string, raw []byte) (object, error) {
	out := object{}
	var folded map[string]bool // of every name so far; nil while none of them needs it
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		if _, twice := out[name]; twice {
			return twoMembers(what)
		}
		if folded == nil && !foldsToItself(name) {
			folded = map[string]bool{}
			for earlier := range out {
				folded[foldName(earlier)] = true
			}
		}
		if folded != nil {
			fold := foldName(name)
			if folded[fold] {
				return twoMembers(what)
			}
			folded[fold] = true
		}
		out[name] = value
		return nil
	})
	if errors.Is(err, errNotObject) {
		return nil, fmt.Errorf("%s is not a JSON object", what)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func twoMembers(what string) error {
	return fmt.Errorf("%s has two members whose names differ in case at most", what)
}

// foldsToItself tells that a name is of lower-case ASCII, digits and signs: two such names are equal under folding only
// when they are equal.
func foldsToItself(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// foldName maps names that are equal under Unicode simple folding, as encoding/json compares them, to
// one text: the smallest rune of each rune's folding orbit.
func foldName(name string) string {
	if upper, ascii := upperASCII(name); ascii {
		return upper
	}
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// upperASCII is foldName for names of ASCII alone, as nearly all are: the smallest rune that a letter folds to is its
// upper case.
func upperASCII(name string) (upper string, ascii bool) {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	return strings.ToUpper(name), true
}

// absent tells that there is no such member, or that it is null.
func (o object) absent(name string) bool {
	raw, there := o[name]
	return !there || string(raw) == "null"
}

// text reads an optional text; absent and null give "".
func (o object) text(name string) (string, error) {
	if o.absent(name) {
		return "", nil
	}
	s, err := quotedText(o[name])
	if err != nil {
		return "", fmt.Errorf("%s is not a text", name)
	}
	if len(s) > maxText {
		return "", fmt.Errorf("%s is longer than %d bytes", name, maxText)
	}
	// A lone surrogate in the input becomes U+FFFD: two different inputs must not become one text.
	if strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return "", fmt.Errorf("%s holds characters that no identifier has", name)
	}
	return s, nil
}

// need is text that must be there and not be empty.
func (o object) need(name string) (string, error) {
	s, err := o.text(name)
	if err == nil && s == "" {
		err = fmt.Errorf("%s is missing", name)
	}
	return s, err
}

// number returns the text of a JSON number.
func (o object) number(name string) (string, error) {
	if o.absent(name) {
		return "", fmt.Errorf("%s is missing", name)
	}
	if raw := o[name]; raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw), nil
	}
	return "", fmt.Errorf("%s is not a number", name)
}

// flag reads a boolean that must be there.
func (o object) flag(name string) (bool, error) {
	switch string(o[name]) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is not true or false", name)
}

// reference reads the id of another object: a text, or the object itself where it was expanded.
func (o object) reference(name string) (string, error) {
	if o.absent(name) || o[name][0] != '{' {
		return o.text(name)
	}
	inner, err := parseObject(name, o[name])
	if err != nil {
		return "", err
	}
	return inner.need("id")
}

// metadataCode reads the deposit code from the object's metadata; none gives "".
func (o object) metadataCode() (string, error) {
	if o.absent("metadata") {
		return "", nil
	}
	metadata, err := parseMetadata(o["metadata"])
	if err != nil {
		return "", err
	}
	return metadata.text(metadataKey)
}

// parseMetadata reads the merchant's own members. Elsewhere they may differ in case alone, so only
// what touches our key makes them unreadable.
func parseMetadata(raw []byte) (object, error) {
	out := object{}
	ours := 0
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		if foldName(name) == foldedKey {
			ours++
		}
		out[name] = value
		return nil
	})
	if err != nil {
		return nil, errors.New("metadata is not a JSON object")
	}
	if ours > 1 {
		return nil, fmt.Errorf("metadata has the key %s twice, or in two spellings", metadataKey)
	}
	return out, nil
}

var foldedKey = foldName(metadataKey)
