package runbook

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	published "github.com/stopgate/stopgate/internal/project/schema"
)

const page = "../../../docs/concepts/RUNBOOKS.md"

func pageText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	check(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Every example of the page is sound, and the first two are the same.
func TestExamplesOfThePage(t *testing.T) {
	found := map[string]int{}
	files := map[string]string{} // that blocks begin with the names of
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return noFile(name)
	}
	for i, part := range strings.Split(pageText(t), "```") {
		format, text, _ := strings.Cut(part, "\n")
		if i%2 == 0 || format != "toml" && format != "hcl" {
			continue
		}
		found[format]++
		if name, ok := strings.CutPrefix(text, "# .gauntlet/runbooks/"); ok {
			name, _, _ = strings.Cut(name, "\n")
			files[name] = text
		}
		book, faults := Parse("example "+strconv.Itoa(i/2)+"."+format, []byte(text), read)
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
	if err := json.Unmarshal(published.Runbook(), &document); err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	fieldsOf(document, words)
	for _, kind := range Actions() {
		words[string(kind)] = true
	}
	for _, kind := range stopActions {
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

// Seed 002, 5c: each action has a row of its own, which says what becomes of the agent.
func TestEachStopActionIsExplained(t *testing.T) {
	_, section, found := strings.Cut(pageText(t), "\n## on_stop\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("there is no section on_stop")
	}
	said := map[string]StopAction{}
	for action, word := range map[StopAction]string{"signal": "until it signals", "idle": "`on_idle`", "escalate": "a person is asked"} {
		_, row, found := strings.Cut(section, "\n| `"+string(action)+"` |")
		what, _, _ := strings.Cut(row, "|\n")
		if what = strings.TrimSpace(what); !found || !strings.Contains(what, word) {
			t.Errorf("%s is explained by %q, want %q in it", action, what, word)
		}
		if other, twice := said[what]; twice {
			t.Errorf("%s and %s read alike", action, other)
		}
		said[what] = action
	}
}

// Seed 002, 5c: the page has the two lines of the plan, and they say what the program does.
func TestStopActionsOfThePage(t *testing.T) {
	text := pageText(t)
	var agent Agent
	var actions []string
	for _, kind := range StopActions() {
		actions = append(actions, "`"+string(kind)+"`")
	}
	for line, want := range map[string]string{
		"- **on_stop**: What to do when agent tries to exit (default: `\"signal\"` for pipeline, `\"escalate\"` for standalone)": fmt.Sprintf(
			"- **on_stop**: What to do when agent tries to exit (default: `%q` for pipeline, `%q` for standalone)", agent.StopAction(false), agent.StopAction(true)),
		"- **on_stop**: `signal`, `idle`, `escalate`": "- **on_stop**: " + strings.Join(actions, ", "),
	} {
		if line != want {
			t.Errorf("the program does %q", want)
		}
		if strings.Count(text, "\n"+line+"\n") != 1 {
			t.Errorf("not on the page: %s", line)
		}
	}
	if n := strings.Count(text, "**on_stop**"); n != 2 {
		t.Errorf("%d lines say what on_stop is", n)
	}
	_, table, _ := strings.Cut(text, "For an agent that has not, `on_stop` decides:\n\n| action | what |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var explained []string
	for line := range strings.Lines(table) {
		explained = append(explained, strings.Fields(line)[1])
	}
	if !slices.Equal(explained, actions) {
		t.Errorf("explained are %q", explained)
	}
	if want := fmt.Sprintf("\nThe default is `%s` in a pipeline and `%s` for an agent that runs alone.", agent.StopAction(false), agent.StopAction(true)); !strings.Contains(text, want) {
		t.Errorf("not on the page: %s", want)
	}
}

// The defaults in the table of an agent's fields are what a runbook that says nothing gets.
func TestDefaultsOfThePage(t *testing.T) {
	const text = "[agent.silent]\nrun = \"true\"\n[agent.nudged]\nrun = \"true\"\non_idle = { action = \"nudge\", message = \"x\" }\n"
	book, faults := Parse("x.toml", []byte(text), noFile)
	if len(faults) > 0 {
		t.Fatal(faults.Detail())
	}
	silent, nudge := book.Agents["silent"], book.Agents["nudged"].OnIdle
	if len(silent.OnError) > 0 || nudge.Cooldown != 0 || silent.MaxConcurrency != 0 { // no on_error means escalate
		t.Errorf("%+v, %+v", silent, nudge)
	}
	word := func(a Action) string { return "`" + string(a.Kind) + "`" }
	_, table, _ := strings.Cut(pageText(t), "\n## agent\n")
	for field, want := range map[string]string{
		"`on_idle`": word(silent.OnIdle), "`on_dead`": word(silent.OnDead), "`on_prompt`": word(silent.OnPrompt), "`on_error`": "`escalate`",
		"`on_stop`": "see below", "`attempts`, `cooldown`": strconv.Itoa(nudge.Attempts) + ", none", "`max_concurrency`": "no limit",
	} {
		_, row, _ := strings.Cut(table, "\n| "+field+" |")
		if got, _, _ := strings.Cut(row, "|"); strings.TrimSpace(got) != want {
			t.Errorf("the default of %s is %s, the page says %q", field, want, strings.TrimSpace(got))
		}
	}
}
