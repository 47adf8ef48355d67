package fakemt5

import (
	"fmt"
	"strings"
	"testing"
)

// listed are the logins of an answer, behind the test login: "0 1" for the first two accounts.
func listed(t *testing.T, g got) string {
	t.Helper()
	list, ok := g.fields["answer"].([]any)
	if !ok || g.code != 0 {
		t.Fatalf("no list: %s", g.body)
	}
	var out []string
	for _, v := range list {
		var n int
		if _, err := fmt.Sscan(fmt.Sprint(v), &n); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(n-testLogin))
	}
	return strings.Join(out, " ")
}

func TestLogins_AreThoseOfTheMasks(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	for masks, want := range map[string]string{
		`real\eur`: "0", `real\*`: "0 1 2", `*`: "0 1 2", `real\eur,real\btc`: "0 2", `real\*,!real\jpy`: "0 2", `!real\jpy,real\*`: "0 2",
		`demo\*`: "", `real\\eur`: "", `real\eur, real\jpy`: "0 1", `REAL\eur`: "",
	} {
		if got := listed(t, c.get("user/logins", "group", masks)); got != want {
			t.Errorf("%s: %q, want %q", masks, got, want)
		}
	}
	if g := c.get("user/logins"); g.code != retParams {
		t.Errorf("without a group: %s", g.body)
	}
	if g := c.get("user/logins", "group", `real\eur`); g.body != `{"retcode":"0 Done","answer":["500123"]}` {
		t.Errorf("the list is not written as MetaQuotes' page shows it: %s", g.body)
	}
}

func TestLogins_BeyondTheManagersReachAreNotListed(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) { c.World.Managers[0].Groups = []string{`real\e*`} })
	if got := listed(t, login(t, s).get("user/logins", "group", "*")); got != "0" {
		t.Errorf("listed %q", got)
	}
}

func TestLogins_WhatNoSourceSettlesIsAsTheWireSays(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		"null": `{"retcode":"0 Done","answer":null}`, "absent": `{"retcode":"0 Done"}`, "13": `{"retcode":"13 Not found"}`, "array": `{"retcode":"0 Done","answer":[]}`,
	} {
		_, _, _, c := unsettled(t, map[string]any{"empty_logins": form})
		if g := c.get("user/logins", "group", "none"); g.body != want {
			t.Errorf("%s: %s, want %s", form, g.body, want)
		}
	}
	_, _, ctl, c := unsettled(t, map[string]any{"mask_escape": "strict"})
	for masks, want := range map[string]string{`real\\eur`: "0", `real\eur`: "", `real\\*`: "0 1 2", `*`: "0 1 2"} {
		if got := listed(t, c.get("user/logins", "group", masks)); got != want {
			t.Errorf("escaped %s: %q, want %q", masks, got, want)
		}
	}
	if _, err := ctl.PatchWire(within(t), map[string]any{"mask_escape": "both"}); err == nil {
		t.Error("an unknown way to read backslashes was taken")
	}
}

func TestLogins_HaveTheFaultsOfOtherLists(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	if _, err := ctl.Fault(ctx, Rule{Where: "user/logins", Kind: PageCut, Rows: 2, Count: 1}); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, c.get("user/logins", "group", "*")); got != "0 1" {
		t.Errorf("a cut list has %q", got)
	}
	if _, err := ctl.Fault(ctx, Rule{Where: "user/logins", Kind: RefuseCode, Code: 8, Count: 1}); err != nil {
		t.Fatal(err)
	}
	if g := c.get("user/logins", "group", "*"); g.code != 8 {
		t.Errorf("refused: %s", g.body)
	}
	if got := listed(t, c.get("user/logins", "group", "*")); got != "0 1 2" {
		t.Errorf("afterwards %q", got)
	}
	if _, err := ctl.Fault(ctx, Rule{Where: "user/get", Kind: PageCut}); err == nil {
		t.Error("a fault of lists was taken for a single account")
	}
}
