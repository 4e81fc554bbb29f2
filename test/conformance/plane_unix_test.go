//go:build unix

package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/event"
)

// workBook has an agent in a pipeline, with a step after it, and the same agent alone.
// What the runbook says about the agent comes last.
func workBook(lines ...string) string {
	return `[command.fix]
run = { pipeline = "fix" }

[command.ask]
run = { agent = "worker" }

[pipeline.fix]

[[pipeline.fix.step]]
name = "work"
run = { agent = "worker" }
on_done = "test"

[[pipeline.fix.step]]
name = "test"
run = "echo tested >> tested; sleep 1000"

[agent.worker]
run = '` + standInAgent + `'
` + strings.Join(lines, "\n") + "\n"
}

// Each stop is told anew, and between two of them the daemon is killed.
func TestSeed002AStopThatEscalatesAsksAPersonOnce(t *testing.T) {
	for command, title := range map[string]string{"fix": "Pipeline needs attention: fix", "ask": "Agent needs attention: ask"} {
		t.Run(command, func(t *testing.T) {
			p := newDaemonScene(t, workBook(`on_idle = { action = "nudge", attempts = "forever" }`))
			p.wake()
			owner, agent := p.start(command)
			stop := func(prompt string) {
				t.Helper()
				p.says(event.AgentStop, event.Word{Agent: agent, Prompt: prompt})
				p.heard()
			}
			stop("p1")
			o := p.owner(owner)
			if d := o.Decision; o.Status != "waiting" || d == nil || d.Source != "stop" || d.Context != "Agent tried to stop without signaling completion" {
				t.Fatalf("%+v", d)
			}
			want := title + "\nAgent tried to stop without signaling completion\nAnswer with: stopgate decision answer " + o.Decision.ID + " …\nProject: "
			once := func() bool { return strings.HasPrefix(p.told(), want) && strings.Count(p.told(), "\n") == 4 }
			eventually(t, "a person is told", once)
			stop("p1")
			p.kill()
			p.wake()
			stop("p2")
			p.does("emit", "agent:idle", "--agent", agent, "--prompt", "p3")
			p.does("emit", "agent:prompt", "--agent", agent, "--type", "permission")
			p.heard()
			if d := p.decision(); d.ID != o.Decision.ID || d.Owner != owner {
				t.Errorf("another decision: %+v", d)
			}
			if !once() || len(p.inbox(agent)) > 0 {
				t.Errorf("told %q, typed %q", p.told(), p.inbox(agent))
			}
		})
	}
}

// The word is on record when emit returns; who asks with its place in the journal gets
// an answer that knows it, however soon.
func TestSeed002AWordRightBeforeTheQuestionIsSeen(t *testing.T) {
	p := newDaemonScene(t, workBook())
	p.wake()
	_, agent := p.start("fix")
	if s := p.asks(agent, p.saidSoFar()); s.Signaled {
		t.Fatalf("%+v", s)
	}
	for i := range 50 {
		said := fmt.Sprint("question ", i)
		at := p.says(event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: said})
		if got := p.asks(agent, at); got != (api.Signal{Signaled: true, Kind: "escalate", Message: said}) {
			t.Fatalf("%+v, want %s", got, said)
		}
	}
	p.does("emit", "agent:signal", "--agent", agent, "complete")
	if got := p.asks(agent, p.saidSoFar()); got != (api.Signal{Signaled: true}) { // the pipeline has moved on
		t.Errorf("%+v", got)
	}
}

// The signal is there whatever on_stop is, and stays over the daemon's death.
func TestSeed002TheSignalCountsWhateverOnStopIs(t *testing.T) {
	for _, action := range []string{"signal", "idle", "escalate"} {
		t.Run(action, func(t *testing.T) {
			p := newDaemonScene(t, workBook(`on_stop = "`+action+`"`))
			p.wake()
			_, agent := p.start("fix")
			p.does("emit", "agent:signal", "--agent", agent, `{"kind": "escalate", "message": "Which database?"}`)
			want := api.Signal{Signaled: true, Kind: "escalate", Message: "Which database?"}
			if got := p.asks(agent, p.saidSoFar()); got != want {
				t.Errorf("%+v", got)
			}
			p.kill()
			p.wake()
			if got := p.asks(agent, p.saidSoFar()); got != want {
				t.Errorf("after a restart: %+v", got)
			}
			p.does("decision", "answer", p.decision().ID, "nudge")
			if got := p.asks(agent, p.saidSoFar()); got.Signaled {
				t.Errorf("after the answer: %+v", got)
			}
		})
	}
}

// An idle that is told twice, and read twice, counts once; after the attempts a person is
// asked. The daemon is killed between any two.
func TestSeed002IdleReentrancy(t *testing.T) {
	p := newDaemonScene(t, workBook(`on_stop = "idle"`, `on_idle = { action = "nudge", message = "go on", attempts = 2 }`))
	p.wake()
	owner, agent := p.start("fix")
	idle := func(prompt string, nudges int) {
		t.Helper()
		p.does("emit", "agent:idle", "--agent", agent, "--prompt", prompt)
		p.heard()
		eventually(t, prompt, func() bool { return len(p.inbox(agent)) >= nudges })
		p.kill()
		p.wake()
		if got := p.inbox(agent); len(got) != nudges {
			t.Fatalf("%s: typed %q", prompt, got)
		}
	}
	idle("p1", 1)
	idle("p1", 1)
	idle("p2", 2)
	if o := p.owner(owner); o.Status != "running" {
		t.Fatalf("%+v", o)
	}
	idle("p3", 2)
	o := p.reaches(owner, "work", "waiting")
	if o.Decision.Source != "idle" || !strings.HasSuffix(o.Decision.Context, "2 attempts did not help") {
		t.Errorf("%+v", o.Decision)
	}
}

func TestSeed002OrphansMayStop(t *testing.T) {
	p := newDaemonScene(t, workBook(`on_stop = "idle"`, `on_idle = "done"`))
	p.wake()
	for command, step := range map[string]string{"fix": "test", "ask": "done"} {
		owner, agent := p.start(command)
		if s := p.asks(agent, p.saidSoFar()); s.Signaled {
			t.Fatalf("%s: it works, and may stop: %+v", command, s)
		}
		p.does("emit", "agent:idle", "--agent", agent)
		if s := p.asks(agent, p.saidSoFar()); s != (api.Signal{Signaled: true}) {
			t.Errorf("%s: %+v", command, s)
		}
		if o := p.owner(owner); o.Step != step {
			t.Errorf("%s is at %s", command, o.Step)
		}
	}
	if s := p.asks(nobody, p.saidSoFar()); !s.Signaled {
		t.Error("an agent that nobody knows may not stop")
	}
}

// What an agent's stop hook will read is there before the agent is.
func TestSeed002ConfigOfAnAgent(t *testing.T) {
	for _, test := range []struct{ line, command, want string }{
		{"", "fix", "signal"},
		{"", "ask", "escalate"},
		{`on_stop = "idle"`, "fix", "idle"},
		{`on_stop = { action = "escalate" }`, "fix", "escalate"},
		{`on_stop = "signal"`, "ask", "signal"},
	} {
		t.Run(test.command+" "+test.want, func(t *testing.T) {
			p := newDaemonScene(t, workBook(test.line))
			p.wake()
			_, agent := p.start(test.command)
			text, err := os.ReadFile(filepath.Join(p.state, "agents", agent, "config.json"))
			if want := `{"on_stop":"` + test.want + `"}`; err != nil || string(text) != want {
				t.Errorf("%s, %v, want %s", text, err, want)
			}
		})
	}
}

// Ruling 2.2, and the older system's first defect: the next step really starts, and
// nothing that is over goes on.
func TestRuling22AnswersMoveWhatRuns(t *testing.T) {
	for _, test := range []struct {
		command, option, message string
		step, status             string
		typed                    []string
		runs                     bool
	}{
		{"fix", "nudge", "", "work", "running", []string{"Please continue with the task."}, true},
		{"fix", "", "use postgres", "work", "running", []string{"use postgres"}, true},
		{"fix", "done", "", "test", "running", nil, false},
		{"fix", "cancel", "", "cancelled", "cancelled", nil, false},
		{"ask", "nudge", "", "run", "running", []string{"Please continue with the task."}, true},
		{"ask", "done", "", "done", "done", nil, false},
		{"ask", "cancel", "", "cancelled", "cancelled", nil, false},
	} {
		t.Run(test.command+" "+test.option+test.message, func(t *testing.T) {
			p := newDaemonScene(t, workBook())
			p.wake()
			owner, agent := p.start(test.command)
			p.says(event.AgentStop, event.Word{Agent: agent})
			p.heard()
			args := []string{"decision", "answer", p.decision().ID}
			if test.option != "" {
				args = append(args, test.option)
			}
			if test.message != "" {
				args = append(args, "--message", test.message)
			}
			p.does(args...)
			if o := p.owner(owner); o.Status != test.status || o.Step != test.step {
				t.Fatalf("it is %s at %s", o.Status, o.Step)
			}
			eventually(t, "what was to be typed is", func() bool { return slices.Equal(p.inbox(agent), test.typed) })
			eventually(t, "the agent ends, or not", func() bool { return p.runs(agent) == test.runs })
			if test.step == "test" {
				eventually(t, "the next step runs", func() bool { return p.read("tested") == "tested\n" })
			}
			if r := p.stopgate("decision", "answer", args[2], "done"); r.code != 1 || !strings.Contains(r.stderr, "was answered") {
				t.Errorf("answered twice: %+v", r)
			}
		})
	}
}

// An agent says it from inside, in each form, by both names of the program.
func TestRuling23SignalsFromInside(t *testing.T) {
	for name, form := range map[string]string{
		"a word":         `oj emit agent:signal --agent "$OJ_AGENT_ID" complete`,
		"JSON":           `oj emit agent:signal --agent "$OJ_AGENT_ID" "{\"kind\": \"complete\", \"message\": \"done\"}"`,
		"action":         `stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" "{\"action\": \"complete\"}"`,
		"standard input": `echo complete | stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID"`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newDaemonScene(t, strings.Replace(workBook(), "exec sleep", form+"; exec sleep", 1))
			check(t, os.Symlink(stopgate, filepath.Join(p.home, "oj")))
			p.wake()
			owner, agent := p.start("fix")
			p.reaches(owner, "test", "running")
			eventually(t, "the agent ends", func() bool { return !p.runs(agent) })
		})
	}
}

func TestRuling23ContinueIsLogged(t *testing.T) {
	p := newDaemonScene(t, workBook())
	p.wake()
	owner, agent := p.start("fix")
	p.does("emit", "agent:signal", "--agent", agent, "continue")
	if s := p.asks(agent, p.saidSoFar()); s.Signaled {
		t.Errorf("it is kept: %+v", s)
	}
	if o := p.owner(owner); o.Status != "running" || o.Agent.Signal != "" {
		t.Errorf("%+v", o)
	}
	contains(t, p.does("log", "--event", "agent:signal").stdout, agent, "continue")
	facts := 0
	for e, err := range p.Events(t.Context(), owner, 0) {
		check(t, err)
		if slices.Contains(e.Facts, "agent:signal") {
			facts++
			break
		}
	}
	if facts != 1 {
		t.Error("it is not among the facts")
	}
}

// The fields that the older system passed over in silence.
func TestRuling29UnknownFieldsOfARunbook(t *testing.T) {
	onFail := strings.Replace(workBook(), `on_done = "test"`, `on_done = "test"`+"\n"+`on_fail = { step = "work", attempts = 3 }`, 1)
	for name, test := range map[string]struct {
		runbook string
		want    []string
	}{
		"command of a gate":  {workBook(`on_idle = { action = "gate", command = "make test" }`), []string{"work.toml:20:", `"command" is called "run" here`, "hint: write run"}},
		"attempts of a step": {onFail, []string{"work.toml:13:", `unknown field "attempts"`, "hint: "}},
		"run of an error":    {workBook(`on_error = [{ action = "resume", run = "make" }]`), []string{"work.toml:20:", "run has no effect for resume", "hint: "}},
		"a slip":             {workBook(`on_stpo = "idle"`), []string{"work.toml:20:", `unknown field "on_stpo"`, `did you mean "on_stop"?`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newDaemonScene(t, test.runbook)
			p.wake()
			check := p.stopgate("runbook", "check")
			if check.code != 1 {
				t.Errorf("%+v", check)
			}
			contains(t, check.stdout, test.want...)
			r := p.stopgate("start", "fix")
			if r.code != 2 {
				t.Errorf("%+v", r)
			}
			contains(t, r.stderr, test.want[0], test.want[1])
			if all, err := p.Pipelines(t.Context(), api.Filter{}); err != nil || len(all) > 0 {
				t.Errorf("%d were started, %v", len(all), err)
			}
		})
	}
}

// Hooks and emit never start the daemon; what they say is there when it comes, and
// changes state without typing or telling.
func TestPlaneWhatWasSaidWhileNoDaemonRan(t *testing.T) {
	p := newDaemonScene(t, workBook(`on_stop = "escalate"`))
	p.wake()
	owner, agent := p.start("fix")
	p.kill()
	r := p.does("emit", "agent:signal", "--agent", agent, "escalate")
	contains(t, r.stderr, "the daemon is not running")
	payload := fmt.Sprintf(`{"hook_event_name":"Stop","session_id":%q,"transcript_path":"/t","cwd":%q,"permission_mode":"default","stop_hook_active":false}`, agent, p.root)
	cmd := exec.Command(stopgate, "hook", "Stop")
	cmd.Dir, cmd.Env = p.root, p.env()
	if r := await(t, cmd, strings.NewReader(payload)); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := p.Version(t.Context()); err == nil {
		t.Fatal("a daemon was started")
	}
	p.wake()
	o := p.owner(owner)
	if o.Status != "waiting" || p.decision().Source != "signal" {
		t.Errorf("%+v", o)
	}
	p.does("emit", "agent:signal", "--agent", agent, "complete")
	p.reaches(owner, "test", "running")
	if p.told() != "" || len(p.inbox(agent)) > 0 {
		t.Errorf("told %q, typed %q", p.told(), p.inbox(agent))
	}
}

// The older system did not know the agent of a pipeline that waited when it was started
// anew.
func TestDefect06WaitingPipelinesKnowTheirAgents(t *testing.T) {
	for what, act := range map[string]func(p *daemonScene, agent string){
		"the agent completes": func(p *daemonScene, agent string) { p.does("emit", "agent:signal", "--agent", agent, "complete") },
		"a person answers":    func(p *daemonScene, agent string) { p.does("decision", "answer", p.decision().ID, "done") },
	} {
		t.Run(what, func(t *testing.T) {
			p := newDaemonScene(t, workBook())
			p.wake()
			owner, agent := p.start("fix")
			p.says(event.AgentStop, event.Word{Agent: agent})
			p.heard()
			p.kill()
			p.wake()
			p.reaches(owner, "work", "waiting")
			act(p, agent)
			o := p.reaches(owner, "test", "running")
			eventually(t, "the next step runs once", func() bool { return p.read("tested") == "tested\n" })
			eventually(t, "the agent ends", func() bool { return !p.runs(agent) })
			var steps []string
			for _, v := range o.Steps {
				steps = append(steps, v.Step+" "+v.Outcome)
			}
			if diff := cmp.Diff([]string{"work completed", "test running"}, steps); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The older system counted by name alone: what one project did held up another.
func TestDefect09LimitsAreOfOneProject(t *testing.T) {
	p := newDaemonScene(t, workBook("max_concurrency = 1"))
	p.wake()
	_, first := p.start("ask")
	second := p.startOnly("ask")
	other := *p
	other.root = t.TempDir()
	other.write(filepath.Join(other.root, ".gauntlet", "config.yml"), "hooks: {}\n")
	other.write(filepath.Join(other.root, ".gauntlet", "runbooks", "work.toml"), workBook("max_concurrency = 1"))
	other.start("ask")
	if p.read("pid-"+second.Agent.ID) != "" {
		t.Error("two run at once")
	}
	p.does("emit", "agent:signal", "--agent", first, "complete")
	eventually(t, "the second runs", func() bool { return p.read("pid-"+second.Agent.ID) != "" })
	if p.runs(first) {
		t.Error("two run at once")
	}
}

// What can be sent through the socket is what people ask for. Nobody can put a word into
// an agent's mouth there.
func TestDesignTheSocketTakesNoFacts(t *testing.T) {
	p := newDaemonScene(t, workBook())
	p.wake()
	owner, agent := p.start("fix")
	var document struct {
		Paths map[string]map[string]any
	}
	check(t, p.Ask(t.Context(), "GET", "/v1/openapi.json", nil, &document))
	var changing []string
	for path, methods := range document.Paths {
		for method := range methods {
			if method != "get" {
				changing = append(changing, method+" "+path)
			}
		}
	}
	slices.Sort(changing)
	if diff := cmp.Diff([]string{
		"post /v1/agents/{id}/kill", "post /v1/agents/{id}/send", // what people want of an agent
		"post /v1/backup", "post /v1/caps", "post /v1/decisions/{id}/answer",
		"post /v1/jobs", "post /v1/jobs/{id}/cancel",
		"post /v1/pipelines/{id}/cancel", "post /v1/pipelines/{id}/resume",
		"post /v1/prune",
		"post /v1/runs/{id}/cancel", "post /v1/runs/{id}/resume",
		"post /v1/schedules", "post /v1/start", "post /v1/stop", "post /v1/ui",
		"post /v1/work", "post /v1/work/{id}/drop", "post /v1/work/{id}/retry", "post /v1/workers", "post /v1/workspaces/remove",
	}, changing); diff != "" {
		t.Error(diff)
	}
	before := p.owner(owner)
	for _, path := range []string{"/v1/emit", "/v1/events", "/v1/agents/" + agent + "/signal"} {
		if err := p.Ask(t.Context(), "POST", path, event.Word{Agent: agent, Kind: "complete"}, nil); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
	after := p.owner(owner)
	before.Updated, before.Worked = after.Updated, after.Worked // what starts the agent may still be reported
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// A copy of the store alone leads to the same state, and goes on from there.
func TestDesignNothingElseIsStored(t *testing.T) {
	p := newDaemonScene(t, workBook(`on_idle = { action = "nudge", attempts = 2 }`))
	p.wake()
	owner, agent := p.start("fix")
	p.does("emit", "agent:idle", "--agent", agent, "--prompt", "p1")
	p.says(event.AgentStop, event.Word{Agent: agent})
	p.heard()
	eventually(t, "it is typed and told", func() bool { return len(p.inbox(agent)) == 1 && p.told() != "" })
	other := elsewhere(t, p.home, p.root)
	p.does("daemon", "backup", filepath.Join(other.state, "stopgate.db"))
	other.wake()
	got, want := other.owner(owner), p.owner(owner)
	if got.Agent == nil || got.Decision == nil {
		t.Fatalf("%+v", got)
	}
	got.Agent.Status, got.Updated = want.Agent.Status, want.Updated // it does not run there
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-store +copy)\n%s", diff)
	}
	other.does("decision", "answer", got.Decision.ID, "done")
	other.reaches(owner, "test", "running")
	p.reaches(owner, "work", "waiting")
}

// What a daemon that was killed has left ends with --kill too.
func TestStopKillWithoutADaemon(t *testing.T) {
	p := newDaemonScene(t, workBook())
	p.wake()
	_, agent := p.start("fix")
	p.kill()
	if !p.runs(agent) {
		t.Fatal("the agent ended with the daemon")
	}
	p.does("daemon", "stop", "--kill")
	if p.runs(agent) {
		t.Error("the agent still runs")
	}
}
