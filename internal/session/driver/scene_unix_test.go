//go:build unix

package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/standin"
)

// long bounds what a test waits for; nothing takes that long.
const long = 3 * time.Minute

// main is the session of the agent warden.
const mainSession = "warden-main-4"

const registryText = `{"agents": [{"agent_id": "warden", "session_name": "warden-main-*", "working_directory": "/srv/warden"}]}`

// patient is a pace at which nothing is given up, impatient one at which nothing is
// waited for in vain.
var (
	patient   = Pace{Ready: long, Confirm: long, Last: long, Start: long, Report: long}
	impatient = Pace{Ready: time.Millisecond, Confirm: 20 * time.Millisecond, Last: 20 * time.Millisecond, Start: time.Millisecond, Report: time.Millisecond}
)

var (
	check      = checktest.OK
	eventually = checktest.Eventually
	exists     = checktest.Exists
)

// scene is a person's machine: a tmux server, a state directory and a registry.
type scene struct {
	t      *testing.T
	state  string
	config string
	dir    string // of the tmux server, whose socket needs a short path
	env    []string
	pace   Pace
	screen config.Terminal
	faulty bool // something is logged
	// delivering makes a process of every wish that somebody delivers; else they are
	// only counted.
	delivering bool
	working    sync.WaitGroup

	mu       sync.Mutex
	ticks    int
	calls    int
	driven   []string
	sends    int
	driveErr error
	sendErr  error
	log      []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	program := environtest.Need(t, "tmux")
	dir, err := os.MkdirTemp("", "tmux")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &scene{
		t: t, dir: dir, pace: patient,
		state:  filepath.Join(t.TempDir(), "state"),
		config: t.TempDir(),
		env:    []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "SHELL=/bin/sh", "TERM=xterm-256color", "TMUX_TMPDIR=" + dir},
	}
	s.register(registryText)
	t.Cleanup(func() {
		_ = s.command("kill-server").Run() // nobody may have started it
		s.working.Wait()
		if len(s.log) > 0 && !s.faulty {
			t.Errorf("logged: %q", s.log)
		}
	})
	return s
}

func (s *scene) register(text string) {
	s.t.Helper()
	check(s.t, os.WriteFile(filepath.Join(s.config, "agent-registry.json"), []byte(text), 0o600))
}

func (s *scene) socket() string { return filepath.Join(s.dir, "s") }

func (s *scene) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", slices.Concat([]string{"-u", "-S", s.socket(), "-f", "/dev/null"}, args)...)
	cmd.Env = s.env
	return cmd
}

func (s *scene) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// now is a clock that is never the same twice.
func (s *scene) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	return time.Date(2026, 2, 20, 12, 0, 0, s.ticks*int(time.Millisecond), time.UTC)
}

// driver is that of a process with this environment.
func (s *scene) driver(env ...string) *Driver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Driver{
		StateDir: s.state, ConfigDir: s.config, Environ: slices.Concat(s.env, env), Now: s.now,
		Screen: s.screen, Pace: s.pace, Drive: s.drive, Send: s.send,
		Log: func(format string, args ...any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, fmt.Sprintf(format, args...))
		},
	}
}

func (s *scene) drive(session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.driven = append(s.driven, session)
	if s.delivering && s.driveErr == nil {
		s.working.Go(func() {
			err := s.driver().Deliver(s.t.Context(), session)
			if err != nil && s.t.Context().Err() == nil && !errors.Is(err, queue.ErrNone) { // the queue may be over by then
				s.t.Errorf("deliver: %v", err)
			}
		})
	}
	return s.driveErr
}

func (s *scene) send() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sends++
	return s.sendErr
}

// senders is how many were started.
func (s *scene) senders() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sends
}

// deliver does what the process does that a hook started.
func (s *scene) deliver() {
	s.t.Helper()
	check(s.t, s.driver().Deliver(s.t.Context(), mainSession))
}

func (s *scene) wantDriven(n int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.driven) != n {
		s.t.Errorf("driven %q, want %d times", s.driven, n)
	}
}

// queue is the session's queue.
func (s *scene) queue(session string) queue.Queue {
	s.t.Helper()
	q, err := queue.NewStore(s.state).Load(session)
	check(s.t, err)
	return q
}

// file is one of the files of a session's queue: "", ".done", ".stale", ".corrupt".
func (s *scene) file(session, suffix string) string {
	return filepath.Join(s.state, "logs", "queues", "queue-"+session+suffix+".json")
}

func (s *scene) ended(session, suffix string) queue.Queue {
	s.t.Helper()
	if exists(s.file(session, "")) {
		s.t.Errorf("session %s still has a queue: %+v", session, s.queue(session))
	}
	text, err := os.ReadFile(s.file(session, suffix))
	check(s.t, err)
	q, err := queue.Parse(text)
	check(s.t, err)
	return q
}

// letters are those in the outbox, in their order.
func (s *scene) letters() []wake.Letter {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.state, "outbox", "*", "0*.json"))
	check(s.t, err)
	var all []wake.Letter
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(s.t, err)
		var l wake.Letter
		check(s.t, json.Unmarshal(text, &l))
		all = append(all, l)
	}
	return all
}

// wantLetters compares the kinds of the letters, and gives the last.
func (s *scene) wantLetters(kinds ...wake.Kind) wake.Letter {
	s.t.Helper()
	all := s.letters()
	var got []wake.Kind
	for _, l := range all {
		got = append(got, l.Kind)
		if l.Session == "" || l.AgentID != "warden" || l.Workspace != "/srv/warden" {
			s.t.Errorf("a letter of session %q to %q about %q", l.Session, l.AgentID, l.Workspace)
		}
	}
	if !slices.Equal(got, kinds) {
		s.t.Fatalf("letters %q, want %q", got, kinds)
	}
	if len(all) == 0 {
		return wake.Letter{}
	}
	return all[len(all)-1]
}

// window is a pane with a client, or with something that stands in for one.
type window struct {
	terminal.Pane
	*standin.Director // of the stand-in
	s                 *scene
	session           string // of tmux
	id                string // the client's session
	prompts           int
}

type looks = standin.Looks

const (
	dialogScreen = standin.DialogScreen
	shellScreen  = standin.ShellScreen
)

const newPane = "#{pid} #{pane_id}"

// window makes a session in which nothing happens.
func (s *scene) window(session string) *window {
	s.t.Helper()
	return s.at(session, s.tmux("new-session", "-d", "-P", "-F", newPane, "-s", session, "sleep 1000"))
}

// beside makes a second pane in the same session.
func (w *window) beside() *window {
	w.s.t.Helper()
	return w.s.at(w.session, w.s.tmux("split-window", "-d", "-P", "-F", newPane, "-t", w.ID, "sleep 1000"))
}

func (s *scene) at(session, printed string) *window {
	s.t.Helper()
	pid, id, _ := strings.Cut(printed, " ")
	number, err := strconv.Atoi(pid)
	check(s.t, err)
	return &window{
		Pane: terminal.Pane{Server: terminal.Server{Socket: s.socket(), Environ: s.env}, PID: number, ID: id},
		s:    s, session: session, id: "client-" + session + id,
	}
}

// started is a session whose client has told of itself.
func (s *scene) started(session string) *window {
	s.t.Helper()
	w := s.window(session)
	w.start("startup")
	return w
}

// client makes a session with a stand-in, which has not told of itself.
func (s *scene) client(session string, l looks) *window {
	s.t.Helper()
	var w *window
	socket := filepath.Join(s.dir, "c"+strconv.Itoa(int(s.now().UnixMilli())))
	director := standin.Direct(s.t, socket, func(variable, program string) {
		w = s.at(session, s.tmux("new-session", "-d", "-P", "-F", newPane, "-s", session, "-x", "140", "-y", "50", "-e", variable, program))
	})
	w.Director = director
	s.working.Go(w.Listen)
	w.Show(l)
	return w
}

// ready is a session with a stand-in that has told of itself and waits for a prompt.
func (s *scene) ready(session string) *window {
	s.t.Helper()
	w := s.client(session, looks{})
	w.start("startup")
	return w
}

// bytes is everything that the stand-in was given so far.
func (w *window) bytes() string {
	w.s.t.Helper()
	return w.Given(func() { w.s.tmux("send-keys", "-t", w.ID, "-H", "01") })
}

// wantBytes compares everything that was typed into the pane with what should have
// been.
func (w *window) wantBytes(want string) {
	w.s.t.Helper()
	if got := w.bytes(); got != want {
		w.s.t.Errorf("the pane got %.200q, want %.200q", got, want)
	}
}

const enter = "\r"

func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// live makes the stand-in call hooks as the client does for what is sent off.
func (w *window) live() *window {
	w.s.working.Go(func() {
		for text := range w.Sent {
			w.live1(text)
		}
	})
	return w
}

func (w *window) live1(text string) {
	switch w.prompts++; text {
	case "/clear":
		w.hook("session-end.clear", nil)
		w.id += "'"
		w.hook("session-start.clear", nil)
	case "/compact":
		prompt := fields{"prompt_id": fmt.Sprintf("prompt-%d", w.prompts)}
		w.hook("pre-compact", prompt)
		w.hook("session-start.compact", prompt)
	default:
		id := fmt.Sprintf("prompt-%d", w.prompts)
		w.prompt(id, text)
		w.stop(id, "answer to "+text)
	}
}

func (w *window) environ() []string {
	return []string{"CLAUDE_CODE_ENTRYPOINT=cli", fmt.Sprintf("TMUX=%s,%d,0", w.Server.Socket, w.PID), "TMUX_PANE=" + w.ID}
}

type fields map[string]any

// payload is a captured one of this client; nil removes a field.
func (w *window) payload(name string, changes fields) hook.Payload {
	w.s.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "harness", "hook", "testdata", "payloads", name+".json"))
	check(w.s.t, err)
	doc := fields{}
	check(w.s.t, json.Unmarshal(text, &doc))
	doc["session_id"] = w.id
	maps.Copy(doc, changes)
	maps.DeleteFunc(doc, func(_ string, value any) bool { return value == nil })
	text, err = json.Marshal(doc)
	check(w.s.t, err)
	payload, err := hook.Decode(text, "")
	check(w.s.t, err)
	return payload
}

// hook is a hook call of the client in this window that nobody objected to.
func (w *window) hook(name string, changes fields) Report {
	w.s.t.Helper()
	return w.call(Call{Payload: w.payload(name, changes)})
}

func (w *window) call(c Call, env ...string) Report {
	w.s.t.Helper()
	w.s.mu.Lock()
	w.s.calls++
	c.ID = fmt.Sprintf("call-%d", w.s.calls)
	w.s.mu.Unlock()
	return w.s.driver(slices.Concat(w.environ(), env)...).Hook(w.s.t.Context(), c)
}

func (w *window) start(source string) Report {
	w.s.t.Helper()
	return w.hook("session-start."+source, nil)
}

func (w *window) stop(prompt, message string) Report {
	w.s.t.Helper()
	return w.hook("stop.first", fields{"prompt_id": prompt, "last_assistant_message": message})
}

func (w *window) prompt(id, text string) Report {
	w.s.t.Helper()
	return w.hook("user-prompt-submit.typed-in-tmux", fields{"prompt_id": id, "prompt": text})
}

func (w *window) idle(prompt string) Report {
	w.s.t.Helper()
	return w.hook("notification.idle-prompt", fields{"prompt_id": prompt})
}

// newQueue is a queue for this window of which nothing is typed.
func (w *window) newQueue(commands ...string) queue.Queue {
	q := queue.New(w.session, fmt.Sprintf("queue-%d", w.s.now().UnixMilli()), commands, w.s.now())
	place := placeOf(w.Pane)
	q.Stopgate.Place = &place
	return q
}

// give gives the session such a queue.
func (w *window) give(commands ...string) {
	w.s.t.Helper()
	check(w.s.t, queue.NewStore(w.s.state).Create(w.session, w.newQueue(commands...)))
}

// order creates a queue as a person or an agent does.
func (w *window) order(commands ...string) (queue.Queue, error) {
	w.s.t.Helper()
	return w.s.outside().Create(w.s.t.Context(), Order{Session: w.session, Commands: commands})
}

// outside is the driver of a process outside the sessions.
func (s *scene) outside() *Driver { return s.driver(fmt.Sprintf("TMUX=%s,1,0", s.socket())) }

// files are all that lie below a directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// noTmux puts a tmux on the path that nobody may call.
func (s *scene) noTmux() (path string, wantUncalled func()) {
	s.t.Helper()
	dir := s.t.TempDir()
	called := filepath.Join(dir, "called")
	check(s.t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\necho \"$@\" >>'"+called+"'\nexit 1\n"), 0o755))
	return "PATH=" + dir + ":/usr/bin:/bin", func() {
		s.t.Helper()
		if text, err := os.ReadFile(called); err == nil {
			s.t.Errorf("tmux was called: %s", text)
		}
	}
}
