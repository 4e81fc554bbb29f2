//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

// place is a machine with stopgate on it: programs, a state directory, a project.
type place struct{ bin, state, root string }

func newPlace(t *testing.T) place {
	t.Helper()
	bin := t.TempDir()
	check(t, programs.Build(bin))
	state, err := os.MkdirTemp("", "s") // a socket's path is short
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(state)) })
	return place{bin, state, t.TempDir()}
}

// runbook gives the project a command "go" of two steps. Each counts itself in a file,
// and the first waits for somebody to write to the fifo "gate".
func (p place) runbook(t *testing.T) {
	t.Helper()
	dir := filepath.Join(p.root, ".gauntlet", "runbooks")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "go.toml"), []byte(`
[command.go]
run = { pipeline = "go" }

[pipeline.go]

[[pipeline.go.step]]
name = "one"
run = "echo $$ > pid; echo one >> ran; read line < gate; echo $line"
on_done = "two"

[[pipeline.go.step]]
name = "two"
run = "echo two >> ran"
`), 0o600))
	check(t, syscall.Mkfifo(filepath.Join(p.root, "gate"), 0o600))
}

// open lets the first step go on.
func (p place) open(t *testing.T) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(p.root, "gate"), []byte("open\n"), 0o600))
}

func (p place) ran(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.root, "ran"))
	check(t, err)
	return strings.ReplaceAll(string(text), "\n", " ")
}

type daemonProcess struct {
	*exec.Cmd
	*daemonapi.Client
	ready map[string]any
}

// start starts a daemon in the background, and waits for what it says.
func (p place) start(t *testing.T) *daemonProcess {
	t.Helper()
	read, write, err := os.Pipe()
	check(t, err)
	defer read.Close()
	cmd := exec.Command(filepath.Join(p.bin, "stopgated"), "daemon")
	cmd.Env = []string{"HOME=" + p.state, "PATH=" + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + p.state, "STOPGATED_READY_FD=3"}
	cmd.ExtraFiles = []*os.File{write}
	cmd.Stderr = os.Stderr
	check(t, cmd.Start())
	check(t, write.Close())
	d := &daemonProcess{Cmd: cmd, Client: daemonapi.New(filepath.Join(p.state, "daemon.sock"), "test")}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	line, err := bufio.NewReader(read).ReadBytes('\n')
	check(t, err)
	check(t, json.Unmarshal(line, &d.ready))
	return d
}

func (p place) ready(t *testing.T) *daemonProcess {
	t.Helper()
	d := p.start(t)
	if d.ready["ready"] != true {
		t.Fatalf("%v", d.ready)
	}
	return d
}

// end waits until the daemon has ended.
func (d *daemonProcess) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	check(t, d.Process.Signal(signal))
	err := d.Wait()
	if (err != nil) != (signal == syscall.SIGKILL) {
		t.Errorf("%v: %v", signal, err)
	}
}

const anID = "0123456789abcdef"

// begin starts the project's command and waits until its first step runs.
func (d *daemonProcess) begin(t *testing.T, p place) {
	t.Helper()
	_, err := d.Client.Start(t.Context(), daemonapi.Start{ID: anID, Project: p.root, Cwd: p.root, Command: "go"})
	check(t, err)
	// It opens the fifo to read after it has counted itself.
	gate, err := os.OpenFile(filepath.Join(p.root, "gate"), os.O_WRONLY, 0)
	check(t, err)
	keepOpen(t, gate)
}

// keepOpen lets nobody find the fifo at its end before something was written.
func keepOpen(t *testing.T, f *os.File) { t.Cleanup(func() { f.Close() }) }

// reach waits until the pipeline is at a step.
func (d *daemonProcess) reach(t *testing.T, step string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for _, err := range d.Events(ctx, anID, 0) {
		if o, err := d.Owner(t.Context(), anID); err == nil && o.Step == step {
			return
		}
		if err != nil {
			break
		}
	}
	o, err := d.Owner(t.Context(), anID)
	t.Fatalf("it is not at %s: %+v, %v", step, o, err)
}

func TestDaemonKilledAndStartedAgain(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			p := newPlace(t)
			p.runbook(t)
			d := p.ready(t)
			d.begin(t, p)
			d.end(t, signal)
			if !alive(t, p) {
				t.Error("its command ended with it")
			}
			d = p.ready(t)
			d.end(t, signal) // once more
			p.open(t)
			d = p.ready(t)
			d.reach(t, "done")
			if got := p.ran(t); got != "one two " {
				t.Errorf("ran %s", got)
			}
			d.end(t, syscall.SIGTERM)
			verify := exec.Command(filepath.Join(p.bin, "stopgated"), "store-verify")
			verify.Env = []string{"HOME=" + p.state, "STOPGATE_STATE_DIR=" + p.state}
			if out, err := verify.CombinedOutput(); err != nil || !strings.Contains(string(out), "sound") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// pid is the process of the first step's command.
func (p place) pid(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.root, "pid"))
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	return pid
}

// alive reports whether the first step's command runs.
func alive(t *testing.T, p place) bool {
	t.Helper()
	return !errors.Is(syscall.Kill(p.pid(t), 0), syscall.ESRCH)
}

// That its terminal closes ends no daemon. To the commands it means what it always does.
func TestDaemonOutlivesItsTerminal(t *testing.T) {
	p := newPlace(t)
	p.runbook(t)
	d := p.ready(t)
	d.begin(t, p)
	check(t, d.Process.Signal(syscall.SIGHUP))
	check(t, syscall.Kill(p.pid(t), syscall.SIGHUP))
	d.reach(t, "failed")
}

func TestDaemonStoppedWithWhatItStarted(t *testing.T) {
	p := newPlace(t)
	p.runbook(t)
	d := p.ready(t)
	d.begin(t, p)
	check(t, d.Stop(t.Context(), true))
	check(t, d.Wait())
	if alive(t, p) {
		t.Error("its command lives")
	}
	d = p.ready(t)
	d.reach(t, "failed")
	if got := p.ran(t); got != "one " {
		t.Errorf("ran %s", got)
	}
}

func TestTwoDaemonsAtOnce(t *testing.T) {
	p := newPlace(t)
	first := p.ready(t)
	second := p.start(t)
	want := fmt.Sprintf("a daemon is already running for %s, process %d", p.state, first.Process.Pid)
	if second.ready["error"] != want {
		t.Errorf("%v", second.ready)
	}
	if err := second.Wait(); second.ProcessState.ExitCode() != 1 {
		t.Error(err)
	}
	if _, err := first.Version(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDaemonOverADamagedStore(t *testing.T) {
	p := newPlace(t)
	d := p.ready(t)
	d.end(t, syscall.SIGTERM)
	database := filepath.Join(p.state, "stopgate.db")
	for _, beside := range []string{"-wal", "-shm"} { // they hold it once more
		if err := os.Remove(database + beside); !errors.Is(err, os.ErrNotExist) {
			check(t, err)
		}
	}
	check(t, os.WriteFile(database, []byte(strings.Repeat("no database ", 1000)), 0o600))
	d = p.start(t)
	if text := fmt.Sprint(d.ready["error"]); !strings.Contains(text, database) {
		t.Errorf("%v", d.ready)
	}
	if text, err := os.ReadFile(database); err != nil || !strings.HasPrefix(string(text), "no database") {
		t.Errorf("it was written to: %v", err)
	}
}

func TestReadyLine(t *testing.T) {
	for _, env := range []string{"x", "-1", "2", "70000", ""} {
		if _, _, err := readyLine([]string{readyVariable + "=" + env}); err == nil {
			t.Errorf("%q is taken", env)
		}
	}
	if _, waited, err := readyLine(nil); waited || err != nil {
		t.Errorf("%t, %v", waited, err)
	}
}
