package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// byMake is what the seed verifies with the tools of its language: make test does that here.
var byMake = []string{"2. Build check", "3. Lint", "5. Full check", "Milestone: All tests pass."}

// Seed 002 has no scenarios, like seed 003. What it says in bold over a block of code is a
// statement too.
func TestSeed002NothingIsMissing(t *testing.T) {
	text := spec(t, "002.txt")
	text = regexp.MustCompile(`(?m)^\*\*(\d[a-d]\. .*):\*\*$`).ReplaceAllString(text, "#### $1")
	complete(t, "002", statements(text), byMake)
}

// The design's points about facts and the store are rows, sentence by sentence.
func TestDesignNothingIsMissing(t *testing.T) {
	text := spec(t, "design.md")
	var all []string
	for _, title := range []string{"## Facts, questions, effects\n", "## The store's contract\n"} {
		_, section, found := strings.Cut(text, title)
		if !found {
			t.Fatalf("there is no section %s", title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		all = append(all, sentences(section)...)
	}
	complete(t, "design", all, []string{
		"A pipeline belongs to the machine", // with a fleet
		"jetstream (NATS, three replicas",   // in its own step
	})
}

// complete demands a row for each item, which quotes it from its beginning, except for
// those that have none by name.
func complete(t *testing.T, spec string, items, without []string) {
	t.Helper()
	find := func(begin string) string {
		i := slices.IndexFunc(items, func(item string) bool { return strings.HasPrefix(item, begin) })
		if i < 0 {
			t.Errorf("nothing begins with %q", begin)
			return ""
		}
		if slices.ContainsFunc(items[i+1:], func(item string) bool { return item != items[i] && strings.HasPrefix(item, begin) }) {
			t.Errorf("%q is the beginning of more than one statement", begin)
		}
		return items[i]
	}
	quoted := map[string]bool{}
	for _, r := range rows(t) {
		if r.spec == spec {
			quoted[find(bareWords(r.item))] = true
		}
	}
	for _, begin := range without {
		item := find(begin)
		if quoted[item] {
			t.Errorf("%q has a row, and is listed as having none", item)
		}
		quoted[item] = true
	}
	for _, item := range items {
		if !quoted[item] {
			t.Errorf("no row for %q", item)
		}
	}
	if len(items) < 25 {
		t.Errorf("only %d statements found", len(items))
	}
}

// sentences are those of a text in Markdown whose lines are broken.
func sentences(text string) (all []string) {
	text = regexp.MustCompile(`([^\n])\n *([^ \n|\d-])`).ReplaceAllString(text, "$1 $2")
	for _, statement := range statements(regexp.MustCompile(`(?m)^\d+\. `).ReplaceAllString(text, "- ")) {
		for _, sentence := range regexp.MustCompile(`\. `).Split(statement, -1) {
			if sentence = strings.TrimSuffix(sentence, "."); !strings.HasSuffix(sentence, ":") {
				all = append(all, sentence)
			}
		}
	}
	return all
}

func TestSentences(t *testing.T) {
	got := sentences("1. **One.** Two\n   goes on. So:\n\n   | a | b |\n   |---|---|\n   | `c` | d |\n\n- Three. Four\n\nFive\nends.\n")
	if want := []string{"One", "Two goes on", "c, d", "Three", "Four", "Five ends"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
