//go:build unix

package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// attended is a daemon with a client at work.
type attended struct {
	*running
	agent string
}

// attend puts a client into the store and begins a daemon over it.
func attend(t *testing.T, s store.Store) attended {
	t.Helper()
	w := newWorld()
	c := testCore(s)
	do(t, c, anID, create(anID, clientPlan()))
	agent := done(t, c, anID).Agent.ID
	do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
	w.start(agent, "claude")
	return attended{begin(t, w, options(t, w, s)), agent}
}

// ask lets the agent ask something, as its hook does.
func (a attended) ask(t *testing.T, ref, kind, tool, input string) journal.Position {
	t.Helper()
	dir, err := agentdir.At(a.opts.StateDir, a.agent)
	check(t, err)
	check(t, dir.Ask(ref, agentdir.Asked{Type: kind, Tool: tool, Input: []byte(input)}))
	return emit(t, a.opts.journalDir(), event.AgentPrompt, event.Word{Agent: a.agent, Type: kind, Ref: ref})
}

// awaited is what becomes of a hook that waits.
type awaited struct {
	daemonapi.Reply
	err error
}

// await waits for an answer beside the test.
func (a attended) await(t *testing.T, ref string, through journal.Position) <-chan awaited {
	answer := make(chan awaited, 1)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		reply, err := a.Await(ctx, a.agent, ref, through)
		answer <- awaited{reply, err}
	}()
	return answer
}

// open waits for the open decision.
func (a attended) open(t *testing.T) daemonapi.Decision {
	t.Helper()
	o := a.reach(t, anID, "a decision", func(o daemonapi.Owner) bool { return o.Decision != nil })
	d, err := a.Decision(t.Context(), o.Decision.ID)
	check(t, err)
	return d
}

const twoQuestions = `{"questions":[{"question":"Which color?","header":"Color","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}],"multiSelect":false},{"question":"Which fruits?","header":"Fruits","options":[{"label":"Apple"},{"label":"Plum"}],"multiSelect":true}]}`

func TestQuestionsAreAnsweredThroughTheHook(t *testing.T) {
	a := attend(t, newMemory(t))
	answer := a.await(t, "01CALL", a.ask(t, "01CALL", "question", "AskUserQuestion", twoQuestions))
	d := a.open(t)
	want := &daemonapi.Ask{Tool: "AskUserQuestion", Questions: []daemonapi.Question{
		{Question: "Which color?", Header: "Color", Options: []daemonapi.Choice{{Label: "Red", Description: "warm"}, {Label: "Blue", Description: "cold"}}},
		{Question: "Which fruits?", Header: "Fruits", Options: []daemonapi.Choice{{Label: "Apple"}, {Label: "Plum"}}, Multi: true},
	}}
	if diff := cmp.Diff(want, d.Ask); diff != "" || d.Source != "question" {
		t.Errorf("%s: %s", d.Source, diff)
	}
	answered, err := a.Answer(t.Context(), d.ID, daemonapi.Answer{Answers: []string{"2", "Apple, Plum"}})
	check(t, err)
	if diff := cmp.Diff([]string{"Blue", "Apple, Plum"}, answered.Answers); diff != "" {
		t.Error(diff)
	}
	got := <-answer
	check(t, got.err)
	if diff := cmp.Diff(daemonapi.Reply{State: "answered", Answers: []string{"Blue", "Apple, Plum"}}, got.Reply, cmpopts.IgnoreFields(daemonapi.Reply{}, "Option")); diff != "" {
		t.Error(diff)
	}
	again, err := a.Await(t.Context(), a.agent, "01CALL", journal.Position{})
	check(t, err)
	if diff := cmp.Diff(got.Reply, again); diff != "" {
		t.Errorf("a hook that lost the answer: %s", diff)
	}
	if len(a.sent) != 0 {
		t.Errorf("%q was typed", a.sent)
	}
	if _, err := a.Answer(t.Context(), d.ID, daemonapi.Answer{Answers: []string{"1", "1"}}); daemonapi.Code(err) != "conflict" {
		t.Errorf("answered twice: %v", err)
	}
}

// What an agent said just before it asks is in its transcript; on record is what it said
// when it stopped last.
func TestWhatTheAgentSaidBeforeItAsked(t *testing.T) {
	home := t.TempDir()
	a := attend(t, newMemory(t))
	a.stop(t)
	a.opts.Environ = []string{"HOME=" + home}
	a.running = begin(t, a.world, a.opts)
	dir, err := agentdir.At(a.opts.StateDir, a.agent)
	check(t, err)
	check(t, dir.SetLast(agentdir.Last{Message: "What I said a turn ago.", Transcript: filepath.Join(t.TempDir(), "old.jsonl")}))
	a.ask(t, "01CALL", "permission", "Bash", `{"command":"ls"}`)
	d := a.open(t)
	if d.Details == nil || d.Details.LastMessage != "What I said a turn ago." {
		t.Errorf("without a transcript: %+v", d.Details)
	}
	path := filepath.Join(home, ".claude", "projects", "p", a.agent+".jsonl")
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"I am going to list it."}}`+"\n"), 0o600))
	if d := a.open(t); d.Details.LastMessage != "I am going to list it." {
		t.Errorf("%+v", d.Details)
	}
}

// A hook waits on while the daemon is away, and the next daemon knows what is asked.
func TestAHookOutlivesTheDaemon(t *testing.T) {
	s := newMemory(t)
	a := attend(t, s)
	at := a.ask(t, "01CALL", "permission", "Bash", `{"command":"make deploy"}`)
	answer := a.await(t, "01CALL", at)
	a.open(t)
	a.stop(t)
	if got := <-answer; got.err == nil {
		t.Fatalf("the daemon ended with %+v", got.Reply)
	}
	a.running = begin(t, a.world, a.opts)
	answer = a.await(t, "01CALL", at)
	d := a.open(t)
	if d.Source != "approval" || d.Ask == nil || d.Ask.Input != "make deploy" {
		t.Errorf("%+v", d)
	}
	_, err := a.Answer(t.Context(), d.ID, daemonapi.Answer{Option: "deny", Message: "not on a Sunday"})
	check(t, err)
	got := <-answer
	if diff := cmp.Diff(awaited{Reply: daemonapi.Reply{State: "answered", Option: "deny", Message: "not on a Sunday"}}, got, cmp.AllowUnexported(awaited{})); diff != "" {
		t.Error(diff)
	}
}

// What was asked while no daemon ran is asked by the next.
func TestAQuestionWhileNoDaemonRan(t *testing.T) {
	a := attend(t, newMemory(t))
	a.stop(t)
	at := a.ask(t, "01CALL", "plan", "ExitPlanMode", `{"plan":"# One\n# Two"}`)
	a.running = begin(t, a.world, a.opts)
	answer := a.await(t, "01CALL", at)
	d := a.open(t)
	if d.Source != "plan" || d.Ask == nil || d.Ask.Plan != "# One\n# Two" {
		t.Fatalf("%+v", d)
	}
	_, err := a.Answer(t.Context(), d.ID, daemonapi.Answer{Option: "accept"})
	check(t, err)
	if got := <-answer; got.err != nil || got.Option != "accept" {
		t.Errorf("%+v", got)
	}
}

func TestAQuestionThatIsOver(t *testing.T) {
	a := attend(t, newMemory(t))
	answer := a.await(t, "01CALL", a.ask(t, "01CALL", "permission", "Bash", `{"command":"ls"}`))
	d := a.open(t)
	emit(t, a.opts.journalDir(), event.AgentPromptOver, event.Word{Agent: a.agent, Ref: "01CALL"})
	if got := <-answer; got.err != nil || got.State != "none" || !got.Over {
		t.Errorf("%+v", got)
	}
	if _, err := a.Answer(t.Context(), d.ID, daemonapi.Answer{Option: "approve"}); daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), "Claude Code") {
		t.Errorf("%v", err)
	}
}

func TestNobodyIsAsked(t *testing.T) {
	a := attend(t, newMemory(t))
	at := emit(t, a.opts.journalDir(), event.AgentIdle, event.Word{Agent: "nobody's"})
	for _, who := range []string{a.agent, "00000000-0000-0000-0000-000000000000"} {
		if got, err := a.Await(t.Context(), who, "01CALL", at); err != nil || got.State != "none" || got.Over {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// asker is a plane over a client that asks something.
type asker struct {
	*plane
	agent, decision string
}

// newAsker lets a client ask something, for tests in which no time passes.
func newAsker(t *testing.T, stateDir, kind string, ask engine.Ask) asker {
	t.Helper()
	c := testCore(newMemory(t))
	do(t, c, anID, create(anID, clientPlan()))
	agent := done(t, c, anID).Agent.ID
	o := do(t, c, anID, engine.Input{ID: "ask", What: engine.AgentPrompt{AgentID: agent, Type: kind, Ref: "r", Ask: ask}})
	p := &plane{
		core: c, waiters: newWaiters(time.Now), queued: func(string) bool { return false },
		opts: Options{StateDir: stateDir, Log: quiet(), Now: time.Now}.complete(),
	}
	return asker{p, agent, o.Decision.ID}
}

// An answer that no hook waits for is refused, in time, and the decision stays open.
func TestAnAnswerThatNobodyWaitsFor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := newAsker(t, dir, "permission", engine.Ask{Tool: "Bash", Input: "ls"})
		begun := time.Now()
		_, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "1", Option: "approve"})
		if daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), "no longer waits") || time.Since(begun) != comeback {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if p.core.owner(anID).Decision == nil {
			t.Error("the decision is gone")
		}
		defer p.waiters.wait(waited("another", "r"))(true)
		if _, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "2", Option: "approve"}); daemonapi.Code(err) != "conflict" {
			t.Errorf("another agent's hook waits: %v", err)
		}
		begun = time.Now()
		if _, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "3", Option: "cancel"}); err != nil || time.Since(begun) != 0 {
			t.Errorf("to cancel needs no agent: %v after %v", err, time.Since(begun))
		}
	})
}

// A choice of the agent's may read like what cancels everything, by its name or number.
func TestALabelThatReadsLikeCancel(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := newAsker(t, dir, "question", engine.Ask{Questions: []engine.Question{{Question: "How many?", Options: []engine.Choice{{Label: "3"}, {Label: "5"}}}}})
		for i, a := range []daemonapi.Answer{{Option: "3"}, {Answers: []string{"3"}}} {
			a.ID = string(rune('a' + i))
			if _, err := p.Answer(t.Context(), p.decision, a); daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), "no longer waits") {
				t.Errorf("%+v: %v", a, err)
			}
		}
		if _, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "c", Answers: []string{"cancel"}}); err != nil {
			t.Errorf("to cancel needs no agent: %v", err)
		}
	})
}

// A hook that comes back in time gets the answer.
func TestAHookThatComesBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := newAsker(t, dir, "permission", engine.Ask{})
		go func() {
			time.Sleep(2 * time.Second)
			p.waiters.wait(waited(p.agent, "r"))(true)
		}()
		_, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "1", Option: "approve"})
		check(t, err)
		time.Sleep(time.Hour)
		again, err := p.Answer(t.Context(), p.decision, daemonapi.Answer{ID: "1", Option: "approve"}) // the same request
		if err != nil || again.Chosen != "approve" {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// After /clear everything of the agent finds its owner by the new session.
func TestAnotherSession(t *testing.T) {
	a := attend(t, newMemory(t))
	hook := func(name, session string, enums event.Enums) {
		t.Helper()
		_, err := journal.New(a.opts.journalDir(), journal.Limits{}).Append(&event.Record{
			Call: journal.NewID(), Kind: event.Received, Event: name, Session: session, Prompt: "p", Enums: enums,
		})
		check(t, err)
	}
	hook("SessionStart", "second", event.Enums{Source: "clear"}) // comes before its word
	emit(t, a.opts.journalDir(), event.AgentSession, event.Word{Agent: a.agent, Ref: "second"})
	hook("Notification", "second", event.Enums{NotificationType: "idle_prompt"})
	d := a.open(t)
	if d.Source != "idle" || d.Agent != a.agent {
		t.Errorf("%+v", d)
	}
	agent, err := a.Agent(t.Context(), a.agent)
	if err != nil || agent.Session != "second" {
		t.Errorf("%+v, %v", agent, err)
	}
}

func TestSendAndKill(t *testing.T) {
	a := attend(t, newMemory(t))
	agent, err := a.Send(t.Context(), a.agent[:8], daemonapi.Send{ID: "1", Message: "hello\nyou"})
	check(t, err)
	if agent.ID != a.agent {
		t.Errorf("%+v", agent)
	}
	_, err = a.Send(t.Context(), a.agent, daemonapi.Send{ID: "1", Message: "hello\nyou"})
	check(t, err)
	a.until(t, "the message", func() bool { return len(a.sent) > 0 })
	if _, err := a.Send(t.Context(), "ffff", daemonapi.Send{ID: "2", Message: "x"}); daemonapi.Code(err) != "not_found" {
		t.Errorf("%v", err)
	}
	if _, err := a.Send(t.Context(), a.agent, daemonapi.Send{ID: "2", Message: " \n"}); daemonapi.Code(err) != "invalid" {
		t.Errorf("%v", err)
	}
	_, err = a.Client.Kill(t.Context(), a.agent, daemonapi.Kill{})
	check(t, err)
	d := a.open(t)
	if d.Source != "dead" {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"hello\nyou"}, a.sent); diff != "" {
		t.Error(diff)
	}
	_, err = a.Answer(t.Context(), d.ID, daemonapi.Answer{Option: "cancel"})
	check(t, err)
	for _, want := range []error{
		second(a.Send(t.Context(), a.agent, daemonapi.Send{Message: "x"})),
		second(a.Client.Kill(t.Context(), a.agent, daemonapi.Kill{})),
	} {
		if daemonapi.Code(want) != "conflict" {
			t.Errorf("an agent that was left: %v", want)
		}
	}
}

// Words for an agent that has died start it again: as another one, which the old id stands for.
func TestSendToADeadAgent(t *testing.T) {
	for _, ready := range []bool{false, true} {
		w, s := newWorld(), newMemory(t)
		c := testCore(s)
		do(t, c, anID, create(anID, clientPlan()))
		old := done(t, c, anID).Agent.ID
		w.start(old, "claude")
		if ready {
			do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: old}})
		}
		r := begin(t, w, options(t, w, s))
		w.end(old, 1)
		r.reach(t, anID, "a decision", func(o daemonapi.Owner) bool { return o.Decision != nil })
		next, err := r.Send(t.Context(), old, daemonapi.Send{Message: "go on"})
		if err != nil || next.ID == old || next.Owner != anID {
			t.Errorf("%+v, %v", next, err)
		}
		if again, err := r.Client.Agent(t.Context(), old[:8]); err != nil || again.ID != next.ID {
			t.Errorf("%+v, %v", again, err)
		}
	}
}

// Who ends an agent does not end the one that has taken its place.
func TestKillOfAnAgentThatWasReplaced(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	c := testCore(s)
	do(t, c, anID, create(anID, clientPlan()))
	old := done(t, c, anID).Agent.ID
	w.start(old, "claude")
	do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: old}})
	r := begin(t, w, options(t, w, s))
	request := daemonapi.Kill{ID: "1"}
	ended, err := r.Client.Kill(t.Context(), old[:8], request)
	if err != nil || ended.ID != old {
		t.Errorf("%+v, %v", ended, err)
	}
	r.reach(t, anID, "a decision", func(o daemonapi.Owner) bool { return o.Decision != nil })
	next, err := r.Send(t.Context(), old, daemonapi.Send{Message: "go on"})
	check(t, err)
	if _, err := r.Client.Kill(t.Context(), old, daemonapi.Kill{ID: "2"}); daemonapi.Code(err) != "conflict" {
		t.Errorf("%v", err)
	}
	_, err = r.Client.Kill(t.Context(), old, request) // that one was heard
	check(t, err)
	if now, err := r.Client.Agent(t.Context(), next.ID); err != nil || now.ID != next.ID || now.Status == "exited" {
		t.Errorf("%+v, %v", now, err)
	}
}

// A message of ours that arrives while a person is asked is nobody's answer.
func TestOurMessageClosesNoDecision(t *testing.T) {
	s := newMemory(t)
	a := attend(t, s)
	busy := make(chan struct{})
	a.change(func() {
		a.taking = func(text string) {
			<-busy
			j := journal.New(a.opts.journalDir(), journal.Limits{})
			key, err := j.Key()
			check(t, err)
			_, err = j.Append(&event.Record{
				Call: journal.NewID(), Kind: event.Received, Event: "UserPromptSubmit", Session: a.agent, Prompt: "p2",
				PromptHash: journal.PromptHash(key, text+" "),
			})
			check(t, err)
		}
	})
	_, err := a.Send(t.Context(), a.agent, daemonapi.Send{Message: "by the way"})
	check(t, err)
	a.ask(t, "01CALL", "permission", "Bash", `{"command":"ls"}`)
	d := a.open(t)
	close(busy)
	a.until(t, "the message", func() bool { return len(a.sent) > 0 })
	o := a.reach(t, anID, "the end of the effects", func(daemonapi.Owner) bool { return !toSend(t, s) })
	if o.Decision == nil || o.Decision.ID != d.ID {
		t.Errorf("%+v", o.Decision)
	}
}

// The prompt that a message has become is read while the message is still under way.
func TestAMessageIsDoneAfterWhatItBecame(t *testing.T) {
	c := testCore(newMemory(t))
	do(t, c, anID, create(anID, clientPlan()))
	done(t, c, anID)
	o := do(t, c, anID, engine.Input{ID: "tell", What: engine.Tell{AgentID: c.owner(anID).Agent.ID, Message: "hello"}})
	key := o.Effects[0].Key
	do(t, c, anID, engine.Input{ID: "started", What: engine.EffectStarted{Key: key}})
	d := &daemon{core: c, ingest: reader(t, c, t.TempDir(), "boot")}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // nobody reads
	defer cancel()
	if err := d.report(ctx, anID, engine.Input{ID: "done", What: engine.EffectDone{Key: key}}); err == nil {
		t.Error("it is done, and the journal was not read")
	}
	following(t, d.ingest)
	check(t, d.report(t.Context(), anID, engine.Input{ID: "done", What: engine.EffectDone{Key: key}}))
	if len(c.owner(anID).Effects) != 0 {
		t.Error("it is not done")
	}
}

// toSend reports whether a message is still to be sent, by the store.
func toSend(t *testing.T, s store.Store) bool {
	t.Helper()
	state, _, err := load(t.Context(), s)
	check(t, err)
	o := state.Owner(anID)
	for _, e := range o.Effects {
		if e.Kind == engine.SendAgent {
			return true
		}
	}
	return false
}

func second[T any](_ T, err error) error { return err }

// The views of agents say where they are to be seen, and what they cost.
func TestViewsOfClients(t *testing.T) {
	s := newMemory(t)
	a := attend(t, s)
	dir, err := agentdir.At(a.opts.StateDir, a.agent)
	check(t, err)
	check(t, dir.SetLast(agentdir.Last{Message: "I am \x1b[1mdone.", Transcript: "/t/x.jsonl", Cwd: "/gone"}))
	agents, err := a.Agents(t.Context())
	check(t, err)
	want := daemonapi.Agent{
		ID: a.agent, Name: "coder", Owner: anID, Project: "/p", Step: "do", Session: a.agent, OnStop: "signal", Status: "running",
		ClaudeCode: true, Ready: true, Transcript: "/t/x.jsonl",
		Terminal: &daemonapi.Terminal{Socket: a.opts.StateDir + "/tmux.sock", Session: "stopgate-coder-" + a.agent[:8]},
	}
	if diff := cmp.Diff([]daemonapi.Agent{want}, agents, cmpopts.IgnoreFields(daemonapi.Agent{}, "Started")); diff != "" {
		t.Error(diff)
	}
	emit(t, a.opts.journalDir(), event.AgentStop, event.Word{Agent: a.agent, Prompt: "p"})
	d := a.open(t)
	if d.Details == nil || d.Details.LastMessage != "I am done." {
		t.Errorf("%+v", d.Details)
	}
	w := a.world
	w.end(a.agent, 1)
	o := a.reach(t, anID, "the agent's end", func(o daemonapi.Owner) bool { return o.Agent != nil && o.Agent.Status == "exited" })
	one, err := a.Agent(t.Context(), a.agent)
	if err != nil || one.Terminal != nil || o.Agent.Terminal != nil || one.Transcript != "/t/x.jsonl" {
		t.Errorf("%+v, %v", one, err)
	}
}

// Of an agent whose API failed people see that, and until when.
func TestParkedAgents(t *testing.T) {
	c := testCore(newMemory(t))
	plan := clientPlan()
	coder := plan.Agents["coder"]
	coder.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: 1}}}
	plan.Agents["coder"] = coder
	do(t, c, anID, create(anID, plan))
	agent := done(t, c, anID).Agent.ID
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	o := do(t, c, anID, engine.Input{ID: "e", What: engine.AgentError{AgentID: agent, Kind: runbook.RateLimited, Reset: reset}})
	if view := agentView(o); view.Status != "parked" || view.Until == nil || view.Until.Before(reset) {
		t.Errorf("%+v", view)
	}
}

// Agents that wait for room are said to be queued.
func TestQueuedAgents(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	plan := agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1})
	coder := plan.Agents["coder"]
	coder.MaxConcurrency = 1
	plan.Agents["coder"] = coder
	c := testCore(s)
	for n := range 3 {
		in := create(newID(n+1), plan)
		in.ID = newID(n + 1)
		do(t, c, newID(n+1), in)
	}
	r := begin(t, w, options(t, w, s))
	w.until(t, "one of them", func() bool { return len(w.started) > 0 })
	var status daemonapi.Status
	var queued int
	for late := time.Now().Add(time.Minute); queued != 2 && time.Now().Before(late); { // each asks for room by itself
		queued = 0
		agents, err := r.Agents(t.Context())
		check(t, err)
		for _, a := range agents {
			if a.Status == "queued" {
				queued++
			}
		}
		status, err = r.Status(t.Context())
		check(t, err)
	}
	if status.Agents != 1 || status.Queued != 2 || queued != 2 {
		t.Errorf("%d run, %d are queued, %d are shown so", status.Agents, status.Queued, queued)
	}
}
