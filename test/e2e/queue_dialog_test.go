//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// question is one of AskUserQuestion's.
func question(text, header string, several bool, labels ...string) map[string]any {
	var options []any
	for _, label := range labels {
		options = append(options, map[string]any{"label": label, "description": "choose " + label})
	}
	return map[string]any{"question": text, "header": header, "options": options, "multiSelect": several}
}

func ask(questions ...map[string]any) claudeapi.Answer {
	return claudeapi.Tool("AskUserQuestion", map[string]any{"questions": questions})
}

// A dialog is a person's to answer, whoever's prompt led to it.
func TestDialogIsNeverAnswered(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Settings["permissions"] = map[string]any{"allow": []string{"Read"}}
	tui := d.Session("main")
	for i, kind := range []struct {
		name, first string // and what it can be answered with
		tool        claudeapi.Answer
	}{
		{"permission", "❯ 1. Yes", bash("echo ran >>ran")},
		{"question", "❯ 1. Red", ask(question("Which color?", "Color", false, "Red", "Blue"))},
	} {
		persons, ours := kind.name+" of a person", kind.name+" of the queue"
		for _, prompt := range []string{persons, ours} {
			d.API.On(claudeapi.Last(prompt), kind.tool, claudeapi.Text("done: "+prompt))
		}
		// dialog waits for one after an event.
		dialog := func(before event) (seen string) {
			d.WaitEvent("PermissionRequest", after(before))
			if !poll(patience, func() bool { return strings.Contains(tui.lower(), kind.first) }) {
				t.Fatal("no dialog on the screen")
			}
			return tui.waitStill()
		}
		// untouched wants the dialog to be as it was, and the tool to have run so often.
		untouched := func(seen string, ran int) {
			t.Helper()
			if now := tui.lower(); now != seen {
				t.Errorf("the screen is\n%s\nand was\n%s", now, seen)
			}
			if text, _ := os.ReadFile(filepath.Join(d.Project, "ran")); i == 0 && strings.Count(string(text), "ran") != ran {
				t.Errorf("the tool ran: %q, want %d", text, ran)
			}
		}

		before := d.Last()
		tui.Send(persons)
		seen := dialog(before)
		if out := d.Order("main", ours, "go on").mustPass(t); !strings.Contains(out.Stdout, "Claude Code waits for an answer") {
			t.Errorf("create said %q", out.Stdout)
		}
		untouched(seen, 0)

		before = d.Last()
		tui.Keys("Enter")
		seen = dialog(before)
		d.waitActive("main", 1, "confirmed")
		if out := d.Stopgate("queue", "list").mustPass(t); !strings.Contains(out.Stdout, "Claude Code waits for an answer") {
			t.Errorf("queue list:\n%s", out.Stdout)
		}
		if i == 0 {
			d.waitLetter("permission", 1) // some seconds later
		}
		untouched(seen, 1)

		tui.Keys("Enter")
		d.waitLetter("queue_complete", i+1)
		d.waitDone("main", "done: "+ours, answerTo("go on"))
	}
	d.wantPrompts("permission of a person", "permission of the queue", "go on", "question of a person", "question of the queue", "go on")
}

// Rules of the registry answer for the person: then there is no dialog.
func TestQuestionsAreAnsweredByRules(t *testing.T) {
	t.Parallel()
	d := newDriven(t, map[string]any{"answers": []any{
		map[string]any{"question": "Which color*", "answer": "blue"},
		map[string]any{"question": "fruit", "answer": []string{"Apple", "Plum"}},
		map[string]any{"question": "*name*", "text": `call it "Ada", please`},
	}})
	color := question("Which color?", "Color", false, "Red", "Blue")
	fruit := question("Which fruits?", "Fruit", true, "Apple", "Pear", "Plum")
	name := question("What is its name?", "Name", false, "Bob", "Eve")
	for prompt, questions := range map[string][]map[string]any{"single": {color}, "multi": {fruit}, "free": {name}, "both": {color, fruit}} {
		d.API.On(claudeapi.Last("ask "+prompt), ask(questions...), claudeapi.Text("asked "+prompt))
	}
	d.API.On(claudeapi.Last("ask unknown"), ask(color, question("What else?", "Else", false, "This", "That")), claudeapi.Text("asked"))
	tui := d.Session("main")
	d.Create("main", "ask single", "ask multi", "ask free", "ask both")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", "asked single", "asked multi", "asked free", "asked both")
	var told []string
	for _, r := range d.API.Requests() {
		if results := r.ToolResults(); len(results) > 0 && (len(told) == 0 || told[len(told)-1] != results[len(results)-1].Text) {
			told = append(told, results[len(results)-1].Text)
		}
	}
	want := [][]string{
		{`"Which color?"="Blue"`},
		{`"Which fruits?"="Apple, Plum"`},
		{`"What is its name?"="call it "Ada", please"`},
		{`"Which color?"="Blue"`, `"Which fruits?"="Apple, Plum"`},
	}
	if len(told) != len(want) {
		t.Fatalf("the model was told %q", told)
	}
	for i, parts := range want {
		if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(told[i], part) }) {
			t.Errorf("the model was told %q, want %q", told[i], parts)
		}
	}
	if asked := d.Events("PermissionRequest"); len(asked) != 0 {
		t.Errorf("a person was asked: %s", asked[0].Raw)
	}
	d.wantLetters("queue_complete")

	// What no rule is for is left to the person, all of it, and the agent is told.
	tui.Send("ask unknown")
	d.WaitEvent("PermissionRequest")
	if wake := d.waitLetter("question", 1); !strings.Contains(wake.Message, "What else?") {
		t.Errorf("the agent was told:\n%s", wake.Message)
	}
}
