//go:build unix

package pictures

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

// shownHome is the home directory in the pictures. The real one has a path of the same length,
// so that lines break alike.
const shownHome = "/home/ada"

// patience ends a recording that hangs.
const patience = 2 * time.Minute

// stage is a home with a project: a shop whose cart lacks the discount that its test demands.
type stage struct {
	t       *testing.T
	home    string
	project string
	env     []string
	windows int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	environtest.Need(t, "tmux")
	environtest.Need(t, "git")
	home := filepath.Join("/tmp", strings.ToLower(rand.Text()[:4]))
	check(t, os.Mkdir(home, 0o700))
	t.Cleanup(func() { removeAll(t, home) })

	s := &stage{t: t, home: home, project: filepath.Join(home, "shop")}
	bin := filepath.Join(home, ".local", "bin")
	check(t, os.MkdirAll(bin, 0o700))
	check(t, programs.Build(bin))
	s.env = []string{
		"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "SHELL=/bin/sh", "LANG=C.UTF-8",
		"TERM=xterm-256color", "COLORTERM=truecolor", "TMUX_TMPDIR=" + home,
		"GOCACHE=" + os.Getenv("GOCACHE"), "GOPATH=" + os.Getenv("GOPATH"), "GOFLAGS=" + os.Getenv("GOFLAGS") + " -vet=off", "CGO_ENABLED=0",
	}
	s.write(filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n")
	for name, text := range shop {
		s.write(filepath.Join(s.project, name), text)
	}
	s.run("git", "init", "--quiet")
	s.run("git", "add", "--all")
	s.run("git", "commit", "--quiet", "--message", "cart: add up prices")
	return s
}

// removeAll removes a home in which a program that is about to end may still write.
func removeAll(t *testing.T, home string) {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := os.RemoveAll(home)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// shop is the project.
var shop = map[string]string{
	"go.mod":  "module shop\n\ngo 1.24\n",
	"cart.go": "package shop\n\n// Total adds up the prices in a cart.\nfunc Total(prices ...int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum\n}\n",
	"cart_test.go": `package shop

import "testing"

func TestTotal(t *testing.T) {
	for sum, want := range map[int]int{99: 99, 100: 90, 200: 180} {
		if got := Total(sum-1, 1); got != want {
			t.Errorf("Total of a cart of %d is %d, want %d", sum, got, want)
		}
	}
}
`,
}

// The agent's two tries: the first forgets that the discount begins at 100.
const (
	before = "\treturn sum\n"
	wrong  = "\tif sum > 100 {\n\t\treturn sum * 9 / 10\n\t}\n\treturn sum\n"
	right  = "\tif sum >= 100 {\n\t\treturn sum * 9 / 10\n\t}\n\treturn sum\n"
)

func (s *stage) write(path, text string) {
	s.t.Helper()
	check(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(s.t, os.WriteFile(path, []byte(text), 0o600))
}

// edit changes cart.go.
func (s *stage) edit(from, to string) {
	s.t.Helper()
	path := filepath.Join(s.project, "cart.go")
	text, err := os.ReadFile(path)
	check(s.t, err)
	s.write(path, strings.Replace(string(text), from, to, 1))
}

func (s *stage) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(s.home, ".local", "bin", name)
	if _, err := os.Stat(path); err == nil {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	return cmd
}

func (s *stage) run(name string, args ...string) {
	s.t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// stop calls the hook as Claude Code does, and gives its answer.
func (s *stage) stop(prompt string) (answer struct{ Decision, Reason, SystemMessage string }) {
	s.t.Helper()
	payload, err := json.Marshal(map[string]any{
		"session_id": "5c3b9a77", "prompt_id": prompt, "transcript_path": filepath.Join(s.home, "transcript.jsonl"),
		"cwd": s.project, "hook_event_name": "Stop", "stop_hook_active": false,
	})
	check(s.t, err)
	cmd := s.command("stopgate", "hook", "Stop")
	cmd.Stdin = strings.NewReader(string(payload))
	out, err := cmd.Output()
	check(s.t, err)
	if len(out) > 0 {
		check(s.t, json.Unmarshal(out, &answer))
	}
	return answer
}

// window is a terminal, which is a session on a tmux server of its own.
type window struct {
	*stage
	socket string
}

func (s *stage) open(columns, lines int, command ...string) *window {
	s.t.Helper()
	s.windows++
	w := &window{s, filepath.Join(s.home, fmt.Sprintf("tmux-%d", s.windows))}
	s.t.Cleanup(func() { _, _ = w.try("kill-server") })
	w.tmux(slices.Concat([]string{
		"start-server", ";",
		"set-option", "-g", "default-terminal", "tmux-256color", ";",
		"set-option", "-g", "status", "off", ";",
		"set-option", "-g", "remain-on-exit", "on", ";",
		"set-option", "-g", "remain-on-exit-format", "", ";",
		"new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "-c", s.project,
	}, command)...)
	return w
}

func (w *window) try(args ...string) (string, error) {
	cmd := w.stage.command("tmux", append([]string{"-u", "-S", w.socket, "-f", "/dev/null"}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// screen is what the window shows, at home in the shown home.
func (w *window) screen() Screen {
	w.t.Helper()
	return w.develop(w.tmux("capture-pane", "-e", "-p"))
}

// develop makes a screen of what tmux has captured. Few fonts have the corner that Claude Code draws.
func (w *window) develop(captured string) Screen {
	return Parse(strings.NewReplacer(w.home, shownHome, "⎿", "└").Replace(captured))
}

// wait waits until the window's text fulfils a condition.
func (w *window) wait(what string, done func(text string) bool) Screen {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		screen := w.screen()
		if done(screen.String()) {
			return screen
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s does not happen:\n%s", what, screen)
		}
	}
}

func (w *window) ended(string) bool {
	return strings.TrimSpace(w.tmux("display-message", "-p", "#{pane_dead}")) == "1"
}
