package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chain is an agent that stops; the answer is the unified hook's, empty when the
// agent may stop.
func (g *gated) chain(changes map[string]any) hookAnswer {
	g.t.Helper()
	return g.chainAt("Stop", changes)
}

func (g *gated) chainAt(event string, changes map[string]any) hookAnswer {
	g.t.Helper()
	all := map[string]any{"permission_mode": "default", "prompt_id": "prompt-1", "hook_event_name": event}
	for key, value := range changes {
		all[key] = value
	}
	a := hookAnswer{result: g.call(g.stopPayload(all), "hook", event)}
	if a.code != 0 {
		g.t.Fatalf("%+v", a.result)
	}
	if a.stdout == "" {
		return a
	}
	if err := json.Unmarshal([]byte(a.stdout), &a); err != nil {
		g.t.Fatalf("%v in %q", err, a.stdout)
	}
	return a
}

// hookAnswer is what the unified hook said.
type hookAnswer struct {
	result
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	SystemMessage string `json:"systemMessage"`
}

func (a hookAnswer) blocks() bool { return a.Decision == "block" }

// journal is what the journal says about the last answers, one line each.
func (g *gated) journal() string {
	g.t.Helper()
	r := g.call(nil, "log")
	if r.code != 0 {
		g.t.Fatalf("%+v", r)
	}
	return r.stdout
}

func TestRulingC1GatesLookAtStopsAlone(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	for _, changes := range []map[string]any{
		{"hook_event_name": "SubagentStop", "agent_id": "a", "agent_type": "coder", "agent_transcript_path": "/tmp/a.json"},
		{"hook_event_name": "SessionStart", "source": "startup"},
		{"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
		{"agent_id": "a"}, // a subagent's own
	} {
		event, _ := changes["hook_event_name"].(string)
		if event == "" {
			event = "Stop"
		}
		if a := g.chainAt(event, changes); a.blocks() || g.runs() != 0 {
			t.Errorf("%v: %d runs, %s", changes, g.runs(), a.stdout)
		}
	}
	g.write("more", "") // since the prompt
	if a := g.chain(nil); !a.blocks() || g.runs() != 1 {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
}

// The reviewer is a client too. It must run no hooks, and if it does, they allow.
func TestRulingC2ReviewersAreLetAlone(t *testing.T) {
	g := newGated(t, reviewed)
	g.set("CLAUDECODE=1")
	g.reviewer("claude", reviewPasses)
	script := filepath.Join(g.beside("bin"), "claude")
	spill(t, script, slurp(t, script)+"env > '"+g.beside("env")+"'; printf '%s\\n' \"$@\" > '"+g.beside("args")+"'\n")
	g.stop().is(t, "passed")
	contains(t, slurp(t, g.beside("args")), `"disableAllHooks":true`)
	env := slurp(t, g.beside("env"))
	for _, variable := range []string{"STOPGATE_INSIDE=1", "GAUNTLET_STOP_HOOK_ACTIVE=1"} {
		if !hasLine(env, variable) {
			t.Errorf("no %s in %s", variable, env)
		}
	}
	if strings.Contains(env, "CLAUDECODE") {
		t.Error("the reviewer takes itself for a part of the session")
	}
}

func TestRulingC2InsideOurOwnClientEveryEntryPointAllows(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"STOPGATE_INSIDE=1", "GAUNTLET_STOP_HOOK_ACTIVE=1"} {
		t.Run(variable, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.write("bad", "")
			g.set(variable)
			understand(t, g.call([]byte("not even read"), "stop-hook")).is(t, "stop_hook_active")
			if a := g.chain(nil); a.blocks() || g.runs() != 0 {
				t.Errorf("%d runs, %s", g.runs(), a.stdout)
			}
		})
	}
}

// The client's flag is also true when another keeper blocked. It counts for the
// gates only after a block of their own in this prompt.
func TestRulingC3FlagCountsAfterABlockOfTheGates(t *testing.T) {
	g := newGated(t, theCheck+"stop_hook: {verify_fixes: false}\n")
	g.write("bad", "")
	flagged := map[string]any{"stop_hook_active": true}
	if a := g.chain(flagged); !a.blocks() || g.runs() != 1 {
		t.Fatalf("the flag of somebody else let the agent go: %d runs, %s", g.runs(), a.stdout)
	}
	if a := g.chain(flagged); a.blocks() || g.runs() != 1 {
		t.Errorf("after a block of the gates: %d runs, %s", g.runs(), a.stdout)
	}
	if a := g.chain(map[string]any{"stop_hook_active": true, "prompt_id": "prompt-2"}); !a.blocks() || g.runs() != 2 {
		t.Errorf("in the next prompt: %d runs, %s", g.runs(), a.stdout)
	}
}

func TestRulingC4GatesStayWithinTheClientsCap(t *testing.T) {
	g := newGated(t, theCheck+"max_retries: 100\nstop_hook: {verify_fixes: true}\n")
	g.write("bad", "")
	g.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=3")
	for i := range 3 {
		if a := g.chain(map[string]any{"stop_hook_active": i > 0}); !a.blocks() {
			t.Fatalf("stop %d: %s", i, a.stdout)
		}
	}
	a := g.chain(map[string]any{"stop_hook_active": true})
	if a.blocks() {
		t.Fatalf("one block more than the client honours: %s", a.stdout)
	}
	contains(t, a.SystemMessage, "gave up", "check:.:tests")
	contains(t, g.journal(), "gave up")
}

// Claude Code would end the hook after 20 seconds, and treat that as consent.
func TestRulingC5GatesEndBeforeTheClientsTimeout(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "sleep 600"))
	g.write(".claude/settings.json", fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"%s hook Stop","timeout":20}]}]}}`, stopgate))
	start := time.Now()
	a := g.chain(nil)
	if a.blocks() || g.runs() != 1 {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
	if took := time.Since(start); took < 2*time.Second {
		t.Errorf("the gate had only %s", took)
	}
	contains(t, a.SystemMessage, "time")
	contains(t, g.journal(), "deadline")
}

func TestRulingC6AGuardsBlockComesFirst(t *testing.T) {
	g := newGated(t, theCheck+"hooks:\n  Stop:\n    - {run: 'echo the guard says no; exit 1'}\n")
	g.write("bad", "")
	a := g.chain(nil)
	if !a.blocks() || g.runs() != 0 {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
	contains(t, a.Reason, "the guard says no")
}

func TestRulingC7GatesThatCouldNotRunAllow(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test !", "no-such-tool !"))
	a := g.chain(nil)
	if a.blocks() {
		t.Errorf("%s", a.stdout)
	}
	contains(t, a.SystemMessage, "stopgate: ", "check:.:tests", "not found")
	contains(t, g.journal(), "infrastructure error")
}

func TestRulingC8GatesOfTheProjectFromAnywhere(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	for name, tt := range map[string]struct{ cwd, project, process string }{
		"the payload's cwd":    {".", "", elsewhere},
		"below it":             {"src/deep", "", elsewhere},
		"CLAUDE_PROJECT_DIR":   {elsewhere, ".", elsewhere},
		"the process's cwd":    {elsewhere, "", "."},
		"a cwd that is gone":   {"gone/away", "", elsewhere},
		"a cwd that says none": {"", ".", elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			check(t, os.MkdirAll(g.path("src/deep"), 0o700))
			in := func(dir string) string {
				if dir == "" || filepath.IsAbs(dir) {
					return dir
				}
				return filepath.Join(g.root, dir)
			}
			g.set("CLAUDE_PROJECT_DIR=" + in(tt.project))
			g.stopFrom(in(tt.process), map[string]any{"cwd": in(tt.cwd)}).is(t, "passed")
			if g.runs() != 1 || !exists(g.log("previous/console.1.log")) {
				t.Errorf("%d runs, logs %q", g.runs(), g.logs())
			}
		})
	}
}

func TestRulingC9StopHookNeedsLittle(t *testing.T) {
	g := newGated(t, theCheck)
	understand(t, g.call([]byte("{}"), "stop-hook")).is(t, "passed")
	r := g.call([]byte("{}"), "hook", "Stop")
	if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "session_id") {
		t.Errorf("the unified hook took half a payload: %+v", r)
	}
}
