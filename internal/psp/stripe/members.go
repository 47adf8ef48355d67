package stripe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"creditonce/internal/psp/ask"
)

// reader reads what Stripe's objects hold.
type reader struct{ ask.Reader }

func read(o ask.Object, err error) reader { return reader{ask.Reader{Object: o, Err: err}} }

// second reads a time in Unix seconds.
func second(o ask.Object, name string) (time.Time, error) {
	n, err := strconv.ParseUint(string(o[name]), 10, 40)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is not a time in Unix seconds", name)
	}
	return time.Unix(int64(n), 0).UTC(), nil
}

func (r *reader) second(name string) time.Time {
	v, err := second(r.Object, name)
	return ask.Checked(&r.Reader, v, err)
}

// integer reads whole minor units. JSON's other spellings of a number (1e3, 1.0, -0) are no amounts.
func (r *reader) integer(name string) int64 {
	text := string(r.Object[name])
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != text {
		err = fmt.Errorf("%s is not a whole number of at most 64 bits", name)
	}
	return ask.Checked(&r.Reader, v, err)
}

// currency reads a code of three letters, in upper case.
func (r *reader) currency(name string) string {
	code, ok := CurrencyCode(r.Text(name))
	if !ok {
		return ask.Checked(&r.Reader, "", fmt.Errorf("%s is not a currency", name))
	}
	return ask.Checked(&r.Reader, code, nil)
}

// rateForm is a positive number as JSON writes it.
var rateForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?$`)

// rate reads a number that may be null, as it came: it is shown, never calculated with.
func (r *reader) rate(name string) string {
	text := string(r.Object[name])
	switch {
	case text == "" || text == "null":
		return ""
	case !rateForm.MatchString(text):
		return ask.Checked(&r.Reader, "", fmt.Errorf("%s is not a positive number", name))
	}
	return text
}

// texts reads an object of texts; nil where it is missing or null.
func (r *reader) texts(name string) map[string]string {
	if !r.Object.Has(name) {
		return nil
	}
	o, err := ask.ParseObject(r.Object[name])
	if err != nil {
		return ask.Checked(&r.Reader, map[string]string(nil), fmt.Errorf("%s is %w", name, err))
	}
	out := make(map[string]string, len(o))
	for key, value := range o {
		var text string
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
			return ask.Checked(&r.Reader, map[string]string(nil), fmt.Errorf("%s holds something else than texts", name))
		}
		out[key] = text
	}
	return out
}
