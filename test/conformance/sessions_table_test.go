package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Seed 003 has no scenarios. Everything that it says in a list, a table or a paragraph
// has a row, which quotes it from its beginning; so has a heading over a block of code.
func TestSeed003NothingIsMissing(t *testing.T) {
	items := statements(spec(t, "003.txt"))
	if len(items) < 70 {
		t.Errorf("only %d statements found", len(items))
	}
	quoted := map[string]bool{}
	for _, r := range rows(t) {
		if r.spec != "003" {
			continue
		}
		i := slices.IndexFunc(items, func(item string) bool { return strings.HasPrefix(item, bareWords(r.item)) })
		if i < 0 {
			t.Errorf("the seed has nothing that begins with %q", r.item)
			continue
		}
		quoted[items[i]] = true
		if slices.ContainsFunc(items[i+1:], func(item string) bool { return item != items[i] && strings.HasPrefix(item, bareWords(r.item)) }) {
			t.Errorf("%q is the beginning of more than one statement", r.item)
		}
	}
	for _, item := range items {
		if !quoted[item] {
			t.Errorf("no row for %q", item)
		}
	}
}

// statements are what a text in Markdown says, without its marks. The cells of a row have
// commas between them.
func statements(text string) (all []string) {
	heading, code := "", false
	separator := regexp.MustCompile(`^\|[-| ]+\|$`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			if code = !code; code && heading != "" {
				all = append(all, heading)
				heading = ""
			}
			continue
		}
		switch {
		case code, line == "", line == "---", separator.MatchString(line):
		case strings.HasPrefix(line, "#"):
			heading = bareWords(regexp.MustCompile(`^#+ (\d+\. )?`).ReplaceAllString(line, ""))
		case strings.HasPrefix(line, "|"):
			if !separator.MatchString(strings.TrimSpace(lines[i+1])) { // else it names the columns
				all = append(all, bareWords(strings.ReplaceAll(strings.Trim(line, "| "), " | ", ", ")))
			}
		case strings.HasPrefix(line, "*Created"), strings.HasSuffix(line, ":**"):
		case strings.HasSuffix(line, ":") && !strings.Contains(line, ". "): // what it leads up to says it
		default:
			all = append(all, bareWords(strings.TrimPrefix(line, "- ")))
		}
	}
	return all
}

// bareWords is a text without the marks of Markdown.
func bareWords(text string) string { return strings.NewReplacer("`", "", "**", "").Replace(text) }

func TestStatements(t *testing.T) {
	got := statements("## 1. One\nIt says:\n- `a` **b**\n  - c\n1. d\n\n### Two\n```\n- no\n```\n| x | y |\n|---|---|\n| `1` | 2 |\n**Three:**\nFirst. Then:\n")
	want := []string{"a b", "c", "1. d", "Two", "1, 2", "First. Then:"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
