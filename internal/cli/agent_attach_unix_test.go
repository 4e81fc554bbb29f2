//go:build unix

package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// attachment is a person's tmux, and the one with the agent.
type attachment struct {
	t     *testing.T
	dir   string
	env   []string
	agent string // the agent's server
}

func newAttachment(t *testing.T) *attachment {
	environtest.Need(t, "tmux")
	check(t, addProgram())
	dir, err := os.MkdirTemp("", "sg") // the path of a socket must be short
	check(t, err)
	a := &attachment{t: t, dir: dir, agent: filepath.Join(dir, "agent.sock")}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TMUX") && name != "CLAUDECODE" {
			a.env = append(a.env, entry)
		}
	}
	a.env = append(a.env, "HOME="+dir, "STOPGATE_STATE_DIR="+filepath.Join(dir, "state"), "TERM=screen", "STOPGATE_AGENT_ID=", "OJ_AGENT_ID=", "GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() {
		for _, name := range []string{"agent.sock", "person.sock"} {
			_ = exec.Command("tmux", "-S", filepath.Join(dir, name), "kill-server").Run() // it may have ended
		}
		_ = daemonapi.New(filepath.Join(dir, "state", "daemon.sock"), "test").Stop(context.Background(), true)
		_ = os.RemoveAll(dir)
	})
	return a
}

func (a *attachment) run(name string, args ...string) string {
	a.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = a.env, a.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (a *attachment) person(args ...string) string {
	a.t.Helper()
	return a.run("tmux", append([]string{"-S", filepath.Join(a.dir, "person.sock"), "-f", "/dev/null"}, args...)...)
}

// sees waits until the person sees something.
func (a *attachment) sees(what string) string {
	a.t.Helper()
	screen := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if screen = a.person("capture-pane", "-p", "-t", "person:"); strings.Contains(screen, what) {
			return screen
		}
	}
	a.t.Fatalf("%q is not to be seen:\n%s", what, screen)
	return ""
}

// begin starts an agent in a terminal, and the daemon that knows of it.
func (a *attachment) begin() {
	a.t.Helper()
	a.run("tmux", "-S", a.agent, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "20", "-s", "stopgate-worker-0d9a4d52", "echo THE-AGENT; exec cat")
	file := filepath.Join(a.dir, "client.json")
	text := `{"id":"0d9a4d52-6f1e-5c3b-9a77-2f1d3c4b5a69","name":"worker","status":"running","client":true,"ready":true,"terminal":{"socket":"` + a.agent + `","session":"stopgate-worker-0d9a4d52"}}`
	check(a.t, os.WriteFile(file, []byte(text), 0o600))
	check(a.t, os.MkdirAll(filepath.Join(a.dir, ".gauntlet", "runbooks"), 0o755)) // a project
	a.run("stopgate", "daemon", "start")
	id := strings.Fields(a.run("stopgate", "start", "build"))[1]
	a.run("stopgate", "pipeline", "resume", id, "-m", "agent "+file)
}

// A person in a tmux of their own goes to an agent's terminal, types, and leaves it.
func TestAttach(t *testing.T) {
	a := newAttachment(t)
	a.begin()
	a.person("new-session", "-d", "-x", "90", "-y", "24", "-s", "person", "stopgate agent attach 0d9a; echo left=$?; exec cat")
	a.sees("THE-AGENT")
	a.sees("Ctrl-b Ctrl-b d detaches")
	a.person("send-keys", "-t", "person:", "typed", "Enter")
	a.sees("typed\ntyped")
	a.person("send-keys", "-t", "person:", "C-b")
	a.person("send-keys", "-t", "person:", "d") // at once, tmux would take them for pasted text
	a.sees("left=0")
	if screen := a.run("tmux", "-S", a.agent, "capture-pane", "-p", "-t", "stopgate-worker-0d9a4d52:"); !strings.Contains(screen, "typed\ntyped") {
		t.Errorf("the agent sees:\n%s", screen)
	}
}

func TestAttachReadOnly(t *testing.T) {
	a := newAttachment(t)
	a.begin()
	a.person("new-session", "-d", "-x", "90", "-y", "24", "-s", "person", "stopgate agent attach --read-only 0d9a; echo left=$?; exec cat")
	a.sees("THE-AGENT")
	a.sees("detaches")
	a.person("send-keys", "-t", "person:", "typed", "Enter")
	a.sees("[stopgate-") // the first key was taken: it ends the message
	a.person("send-keys", "-t", "person:", "C-b")
	a.person("send-keys", "-t", "person:", "d")
	a.sees("left=0")
	if screen := a.run("tmux", "-S", a.agent, "capture-pane", "-p", "-t", "stopgate-worker-0d9a4d52:"); strings.Contains(screen, "typed") {
		t.Errorf("the agent sees:\n%s", screen)
	}
}

// Of an agent that has ended, one sees what it said last.
func TestAttachTooLate(t *testing.T) {
	a := newAttachment(t)
	a.begin()
	a.run("tmux", "-S", a.agent, "kill-server")
	dir := filepath.Join(a.dir, "state", "agents", "0d9a4d52-6f1e-5c3b-9a77-2f1d3c4b5a69")
	check(t, os.MkdirAll(dir, 0o700))
	last := `{"message":"I am done.","transcript":"","cwd":"","prompt":"","time":"2026-01-30T08:14:09Z"}`
	check(t, os.WriteFile(filepath.Join(dir, "last.json"), []byte(last), 0o600))
	a.person("new-session", "-d", "-x", "90", "-y", "24", "-s", "person", "stopgate agent attach 0d9a; echo left=$?; exec cat")
	screen := a.sees("left=1")
	for _, want := range []string{"its last message:\n  I am done.", "stopgate: agent 0d9a4d52 worker has ended", "stopgate agent logs 0d9a4d52"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not to be seen:\n%s", want, screen)
		}
	}
}
