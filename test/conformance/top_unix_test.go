//go:build unix

package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// shipBook has a pipeline that asks a person, and one with an agent that stays at its work.
const shipBook = `[command.ship]
run = { pipeline = "ship" }

[command.write]
run = { pipeline = "write" }

[pipeline.ship]

[[pipeline.ship.step]]
name = "build"
run = "echo built it"
on_done = "ask"

[[pipeline.ship.step]]
name = "ask"
approval = { title = "Deploy to production?", options = [{ name = "approve", step = "deploy" }, { name = "reject", fail = true }] }

[[pipeline.ship.step]]
name = "deploy"
run = "echo deployed it; sleep 1000"

[pipeline.write]

[[pipeline.write.step]]
name = "poem"
run = { agent = "poet" }

[agent.poet]
run = "claude"
prompt = "Write a poem."
`

// window is a terminal of a person, in a tmux of their own.
type window struct {
	*daemonScene
	socket string
}

// newTop is a project with shipBook, and no daemon yet.
func newTop(t *testing.T) *daemonScene {
	t.Helper()
	environtest.Need(t, "tmux")
	p := newDaemonScene(t, shipBook)
	client, err := standInClient()
	check(t, err)
	check(t, os.Symlink(client, filepath.Join(p.home, "claude")))
	p.write(filepath.Join(p.home, "standin-model"), "#!/bin/sh\nexec sleep 1000\n")
	check(t, os.Chmod(filepath.Join(p.home, "standin-model"), 0o700))
	return p
}

// open runs a shell's script in a window.
func (p *daemonScene) open(columns, lines int, script string, env ...string) *window {
	p.t.Helper()
	w := &window{p, filepath.Join(p.state, fmt.Sprintf("person-%d.sock", columns))}
	cmd := w.command("new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines), "-c", p.root, script)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	p.t.Cleanup(func() { _ = w.command("kill-server").Run() })
	return w
}

func (w *window) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", w.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(w.env(), "SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(stopgate)+":"+w.home+":"+os.Getenv("PATH"))
	return cmd
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *window) press(keys ...string) {
	w.t.Helper()
	for _, key := range keys { // one by one: at once, tmux would take them for pasted text
		w.tmux("send-keys", key)
	}
}

// sees waits until all words are on the screen, and none of those that begin with "no ".
func (w *window) sees(words ...string) string {
	w.t.Helper()
	screen := ""
	w.t.Cleanup(func() {
		if w.t.Failed() && screen != "" {
			w.t.Logf("the screen:\n%s", screen)
			screen = ""
		}
	})
	eventually(w.t, fmt.Sprintf("%q can be seen", words), func() bool {
		screen = w.tmux("capture-pane", "-p")
		for _, word := range words {
			unwanted, is := strings.CutPrefix(word, "no ")
			if is && strings.Contains(screen, unwanted) || !is && !strings.Contains(screen, word) {
				return false
			}
		}
		return true
	})
	seen := screen
	screen = ""
	return seen
}

const topScript = `echo BEFORE; stopgate top; echo left=$?; exec cat`

func TestTop(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			p := newTop(t)
			w := p.open(size[0], size[1], topScript)
			w.sees("the daemon is not running", "stopgate daemon start")
			p.wake()
			w.sees("0 need you", "Nothing needs you, and nothing runs.")

			agent := p.startOnly("write").Agent.ID
			w.sees("1 running", "* running", "write ")
			id := p.begins("ship")
			w.sees("1 needs you", "> ? decide", "Deploy to production?", "write ")

			w.press("/", "s", "h", "i", "p")
			w.sees("/ship_", "? decide", "no write ")
			w.press("Escape")
			w.sees("write ", "no /ship")

			w.press("g", "Enter")
			w.sees("steps", "completed", "build", "decision", "waiting", "esc back")
			w.press("Escape")
			w.sees("STATE", "enter details")

			w.press("d")
			w.sees("> 1  approve", "2  reject")
			w.press("1")
			w.sees("Send this answer?")
			w.press("y")
			w.sees("0 need you", "2 running", "answered")
			p.reaches(id, "deploy", "running")
			w.sees("deploy")

			w.press("/", "s", "h", "i", "p", "Enter", "l")
			w.sees("log of ship", "built it", "deployed it")
			w.press("Escape")
			w.sees("filter: ship", "enter details")
			w.press("Escape")
			w.sees("no filter: ship", "write ")
			w.press("3")
			w.sees("> * running", "poet")
			w.press("a")
			w.sees("● Hello.", "no STATE")
			w.press("C-b", "d")
			w.sees("poet", "STATE")
			if !p.runsClient(agent) {
				t.Error("the agent has ended")
			}

			w.tmux("resize-window", "-x", "20", "-y", "5")
			w.sees("0 need you · 2 runn…")
			w.tmux("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
			w.sees("STATE", "q quit")

			p.kill()
			w.sees("daemon lost", "poet")
			p.wake()
			w.sees("no daemon lost", "poet")
			w.press("q")
			w.sees("BEFORE", "left=0", "no STATE")
		})
	}
}

// runsClient reports whether an agent that is a client still runs.
func (p *daemonScene) runsClient(agent string) bool {
	p.t.Helper()
	a, err := p.Agent(p.t.Context(), agent)
	check(p.t, err)
	return a.Status == "running"
}

// However it ends, the terminal is as it was before.
func TestTopRestoresTheTerminal(t *testing.T) {
	p := newTop(t)
	p.wake()
	w := p.open(80, 24, `echo BEFORE; sh -c 'echo $$ > "$HOME/pid"; exec stopgate top'; echo left=$?; stty -a > "$HOME/stty"; exec cat`)
	w.sees("Nothing needs you")
	pid, err := os.ReadFile(filepath.Join(p.home, "pid"))
	check(t, err)
	check(t, syscall.Kill(atoi(t, strings.TrimSpace(string(pid))), syscall.SIGTERM))
	w.sees("BEFORE", "left=0", "no STATE")
	var modes string
	eventually(t, "the terminal's modes are known", func() bool {
		text, _ := os.ReadFile(filepath.Join(p.home, "stty"))
		modes = string(text)
		return strings.Contains(modes, "echo")
	})
	for _, mode := range []string{" icanon", " echo ", " isig"} {
		if !strings.Contains(strings.ReplaceAll(modes, "\n", " "), mode) {
			t.Errorf("%s is off:\n%s", mode, modes)
		}
	}
	if got := w.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}"); got != "1 0\n" {
		t.Errorf("cursor and alternate screen: %s", got)
	}
}

// Ctrl-Z leads to the shell, and fg back.
func TestTopIsSuspended(t *testing.T) {
	p := newTop(t)
	p.wake()
	w := p.open(80, 24, "exec sh -i", "PS1=ready>", "ENV=")
	w.sees("ready>")
	w.tmux("send-keys", "stopgate top", "Enter")
	w.sees("Nothing needs you")
	w.press("C-z")
	w.sees("ready>", "no Nothing needs you")
	w.tmux("send-keys", "fg", "Enter")
	w.sees("Nothing needs you", "no ready>")
	p.begins("ship")
	w.sees("1 needs you")
	w.press("q")
	w.sees("ready>", "no STATE")
}

// Nothing is told by colour alone, and without colours none is drawn.
func TestTopWithoutColours(t *testing.T) {
	p := newTop(t)
	p.wake()
	p.begins("ship")
	const yellow = "\x1b[33m"
	for width, setting := range map[int]string{80: "NO_COLOR=1", 81: "NO_COLOR="} {
		w := p.open(width, 24, topScript, setting)
		w.sees("1 needs you", "> ? decide")
		screen := w.tmux("capture-pane", "-e", "-p")
		if coloured := strings.Contains(screen, yellow); coloured != (width == 81) {
			t.Errorf("%s: %q", setting, screen)
		}
	}
}

// An agent may look, and not answer.
func TestTopInAnAgentsShell(t *testing.T) {
	p := newTop(t)
	p.wake()
	p.begins("ship")
	w := p.open(80, 24, topScript, "CLAUDECODE=1")
	w.sees("1 needs you", "> ? decide")
	w.press("d")
	w.sees("agents cannot answer decisions", "CLAUDECODE is set")
}

// Whether anything is enforced stands in the first line, and why not in a list. The program that draws is
// not the one that the hooks call.
func TestTopTellsWhatIsEnforced(t *testing.T) {
	p := newTop(t)
	p.wake()
	p.does("hooks", "install")
	w := p.open(80, 24, topScript)
	w.sees("0 need you", "· enforced")
	p.does("hooks", "uninstall", "--yes")
	w.press("r")
	w.sees("NOT ENFORCED")
	w.press("7")
	w.sees("! not enforced", "hooks are not installed")
	w.press("Enter")
	w.sees("fix       stopgate hooks install")
}
