package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// maxScript is how long the script of a client may be: the system takes 128 KiB for one
// argument.
const maxScript = 100 << 10

// beginning is how a client begins.
type beginning struct {
	engine.AgentStart
	own    agentdir.Dir
	env    []string
	resume bool   // the session to go on with is there
	spent  bool   // it is, but Claude Code would not go on with it: it takes another one
	anew   string // why it does not go on with the session that it was to go on with
	prompt string // what Claude Code is told first
}

// newBeginning finds out whether there is a session to go on with. One that never had a
// prompt leaves nothing behind, and Claude Code would end at once: then the agent is told
// what it was told at first, and after that what it is to be told now, unless that says it all.
// The same holds for a session of another directory, which Claude Code does not look at.
func newBeginning(a engine.AgentStart, own agentdir.Dir, stateDir string, env []string) beginning {
	b := beginning{AgentStart: a, own: own, env: env, prompt: a.Prompt}
	if a.Resume == "" {
		return b
	}

	dir := ConfigDir(a.Run, a.Cwd, env)
	switch {
	case isEmpty(a.Resume, dir):
		b.spent, b.anew = true, "there is nothing in it"
	case !hasTranscript(a.Resume, dir):
		b.anew = "Claude Code has not kept it"
	default:
		if at := beganAt(a.Resume, dir); at != "" && !sameDir(at, a.Cwd) {
			b.spent, b.anew = true, "it began in "+at+", and this agent runs in "+a.Cwd
		}
	}

	b.resume = b.anew == ""
	if b.resume || a.Whole {
		return b
	}

	first, err := agentdir.At(stateDir, a.Resume) // a session has the id of the agent that began it
	if err != nil {
		return b
	}
	if text, err := os.ReadFile(first.Path("prompt.md")); err == nil && len(text) > 0 {
		b.prompt = string(text) + "\n\n" + a.Prompt
	}
	return b
}

// hasTranscript reports whether Claude Code has kept anything of a session in its directory.
// Where that cannot be told it has: Claude Code knows best.
func hasTranscript(session, dir string) bool {
	path, err := transcript.Find(transcript.Projects(dir), "", session)
	return dir == "" || path != "" || err != nil
}

// session is that of Claude Code. A new one has the agent's id.
func (b beginning) session() string {
	if b.Resume != "" && !b.spent {
		return b.Resume
	}
	return b.ID
}

// script is the command line of Claude Code, which takes the place of the shell.
func (b beginning) script() string {
	if b.silent() {
		return b.command()
	}
	if b.long() {
		return b.with(fmt.Sprintf("Read the file %s and do what it says.", b.own.Path("prompt.md")))
	}
	return b.with(b.prompt)
}

// silent reports whether Claude Code is told nothing besides what its run says.
func (b beginning) silent() bool { return strings.TrimSpace(b.prompt) == "" || b.Bare }

// long reports whether the prompt has to be read from its file.
func (b beginning) long() bool { return !b.silent() && len(b.with(b.prompt)) > maxScript }

func (b beginning) with(prompt string) string {
	return b.command() + " " + settings.ShellCommand("--", prompt)
}

func (b beginning) command() string {
	flag := "--session-id"
	if b.resume {
		flag = "--resume"
	}
	return runbook.Exec(strings.TrimSpace(b.Run)) + " " + settings.ShellCommand(flag, b.session(), "--settings", b.own.Path("settings.json"))
}

// isThere reports whether a program is found in such an environment.
func isThere(program, cwd string, env []string) bool {
	if !strings.Contains(program, "/") {
		_, found := environ.LookPath(env, program)
		return found
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(cwd, program)
	}
	_, err := exec.LookPath(program)
	return err == nil
}
