package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// claudeEnviron is what Claude Code gives a hook. Of what the settings add it has only what
// stopgate itself goes by, which no project sets: the rest could make a shell or git run a command
// that came with a clone (PATH, LD_PRELOAD). A later entry wins. The mark of a client that we
// started ourselves is not inherited: doctor speaks for the Claude Code that a person starts. The
// entrypoint is the headless one, lest anything be typed into the terminal that doctor runs in.
func (e *examination) claudeEnviron(root, session string) []string {
	variables := e.with(environ.Without(os.Environ(), claude.IsMark), environ.Own)
	return append(variables, "CLAUDECODE=1", "CLAUDE_PROJECT_DIR="+root,
		"CLAUDE_CODE_SESSION_ID="+session, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
}

// ownEnviron is our environment with what the settings add of the variables that stopgate goes by.
func (e *examination) ownEnviron() []string { return e.with(os.Environ(), environ.Own) }

// hookEnviron is what a hook finds in its environment, and a gate in its own. Nothing is started with it.
func (e *examination) hookEnviron() []string {
	return e.with(os.Environ(), func(string) bool { return true })
}

// with adds to an environment what the settings add, as far as that is wanted.
func (e *examination) with(variables []string, wanted func(name string) bool) []string {
	for name, value := range e.environment {
		if wanted(name) {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// muted finds what keeps our hooks from answering at all. Reviewers and runners are marked so; left in a tmux server or a
// daemon that was started from one, a mark is in every Claude Code that comes from there.
func (e *examination) muted() {
	for _, name := range claude.Muted(e.hookEnviron()) {
		where, hint := "in this environment", "unset "+name+", also where it comes from: a shell's profile, a tmux server (tmux set-environment -gu "+name+")"
		if _, set := e.environment[name]; set {
			where, hint = "in env in the settings", "remove it there"
		}
		e.find(Dead, "environment", fmt.Sprintf("%s is set %s: it turns off all hooks of stopgate, so nothing is checked", name, where), hint)
	}
}

// getenv is a variable as a hook sees it.
func (e *examination) getenv(name string) string {
	if value, ok := e.environment[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// hookStateDir is the state directory of the hook's process.
func (e *examination) hookStateDir() string {
	dir, err := paths.StateDirOf(e.getenv)
	if err != nil {
		return ""
	}
	return dir
}

// lookPath finds a program on the PATH that Claude Code has once it has read its
// settings.
func (e *examination) lookPath(program string) (string, error) {
	if program != filepath.Base(program) {
		return exec.LookPath(program)
	}
	for _, dir := range filepath.SplitList(e.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // another one in every project
		}
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}
