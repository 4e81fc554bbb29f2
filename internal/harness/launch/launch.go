// Package launch starts Claude Code with a provider of the person's choice: the
// endpoint and key that it gets, the settings, and whether a supervisor watches it.
// All is prepared before Claude Code starts, because then we are gone.
package launch

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Options are all that a launch depends on.
type Options struct {
	Args         []string // after "claude"
	Arg0         string   // the name that we were called by
	Executable   string   // our own program
	StateDir     string   // "": there is none
	GlobalConfig string   // the person's configuration of stopgate; "": there is none
	Environ      []string
	Dir          string // where Claude Code starts
	Now          func() time.Time
	Stderr       io.Writer
	// Ask asks a person; nil where there is nobody to ask.
	Ask func(question string) (bool, error)
}

// Plan is how Claude Code is to be started.
type Plan struct {
	Path string
	Args []string // argv: the program's name is the first
	Env  []string
}

// launch is one that is being prepared.
type launch struct {
	Options
	dir      string // of ccc.json and of Claude Code's settings
	settings string // the person's own settings file
	config   *Config
	named    bool // the provider, by the person
	provider string
}

// pidVariable tells a launch that it was started in place of another one.
const pidVariable = "STOPGATE_LAUNCHER_PID"

// SupervisorVariable asks for supervision when it is exactly "1".
const SupervisorVariable = "CCC_SUPERVISOR"

// Prepare does all that must be done before Claude Code starts, and says how to start
// it.
func Prepare(o Options) (*Plan, error) {
	l := &launch{Options: o}
	var err error
	if l.dir, err = paths.LauncherDir(l.getenv); err != nil {
		return nil, err
	}
	l.settings = filepath.Join(l.dir, "settings.json")
	if l.config, err = l.load(); err != nil {
		return nil, err
	}

	name, rest := split(o.Args)
	l.named = name != ""
	if l.provider, err = l.config.Choose(name); err != nil {
		return nil, err
	}
	provided, err := l.config.Environment(l.provider, o.Environ)
	if err != nil {
		return nil, err
	}

	files := settingsFiles(l.settings, o.Dir)
	if err := checkShadows(files, l.config, l.provider, provided); err != nil {
		return nil, err
	}
	program, err := l.findClaude()
	if err != nil {
		return nil, err
	}

	env, err := l.environment(provided)
	if err != nil {
		return nil, err
	}
	if l.getenv(SupervisorVariable) == "1" && !inSupervised(o.Environ) {
		err = l.supervise(env, files)
	} else {
		err = l.launchPlainly(env, files[0])
	}
	if err != nil {
		return nil, err
	}

	args := append([]string{"claude"}, l.config.ClaudeArgs...)
	return &Plan{Path: program, Args: append(args, rest...), Env: env.entries}, nil
}

// inSupervised reports whether it is a supervised agent that starts a client. What is
// its own is not supervised.
func inSupervised(variables []string) bool {
	return environ.Get(variables, "CLAUDECODE") != "" && environ.Get(variables, IDVariable) != ""
}

func (l *launch) getenv(name string) string { return environ.Get(l.Environ, name) }

// findClaude refuses a program that is ourselves: it would start itself for ever.
func (l *launch) findClaude() (string, error) {
	path, err := claude.Find(l.Environ)
	if err != nil {
		return "", StartError{error: err}
	}
	// A program that is started in our place has our pid.
	if l.getenv(pidVariable) == strconv.Itoa(os.Getpid()) {
		return "", StartError{fmt.Errorf("%s starts stopgate again, not Claude Code", path), "set CCC_CLAUDE to the path of Claude Code"}
	}
	if disk.Same(path, l.Executable) {
		return "", StartError{fmt.Errorf("%s is stopgate itself, not Claude Code", path), "set CCC_CLAUDE to the path of Claude Code"}
	}
	return path, nil
}

// environment is that of Claude Code.
func (l *launch) environment(provided map[string]string) (*environment, error) {
	env := newEnvironment(l.Environ)
	env.overlay(provided)

	// Claude Code and its hooks may be in another directory by the time they read
	// these.
	for _, name := range []string{"CCC_CONFIG_DIR", "CCC_WORK_DIR", "CLAUDE_CONFIG_DIR", "STOPGATE_STATE_DIR", "OJ_STATE_DIR"} {
		if dir := l.getenv(name); dir != "" {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			env.set(name, abs)
		}
	}
	for _, name := range []string{"CCC_CLAUDE", "CLAUDE_BIN"} {
		if program := l.getenv(name); filepath.Base(program) != program && program != "" {
			abs, err := filepath.Abs(program)
			if err != nil {
				return nil, err
			}
			env.set(name, abs)
		}
	}

	env.set(pidVariable, strconv.Itoa(os.Getpid()))
	if l.getenv("CCC_CONFIG_DIR") != "" {
		env.set("CLAUDE_CONFIG_DIR", l.dir)
	}
	return env, nil
}

// launchPlainly prepares a launch without a supervisor. What is wrong with the state
// directory or the settings file is no reason not to start, unless settings of the
// provider's could not be taken out again.
func (l *launch) launchPlainly(env *environment, before settingsFile) error {
	env.remove(func(name string) bool { return name == IDVariable })
	if inSupervised(l.Environ) {
		env.set(SupervisorVariable, "0")
	}
	err := l.settle(func(r Registry) error { return l.plain(r, before) })
	if err != nil && l.merge() == nil {
		l.warn(err)
		return nil
	}
	return err
}

// remember saves the choice of a provider. Where that cannot be, Claude Code starts
// all the same.
func (l *launch) remember() {
	if err := l.config.Use(l.provider); err != nil {
		l.warn(fmt.Errorf("cannot save the choice of %s: %w", Shown(l.provider), err))
	}
}

func (l *launch) warn(err error) { fmt.Fprintf(l.Stderr, "stopgate: warning: %v\n", err) }
