package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/transcript"
)

func options(names ...string) (all []daemonapi.Option) {
	for i, name := range names {
		all = append(all, daemonapi.Option{Number: i + 1, Name: name})
	}
	return all
}

func asking(questions ...daemonapi.Question) *daemonapi.Ask {
	return &daemonapi.Ask{Questions: questions}
}

func TestAnswers(t *testing.T) {
	colour := daemonapi.Question{Question: "Which?", Options: []daemonapi.Choice{{Label: "Red one"}, {Label: "Blue"}}}
	days := daemonapi.Question{Question: "When?", Multi: true, Options: []daemonapi.Choice{{Label: "Monday"}, {Label: "Tuesday"}, {Label: "Sunday"}}}
	for _, test := range []struct {
		name     string
		decision daemonapi.Decision
		want     string // after "stopgate decision answer d "
		choices  string
		line     string
	}{
		{"idle", daemonapi.Decision{Source: "idle", Options: options("nudge", "done", "cancel")}, "nudge, done, cancel, -m 'TEXT'", "nudge|done|cancel", "answer d nudge|done|cancel"},
		{"of a command", daemonapi.Decision{Source: "error", Options: options("retry", "skip", "cancel")}, "retry, skip, cancel", "retry|skip|cancel", "answer d retry|skip|cancel"},
		{"of an agent", daemonapi.Decision{Source: "error", Agent: "a", Options: options("retry", "skip", "cancel")}, "retry, skip, cancel, -m 'TEXT'", "retry|skip|cancel", "answer d retry|skip|cancel"},
		{"start", daemonapi.Decision{Source: "start", Agent: "a", Options: options("retry", "cancel")}, "retry, cancel", "retry|cancel", "answer d retry|cancel"},
		{"a step of the runbook", daemonapi.Decision{Source: "step", Options: options("merge", "reject", "cancel")}, "merge, reject, cancel", "merge|reject|cancel", "answer d merge|reject|cancel"},
		{"at its terminal", daemonapi.Decision{Source: "prompt", Agent: "a", Options: options("done", "cancel")}, "done, cancel", "done|cancel", "answer d done|cancel"},
		{"of a plain process", daemonapi.Decision{Source: "prompt", Agent: "a", Options: options("nudge", "done", "cancel")}, "nudge, done, cancel, -m 'TEXT'", "nudge|done|cancel", "answer d nudge|done|cancel"},
		{"plan", daemonapi.Decision{Source: "plan", Agent: "a", Options: options("accept", "revise", "cancel")}, "accept, revise -m 'TEXT', cancel", "accept|revise|cancel", "answer d accept|revise|cancel"},
		{"approval", daemonapi.Decision{Source: "approval", Agent: "a", Options: options("approve", "deny", "cancel")}, "approve, deny -m 'TEXT', cancel", "approve|deny|cancel", "answer d approve|deny|cancel"},
		{"question", daemonapi.Decision{Source: "question", Ask: asking(colour), Options: options("Red one", "Blue", "cancel")}, "1, -m 'TEXT', cancel", "1|2|cancel", "show d"},
		{"a choice named cancel", daemonapi.Decision{Source: "question", Ask: asking(colour), Options: options("cancel", "Blue", "cancel it")}, "1, -m 'TEXT', 'cancel it'", "1|2|'cancel it'", "show d"},
		{"several choices", daemonapi.Decision{Source: "question", Ask: asking(days), Options: options("Monday", "Tuesday", "Sunday", "cancel")}, "1,2, -m 'TEXT', cancel", "1|2|3|cancel", "show d"},
		{"questions", daemonapi.Decision{Source: "question", Ask: asking(colour, days, daemonapi.Question{Question: "Why?"}), Options: options("cancel")}, "1 1,2 'TEXT', cancel", "3 answers|cancel", "show d"},
		{"a question that could not be read", daemonapi.Decision{Source: "question", Ask: &daemonapi.Ask{}, Options: options("cancel")}, "cancel, -m 'TEXT'", "cancel", "answer d cancel"},
	} {
		d := test.decision
		d.ID = "d"
		got := strings.ReplaceAll(strings.Join(answers(&d), ", "), "stopgate decision answer d ", "")
		if diff := cmp.Diff([]string{test.want, test.choices, "stopgate decision " + test.line}, []string{got, choices(&d), answerLine(&d)}); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// What is asked stands there once, whatever is in it.
func TestQuestionsOfSeveralLines(t *testing.T) {
	d := daemonapi.Decision{
		Source: "question", Context: "The agent asks 2 questions: Which\none? / Other\n?",
		Ask: asking(daemonapi.Question{Question: "Which\none?"}, daemonapi.Question{Question: "Other\n?"}), Options: options("cancel"),
	}
	s := decisionShow{Decision: &d, width: 80}
	want := []string{"? The agent asks 2 questions:", "  1. Which", "     one?", "  2. Other", "     ?"}
	if diff := cmp.Diff(want, s.asked()); diff != "" {
		t.Error(diff)
	}
}

// However long the context is, one mark says where the question begins.
func TestQuestionsAreMarkedOnce(t *testing.T) {
	for name, d := range map[string]daemonapi.Decision{
		"context":  {Source: "idle", Context: "It stopped.\nIts test fails.\n"},
		"approval": {Source: "approval", Context: "The agent asks for permission to use Bash: make\nIt has asked before.", Ask: &daemonapi.Ask{Tool: "Bash", Input: "make"}},
	} {
		s := decisionShow{Decision: &d, width: 80}
		for view, lines := range map[string][]string{"show": s.asked(), "list": decisionLines(false, &d, 80)} {
			if got := strings.Count(strings.Join(lines, "\n"), "? "); got != 1 {
				t.Errorf("%s, %s: %d marks in %q", name, view, got, lines)
			}
		}
	}
}

func TestOnExpiry(t *testing.T) {
	for _, test := range []struct{ source, answer, first, want string }{
		{"idle", "go_on", "nudge", "then the answer is nudge"},
		{"idle", "done", "nudge", "then the step counts as done"},
		{"idle", "cancel", "nudge", "then it is cancelled"},
		{"prompt", "go_on", "done", "then it is cancelled"},
		{"question", "go_on", "Red", "then the agent is told to decide on its own"},
		{"plan", "go_on", "accept", "then the answer is accept"},
		{"approval", "go_on", "approve", "then it is denied"},
		{"budget", "go_on", "extend", "then it is cancelled"},
	} {
		d := daemonapi.Decision{Source: test.source, OnExpiry: test.answer, Options: options(test.first, "cancel")}
		if got := onExpiry(&d); got != test.want {
			t.Errorf("%s, %s: %s", test.source, test.answer, got)
		}
	}
}

// Whatever a decision holds, it fits the screen but for the commands, and nothing of it
// steers that.
func TestDecisionFitsTheScreen(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\nb", "\x1b[31mred", "日本語の名前", strings.Repeat("long ", 40), strings.Repeat("x", 300), "cancel"}))
	now := time.Date(2026, 1, 30, 8, 14, 9, 0, time.UTC)
	choice := rapid.Custom(func(t *rapid.T) daemonapi.Choice {
		return daemonapi.Choice{Label: text.Draw(t, "label"), Description: text.Draw(t, "means")}
	})
	question := rapid.Custom(func(t *rapid.T) daemonapi.Question {
		return daemonapi.Question{Question: text.Draw(t, "question"), Multi: rapid.Bool().Draw(t, "multi"), Options: rapid.SliceOfN(choice, 0, 3).Draw(t, "choices")}
	})
	ask := rapid.Custom(func(t *rapid.T) daemonapi.Ask {
		return daemonapi.Ask{Tool: text.Draw(t, "tool"), Plan: text.Draw(t, "plan"), Input: text.Draw(t, "input"), Questions: rapid.SliceOfN(question, 0, 3).Draw(t, "questions")}
	})
	details := rapid.Custom(func(t *rapid.T) daemonapi.Details {
		return daemonapi.Details{LastMessage: text.Draw(t, "last"), Changes: []string{text.Draw(t, "change")}, Gates: []string{text.Draw(t, "gate")}, USD: 1, Tokens: 5, Running: 100}
	})
	option := rapid.Custom(func(t *rapid.T) daemonapi.Option {
		return daemonapi.Option{Number: rapid.IntRange(1, 20).Draw(t, "number"), Name: text.Draw(t, "option"), Description: text.Draw(t, "means"), Recommended: true}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := daemonapi.Decision{
			ID: "9f8e7d6c00000000", Name: text.Draw(t, "name"), Project: text.Draw(t, "project"), Source: rapid.SampledFrom([]string{"idle", "question", "plan", "approval"}).Draw(t, "source"),
			Step: text.Draw(t, "step"), Agent: "0d9a4d52", Context: text.Draw(t, "context"), Created: now.Add(-time.Hour),
			Options: rapid.SliceOfN(option, 0, 4).Draw(t, "options"), Ask: rapid.Ptr(ask, true).Draw(t, "ask"), Details: rapid.Ptr(details, true).Draw(t, "details"),
			Resolved: rapid.Ptr(rapid.Just(now), true).Draw(t, "resolved"), Chosen: text.Draw(t, "chosen"), Expires: &now, OnExpiry: "go_on",
		}
		width := rapid.IntRange(30, 200).Draw(t, "width")
		s := decisionShow{Decision: &d, agent: &daemonapi.Agent{ID: "0d9a4d52", Terminal: &daemonapi.Terminal{}}, width: width, now: now}
		for _, line := range s.lines() {
			if strings.ContainsAny(line, "\n\r\x1b\x07") {
				t.Fatalf("%q", line)
			}
			if term.Cells(line) > width && !strings.Contains(line, "stopgate ") {
				t.Fatalf("%d columns for %d: %q", term.Cells(line), width, line)
			}
		}
	})
}

func TestConversationFitsTheScreen(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\nb", "\x1b[31mred", strings.Repeat("long ", 40), strings.Repeat("日", 100)}))
	rapid.Check(t, func(t *rapid.T) {
		view := talk{width: rapid.IntRange(20, 200).Draw(t, "width")}
		e := transcript.Event{Kind: transcript.Kind(rapid.IntRange(0, 6).Draw(t, "kind")), Text: text.Draw(t, "text")}
		if rapid.Bool().Draw(t, "timed") {
			e.Time = time.Date(2026, 1, 30, 8, 14, 9, 0, time.UTC)
		}
		for _, line := range view.lines(e) {
			if term.Cells(line) > view.width || strings.ContainsAny(line, "\n\r\x1b\x07") {
				t.Fatalf("%d columns for %d: %q", term.Cells(line), view.width, line)
			}
		}
	})
}
