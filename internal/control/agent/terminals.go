// Package agent runs agents that are clients: each in a tmux session of its own, on a
// server that is the daemon's, where a person can watch it and talk to it. Claude Code goes
// on when the daemon does not.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Terminals runs the agents that are Claude Code, each in a terminal.
type Terminals struct {
	Errands effect.Errands
	Config  string // the path of the global configuration
	Now     func() time.Time
	Log     func(format string, args ...any)
}

var _ effect.Agents = Terminals{}

// How large a client's screen is until a person attaches.
const (
	width  = 160
	height = 50
)

// Socket is that of the tmux server on which the clients run.
func Socket(stateDir string) string { return filepath.Join(stateDir, "tmux.sock") }

// Session is the tmux session of an agent.
func Session(name, id string) string {
	return terminal.SessionName("stopgate-"+name[:min(len(name), 60)]) + "-" + id[:min(len(id), 8)]
}

// terminal is where a client runs.
func (c Terminals) terminal(agent string) (agentdir.Terminal, error) {
	own, err := c.Errands.Own(agent)
	if err != nil {
		return agentdir.Terminal{}, err
	}
	return own.Terminal()
}

func (c Terminals) server() terminal.Server {
	return terminal.Server{Socket: Socket(c.Errands.StateDir), Environ: c.Errands.Environ}
}

// Start starts Claude Code in a terminal, unless that was done before.
func (c Terminals) Start(ctx context.Context, o *engine.Owner, a engine.AgentStart) error {
	own, err := c.Errands.Own(a.ID)
	if err != nil {
		return err
	}
	dir, err := c.Errands.Dir(a.ID)
	if err != nil {
		return err
	}
	env, err := c.Errands.AgentEnv(a)
	if err != nil {
		return err
	}
	begin := newBeginning(a, own, c.Errands.StateDir, env)
	spec := errand.Spec{Owner: o.ID, Script: begin.script(), Dir: a.Cwd, Log: c.Errands.Log(o.ID), Label: a.Step, Env: env}
	return errand.StartInTerminal(ctx, c.Errands.Program, dir, spec, func(ctx context.Context, argv []string) error {
		if err := errors.Join(runnable(a, env), c.prepare(begin)); err != nil {
			return err
		}
		c.tellAnew(o, begin)
		return c.launch(ctx, own, Session(a.Name, a.ID), argv)
	})
}

// tellAnew says in the owner's log why an agent does not go on in its conversation.
func (c Terminals) tellAnew(o *engine.Owner, b beginning) {
	if b.anew == "" {
		return
	}
	text := fmt.Sprintf("the conversation %s cannot be resumed: %s; the agent starts a new one", b.Resume, b.anew)
	if err := c.Errands.Tell(o.ID, errand.Line(c.Now(), b.Step, plain.Line(text))); err != nil {
		c.Log("cannot write to the log of %s: %v", o.ID, err)
	}
}

// prepare writes what Claude Code and its hooks read. It is done while Claude Code cannot
// begin: one that has begun has a session of its own choice.
func (c Terminals) prepare(b beginning) error {
	claude := settings.Agent{
		Program: c.Errands.Program, Aliases: aliases(c.Errands.Program, b.env), Dir: b.Cwd,
		ConfigDir: ConfigDir(b.Run, b.Cwd, b.env),
	}
	if b.long() {
		claude.Prompt = b.own.Path("prompt.md")
	}
	text, err := claude.File()
	if err != nil {
		return err
	}
	return errors.Join(
		b.own.WriteConfig(string(b.OnStop)),
		atomicfile.Write(b.own.Path("settings.json"), append(text, '\n'), 0o600),
		b.own.SetSession(agentdir.Session{ID: b.session()}),
		atomicfile.Write(b.own.Path("prompt.md"), []byte(b.prompt), 0o600),
	)
}

// aliases are the names by which an agent may call us besides the path of the program: what
// its PATH finds, and what a refused stop tells it to call.
func aliases(program string, env []string) []string {
	return []string{"stopgate", "oj", lifecycle.SignalProgram(program, env)}
}

// launch makes the session with the runner in it. One that is there already is that of a
// runner which somebody launched who did not live to see it begin; it cannot any more.
func (c Terminals) launch(ctx context.Context, own agentdir.Dir, session string, argv []string) error {
	if err := own.SetTerminal(agentdir.Terminal{Socket: Socket(c.Errands.StateDir), Session: session}); err != nil {
		return err
	}
	n := terminal.NewSession{Name: session, Dir: c.Errands.StateDir, Argv: argv, Width: width, Height: height}
	err := c.server().NewSession(ctx, n)
	if errors.Is(err, terminal.ErrSessionExists) {
		if err := c.server().KillSession(ctx, session); err != nil {
			return err
		}
		err = c.server().NewSession(ctx, n)
	}
	if errors.Is(err, terminal.ErrNotInstalled) {
		return noTmux()
	}
	return err
}

func noTmux() error {
	return &errand.Failure{Why: "tmux was not found, and Claude Code needs a terminal: install tmux"}
}

// runnable finds what would keep Claude Code from starting, and says so in better words
// than a shell.
func runnable(a engine.AgentStart, env []string) error {
	if _, found := environ.LookPath(env, "tmux"); !found {
		return noTmux()
	}
	if _, program, _ := runbook.Launch(a.Run); program != "" && !isThere(program, a.Cwd, env) {
		return &errand.Failure{Why: "the program " + program + " was not found: add it to the PATH that the daemon was started with, or use its full path in run"}
	}
	return nil
}

// Wait waits until Claude Code has ended.
func (c Terminals) Wait(ctx context.Context, agent string) (errand.Result, error) {
	r, err := c.Errands.Wait(ctx, agent)
	if err == nil {
		c.endQueue(agent)
	}
	return r, err
}

// Kill ends Claude Code, and its session with whatever else a person has in there.
func (c Terminals) Kill(ctx context.Context, agent string) error {
	if err := c.Errands.Kill(ctx, agent); err != nil {
		return err
	}
	c.endQueue(agent)
	at, err := c.terminal(agent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it never had one
	}
	if err != nil {
		return err
	}
	err = c.server().KillSession(ctx, at.Session)
	if errors.Is(err, terminal.ErrNotInstalled) {
		return nil // it ends with its runner
	}
	return err
}

// End ends the tmux server, with what somebody has left there.
func (c Terminals) End(ctx context.Context) error {
	if _, err := os.Lstat(Socket(c.Errands.StateDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.server().KillServer(ctx)
}
