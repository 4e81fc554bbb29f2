//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// asLauncher makes the test program the launcher.
const asLauncher = "LAUNCH_TEST_AS_LAUNCHER"

func TestMain(m *testing.M) {
	if os.Getenv(asLauncher) == "" {
		environtest.Clean()
		os.Exit(m.Run())
	}
	state, _ := paths.StateDir()
	self, _ := os.Executable()
	dir, _ := os.Getwd()
	plan, err := Prepare(Options{
		Args: os.Args[1:], Arg0: os.Args[0], Executable: self, StateDir: state, Environ: os.Environ(), Dir: dir, Now: time.Now, Stderr: os.Stderr,
	})
	if err == nil {
		_, err = plan.Exec()
	}
	fmt.Fprintln(os.Stderr, "launcher:", err)
	os.Exit(98)
}

// place is a machine to launch on: a home, a state directory and a stand-in client.
type place struct {
	t                                  *testing.T
	home, dir, state, project, clients string
	settings, config                   string
	stderr                             strings.Builder
	environ                            []string
}

const (
	// record makes the stand-in client note how it was started.
	recordClient = `#!/bin/sh
printf '%s\n' "$@" > "$RECORD.args"
env > "$RECORD.env"
exit 7
`
	plainConfig = `{"providers":{"glm":{}}}`
)

func newPlace(t *testing.T, config string) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{t: t, home: filepath.Join(root, "home"), state: filepath.Join(root, "state"), project: filepath.Join(root, "project"), clients: filepath.Join(root, "bin")}
	p.dir = filepath.Join(p.home, ".claude")
	p.settings, p.config = filepath.Join(p.dir, "settings.json"), filepath.Join(p.dir, ConfigFile)
	must(t, os.MkdirAll(p.project, 0o700))
	if config != "" {
		write(t, config, p.config)
	}
	p.client(recordClient)
	self, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(self, p.ccc()))
	p.environ = []string{
		"HOME=" + p.home, "PATH=" + p.clients + ":/usr/bin:/bin", "STOPGATE_STATE_DIR=" + p.state,
		"RECORD=" + filepath.Join(root, "record"), "GORACE=atexit_sleep_ms=0",
	}
	t.Setenv("STOPGATE_STATE_DIR", p.state) // the locks of settings files are our own process's
	return p
}

// client is the program that stands in for the client.
func (p *place) client(script string) {
	p.t.Helper()
	path := write(p.t, script, p.clients, "claude")
	must(p.t, os.Chmod(path, 0o755))
}

// ccc is the link by which we are called.
func (p *place) ccc() string { return filepath.Join(p.clients, "ccc") }

func (p *place) options(args ...string) Options {
	self, _ := os.Executable()
	p.stderr.Reset()
	return Options{
		Args: args, Arg0: p.ccc(), Executable: self, StateDir: p.state, Environ: p.environ, Dir: p.project,
		Now: time.Now, Stderr: &p.stderr,
	}
}

// prepare must succeed.
func (p *place) prepare(args ...string) *Plan {
	p.t.Helper()
	plan, err := Prepare(p.options(args...))
	must(p.t, err)
	return plan
}

// supervised adds what asks for supervision.
func (p *place) supervised() *place {
	p.environ = append(p.environ, "CCC_SUPERVISOR=1")
	return p
}

// start runs the launcher as a process of its own.
func (p *place) start(args ...string) *exec.Cmd {
	cmd := exec.Command(p.ccc(), args...)
	cmd.Dir, cmd.Env = p.project, append(p.environ[:len(p.environ):len(p.environ)], asLauncher+"=1")
	return cmd
}

// run is start to the end.
func (p *place) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := p.start(args...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	failed := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](failed); ok {
		code = exit.ExitCode()
	} else if failed != nil {
		p.t.Fatal(failed)
	}
	return out.String(), err.String(), code
}

func variable(plan *Plan, name string) (value string, found bool) {
	return newEnvironment(plan.Env).lookup(name)
}

var exists = checktest.Exists
