//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestPersonWhoTypesEndsTheQueue(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	answer, late := make(chan struct{}), make(chan struct{})
	d.API.On(claudeapi.Last("two"), claudeapi.Hold(answer, claudeapi.Text("second result")))
	d.API.On(claudeapi.Last("I have another idea"), claudeapi.Hold(late, echo))
	tui := d.Session("main")
	d.Create("main", "one", "two", "three", "four")
	d.API.WaitRequest(t, claudeapi.Last("two"))
	tui.Type("I have another idea")
	tui.waitTaken("I have another idea")
	close(answer)
	wake := d.waitLetter("queue_cancelled", 1)
	q := d.waitQueue("main", "stale", func(queueFile) bool { return true })
	// Newer clients tell of what a person types at once, older ones when they have done with what
	// they work on.
	done, rest := 1, `"two","three","four"`
	if q.Commands[1].Status == "done" {
		done, rest = 2, `"three","four"`
	}
	d.wantHeadline(wake, fmt.Sprintf("Queue cancelled by manual input. Completed: %d/4. Remaining: [%s]", done, rest))
	want := slices.Concat(slices.Repeat([]string{"done"}, done), []string{"active"}, slices.Repeat([]string{"pending"}, 3-done))
	if got := q.statuses(); q.Status != "cancelled" || !slices.Equal(got, want) {
		t.Errorf("the queue is %q, its commands are %v, want %v", q.Status, got, want)
	}
	if wake.Queue.Path != d.queuePath("main", "stale") {
		t.Errorf("the wake names %s", wake.Queue.Path)
	}

	// The newer ones tell nothing when they begin with it. Another queue waits all the same.
	d.API.WaitRequest(t, claudeapi.Last("I have another idea"))
	d.Create("main", "five")
	d.waitActive("main", 1, "waiting")
	if screen := tui.Screen(); strings.Contains(screen, "three") || strings.Contains(screen, "five") {
		t.Errorf("more was typed:\n%s", screen)
	}
	close(late)
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("five"))
	d.wantPrompts("one", "two", "I have another idea", "five")
}

// waitTaken waits until a busy client has taken a text out of its input box. A turn that ends at
// that moment can leave it there as well.
func (s *tui) waitTaken(text string) {
	s.t.Helper()
	if !poll(patience, func() bool { return strings.Contains(s.Screen(), text) && !strings.Contains(s.lower(), text) }) {
		s.t.Fatalf("the client does not take %q", text)
	}
}

// kill ends the client as a crash would.
func (s *tui) kill() {
	s.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(s.show("#{pane_pid}")))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	check(s.t, err)
	s.WaitExit()
}

// restart starts the client anew in the same pane.
func (s *tui) restart() {
	s.t.Helper()
	before := s.bench.Last()
	s.tmux(nil, append([]string{"respawn-pane", "-t", s.pane()}, s.command...)...)
	s.await(before)
}

func TestClientThatIsStartedAnewLeavesItsQueueBehind(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	held := make(chan struct{})
	defer close(held)
	d.API.On(claudeapi.Last("second"), claudeapi.Hold(held, claudeapi.Text("never")))
	tui := d.Session("main")

	d.Create("main", "first", "second", "third")
	d.API.WaitRequest(t, claudeapi.Last("second"))
	tui.kill()
	tui.restart()
	wake := d.waitLetter("queue_stale", 1)
	d.wantHeadline(wake, `Previous session had unfinished queue. Completed: 1/3. Remaining: ["second","third"]`)
	d.waitStale("main", "done", "active", "pending")
	d.wantPrompts("first", "second")
	d.wantLetters("queue_stale")

	// Esc fires no hook: the queue stays for a while, for everybody to see. Here the person leaves
	// before it has failed.
	escape := d.Hang("wait")
	d.Create("main", "wait", "and then")
	escape(tui)
	if out := d.Stopgate("queue", "list").mustPass(t); !strings.Contains(out.Stdout, "running since") {
		t.Errorf("queue list:\n%s", out.Stdout)
	}
	tui.Type("/exit")
	tui.WaitExit()
	if ended := d.waitLetter("session_end", 1); ended.Session != "main" {
		t.Errorf("%+v", ended)
	}
	if out := d.Stopgate("queue", "list").mustPass(t); !strings.Contains(out.Stdout, "Claude Code has ended") {
		t.Errorf("queue list:\n%s", out.Stdout)
	}
	tui.restart()
	d.waitLetter("queue_stale", 2)
	d.waitStale("main", "active", "pending")
	d.wantPrompts("first", "second", "wait")
	d.wantLetters("queue_stale", "session_end", "queue_stale")
}

// Hang has the prompts of that text lead to a tool that does not end by itself. Whoever calls what it
// gives interrupts that as a person does, which fires no hook: the tool is gone then, and the client
// has drawn its screen.
func (d *driven) Hang(prompt string) (escape func(*tui)) {
	path := filepath.Join(d.Tmp, "hangs")
	d.API.On(claudeapi.Last(prompt), claudeapi.Always(bash("echo $$ >"+path+"; timeout 60 tail -f /dev/null")))
	return func(s *tui) {
		d.t.Helper()
		pid := waitPIDs(d.t, path, 1)[0]
		s.Keys("Escape")
		wantGone(d.t, "the tool", pid)
		s.waitStill()
		check(d.t, os.Remove(path))
	}
}

// waitStill waits until the lower part of the screen stays as it is, and gives that. Above it a client
// that waits for an answer may go on blinking.
func (s *tui) waitStill() (seen string) {
	s.t.Helper()
	since := time.Now()
	still := func() bool {
		if now := s.lower(); now != seen {
			seen, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	}
	if !poll(patience, still) {
		s.t.Fatal("the screen does not come to rest")
	}
	return seen
}

// lower is the screen from the first border of an input box or a dialog on.
func (s *tui) lower() string {
	s.t.Helper()
	screen := s.Screen()
	return screen[max(0, strings.Index(screen, "\n────")):]
}

func TestQueueAfterAnInterruptedTurn(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	escape := d.Hang("wait")
	tui := d.Session("main")
	tui.Send("wait")
	escape(tui)
	d.Create("main", "go on")
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("go on"))
	d.wantPrompts("wait", "go on")

	// A queue whose command was interrupted is in the way of another, until a person goes on or it
	// has failed.
	d.Create("main", "wait", "no more")
	escape(tui)
	if out := d.Order("main", "better"); out.Code != 1 || !strings.Contains(out.Stderr, "already has a queue") {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
	}
	tui.Send("let me")
	d.waitLetter("queue_cancelled", 1)
	d.waitStale("main", "active", "pending")
	d.waitLetter("stop", 1)
	d.wantPrompts("wait", "go on", "wait", "let me")
	d.wantLetters("queue_complete", "queue_cancelled", "stop")

	// Or --replace puts another in its place.
	d.Create("main", "wait", "no more")
	escape(tui)
	d.Stopgate("queue", "create", "--replace", "--session", "main", `["better"]`).mustPass(t)
	d.waitLetter("queue_complete", 2)
	d.waitDone("main", answerTo("better"))
	d.wantPrompts("wait", "go on", "wait", "let me", "wait", "better")
	d.wantLetters("queue_complete", "queue_cancelled", "stop", "queue_cancelled", "queue_complete")
}

func TestCommandThatTheAPIRefusesFails(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.API.On(func(r claudeapi.Request) bool {
		_, err := os.Stat(filepath.Join(d.Tmp, "well"))
		return r.LastUserText() == "two" && err != nil
	}, claudeapi.Always(claudeapi.Error(400, "the model is not well")))
	d.Session("main")
	d.Create("main", "one", "two", "three")
	wake := d.waitLetter("queue_failed", 1)
	if q := d.waitStale("main", "done", "failed", "pending"); q.Status != "" {
		t.Errorf("the queue is %s", q.Status)
	}
	d.wantHeadline(wake, `Queue failed: command 2 failed: the model's API failed. Completed: 1/3. Remaining: ["two","three"]`)
	if !strings.Contains(wake.Error, "the model is not well") {
		t.Errorf("the wake says why: %q", wake.Error)
	}
	d.wantPrompts("one", "two")
	d.wantLetters("queue_failed")

	d.Write(filepath.Join(d.Tmp, "well"), "")
	d.Stopgate("queue", "retry", "main").mustPass(t)
	d.waitLetter("queue_complete", 1)
	d.waitDone("main", answerTo("one"), answerTo("two"), answerTo("three"))
	d.wantPrompts("one", "two", "two", "three")
	d.wantLetters("queue_failed", "queue_complete")
}

// freezer stands before the tmux that stopgate calls. At the moment for which a file lies there it
// tells who called, and goes on only when that one is gone.
const freezer = `#!/bin/sh
freeze() {
	mv "$TMPDIR/freeze $1" "$TMPDIR/frozen" 2>/dev/null || return 0
	echo $PPID >"$TMPDIR/pid"
	while kill -0 $PPID 2>/dev/null; do sleep 0.02; done
	exit 1
}
case " $* " in
*" paste-buffer "*) what=paste ;;
*" send-keys "*) what=Enter ;;
*" capture-pane "*) what=look ;;
*) what=question ;;
esac
freeze "before $what"
%s "$@"
code=$?
freeze "after $what"
exit $code
`

// Freezer puts it there.
func (d *driven) Freezer() {
	d.t.Helper()
	path := filepath.Join(d.root, "bin", "tmux")
	d.Write(path, fmt.Sprintf(freezer, d.lookPath("tmux")))
	check(d.t, os.Chmod(path, 0o755))
}

// freeze has whoever types next stopped at that moment.
func (d *driven) freeze(moment string) {
	d.t.Helper()
	d.Write(filepath.Join(d.Tmp, "freeze "+moment), "")
}

// killFrozen kills it when it is there.
func (d *driven) killFrozen() {
	d.t.Helper()
	path := filepath.Join(d.Tmp, "pid")
	pid := waitPIDs(d.t, path, 1)[0]
	check(d.t, syscall.Kill(pid, syscall.SIGKILL))
	wantGone(d.t, "the driver", pid)
	check(d.t, os.Remove(path))
}

func TestDriverThatIsKilledIsRecoveredOrReported(t *testing.T) {
	t.Parallel()
	d := newDriven(t)
	d.Freezer()
	d.Session("main")
	var prompts []string
	complete, failed := 0, 0
	kill := func(moment string) (first, second string) {
		first, second = "first, "+moment, "second, "+moment
		answer := make(chan struct{})
		d.API.On(claudeapi.Last(first), claudeapi.Hold(answer, echo))
		d.Create("main", first, second)
		d.waitActive("main", 1, "confirmed")
		d.freeze(moment)
		close(answer)
		d.killFrozen()
		prompts = append(prompts, first)
		return first, second
	}
	done := func(first, second string) {
		t.Helper()
		complete++
		d.waitLetter("queue_complete", complete)
		d.waitDone("main", answerTo(first), answerTo(second))
		prompts = append(prompts, second)
		d.wantPrompts(prompts...)
	}

	// Nothing was typed: the client's word that it waits is the next hook.
	done(kill("before look"))

	// It may have been typed, and is not there.
	kill("before paste")
	failed++
	if wake := d.waitLetter("queue_failed", failed); !strings.Contains(wake.Headline, "the process that typed it was killed") {
		t.Errorf("the wake says %q", wake.Headline)
	}
	d.waitStale("main", "done", "failed")
	d.wantPrompts(prompts...)

	// It is in the input box, which keeps the client from saying that it waits. The watcher has it
	// sent off.
	for _, moment := range []string{"after paste", "before Enter"} {
		done(kill(moment))
	}

	// The client has it, and goes on by itself.
	done(kill("after Enter"))
}
