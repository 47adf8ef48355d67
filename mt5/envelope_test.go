package mt5

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestEnvelope_FormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		code   int
		answer string
	}{
		`{"retcode":"0 Done"}`:                                    {0, ""},
		`{"retcode":"0"}`:                                         {0, ""},
		`{"retcode":0,"answer":null}`:                             {0, ""},
		` {"retcode":"0 Done","answer":[]} `:                      {0, "[]"},
		`{"RETCODE":"10019 No money","Answer":{"a":"1"}}`:         {10019, `{"a":"1"}`},
		`{"retcode":"13 Not found","answer":null}`:                {13, ""},
		`{"retcode":"1","retcode":"1"}`:                           {1, ""},
		`{"retcode":"0 Done","answer":{"Group":"a\qb"}}`:          {0, `{"Group":"a\\qb"}`},
		`{"retcode":"0 Done","answer":{"Group":"a\qb\"c\\d"}}`:    {0, `{"Group":"a\\qb\"c\\\\d"}`},
		`{"retcode":"0 Done","other":{"retcode":"5"},"answer":1}`: {0, "1"},
	} {
		e, err := parseEnvelope([]byte(body))
		if err != nil || e.code != want.code || string(e.answer) != want.answer {
			t.Errorf("%s: %d %s %v", body, e.code, e.answer, err)
		}
	}
}

func TestEnvelope_RefusesWhatIsNotAnAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "[]", "0", `"0 Done"`, "{}", `{"retcode":null}`, `{"retcode":true}`, `{"retcode":""}`, `{"retcode":"Done"}`,
		`{"retcode":"-1"}`, `{"retcode":-1}`, `{"retcode":1.5}`, `{"retcode":1e3}`, `{"retcode":"0x0"}`, `{"retcode":"0Done"}`,
		`{"retcode":["0"]}`, `{"retcode":"99999999999"}`, `{"retcode":"0"} x`, `{"retcode":"0"}{"retcode":"0"}`, `{"retcode":"0"`,
		`{"retcode":"0","Retcode":"13"}`, `{"retcode":"0","answer":1,"ANSWER":2}`, "<html>\\</html>", `{"retcode":"0 Done","a":"\`,
	} {
		if e, err := parseEnvelope([]byte(body)); !errors.Is(err, errGarbled) || e.code != noCode {
			t.Errorf("%s: %+v %v", body, e, err)
		}
	}
}

func TestScalar_KeepsItsOwnSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`18446744073709551615`: "18446744073709551615", `"26000.00"`: "26000.00", `26000.00`: "26000.00", `-0.10`: "-0.10", `""`: "", `"a\\b"`: `a\b`,
	} {
		var v struct{ X scalar }
		if err := json.Unmarshal([]byte(`{"x":`+text+`}`), &v); err != nil || v.X.text != want || !v.X.set {
			t.Errorf("%s: %+v %v", text, v.X, err)
		}
	}
	var v struct{ X scalar }
	if err := json.Unmarshal([]byte(`{"x":null}`), &v); err != nil || v.X.set {
		t.Errorf("null: %+v %v", v.X, err)
	}
}

func TestGroupName_UndoesBareBackslashesThatHappenToBeEscapes(t *testing.T) {
	t.Parallel()
	var v struct{ Group scalar }
	if err := json.Unmarshal([]byte(`{"Group":"demo\forex\new\real\test\bonus"}`), &v); err != nil {
		t.Fatal(err)
	}
	if got := groupName(v.Group.text); got != `demo\forex\new\real\test\bonus` {
		t.Errorf("group %q", got)
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		`{"retcode":"0 Done","answer":{"Ticket":"1"}}`, `{"retcode":0}`, `{"retcode":"13 x","answer":null}`, `{"retcode":"0","answer":{"G":"a\qb"}}`,
		`{"RetCode":"10009","answer":[{"Deal":"5","Login":1,"Action":2,"Time":3,"Profit":"1.00"}]}`, `{"retcode":"0","a":"\"}`, `{"answer":{},"Answer":[]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		e, err := parseEnvelope(body)
		if string(body) != before {
			t.Fatal("the body was changed")
		}
		if err != nil {
			if e.code != noCode || !errors.Is(err, errGarbled) {
				t.Fatalf("error %v with code %d", err, e.code)
			}
			return
		}
		if e.code < 0 || !json.Valid(e.whole) || e.answer != nil && !json.Valid(e.answer) || string(e.answer) == "null" {
			t.Fatalf("envelope %+v", e)
		}
		if json.Valid(body) && string(e.whole) != before {
			t.Fatal("a valid body was read in another way than it stands")
		}
		rows, err := parseRows(e.answer)
		for _, r := range rows {
			if err == nil && r.ticket == 0 {
				t.Fatal("a row without a ticket")
			}
		}
		if _, digits, _ := strings.Cut(before, "retcode"); digits == "" && !strings.Contains(strings.ToLower(before), `\u`) &&
			!strings.Contains(strings.ToLower(before), "retcode") && !strings.ContainsRune(before, 'ſ') && !strings.ContainsRune(before, 'K') {
			t.Fatalf("a code came from nowhere: %q", before)
		}
	})
}
