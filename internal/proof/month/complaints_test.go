package month

import (
	"fmt"
	"testing"
)

// complaints are what a judge found wrong, by kind in the order in which the kinds came.
type complaints struct {
	kinds []string
	texts map[string][]string
}

func (c *complaints) say(kind, format string, args ...any) {
	if c.texts == nil {
		c.texts = map[string][]string{}
	}
	if c.texts[kind] == nil {
		c.kinds = append(c.kinds, kind)
	}
	c.texts[kind] = append(c.texts[kind], fmt.Sprintf(format, args...))
}

// report fails the test, with the first few complaints of each kind.
func (c *complaints) report(t *testing.T) {
	t.Helper()
	for _, kind := range c.kinds {
		texts := c.texts[kind]
		for _, text := range texts[:min(len(texts), 4)] {
			t.Errorf("%s: %s", kind, text)
		}
		if len(texts) > 4 {
			t.Errorf("%s: %d in all", kind, len(texts))
		}
	}
}
