package api

import (
	"encoding/json"
	"slices"
	"strconv"
)

// fields takes the members of one object by their exact names and gathers every fault, so that a caller sees all
// of them at once. After end, nothing in the object has been overlooked.
type fields struct {
	at     string
	obj    *object
	taken  []string
	faults *[]fault
}

func newFields(root *object) (*fields, *[]fault) {
	faults := new([]fault)
	return &fields{obj: root, faults: faults}, faults
}

func (f *fields) blame(name, code, detail string) {
	*f.faults = append(*f.faults, fault{join(f.at, name), code, detail})
}

func (f *fields) has(name string) bool {
	_, ok := f.obj.values[name]
	return ok
}

// take returns the member's value and marks it as known.
func (f *fields) take(name string) (any, bool) {
	f.taken = append(f.taken, name)
	v, ok := f.obj.values[name]
	return v, ok
}

// text takes a required text that keeps the rule; "" after a fault.
func (f *fields) text(name string, keeps rule) string {
	v, ok := f.take(name)
	if !ok {
		f.blame(name, "missing_field", "this field is required")
		return ""
	}
	s, ok := v.(string)
	if !ok {
		f.blame(name, "wrong_type", "want text in quotes, got "+jsonType(v))
		return ""
	}
	if code, detail := keeps(s); code != "" {
		f.blame(name, code, detail)
		return ""
	}
	return s
}

// optionalText takes a text that may be absent: then "".
func (f *fields) optionalText(name string, keeps rule) string {
	if !f.has(name) {
		f.taken = append(f.taken, name)
		return ""
	}
	return f.text(name, keeps)
}

// integer takes a required whole number within the range, written in plain digits.
func (f *fields) integer(name string, low, high int) int {
	v, ok := f.take(name)
	if !ok {
		f.blame(name, "missing_field", "this field is required")
		return 0
	}
	number, ok := v.(json.Number)
	if !ok {
		f.blame(name, "wrong_type", "want a whole number without quotes, got "+jsonType(v))
		return 0
	}
	n, err := strconv.Atoi(string(number))
	if err != nil || n < low || n > high || strconv.Itoa(n) != string(number) {
		f.blame(name, "bad_number", "want a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
		return 0
	}
	return n
}

// child takes a required object; after a fault it returns nil.
func (f *fields) child(name string) *fields {
	v, ok := f.take(name)
	if !ok {
		f.blame(name, "missing_field", "this field is required")
		return nil
	}
	obj, ok := v.(*object)
	if !ok {
		f.blame(name, "wrong_type", "want an object, got "+jsonType(v))
		return nil
	}
	return &fields{at: join(f.at, name), obj: obj, faults: f.faults}
}

// end refuses every member that nobody took.
func (f *fields) end() {
	for _, name := range f.obj.names {
		if !slices.Contains(f.taken, name) {
			f.blame(shownName(name), "unknown_field", "there is no such field here; check its spelling and case")
		}
	}
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case *object:
		return "an object"
	default:
		return "a list"
	}
}
