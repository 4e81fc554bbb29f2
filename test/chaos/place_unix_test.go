//go:build unix

package chaos

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/chaos/books"
	"github.com/stopgate/stopgate/test/chaos/client"
	"github.com/stopgate/stopgate/test/chaos/ran"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

// build builds the programs.
func build(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	check(t, programs.Build(bin, "test/chaos/standin", "test/standin/claude"))
	return bin
}

// place is a machine with stopgate on it, and with a project.
type place struct {
	bin   string
	home  string
	state string
	root  string // of the project
	dir   string // what the stand-ins write down
	env   []string
}

func newPlace(t *testing.T, bin, runbook, seed, work string) place {
	t.Helper()
	home, err := os.MkdirTemp("", "chaos") // a socket's path is short
	check(t, err)
	p := place{bin, home, filepath.Join(home, "state"), filepath.Join(home, "project"), filepath.Join(home, "chaos"), nil}
	p.env = []string{
		"HOME=" + p.home, "PATH=" + p.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "STOPGATE_STATE_DIR=" + p.state,
		"CHAOS_DIR=" + p.dir, "CHAOS_WORK=" + work, "STOPGATE_SEED=" + seed,
	}
	t.Cleanup(func() { p.leave(t) })
	for _, dir := range []string{p.state, p.dir, filepath.Join(p.dir, "turns")} {
		check(t, os.MkdirAll(dir, 0o700))
	}
	p.write(t, filepath.Join(p.root, ".gauntlet", "runbooks", "chaos.toml"), runbook)
	p.write(t, filepath.Join(p.home, ".config", "agent-gauntlet", "config.yml"), "notify:\n  command: standin told\n")
	p.write(t, filepath.Join(p.home, ".gitconfig"), "[user]\n\tname = Chaos\n\temail = chaos@example.com\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		p.git(t, args...)
	}
	return p
}

// git is git in the project.
func (p place) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.root, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p place) write(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

// leave ends what is left of a test that failed. Then the directory stays, for whoever
// looks for the cause.
func (p place) leave(t *testing.T) {
	for _, dir := range p.errands(t) {
		if errand.Runs(dir) {
			_ = errand.Kill(context.Background(), dir) // the test's has ended
		}
	}
	if t.Failed() {
		t.Logf("what is left is in %s", p.home)
		return
	}
	check(t, os.RemoveAll(p.home))
}

func (p place) errands(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.state, "errands", "*"))
	check(t, err)
	return dirs
}

// ran is what the stand-ins wrote down.
func (p place) ran(t *testing.T) []ran.Line {
	t.Helper()
	lines, err := ran.Read(p.dir)
	check(t, err)
	return lines
}

// books are what the store tells, once the daemon has ended.
func (p place) books(t *testing.T) *books.Books {
	t.Helper()
	b, err := books.Read(context.Background(), filepath.Join(p.state, "stopgate.db"))
	check(t, err)
	return b
}

// processes are those that have our state directory in their environment, as far as the
// system tells.
func (p place) processes() (pids []string) {
	for _, pid := range processtest.Having("\x00STOPGATE_STATE_DIR=" + p.state + "\x00") {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if len(command) == 0 {
			continue // it has ended since
		}
		pids = append(pids, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(command), "\x00", " ")))
	}
	return pids
}

// useReal puts a real client in the stand-in's place.
func (p *place) useReal(t *testing.T, program string) {
	t.Helper()
	check(t, client.Use(program, p.bin))
	check(t, client.Welcome(p.home, p.root))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	p.env = append(p.env, client.Model(t, listener)...)
}
