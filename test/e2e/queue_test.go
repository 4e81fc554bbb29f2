//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// The seed's whole way: three commands of three kinds, each with its own result. STOPGATE_ROUNDS
// makes the same session go it more often.
func TestQueueRunsToCompletion(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Write(".claude/commands/gsd/plan-phase.md", "Plan the phase $ARGUMENTS.\n")
	tui := d.Session("warden-main-4")
	rounds := 2
	if text := os.Getenv("STOPGATE_ROUNDS"); text != "" {
		if _, err := fmt.Sscan(text, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	var prompts, letters []string
	for round := 1; round <= rounds; round++ {
		long := fmt.Sprintf("round %d: ", round) + strings.TrimSpace(strings.Repeat("a plain prompt of five kB ", 200))
		order, err := json.Marshal(map[string]any{"session": "warden-main-4", "commands": []string{"/clear", "/gsd:plan-phase 3", long}})
		check(t, err)
		d.Stopgate("queue", "create", string(order)).mustPass(t)
		wake := d.waitLetter("queue_complete", round)
		d.wantHeadline(wake, "Queue complete. 3/3 commands executed. Results attached.")
		if want := d.queuePath("warden-main-4", "done"); wake.Queue.Path != want || !strings.Contains(wake.Message, want) {
			t.Errorf("the wake names %q, want %q:\n%s", wake.Queue.Path, want, wake.Message)
		}
		q := d.waitDone("warden-main-4", "", answerTo("Plan the phase 3."), answerTo(long))
		clear := "clear"
		hooks := []queueHook{{"Stop", nil}, {"SessionStart", &clear}, {"Stop", nil}, {"Stop", nil}}
		for i, c := range q.Commands {
			enters := c.Stopgate.Enters // a busy client may take so long that Enter is pressed again
			if c.ID != i+1 || !cmp.Equal(c.Trigger, hooks[i]) || !cmp.Equal(c.Awaits, hooks[i+1]) || enters < 1 || enters > 2 {
				t.Errorf("command %d: %+v", i+1, c)
			}
		}
		prompts = append(prompts, "/gsd:plan-phase 3", long)
		d.wantPrompts(prompts...)
		letters = append(letters, "queue_complete")
		d.wantLetters(letters...)
	}

	tui.Send("and what now?")
	fresh := d.waitLetter("stop", 1)
	if fresh.LastAssistantMessage == nil || *fresh.LastAssistantMessage != answerTo("and what now?") {
		t.Errorf("the agent was told %+v", fresh)
	}
	d.wantLetters(append(letters, "stop")...)
}

// What a person can type arrives as it is, except for what the client itself makes of it.
func TestQueuedTextsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Session("texts")
	texts := []string{
		"-n is not an option here",
		"a semicolon;",
		"one\n\ntwo\nthree\n",
		`"double" 'single' $HOME \"both\" ` + "`date`",
		"emoji 👩‍👩‍👧 🇩🇪 日本語 עברית",
		`ends in a backslash \`,
		"look at @README.md",
		"look at @REA",
		"tab\tand tab",
		"e\u0301te\u0301 is NFD",
		"!echo this is no shell",
		"1. Yes",
		"/usr/bin/env is a path",
		"long: " + strings.Repeat("0123456789 abcdefghij\n", 100<<10/22) + "end",
	}
	d.Create("texts", texts...)
	d.waitLetter("queue_complete", 1)
	q, _ := d.readQueue("texts", "done")
	var want []string
	for i, text := range texts {
		text = strings.TrimSpace(strings.ReplaceAll(norm.NFC.String(text), "\t", "    "))
		want = append(want, text)
		arrived := func(r claudeapi.Request) bool {
			return slices.ContainsFunc(r.Texts(), func(got string) bool { return strings.TrimSpace(got) == text })
		}
		if !slices.ContainsFunc(d.API.Requests(), arrived) {
			t.Errorf("the model was not given %.60q", text)
		}
		if c := q.Commands[i]; c.Command != texts[i] || c.Status != "done" || c.Result == nil {
			t.Errorf("command %d: %.200v", i+1, c)
		}
	}
	var got []string
	for _, text := range d.prompts() {
		got = append(got, strings.TrimSpace(text))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prompts (-want +got):\n%.2000s", diff)
	}
}

func TestQueuesOfTwoSessionsDoNotMix(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	names := []string{"left", "right side"}
	commands := func(name string) []string {
		return []string{name + " 1", name + " 2", "/clear", name + " 3", name + " 4"}
	}
	for _, name := range names {
		d.Session(name)
	}
	for _, name := range names {
		d.Create(name, commands(name)...)
	}
	for i := range names {
		d.waitLetter("queue_complete", i+1)
	}
	for _, name := range names {
		d.waitDone(name, answerTo(name+" 1"), answerTo(name+" 2"), "", answerTo(name+" 3"), answerTo(name+" 4"))
	}
	for _, r := range d.API.Requests() {
		if all := strings.Join(r.Texts(), "\n"); strings.Contains(all, "left") == strings.Contains(all, "right") {
			t.Errorf("a conversation of %q", r.Texts())
		}
	}
	if got := len(d.prompts()); got != 8 {
		t.Errorf("%d prompts, want 8: %q", got, d.prompts())
	}
	d.wantLetters("queue_complete", "queue_complete")
}

func TestQueueForABusyClientWaitsForItsStop(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	answer := make(chan struct{})
	d.API.On(claudeapi.Last("a person's prompt"), claudeapi.Hold(answer, claudeapi.Text("at last")))
	tui := d.Session("busy")
	tui.Send("a person's prompt")
	d.API.WaitRequest(t, claudeapi.Last("a person's prompt"))
	out := d.Order("busy", "the queue's").mustPass(t)
	if !strings.Contains(out.Stdout, "typed when Claude Code stops") {
		t.Errorf("create said %q", out.Stdout)
	}
	d.waitActive("busy", 1, "waiting")
	d.wantPrompts("a person's prompt")
	close(answer)
	d.waitLetter("queue_complete", 1)
	d.waitDone("busy", answerTo("the queue's"))
	d.wantPrompts("a person's prompt", "the queue's")
	d.wantLetters("queue_complete")
}

func TestQueueForAClientThatIsStarting(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	tui := d.session("early")
	tui.launch()
	// A client that takes longer to start than anybody waits for is refused.
	if !poll(patience, func() bool { return d.Order("early", "good morning").Code == 0 }) {
		t.Fatal("the queue is refused")
	}
	d.waitLetter("queue_complete", 1)
	d.waitDone("early", answerTo("good morning"))
	d.wantPrompts("good morning")
	d.wantLetters("queue_complete")
}

// A pane without a client, such as that of a shell, is typed nothing into.
func TestQueueIsRefusedWhereThereIsNoClient(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	tui := d.session("shell")
	typed := filepath.Join(d.Tmp, "typed")
	tui.command = []string{"sh", "-c", "cat >" + typed}
	tui.launch()
	for session, want := range map[string]string{"shell": "does not run Claude Code", "nobody": "there is no tmux session nobody"} {
		out := d.Order(session, "rm -rf everything")
		if out.Code != 1 || !strings.Contains(out.Stderr, want) {
			t.Errorf("exit %d: %s", out.Code, out.Stderr)
		}
		if _, found := d.readQueue(session, ""); found {
			t.Errorf("%s has a queue", session)
		}
	}
	if text, _ := os.ReadFile(typed); len(text) != 0 || strings.Contains(tui.Screen(), "everything") {
		t.Errorf("the shell got %q:\n%s", text, tui.Screen())
	}
}
