package recon

import (
	"strings"
	"testing"
)

func TestMassMismatch_IsAFifthOfWhatWasLookedForAndFiveAtLeast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing, asked int
		want           string
	}{
		"four of four":          {4, 4, ""},
		"five of twenty-five":   {5, 25, "5 of 25 deals"},
		"five of twenty-six":    {5, 26, ""},
		"all of many":           {300, 300, "300 of 300 deals"},
		"a few of very many":    {40, 50_000, ""},
		"nothing was asked for": {0, 0, ""},
	} {
		k := keeping{missing: map[string]int{}}
		if c.missing > 0 {
			k.missing["Broker-Live"] = c.missing
		}
		got := k.massMismatch(map[string]int{"Broker-Live": c.asked, "Other": 7})
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
