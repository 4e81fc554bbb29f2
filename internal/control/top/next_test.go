package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// does is the state after a key, and the effect that must follow.
func does(t *testing.T, s State, key string, want ...any) State {
	t.Helper()
	s, got := Next(s, keys(key)[0])
	if diff := cmp.Diff(fmt.Sprintf("%#v", want), fmt.Sprintf("%#v", got)); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("after %s (-want +got):\n%s", key, diff)
	}
	return s
}

func wantOn(t *testing.T, s State, words ...string) {
	t.Helper()
	screen := ansi.Strip(Screen(&s))
	for _, word := range words {
		if !strings.Contains(screen, word) {
			t.Errorf("%q is not on the screen:\n%s", word, screen)
		}
	}
}

func selectedRef(s State) Ref {
	at, _ := s.selected()
	return s.table.rows[at].ref
}

// What needs a person comes first: decisions, sessions that ask, what is held, what is dead; then what
// runs, then what is idle. What has ended is there when it is asked for.
func TestNowBeginsWithWhatNeedsAPerson(t *testing.T) {
	s := busy(80, 24)
	states := func(s State) (all []string) {
		for _, r := range s.table.rows {
			all = append(all, r.state)
		}
		return all
	}
	want := []string{"decide", "asking", "held", "dead", "busy", "running", "parked", "queued", "free"}
	if diff := cmp.Diff(want, states(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(want, "failed"), states(after(s, keys("f")...))); diff != "" {
		t.Errorf("with those that have finished (-want +got):\n%s", diff)
	}
}

// A pipeline that another one runs has a row of its own only while it waits for a person.
func TestAChildThatWaitsForAPersonIsARow(t *testing.T) {
	s := busy(80, 24)
	for _, r := range s.table.rows {
		if r.owner == "0000000000000007" {
			t.Errorf("%+v", r)
		}
	}
	child := someOwners()[6]
	child.Decision = &daemonapi.Decision{ID: "d", Owner: child.ID, Context: "Which branch?", Created: before(time.Hour)}
	s = after(s, Changed{[]daemonapi.Owner{child}})
	if first := s.table.rows[0]; first.owner != child.ID || first.state != "decide" {
		t.Errorf("%+v", first)
	}
}

// The selected row stays selected while others come and go. Where it goes itself, the next one is.
func TestTheSelectionFollowsItsRow(t *testing.T) {
	s := after(busy(80, 24), keys("2", "j", "j")...)
	fix := Ref{OwnerRow, "da7ee9ad00000002"}
	if got := selectedRef(s); got != fix {
		t.Fatalf("%v", got)
	}
	late := daemonapi.Owner{ID: "ffff", Name: "late", Status: "running", Created: noon}
	s = after(s, Changed{[]daemonapi.Owner{late}})
	if got := selectedRef(s); got != fix {
		t.Errorf("after another one began: %v", got)
	}
	done := someOwners()[1]
	done.Status, done.Ended = "done", &noon
	s = after(s, Changed{[]daemonapi.Owner{done}})
	if got := selectedRef(s); got == fix || got.ID == "" {
		t.Errorf("after it ended: %v", got)
	}
}

func TestKeysMove(t *testing.T) {
	s := after(beginning(80, 24), Up{many(400)})
	at := func(s State) int {
		at, _ := s.selected()
		return at
	}
	last := len(s.table.rows) - 1
	for _, step := range []struct {
		key  string
		want int
	}{
		{"j", 1}, {"down", 2}, {"k", 1}, {"up", 0}, {"k", 0}, {"ctrl+d", 10}, {"ctrl+u", 0}, {"G", last}, {"j", last}, {"g", 0}, {"end", last}, {"home", 0},
	} {
		if s = after(s, keys(step.key)...); at(s) != step.want {
			t.Errorf("after %s: %d, want %d", step.key, at(s), step.want)
		}
	}
	for key, want := range map[string]view{"3": agentView, "7": projectView, "tab": pipelineView, "shift+tab": projectView, "right": pipelineView, "left": projectView} {
		if got := after(busy(80, 24), keys(key)...); got.view != want {
			t.Errorf("%s leads to %s", key, views[got.view])
		}
	}
}

func TestFilter(t *testing.T) {
	s := after(busy(80, 24), with(keys("/"), typed("SHOP fx"), keys("backspace"), typed("ix"))...)
	if got := s.filter; got != "SHOP fix" {
		t.Fatalf("%q", got)
	}
	if rows := s.table.rows; len(rows) != 1 || rows[0].owner != "da7ee9ad00000002" {
		t.Errorf("%+v", rows)
	}
	s = after(s, keys("enter")...)
	if s = after(s, keys("q")...); s.typing || s.filter == "" {
		t.Errorf("after enter: %+v", s.filter)
	}
	if s = after(s, keys("esc")...); s.filter != "" || len(s.table.rows) != 9 {
		t.Errorf("after esc: %q", s.filter)
	}
	s = after(s, with(keys("/"), typed("one two"), keys("ctrl+w"))...)
	if s.filter != "one " {
		t.Errorf("%q", s.filter)
	}
	if s = after(s, keys("esc")...); s.filter != "" || s.typing {
		t.Errorf("%+v", s.filter)
	}
}

// An answer is chosen, confirmed and sent; what the daemon says about it is shown.
func TestAnsweringADecision(t *testing.T) {
	id := someDecision().ID
	s := does(t, after(busy(80, 24), keys("5")...), "d", Show{Ref{DecisionRow, id}})
	s = does(t, s, "j")
	s = does(t, s, "enter")
	wantOn(t, s, "Send this answer?", "reject")
	s = does(t, s, "esc")
	s = does(t, s, "1")
	s = does(t, s, "y", Answer{id, daemonapi.Answer{Option: "approve"}})
	s = does(t, s, "y") // it is under way
	refused := after(s, Answered{Err: &daemonapi.Error{Failure: daemonapi.Failure{Error: "it is settled", Hint: "stopgate decision list"}}})
	wantOn(t, refused, "✗ it is settled (stopgate decision list)", "1  approve")
	s = after(s, Answered{Decision: *someDecision()})
	wantOn(t, s, "decision 94fb6ca5 of release answered")
	if s.mode != listMode || s.detail.ref != (Ref{}) {
		t.Error("the question is still there")
	}

	s = after(after(busy(80, 24), keys("d", "4")...), with(typed("on Monday"), keys("enter"))...)
	wantOn(t, s, "“on Monday”")
	does(t, s, "enter") // a key that repeats sends nothing
	does(t, s, "y", Answer{id, daemonapi.Answer{Message: "on Monday"}})
	s = after(busy(80, 24), keys("d", "4", "enter")...)
	wantOn(t, s, "type something")
}

// Words belong to some options.
func TestDenyingWithWords(t *testing.T) {
	d := someDecision()
	d.Source, d.Options = "approval", []daemonapi.Option{{Number: 1, Name: "approve"}, {Number: 2, Name: "deny"}, {Number: 3, Name: "cancel"}}
	s := after(asking(d), keys("d")...)
	if n := len(s.form.choices()); n != 3 {
		t.Errorf("%d choices", n)
	}
	s = after(s, with(keys("2"), typed("not this"), keys("enter"))...)
	does(t, s, "y", Answer{d.ID, daemonapi.Answer{Option: "deny", Message: "not this"}})
	s = after(asking(d), keys("d", "2", "enter")...)
	does(t, s, "y", Answer{d.ID, daemonapi.Answer{Option: "deny"}})
}

// asking is a window in which a decision is the only thing.
func asking(d *daemonapi.Decision) State {
	w := World{Owners: map[string]daemonapi.Owner{d.Owner: {ID: d.Owner, Name: d.Name, Status: "waiting", Decision: d}}}
	return after(beginning(80, 24), Up{w})
}

func TestAnsweringSeveralQuestions(t *testing.T) {
	d := someDecision()
	d.Source, d.Options = "question", []daemonapi.Option{{Number: 1, Name: "cancel"}}
	d.Ask = &daemonapi.Ask{Questions: []daemonapi.Question{
		{Question: "Which days?", Multi: true, Options: []daemonapi.Choice{{Label: "Mon"}, {Label: "Tue"}, {Label: "Wed"}}},
		{Question: "Which name?", Options: []daemonapi.Choice{{Label: "a"}, {Label: "b"}}},
		{Question: "Why?"},
	}}
	s := after(asking(d), keys("d")...)
	wantOn(t, s, "question 1 of 3", "Which days?")
	s = after(s, keys("space", "j", "j", "space", "enter")...)
	wantOn(t, s, "question 2 of 3", "Which name?")
	s = after(s, keys("2")...)
	wantOn(t, s, "question 3 of 3", "Why?")
	s = after(s, with(keys("1"), typed("because"), keys("enter"))...)
	wantOn(t, s, "Mon, Wed, b, because")
	does(t, s, "y", Answer{d.ID, daemonapi.Answer{Answers: []string{"Mon, Wed", "b", "because"}}})

	s = after(asking(d), keys("d", "j", "j", "j", "j", "enter")...)
	does(t, s, "y", Answer{d.ID, daemonapi.Answer{Option: "cancel"}})
}

func TestAnsweringOneQuestionWithSeveralChoices(t *testing.T) {
	d := someDecision()
	d.Source, d.Options = "question", []daemonapi.Option{{Number: 1, Name: "Mon"}, {Number: 2, Name: "Tue"}, {Number: 3, Name: "cancel"}}
	d.Ask = &daemonapi.Ask{Questions: []daemonapi.Question{{Question: "Which days?", Multi: true, Options: []daemonapi.Choice{{Label: "Mon"}, {Label: "Tue"}}}}}
	s := after(asking(d), keys("d", "space", "j", "space", "enter")...)
	does(t, s, "y", Answer{d.ID, daemonapi.Answer{Option: "Mon, Tue"}})
}

// An agent may look, and neither answer nor type.
func TestAnAgentsShellOnlyLooks(t *testing.T) {
	s := busy(80, 24)
	s.Agent = "CLAUDECODE"
	s = does(t, s, "d")
	wantOn(t, s, "✗ agents cannot answer decisions (this is an agent's shell: CLAUDECODE is set)")
	s = after(s, keys("3")...)
	does(t, s, "a", Attach{someAgent().ID, true})
}

func TestADecisionThatIsSettledMeanwhileIsNotAnswered(t *testing.T) {
	s := after(busy(80, 24), keys("d")...)
	moved := someOwners()[0]
	moved.Status, moved.Decision = "running", nil
	s = after(s, Changed{[]daemonapi.Owner{moved}})
	wantOn(t, s, "the decision was settled meanwhile", "* running   release")
}

func TestAttaching(t *testing.T) {
	s := after(busy(80, 24), keys("3")...)
	does(t, s, "a", Attach{someAgent().ID, false})
	s = after(s, Attached{fmt.Errorf("tmux is not installed")})
	wantOn(t, s, "✗ tmux is not installed")
	plainAgent := someOwners()[1]
	plainAgent.Agent.ClaudeCode = false
	s = after(s, Changed{[]daemonapi.Owner{plainAgent}})
	wantOn(t, does(t, s, "a"), "it has no terminal")
}

// An event tells less of an agent than a list does: what was known stays.
func TestAnEventLeavesWhatListsTold(t *testing.T) {
	o := someOwners()[1]
	agent := *o.Agent
	agent.Terminal, agent.USD = nil, 0.5
	o.Agent, o.USD = &agent, 0.5
	s := after(busy(80, 24), Changed{[]daemonapi.Owner{o}})
	got := s.World.Owners[o.ID]
	if got.Agent.Terminal == nil || got.USD != 0.5 || s.World.Spent[o.ID] != 0.5 {
		t.Errorf("%+v", got)
	}
	if n := len(s.sessions()); n != 3 {
		t.Errorf("%d sessions: that of an agent is a row of its own", n)
	}
}

// The details on the screen are asked for again when their owner changes.
func TestDetailsStayUpToDate(t *testing.T) {
	s := after(busy(80, 24), keys("2", "j", "j", "enter")...)
	ref := Ref{OwnerRow, "da7ee9ad00000002"}
	s = after(s, Shown{ref, Detail{Owner: wholeOwner()}, nil})
	_, effects := Next(s, Changed{someOwners()[1:2]})
	if diff := cmp.Diff([]any{Show{ref}}, effects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, effects = Next(s, Changed{someOwners()[2:3]})
	if len(effects) > 0 {
		t.Errorf("for another one: %v", effects)
	}
	s = after(s, Shown{ref, Detail{}, fmt.Errorf("timeout")})
	wantOn(t, s, "prepare")
}

// In a wide window the details stand beside the list. They are asked for when the person stays on a row.
func TestDetailsBesideTheList(t *testing.T) {
	s := busy(200, 60)
	s = does(t, s, "j", Peek{Ref{SessionRow, "%3 7 /tmp/tmux-1000/default"}})
	s = does(t, s, "j", Peek{Ref{OwnerRow, "64ea670e00000004"}})
	if _, effects := Next(s, Peeked{Ref{SessionRow, "%3 7 /tmp/tmux-1000/default"}}); len(effects) > 0 {
		t.Errorf("of a row that was left: %v", effects)
	}
	s, effects := Next(s, Peeked{Ref{OwnerRow, "64ea670e00000004"}})
	if diff := cmp.Diff([]any{Show{Ref{OwnerRow, "64ea670e00000004"}}}, effects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s = after(s, Resize{80, 24}); s.peek.ref != (Ref{}) {
		t.Error("there is no room any more")
	}
}

func TestFollowingALog(t *testing.T) {
	s := does(t, after(busy(80, 24), keys("5")...), "l", Follow{Owner: "c84a2cdb00000001"})
	s = after(s, Logged{Owner: "c84a2cdb00000001", Lines: []string{"one", "two"}}, Logged{Owner: "another", Lines: []string{"three"}})
	wantOn(t, s, "following", "two")
	for range 30 {
		s = after(s, Logged{Owner: "c84a2cdb00000001", Lines: make([]string, 100)})
	}
	if n := len(s.log.lines); n != maxLog {
		t.Errorf("%d lines are kept", n)
	}
	s = after(s, keys("k", "k", "k")...)
	s = after(s, Logged{Owner: "c84a2cdb00000001", Lines: []string{"new"}})
	wantOn(t, s, "4 lines below")
	s = after(s, keys("G")...)
	wantOn(t, s, "following", "new")
	if s = does(t, s, "esc", Follow{}); s.mode != listMode {
		t.Error("esc does not lead back to the list")
	}
	s = after(s, keys("enter", "l", "esc")...)
	if s.mode != detailMode {
		t.Error("esc does not lead back to the details")
	}
}

// The connection is shown, and the list stays.
func TestTheConnection(t *testing.T) {
	down := fmt.Errorf("%w: nothing listens", daemonapi.ErrNotRunning)
	s := after(beginning(80, 24), Down{down})
	wantOn(t, s, "the daemon is not running", "stopgate daemon start")
	s = after(s, Up{someWorld()})
	wantOn(t, s, "release")
	s = after(s, Down{down}, Tick{noon.Add(3 * time.Second)}, Down{down}, Tick{noon.Add(9 * time.Second)})
	wantOn(t, s, "daemon lost 9s ago, trying again", "release")
	s = after(s, Up{someWorld()})
	if screen := Screen(&s); strings.Contains(screen, "lost") {
		t.Error(screen)
	}
}

// However much the daemon has, what is kept is bounded.
func TestWhatIsKeptIsBounded(t *testing.T) {
	s := busy(80, 24)
	for i := range 50 {
		var ended []daemonapi.Owner
		for j := range 100 {
			at := noon.Add(time.Duration(i*100+j) * time.Second)
			ended = append(ended, daemonapi.Owner{ID: fmt.Sprintf("e%d-%d", i, j), Status: "done", Created: noon, Ended: &at})
		}
		s = after(s, Changed{ended})
	}
	if n := len(s.World.Owners); n > maxEnded+len(someOwners()) {
		t.Errorf("%d owners are kept", n)
	}
	if _, kept := s.World.Owners["e49-99"]; !kept {
		t.Error("the newest is gone")
	}
}

func TestQuittingAndOtherKeys(t *testing.T) {
	s := busy(80, 24)
	does(t, s, "q", Quit{})
	does(t, s, "ctrl+c", Quit{})
	does(t, s, "ctrl+z", Suspend{})
	does(t, s, "r", Refresh{})
	does(t, after(s, keys("/")...), "q") // is typed
	does(t, after(s, keys("d", "4")...), "q")
	does(t, after(s, keys("d")...), "ctrl+c", Quit{})
	help := after(s, keys("?")...)
	wantOn(t, help, "follow the log")
	if back := after(help, keys("esc")...); back.mode != listMode {
		t.Error("esc does not lead back")
	}
	wantOn(t, after(busy(80, 24), keys("7", "l")...), "it has no log")
}

// How projects are enforced is asked from time to time, and at once when something runs in another one.
func TestProjectsAreSurveyed(t *testing.T) {
	surveys := func(s State, event any) (State, []string, bool) {
		s, effects := Next(s, event)
		for _, effect := range effects {
			if survey, is := effect.(Survey); is {
				return s, survey.Roots, true
			}
		}
		return s, nil, false
	}
	s, _, asked := surveys(State{}, Tick{noon})
	if !asked {
		t.Error("not at the beginning")
	}
	if s, _, asked = surveys(s, Tick{noon.Add(time.Hour)}); asked {
		t.Error("again, before there is an answer")
	}
	s = after(s, Tick{noon}, Surveyed{})
	s, roots, asked := surveys(s, Up{someWorld()})
	if want := []string{"/home/ada/blog", "/home/ada/shop"}; !asked || !cmp.Equal(roots, want) {
		t.Errorf("for what runs: %t, %q", asked, roots)
	}
	s = after(s, Surveyed{[]Project{{Root: "/home/ada/shop", Enforced: true}}})
	if s, _, asked = surveys(s, Tick{noon.Add(time.Second)}); asked {
		t.Error("again at once")
	}
	if _, _, asked = surveys(s, Tick{noon.Add(lookEvery)}); !asked {
		t.Error("not after a while")
	}
	if _, _, asked = surveys(s, Key{Name: "r"}); !asked {
		t.Error("not when the person asks")
	}
}

// Sessions are listed in tmux and outside of it, each once, and those that gave up need a person. Those of
// agents are known by their owners.
func TestSessionsOutsideOfTmux(t *testing.T) {
	w := World{Owners: map[string]daemonapi.Owner{}}
	w.add([]daemonapi.Owner{{ID: "o", Status: "running", Agent: &daemonapi.Agent{ID: "a", Session: "of-an-agent"}}})
	w.Sessions = []daemonapi.Session{{Session: "notes", Pane: "%3", State: "free", Since: noon}, {Session: "work", Pane: "%4", State: "busy", Since: noon}}
	const limit = "Allowed although test still fails: the retry limit is reached"
	w.Seen = []daemonapi.Seen{
		{ID: "alone", State: "stopped", Since: noon},
		{ID: "left", State: "gave_up", Headline: limit, Since: noon},
		{ID: "asks", State: "asking", Since: noon},
		{ID: "of-an-agent", State: "gave_up", Since: noon},
		{ID: "in-notes", Pane: "%3", State: "gave_up", Headline: limit, Since: noon},
		{ID: "before", Pane: "%3", State: "stopped", Since: before(time.Hour)},
		{ID: "in-work", Pane: "%4", State: "gave_up", Since: before(time.Hour)},
	}
	s := after(beginning(80, 24), with([]any{Up{w}}, keys("4"))...)
	var got []string
	for _, r := range s.table.rows {
		got = append(got, r.state+" "+r.what+" "+r.last)
	}
	want := []string{"asking session asks Claude Code asks", "gave up notes " + limit, "gave up session left " + limit, "busy work pane %4", "stopped session alone "}
	if diff := cmp.Diff(want, got); diff != "" || s.table.needs != 3 {
		t.Errorf("%d need a person; %s", s.table.needs, diff)
	}
}
