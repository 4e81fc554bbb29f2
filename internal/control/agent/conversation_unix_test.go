//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
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
