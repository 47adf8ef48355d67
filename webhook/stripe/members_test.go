package stripe

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// takenApart are the members by eachMember; ok is false where it refuses, or where a name comes twice.
func takenApart(raw []byte) (members map[string]string, ok bool) {
	members = map[string]string{}
	twice := false
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		_, known := members[name]
		twice = twice || known
		members[name] = string(value)
		return nil
	})
	return members, err == nil && !twice
}

// FuzzEachMember compares with encoding/json on every valid text, and wants no panic on any other.
func FuzzEachMember(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { } `, `{"a":1}`, "{\n  \"a\" : [1, {\"b\": \"}\"}] ,\t\"c\":null}\n", `{"a\"b":"\\","c":"\\\""}`, `{"\u0061":true,"b":-1.5e+3}`,
		`[]`, `"x"`, `1`, `{"a":"` + strings.Repeat(`\\`, 9) + `"}`, `{`, `{"a`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":"\`, `{"a":{"b":[}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := takenApart(raw)
		if !json.Valid(raw) || !utf8.Valid(raw) {
			return
		}
		var want map[string]json.RawMessage
		isObject := json.Unmarshal(raw, &want) == nil && want != nil
		if !isObject {
			if len(got) > 0 && ok {
				t.Fatalf("%q is no object and was read as %v", raw, got)
			}
			return
		}
		texts := map[string]string{}
		for name, value := range want {
			texts[name] = string(value)
		}
		if ok && !maps.Equal(got, texts) || !ok && !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(texts))) {
			t.Fatalf("%q was read as %v, encoding/json reads %v", raw, got, texts)
		}
	})
}

// The short way for ASCII must be the long way's answer.
func TestFoldName_ShortWayIsTheLongWay(t *testing.T) {
	t.Parallel()
	for r := rune(0); r < unicode.MaxRune; r++ {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		if !utf8.ValidRune(r) {
			continue
		}
		if got := foldName(string(r)); got != string(least) {
			t.Fatalf("%U folds to %q, want %q", r, got, string(least))
		}
	}
}

// Whatever order they come in, two names that fold to one are refused, and names that do not are both read.
func TestParseObject_SeesNamesThatFoldToOneInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		ok    bool
	}{
		{[]string{"a", "b", "c_1", "d-e"}, true}, {[]string{"a", "B", "c"}, true}, {[]string{"a", "b", "a"}, false}, {[]string{"a", "b", "A"}, false},
		{[]string{"A", "b", "a"}, false}, {[]string{"x", "A", "b", "B"}, false}, {[]string{"k", "x", "\u212a"}, false}, {[]string{"\u212a", "x", "k"}, false},
		{[]string{"ſ", "S"}, false}, {[]string{"x", "Y", "y", "z"}, false}, {[]string{"ä", "a", "Ä"}, false}, {[]string{"ä", "a", "ö"}, true},
	} {
		var members []string
		for _, n := range c.names {
			members = append(members, `"`+n+`":1`)
		}
		got, err := parseObject("it", []byte("{"+strings.Join(members, ",")+"}"))
		if (err == nil) != c.ok || c.ok && len(got) != len(c.names) {
			t.Errorf("%q: %v, %v", c.names, got, err)
		}
	}
}
