package stripe

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errNotObject says that a value is no JSON object.
var errNotObject = errors.New("not a JSON object")

// eachMember calls do for every member of the object, in its order, with the name decoded and the value as it stands.
// raw is one value of a text that json.Valid has accepted, so that every text is read once for its grammar and each
// level only takes its own members apart. What could not be in such a text is an error all the same, never a panic.
func eachMember(raw []byte, do func(name string, value json.RawMessage) error) error {
	at := space(raw, 0)
	if at == len(raw) || raw[at] != '{' {
		return errNotObject
	}
	if at = space(raw, at+1); at < len(raw) && raw[at] == '}' {
		return nil
	}
	for {
		end := valueEnd(raw, at)
		name, err := quotedText(raw[at:end])
		if err != nil {
			return err
		}
		if at = space(raw, end); at == len(raw) || raw[at] != ':' {
			return errNotObject
		}
		at = space(raw, at+1)
		if end = valueEnd(raw, at); end == at {
			return errNotObject
		}
		if err := do(name, json.RawMessage(raw[at:end])); err != nil {
			return err
		}
		if at = space(raw, end); at == len(raw) || raw[at] != ',' {
			break
		}
		at = space(raw, at+1)
	}
	if at == len(raw) || raw[at] != '}' {
		return errNotObject
	}
	return nil
}

// quotedText decodes a text in its quotes.
func quotedText(quoted []byte) (string, error) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", errNotObject
	}
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	var name string
	if json.Unmarshal(quoted, &name) != nil {
		return "", errNotObject
	}
	return name, nil
}

// space is the first place from at on that is not white space.
func space(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\t' || raw[at] == '\n' || raw[at] == '\r') {
		at++
	}
	return at
}

// valueEnd is the place behind the value that begins at at.
func valueEnd(raw []byte, at int) int {
	if at == len(raw) {
		return at
	}
	switch raw[at] {
	case '"':
		return textEnd(raw, at)
	case '{', '[':
		depth := 0
		for at < len(raw) {
			switch raw[at] {
			case '"':
				at = textEnd(raw, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if at++; depth == 0 {
				return at
			}
		}
		return at
	}
	for at < len(raw) && isLiteral(raw[at]) {
		at++
	}
	return at
}

// isLiteral tells what numbers, true, false and null are made of.
func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// textEnd is the place behind the text whose opening quote is at at.
func textEnd(raw []byte, at int) int {
	for at++; at < len(raw); at++ {
		skip := bytes.IndexByte(raw[at:], '"')
		if skip < 0 {
			return len(raw)
		}
		escape := bytes.IndexByte(raw[at:at+skip], '\\')
		if escape < 0 {
			return at + skip + 1
		}
		at += escape + 1 // and over the escaped byte by the loop
	}
	return len(raw)
}
