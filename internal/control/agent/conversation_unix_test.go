//go:build unix

package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// Measured with 2.1.197: of a session whose transcript has only a title the client says that
// there is no conversation, and that it is in use.
func TestSessionWithoutAConversation(t *testing.T) {
	const title = `{"type":"ai-title","aiTitle":"A test","sessionId":"s1"}` + "\n"
	const first, second = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77", "1c6f8c6d-6b1e-5a4b-8c2f-3a7e2d9f5b88"
	for name, test := range map[string]struct {
		transcript string // - for none
		want       string
	}{
		"none":           {"-", "--session-id " + first},
		"nothing in it":  {"", "--session-id " + second},
		"a title":        {title, "--session-id " + second},
		"a title, a cut": {title + `{"type":"us`, "--session-id " + second},
		"a prompt":       {title + `{"type":"user","message":{"role":"user","content":"hi"}}` + "\n", "--resume " + first},
		"an answer":      {`{"type":"assistant","message":{}}`, "--resume " + first},
		"long":           {strings.Repeat(title, 1<<20/len(title)+1), "--resume " + first},
	} {
		t.Run(name, func(t *testing.T) {
			home, state := t.TempDir(), t.TempDir()
			dir := filepath.Join(home, ".claude", "projects", "-p")
			check(t, os.MkdirAll(dir, 0o700))
			if test.transcript != "-" {
				check(t, os.WriteFile(filepath.Join(dir, first+".jsonl"), []byte(test.transcript), 0o600))
			}
			begun, err := agentdir.At(state, first)
			check(t, err)
			check(t, os.MkdirAll(begun.Path(), 0o700))
			check(t, os.WriteFile(begun.Path("prompt.md"), []byte("Do it."), 0o600))
			own, err := agentdir.At(state, second)
			check(t, err)
			b := newBeginning(engine.AgentStart{ID: second, Run: "claude", Resume: first, Prompt: "Go on."}, own, state, []string{"HOME=" + home})
			if script := b.script(); !strings.Contains(script, test.want+" ") {
				t.Errorf("%s, want %s", script, test.want)
			}
			if told := strings.HasPrefix(b.prompt, "Do it."); told == b.resume {
				t.Errorf("it is told %q", b.prompt)
			}
		})
	}
}

// The client finds a session only from the directory in which that began. From elsewhere the agent
// begins a new one, with its whole prompt, and the owner's log says why.
func TestSessionOfAnotherDirectory(t *testing.T) {
	const first, second = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77", "1c6f8c6d-6b1e-5a4b-8c2f-3a7e2d9f5b88"
	root := t.TempDir()
	here, there, link := filepath.Join(root, "here"), filepath.Join(root, "the\nre"), filepath.Join(root, "link")
	check(t, os.MkdirAll(here, 0o700))
	check(t, os.MkdirAll(there, 0o700))
	check(t, os.Symlink(here, link))
	for name, test := range map[string]struct {
		cwd, began string // the transcript's first directory
		want, anew string
	}{
		"the same":         {here, here, "--resume " + first, ""},
		"by a link":        {link, here, "--resume " + first, ""},
		"another":          {here, there, "--session-id " + second, "it began in " + there + ", and this agent runs in " + here},
		"one that is gone": {here, filepath.Join(root, "gone"), "--session-id " + second, "it began in " + filepath.Join(root, "gone") + ", and this agent runs in " + here},
		"not known":        {here, "", "--resume " + first, ""},
		"kept nowhere":     {here, "-", "--session-id " + first, "Claude Code has not kept it"},
	} {
		t.Run(name, func(t *testing.T) {
			home, state := t.TempDir(), t.TempDir()
			dir := filepath.Join(home, ".claude", "projects", "-p")
			check(t, os.MkdirAll(dir, 0o700))
			if test.began != "-" {
				line, err := json.Marshal(map[string]string{"type": "user", "cwd": test.began})
				check(t, err)
				text := `{"type":"ai-title"}` + "\n" + string(line) + "\n"
				if test.began != "" { // an agent may change its directory
					text += `{"type":"user","cwd":"/later"}` + "\n"
				}
				check(t, os.WriteFile(filepath.Join(dir, first+".jsonl"), []byte(text), 0o600))
			}
			own, err := agentdir.At(state, second)
			check(t, err)
			a := engine.AgentStart{ID: second, Run: "claude", Cwd: test.cwd, Step: "work", Resume: first, Prompt: "All of it.", Whole: true}
			b := newBeginning(a, own, state, []string{"HOME=" + home})
			if script := b.script(); !strings.Contains(script, test.want+" ") || b.prompt != "All of it." || b.anew != test.anew {
				t.Errorf("%s, want %s; it is told %q; %q", script, test.want, b.prompt, b.anew)
			}

			log := filepath.Join(state, "logs", "log")
			c := Terminals{Now: time.Now, Log: t.Errorf, Errands: effect.Errands{Log: func(string) string { return log }}}
			c.tellAnew(owner, b)
			told, err := os.ReadFile(log)
			if test.anew == "" {
				if err == nil {
					t.Errorf("the log says %s", told)
				}
				return
			}
			if want := " [work] the conversation " + first + " cannot be resumed: "; err != nil || !strings.Contains(string(told), want) || strings.Count(string(told), "\n") != 1 {
				t.Errorf("the log says %q, %v", told, err)
			}
		})
	}
}
