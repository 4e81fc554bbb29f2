package effect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Errands are shells and agents as errands in the state directory, which go on when the
// daemon does not.
type Errands struct {
	StateDir string   // absolute
	Program  string   // stopgate, absolute: it runs errands
	Environ  []string // of the commands
	// Log is the file that the output of an owner's commands is added to.
	Log func(owner string) string
	// LogLimit is how many bytes of that the output of one command may take, as it is now; nil
	// is for errand.LogLimit.
	LogLimit func() int64
}

// Tell adds lines of ours to an owner's log.
func (e Errands) Tell(owner, lines string) error {
	path := e.Log(owner)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	limit := int64(0)
	if e.LogLimit != nil {
		limit = e.LogLimit()
	}
	return errors.Join(errand.Append(log, lines, errand.OwnerLimit(limit)), log.Close())
}

// Shells are commands as errands.
func (e Errands) Shells() Shells { return shells{e} }

// Agents are agents as errands: a message is a file in their inbox.
func (e Errands) Agents() Agents { return agents{e} }

// Dir is an errand's directory. What becomes part of a path must be a plain name.
func (e Errands) Dir(key string) (string, error) {
	if err := plainName(key); err != nil {
		return "", err
	}
	return filepath.Join(e.StateDir, "errands", key), nil
}

// Own is an agent's own directory.
func (e Errands) Own(id string) (agentdir.Dir, error) {
	d, err := agentdir.At(e.StateDir, id)
	if err != nil {
		return d, &errand.Failure{Why: err.Error()}
	}
	return d, nil
}

func plainName(name string) error {
	if !plain.IsName(name, 200) {
		return &errand.Failure{Why: fmt.Sprintf("invalid directory name %q", name)}
	}
	return nil
}

func (e Errands) start(ctx context.Context, o *engine.Owner, key string, s errand.Spec) error {
	dir, err := e.Dir(key)
	if err != nil {
		return err
	}
	s.Owner, s.Log = o.ID, e.Log(o.ID)
	if e.LogLimit != nil {
		s.LogLimit = e.LogLimit()
	}
	return errand.Start(ctx, e.Program, dir, s)
}

// Wait waits until an errand has ended. Of one that is not known the result is lost.
func (e Errands) Wait(ctx context.Context, key string) (errand.Result, error) {
	dir, err := e.Dir(key)
	if err != nil {
		return errand.Result{Lost: true}, nil // nothing was started under such a name
	}
	r, err := errand.Wait(ctx, dir)
	if r.Failed != "" {
		r.Tail = r.Failed
	}
	return r, err
}

// Kill ends an errand with all that it started.
func (e Errands) Kill(ctx context.Context, key string) error {
	dir, err := e.Dir(key)
	if err != nil {
		return err
	}
	return errand.Kill(ctx, dir)
}

// Env is the environment of a command: ours, with what its runbook says, and with what
// lets it find us, whatever the runbook says.
func (e Errands) Env(own map[string]string) []string {
	env := slices.Clone(e.Environ)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	path := filepath.Dir(e.Program) + string(filepath.ListSeparator) + environ.Get(env, "PATH")
	return append(env, "PATH="+path, "STOPGATE_STATE_DIR="+e.StateDir, "OJ_STATE_DIR="+e.StateDir)
}

// AgentEnv is the environment of an agent, whose hooks know it by its id. The error is that of its
// env_file, for good.
func (e Errands) AgentEnv(a engine.AgentStart) ([]string, error) {
	own, err := fromFile(a.Env, a.EnvFile, a.Cwd)
	if err != nil {
		return nil, err
	}
	return append(e.Env(own), agentdir.Variable+"="+a.ID, agentdir.OldVariable+"="+a.ID), nil
}

type shells struct{ Errands }

func (s shells) Start(ctx context.Context, o *engine.Owner, key string, start engine.ShellStart) error {
	own, err := fromFile(start.Env, start.EnvFile, start.Cwd)
	if err != nil {
		return err
	}
	return s.start(ctx, o, key, errand.Spec{Script: start.Script, Dir: start.Cwd, Label: start.Step, Env: s.Env(own)})
}

type agents struct{ Errands }

func (a agents) Start(ctx context.Context, o *engine.Owner, start engine.AgentStart) error {
	own, err := a.Own(start.ID)
	if err != nil {
		return err
	}
	if err := own.WriteConfig(string(start.OnStop)); err != nil {
		return err
	}
	env, err := a.AgentEnv(start)
	if err != nil {
		return err
	}
	env = append(env, "STOPGATE_PROMPT="+start.Prompt, "STOPGATE_RESUME="+start.Resume)
	return a.start(ctx, o, start.ID, errand.Spec{Script: start.Run, Dir: start.Cwd, Label: start.Step, Env: env})
}

// Send puts the text into the agent's inbox, unless it is there.
func (a agents) Send(_ context.Context, agent, key, text string) error {
	own, err := a.Own(agent)
	if err == nil {
		err = plainName(key)
	}
	if err != nil {
		return err
	}
	path := own.Path("inbox", key)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := a.Dir(agent)
	if err != nil {
		return err
	}
	if !errand.Runs(dir) {
		return &errand.Failure{Why: "the agent is not running"}
	}
	return atomicfile.Write(path, []byte(text), 0o600)
}
