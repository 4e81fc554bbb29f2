//go:build unix

package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/queue/queuetest"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// statuses are those of the commands, in their order.
func statuses(q queue.Queue) string {
	var all []string
	for _, c := range q.Commands {
		all = append(all, string(c.Status))
	}
	return strings.Join(all, " ")
}

func result(c queue.Command) string {
	if c.Result == nil {
		return "<null>"
	}
	return *c.Result
}

func TestSeed4CreationWritesTheFileBeforeItTypes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	_, err := w.order("/clear", "/gsd:plan-phase 3")
	check(t, err)
	w.wantBytes(pasted("/clear") + enter)
	q := s.queue(mainSession)
	if got := statuses(q); got != "active pending" {
		t.Errorf("the commands are %s", got)
	}
	first := q.Commands[0]
	if first.Stopgate.State != queue.Entered || first.Stopgate.Enters != 1 || !q.At(placeOf(w.Pane)) {
		t.Errorf("the first command is at %+v, the queue at %+v", first.Stopgate, q.Stopgate.Place)
	}
	s.wantDriven(1) // somebody else sees to the confirmation
	if _, err := os.Stat(s.file(mainSession, ".tmp")); err == nil {
		t.Error("a file is left over")
	}

	// Where nothing can be written, nothing is typed.
	other := s.ready("warden-main-5")
	check(t, os.RemoveAll(filepath.Join(s.state, "logs")))
	check(t, os.WriteFile(filepath.Join(s.state, "logs"), nil, 0o600))
	if _, err := other.order("/clear"); err == nil {
		t.Error("created without a file")
	}
	other.wantBytes("")
}

// Steps 5 to 11, with a client that calls its hooks.
func TestSeed4AdvancesToCompletion(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.delivering = true
	w := s.ready(mainSession).live()
	long := "a plain prompt\n" + strings.Repeat("of 5 kB, ", 600) + "\nin three lines"
	commands := []string{"/clear", "/gsd:plan-phase 3", long, "/compact", "-x 'quoted' \"too\"; emoji 👩‍💻;"}
	_, err := w.order(commands...)
	check(t, err)
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	l := s.wantLetters(wake.QueueComplete)
	if want := "Queue complete. 5/5 commands executed. Results attached."; l.Headline != want || !strings.Contains(l.Body, want) {
		t.Errorf("the headline is %q, want %q, also in the body", l.Headline, want)
	}
	eventually(t, "the file has its last name", func() bool { return !exists(s.file(mainSession, "")) })
	if l.Queue.Path != s.file(mainSession, ".done") || !strings.Contains(l.Body, l.Queue.Path) {
		t.Errorf("the letter names %s", l.Queue.Path)
	}
	q := s.ended(mainSession, ".done")
	var typed strings.Builder
	for i, c := range q.Commands {
		want := "answer to " + commands[i]
		if strings.HasPrefix(commands[i], "/c") {
			want = "<null>"
		}
		if c.Status != queue.Done || c.CompletedAt == nil || result(c) != want {
			t.Errorf("command %d is %s with %.80q, want %.80q", c.ID, c.Status, result(c), want)
		}
		typed.WriteString(pasted(commands[i]) + enter)
	}
	w.wantBytes(typed.String())
	if l.Queue.Completed != 5 || len(l.Queue.Remaining) != 0 {
		t.Errorf("the letter counts %d, and %q are left", l.Queue.Completed, l.Queue.Remaining)
	}
	if len(s.queuesIn(mainSession)) != 0 {
		t.Error("after the end there is a queue")
	}
}

// queuesIn lists what makes a session one with a queue.
func (s *scene) queuesIn(session string) []string {
	all, err := queue.NewStore(s.state).List()
	check(s.t, err)
	var found []string
	for _, l := range all {
		if l.Session == session {
			found = append(found, l.Path)
		}
	}
	return found
}

// Each step of the advancement, by hooks alone.
func TestSeed4AdvancementStepByStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:plan-phase 3", "/clear", "/gsd:execute-phase 3")
	steps := []struct {
		name   string
		hook   func()
		want   string
		driven int
	}{
		{"5 the client takes it", func() { w.prompt("p1", "/gsd:plan-phase 3") }, "active pending pending", 0},
		{"6 and 7 an expected hook, 8 the next one", func() { w.stop("p1", "planned") }, "done active pending", 1},
		{"the end of the old session is nothing", func() { w.hook("session-end.clear", nil) }, "done active pending", 1},
		{"9 and again", func() { w.stepClear() }, "done done active", 2},
		{"its confirmation", func() { w.prompt("p2", "/gsd:execute-phase 3") }, "done done active", 2},
		{"a stop of another prompt is not it", func() { w.stop("p3", "of a background task") }, "done done active", 2},
	}
	for _, step := range steps {
		// What is typed is known by the file.
		if q := s.queue(mainSession); q.Active().Command == "/clear" && q.Active().Stopgate.State == queue.Waiting {
			s.step(queue.Begun{ID: 2})
		}
		step.hook()
		if got := statuses(s.queue(mainSession)); got != step.want || len(s.driven) != step.driven {
			t.Errorf("%s: %s, driven %d times; want %s and %d", step.name, got, len(s.driven), step.want, step.driven)
		}
	}
	first := s.queue(mainSession).Commands[0]
	if result(first) != "planned" || first.CompletedAt == nil {
		t.Errorf("the first command has result %q at %v", result(first), first.CompletedAt)
	}
	s.wantLetters()
	r := w.stop("p2", "executed")
	l := s.wantLetters(wake.QueueComplete)
	if want := []string{"wake queue_complete", "queue ended 3/3"}; !slices.Equal(r.Effects, want) {
		t.Errorf("the journal has %q, want %q", r.Effects, want)
	}
	if l.LastAssistantMessage == nil || *l.LastAssistantMessage != "executed" {
		t.Errorf("the last message is %v", l.LastAssistantMessage)
	}
	s.wantDriven(2)
}

func (w *window) stepClear() {
	w.id += "'"
	w.start("clear")
}

func TestSeed4CancelledByManualInput(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b", "say \"hi\" <now>")
	w.prompt("p1", "/gsd:a")
	w.stop("p1", "done a")
	w.prompt("p2", "I would rather do this myself")
	l := s.wantLetters(wake.QueueCancelled)
	if want := `Queue cancelled by manual input. Completed: 1/3. Remaining: ["/gsd:b","say \"hi\" <now>"]`; l.Headline != want {
		t.Errorf("the headline is %s, want %s", l.Headline, want)
	}
	q := s.ended(mainSession, ".stale")
	if q.Status != queue.Cancelled || statuses(q) != "done active pending" || l.Queue.Path != s.file(mainSession, ".stale") {
		t.Errorf("the queue is %q: %s; the letter names %s", q.Status, statuses(q), l.Queue.Path)
	}
}

func TestSeed4StaleCleanupAtStartup(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b")
	w.prompt("p1", "/gsd:a")
	w.stop("p1", "done a")
	w.id = "another"
	w.start("startup")
	l := s.wantLetters(wake.QueueStale)
	if want := `Previous session had unfinished queue. Completed: 1/2. Remaining: ["/gsd:b"]`; l.Headline != want {
		t.Errorf("the headline is %s, want %s", l.Headline, want)
	}
	if q := s.ended(mainSession, ".stale"); q.Status != "" || statuses(q) != "done active" {
		t.Errorf("the queue is %q: %s", q.Status, statuses(q))
	}
	w.start("startup") // a clean start
	s.wantLetters(wake.QueueStale)
}

func TestRuling313NoStaleCleanupByOtherSources(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"resume", "compact", "clear", "fork-carries-old-id"} {
		t.Run(source, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/gsd:a", "/gsd:b")
			w.prompt("p1", "/gsd:a")
			w.start(source)
			if got := statuses(s.queue(mainSession)); got != "active pending" {
				t.Errorf("the commands are %s", got)
			}
			s.wantLetters()
			w.stop("p1", "done a")
			if got := statuses(s.queue(mainSession)); got != "done active" {
				t.Errorf("after its stop the commands are %s", got)
			}
		})
	}
}

func TestRuling313AdvancesWhereTheSourceIsAwaited(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"clear", "compact"} {
		t.Run(source, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/"+source, "/gsd:b")
			w.prompt("p1", "/"+source) // or typed, which a hook need not tell
			w.start(source)
			if got := statuses(s.queue(mainSession)); got != "done active" {
				t.Errorf("the commands are %s", got)
			}
			s.wantDriven(1)
		})
	}
}

// Neither names that begin alike nor events at the same time mix queues.
func TestSeed4SessionsAreIsolated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	names := []string{mainSession, mainSession + "2", "warden-main-", "warden-main-4 x"}
	var windows []*window
	for _, name := range names {
		w := s.started(name)
		w.give("/gsd:a", "/gsd:b")
		w.prompt("p1", "/gsd:a")
		windows = append(windows, w)
	}
	windows[0].stop("p1", "done")
	windows[1].prompt("p2", "no")
	for i, want := range []string{"done active", "", "active pending", "active pending"} {
		got := ""
		if exists(queue.NewStore(s.state).Path(names[i])) {
			got = statuses(s.queue(names[i]))
		}
		if got != want {
			t.Errorf("session %s: %q, want %q", names[i], got, want)
		}
	}
	if l := s.wantLetters(wake.QueueCancelled); l.Session != names[1] {
		t.Errorf("told of session %s", l.Session)
	}
}

func TestSeed4AnotherPaneOfTheSessionLeavesTheQueueAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b")
	w.prompt("p1", "/gsd:a")
	before := s.queue(mainSession)
	other := w.beside()
	other.start("startup")
	other.prompt("p2", "something else")
	other.stop("p1", "done")
	other.hook("stop-failure.api-error", fields{"prompt_id": "p1"})
	other.idle("p1")
	other.hook("pre-compact", nil)
	other.hook("session-end.other", nil)
	if diff := cmp.Diff(before, s.queue(mainSession)); diff != "" {
		t.Error(diff)
	}
	s.wantDriven(0)
	s.wantLetters()
	if r := w.stop("p1", "done"); !slices.Equal(r.Effects, []string{"queue advanced 1/2"}) {
		t.Errorf("its own pane: %q", r.Effects)
	}
}

func TestSeed4AQueueWhosePaneIsGoneIsStale(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	other := w.beside()
	s.tmux("kill-pane", "-t", w.ID)
	other.prompt("p2", "something else") // not by this
	if got := statuses(s.queue(mainSession)); got != "active" {
		t.Errorf("the commands are %s", got)
	}
	s.wantLetters()
	other.start("startup")
	s.wantLetters(wake.QueueStale)
	s.ended(mainSession, ".stale")
}

// After a restart of tmux the old ids come again.
func TestAQueueOfAnEarlierServerIsStale(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	s.tmux("kill-server")
	eventually(t, "the server is gone", func() bool {
		out, _ := s.command("has-session").CombinedOutput() // one that is just ending says something else
		return strings.HasPrefix(string(out), "no server running") || strings.HasPrefix(string(out), "error connecting")
	})
	again := s.window(mainSession)
	if again.ID != w.ID || again.PID == w.PID {
		t.Fatalf("the panes are %v and %v", w.Pane, again.Pane)
	}
	again.start("startup")
	s.wantLetters(wake.QueueStale)
}

func TestSeed4IdleIsNoQueue(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.stop("p1", "Done.")
	w.idle("p1")
	s.wantDriven(0)
	if exists(filepath.Join(s.state, "logs")) {
		t.Error("there is a queue")
	}
}

const seedQueue = queuetest.Seed

func (s *scene) write(session, text string) {
	s.t.Helper()
	check(s.t, os.MkdirAll(filepath.Dir(s.file(session, "")), 0o700))
	check(s.t, os.WriteFile(s.file(session, ""), []byte(text), 0o600))
}

func TestRuling314AQueueWrittenByHandAdvances(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.delivering = true
	w := s.ready(mainSession)
	s.write(mainSession, seedQueue)
	w.live1("/clear") // somebody typed it
	w.live()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	l := s.wantLetters(wake.QueueComplete)
	if want := "Queue complete. 2/2 commands executed. Results attached."; l.Headline != want {
		t.Errorf("the headline is %q", l.Headline)
	}
	w.wantBytes(pasted("/gsd:plan-phase 3") + enter)
	eventually(t, "the file has its last name", func() bool { return !exists(s.file(mainSession, "")) })
	q := s.ended(mainSession, ".done")
	if result(q.Commands[0]) != "<null>" || result(q.Commands[1]) != "answer to /gsd:plan-phase 3" {
		t.Errorf("the results are %q and %q", result(q.Commands[0]), result(q.Commands[1]))
	}
}

func TestAPendingCommandWrittenByHandIsReleasedByItsTrigger(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	s.write(mainSession, strings.ReplaceAll(seedQueue, `"active"`, `"pending"`))
	w.start("resume")
	s.wantDriven(0)
	w.stop("p1", "Done.")
	if got := statuses(s.queue(mainSession)); got != "active pending" {
		t.Errorf("the commands are %s", got)
	}
	s.wantDriven(1)
	s.wantLetters()
}

func TestSeed5Handlers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		queue  []string
		hook   func(w *window)
		want   string // of the queue; empty when there is none
		letter []wake.Kind
	}{
		{"Stop, queue exists: advance", []string{"/gsd:a", "/gsd:b"}, func(w *window) { w.prompt("p1", "/gsd:a"); w.stop("p1", "m") }, "done active", nil},
		{"Stop, no queue: wake", nil, func(w *window) { w.stop("p1", "m") }, "", []wake.Kind{wake.Stop}},
		{"SessionStart clear: advance", []string{"/clear", "/gsd:b"}, func(w *window) { w.prompt("p1", "/clear"); w.start("clear") }, "done active", nil},
		{"SessionStart clear, no queue", nil, func(w *window) { w.start("clear") }, "", nil},
		{"SessionStart startup: stale cleanup", []string{"/gsd:a"}, func(w *window) { w.start("startup") }, "", []wake.Kind{wake.QueueStale}},
		{"SessionStart startup, no queue", nil, func(w *window) { w.start("startup") }, "", nil},
		{"UserPromptSubmit, queue exists: cancel", []string{"/gsd:a"}, func(w *window) { w.prompt("p1", "x") }, "", []wake.Kind{wake.QueueCancelled}},
		{"UserPromptSubmit, no queue: ignore", nil, func(w *window) { w.prompt("p1", "x") }, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			if tt.queue != nil {
				w.give(tt.queue...)
			}
			tt.hook(w)
			got := ""
			if exists(s.file(mainSession, "")) {
				got = statuses(s.queue(mainSession))
			}
			if got != tt.want {
				t.Errorf("the commands are %q, want %q", got, tt.want)
			}
			s.wantLetters(tt.letter...)
		})
	}
}

// Hooks are the clock: they run no tmux, and wait for nobody. What they start is
// started, not waited for.
func TestSeed8HooksNeitherLookNorType(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b", "/compact")
	path, wantUncalled := s.noTmux()
	call := func(name string, changes fields) { w.call(Call{Payload: w.payload(name, changes)}, path) }
	call("user-prompt-submit.typed-in-tmux", fields{"prompt_id": "p1", "prompt": "/gsd:a"})
	call("notification.permission-prompt", nil)
	call("permission-request.bash", nil)
	call("pre-tool-use.ask-user-question", nil)
	call("stop.first", fields{"prompt_id": "p1"})
	call("notification.idle-prompt", nil)
	call("user-prompt-submit.typed-in-tmux", fields{"prompt_id": "p2", "prompt": "/gsd:b"})
	call("stop-failure.api-error", fields{"prompt_id": "p2"})
	call("session-end.other", nil)
	wantUncalled()
	s.wantLetters(wake.Permission, wake.Question, wake.QueueFailed)
	s.wantDriven(2) // for the second command: by the stop, and because the client was idle without it
}

// Where the session's name is not known, tmux is asked for it, once.
func TestAnUnknownPaneIsAskedForItsSession(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.window(mainSession)
	w.stop("p1", "Done.")
	s.wantLetters(wake.Stop)
	path, wantUncalled := s.noTmux()
	w.call(Call{Payload: w.payload("stop.first", nil)}, path)
	wantUncalled()
	s.wantLetters(wake.Stop, wake.Stop)
}

func TestRuling312TheNameOfTheSessionIsThatOfTmux(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	w.id = "after /clear"
	w.prompt("p1", "/gsd:a")
	if !s.queue(mainSession).Commands[0].Stopgate.ConfirmedAt.After(s.queue(mainSession).Stopgate.CreatedAt.Time) {
		t.Error("not confirmed by the client's new session")
	}
	// A new name counts from the next start of a client.
	s.tmux("rename-session", "-t", "="+mainSession, "warden-main-9")
	w.start("resume")
	w.stop("p9", "Done.")
	if l := s.wantLetters(wake.Stop); l.Session != "warden-main-9" {
		t.Errorf("told of session %q", l.Session)
	}
}

func TestTmuxThatDoesNotAnswerIsLogged(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.faulty = true
	w := s.window(mainSession)
	path, _ := s.noTmux()
	r := w.call(Call{Payload: w.payload("stop.first", nil)}, path)
	if diff := cmp.Diff(Report{}, r); diff != "" {
		t.Error(diff)
	}
	if len(s.log) != 1 || !strings.Contains(s.log[0], w.ID) {
		t.Errorf("logged %q", s.log)
	}
	// A client that is known goes on under the name that is known.
	w.start("startup")
	w.call(Call{Payload: w.payload("session-start.resume", nil)}, path)
	w.stop("p1", "Done.")
	s.wantLetters(wake.Stop)
}

func TestRuling31WhoseAPromptIs(t *testing.T) {
	t.Parallel()
	notification := "<task-notification>\n<task-id>a5d6</task-id>\n</task-notification>"
	for _, tt := range []struct {
		name, command, prompt string
		confirmed, cancelled  bool
	}{
		{"equal", "/gsd:plan-phase 3", "/gsd:plan-phase 3", true, false},
		{"trailing white space", "do it \n", "do it", true, false},
		{"tabs are spaces", "a\tb", "a    b", true, false},
		{"composed letters", "cafe\u0301", "café", true, false},
		{"characters that nobody sees", "a\u200bb", "ab", true, false},
		{"a task notification is nobody", "/gsd:a", notification, false, false},
		{"a longer one", "/gsd:plan-phase 3", "/gsd:plan-phase 31", false, true},
		{"a person", "/gsd:a", "what are you doing?", false, true},
		{"a later command of the queue", "/gsd:a", "/gsd:later", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.give(tt.command, "/gsd:later")
			w.prompt("p1", tt.prompt)
			if cancelled := !exists(s.file(mainSession, "")); cancelled != tt.cancelled {
				t.Fatalf("cancelled: %t", cancelled)
			} else if cancelled {
				s.wantLetters(wake.QueueCancelled)
				return
			}
			s.wantLetters()
			d := s.queue(mainSession).Commands[0].Stopgate
			if confirmed := d.State == queue.Confirmed && d.PromptID == "p1"; confirmed != tt.confirmed {
				t.Errorf("the delivery is %+v", d)
			}
		})
	}
}

func TestRuling32AFinishedQueueIsNoQueue(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	for i := range 2 {
		w.give("/gsd:a")
		prompt := fmt.Sprintf("p%d", i)
		w.prompt(prompt, "/gsd:a")
		w.stop(prompt, "done")
		s.ended(mainSession, ".done")
	}
	w.stop("p3", "Something else.")
	s.wantLetters(wake.QueueComplete, wake.QueueComplete, wake.Stop)
}

func TestRuling37WhichStopCompletesACommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hooks func(w *window)
		want  string
		stale bool
	}{
		{"that of its prompt", func(w *window) { w.stop("p1", "x") }, "done active", false},
		{"not that of a background task", func(w *window) {
			w.hook("user-prompt-submit.task-notification-not-a-human", fields{"prompt_id": "p7"})
			w.hook("stop.after-background-task", fields{"prompt_id": "p7"})
		}, "active pending", false},
		{"but the one before it", func(w *window) {
			w.hook("stop.background-task-running", fields{"prompt_id": "p1"})
			w.hook("user-prompt-submit.task-notification-not-a-human", fields{"prompt_id": "p7"})
			w.hook("stop.after-background-task", fields{"prompt_id": "p7"})
		}, "done active", false},
		{"a client without prompt ids", func(w *window) { w.hook("stop.first", fields{"prompt_id": nil}) }, "done active", false},
		{"API error", func(w *window) { w.hook("stop-failure.api-error", fields{"prompt_id": "p1"}) }, "failed pending", true},
		{"API error of another prompt", func(w *window) { w.hook("stop-failure.api-error", fields{"prompt_id": "p7"}) }, "active pending", false},
		{"a compaction by itself", func(w *window) {
			w.hook("pre-compact", fields{"trigger": "auto"})
			w.start("compact")
		}, "active pending", false},
		{"interrupted by a person", func(w *window) { w.idle("p1") }, "failed pending", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/gsd:a", "/gsd:b")
			w.prompt("p1", "/gsd:a")
			tt.hooks(w)
			if !tt.stale {
				if got := statuses(s.queue(mainSession)); got != tt.want {
					t.Errorf("the commands are %s, want %s", got, tt.want)
				}
				return
			}
			if got := statuses(s.ended(mainSession, ".stale")); got != tt.want {
				t.Errorf("the commands are %s, want %s", got, tt.want)
			}
			s.wantLetters(wake.QueueFailed)
		})
	}
}

// A compaction that the client begins by itself does not confirm ours.
func TestRuling37OnlyACompactionByHandConfirms(t *testing.T) {
	t.Parallel()
	for trigger, want := range map[string]queue.DeliveryState{"auto": queue.Entered, "manual": queue.Confirmed} {
		s := newScene(t)
		w := s.started(mainSession)
		w.give("/compact")
		s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1})
		w.hook("pre-compact", fields{"trigger": trigger})
		if d := s.active(); d.State != want {
			t.Errorf("%s: the delivery is %+v", trigger, d)
		}
	}
}

func TestAClientThatEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b")
	w.prompt("p1", "/gsd:a")
	w.hook("session-end.other", nil)
	s.wantLetters(wake.SessionEnd)
	w.start("resume")
	l := s.wantLetters(wake.SessionEnd, wake.QueueFailed)
	if !strings.Contains(l.Headline, "Claude Code ended while working on it") {
		t.Errorf("the headline is %q", l.Headline)
	}
}

func TestACorruptQueueIsSetAside(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text string }{
		{"half a file", seedQueue[:100]},
		{"empty", ""},
		{"no commands", `{"commands":[]}`},
		{"two active", strings.ReplaceAll(seedQueue, `"pending"`, `"active"`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			s.write(mainSession, tt.text)
			r := w.stop("p1", "Done.")
			aside := s.file(mainSession, ".corrupt")
			if !strings.Contains(r.Message, aside) {
				t.Errorf("the person is told %q", r.Message)
			}
			if l := s.wantLetters(wake.QueueFailed); !strings.Contains(l.Headline, aside) {
				t.Errorf("the agent is told %q", l.Headline)
			}
			text, err := os.ReadFile(aside)
			check(t, err)
			if string(text) != tt.text || exists(s.file(mainSession, "")) {
				t.Errorf("set aside: %q", text)
			}
			// The session goes on.
			w.stop("p2", "More.")
			s.wantLetters(wake.QueueFailed, wake.Stop)
			w.give("/gsd:a")
		})
	}
}

// Who is to be told of a queue's end is not known while the registry cannot be read.
func TestABrokenRegistryHoldsTheEndBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.faulty = true
	w := s.started(mainSession)
	w.give("/gsd:a")
	s.register(`{"agents": [`)
	w.prompt("p1", "/gsd:a")
	if r := w.stop("p1", "done"); !strings.Contains(r.Message, "stopgate registry check") {
		t.Errorf("told %q", r.Message)
	}
	if len(s.log) == 0 || !strings.Contains(s.log[0], "agent-registry.json:1:") {
		t.Errorf("logged %q", s.log)
	}
	s.wantLetters()
	s.register(registryText)
	w.idle("p1")
	s.wantLetters(wake.QueueComplete)
	s.ended(mainSession, ".done")
}

// One entry that is at fault leaves the others as they are.
func TestAFaultInTheRegistryCostsOneEntry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.faulty = true
	s.register(`{"agents": [{"agent_id": "warden", "session_name": "warden-main-4", "working_directory": "/srv/warden"}, {"session_name": 7}]}`)
	s.started(mainSession).stop("p1", "Done.")
	s.wantLetters(wake.Stop)
	if len(s.log) == 0 {
		t.Error("nothing logged")
	}
}

// The end of a queue that nobody could be told of is told by the next hook.
func TestAnEndThatCouldNotBeToldIsToldLater(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	w.prompt("p1", "/gsd:a")
	outbox := filepath.Join(s.state, "outbox")
	check(t, os.WriteFile(outbox, nil, 0o600)) // where there should be a directory
	r := w.stop("p1", "done")
	if r.Message == "" || len(r.Effects) != 0 || s.sends != 0 {
		t.Errorf("reported %+v, %d senders", r, s.sends)
	}
	if q := s.queue(mainSession); statuses(q) != "done" || q.Stopgate.Ending == nil {
		t.Errorf("the queue is %+v", q)
	}
	check(t, os.Remove(outbox))
	w.idle("p1")
	l := s.wantLetters(wake.QueueComplete)
	q := s.ended(mainSession, ".done")
	if result(q.Commands[0]) != "done" || *l.LastAssistantMessage != "done" || s.sends != 1 {
		t.Errorf("the queue is %+v, %d senders", q, s.sends)
	}
}

// Killed after the letter was written, but before the file had its last name.
func TestAnEndThatWasToldIsNotToldAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	w.prompt("p1", "/gsd:a")
	w.stop("p1", "done")
	s.wantLetters(wake.QueueComplete)
	check(t, os.Rename(s.file(mainSession, ".done"), s.file(mainSession, "")))
	w.stop("p2", "Done.")
	s.wantLetters(wake.QueueComplete)
	s.ended(mainSession, ".done")
}

func TestADeliveryThatCannotBeStartedIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.driveErr = os.ErrPermission
	w := s.started(mainSession)
	w.give("/gsd:a", "/gsd:b")
	w.prompt("p1", "/gsd:a")
	if r := w.stop("p1", "done"); !strings.Contains(r.Message, "cannot type the next command") {
		t.Errorf("told %q", r.Message)
	}
	if got := statuses(s.queue(mainSession)); got != "done active" {
		t.Errorf("the commands are %s", got)
	}
	s.driveErr = nil
	w.idle("p1")
	s.wantDriven(2) // the next hook tries again
}

func TestAQueueThatCannotBeLockedIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	check(t, os.Chmod(s.file(mainSession, ""), 0))
	if os.Geteuid() == 0 {
		// Nothing is forbidden to root.
		lock := strings.TrimSuffix(s.file(mainSession, ""), ".json") + ".lock"
		check(t, os.RemoveAll(lock))
		check(t, os.Mkdir(lock, 0o700))
	}
	r := w.stop("p1", "done")
	if !strings.Contains(r.Message, "the queue of session "+mainSession) {
		t.Errorf("told %q", r.Message)
	}
	s.wantLetters() // there is a queue, so this is no fresh stop
}

func TestPresenceIsKeptByHooks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.window(mainSession)
	state := func() presence.State {
		c, known := presence.NewBook(s.state).Load(s.socket(), w.PID, w.ID)
		if !known || c.Session != mainSession {
			t.Errorf("known is %t, %+v", known, c)
		}
		return c.State
	}
	for _, step := range []struct {
		name string
		hook func()
		want presence.State
	}{
		{"start", func() { w.start("startup") }, presence.Free},
		{"prompt", func() { w.prompt("p1", "x") }, presence.Busy},
		{"dialog", func() { w.hook("permission-request.bash", nil) }, presence.Asking},
		{"stop", func() { w.stop("p1", "") }, presence.Free},
		{"end", func() { w.hook("session-end.other", nil) }, presence.Ended},
	} {
		step.hook()
		if got := state(); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}
