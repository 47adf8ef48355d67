package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var errNotObject = errors.New("not one JSON object with each member once")

// Object is one JSON object by the exact names of its members, each value's bytes as they came. encoding/json into a
// struct would take "ID" for "id", and the last of two.
type Object map[string]json.RawMessage

// ParseObject reads raw, which must be one JSON object and nothing else. Its error holds no piece of raw.
func ParseObject(raw []byte) (Object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	out := Object{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errNotObject
		}
		text, ok := name.(string)
		if _, twice := out[text]; twice || !ok {
			return nil, errNotObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errNotObject
		}
		out[text] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	return out, nil
}

// ParseList reads the elements of a JSON list, each as its bytes came.
func ParseList(raw []byte) ([]json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("not a list")
	}
	var out []json.RawMessage
	err := json.Unmarshal(raw, &out)
	return out, err
}

// Has tells that there is such a member, and that it is not null.
func (o Object) Has(name string) bool { raw := o[name]; return len(raw) > 0 && string(raw) != "null" }

// Text reads a text that must be there.
func (o Object) Text(name string) (string, error) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("%s is not a text", name)
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// Flag reads true or false, which must be there.
func (o Object) Flag(name string) (bool, error) {
	switch string(o[name]) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is not true or false", name)
}

// Reader reads members of an object and remembers the first that is not what it must be; what follows reads as nothing.
type Reader struct {
	Object Object
	Err    error
}

// Checked is value, or nothing where err or an earlier member of r stands against it; r remembers the first error.
func Checked[T any](r *Reader, value T, err error) T {
	var none T
	if r.Err == nil {
		r.Err = err
	}
	if r.Err != nil {
		return none
	}
	return value
}

// Text reads a text that must be there.
func (r *Reader) Text(name string) string {
	v, err := r.Object.Text(name)
	return Checked(r, v, err)
}

// TextIfAny reads a text that may be missing or null.
func (r *Reader) TextIfAny(name string) string {
	if !r.Object.Has(name) {
		return ""
	}
	return r.Text(name)
}

// Flag reads true or false, which must be there.
func (r *Reader) Flag(name string) bool {
	v, err := r.Object.Flag(name)
	return Checked(r, v, err)
}
