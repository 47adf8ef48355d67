package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const examplePath = "../../config.example.yaml"

func readExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// variant is the example with one of its switched-off options switched on.
type variant struct {
	line int
	text string
}

var offOption = regexp.MustCompile(`^( *)#([a-z_]+|- [a-z_]+):`)

// exampleVariants gives the example itself and one variant per line that starts with "#" and no space. A switched-on
// option replaces the line above that sets the same option. One without a value is switched on with the lines below it
// that are part of it: those that begin with "#" at its own place and a blank.
func exampleVariants(text string) []variant {
	all := []variant{{0, text}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := offOption.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		changed := slices.Clone(lines)
		changed[i] = m[1] + strings.TrimPrefix(strings.TrimSpace(line), "#")
		for j := i + 1; strings.HasSuffix(line, ":") && j < len(lines) && strings.HasPrefix(lines[j], m[1]+"#  "); j++ {
			changed[j] = m[1] + strings.TrimPrefix(lines[j], m[1]+"#")
		}
		for j := i - 1; j >= 0 && !strings.HasPrefix(m[2], "-"); j-- {
			if !strings.HasPrefix(lines[j], m[1]) {
				break // left the section
			}
			if strings.HasPrefix(lines[j], m[1]+m[2]+":") {
				changed[j] = ""
				break
			}
		}
		all = append(all, variant{i + 1, strings.Join(changed, "\n")})
	}
	return all
}

func TestExample_EveryVariantLoads(t *testing.T) {
	t.Parallel()
	variants := exampleVariants(readExample(t))
	if len(variants) < 6 {
		t.Fatalf("found only %d variants; did the form of switched-off options change?", len(variants))
	}
	for _, v := range variants {
		if _, err := Parse("config.example.yaml", []byte(v.text)); err != nil {
			t.Errorf("with line %d switched on: %v", v.line, err)
		}
	}
}

// TestExample_MentionsEveryOption walks the code's options: whatever a variant makes the reader ask for must stand in
// one of the variants.
func TestExample_MentionsEveryOption(t *testing.T) {
	t.Parallel()
	present, asked := map[string]bool{}, map[string]bool{}
	for _, v := range exampleVariants(readExample(t)) {
		r := newReader("config.example.yaml", "/etc/creditonce")
		r.read([]byte(v.text))
		for _, o := range r.options {
			path := listIndex.ReplaceAllString(o.path, "[0]")
			asked[path] = true
			present[path] = present[path] || o.present
		}
	}
	if len(asked) < 50 {
		t.Fatalf("only %d options were asked for", len(asked))
	}
	page, err := os.ReadFile("../../docs/settlement-formats.md") // it has the alternatives of a mapped export
	if err != nil {
		t.Fatal(err)
	}
	for path := range asked {
		_, mapped, of := strings.Cut(path, ".settlement.mapped.")
		told := of && regexp.MustCompile("[`.]"+mapped[strings.LastIndex(mapped, ".")+1:]+"`").Match(page)
		if !present[path] && !told {
			t.Errorf("neither config.example.yaml nor the page of formats shows %s", path)
		}
	}
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// TestExample_EveryOptionHasAComment asks that the line above an option, or above a run of options of one name, is a
// comment.
func TestExample_EveryOptionHasAComment(t *testing.T) {
	t.Parallel()
	optionLine := regexp.MustCompile(`^( *)#?(  +)?([a-z_]+):(.*)$`)
	lines := strings.Split(readExample(t), "\n")
	for i, line := range lines {
		m := optionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		above := strings.TrimSpace(lines[max(0, i-1)])
		inBlock := strings.HasPrefix(strings.TrimSpace(line), "#  ")
		if strings.HasPrefix(above, "# ") || inBlock && strings.HasPrefix(strings.TrimSpace(above[1:]), "# ") {
			continue
		}
		if m[4] == "" && above == "" {
			continue // a section that its options explain
		}
		if section := regexp.MustCompile(`^[a-z0-9_]+:$`).MatchString(above) && m[4] == ""; section {
			continue
		}
		t.Errorf("line %d has no comment above it: %s", i+1, line)
	}
}

// TestExample_DefaultsAreTheCode removes one option after the other that has a default: the configuration that
// results must not change.
func TestExample_DefaultsAreTheCode(t *testing.T) {
	t.Parallel()
	text := readExample(t)
	want, err := Parse("config.example.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	removed := 0
	required := map[string]bool{"environment": true, "kind": true, "account": true, "identity": true, "addresses": true, "login": true,
		"password": true, "currencies": true, "per_credit": true, "per_login_day": true}
	optionLine := regexp.MustCompile(`^ *([a-z_]+): \S`)
	for i, line := range lines {
		m := optionLine.FindStringSubmatch(line)
		if m == nil || required[m[1]] {
			continue
		}
		without := slices.Clone(lines)
		without[i] = ""
		got, err := Parse("config.example.yaml", []byte(strings.Join(without, "\n")))
		if err != nil {
			t.Errorf("without line %d (%s): %v", i+1, strings.TrimSpace(line), err)
			continue
		}
		removed++
		if a, b := printed(want), printed(got); a != b {
			t.Errorf("line %d (%s) is not the code's default:\nfile %s\ncode %s", i+1, strings.TrimSpace(line), a, b)
		}
	}
	if removed < 30 {
		t.Fatalf("only %d options were taken out", removed)
	}
}

// TestProvidersPage_ItsConfigurationLoads takes the providers of docs/providers.md into a file of their own.
func TestProvidersPage_ItsConfigurationLoads(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	minimal, err := os.ReadFile("testdata/good-minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, there := strings.Cut(string(page), "```yaml\n")
	block, _, ends := strings.Cut(block, "```")
	head, tail, fits := strings.Cut(string(minimal), "providers:\n")
	_, tail, fits2 := strings.Cut(tail, "mt5:\n")
	if !there || !ends || !fits || !fits2 {
		t.Fatal("the page has no block of configuration, or the minimal file has another form")
	}
	c, err := Parse("page.yaml", []byte(head+block+"mt5:\n"+tail))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Providers["wallet"]; p.Kind != KindStandard || p.Payload.Paid.Code == "" || p.MaxAge.Minutes() != 5 {
		t.Errorf("read as %+v", p)
	}
}
