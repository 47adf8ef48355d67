package mt5

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// envelope is the outer form of every answer (§1.2).
type envelope struct {
	code   int
	answer json.RawMessage // nil when absent or null
	whole  []byte          // the body as it parsed, for the fields beside retcode
}

// errGarbled says that a body is not an answer of the Web API.
var errGarbled = errors.New("the answer is not readable")

// parseEnvelope reads a body. Only the leading integer of retcode counts, never the text after it. Group names
// may stand in answers with bare backslashes, which is not JSON (Traps 7); such a body gets a second try.
func parseEnvelope(body []byte) (envelope, error) {
	e, err := decodeEnvelope(body)
	if err != nil && bytes.IndexByte(body, '\\') >= 0 {
		if second, again := decodeEnvelope(doubleBackslashes(body)); again == nil {
			return second, nil
		}
	}
	return e, err
}

func decodeEnvelope(body []byte) (envelope, error) {
	var outer struct {
		Retcode scalar
		Answer  once
	}
	if err := json.Unmarshal(body, &outer); err != nil {
		return envelope{code: noCode}, errGarbled
	}
	code, ok := leadingInt(outer.Retcode.text)
	if !outer.Retcode.set || !ok {
		return envelope{code: noCode}, fmt.Errorf("%w: no return code", errGarbled)
	}
	e := envelope{code: code, whole: body}
	if outer.Answer.set && !bytes.Equal(outer.Answer.raw, []byte("null")) {
		e.answer = outer.Answer.raw
	}
	return e, nil
}

// doubleBackslashes makes every backslash stand for itself, save one in front of a quote: that one is the only
// escape whose loss would move the borders of the text.
func doubleBackslashes(body []byte) []byte {
	out := make([]byte, 0, len(body)+16)
	for i, c := range body {
		out = append(out, c)
		if c == '\\' && (i+1 == len(body) || body[i+1] != '"') {
			out = append(out, c)
		}
	}
	return out
}

// leadingInt reads "10019 Not enough money" and "10019".
func leadingInt(s string) (int, bool) {
	digits, _, _ := strings.Cut(s, " ")
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil
}

// fields decodes an object into a struct of scalars.
func fields(raw []byte, into any) error {
	if raw == nil {
		return fmt.Errorf("%w: it has no content", errGarbled)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errGarbled
	}
	return nil
}

// scalar is a string or a number as text; servers send either (§1.2). Numbers keep their own spelling: no
// float ever touches them. Null leaves it unset. The same key twice, in whatever case, is an error unless both
// say the same, because encoding/json would silently take the last.
type scalar struct {
	text string
	set  bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(b []byte) error {
	var text string
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case b[0] == '"':
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		text = string(b)
	default:
		return errors.New("neither text nor number")
	}
	if s.set && s.text != text {
		return errors.New("the same key twice")
	}
	s.text, s.set = text, true
	return nil
}

func (s scalar) uint() (uint64, error) {
	n, err := strconv.ParseUint(s.text, 10, 64)
	if err != nil {
		return 0, errGarbled
	}
	return n, nil
}

func (s scalar) int() (int64, error) {
	n, err := strconv.ParseInt(s.text, 10, 64)
	if err != nil {
		return 0, errGarbled
	}
	return n, nil
}

// once is a raw value whose key may come only once.
type once struct {
	raw json.RawMessage
	set bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *once) UnmarshalJSON(b []byte) error {
	if o.set && !bytes.Equal(o.raw, b) {
		return errors.New("the same key twice")
	}
	o.raw, o.set = bytes.Clone(b), true
	return nil
}

// groupName undoes what JSON makes of a bare backslash before b, f, n, r or t: such a body parses at the first
// try, with a control character in the name.
func groupName(s string) string {
	return strings.NewReplacer("\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
}
