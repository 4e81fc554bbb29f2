//go:build unix

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestAgentIsWokenByAStopAndByAClientThatWaits(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.API.On(claudeapi.Last("what next"), claudeapi.Text("Run /clear, then `/gsd:plan-phase 3`. See https://example.com/clear"))
	tui := d.Session("main")
	tui.Send("what next")
	wake := d.waitLetter("stop", 1)
	if wake.Event != "Stop" || wake.Session != "main" || !slices.Equal(wake.SuggestedCommands, []string{"/clear", "/gsd:plan-phase 3"}) {
		t.Errorf("%+v", wake)
	}
	metadata, content, instructions := strings.Index(wake.Message, "main"), strings.Index(wake.Message, "Run /clear, then"), strings.Index(wake.Message, "stopgate queue create")
	if metadata < 0 || content < metadata || instructions < content {
		t.Errorf("the message is in another order:\n%s", wake.Message)
	}
	// That the client then waits is no news to an agent that was told of the stop.
	d.WaitEvent("Notification", with("notification_type", "idle_prompt"))
	d.Register(map[string]any{"agent_id": "keeper", "session_name": "*", "wake_on": []string{"idle"}, "gateway": map[string]any{"transport": "webhook", "url": d.Post.URL}})
	tui.Send("and what then")
	idle := d.waitLetter("idle", 1)
	if idle.Event != "Notification" {
		t.Errorf("%+v", idle)
	}
	// What the client sends is written down by a hook of its own, which may be later than the letter.
	poll(patience, func() bool { return len(d.Events("Notification")) >= 2 })
	if n := len(d.Events("Notification")); n != 2 || len(d.Post.Letters()) != 2 {
		t.Errorf("%d notifications led to %d letters", n, len(d.Post.Letters()))
	}
	d.wantLetters("stop")

	// Sessions that nobody looks after are left alone.
	d.Register()
	tui.Send("and now")
	d.WaitEvent("Stop", with("last_assistant_message", answerTo("and now")))
	if answers := d.Answers("Stop"); len(answers) == 0 {
		t.Error("no answer")
	}
	d.wantLetters("stop")
}

// A person's own command gets the message on its standard input.
func TestAgentIsWokenByACommand(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	mail := filepath.Join(d.Tmp, "mail")
	d.Write(filepath.Join(d.Tmp, "deliver.sh"), `cat >"$1/$STOPGATE_KIND.part" && env | grep '^STOPGATE_\|^TMUX\|^CLAUDE' >"$1/env" && mv "$1/$STOPGATE_KIND.part" "$1/$STOPGATE_KIND"`)
	check(t, os.Mkdir(mail, 0o700))
	d.Register(map[string]any{"agent_id": "keeper", "session_name": "ma*", "gateway": map[string]any{
		"transport": "command", "command": []string{"sh", filepath.Join(d.Tmp, "deliver.sh"), mail},
	}})
	d.Session("main").Send("hello")
	var message []byte
	if !poll(patience, func() (came bool) {
		var err error
		message, err = os.ReadFile(filepath.Join(mail, "stop"))
		return err == nil
	}) {
		t.Fatal("no message")
	}
	if !strings.Contains(string(message), answerTo("hello")) {
		t.Errorf("the message:\n%s", message)
	}
	env, _ := os.ReadFile(filepath.Join(mail, "env"))
	for _, want := range []string{"STOPGATE_KIND=stop", "STOPGATE_EVENT=Stop", "STOPGATE_SESSION=main", "STOPGATE_AGENT_ID=keeper", "STOPGATE_MESSAGE_KEY="} {
		if !strings.Contains(string(env), want) {
			t.Errorf("no %s in\n%s", want, env)
		}
	}
	if strings.Contains(string(env), "TMUX=") || strings.Contains(string(env), "TMUX_PANE") || strings.Contains(string(env), "CLAUDE") {
		t.Errorf("the command is in the client's session:\n%s", env)
	}
}

// The client is not kept waiting by a gateway that hangs, dies or is out of order. What it is to be
// told arrives in order, each under one key, once.
func TestGatewayThatFailsGetsItsLettersLater(t *testing.T) {
	t.Parallel()
	d := newDriven(t, map[string]any{"wake_on": []string{"stop"}})
	back := make(chan struct{})
	d.Post.refuse = func(w http.ResponseWriter, try int) bool {
		switch try {
		case 1: // it takes its time, and then dies
			<-back
			panic(http.ErrAbortHandler)
		case 2:
			http.Error(w, "out of order", http.StatusInternalServerError)
			return true
		}
		return false
	}
	tui := d.Session("main")
	prompts := []string{"one", "two", "three"}
	for _, prompt := range prompts {
		tui.Send(prompt)
		d.WaitEvent("Stop", with("last_assistant_message", answerTo(prompt)))
	}
	if got := len(d.Answers("Stop")); got < 2 || len(d.Post.Letters()) != 0 {
		t.Errorf("%d stops were answered while the gateway hung, and %d letters came", got, len(d.Post.Letters()))
	}
	close(back)
	var keys []string
	for i, prompt := range prompts {
		l := d.waitLetter("stop", i+1)
		if l.LastAssistantMessage == nil || *l.LastAssistantMessage != answerTo(prompt) {
			t.Errorf("letter %d is %+v", i+1, l)
		}
		keys = append(keys, l.Key)
	}
	if got, want := d.Post.Keys(), append([]string{keys[0], keys[0]}, keys...); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	d.wantLetters("stop", "stop", "stop")
}

// An agent may be a client in another session: the message is typed there.
func TestAgentIsWokenInAnotherSession(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Register(map[string]any{"agent_id": "boss", "session_name": "worker", "gateway": map[string]any{
		"transport": "session", "session": "boss",
	}})
	d.Session("boss")
	worker := d.Session("worker")
	worker.Send("hello")
	answer := func(e event) bool { return strings.Contains(e.Str("prompt"), answerTo("hello")) }
	told := d.WaitEvent("UserPromptSubmit", answer)
	if told.Session() == worker.Started.Session() || !strings.Contains(told.Str("prompt"), "stopgate queue create") {
		t.Errorf("the boss was told\n%s", told.Str("prompt"))
	}
	d.waitQueue("boss", "done", func(q queueFile) bool { return len(q.Commands) == 1 && q.Commands[0].Status == "done" })
}
