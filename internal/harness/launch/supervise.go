package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// capVariable is how often in a row Claude Code lets a hook block a stop; it is 8
// without it, and 0 means no cap.
const capVariable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// supervise prepares a launch whose agent stops when a second one says that the work
// is done.
func (l *launch) supervise(env *environment, files []settingsFile) error {
	state, err := paths.SupervisorDir(l.getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}

	review := config.ResolveSupervisor(l.config.Supervisor, l.global())
	id := journal.NewID()
	if err := l.settle(func(r Registry) error { return l.supervised(r, id, review.Timeout) }); err != nil {
		return err
	}

	if l.merge() != nil {
		files[0] = readSettingsFile(l.settings) // with what the provider has put there
	}
	if file := hooksDisabled(files); file != "" {
		l.warn(fmt.Errorf("nothing will be supervised: disableAllHooks in %s switches all hooks off", file))
	}

	env.set(SupervisorVariable, "1")
	env.set(IDVariable, id)
	if most, ok := env.lookup(capVariable); !ok || tooLow(most, review.MaxIterations) {
		env.set(capVariable, strconv.Itoa(review.MaxIterations+spareBlocks))
	}
	l.announce(state)
	return nil
}

// spareBlocks are for those who may block beside the supervisor: the cap counts the
// blocks of all.
const spareBlocks = 8

// tooLow reports whether Claude Code would end a series of reviews before us.
func tooLow(most string, limit int) bool {
	n, err := strconv.Atoi(most)
	return err != nil || n > 0 && n <= limit
}

// global is what the person's own configuration says about reviews.
func (l *launch) global() config.Supervisor {
	if l.GlobalConfig == "" {
		return config.Supervisor{}
	}
	global, err := config.LoadGlobal(l.GlobalConfig)
	if err != nil {
		l.warn(err)
	}
	return global.Supervisor
}

// announce says where to read what the supervisor does. The session's id is not
// known yet.
func (l *launch) announce(state string) {
	title := "log files:"
	if environ.BothLanguages(l.Environ) {
		title = "日志文件: · " + title
	}
	fmt.Fprintf(l.Stderr, "[Supervisor Mode] %s\n  %s\n  %s\n  %s\n",
		title, state, filepath.Join(state, "hook-invocation.log"), filepath.Join(state, "supervisor-<session_id>-output.jsonl"))
}
