package fakemt5

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// object is a JSON object that keeps the order of its fields.
type object []field

type field struct {
	key   string
	value any // string, number, object or []any
}

// number is a JSON scalar that the platform prints as a string and an option prints
// as a number. It holds the exact text.
type number string

func integer[T ~int | ~int64 | ~uint64](n T) number {
	if n < 0 {
		return number(strconv.FormatInt(int64(n), 10))
	}
	return number(strconv.FormatUint(uint64(n), 10))
}

func money(minor int64, digits int) number { return number(formatMinor(minor, digits)) }

// set replaces the value of a key, or adds it. The object itself is not changed:
// rows may be shared with an answer that is kept.
func (o object) set(key string, value any) object {
	out := append(object(nil), o...)
	for i := range out {
		if out[i].key == key {
			out[i].value = value
			return out
		}
	}
	return append(out, field{key, value})
}

func (o object) get(key string) any {
	for _, f := range o {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// eachObject changes the answer's object, or each object of its list.
func eachObject(answer any, change func(object) object) any {
	switch v := answer.(type) {
	case object:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i, row := range v {
			out[i] = eachObject(row, change)
		}
		return out
	}
	return answer
}

// encoder prints answers under one setting of the wire.
type encoder struct {
	keyCase       KeyCase
	numbers       bool
	bareBackslash bool
}

func (e encoder) encode(v any) []byte { return e.append(nil, v) }

func (e encoder) append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return e.appendString(b, v)
	case number:
		if e.numbers {
			return append(b, v...)
		}
		return e.appendString(b, string(v))
	case object:
		b = append(b, '{')
		for i, f := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.appendString(b, e.key(f.key))
			b = append(b, ':')
			b = e.append(b, f.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, row := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.append(b, row)
		}
		return append(b, ']')
	}
	panic("fakemt5: value without an encoding")
}

func (e encoder) key(k string) string {
	switch e.keyCase {
	case KeysLower:
		return strings.ToLower(k)
	case KeysCamel:
		return strings.ToLower(k[:1]) + k[1:]
	default:
		return k
	}
}

// appendString writes a JSON string. Nearly all are plain ASCII and go the short way.
func (e encoder) appendString(b []byte, s string) []byte {
	if strings.IndexFunc(s, needsEscape) < 0 {
		return append(append(append(b, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	// A string always encodes; invalid UTF-8 becomes U+FFFD.
	_ = enc.Encode(s)
	text := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if e.bareBackslash {
		text = bytes.ReplaceAll(text, []byte(`\\`), []byte(`\`))
	}
	return append(b, text...)
}

func needsEscape(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
