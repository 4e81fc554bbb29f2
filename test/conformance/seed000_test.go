package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ranHook shows that the hook executed.
const ranHook = "echo yes > ran"

func TestValidAgentIDProvided(t *testing.T) {
	b := newBench(t, ranHook+`; printf %s "$CONCLAUDE_AGENT_ID" > id`)
	b.passes(b.fire(b.payload(map[string]any{"agent_id": "coder"})))
	if got := b.read("id"); got != "coder" {
		t.Errorf("the handler saw %q", got)
	}
}

func TestMissingAgentIDField(t *testing.T) {
	b := newBench(t, ranHook)
	b.rejected(b.fire(b.payload(map[string]any{"agent_id": nil})), "missing required field: agent_id")
}

func TestEmptyAgentIDValue(t *testing.T) {
	for _, value := range []string{"", "  ", "\t\n"} {
		t.Run("", func(t *testing.T) {
			b := newBench(t, ranHook)
			b.rejected(b.fire(b.payload(map[string]any{"agent_id": value})), "agent_id is required and cannot be empty")
		})
	}
}

func TestValidAgentTranscriptPathProvided(t *testing.T) {
	b := newBench(t, ranHook+`; printf %s "$CONCLAUDE_AGENT_TRANSCRIPT_PATH" > path`)
	b.passes(b.fire(b.payload(map[string]any{"agent_transcript_path": "/path/to/agent/transcript.json"})))
	if got := b.read("path"); got != "/path/to/agent/transcript.json" {
		t.Errorf("the handler saw %q", got)
	}
}

func TestMissingAgentTranscriptPathField(t *testing.T) {
	b := newBench(t, ranHook)
	b.rejected(b.fire(b.payload(map[string]any{"agent_transcript_path": nil})), "missing required field: agent_transcript_path")
}

func TestEmptyAgentTranscriptPathValue(t *testing.T) {
	b := newBench(t, ranHook)
	b.rejected(b.fire(b.payload(map[string]any{"agent_transcript_path": ""})), "agent_transcript_path is required and cannot be empty")
}

func TestAgentIDAvailableToHookCommands(t *testing.T) {
	b := newBench(t, ranHook+`; env > env`)
	b.passes(b.fire(b.payload(map[string]any{"agent_id": "tester"})))
	if !hasLine(b.read("env"), "CONCLAUDE_AGENT_ID=tester") {
		t.Errorf("not in the environment:\n%s", b.read("env"))
	}
}

func TestAgentIDInNotificationContext(t *testing.T) {
	b := newBench(t, ranHook)
	script := filepath.Join(b.root, "notify")
	b.write("notify", "#!/bin/sh\nprintf '%s' \"$1\" > \"$0.tmp\" && mv \"$0.tmp\" \"$0.said\"\n")
	check(t, os.Chmod(script, 0o700))
	global := filepath.Join(b.home, ".config", "agent-gauntlet", "config.yml")
	check(t, os.MkdirAll(filepath.Dir(global), 0o700))
	check(t, os.WriteFile(global, []byte("notify:\n  command: "+script+"\n"), 0o600))
	b.passes(b.fire(b.payload(map[string]any{"agent_id": "coder", "agent_type": "general-purpose"})))
	said := b.waitFor("notify.said")
	for _, want := range []string{"coder", "general-purpose"} {
		if !strings.Contains(said, want) {
			t.Errorf("the notification %q does not name %s", said, want)
		}
	}
}

func TestAgentTranscriptPathAvailableToHookCommands(t *testing.T) {
	b := newBench(t, ranHook+`; env > env; cat "$CONCLAUDE_AGENT_TRANSCRIPT_PATH" > copy`)
	transcript := filepath.Join(b.root, "agent_transcript.json")
	b.write("agent_transcript.json", "what the agent did")
	b.passes(b.fire(b.payload(map[string]any{"agent_transcript_path": transcript})))
	if !hasLine(b.read("env"), "CONCLAUDE_AGENT_TRANSCRIPT_PATH="+transcript) {
		t.Errorf("not in the environment:\n%s", b.read("env"))
	}
	if got := b.read("copy"); got != "what the agent did" {
		t.Errorf("the command read %q", got)
	}
}

func TestDistinguishMainAndAgentTranscripts(t *testing.T) {
	b := newBench(t, ranHook+`; env > env`)
	b.passes(b.fire(b.payload(map[string]any{
		"transcript_path":       "/tmp/main_transcript.json",
		"agent_transcript_path": "/tmp/agent_coder_transcript.json",
	})))
	for _, want := range []string{
		"CONCLAUDE_TRANSCRIPT_PATH=/tmp/main_transcript.json",
		"CONCLAUDE_AGENT_TRANSCRIPT_PATH=/tmp/agent_coder_transcript.json",
	} {
		if !hasLine(b.read("env"), want) {
			t.Errorf("%s is not in the environment:\n%s", want, b.read("env"))
		}
	}
}

func TestCompleteValidPayload(t *testing.T) {
	b := newBench(t, ranHook)
	b.passes(b.fire(b.payload(nil)))
}

func TestPayloadMissingBothNewFields(t *testing.T) {
	b := newBench(t, ranHook)
	b.rejected(b.fire(b.payload(map[string]any{"agent_id": nil, "agent_transcript_path": nil})),
		"missing required field: agent_id", "missing required field: agent_transcript_path")
}

func hasLine(text, line string) bool {
	for got := range strings.Lines(text) {
		if strings.TrimSuffix(got, "\n") == line {
			return true
		}
	}
	return false
}

// waitFor waits for a file that a detached command writes.
func (b *bench) waitFor(name string) string {
	b.t.Helper()
	ctx := b.t.Context()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	giveUp := time.After(3 * time.Minute)
	for {
		if text := b.read(name); text != "" {
			return text
		}
		select {
		case <-tick.C:
		case <-giveUp:
			b.t.Fatalf("%s never came", name)
		case <-ctx.Done():
			b.t.Fatal(ctx.Err())
		}
	}
}
