package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is more than any request of this API nests.
const maxDepth = 8

// object is a JSON object as it was sent. encoding/json alone would let the last of two equal keys win and take
// "Amount" for "amount": two readers of one body could then see two different deposits.
type object struct {
	names  []string       // in the order of the body
	values map[string]any // string, json.Number, bool, nil, *object or []any
}

// parseObject reads a body that is exactly one JSON object. Its errors are problems without any text of the body
// but safe field names.
func parseObject(body []byte) (*object, error) {
	if tooDeep(body) {
		return nil, kindTooDeep.because("nest at most %d levels", maxDepth)
	}
	if err := oneValue(body); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	v, err := readValue(dec, "")
	if err != nil {
		return nil, err
	}
	root, ok := v.(*object)
	if !ok {
		return nil, kindMalformed.because("send one JSON object")
	}
	return root, nil
}

// tooDeep counts brackets outside of texts, before a parser spends memory on them.
func tooDeep(body []byte) bool {
	depth, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case inText && b == '\\':
			i++
		case b == '"':
			inText = !inText
		case inText:
		case b == '{', b == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return false
}

// oneValue checks the grammar of the whole body first: a token reader alone is more lenient.
func oneValue(body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	var first json.RawMessage
	if err := dec.Decode(&first); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return kindMalformed.because("the JSON is broken at byte %d", syntax.Offset)
		}
		return kindMalformed.because("the JSON is not complete")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return kindTrailing.because("send one JSON object and nothing after it")
	}
	return nil
}

func readValue(dec *json.Decoder, at string) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, kindMalformed.because("the JSON cannot be read")
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return readMembers(dec, at)
		}
		return readItems(dec, at)
	case string:
		// The decoder writes U+FFFD for a byte that is not UTF-8 and for half a surrogate pair: two different texts
		// would become one.
		if strings.ContainsRune(t, utf8.RuneError) {
			return nil, kindMalformed.because("a text holds a character that is not Unicode")
		}
		return t, nil
	default:
		return t, nil
	}
}

func readMembers(dec *json.Decoder, at string) (*object, error) {
	obj := &object{values: map[string]any{}}
	folded := map[string]bool{}
	for dec.More() {
		key, err := readValue(dec, at)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, kindMalformed.because("the JSON cannot be read")
		}
		path := join(at, shownName(name))
		if folded[fold(name)] {
			return nil, kindDuplicateField.about(path, "name each field once; upper and lower case count as the same")
		}
		folded[fold(name)] = true
		value, err := readValue(dec, path)
		if err != nil {
			return nil, err
		}
		obj.names = append(obj.names, name)
		obj.values[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, kindMalformed.because("the JSON cannot be read")
	}
	return obj, nil
}

func readItems(dec *json.Decoder, at string) ([]any, error) {
	items := []any{}
	for dec.More() {
		v, err := readValue(dec, at)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	if _, err := dec.Token(); err != nil {
		return nil, kindMalformed.because("the JSON cannot be read")
	}
	return items, nil
}

// fold maps a name to the least spelling among those that differ in case only, as encoding/json compares names
// (Kelvin sign and k, long s and s included).
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// shownName is a field name fit for an answer. A caller may have put anything there, a secret included: what does
// not look like a name is not repeated.
func shownName(name string) string {
	for i := range len(name) {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '_', b == '-':
		default:
			return "?"
		}
	}
	if name == "" || len(name) > 40 {
		return "?"
	}
	return name
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
