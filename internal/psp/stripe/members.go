package stripe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// reader reads members of an object and remembers the first that is not what it must be; what follows reads as nothing.
type reader struct {
	o   object
	err error
}

func member[T any](r *reader, value T, err error) T {
	var none T
	if r.err == nil {
		r.err = err
	}
	if r.err != nil {
		return none
	}
	return value
}

func (r *reader) text(name string) string {
	v, err := r.o.text(name)
	return member(r, v, err)
}

func (r *reader) flag(name string) bool {
	v, err := r.o.flag(name)
	return member(r, v, err)
}

func (r *reader) second(name string) time.Time {
	v, err := r.o.second(name)
	return member(r, v, err)
}

// integer reads whole minor units. JSON's other spellings of a number (1e3, 1.0, -0) are no amounts.
func (r *reader) integer(name string) int64 {
	text := string(r.o[name])
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != text {
		err = fmt.Errorf("%s is not a whole number of at most 64 bits", name)
	}
	return member(r, v, err)
}

// currency reads a code of three letters, in upper case.
func (r *reader) currency(name string) string {
	code, ok := CurrencyCode(r.text(name))
	if !ok {
		return member(r, "", fmt.Errorf("%s is not a currency", name))
	}
	return member(r, code, nil)
}

// reference reads an id that may be null or missing.
func (r *reader) reference(name string) string {
	if raw := r.o[name]; len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return r.text(name)
}

// rateForm is a positive number as JSON writes it.
var rateForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?$`)

// rate reads a number that may be null, as it came: it is shown, never calculated with.
func (r *reader) rate(name string) string {
	text := string(r.o[name])
	switch {
	case text == "" || text == "null":
		return ""
	case !rateForm.MatchString(text):
		return member(r, "", fmt.Errorf("%s is not a positive number", name))
	}
	return text
}

// texts reads an object of texts; nil where it is missing or null.
func (r *reader) texts(name string) map[string]string {
	raw := r.o[name]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return member(r, map[string]string(nil), fmt.Errorf("%s is %w", name, err))
	}
	out := make(map[string]string, len(o))
	for key, value := range o {
		var text string
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
			return member(r, map[string]string(nil), fmt.Errorf("%s holds something else than texts", name))
		}
		out[key] = text
	}
	return out
}
