//go:build unix

package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

const someLaunch = "01K9ZZZZZZZZZZZZZZZZZZZZZZ"

func TestVerdict(t *testing.T) {
	for name, tt := range map[string]struct {
		decision Decision
		want     keeper.Verdict
		blocks   bool
	}{
		"completed": {
			Decision{Status: Completed, Iteration: 2, Limit: 10, Cost: resultCost},
			keeper.Verdict{Status: "completed", Summary: "the supervisor says the work is complete (review 2 of at most 10)", Cost: resultCost},
			false,
		},
		"completed, as before": {
			Decision{Status: Completed, Reused: true},
			keeper.Verdict{Reused: true, Status: "completed", Summary: "the supervisor says the work is complete, as in the last review: nothing has changed since"},
			false,
		},
		"not completed": {
			Decision{Status: NotCompleted, Feedback: "test it", Iteration: 1, Limit: 10},
			keeper.Verdict{Outcome: keeper.Failed, Status: "not_completed", Reason: "test it", Summary: "the supervisor says the work is not complete (review 1 of at most 10)"},
			true,
		},
		"limit reached": {
			Decision{Status: LimitReached, Message: "m"},
			keeper.Verdict{Outcome: keeper.Failed, Status: "limit_reached", Message: "m", Notify: true},
			false,
		},
		"budget spent": {
			Decision{Status: BudgetSpent, Message: "m"},
			keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "budget_spent", Message: "m", Notify: true},
			false,
		},
		"bad session": {
			Decision{Status: BadSession, Message: "m"},
			keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "bad_session", Message: "m"},
			false,
		},
		"unavailable": {
			Decision{Status: Unavailable, Message: "m", Cost: resultCost},
			keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "unavailable", Message: "m", Cost: resultCost},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Verdict(tt.decision)
			if diff := cmp.Diff(tt.want, got); diff != "" || got.Blocks() != tt.blocks {
				t.Errorf("blocks %t (-want +got)\n%s", got.Blocks(), diff)
			}
		})
	}
}

// call is the desk's stop, as the chain has it.
func (d *desk) call() *keeper.Call {
	return &keeper.Call{Payload: d.stop.Payload, Env: d.stop.Environ, Global: &config.Global{Supervisor: d.stop.Global}, Project: d.stop.Project}
}

// judges demands a status, and how many reviews there were up to now.
func (d *desk) judges(want Status, reviews int) {
	d.t.Helper()
	if got := d.keeper().Judge(d.t.Context(), d.call()); got.Status != string(want) || d.calls() != reviews {
		d.t.Errorf("judged %+v after %d reviews, want %s after %d\n%s", got, d.calls(), want, reviews, d.stderr.String())
	}
}

// launched plants a launch that is in a session, or in none that is known.
func (d *desk) launched(session string) {
	d.t.Helper()
	check(d.t, os.MkdirAll(d.path("state/launches"), 0o700))
	d.write("state/launches/"+someLaunch+".json", fmt.Sprintf(`{"client":{"pid":%d},"session":%q}`, os.Getpid(), session))
	d.stop.Environ = append(d.stop.Environ, launch.IDVariable+"="+someLaunch)
}

func (d *desk) switched(on bool) { d.plant(func(s *State) { s.Enabled = &on }) }

func TestApplies(t *testing.T) {
	set := func(value string) func(*desk) {
		return func(d *desk) { d.stop.Environ = append(d.stop.Environ, Variable+"="+value) }
	}
	both := func(all ...func(*desk)) func(*desk) {
		return func(d *desk) {
			for _, one := range all {
				one(d)
			}
		}
	}
	on, off := func(d *desk) { d.switched(true) }, func(d *desk) { d.switched(false) }
	in := func(session string) func(*desk) { return func(d *desk) { d.launched(session) } }
	subagent := func(d *desk) { d.stop.Payload.AgentID = "a1" }
	for name, tt := range map[string]struct {
		prepare func(*desk)
		want    bool
	}{
		"nothing said":                   {func(*desk) {}, false},
		"1":                              {set("1"), true},
		"0":                              {set("0"), false},
		"true":                           {set("true"), false},
		"empty":                          {set(""), false},
		"of a subagent":                  {both(set("1"), subagent), false},
		"of a subagent, switched on":     {both(on, subagent), false},
		"switched on":                    {on, true},
		"switched off":                   {both(set("1"), off), false},
		"switched on, another session's": {both(on, func(d *desk) { d.stop.Payload.SessionID = "other" }), false},
		"the session of the launch":      {both(set("1"), in(someSession)), true},
		"not the session of the launch":  {both(set("1"), in("other")), false},
		"not that, but switched on":      {both(set("1"), in("other"), on), true},
		"in no session that is known":    {both(set("1"), in("")), true},
		"a launch that is gone":          {both(set("1"), func(d *desk) { d.stop.Environ = append(d.stop.Environ, launch.IDVariable+"="+someLaunch) }), true},
		"an id that is none":             {both(set("1"), func(d *desk) { d.stop.Environ = append(d.stop.Environ, launch.IDVariable+"=../x") }), true},
		"a session that is no name":      {both(set("1"), func(d *desk) { d.stop.Payload.SessionID = "../x" }), true}, // Decide says why
		"a damaged state":                {both(set("1"), func(d *desk) { plant(d.t, d.files(), someSession, "{") }), true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tt.prepare(d)
			if got := d.keeper().Applies(d.call()); got != tt.want {
				t.Errorf("applies: %t", got)
			}
		})
	}
	d := newDesk(t)
	set("1")(d)
	call := d.call()
	call.Payload = &hook.SubagentStopPayload{Base: d.stop.Payload.Base}
	if d.keeper().Applies(call) {
		t.Error("applies to the end of a subagent")
	}
}

// The session of a launch is the one that its client is in now.
func TestWitness(t *testing.T) {
	d := newDesk(t)
	d.launched("")
	d.stop.Environ = append(d.stop.Environ, Variable+"=1")
	see := func(p hook.Payload) {
		t.Helper()
		call := d.call()
		call.Payload = p
		d.keeper().Witness(call)
	}
	applies := func(session string, want bool) {
		t.Helper()
		d.stop.Payload.SessionID = session
		if got := d.keeper().Applies(d.call()); got != want {
			t.Errorf("%s: applies %t", session, got)
		}
	}
	base := func(session string, e hook.Event) hook.Base {
		return hook.Base{SessionID: session, HookEventName: string(e)}
	}
	see(&hook.SessionStartPayload{Base: base("a", hook.SessionStart), Source: "startup"})
	see(&hook.UserPromptSubmitPayload{Base: base("a", hook.UserPromptSubmit)})
	applies("a", true)
	applies("b", false)
	see(&hook.SessionStartPayload{Base: base("b", hook.SessionStart), Source: "startup"}) // the agent's own client
	see(&hook.UserPromptSubmitPayload{Base: base("b", hook.UserPromptSubmit)})
	see(&hook.StopPayload{Base: base("b", hook.Stop)})
	applies("a", true)
	applies("b", false)
	see(&hook.SessionStartPayload{Base: base("c", hook.SessionStart), Source: "clear"})
	applies("a", false)
	applies("c", true)
	see(&hook.SessionEndPayload{Base: base("c", hook.SessionEnd)})
	applies("d", true) // nobody knows
	if d.stderr.Len() > 0 {
		t.Error(d.stderr.String())
	}
}

func TestWitnessOfNoLaunch(t *testing.T) {
	d := newDesk(t)
	call := d.call()
	call.Payload = &hook.SessionStartPayload{Base: hook.Base{SessionID: "a"}, Source: "startup"}
	d.keeper().Witness(call)
	if d.stderr.Len() > 0 || exists(d.path("state")) {
		t.Errorf("a client without a launch is followed: %s", d.stderr.String())
	}
	call.Env = append(call.Env, launch.IDVariable+"="+someLaunch)
	d.keeper().Witness(call)
	if !strings.HasPrefix(d.stderr.String(), "stopgate: follow the session: ") {
		t.Errorf("said %q", d.stderr.String())
	}
}

func init() { children["supervises"] = childSupervises }

func childSupervises(args []string) error {
	k := &Keeper{StateDir: args[0], Now: time.Now, Stderr: os.Stderr}
	fmt.Println(k.Supervises([]string{launch.IDVariable + "=" + someLaunch}, someSession))
	return nil
}

func init() { children["witness"] = childWitness }

// childWitness is the hook of a client that starts: in a session that nobody has recorded yet.
func childWitness(args []string) error {
	k := &Keeper{StateDir: args[0], Now: time.Now, Stderr: os.Stderr}
	call := &keeper.Call{Env: []string{launch.IDVariable + "=" + someLaunch}}
	for _, payload := range []hook.Payload{
		&hook.SessionStartPayload{Base: hook.Base{SessionID: someSession, HookEventName: string(hook.SessionStart)}, Source: "startup"},
		&hook.UserPromptSubmitPayload{Base: hook.Base{SessionID: someSession, HookEventName: string(hook.UserPromptSubmit)}},
	} {
		call.Payload = payload
		k.Witness(call)
	}
	session, known := launch.NewRegistry(args[0]).Session(someLaunch)
	fmt.Println(session, known)
	return nil
}

// A client that an agent started inherits the launch. Its hooks are known by that:
// they run in sessions of their own, whose parent is a client inside a client.
func TestNestedClient(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	d := newDesk(t)
	d.launched("")
	for _, tt := range []struct{ child, env, want string }{
		{"supervises", "CLAUDECODE=1", "false\n"},
		{"supervises", "X=1", "true\n"},
		{"witness", "CLAUDECODE=1", " false\n"}, // it claims nothing
		{"witness", "X=1", someSession + " true\n"},
	} {
		hook := processtest.Child(t, tt.child, d.path("state"))
		client := exec.Command("sh", append([]string{"-c", `setsid "$@"; exit $?`, "sh"}, hook.Args...)...)
		client.Stderr = os.Stderr
		for _, entry := range hook.Env {
			if !strings.HasPrefix(entry, "CLAUDECODE=") {
				client.Env = append(client.Env, entry)
			}
		}
		client.Env = append(client.Env, tt.env)
		out, err := client.Output()
		check(t, err)
		if string(out) != tt.want {
			t.Errorf("%s, %s: %s", tt.child, tt.env, out)
		}
	}
}

// What has not changed is not paid for twice.
func TestReuse(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d *desk)
		reused bool
	}{
		"nothing":                {func(*desk) {}, true},
		"a file":                 {func(d *desk) { d.repo.Write("a.go", "package b\n") }, false},
		"a new file":             {func(d *desk) { d.repo.Write("b.go", "package a\n") }, false},
		"a file and back again":  {func(d *desk) { d.repo.Write("a.go", "x"); d.repo.Write("a.go", "package a\n") }, true},
		"the last message":       {func(d *desk) { d.stop.Payload.LastAssistantMessage = "Done." }, false},
		"the prompt":             {func(d *desk) { d.stop.Payload.PromptID = "p2" }, false},
		"the transcript":         {func(d *desk) { appendTo(d.t, d.stop.Payload.TranscriptPath, "{}\n") }, false},
		"the transcript is gone": {func(d *desk) { check(d.t, os.Remove(d.stop.Payload.TranscriptPath)) }, false},
		"no repository any more": {func(d *desk) { check(d.t, os.RemoveAll(d.repo.Path(".git"))) }, false},
		"the state is damaged":   {func(d *desk) { plant(d.t, d.files(), someSession, "{") }, false},
		"the state is gone":      {func(d *desk) { check(d.t, os.Remove(d.files().StateFile(someSession))) }, false},
	} {
		for _, completed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, completed %t", name, completed), func(t *testing.T) {
				d := newDesk(t)
				want := Completed
				if !completed {
					want = NotCompleted
				}
				d.answers(result(completed, "because"))
				d.judges(want, 1)
				tt.change(d)
				if tt.reused {
					d.judges(want, 1)
				} else {
					d.judges(want, 2)
				}
				if got := d.keeper().Judge(t.Context(), d.call()); !completed && got.Reason != "because" {
					t.Errorf("judged %+v", got)
				}
			})
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = file.WriteString(text)
	check(t, err)
	check(t, file.Close())
}

// An agent that was sent back has answered, although the transcript does not say so
// yet. One that was let go and comes again has not.
func TestReuseAfterTheAgentWasSentBack(t *testing.T) {
	d := newDesk(t)
	d.answers(result(false, "more"))
	d.judges(NotCompleted, 1)
	d.stop.Payload.StopHookActive = true
	d.judges(NotCompleted, 2)
	d.answers(result(true, "good"))
	d.judges(Completed, 3)
	d.judges(Completed, 3)
}

// A reused verdict costs nothing, is no review, and counts against a loop.
func TestReusedVerdictIsCounted(t *testing.T) {
	d := newDesk(t)
	d.stop.Global.MaxIterations = new(3)
	d.answers(result(false, "more"))
	for range 3 {
		d.judges(NotCompleted, 1)
	}
	d.judges(LimitReached, 1)
	if s := d.state(); s.Count != 3 || s.Reviews != 1 || s.Spent != resultCost {
		t.Errorf("%+v", s)
	}
}

// Called alone, the supervisor looks each time, as the older tool did; what it saw
// then is not reused in the chain either.
func TestAloneNothingIsReused(t *testing.T) {
	d := newDesk(t)
	for range 2 {
		d.decides(Completed)
	}
	d.judges(Completed, 3)
	d.judges(Completed, 3)
	if got := (Alone{d.keeper()}).Judge(t.Context(), d.call()); got.Reused || d.calls() != 4 {
		t.Errorf("judged %+v after %d reviews", got, d.calls())
	}
}

// Where nobody can tell what the files are, they may have changed.
func TestUnknownTreeIsReviewedEachTime(t *testing.T) {
	d := newDesk(t)
	d.stop.Payload.CWD = t.TempDir() // in no repository
	d.judges(Completed, 1)
	d.judges(Completed, 2)
}

// A review that failed says nothing about the work.
func TestFailedReviewIsNotReused(t *testing.T) {
	d := newDesk(t)
	d.acts("exit 1")
	d.judges(Unavailable, 1)
	d.judges(Unavailable, 2)
}

// A watcher that is gone changes nothing.
func TestBrokenStderr(t *testing.T) {
	d := newDesk(t)
	read, write, err := os.Pipe()
	check(t, err)
	check(t, read.Close())
	defer write.Close()
	k := &Keeper{StateDir: d.path("state"), Now: time.Now, Stderr: write}
	if got := k.Judge(t.Context(), d.call()); got.Status != string(Completed) {
		t.Errorf("%+v", got)
	}
}

// Without a home there is no place for a state.
func TestNoHome(t *testing.T) {
	d := newDesk(t)
	d.stop.Environ = []string{"PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	k := &Keeper{StateDir: filepath.Join(d.dir, "state"), Now: time.Now, Stderr: &stderr}
	got := k.Decide(t.Context(), d.stop)
	if got.Status != Unavailable || got.Message == "" {
		t.Errorf("%+v", got)
	}
}
