package runbook

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/runbook/schema"
)

const page = "../../docs/concepts/RUNBOOKS.md"

func pageText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Every example of the page is sound, and the first two are the same.
func TestExamplesOfThePage(t *testing.T) {
	found := map[string]int{}
	for i, part := range strings.Split(pageText(t), "```") {
		format, text, _ := strings.Cut(part, "\n")
		if i%2 == 0 || format != "toml" && format != "hcl" {
			continue
		}
		found[format]++
		book, faults := Parse("example "+strconv.Itoa(i/2)+"."+format, []byte(text), noFile)
		if len(faults)+len(book.Warnings) > 0 {
			t.Errorf("%s\n%s", faults.Detail(), book.Warnings.Detail())
		}
	}
	if found["toml"] < 3 || found["hcl"] < 2 {
		t.Errorf("%v examples", found)
	}
}

// The page knows every field, action and template.
func TestEveryFieldIsOnThePage(t *testing.T) {
	text := pageText(t)
	var document any
	if err := json.Unmarshal(schema.Runbook(), &document); err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	fieldsOf(document, words)
	for _, kind := range Actions() {
		words[string(kind)] = true
	}
	for _, kind := range StopActions() {
		words[string(kind)] = true
	}
	for _, kind := range ErrorKinds() {
		words[string(kind)] = true
	}
	for word := range words {
		if !strings.Contains(text, "`"+word+"`") && !strings.Contains(text, "## "+word+"\n") && !strings.Contains(text, "{ "+word+" = ") {
			t.Errorf("%q is not in %s", word, page)
		}
	}
	for _, name := range Templates() {
		if !strings.Contains(text, "`${"+name+"}`") {
			t.Errorf("${%s} is not in %s", name, page)
		}
	}
}

// fieldsOf collects the names of all fields of a schema.
func fieldsOf(node any, words map[string]bool) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			fieldsOf(item, words)
		}
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok {
			for key := range properties {
				words[key] = true
			}
		}
		for _, inner := range n {
			fieldsOf(inner, words)
		}
	}
}

// The table of actions is what the decoder does.
func TestActionsOfThePage(t *testing.T) {
	_, table, found := strings.Cut(pageText(t), "| action | `on_idle` | `on_dead` | `on_prompt` | `on_error` |")
	if !found {
		t.Fatal("there is no table of actions")
	}
	triggers := []Trigger{OnIdle, OnDead, OnPrompt, OnError}
	for _, kind := range Actions() {
		_, row, found := strings.Cut(table, "\n| `"+string(kind)+"` |")
		cells := strings.SplitN(row, "|", len(triggers)+1)
		if !found || len(cells) <= len(triggers) {
			t.Errorf("%s is not in the table", kind)
			continue
		}
		for i, trigger := range triggers {
			if yes := strings.TrimSpace(cells[i]) == "yes"; yes != (kind.WhyNot(trigger) == "") {
				t.Errorf("%s for %s: %q", kind, trigger, cells[i])
			}
		}
	}
}
