package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// clientPlane is a plane with an agent that is a client, which has the transcript.
func clientPlane(t *testing.T) (p *plane, agent, transcript string) {
	t.Helper()
	a := newAccount(t, 0)
	p = planeOf(t, a.core)
	p.opts.StateDir = a.spent.stateDir
	agent = a.agent()
	transcript = filepath.Join(a.dir, "projects", "-p", agent+".jsonl")
	check(t, os.MkdirAll(filepath.Dir(transcript), 0o700))
	return p, agent, transcript
}

func said(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	check(t, err)
	return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-01-30T08:14:09Z","message":{"role":"assistant","content":[{"type":"text","text":%s}]}}`+"\n", quoted)
}

// A conversation is read from its end, backwards, and as it grows, without what steers a terminal.
func TestConversationOfAnAgent(t *testing.T) {
	p, agent, transcript := clientPlane(t)
	ask := func(r api.Range) daemonapi.Conversation {
		t.Helper()
		c, err := p.Conversation(t.Context(), agent, r)
		check(t, err)
		if c.Session != agent || c.Messages == nil {
			t.Errorf("%+v", c)
		}
		return c
	}
	if c := ask(api.Range{Before: true, Limit: 9}); len(c.Messages) != 0 || c.Size != 0 {
		t.Errorf("before it began: %+v", c)
	}
	text := said(t, "one") + said(t, "two \u001b[31mred\u0007") + said(t, strings.Repeat("é", longestMessage))
	check(t, os.WriteFile(transcript, []byte(text), 0o600))

	end := ask(api.Range{Before: true, Limit: 2})
	if len(end.Messages) != 2 || end.Messages[0].Text != "two red" || end.Messages[0].Kind != "words" || end.Messages[0].Time == nil ||
		end.Messages[0].Cut || !end.Messages[1].Cut || len(end.Messages[1].Text) > longestMessage || end.Next != end.Size {
		t.Errorf("%.500s", fmt.Sprintf("%+v", end))
	}
	if first := ask(api.Range{Before: true, At: end.From, Limit: 2}); len(first.Messages) != 1 || first.Messages[0].Text != "one" || first.From != 0 || first.Next != end.From {
		t.Errorf("%.500s", fmt.Sprintf("%+v", first))
	}
	if more := ask(api.Range{At: end.Next, Limit: 2}); len(more.Messages) != 0 || more.Next != end.Next {
		t.Errorf("%+v", more)
	}
	check(t, os.WriteFile(transcript, []byte(text+said(t, "three")), 0o600))
	if more := ask(api.Range{At: end.Next, Limit: 2}); len(more.Messages) != 1 || more.Messages[0].Text != "three" {
		t.Errorf("%+v", more)
	}

	do(t, p.core, anID, engine.Input{ID: "cancel", What: engine.Cancel{}})
	if c := ask(api.Range{Before: true, Limit: 9}); len(c.Messages) != 4 {
		t.Errorf("of an agent that has ended: %d messages", len(c.Messages))
	}
}

func TestScreenOfAnAgent(t *testing.T) {
	p, agent, _ := clientPlane(t)
	p.opts.Capture = func(_ context.Context, id string) (string, error) {
		if id != agent {
			return "", errors.New("no such pane")
		}
		return "\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\n> \n", nil
	}
	plain, err := p.Screen(t.Context(), agent[:12], false)
	check(t, err)
	coloured, err := p.Screen(t.Context(), agent, true)
	check(t, err)
	if plain.Text != "red link\n>\n" || coloured.Text != "\x1b[31mred\x1b[0m link\n> \n" || plain.Time.IsZero() {
		t.Errorf("%q, %q", plain.Text, coloured.Text)
	}

	p.opts.Capture = func(context.Context, string) (string, error) { return "", errors.New("tmux\nis gone") }
	_, err = p.Screen(t.Context(), agent, false)
	if e := refusal(t, err); e.Code != "unavailable" || e.Error != "cannot look at the terminal: tmux is gone" {
		t.Errorf("%+v", e)
	}
	do(t, p.core, anID, engine.Input{ID: "cancel", What: engine.Cancel{}})
	_, err = p.Screen(t.Context(), agent, false)
	if e := refusal(t, err); e.Code != "conflict" || !strings.Contains(e.Error, "is exited and shows nothing") {
		t.Errorf("%+v", e)
	}
}

// An agent that is a plain process has neither, and one that there is not is not found.
func TestNoConversation(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	do(t, c, anID, create(anID, agentPlan(runbook.Action{})))
	for _, id := range []string{c.owner(anID).Agent.ID, "00000000"} {
		_, err := p.Conversation(t.Context(), id, api.Range{Limit: 1})
		_, other := p.Screen(t.Context(), id, false)
		if e := refusal(t, err); e.Code != "not_found" {
			t.Errorf("%+v", e)
		}
		if e := refusal(t, other); e.Code != "not_found" {
			t.Errorf("%+v", e)
		}
	}
}
