package ask

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestParseObject_OneObjectWithEachMemberOnce(t *testing.T) {
	t.Parallel()
	for text, members := range map[string]int{
		`{}`: 0, ` { "a" : 1 } `: 1, `{"a":1,"A":2}`: 2, `{"a":{"a":1,"a":2}}`: 1, `{"":null}`: 1,
		``: -1, `null`: -1, `[]`: -1, `"a"`: -1, `{`: -1, `{"a":1`: -1, `{"a"}`: -1, `{"a":}`: -1, `{"a":1,}`: -1, `{a:1}`: -1,
		`{"a":1,"a":1}`: -1, `{"a":1,"\u0061":2}`: -1, `{"a":1}{}`: -1, `{"a":1}x`: -1, `{"a":1}]`: -1, `{"a":01}`: -1,
	} {
		o, err := ParseObject([]byte(text))
		switch {
		case members < 0 && (!errors.Is(err, errNotObject) || o != nil):
			t.Errorf("%s: %v, %v", text, o, err)
		case members >= 0 && (err != nil || len(o) != members):
			t.Errorf("%s: %v, %v", text, o, err)
		}
	}
}

func TestParseList_ElementsAsTheyCame(t *testing.T) {
	t.Parallel()
	got, err := ParseList([]byte(`[1.0, {"a": 1},null]`))
	if err != nil || len(got) != 3 || string(got[0]) != "1.0" || string(got[1]) != `{"a": 1}` || string(got[2]) != "null" {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{``, `null`, `{}`, `"[]"`, `[`, `[1,]`} {
		if _, err := ParseList([]byte(bad)); err == nil {
			t.Errorf("%s is taken for a list", bad)
		}
	}
}

func TestReader_FirstMemberThatIsWrongIsRememberedAndTheRestReadsAsNothing(t *testing.T) {
	t.Parallel()
	o, err := ParseObject([]byte(`{"id":"x","n":1,"null":null,"yes":true,"word":"true"}`))
	r := Reader{Object: o, Err: err}
	if id, none, gone, yes := r.Text("id"), r.TextIfAny("null"), r.TextIfAny("gone"), r.Flag("yes"); id != "x" || none+gone != "" || !yes || r.Err != nil {
		t.Fatalf("%q %q %q %t, %v", id, none, gone, yes, r.Err)
	}
	if r.Text("n") != "" || r.Err == nil || r.Err.Error() != "n is not a text" {
		t.Errorf("a number: %v", r.Err)
	}
	if r.Text("id") != "" || r.Flag("yes") || r.Flag("word") || Checked(&r, 7, nil) != 0 || r.Err.Error() != "n is not a text" {
		t.Errorf("what follows: %v", r.Err)
	}
	for name, want := range map[string]string{"word": "word is not true or false", "gone": "gone is not true or false"} {
		if r := (Reader{Object: o}); r.Flag(name) || r.Err == nil || r.Err.Error() != want {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
	if r := (Reader{Object: o}); r.TextIfAny("n") != "" || r.Err == nil {
		t.Errorf("a number in place of a text that may be missing: %v", r.Err)
	}
}

func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"a":1}]}`, `{"a":1,"a":2}`, `{"a":1}x`, `[`, `{"\ud800":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := ParseObject(raw)
		if err != nil {
			if o != nil {
				t.Fatal("an object beside an error")
			}
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || len(members) != len(o) {
			t.Fatalf("%q has %d members, encoding/json says %d", raw, len(o), len(members))
		}
		for name, value := range o {
			if string(members[name]) != string(value) {
				t.Fatalf("%q: member %q is %s, encoding/json says %s", raw, name, value, members[name])
			}
		}
	})
}
