package stripe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

var errNotObject = errors.New("not one JSON object with each member once")

// object is one JSON object by the exact names of its members, each value's bytes as they came. encoding/json into a
// struct would take "ID" for "id", and the last of two.
type object map[string]json.RawMessage

func parseObject(raw []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	out := object{}
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

// parseList reads the elements of a JSON list, each as its bytes came.
func parseList(raw []byte) ([]json.RawMessage, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("not a list")
	}
	var out []json.RawMessage
	err := json.Unmarshal(raw, &out)
	return out, err
}

func (o object) text(name string) (string, error) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("%s is not a text", name)
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func (o object) flag(name string) (bool, error) {
	switch string(o[name]) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is not true or false", name)
}

// second reads a time in Unix seconds.
func (o object) second(name string) (time.Time, error) {
	n, err := strconv.ParseUint(string(o[name]), 10, 40)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is not a time in Unix seconds", name)
	}
	return time.Unix(int64(n), 0).UTC(), nil
}
