package conformance

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// newChained is a project with theCheck, in which the unified hook and the supervisor's
// are both installed, and whose client was started supervised.
func newChained(t *testing.T) *desk {
	t.Helper()
	d := deskOf(t, newGated(t, theCheck))
	d.set("CCC_SUPERVISOR=1")
	d.set("CLAUDECODE=1")
	d.install(stopgate+" hook Stop", "")
	return d
}

// install writes the settings of a client that calls the command and our supervisor at
// each stop.
func (d *desk) install(command, more string) {
	d.t.Helper()
	spill(d.t, d.claude("settings.json"), fmt.Sprintf(
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":%q%s},{"type":"command","command":%q}]}]}}`,
		command, more, d.ccc()+" supervisor-hook"))
}

func TestRulingC1TheSupervisorLooksAtStopsAlone(t *testing.T) {
	d := newChained(t)
	d.answers(verdictLine(false, "go on"))
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
		if a := d.chainAt(event, changes); a.blocks() || len(d.calls()) != 0 {
			t.Errorf("%v: %d reviews, %s", changes, len(d.calls()), a.stdout)
		}
	}
	if a := d.chain(nil); !a.blocks() || a.Reason != "go on" {
		t.Errorf("%s", a.stdout)
	}
	alone := newAlone(d)
	alone.hook(map[string]any{"hook_event_name": "SubagentStop", "agent_id": "a"}).allows(t)
	if len(d.calls()) != 1 {
		t.Errorf("%d reviews", len(d.calls()))
	}
}

func TestRulingC2SupervisorsReviewersRunNoHooks(t *testing.T) {
	d := newChained(t)
	spill(t, d.beside("own.json"), string(d.stopPayload(map[string]any{"session_id": "fork", "permission_mode": "default"})))
	spill(t, d.beside("stream"), verdictLine(true, "")+"\n")
	d.acts(`for hook in "'` + stopgate + `' hook Stop" "'` + stopgate + `' stop-hook" "'` + d.ccc() + `' supervisor-hook"; do
  eval "$hook" < '` + d.beside("own.json") + `' >> "$call/answers" 2>&1
done
cat '` + d.beside("stream") + "'")
	if a := d.chain(nil); a.blocks() {
		t.Errorf("%s", a.stdout)
	}
	call := d.only()
	if got := call.after(t, "--settings"); !strings.Contains(got, `"disableAllHooks":true`) {
		t.Errorf("--settings %q", got)
	}
	for _, variable := range []string{"CCC_SUPERVISOR_HOOK", "STOPGATE_INSIDE", "GAUNTLET_STOP_HOOK_ACTIVE"} {
		call.has(t, variable, "1")
	}
	call.hasNot(t, kin...)
	answers := slurp(t, d.beside("calls/1/answers"))
	if strings.Contains(answers, `"decision":"block"`) || !strings.Contains(answers, insideReview) || d.runs() != 1 {
		t.Errorf("%d runs; inside the reviewer the hooks say %s", d.runs(), answers)
	}
}

// An agent's own client has its environment, but not its session.
func TestRulingC2OnlyTheRecordedSessionIsReviewed(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	client := d.only().env
	d.answers(verdictLine(false, "go on"))
	fire := func(event, session string, more map[string]any) hookAnswer {
		t.Helper()
		changes := map[string]any{"hook_event_name": event, "session_id": session, "permission_mode": "default", "prompt_id": "p"}
		for key, value := range more {
			changes[key] = value
		}
		cmd := exec.Command(stopgate, "hook", event)
		if event == "supervisor-hook" {
			changes["hook_event_name"] = "Stop"
			cmd = d.start("supervisor-hook")
		}
		cmd.Dir, cmd.Env = d.root, append(slices.Clone(client), "CLAUDECODE=1")
		return d.answer(await(t, cmd, bytes.NewReader(d.stopPayload(changes))))
	}
	reviewed := func(session string, want bool) {
		t.Helper()
		for _, hook := range []string{"supervisor-hook", "Stop"} {
			if a := fire(hook, session, nil); a.blocks() != want {
				t.Errorf("%s of %s: %s", hook, session, a.stdout)
			}
		}
	}
	fire("SessionStart", "first", map[string]any{"source": "startup"})
	fire("UserPromptSubmit", "first", map[string]any{"prompt": "work"})
	reviewed("first", true)
	fire("SessionStart", "nested", map[string]any{"source": "startup"})
	fire("UserPromptSubmit", "nested", map[string]any{"prompt": "x"})
	reviewed("nested", false)
	reviewed("first", true)
	fire("SessionEnd", "first", map[string]any{"reason": "clear"})
	fire("SessionStart", "second", map[string]any{"source": "clear"})
	reviewed("second", true)
	reviewed("first", false)
}

func TestRulingC3TheSupervisorIgnoresTheFlag(t *testing.T) {
	d := newChained(t)
	d.answers(verdictLine(false, "go on"))
	for i := range 4 {
		d.write("work.txt", strings.Repeat("x", i)) // so that no verdict is reused
		if a := d.chain(map[string]any{"stop_hook_active": i > 0}); a.Reason != "go on" {
			t.Errorf("stop %d of a prompt: %s", i, a.stdout)
		}
	}
	alone := newAlone(d)
	alone.hook(map[string]any{"stop_hook_active": true, "session_id": "alone"}).refuses(t, "go on")
	if len(d.calls()) != 5 {
		t.Errorf("%d reviews", len(d.calls()))
	}
}

// newAlone is the desk without the unified hook.
func newAlone(d *desk) *desk {
	d.t.Helper()
	spill(d.t, d.claude("settings.json"), "{}")
	return d
}

// The chain stays within what the client honours, which a supervised launch raises.
func TestRulingC4ReviewsStayWithinTheClientsCap(t *testing.T) {
	d := newChained(t)
	d.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2")
	d.answers(verdictLine(false, "go on"))
	for i := range 3 {
		d.write("work.txt", strings.Repeat("x", i))
		a := d.chain(map[string]any{"stop_hook_active": i > 0})
		if a.blocks() != (i < 2) {
			t.Errorf("stop %d: %s", i, a.stdout)
		}
		if i == 2 {
			contains(t, a.SystemMessage, "gave up")
		}
	}
}

// Claude Code would end the hook after 20 seconds and treat that as consent, without a
// message. A review may take ten minutes.
func TestRulingC5ReviewsEndBeforeTheClientsTimeout(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alone", "in the chain"} {
		t.Run(name, func(t *testing.T) {
			d := newChained(t)
			d.acts("exec sleep 600")
			start := time.Now()
			defer func() {
				if took := time.Since(start); took < 2*time.Second || len(d.calls()) != 1 {
					t.Errorf("%d reviews had only %s", len(d.calls()), took)
				}
			}()
			if name == "alone" {
				spill(t, d.claude("settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+d.ccc()+` supervisor-hook","timeout":20}]}]}}`)
				d.hook(nil).unreviewed(t, "time")
				return
			}
			d.install(stopgate+" hook Stop", `,"timeout":20`)
			if a := d.chain(nil); a.blocks() || !strings.Contains(a.SystemMessage, "time") {
				t.Errorf("%s", a.stdout)
			}
		})
	}
}

// Red gates block first, and no review is paid for.
func TestRulingC6RedGatesComeBeforeAReview(t *testing.T) {
	d := newChained(t)
	d.answers(verdictLine(false, "go on"))
	d.write("bad", "")
	if a := d.chain(nil); !a.blocks() || a.Reason == "go on" || len(d.calls()) != 0 || exists(d.state("supervisor-abc123.json")) {
		t.Errorf("%d reviews, %s", len(d.calls()), a.stdout)
	}
	d.remove("bad")
	if a := d.chain(map[string]any{"prompt_id": "prompt-2"}); a.Reason != "go on" || len(d.calls()) != 1 || d.runs() != 2 {
		t.Errorf("%d reviews, %d runs, %s", len(d.calls()), d.runs(), a.stdout)
	}
	contains(t, d.calls()[0].args[len(d.calls()[0].args)-1], "check:.:tests") // the reviewer knows of the gates
}

func TestRulingC7AReviewThatCouldNotBeAllows(t *testing.T) {
	d := newChained(t)
	d.acts("exit 3")
	a := d.chain(nil)
	if a.blocks() {
		t.Errorf("%s", a.stdout)
	}
	contains(t, a.SystemMessage, "stopgate: ", "not reviewed")
	contains(t, d.journal(), "supervisor")
}

func TestRulingC9SupervisorHookNeedsLittle(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(false, "go on"))
	d.answer(await(t, d.start("supervisor-hook"), strings.NewReader(`{"session_id":"abc123"}`))).refuses(t, "go on")
	if got := d.only().cwd; got != d.root {
		t.Errorf("the reviewer ran in %s", got)
	}
}

// A stop is reviewed once: by the chain, if the client calls that.
func TestRuling415AStopIsReviewedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command, more string
		settings      string // in place of these
		unified       bool
	}{
		"both":                       {stopgate + " hook Stop", "", "", true},
		"without the event":          {stopgate + " hook", "", "", true},
		"not waited for":             {stopgate + " hook Stop", `,"async":true`, "", false},
		"somebody else's hook":       {"/bin/true hook Stop", "", "", false},
		"the gates' own stop hook":   {stopgate + " stop-hook", "", "", false},
		"a file the client drops":    {stopgate + " hook Stop", `,"timeout":"5"`, "", false},
		"a file with broken JSON":    {"", "", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + stopgate + ` hook Stop"}]}]}`, false},
		"no file":                    {"", "", "{}", false},
		"all hooks are switched off": {"", "", `{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + stopgate + ` hook Stop"}]}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := deskOf(t, newGated(t, theCheck))
			d.set("CCC_SUPERVISOR=1")
			d.set("CLAUDECODE=1")
			d.install(tt.command, tt.more)
			if tt.settings != "" {
				spill(t, d.claude("settings.json"), tt.settings)
			}
			d.answers(verdictLine(false, "go on"))
			a := d.hook(nil)
			if !tt.unified {
				a.refuses(t, "go on")
				return
			}
			a.allows(t)
			if len(d.calls()) != 0 {
				t.Error("the supervisor's hook reviewed too")
			}
			if a := d.chain(nil); a.Reason != "go on" || len(d.calls()) != 1 || d.runs() != 1 {
				t.Errorf("%d reviews, %d runs, %s", len(d.calls()), d.runs(), a.stdout)
			}
		})
	}
}

// Project and local files count like the person's own.
func TestRuling415TheUnifiedHookOfAProject(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"settings.json", "settings.local.json"} {
		t.Run(name, func(t *testing.T) {
			d := deskOf(t, newGated(t, theCheck))
			d.set("CCC_SUPERVISOR=1")
			d.write(".claude/"+name, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+stopgate+`","args":["hook","Stop"]}]}]}}`)
			d.answers(verdictLine(false, "go on"))
			d.hook(nil).allows(t)
			// Started there, the agent may have gone elsewhere.
			d.set("CLAUDE_PROJECT_DIR=" + d.root)
			d.hook(map[string]any{"cwd": d.beside("tmp")}).allows(t)
			if len(d.calls()) != 0 {
				t.Errorf("%d reviews", len(d.calls()))
			}
		})
	}
}

// A tree and a conversation that are exactly those of the last review need no other.
func TestSupervisorReusesItsVerdict(t *testing.T) {
	d := newChained(t)
	d.answers(verdictLine(false, "go on"))
	for range 2 {
		if a := d.chain(nil); a.Reason != "go on" {
			t.Errorf("%s", a.stdout)
		}
	}
	if len(d.calls()) != 1 {
		t.Errorf("%d reviews of the same", len(d.calls()))
	}
	d.chain(map[string]any{"last_assistant_message": "Now it is done."})
	d.write("work.txt", "changed")
	d.chain(map[string]any{"last_assistant_message": "Now it is done."})
	if len(d.calls()) != 3 {
		t.Errorf("%d reviews of three things", len(d.calls()))
	}
}

// What reviews cost is added up, and ends them where a person wants that.
func TestSupervisorCostIsKeptAndBounded(t *testing.T) {
	d := newDesk(t)
	spill(t, d.claude("ccc.json"), `{"providers":{"glm":{}},"supervisor":{"max_cost_usd":0.6}}`)
	d.answers(verdictLine(false, "go on")) // for 0.25
	for range 3 {
		d.hook(nil).refuses(t, "go on")
	}
	a := d.hook(nil)
	a.unreviewed(t, "$0.75", "$0.60", "max_cost_usd")
	if len(d.calls()) != 3 {
		t.Errorf("%d reviews", len(d.calls()))
	}
	contains(t, slurp(t, d.state("supervisor-abc123.json")), `"usd":0.75`, `"input_tokens":30`, `"output_tokens":15`)
	contains(t, strings.Join(d.logLines(), "\n"), "cost_usd=0.2500")
}
